from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from krm_fn.values import MISSING, Edit, align, diff, equal, format_path, get, with_at
from tests.steps import assert_linear
from tests.steps import lines as count_lines


@pytest.mark.parametrize(
    ("a", "b", "same"),
    [
        (1, 1, True),
        (1, True, False),
        (1, 1.0, False),
        (0, False, False),
        ("1", 1, False),
        (None, False, False),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, True),
        ({"a": 1}, {"a": True}, False),
        ({"a": None}, {}, False),
        ([1, 2], [2, 1], False),
        ([1], [1, 2], False),
        ([], {}, False),
        ([{"a": [1.5]}], [{"a": [1.5]}], True),
    ],
)
def test_equality_tells_types_apart_and_ignores_the_order_of_keys(
    a: Any, b: Any, same: bool
) -> None:
    assert equal(a, b) is same
    assert equal(b, a) is same


@pytest.mark.parametrize(
    ("old", "new", "pairs"),
    [
        ([], [], []),
        ([], [1], [(None, 0)]),
        ([1], [], [(0, None)]),
        ([1, 2, 3], [1, 3], [(0, 0), (1, None), (2, 1)]),
        ([1, 2], [1, 9, 2], [(0, 0), (None, 1), (1, 2)]),
        ([1, 2, 3], [1, 9, 3], [(0, 0), (1, 1), (2, 2)]),
        ([1, 2, 3], [3, 1, 2], [(None, 0), (0, 1), (1, 2), (2, None)]),
        ([1, 1, 2], [1, 2, 2], [(0, 0), (1, 1), (2, 2)]),
        ([1, True, 1.0], [True, 1.0], [(0, None), (1, 0), (2, 1)]),
        ([[1], [2]], [[2]], [(0, None), (1, 0)]),
    ],
)
def test_elements_without_a_key_pair_by_equality_then_by_position(
    old: list[Any], new: list[Any], pairs: list[Any]
) -> None:
    assert align(old, new) == pairs


NAMED = {"name": "a", "image": "x", "port": 1}


@pytest.mark.parametrize(
    ("old", "new", "pairs"),
    [
        # One that changed all but its name is still itself.
        (
            [{"name": "a", "v": 1}, {"name": "b", "v": 2}],
            [{"name": "b", "v": 3}, {"name": "c", "v": 4}],
            [(0, None), (1, 0), (None, 1)],
        ),
        # One that changed nothing but its name is renamed.
        ([NAMED], [{**NAMED, "name": "b"}], [(0, 0)]),
        ([{"port": 80}], [{"port": 8080}], [(0, 0)]),
        # One that shares little is another one.
        ([NAMED], [{"name": "b", "image": "y", "port": 2}], [(0, None), (None, 0)]),
        ([{"name": "a"}, {"name": "b"}], [{"name": "b"}, {"name": "a"}], None),
    ],
)
def test_elements_with_a_key_pair_by_it_or_where_little_else_changed(
    old: list[Any], new: list[Any], pairs: list[Any] | None
) -> None:
    answer = align(old, new)
    if pairs is None:
        assert sum(1 for i, j in answer if i is not None and j is not None) == 1
    else:
        assert answer == pairs


def sound(old: list[Any], new: list[Any]) -> None:
    pairs = align(old, new)
    assert [i for i, _ in pairs if i is not None] == list(range(len(old)))
    assert [j for _, j in pairs if j is not None] == list(range(len(new)))
    assert (None, None) not in pairs


def test_every_index_occurs_once_and_in_order() -> None:
    rng = random.Random(1)
    kinds = [
        lambda: rng.randrange(4),
        lambda: {"name": f"n{rng.randrange(5)}"},
        lambda: {"name": rng.randrange(30), "value": rng.randrange(3)},
        lambda: [rng.randrange(2)],
        lambda: rng.choice([1, True, 1.0, None, "1", {}, [], {"name": "x"}]),
    ]
    for _ in range(3000):
        kind = rng.choice(kinds)
        shared = [kind() for _ in range(8)]
        old = [rng.choice([*shared, kind()]) for _ in range(rng.randrange(8))]
        new = [rng.choice([*shared, *old, kind()]) for _ in range(rng.randrange(8))]
        sound(old, new)


