from __future__ import annotations

import copy
from typing import Any

import pytest

from krm_fn.errors import EvaluationError
from krm_fn.lang.select import UNDEFINED, compile_select

DOCUMENT = {
    "rows": [
        {"id": "r1", "qty": 3, "tags": ["a", "b"], "v": None},
        {"id": "r2", "qty": 0, "tags": []},
        {"id": 4, "qty": "8", "tags": ["b"], "v": 1},
    ],
    "m": {"z": 1, "a": {"id": 2}},
    "l": [10, 11, 12, 13],
    "s": "text",
    "n": None,
    "0": "zero",
}


def value(text: str, document: Any = DOCUMENT) -> Any:
    return compile_select(text).evaluate(document)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("$.m.z", 1),
        ('$["m"]["z"]', 1),
        ("$[0]", "zero"),
        ("$.l[1]", 11),
        ('$.l["01"]', 11),
        ("$.l[1.9]", 11),
        ("$.l[length(@)-1]", 13),
        ("$.rows[1](@.qty + 1)", 1),
        ("$.none", UNDEFINED),
        ("$.n.x[0].y", UNDEFINED),
        ("$.none[$.m]", UNDEFINED),
        ("@", None),
    ],
)
def test_plain_selectors_yield_one_value(text: str, expected: Any) -> None:
    assert value(text) == expected or value(text) is expected


@pytest.mark.parametrize(
    "text", ["$.l[-1]", "$.l[4]", "$.l.name", "$.l[null]", "$.s.x", "$.s[0]", "$.rows.id"]
)
def test_a_wholly_plain_path_fails_where_it_cannot_go_on(text: str) -> None:
    with pytest.raises(EvaluationError):
        value(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("$.rows[*].id", ["r1", "r2", 4]),
        ("$.rows[*].v", [None, 1]),
        ("$.rows[*].tags[*]", ["a", "b", "b"]),
        ("$.rows[*].tags[0]", ["a", "b"]),
        ("$.rows[*](@.qty > 2)", [True, False, True]),
        ("$.m.*", [{"id": 2}, 1]),
        ("$.rows[2,0,2].id", [4, "r1", 4]),
        ('$.rows[0,9,"x"].id', ["r1"]),
        ("$.s[*]", []),
        ("$.s.x[*]", []),
        ("$.l[9][*]", []),
        ("$.none[*].x", []),
        ("$([$.none, 1])[*]", [UNDEFINED, 1]),
        ("$..id", [2, "r1", "r2", 4]),
        ("$.m..*", [{"id": 2}, 1, 2]),
        ("$.m..(1)", [1, 1, 1, 1]),
        ("$.rows..[0]", [{"id": "r1", "qty": 3, "tags": ["a", "b"], "v": None}, "a", "b"]),
    ],
)
def test_ambiguous_selectors_yield_a_list_and_drop_what_fails(text: str, expected: Any) -> None:
    assert value(text) == expected


@pytest.mark.parametrize(
    ("bounds", "expected"),
    [
        (":", [10, 11, 12, 13]),
        ("1:3", [11, 12]),
        ("-2:", [12, 13]),
        ("-3:-1", [11, 12]),
        (":-1", []),
        ("2:99", [12, 13]),
        ("::2", [10, 12]),
        ("::-1", [13, 12, 11, 10]),
        ("::-9", [13]),
        ("::0", [10, 11, 12, 13]),
        ("true:2", []),
        ('"1":length(@)', [11, 12, 13]),
    ],
)
def test_ranges_cut_lists(bounds: str, expected: list[int]) -> None:
    assert value(f"$.l[{bounds}]") == expected


def test_a_range_of_no_list_is_empty() -> None:
    assert value("$.m[0:1]") == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("$.rows[? @.qty > 2].id", ["r1", 4]),
        ("$.rows[? @.none].id", ["r1", "r2", 4]),
        ("$.rows[? @.id].id", [4]),
        ("$.rows[? !@.none].id", []),
        ("$.rows[? @.tags[? @ == `b`]].id", []),
        ("$.rows[? length(@.tags[? @ == `b`]) > 0].id", ["r1", 4]),
        ("$.rows[? $.m.z == 1].id", ["r1", "r2", 4]),
        ("$.m[? @ == 1]", [1]),
        ("$.rows[? true][0]", []),
    ],
)
def test_filters_keep_what_is_loosely_true_and_swallow_errors(text: str, expected: Any) -> None:
    assert value(text) == expected


def test_members_are_visited_in_the_order_of_their_names() -> None:
    assert value("$.*", {"b": 1, "": 2, "B": 3, "é": 4, "a": 5}) == [2, 3, 5, 1, 4]


def test_a_document_stays_as_it_is() -> None:
    before = copy.deepcopy(DOCUMENT)
    value('$.rows[*](["x", @])')
    value("{#: $..*}")
    assert before == DOCUMENT


def test_a_result_shares_the_parts_of_the_document() -> None:
    assert value("$.m") is DOCUMENT["m"]
