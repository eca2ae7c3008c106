from __future__ import annotations

import copy
import math
import pickle
from typing import Any

import pytest

from krm_fn.lang.go.values import GoInt
from krm_fn.lang.select.values import UNDEFINED, byte_length, to_bool, to_float, to_int64


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
