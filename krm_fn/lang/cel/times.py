"""Timestamps: RFC 3339 as Go reads it, fields in a time zone.

Days are counted by arithmetic, since Python's datetime knows microseconds only.
Source: Go's time package, cel-go v0.29 common/types/timestamp.go and common/stdlib/standard.go.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from krm_fn.errors import EvaluationError
from krm_fn.lang.cel.operators import TIME_MAX, TIME_MIN
from krm_fn.lang.cel.values import Timestamp
from krm_fn.lang.go.strconv import atoi, format_float, number_error

_SECOND: Final = 1_000_000_000
_DAY: Final = 86_400
_DIGITS: Final = frozenset("0123456789")


class Civil(NamedTuple):
    """A date and a time of day."""

    year: int
    month: int
    day: int
    hour: int
    minute: int
    second: int


def days_from_civil(year: int, month: int, day: int) -> int:
    """Days since 1970-01-01 in the proleptic Gregorian calendar."""
    year -= month <= 2
    era = year // 400
    year_of_era = year - era * 400
    day_of_year = (153 * (month + (-3 if month > 2 else 9)) + 2) // 5 + day - 1
    return (
        era * 146_097
        + year_of_era * 365
        + year_of_era // 4
        - year_of_era // 100
        + day_of_year
        - 719_468
    )


def civil(seconds: int) -> Civil:
    """The date and time of day of seconds since 1970."""
    days, rest = divmod(seconds, _DAY)
    days += 719_468
    era, day_of_era = divmod(days, 146_097)
    year_of_era = (
        day_of_era - day_of_era // 1_460 + day_of_era // 36_524 - day_of_era // 146_096
    ) // 365
    day_of_year = day_of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    shifted = (5 * day_of_year + 2) // 153
    day = day_of_year - (153 * shifted + 2) // 5 + 1
    month = shifted + (3 if shifted < 10 else -9)
    year = year_of_era + era * 400 + (month <= 2)
    return Civil(year, month, day, rest // 3_600, rest // 60 % 60, rest % 60)


_MONTHS: Final = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


def _days_in(year: int, month: int) -> int:
    leap = month == 2 and year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    return _MONTHS[month - 1] + leap


def parse_timestamp(text: str) -> Timestamp | None:
    """An RFC 3339 text; None if Go does not read it. Raises EvaluationError outside year 1-9999."""
    parts = _Reader(text)
    try:
        year = parts.number(4, 4, 0, 9_999)
        parts.literal("-")
        month = parts.number(2, 2, 1, 12)
        parts.literal("-")
        day = parts.number(2, 2, 1, 31)
        parts.literal("T")
        hour = parts.number(1, 2, 0, 23)
        parts.literal(":")
        minute = parts.number(2, 2, 0, 59)
        parts.literal(":")
        second = parts.number(2, 2, 0, 59)
        nanos = parts.fraction()
        offset = parts.zone()
    except ValueError:
        return None
    if parts.rest or day > _days_in(year, month):
        return None
    seconds = days_from_civil(year, month, day) * _DAY + hour * 3_600 + minute * 60 + second
    seconds -= offset or 0
    if not TIME_MIN <= seconds <= TIME_MAX:
        raise EvaluationError("timestamp overflow")
    return Timestamp(seconds * _SECOND + nanos, offset)


class _Reader:
    """Takes a timestamp's parts from the front; raises ValueError where one is not there."""

    def __init__(self, text: str) -> None:
        self.rest = text

    def literal(self, wanted: str) -> None:
        if self.rest[:1] != wanted:
            raise ValueError
        self.rest = self.rest[1:]

    def number(self, least: int, most: int, low: int, high: int) -> int:
        width = 0
        while width < most and self.rest[width : width + 1] in _DIGITS and self.rest[width:]:
            width += 1
        if width < least or not low <= int(self.rest[:width]) <= high:
            raise ValueError
        value = int(self.rest[:width])
        self.rest = self.rest[width:]
        return value

    def fraction(self) -> int:
        if self.rest[:1] not in (".", ",") or self.rest[1:2] not in _DIGITS or not self.rest[1:]:
            return 0
        width = 1
        while width < len(self.rest) and self.rest[width] in _DIGITS:
            width += 1
        digits = self.rest[1:width]
        self.rest = self.rest[width:]
        return int(digits[:9].ljust(9, "0"))

    def zone(self) -> int | None:
        if self.rest[:1] == "Z":
            self.rest = self.rest[1:]
            return None
        if self.rest[:1] not in ("+", "-") or not self.rest:
            raise ValueError
        sign = -1 if self.rest[0] == "-" else 1
        self.rest = self.rest[1:]
        hours = self.number(2, 2, 0, 24)
        self.literal(":")
        return sign * (hours * 3_600 + self.number(2, 2, 0, 60) * 60)


