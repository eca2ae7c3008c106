from __future__ import annotations

from typing import Any

import pytest

from krm_fn.errors import EvaluationError
from krm_fn.lang.go.values import GoInt
from krm_fn.lang.select import UNDEFINED, compile_select
from krm_fn.lang.select.nodes import Constant
from krm_fn.lang.select.parser import parse_expression
from krm_fn.lang.select.tree import walk

DOCUMENT = {"m": {"a": {"b": 1}}, "l": ["x", "y"], "kind": "Pod", "s": "añb"}


def value(text: str, document: Any = DOCUMENT) -> Any:
    return compile_select(text).evaluate(document)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("kind", "Pod"),
        ("m.a.b", 1),
        ('m["a"].b', 1),
        ("l[1]", "y"),
        ("l[9]", ["x", "y"]),
        ("l.name", ["x", "y"]),
        ("null", None),
        ("m.none", None),
    ],
)
def test_a_variable_looks_up_from_the_root(text: str, expected: Any) -> None:
    assert value(text) == expected


@pytest.mark.parametrize("text", ["kind.x", "none.x", "foo(1)", "kind()", "m.a(1)"])
def test_a_variable_that_cannot_be_entered_or_called_fails(text: str) -> None:
    with pytest.raises(EvaluationError):
        value(text)


def test_null_is_an_unknown_name_and_so_fails_on_a_null_document() -> None:
    with pytest.raises(EvaluationError, match="unknown parameter null"):
        value("null", None)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[1, $.none, null]", [1, UNDEFINED, None]),
        ('{"a": 1, "b" + 1: [2]}', {"a": 1, "b1": [2]}),
        ("{null: 1, true: 2}", {"<nil>": 1, "true": 2}),
        ("{#: $.l[*]}", {'$["0"]': "x", '$["1"]': "y"}),
        ("{#0: $.l[*]}", {"0": "x", "1": "y"}),
        ("{#: $.kind}", {"$": "Pod"}),
        ("{#: $.none}", {}),
        ("{#0: $..b}", {"[m a]": 1}),
        ('{#0 + "!": $.l[*], "k": 1}', {"0!": "x", "1!": "y", "k": 1}),
    ],
)
def test_literals_make_lists_and_maps(text: str, expected: Any) -> None:
    assert value(text) == expected


def test_a_placeholder_without_a_captured_key_fails() -> None:
    with pytest.raises(EvaluationError, match="#1 stands for no captured key"):
        value("{#1: $.l[*]}")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("length($.s)", 4),
        ("length($.l)", 2),
        ("length($.none)", 0),
        ("length(null)", 0),
        ("isEmpty($.none)", True),
        ("isNotEmpty($.l)", True),
        ("isDefined(null)", True),
        ("isUndefined($.none)", True),
    ],
)
def test_functions_answer(text: str, expected: Any) -> None:
    assert value(text) == expected


@pytest.mark.parametrize(
    "text",
    ["length(1)", "isEmpty(true)", "length", "isDefined()", "length($.l, $.l)", "date(1)",
     'date("x")', "isUndefined($.l[5])", "isDefined($.kind.x)", "isDefined(1, $.l[9])"],
)  # fmt: skip
def test_functions_fail_on_wrong_arguments(text: str) -> None:
    with pytest.raises(EvaluationError):
        value(text)


def test_the_length_is_a_go_int() -> None:
    assert type(value("length($.l)")) is GoInt


def test_a_tree_is_walked_in_the_order_of_the_text() -> None:
    tree = parse_expression("1 + [2, {3: 4}] * length(5) ? $[6][? 7](8) : 9")
    values = [part.value for part in walk(tree) if isinstance(part, Constant)]
    assert values == [1, 2, 3, 4, 5, 6, 7, 8, 9]


def test_nodes_are_frozen() -> None:
    with pytest.raises(AttributeError):
        parse_expression("1").start = 2  # type: ignore[misc]


def test_nodes_show_their_fields() -> None:
    assert repr(parse_expression("-1")) == "Prefix(0, '-', Constant(1, 1.0))"
