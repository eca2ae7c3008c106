"""RFC 3339 and the calendar; layouts and methods are tested with the templates that call them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from krm_fn.lang.go.time import rfc3339
from krm_fn.lang.go.time.calendar import civil, days_from_civil

SECONDS = st.integers(-62_135_596_800, 253_402_300_799)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@given(SECONDS)
def test_the_calendar_is_that_of_python_where_python_has_one(seconds: int) -> None:
    moment = EPOCH + timedelta(seconds=seconds)
    assert civil(seconds) == moment.timetuple()[:6]
    assert days_from_civil(moment.year, moment.month, moment.day) == seconds // 86_400


@given(SECONDS, st.integers(0, 999_999_999), st.integers(-1439, 1439))
def test_a_time_that_is_written_reads_as_itself(seconds: int, nanos: int, minutes: int) -> None:
    sign = "-" if minutes < 0 else "+"
    zone = f"{sign}{abs(minutes) // 60:02d}:{abs(minutes) % 60:02d}"
    written = rfc3339.to_seconds(seconds)
    moment = rfc3339.parse(f"{written}.{nanos:09d}{zone}")
    assert moment == (seconds - 60 * minutes, nanos, 60 * minutes, 9)


@pytest.mark.parametrize(
    ("text", "fine"),
    [
        ("2024-02-29T1:00:00Z", True),
        ("2024-02-29T01:00:00,5+24:60", True),
        ("2023-02-29T01:00:00Z", False),
        ("2024-02-29T01:00:00+25:00", False),
        ("2024-02-29T01:00:00", False),
        ("2024-02-29 01:00:00Z", False),
        ("2024-02-29T01:00:60Z", False),
        ("٢٠٢٤-02-29T01:00:00Z", False),
    ],
)
def test_hours_may_be_short_and_offsets_are_bounded(text: str, fine: bool) -> None:
    assert (rfc3339.parse(text) is not None) is fine
