"""Go's durations: nanoseconds with a string such as `1h30m0s`.

Source: Go 1.18.0's time package (time.go, format.go ParseDuration).
"""

from __future__ import annotations

import re
from typing import ClassVar, Final

from krm_fn.lang.go.values import GoError, NamedInt

MICROSECOND: Final = 1_000
MILLISECOND: Final = 1_000_000
SECOND: Final = 1_000_000_000
MINUTE: Final = 60 * SECOND
HOUR: Final = 60 * MINUTE

_LEAST: Final = -(1 << 63)
_MOST: Final = (1 << 63) - 1


class DurationError(GoError):
    """Why a string is no duration."""


class Duration(NamedInt):
    """A time span in nanoseconds, in the range of an int64."""

    __slots__ = ()
    go_type: ClassVar[str] = "time.Duration"
    go_kind: ClassVar[str] = "int64"

    def go_string(self) -> str:
        return duration_text(int(self))


def clamped(nanoseconds: int) -> Duration:
    """A duration; the longest there is where it would be longer."""
    return Duration(max(_LEAST, min(_MOST, nanoseconds)))


def duration_text(nanoseconds: int) -> str:
    """`2h45m30.5s`; below a second in the unit that leaves digits before the point."""
    sign = "-" if nanoseconds < 0 else ""
    size = abs(nanoseconds)
    if size == 0:
        return "0s"
    if size < MICROSECOND:
        return f"{sign}{size}ns"
    if size < MILLISECOND:
        return f"{sign}{_decimal(size, 3)}µs"
    if size < SECOND:
        return f"{sign}{_decimal(size, 6)}ms"
    minutes, rest = divmod(size, MINUTE)
    text = _decimal(rest, 9) + "s"
    if minutes:
        hours, minutes = divmod(minutes, 60)
        text = f"{minutes}m{text}"
        if hours:
            text = f"{hours}h{text}"
    return sign + text


def _decimal(number: int, places: int) -> str:
    """A number with its last digits behind the point, without zeros at the end."""
    whole, rest = divmod(number, 10**places)
    fraction = f"{rest:0{places}d}".rstrip("0")
    return f"{whole}.{fraction}" if fraction else str(whole)


_UNITS: Final = {
    "ns": 1,
    "us": MICROSECOND,
    "µs": MICROSECOND,
    "\u03bcs": MICROSECOND,
    "ms": MILLISECOND,
    "s": SECOND,
    "m": MINUTE,
    "h": HOUR,
}

_PART: Final = re.compile(r"([0-9]*)(?:(\.)([0-9]*))?([^0-9.]*)")
_HIGHEST: Final = 1 << 63


def parse_duration(text: str) -> Duration:
    """The duration that a string such as `-1.5h` or `1h15m` says; raises DurationError."""
    shown = _quoted(text)
    invalid = DurationError(f"time: invalid duration {shown}")
    rest = text[1:] if text[:1] in ("-", "+") else text
    if rest == "0":
        return Duration(0)
    if not rest:
        raise invalid
    total = at = 0
    while at < len(rest):
        match = _PART.match(rest, at)
        assert match is not None
        whole, fraction, unit = match[1], match[3] or "", match[4]
        digits = whole.lstrip("0")
        number = int(digits or "0") if len(digits) < 25 else 1 << 64
        if not (whole or fraction) or number > _HIGHEST:
            raise invalid
        if not unit:
            raise DurationError(f"time: missing unit in duration {shown}")
        if unit not in _UNITS:
            raise DurationError(f"time: unknown unit {_quoted(unit)} in duration {shown}")
        scale = _UNITS[unit]
        if number > _HIGHEST // scale:
            raise invalid
        total += number * scale + _fraction(fraction, scale)
        if total > _HIGHEST:
            raise invalid
        at = match.end()
    if text.startswith("-"):
        return Duration(-total)
    if total == _HIGHEST:
        raise invalid
    return Duration(total)


def _fraction(digits: str, unit: int) -> int:
    """What the digits behind the point are worth, cut as Go cuts it, with a float64's error."""
    number, scale = 0, 1.0
    for digit in digits[:19]:
        if number > _MOST // 10:
            break
        longer = number * 10 + int(digit)
        if longer > _HIGHEST:
            break
        number = longer
        scale *= 10
    return int(float(number) * (float(unit) / scale))


def _quoted(text: str) -> str:
    """The text in an error. Source: time.quote, which is simpler than strconv's."""
    shown = text if len(text) <= 100 else text[:100] + "..."
    return '"' + shown.replace("\\", "\\\\").replace('"', '\\"') + '"'


def rounded(duration: int, multiple: int) -> Duration:
    """The nearest multiple, half away from zero. Source: Duration.Round."""
    if multiple <= 0:
        return Duration(duration)
    size = abs(duration)
    rest = size % multiple
    size += -rest if 2 * rest < multiple else multiple - rest
    return clamped(-size if duration < 0 else size)


def truncated(duration: int, multiple: int) -> Duration:
    """The nearest multiple towards zero. Source: Duration.Truncate."""
    if multiple <= 0:
        return Duration(duration)
    return Duration(in_whole(duration, multiple) * multiple)


def in_whole(duration: int, unit: int) -> int:
    """How many whole units a duration is, cut towards zero."""
    return abs(duration) // unit * (-1 if duration < 0 else 1)


def in_units(duration: int, unit: int) -> float:
    """How many units a duration is, with Go's rounding. Source: Duration.Hours."""
    whole = in_whole(duration, unit)
    return float(whole) + float(int(duration) - whole * unit) / float(unit)
