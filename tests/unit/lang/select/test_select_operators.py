from __future__ import annotations

import math
from typing import Any

import pytest

from krm_fn.errors import EvaluationError
from krm_fn.lang.go.values import GoInt
from krm_fn.lang.select import UNDEFINED, compile_select

DOCUMENT = {
    "num": 7, "digits": "12", "text": "pear", "empty": "", "yes": True, "no": False, "nul": None,
    "list": [1, 2], "map": {"a": 1}, "port": 8080, "big": 100000000, "nan": "nan",
}  # fmt: skip


def value(text: str) -> Any:
    return compile_select(text).evaluate(DOCUMENT)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1 + 2", 3),
        ('"1" + "2"', "12"),
        ('"1" + 1', 2),
        ('"a" + 1', "a1"),
        ("1 + true", "1true"),
        ('"x" + $.gone', "x"),
        ('"" + $.big', "1e+08"),
        ('"" + $.list', "[1 2]"),
        ("length($.list) + 1", 3),
        ('"6" * "2"', 12),
        ("7.9 & 3.9", 3),
        ("~5", -6),
        ('-"5"', -5),
    ],
)
def test_arithmetic_converts_what_reads_as_a_number(text: str, expected: Any) -> None:
    assert value(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('"10" < "9"', True),
        ('"10" < 9', False),
        ('"abc" < 5', False),
        ("$.gone > 12", False),
        ('$.gone < "a"', True),
        ("1 < 2 < 3", False),
        ("$.text < $.list", False),
    ],
)
def test_order_is_of_texts_only_if_both_sides_are_texts_or_do_not_convert(
    text: str, expected: bool
) -> None:
    assert value(text) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('10 == "10"', True),
        ('"1.10" == "1.1"', True),
        ('$.nan == "NaN"', False),
        ('$.nan != "NaN"', True),
        ('true == "true"', False),
        ("$.yes == true", True),
        ("$.num == true", False),
        ("1 == $.yes", False),
        ("null == nil", True),
        ('$.nul == ""', False),
        ("$.gone == $.gone", False),
        ("$.gone != 12", True),
        ('$.gone != "x"', True),
        ("$.list == [1, 2]", True),
        ('$.list == [1, "2"]', False),
        ('$.map == {"a": 1}', True),
        ("[length($.list)] == [2]", False),
        ("length($.list) == 2", True),
        ("[$.gone] == [$.gone]", False),
        ("$([$.gone])(@ == @)", True),
        ('"pear" == $.text', True),
    ],
)
def test_equality_is_of_numbers_if_both_sides_read_as_numbers(text: str, expected: bool) -> None:
    assert value(text) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("$.num in [7, 8]", True),
        ('"7" in [7]', False),
        ("length($.list) in [2]", False),
        ('$.text in ["pear", "plum"]', True),
        ('$.num in ["7"]', False),
        ("$.gone in [$.gone]", False),
        ("$.nul in [null]", True),
    ],
)
def test_membership_is_deep_equality(text: str, expected: bool) -> None:
    assert value(text) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('$.port =~ "^80"', True),
        ("$.nul =~ `^<nil>$`", True),
        ("$.gone =~ `^$`", True),
        ("$.list =~ `1 2`", True),
        ("$.text !~ `ea`", False),
        ("$.text =~ `PEAR`", False),
        ("$.text =~ `(?i)PEAR`", True),
    ],
)
def test_regular_expressions_search_the_text_of_anything(text: str, expected: bool) -> None:
    assert value(text) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("false && 1", False),
        ("true || $.gone", True),
        ("true && false || true", True),
        ("$.yes && $.no", False),
        ("!$.no", True),
    ],
)
def test_logic_looks_to_the_right_only_if_it_must(text: str, expected: bool) -> None:
    assert value(text) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("$.nul ?? 1", 1),
        ("false ?? 3", 3),
        ("0 ?? 3", 0),
        ('$.gone ?? "d"', UNDEFINED),
        ("0 ? 1 : 2", 1),
        ("$.gone ? 1 : 2", 1),
        ("$.nul ? 1 : 2", 2),
        ("$.no ? 1", None),
    ],
)
def test_only_false_and_null_give_way(text: str, expected: Any) -> None:
    assert value(text) == expected or value(text) is expected


@pytest.mark.parametrize(
    "text",
    ['"a" - 1', "null > 1", 'null + "x"', "1 && true", "true && 1", "$.gone || true", "!$.gone",
     '!"true"', '-"x"', "-null", "~$.no", "1 in 2", "1 in $.gone", "$.text =~ `(`",
     "$.text =~ `(?<n>a)`", r"$.text =~ `\C`", r'"\xff" =~ "a"'],
)  # fmt: skip
def test_a_wrong_type_fails_the_evaluation(text: str) -> None:
    with pytest.raises(EvaluationError):
        value(text)


def test_undefined_is_nan_in_arithmetic() -> None:
    assert math.isnan(value("$.gone - 1"))


def test_a_length_is_a_go_int_until_it_is_computed_with() -> None:
    assert type(value("length($.list)")) is GoInt
    assert type(value("length($.list) * 1")) is float
