from __future__ import annotations

import math

import pytest

from krm_fn.lang.go.strconv import (
    format_float,
    format_float32,
    number_error,
    parse_bool,
    parse_float,
    parse_int,
    parse_uint,
    quote,
    quote_rune,
    read_integer,
    unquote,
    unquote_char,
)
from krm_fn.lang.go.values import from_bytes


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('say "hi"', r'"say \"hi\""'),
        ("tab\t", r'"tab\t"'),
        ("\x00\x7f\u200b", r'"\x00\x7f\u200b"'),
        ("é日", '"é日"'),
        (from_bytes(b"\xff"), r'"\xff"'),
    ],
)
def test_quote_escapes_as_go_does(text: str, expected: str) -> None:
    assert quote(text) == expected


def test_quote_can_keep_to_ascii() -> None:
    assert quote("é\U0001f600", ascii_only=True) == r'"\u00e9\U0001f600"'
    assert quote_rune(ord("'")) == r"'\''"


@pytest.mark.parametrize(
    ("literal", "expected"),
    [
        (r'"a\tb\x41\101\u00f1\U0001F642"', "a\tbAAñ🙂"),
        (r'"\303\251"', "é"),
        (r'"\xff"', "\udcff"),
        ("`a\\n\r`", "a\\n"),
        ("'x'", "x"),
        ("''", ""),
        (r"'\''", "'"),
        ('"日本"', "日本"),
    ],
)
def test_a_literal_that_go_unquotes_has_its_text(literal: str, expected: str) -> None:
    assert unquote(literal) == expected


@pytest.mark.parametrize(
    "literal",
    ["'ab'", r'"\q"', r'"\'"', r'"\ud800"', r'"\U00110000"', '"a\nb"', '"a', '"', r'"\"', "`a"],
)
def test_a_literal_that_go_refuses_has_none(literal: str) -> None:
    assert unquote(literal) is None


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


@pytest.mark.parametrize(
    ("text", "expected"),
    [("0x_1f", 31), ("0B11", 3), ("-0o17", -15), ("017", 15), ("0", 0), ("-0", 0), ("1_000", 1000),
     ("08", None), ("1__0", None), ("_1", None), ("0x", None), ("+", None), ("1e3", None),
     ("0b" + "1" * 64, 2**64 - 1)],
)  # fmt: skip
def test_a_literal_is_read_in_its_base(text: str, expected: int | None) -> None:
    assert read_integer(text, 0) == expected


def test_an_integer_of_many_digits_is_read_as_one_that_fits_nowhere() -> None:
    assert read_integer("1" * 1_000_000) == int("1" * 100)
    assert parse_int("0" * 1_000_000 + "7") == 7


@pytest.mark.parametrize(
    ("text", "expected"),
    [("0", 0), ("18446744073709551615", 2**64 - 1), ("18446744073709551616", None), ("+1", None),
     ("-0", None)],
)  # fmt: skip
def test_unsigned_integers_have_no_sign(text: str, expected: int | None) -> None:
    assert parse_uint(text) == expected


@pytest.mark.parametrize(
    ("function", "text", "reason"),
    [
        ("Atoi", "x", "invalid syntax"),
        ("Atoi", "", "invalid syntax"),
        ("Atoi", "-9223372036854775809", "value out of range"),
        ("ParseUint", "-1", "invalid syntax"),
        ("ParseUint", "18446744073709551616", "value out of range"),
    ],
)
def test_what_is_refused_is_told_in_the_words_of_go(function: str, text: str, reason: str) -> None:
    assert number_error(function, text) == f'strconv.{function}: parsing "{text}": {reason}'


@pytest.mark.parametrize(("text", "expected"), [("T", True), ("False", False), ("yes", None)])
def test_booleans_have_six_spellings_each(text: str, expected: bool | None) -> None:
    assert parse_bool(text) is expected


@pytest.mark.parametrize(
    ("literal", "expected"),
    [("'x'", 120), (r"'\xe9'", 233), (r"'\n'", 10), ("''", None), ("'ab'", None), (r"'\q'", None)],
)
def test_a_character_literal_is_a_code_point(literal: str, expected: int | None) -> None:
    assert unquote_char(literal) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [(1e6, "1e+06"), (123456.0, "123456"), (0.00001, "1e-05"), (-0.0, "-0"), (10**400, "+Inf"),
     (math.nan, "NaN")],
)  # fmt: skip
def test_a_float_has_its_shortest_digits(value: float, expected: str) -> None:
    assert format_float(value) == expected


def test_a_float_can_be_written_without_an_exponent() -> None:
    assert format_float(1e21, "f") == "1" + "0" * 21
    assert format_float(-1e-7, "f") == "-0.0000001"


@pytest.mark.parametrize(
    ("value", "expected"),
    [(0.1, "0.1"), (16777217.0, "1.6777216e+07"), (3.4028235e38, "3.4028235e+38"), (1e39, "+Inf"),
     (-1e39, "-Inf"), (-0.0, "-0"), (123456.0, "123456"), (-1e-5, "-1e-05")],
)  # fmt: skip
def test_a_float32_has_the_digits_that_tell_it_apart(value: float, expected: str) -> None:
    assert format_float32(value) == expected
