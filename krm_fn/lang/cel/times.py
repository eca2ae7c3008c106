"""Timestamps: RFC 3339 as Go reads it, fields in a time zone.

Source: Go's time package, cel-go v0.29 common/types/timestamp.go and common/stdlib/standard.go.
"""

from __future__ import annotations

from typing import Any, Final

from krm_fn.errors import EvaluationError
from krm_fn.lang.cel.operators import TIME_MAX, TIME_MIN
from krm_fn.lang.cel.values import Timestamp
from krm_fn.lang.go.strconv import atoi, format_float, number_error
from krm_fn.lang.go.time import rfc3339
from krm_fn.lang.go.time.calendar import DAY, civil, days_from_civil

_SECOND: Final = 1_000_000_000


def parse_timestamp(text: str) -> Timestamp | None:
    """An RFC 3339 text; None if Go does not read it. Raises EvaluationError outside year 1-9999."""
    moment = rfc3339.parse(text)
    if moment is None:
        return None
    if not TIME_MIN <= moment.seconds <= TIME_MAX:
        raise EvaluationError("timestamp overflow")
    return Timestamp(moment.seconds * _SECOND + moment.nanoseconds, moment.offset)


def format_timestamp(value: Timestamp, *, utc: bool = False) -> str:
    """RFC 3339 with as many digits of the second as needed, in the value's own zone."""
    offset = 0 if utc else value.offset or 0
    seconds, nanos = divmod(value.nanos, _SECOND)
    fraction = f".{nanos:09d}".rstrip("0") if nanos else ""
    zone = "Z"
    if not utc and value.offset:
        hours, minutes = divmod(abs(offset) // 60, 60)
        zone = f"{'-' if offset < 0 else '+'}{hours:02d}:{minutes:02d}"
    return f"{rfc3339.to_seconds(seconds + offset)}{fraction}{zone}"


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
    return seconds // DAY - days_from_civil(when.year, 1, 1)


FIELDS: Final[dict[str, Any]] = {
    "getFullYear": lambda s, _: civil(s).year,
    "getMonth": lambda s, _: civil(s).month - 1,
    "getDayOfYear": _day_of_year,
    "getDayOfMonth": lambda s, _: civil(s).day - 1,
    "getDate": lambda s, _: civil(s).day,
    "getDayOfWeek": lambda s, _: (s // DAY + 4) % 7,
    "getHours": lambda s, _: s // 3_600 % 24,
    "getMinutes": lambda s, _: s // 60 % 60,
    "getSeconds": lambda s, _: s % 60,
    "getMilliseconds": lambda _, value: value.nanos % _SECOND // 1_000_000,
}
"""From seconds in the zone and the instant to a field; months and days as CEL counts them."""
