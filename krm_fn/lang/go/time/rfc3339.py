"""Times in RFC 3339, as Go 1.20 and later read and write them.

Hours may have one digit, a comma may stand before the fraction; offsets are bounded.
Source: Go's time.Parse with RFC3339, format_rfc3339.go.
"""

from __future__ import annotations

import functools
import re
from typing import Final, NamedTuple

from krm_fn.lang.go.time.calendar import DAY, civil, days_from_civil, days_in

_TIME: Final = (
    "([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{1,2}):([0-9]{2}):([0-9]{2})"
    "(?:[.,]([0-9]+))?(?:Z|([-+])([0-9]{2}):([0-9]{2}))"
)


@functools.cache
def _pattern() -> re.Pattern[str]:
    return re.compile(_TIME)


class Moment(NamedTuple):
    """A point in time with the offset that it was written with."""

    seconds: int
    """Since 1970."""
    nanoseconds: int
    offset: int | None
    """Seconds to the east of UTC; None for `Z`."""
    digits: int
    """Digits of the fraction, as they were written."""


def parse(text: str) -> Moment | None:
    """The time that a string says, or None where it says none."""
    match = _pattern().fullmatch(text)
    if match is None:
        return None
    year, month, day, hour, minute, second = map(int, match.groups()[:6])
    if not 1 <= month <= 12 or not 1 <= day <= days_in(year, month):
        return None
    if hour > 23 or minute > 59 or second > 59:
        return None
    offset = None
    if match[8]:
        hours, minutes = int(match[9]), int(match[10])
        if hours > 24 or minutes > 60:
            return None
        offset = (hours * 3_600 + minutes * 60) * (-1 if match[8] == "-" else 1)
    fraction = match[7] or ""
    seconds = days_from_civil(year, month, day) * DAY + hour * 3_600 + minute * 60 + second
    nanoseconds = int(fraction[:9].ljust(9, "0"))
    return Moment(seconds - (offset or 0), nanoseconds, offset, len(fraction))


def to_seconds(seconds: int) -> str:
    """Seconds since 1970 as a date and a time of day, without a zone."""
    when = civil(seconds)
    return (
        f"{when.year:04d}-{when.month:02d}-{when.day:02d}"
        f"T{when.hour:02d}:{when.minute:02d}:{when.second:02d}"
    )
