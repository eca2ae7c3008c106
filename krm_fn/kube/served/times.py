"""Times as the API server reads and writes them.

Source: apimachinery meta/v1 time.go and micro_time.go over Go's time.Parse; the served form's
specification, section (b).
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

_ZERO: Final = -62_135_596_800
"""Go's zero time, the year 1, in seconds since 1970."""


class TimeError(ValueError):
    """A string that is no time."""


@lru_cache(maxsize=256)
def time(text: str) -> str | None:
    """A time in UTC and whole seconds; None for Go's zero time. Raises TimeError."""
    return _normal(text, 0)


@lru_cache(maxsize=256)
def micro_time(text: str) -> str | None:
    """A time in UTC with six digits of a second; None for Go's zero time. Raises TimeError."""
    return _normal(text, 6)


def _normal(text: str, digits: int) -> str | None:
    from krm_fn.lang.go.time import rfc3339  # few manifests have a time

    moment = rfc3339.parse(text)
    if moment is None or (digits and moment.digits != digits):
        raise TimeError(text)
    if (moment.seconds, moment.nanoseconds) == (_ZERO, 0):
        return None
    fraction = f".{moment.nanoseconds // 1_000:06d}" if digits else ""
    return f"{rfc3339.to_seconds(moment.seconds)}{fraction}Z"
