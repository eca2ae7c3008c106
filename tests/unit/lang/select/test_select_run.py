from __future__ import annotations

from typing import Any

import pytest

from krm_fn.errors import LimitError
from krm_fn.lang.select import UNDEFINED, compile_fanout, compile_select
from krm_fn.lang.select.run import Run, deep_equal
from krm_fn.limits import SELECT_STEPS


def deep(levels: int) -> dict[str, Any]:
    document: dict[str, Any] = {}
    for _ in range(levels):
        document = {"a": document}
    return document


@pytest.mark.parametrize(
    ("text", "document"),
    [
        ("$..*..*..*", deep(1_000)),
        ("$" + "([@,@])" * 60, {}),
        ('"" + $' + "([@,@])" * 60, {}),
        ("$" + "([@,@])" * 60 + " == $" + "([@,@])" * 60, {}),
        ("$" + "(@+@)" * 60, "text"),
        ("$.l[? $.s =~ `y`]", {"l": [0] * 200_000, "s": "x" * 10_000}),
        ("$.l[? $.s == $.s]", {"l": [0] * 200_000, "s": "x" * 10_000}),
        ("$.l[? $.l[? true]]", {"l": [0] * 2_000}),
        ("$.l[? 1 in $.l]", {"l": [0] * 2_000}),
        ("$" + "([@,@])" * 18 + "..*", {}),
        ("$" + "([[[[[[[[@]]]]]]]])" * 199, {}),
    ],
)
def test_work_that_a_rule_can_multiply_is_limited(text: str, document: Any) -> None:
    with pytest.raises(LimitError):
        compile_select(text).evaluate(document)


def test_the_work_of_a_fan_out_is_limited() -> None:
    with pytest.raises(LimitError):
        compile_fanout("$" + "..(@)" * 190).entries(deep(1_000))


def test_a_limit_is_no_error_that_a_filter_swallows() -> None:
    with pytest.raises(LimitError):
        compile_select("$[? $..*..*..*]").evaluate([deep(1_000)])


@pytest.mark.parametrize(
    "text", ["$..a", "$ == $", '"" + $', "$ =~ `a`", "[$] == [$]", "$" + ".a" * 1_000]
)
def test_the_deepest_documents_can_be_walked(text: str) -> None:
    compile_select(text).evaluate(deep(1_000))


def test_expressions_as_deep_as_allowed_are_evaluated() -> None:
    compile_select('"" + ' + "[" * 190 + "]" * 190).evaluate({})


def test_the_budget_is_drawn_on_until_it_is_used_up() -> None:
    run = Run({})
    run.spend(SELECT_STEPS)
    with pytest.raises(LimitError):
        run.spend(1)


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        (1, 1.0, True),
        (2**53, 2**53 + 1, True),
        (True, 1, False),
        ({"a": [1]}, {"a": [1.0]}, True),
        ({"a": 1}, {"b": 1}, False),
        ({"a": None}, {"b": None}, False),
        ([], {}, False),
        ([1], [1, 2], False),
        (UNDEFINED, UNDEFINED, False),
        (None, None, True),
        (float("nan"), float("nan"), False),
    ],
)
def test_deep_equality_is_typed_as_in_go(left: Any, right: Any, expected: bool) -> None:
    assert deep_equal(Run(None), left, right) is expected
