from __future__ import annotations

from typing import Any

import pytest

from krm_fn.dialects.modrule.criteria import compile_criterion
from krm_fn.dialects.modrule.spec import MatchItem
from krm_fn.errors import CompileError

DOCUMENT = {
    "kind": "Deployment",
    "empty": "",
    "null": None,
    "yes": True,
    "port": 8080,
    "big": 100_000_000,
    "names": ["a", "b", 3],
    "flags": [True, False],
    "nulls": [None],
    "nothing": [],
    "one": [True],
}


def holds(select: str, **members: Any) -> bool:
    return compile_criterion(MatchItem(select, **members)).holds(DOCUMENT)


@pytest.mark.parametrize(
    ("select", "expected"),
    [
        ("$.kind", True),
        ("$.empty", True),
        ("$.null", False),
        ("$.missing", False),
        ("$.missing.below", False),
        ("$.nothing", False),
        ("$.nulls", True),
        ("$.yes", True),
        ("!$.yes", False),
        ('$.kind == "Deployment"', True),
        ("$.missing != 12", True),
        ("$.names[*].x", False),
        ("$.names[9]", False),
        ("$.kind.below", False),
        ('$.kind =~ "("', False),
    ],
)
def test_without_a_text_to_compare_a_value_is_enough(select: str, expected: bool) -> None:
    assert holds(select) is expected
    assert holds(select, negate=True) is not expected


@pytest.mark.parametrize(
    ("select", "text", "expected"),
    [
        ("$.kind", "Deployment", True),
        ("$.kind", "deployment", False),
        ("$.empty", "", True),
        ("$.port", "8080", True),
        ("$.big", "1e+08", True),
        ("$.big", "100000000", False),
        ("$.names", "b", True),
        ("$.names", "3", True),
        ("$.names", "[a b 3]", False),
        ("$.flags[*]", "true", True),
        ("$.one", "false", False),
        ("$.nulls", "<nil>", True),
        ("length($.names)", "3", True),
        ("1/0", "+Inf", True),
    ],
)
def test_match_value_compares_the_text_of_each_value(
    select: str, text: str, expected: bool
) -> None:
    assert holds(select, match_value=text) is expected
    assert holds(select, match_value=text, negate=True) is not expected


@pytest.mark.parametrize("text", ["true", "false", "anything"])
def test_a_single_boolean_decides_alone(text: str) -> None:
    assert holds("$.yes", match_value=text)
    assert holds("$.yes", match_regex="^never$")


@pytest.mark.parametrize(
    ("members", "expected"),
    [
        ({"match_value": "a", "match_values": ("b",), "match_regex": "c"}, True),
        ({"match_values": ("b", "z"), "match_regex": "c"}, True),
        ({"match_values": (), "match_regex": "^c$"}, False),
        ({"match_value": "z", "match_values": ("a",)}, False),
        ({"match_regex": ""}, True),
    ],
)
def test_value_goes_before_values_before_regex(members: dict[str, Any], expected: bool) -> None:
    assert holds("$.names", **members) is expected


@pytest.mark.parametrize(
    ("select", "members", "expected"),
    [
        ("$.names", {"match_values": ("a", "b", "3")}, True),
        ("$.names", {"match_values": ("a", "b")}, False),
        ("$.names", {"match_regex": "."}, True),
        ("$.names", {"match_regex": "^[a-z]$"}, False),
        ("[$.kind, $.missing]", {"match_value": "Deployment"}, False),
        ("[$.kind, $.kind]", {"match_value": "Deployment"}, True),
        ("$.nothing", {"match_value": "x"}, False),
    ],
)
def test_match_for_all_wants_every_value(
    select: str, members: dict[str, Any], expected: bool
) -> None:
    assert holds(select, match_for="All", **members) is expected
    assert holds(select, match_for="All", negate=True, **members) is not expected


def test_match_for_any_does_not_mind_an_undefined_value() -> None:
    assert holds("[$.kind, $.missing]", match_value="Deployment")


def test_a_regular_expression_is_gos_and_not_anchored() -> None:
    assert holds("$.kind", match_regex="ploy")
    assert holds("$.kind", match_regex="^[[:upper:]]")
    assert not holds("$.kind", match_regex="ploy$")


@pytest.mark.parametrize(
    "item",
    [
        MatchItem("$.a", match_regex="("),
        MatchItem("$.a", match_value="x", match_regex="(?=x)"),
        MatchItem("$.a =="),
        MatchItem(""),
    ],
)
def test_what_does_not_compile_is_an_error_also_where_it_would_be_ignored(item: MatchItem) -> None:
    with pytest.raises(CompileError):
        compile_criterion(item)


@pytest.mark.parametrize(
    ("item", "pinned"),
    [
        (MatchItem("$.kind", match_value="Pod"), (("kind",), {"Pod"})),
        (MatchItem('$["kind"]', match_values=("A", "B")), (("kind",), {"A", "B"})),
        (MatchItem("$.metadata.name", match_value="x"), (("metadata", "name"), {"x"})),
        (MatchItem("$.kind", match_value="Pod", negate=True), None),
        (MatchItem("$.kind", match_regex="Pod"), None),
        (MatchItem("$.kind"), None),
        (MatchItem('$.kind == "Pod"'), None),
    ],
)
def test_a_plain_path_with_texts_pins_its_value(item: MatchItem, pinned: Any) -> None:
    found = compile_criterion(item).pinned()
    assert (found and (found[0], set(found[1]))) == pinned