def format_timestamp(value: Timestamp, *, utc: bool = False) -> str:
    """RFC 3339 with as many digits of the second as needed, in the value's own zone."""
    offset = 0 if utc else value.offset or 0
    seconds, nanos = divmod(value.nanos, _SECOND)
    when = civil(seconds + offset)
    fraction = f".{nanos:09d}".rstrip("0") if nanos else ""
    zone = "Z"
    if not utc and value.offset:
        hours, minutes = divmod(abs(offset) // 60, 60)
        zone = f"{'-' if offset < 0 else '+'}{hours:02d}:{minutes:02d}"
    return (
        f"{when.year:04d}-{when.month:02d}-{when.day:02d}"
        f"T{when.hour:02d}:{when.minute:02d}:{when.second:02d}{fraction}{zone}"
    )


def format_duration(nanos: int) -> str:
    """A duration as CEL prints it: seconds as a decimal number and `s`."""
    seconds, rest = divmod(abs(nanos), _SECOND)
    value = float(seconds) + rest / 1e9
    return f"{format_float(-value if nanos < 0 else value, 'f')}s"


# Fields


def _offset(value: Timestamp, zone: str) -> int:
    """Seconds east of UTC in a named zone or at a written offset; raises EvaluationError."""
    if ":" in zone:
        hours, _, minutes = zone.partition(":")
        shift = _atoi(hours) * 60
        shift = shift - _atoi(minutes) if zone[0] == "-" else shift + _atoi(minutes)
        return shift * 60
    if zone in ("", "UTC"):
        return 0
    if ".." in zone or zone[0] in ("/", "\\") or "\\" in zone:
        raise EvaluationError("time: invalid location name")
    return _zone_offset(value, zone)


def _zone_offset(value: Timestamp, zone: str) -> int:
    from krm_fn.lang.go.time.zones import NoZonesError, load_zone, zone_at

    try:
        rules = load_zone(zone)
    except NoZonesError:
        raise EvaluationError(
            "there is no time zone database: install the package tzdata"
        ) from None
    if rules is None:
        raise EvaluationError(f"unknown time zone {zone}")
    return zone_at(rules, value.nanos // _SECOND)[1]


def _atoi(text: str) -> int:
    number = atoi(text)
    if number is None:
        raise EvaluationError(number_error("Atoi", text))
    return number


def field(name: str, value: Timestamp, zone: str = "UTC") -> int:
    """One of `FIELDS` of an instant in a time zone; raises EvaluationError for an unknown zone."""
    seconds = value.nanos // _SECOND + _offset(value, zone)
    return int(FIELDS[name](seconds, value))


def _day_of_year(seconds: int, value: Timestamp) -> int:
    when = civil(seconds)
    return seconds // _DAY - days_from_civil(when.year, 1, 1)


FIELDS: Final[dict[str, Any]] = {
    "getFullYear": lambda s, _: civil(s).year,
    "getMonth": lambda s, _: civil(s).month - 1,
    "getDayOfYear": _day_of_year,
    "getDayOfMonth": lambda s, _: civil(s).day - 1,
    "getDate": lambda s, _: civil(s).day,
    "getDayOfWeek": lambda s, _: (s // _DAY + 4) % 7,
    "getHours": lambda s, _: s // 3_600 % 24,
    "getMinutes": lambda s, _: s // 60 % 60,
    "getSeconds": lambda s, _: s % 60,
    "getMilliseconds": lambda _, value: value.nanos % _SECOND // 1_000_000,
}
"""From seconds in the zone and the instant to a field; months and days as CEL counts them."""