Lists = tuple[list[Any], list[Any]]

HOSTILE: dict[str, Callable[[int], Lists]] = {
    "reversed": lambda n: (list(range(n)), list(range(n))[::-1]),
    "equal": lambda n: ([0] * n, [1, *[0] * (n - 2), 1]),
    "all others": lambda n: ([{"a": k} for k in range(n)], [{"a": k} for k in range(n, 2 * n)]),
    "all renamed": lambda n: ([{"name": k} for k in range(n)], [{"name": -k} for k in range(n)]),
    "few distinct": lambda n: ([[k % 2] for k in range(n)], [[k % 3] for k in range(n)]),
}


@pytest.mark.parametrize("lists", HOSTILE.values(), ids=HOSTILE)
def test_hostile_lists_take_no_quadratic_time(lists: Callable[[int], Lists]) -> None:
    assert_linear(lambda n: sound(*lists(n)), 500, count_lines)


def test_differences_come_in_document_order_with_paths() -> None:
    old = {"a": 1, "gone": 2, "l": [{"name": "x", "v": 1}, {"name": "y", "u": 0}], "t": 1}
    new = {"a": 1, "l": [{"name": "x", "v": 2}, {"name": "z", "u": 0}], "t": True, "more": {}}
    assert list(diff(old, new)) == [
        Edit(("gone",), 2, MISSING),
        Edit(("l", 0, "v"), 1, 2),
        Edit(("l", 1, "name"), "y", "z"),
        Edit(("t",), 1, True),
        Edit(("more",), MISSING, {}),
    ]


def test_equal_values_have_no_differences() -> None:
    assert list(diff({"a": [1, {"b": None}]}, {"a": [1, {"b": None}]})) == []


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ((), ""),
        (("spec", "containers", 0, "image"), "spec.containers[0].image"),
        (("metadata", "labels", "a.b/c"), 'metadata.labels["a.b/c"]'),
        (("", 'q"\\'), '[""]["q\\"\\\\"]'),
        ((0, "a"), "[0].a"),
    ],
)
def test_paths_are_shown_with_dots_and_brackets(path: tuple[Any, ...], text: str) -> None:
    assert format_path(path) == text


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ((), {"a": [{"b": 1}]}),
        (("a", 0, "b"), 1),
        (("a", -1, "b"), 1),
        (("a", 1), "default"),
        (("a", "0"), "default"),
        (("a", 0, "b", "c"), "default"),
        ((0,), "default"),
    ],
)
def test_get_follows_a_path_or_gives_the_default(path: tuple[Any, ...], value: Any) -> None:
    assert get({"a": [{"b": 1}]}, path, "default") == value


@pytest.mark.parametrize(
    ("path", "new", "expected"),
    [
        ((), 1, 1),
        (("a", 0, "b"), 2, {"a": [{"b": 2}], "k": {}}),
        (("x", "y"), 2, {"a": [{"b": 1}], "k": {}, "x": {"y": 2}}),
        (("k",), MISSING, {"a": [{"b": 1}]}),
        (("a", 0), MISSING, {"a": [], "k": {}}),
        (("x", "y"), MISSING, {"a": [{"b": 1}], "k": {}}),
        (("k", "z"), MISSING, {"a": [{"b": 1}], "k": {}}),
    ],
)
def test_with_at_gives_a_new_value_and_leaves_the_old(
    path: tuple[Any, ...], new: Any, expected: Any
) -> None:
    old = {"a": [{"b": 1}], "k": {}}
    assert with_at(old, path, new) == expected
    assert old == {"a": [{"b": 1}], "k": {}}


def test_with_at_shares_what_it_does_not_change() -> None:
    old: dict[str, Any] = {"a": {"x": 1}, "b": [{"c": 1}, {"d": 2}]}
    new = with_at(old, ("b", 0, "c"), 9)
    assert new["a"] is old["a"]
    assert new["b"][1] is old["b"][1]
