"""Times: which texts are times, and how they are written again."""

from __future__ import annotations

import pytest

from krm_fn.kube.served.times import TimeError, micro_time, time

TIMES = [
    ("2020-01-01T00:00:00Z", "2020-01-01T00:00:00Z"),
    ("2020-01-01T00:00:00.999Z", "2020-01-01T00:00:00Z"),
    ("2020-01-01T00:00:00,5Z", "2020-01-01T00:00:00Z"),
    ("2020-01-01T01:00:00+01:00", "2020-01-01T00:00:00Z"),
    ("2020-01-01T00:00:00-00:00", "2020-01-01T00:00:00Z"),
    ("2020-01-01T1:00:00Z", "2020-01-01T01:00:00Z"),
    ("2020-02-29T23:59:59-23:59", "2020-03-01T23:58:59Z"),
    ("9999-12-31T23:59:59Z", "9999-12-31T23:59:59Z"),
    ("9999-12-31T23:59:59-01:00", "10000-01-01T00:59:59Z"),
    ("0000-01-01T00:00:00Z", "0000-01-01T00:00:00Z"),
    ("0001-01-01T00:00:00Z", None),
    ("0001-01-01T01:00:00+01:00", None),
]


@pytest.mark.parametrize(("text", "written"), TIMES)
def test_a_time_is_written_in_utc_and_whole_seconds(text: str, written: str | None) -> None:
    assert time(text) == written


NO_TIMES = [
    "",
    "2020-01-01",
    "2020-01-01 00:00:00",
    "2020-01-01T00:00:00",
    "2020-01-01t00:00:00z",
    "2020-1-1T0:0:0Z",
    "2020-01-01T24:00:00Z",
    "2020-01-01T00:60:00Z",
    "2020-02-30T00:00:00Z",
    "2021-02-29T00:00:00Z",
    "10000-01-01T00:00:00Z",
    "2020-01-01T00:00:00+25:00",
    "2020-01-01T00:00:00.Z",
    "2020-01-01T00:00:00Z\n",
    "２０２０-01-01T00:00:00Z",
]


@pytest.mark.parametrize("text", NO_TIMES)
def test_other_texts_are_no_times(text: str) -> None:
    with pytest.raises(TimeError):
        time(text)


def test_a_micro_time_has_exactly_six_digits_of_a_second() -> None:
    assert micro_time("2020-01-01T01:00:00.123456+01:00") == "2020-01-01T00:00:00.123456Z"
    for digits in ("", ".5", ".123", ".1234567"):
        with pytest.raises(TimeError):
            micro_time(f"2020-01-01T00:00:00{digits}Z")
