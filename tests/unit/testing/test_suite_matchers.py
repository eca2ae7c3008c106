"""Matchers: each says yes to what it is for, and no to what is near."""

from __future__ import annotations

from typing import Any

import pytest

from krm_fn.errors import ConfigError
from krm_fn.testing.matchers import matcher, selected
from krm_fn.values import MISSING


@pytest.mark.parametrize(
    ("expected", "yes", "no"),
    [
        (3, [3], [3.0, "3", True, MISSING]),
        (None, [None], [MISSING, ""]),
        ({"a": 1}, [{"a": 1}], [{"a": 1, "b": 2}, {}]),
        ({"equals": {"all": 1}}, [{"all": 1}], [{"all": 2}]),
        ({"matches": "^a"}, ["abc"], ["bac", 3, MISSING, ["a"]]),
        ({"contains": "b"}, ["abc", ["b"]], ["ac", ["bb"], MISSING]),
        ({"contains": {"a": {"b": 1}}}, [{"a": {"b": 1, "c": 2}}, [{"a": {"b": 1}}]], [{"a": 1}]),
        ({"absent": True}, [MISSING, []], [None, 0, [1]]),
        ({"absent": False}, [0], [MISSING]),
        ({"present": True}, [None, 0], [MISSING]),
        ({"all": {"matches": "a"}}, [["a", "ba"]], [["a", "b"], [], MISSING, "a"]),
        ({"any": 2}, [[1, 2]], [[1], [], MISSING]),
        ({"not": 1}, [2, MISSING], [1]),
        ({"oneOf": [1, {"matches": "x"}]}, [1, "x"], [2, "y", MISSING]),
        ({"length": 2}, ["ab", [1, 2], {"a": 1, "b": 2}], ["a", 2, MISSING]),
        ({"length": {"oneOf": [0, 1]}}, ["", [1]], [[1, 2]]),
        ({"matches": "a", "length": 2}, ["ab"], ["b", "abc"]),
    ],
)
def test_a_matcher_says_yes_and_no(expected: Any, yes: list[Any], no: list[Any]) -> None:
    check = matcher(expected).check
    assert [value for value in yes if not check(value)] == []
    assert [value for value in no if check(value)] == []


@pytest.mark.parametrize(
    ("expected", "message"),
    [
        ({"matches": "("}, "matches: "),
        ({"matches": 3}, "matches takes a regular expression"),
        ({"absent": "yes"}, "absent is true or false"),
        ({"oneOf": 1}, "oneOf takes a list"),
        ({"matches": "a", "contain": "b"}, "contain: unknown matcher; did you mean contains?"),
    ],
)
def test_a_wrong_matcher_is_refused(expected: Any, message: str) -> None:
    with pytest.raises(ConfigError, match="^" + message.replace("(", r"\(").replace("?", r"\?")):
        matcher(expected)


@pytest.mark.parametrize(
    ("path", "values", "chosen"),
    [("$.a", [1], 1), ("$.a", [], MISSING), ("$.a[*]", [1], [1]), ("$..a", [], [])],
)
def test_a_path_to_several_places_selects_a_list(path: str, values: list[Any], chosen: Any) -> None:
    assert selected(values, path) == chosen
