"""Quantities: what is kept as written, what comes out canonical, what is refused."""

from __future__ import annotations

import pytest

from krm_fn import limits
from krm_fn.kube.quantity import (
    BAD_NUMBER,
    BAD_SUFFIX,
    FORMAT_WRONG,
    QuantityError,
    canonical,
    canonical_rounded,
    parse,
)
from tests.steps import calls

KEPT = ["0", "1", "500m", "1Gi", "1e3", "+1", "01", "5.", "1.500", "12.340", "100Mi", "1e-3", "3k"]


@pytest.mark.parametrize("text", KEPT)
def test_a_short_quantity_in_canonical_form_keeps_its_text(text: str) -> None:
    assert canonical(text) == text


CANONICAL = [
    ("0.5", "500m"),
    ("0.500", "500m"),
    ("2.000", "2"),
    ("1.50", "1500m"),
    ("1000m", "1"),
    ("1.5Gi", "1536Mi"),
    ("1024Mi", "1Gi"),
    ("0.1Gi", "107374182400m"),
    ("8Ei", "9223372036854775807"),
    ("0.5Ki", "512"),
    ("1e4", "10e3"),
    ("-1000m", "-1"),
    (".", "0"),
    ("-", "0"),
    ("e3", "0"),
    (" 1 ", "1"),
    ("0.0000000001", "1n"),
    ("1E", "1E"),
    ("0Gi", "0"),
]


@pytest.mark.parametrize(("text", "written"), CANONICAL)
def test_other_quantities_come_out_canonical(text: str, written: str) -> None:
    assert canonical(text) == written


ROUNDED = [("1n", "1m"), ("1.0001", "1001m"), ("-1n", "-1m"), ("1.500", "1.500"), ("5Gi", "5Gi")]


@pytest.mark.parametrize(("text", "written"), ROUNDED)
def test_a_resource_list_is_rounded_up_to_thousandths(text: str, written: str) -> None:
    assert canonical_rounded(text) == written


REFUSED = [
    "",
    " ",
    "K",
    "1K",
    "1Zi",
    "1e",
    "1i",
    "--1",
    "1.2.3",
    "1e3k",
    "1 Gi",
    "true",
    "[1]",
    "Ei",
]


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_no_quantity_is_refused(text: str) -> None:
    with pytest.raises(QuantityError):
        parse(text)


HOSTILE = ["1e2147483647", "1e-999999999", "1E" + "9" * 500, "9" * 100_000, "1e1001"]


@pytest.mark.parametrize("text", HOSTILE)
def test_a_huge_quantity_is_refused_at_once(text: str) -> None:
    def read() -> None:
        with pytest.raises(QuantityError):
            parse(text)

    calls(read, at_most=len(text) + 200)


def test_the_largest_quantities_are_still_written() -> None:
    digits = "9" * (limits.QUANTITY_LENGTH - 5)
    assert canonical(f"{digits}e1000").startswith("999")
    assert canonical("1e-1000") == "1e-9"


SUMS = [
    ("100m", "200m", "300m"),
    ("1Gi", "1Mi", "1025Mi"),
    ("0", "1Gi", "1Gi"),
    ("500m", "1", "1500m"),
    ("9223372036854775807", "1", "9223372036854775808"),
]


@pytest.mark.parametrize(("a", "b", "total"), SUMS)
def test_quantities_add_up_in_the_format_of_the_first_that_is_not_zero(
    a: str, b: str, total: str
) -> None:
    assert str(parse(a).plus(parse(b))) == total


def test_quantities_compare_by_value() -> None:
    assert parse("1Gi").is_more_than(parse("1G"))
    assert not parse("1000m").is_more_than(parse("1"))


INTEGERS = [
    ("0", 0, 0),
    ("1", 1, 1000),
    ("100m", 1, 100),
    ("1.5", 2, 1500),
    ("1n", 1, 1),
    ("-1.5", -2, -1500),
    ("1500u", 1, 2),
    ("1Gi", 1073741824, 1073741824000),
    ("1.000000001Gi", 1073741826, 1073741825074),
    ("10E", 0, 0),
    ("9E", 9000000000000000000, 0),
    ("8Ei", 9223372036854775807, -1000),
    ("1e30", 0, 0),
    ("9999999999999999999", -8446744073709551617, 1864712049423023128),
    ("9223372036854775.8079", 9223372036854776, -9223372036854775808),
]
"""What k8s.io/apimachinery v0.36.3 returns as Value and MilliValue."""


@pytest.mark.parametrize(("text", "whole", "milli"), INTEGERS)
def test_a_quantity_is_rounded_up_to_an_int64_and_overflows_as_in_go(
    text: str, whole: int, milli: int
) -> None:
    assert (parse(text).scaled(0), parse(text).scaled(-3)) == (whole, milli)


DIFFERENCES = [
    ("1", "300m", "700m"),
    ("1Gi", "512Mi", "512Mi"),
    ("1Gi", "1G", "73741824"),
    ("0", "1Ki", "-1Ki"),
    ("1k", "1Ki", "-24"),
    ("300m", "1", "-700m"),
]


@pytest.mark.parametrize(("a", "b", "difference"), DIFFERENCES)
def test_quantities_are_subtracted_in_the_format_of_the_first_that_is_not_zero(
    a: str, b: str, difference: str
) -> None:
    assert str(parse(a).minus(parse(b))) == difference


REASONS = [
    ("", FORMAT_WRONG),
    ("1.2.3", FORMAT_WRONG),
    ("1Zi", FORMAT_WRONG),
    ("1K", BAD_SUFFIX),
    ("1e9223372036854775808", BAD_SUFFIX),
    ("Ei", BAD_NUMBER),
]


@pytest.mark.parametrize(("text", "reason"), REASONS)
def test_why_is_told_in_the_words_of_the_api_server(text: str, reason: str) -> None:
    with pytest.raises(QuantityError) as caught:
        parse(text)
    assert caught.value.message == reason


def test_of_an_exponent_32_bits_are_kept() -> None:
    assert parse("1e4294967299").compare(parse("1k")) == 0


def test_only_json_has_space_around_a_quantity() -> None:
    assert parse(" 1 ").compare(parse("1")) == 0
    with pytest.raises(QuantityError):
        parse(" 1 ", trim=False)


WHOLE = [("1k", 1000), ("1.0", None), ("1e20", None), ("999999999999999999", 10**18 - 1)]


@pytest.mark.parametrize(("text", "number"), WHOLE)
def test_a_whole_number_is_one_that_was_written_without_a_fraction(
    text: str, number: int | None
) -> None:
    assert parse(text).as_int64() == number
