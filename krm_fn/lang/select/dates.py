"""Points in time for `date()`: Go's layouts that KubeMod tries, and Go's default text of a time.

Times are only ever compared by their text or for being the very same, so they are kept as written:
no clock, no time zone database. The local zone is UTC, as in KubeMod's image.
Source: ModRule specification, section 1.7; Go's time package.
"""

from __future__ import annotations

import calendar
import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

_CLOCK: Final = (
    r"(?P<hour>[0-9]{1,2}):(?P<minute>[0-9]{2}):(?P<second>[0-9]{2})(?:[.,](?P<fraction>[0-9]+))?"
)
_DAY: Final = r"(?P<year>[0-9]{4})-(?P<month>[0-9]{2})-(?P<day>[0-9]{2})"
_MINUTES: Final = r"(?P<hour>[0-9]{1,2}):(?P<minute>[0-9]{2})"
_WEEKDAY: Final = r"(?i:sun|mon|tue|wed|thu|fri|sat) +"
_MONTH: Final = r"(?P<name>(?i:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)) +"
_YEAR: Final = r" +(?P<year>[0-9]{4})"
_OFFSET: Final = r"(?P<offset>[+-][0-9]{4})"
_COLON_OFFSET: Final = r"(?P<offset>[+-][0-9]{2}:[0-9]{2})"
_ABBREVIATION: Final = (
    r"(?P<zone>UTC|ChST|MeST|(?:GMT)?[+-](?:[01]?[0-9]|2[0-3])|GMT"
    r"|[A-Z]{4}T|[A-Z]{3}T|WITA|[A-Z]{3})"
)

_LAYOUTS: Final = (
    rf"{_WEEKDAY}{_MONTH}(?P<day>[0-9]{{1,2}}) +{_CLOCK}{_YEAR}",
    rf"{_WEEKDAY}{_MONTH}(?P<day>[0-9]{{1,2}}) +{_CLOCK} +{_ABBREVIATION}{_YEAR}",
    rf"{_WEEKDAY}{_MONTH}(?P<day>[0-9]{{2}}) +{_CLOCK} +{_OFFSET}{_YEAR}",
    rf"{_MINUTES}(?P<half>[AP]M)",
    rf"{_DAY}T{_CLOCK}(?:Z|{_COLON_OFFSET})",
    _DAY,
    rf"{_DAY} +{_MINUTES}",
    rf"{_DAY} +{_CLOCK}{_COLON_OFFSET}?",
    rf"{_DAY}T(?P<hour>[0-9]{{1,2}})(?:Z|{_OFFSET})",
    rf"{_DAY}T{_MINUTES}(?:Z|{_OFFSET})",
    rf"{_DAY}T{_CLOCK}(?:Z|{_OFFSET})",
)
"""Compiled when the first date is read, which few rules do."""

_MONTHS: Final = (
    "jan",
    "feb",
    "mar",
    "apr",
    "may",
    "jun",
    "jul",
    "aug",
    "sep",
    "oct",
    "nov",
    "dec",
)
_DAYS: Final = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_LOCAL: Final = "local"


@dataclass(frozen=True, slots=True)
class Time:
    """A point in time as Go prints it.

    Two are equal if Go's reflect.DeepEqual says so: UTC that was written differs from the local
    zone, although both print alike.
    """

    text: str
    zone: str

    def __str__(self) -> str:
        return self.text


def parse_date(text: str) -> Time | None:
    """The time that the first fitting layout reads, or None."""
    for layout in _LAYOUTS:
        match = re.fullmatch(layout, text)
        if match:
            time = _time(match.groupdict(""), text)
            if time:
                return time
    return None


def _time(parts: dict[str, str], text: str) -> Time | None:
    year = int(parts.get("year") or 0)
    name = parts.get("name")
    month = _MONTHS.index(name.lower()) + 1 if name else int(parts.get("month") or 1)
    day = int(parts.get("day") or 1)
    clock = _clock(parts)
    if clock is None or not 1 <= month <= 12 or not 1 <= day <= _days_in(year, month):
        return None
    hour, minute, second = clock
    abbreviation = parts.get("zone", "")
    zone, offset = _zone(parts.get("offset", ""), abbreviation, text.endswith("Z"))
    if abbreviation.startswith("GMT") and offset:
        # Go reads the clock as UTC and then shows it in the zone.
        year, month, day, hour = _shifted(year, month, day, hour, offset)
    fraction = parts.get("fraction", "")[:9].rstrip("0")
    return Time(
        f"{year:04d}-{month:02d}-{day:02d} {hour:02d}:{minute:02d}:{second:02d}"
        f"{'.' if fraction else ''}{fraction} {_offset_text(offset)} {_zone_name(zone, offset)}",
        zone,
    )


def _clock(parts: dict[str, str]) -> tuple[int, int, int] | None:
    hour, minute, second = (int(parts.get(name) or 0) for name in ("hour", "minute", "second"))
    half = parts.get("half")
    if minute > 59 or second > 59 or hour > (12 if half else 23):
        return None
    if half == "PM" and hour < 12:
        hour += 12
    elif half == "AM" and hour == 12:
        hour = 0
    return hour, minute, second


def _days_in(year: int, month: int) -> int:
    return 29 if month == 2 and calendar.isleap(year) else _DAYS[month - 1]


def _zone(offset: str, abbreviation: str, is_utc: bool) -> tuple[str, int]:
    """The zone's name ("" for an offset alone) and its offset in minutes."""
    if offset:
        digits = offset[1:].replace(":", "")
        minutes = int(digits[:2]) * 60 + int(digits[2:])
        return ("", -minutes if offset[0] == "-" else minutes) if minutes else (_LOCAL, 0)
    if abbreviation.startswith("GMT") and len(abbreviation) > 3:
        return abbreviation, int(abbreviation[3:]) * 60
    if abbreviation:
        return abbreviation, 0
    return ("UTC", 0) if is_utc else (_LOCAL, 0)


def _zone_name(zone: str, offset: int) -> str:
    """What Go prints after the offset."""
    if zone == _LOCAL:
        return "UTC"
    return zone or _offset_text(offset)


def _offset_text(minutes: int) -> str:
    return f"{'-' if minutes < 0 else '+'}{abs(minutes) // 60:02d}{abs(minutes) % 60:02d}"


def _shifted(year: int, month: int, day: int, hour: int, minutes: int) -> tuple[int, int, int, int]:
    """The same moment some minutes later on the calendar, which repeats every 400 years."""
    cycle = year % 400
    moved = datetime(2000 + cycle, month, day, hour) + timedelta(minutes=minutes)
    return year + moved.year - 2000 - cycle, moved.month, moved.day, moved.hour
