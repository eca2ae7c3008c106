from __future__ import annotations

from typing import Any

import pytest

from krm_fn.errors import EvaluationError
from krm_fn.lang.go.values import GoInt
from krm_fn.lang.select import Selected, compile_fanout, expand_path

DOCUMENT = {
    "cs": [
        {"n": "a", "ports": [{"p": 1}, {"p": 80}]},
        {"n": "b", "ports": [{"p": 80}]},
        {"n": "c"},
    ],
    "m": {"k-x": 9, "y": {"z": [1]}},
    "n": None,
}


def parts(text: str, document: Any = DOCUMENT) -> list[tuple[int | str, ...]]:
    return [entry.key_parts for entry in compile_fanout(text).entries(document)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("$.cs[*].n", [(0,), (1,), (2,)]),
        ("$.cs[2,0,2]", [(0,), (2,)]),
        ("$.cs[::-1]", [(0,), (1,), (2,)]),
        ("$.cs[*].ports[? @.p == 80]", [(0, 1), (1, 0)]),
        ("$.m.*", [("k-x",), ("y",)]),
        ("$..p", [("cs", 0, "ports", 0), ("cs", 0, "ports", 1), ("cs", 1, "ports", 0)]),
        ("$.cs", [()]),
        ("$.n", [()]),
        ("$.none", []),
        ("$.cs[9]", []),
        ("@.cs", []),
    ],
)
def test_each_match_has_the_keys_that_ambiguous_selectors_captured(
    text: str, expected: list[tuple[int | str, ...]]
) -> None:
    assert parts(text) == expected


def test_an_entry_is_a_key_its_parts_and_the_value() -> None:
    (entry,) = compile_fanout("$.cs[? @.n == `b`].n").entries(DOCUMENT)
    assert entry == Selected('$["1"]', (1,), "b")


def test_numbers_among_the_parts_are_go_ints() -> None:
    assert [type(part) for part in parts("$.cs[1:2].ports[*]")[0]] == [GoInt, GoInt]


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("007", (7,)),
        ("-1", (-1,)),
        ("1.5", ("1.5",)),
        ("99999999999999999999", ("99999999999999999999",)),
        ("back\\s", ("back\\\\s",)),
        ("new\nline", ("new\\nline",)),
        ("ünï", ("ünï",)),
        ("a.b/c", ("a.b/c",)),
        ("", ()),
        ("[b]", ()),
        ('q"t', ()),
    ],
)
def test_keys_are_read_back_from_their_text(key: str, expected: tuple[int | str, ...]) -> None:
    assert parts("$.*", {key: 1}) == [expected]


def test_entries_ascend_with_numbers_before_texts() -> None:
    document = {"b": 1, "a": 2, "10": 3, "9": 4, "[": 5}
    assert parts("$.*", document) == [(), (9,), (10,), ("a",), ("b",)]


def test_of_equal_keys_the_last_that_is_visited_stays() -> None:
    document = {"a": {"x": {"q": 1}}, "x": {"a": {"q": 2}}}
    assert [entry.item for entry in compile_fanout("$..a..q").entries(document)] == [2]


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("/c/#0/#1", "/c/0/key"),
        ("/#00#1", "/0key"),
        ("/#hello/#", "/#hello/#"),
        ("/##0", "/#0"),
        ("", ""),
        ("/~1/#1", "/~1/key"),
    ],
)
def test_path_templates_take_the_key_parts(template: str, expected: str) -> None:
    assert expand_path(template, (0, "key")) == expected


def test_a_key_that_looks_like_a_placeholder_is_not_expanded_again() -> None:
    assert expand_path("/#0", ("#1", "x")) == "/#1"


@pytest.mark.parametrize(
    "template", ["/#2", "/#99999999999999999999", "/(BADINDEX)/#0", "/%d/#0", "/100%"]
)
def test_a_path_template_without_its_key_part_or_with_a_format_fails(template: str) -> None:
    with pytest.raises(EvaluationError):
        expand_path(template, (0, "key"))


@pytest.mark.parametrize(
    ("key", "exact"),
    [("plain", True), ("a.io/b", True), ("7", True), ("007", False), ("a[0]", False), ("", False)],
)
def test_a_match_says_whether_its_keys_came_back_as_they_were(key: str, exact: bool) -> None:
    (entry,) = compile_fanout("$.*").entries({key: 1})
    assert entry.is_exact is exact
