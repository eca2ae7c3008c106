"""Times as the API server reads and writes them.

Source: apimachinery meta/v1 time.go and micro_time.go over Go's time.Parse; the served form's
specification, section (b).
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

_RFC3339: Final = (
    r"(\d{4})-(\d\d)-(\d\d)T(\d\d?):(\d\d):(\d\d)(?:[.,](\d%s))?(?:Z|([-+])(\d\d):(\d\d))\Z"
)
_CYCLE: Final = 400
"""After so many years the calendar repeats; Python's own dates have no year 0 and no 10000."""


class TimeError(ValueError):
    """A text that is no time."""


@lru_cache(maxsize=256)
def time(text: str) -> str | None:
    """A time in UTC and whole seconds; None for Go's zero time. Raises TimeError."""
    return _normal(text, "+", "")


@lru_cache(maxsize=256)
def micro_time(text: str) -> str | None:
    """A time in UTC with six digits of a second; None for Go's zero time. Raises TimeError."""
    return _normal(text, "{6}", ".%06d")


def _normal(text: str, digits: str, fraction_format: str) -> str | None:
    from datetime import datetime, timedelta

    # Python's \d knows more digits than Go.
    found = re.match(_RFC3339 % digits, text) if text.isascii() else None
    if found is None or (fraction_format and not found[7]):
        raise TimeError(text)
    year, month, day, hour, minute, second = map(int, found.groups()[:6])
    cycle = _CYCLE if year < 2 else -_CYCLE if year > 9998 else 0
    try:
        moment = datetime(year + cycle, month, day, hour, minute, second)
    except ValueError:
        raise TimeError(text) from None
    if found[8]:
        hours, minutes = int(found[9]), int(found[10])
        if hours > 24 or minutes > 60:
            raise TimeError(text)
        offset = timedelta(hours=hours, minutes=minutes)
        moment = moment - offset if found[8] == "+" else moment + offset
    fraction = found[7] or ""
    year = moment.year - cycle
    if (year, *moment.timetuple()[1:6]) == (1, 1, 1, 0, 0, 0) and not fraction.strip("0"):
        return None
    written = f"{year:04d}-{moment:%m-%dT%H:%M:%S}"
    return written + (fraction_format % int(fraction) if fraction_format else "") + "Z"
