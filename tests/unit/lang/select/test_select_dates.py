from __future__ import annotations

import pytest

from krm_fn.lang.select.dates import parse_date


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2024-03-05", "2024-03-05 00:00:00 +0000 UTC"),
        ("2024-03-05 06:07", "2024-03-05 06:07:00 +0000 UTC"),
        ("2024-03-05  6:07:08.500", "2024-03-05 06:07:08.5 +0000 UTC"),
        ("2024-03-05 06:07:08+05:30", "2024-03-05 06:07:08 +0530 +0530"),
        ("2024-03-05T06Z", "2024-03-05 06:00:00 +0000 UTC"),
        ("2024-03-05T06:07-0300", "2024-03-05 06:07:00 -0300 -0300"),
        ("2024-03-05T06:07:08,5+0200", "2024-03-05 06:07:08.5 +0200 +0200"),
        ("2024-03-05T06:07:08.123456789Z", "2024-03-05 06:07:08.123456789 +0000 UTC"),
        ("2024-03-05T06:07:08+00:00", "2024-03-05 06:07:08 +0000 UTC"),
        ("3:04PM", "0000-01-01 15:04:00 +0000 UTC"),
        ("12:30AM", "0000-01-01 00:30:00 +0000 UTC"),
        ("Tue Mar  5 06:07:08 2024", "2024-03-05 06:07:08 +0000 UTC"),
        ("Tue Mar  5 06:07:08 CEST 2024", "2024-03-05 06:07:08 +0000 CEST"),
        ("Tue Dec 31 23:07:08 GMT+5 2024", "2025-01-01 04:07:08 +0500 GMT+5"),
        ("tue mar 05 06:07:08 -0700 2024", "2024-03-05 06:07:08 -0700 -0700"),
        ("2024-02-29", "2024-02-29 00:00:00 +0000 UTC"),
    ],
)
def test_a_time_prints_as_in_go(text: str, expected: str) -> None:
    assert str(parse_date(text)) == expected


@pytest.mark.parametrize(
    "text",
    ["", " 2024-03-05", "2024-13-01", "2023-02-29", "2024-00-01", "05/03/2024", "13:04PM",
     "2024-03-05T24:00:00Z", "2024-03-05T06:60Z", "2024-03-05T06:07:08", "2024-3-5",
     "Tue Mar  5 06:07:08 GMT+36 2024", "٢٠٢٤-03-05"],
)  # fmt: skip
def test_what_no_layout_fits_is_no_time(text: str) -> None:
    assert parse_date(text) is None


def test_utc_as_written_is_not_the_local_zone() -> None:
    written, local = parse_date("2024-03-05T00:00:00Z"), parse_date("2024-03-05")
    assert str(written) == str(local)
    assert written != local


def test_the_same_offset_is_the_same_zone() -> None:
    assert parse_date("2024-03-05T06:00:00+02:00") == parse_date("2024-03-05T06+0200")
