from __future__ import annotations

import copy
import math
import pickle
from typing import Any

import pytest

from krm_fn.lang.go.fmt import GoInt
from krm_fn.lang.select.values import (
    UNDEFINED,
    byte_length,
    parse_float,
    parse_int,
    to_bool,
    to_float,
    to_int64,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("10", 10.0),
        ("+10", 10.0),
        ("1_0", 10.0),
        (".5", 0.5),
        ("5.", 5.0),
        ("1e1", 10.0),
        ("0x1p3", 8.0),
        ("0x_1.8p1", 3.0),
        ("1e-400", 0.0),
        ("-Infinity", -math.inf),
        ("INF", math.inf),
    ],
)
def test_a_text_reads_as_a_float_where_go_reads_it(text: str, expected: float) -> None:
    assert parse_float(text) == expected


@pytest.mark.parametrize(
    "text",
    ["", " 1", "1 ", "1__0", "_1", "1_", "1_e5", "1e_5", "0x10", "0b1", "1e400", "0x1p9999",
     "+nan", "infinit", "١٠", "1f", "ten", "0x1_p1", "."],
)  # fmt: skip
def test_a_text_is_no_float_where_go_refuses_it(text: str) -> None:
    assert parse_float(text) is None


def test_nan_is_read_in_any_case() -> None:
    assert math.isnan(parse_float("nAn") or 0)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("007", 7), ("+5", 5), ("-1", -1), ("9223372036854775807", 2**63 - 1),
     ("9223372036854775808", None), ("1_0", None), ("", None), ("1.0", None), ("٣", None)],
)  # fmt: skip
def test_integers_are_read_as_by_atoi(text: str, expected: int | None) -> None:
    assert parse_int(text) == expected


@pytest.mark.parametrize("value", [None, True, [], {}])
def test_only_numbers_texts_and_undefined_convert_to_float(value: Any) -> None:
    assert to_float(value) is None


def test_undefined_is_not_a_number() -> None:
    assert math.isnan(to_float(UNDEFINED) or 0)


def test_a_large_integer_is_rounded_to_a_float() -> None:
    assert to_float(2**53 + 1) == 2.0**53


@pytest.mark.parametrize(
    ("number", "expected"),
    [(1.9, 1), (-1.9, -1), (math.nan, -(2**63)), (1e19, -(2**63)), (-math.inf, -(2**63)),
     (2.0**63, -(2**63)), (-(2.0**63), -(2**63))],
)  # fmt: skip
def test_floats_are_cut_as_on_amd64(number: float, expected: int) -> None:
    assert to_int64(number) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [(True, True), ("TRUE", True), ("true", True), ("True", None), (2, True), ("-1", True),
     (UNDEFINED, True), (GoInt(1), True), (False, False), (None, False), ("FALSE", False),
     (0, False), ("0.0", False), ("x", None), ("", None), ([], None), ({}, None)],
)  # fmt: skip
def test_filters_take_a_loose_view_of_truth(value: Any, expected: bool | None) -> None:
    assert to_bool(value) is expected


def test_there_is_one_undefined_whatever_is_done_to_it() -> None:
    assert copy.deepcopy([UNDEFINED])[0] is UNDEFINED
    assert pickle.loads(pickle.dumps(UNDEFINED)) is UNDEFINED


def test_undefined_prints_as_nothing() -> None:
    assert str(UNDEFINED) == ""


@pytest.mark.parametrize(("text", "expected"), [("añb", 4), ("🙂", 4), ("\udcff", 1), ("", 0)])
def test_the_length_of_a_text_is_in_bytes(text: str, expected: int) -> None:
    assert byte_length(text) == expected
