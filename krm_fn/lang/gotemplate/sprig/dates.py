"""Sprig's dates and durations.

What Go would answer with the time of day is answered from the render's clock: `now`, `ago`, the
duration since a time, and every function of a date for which it is given something that is none.
The local zone is UTC, as in KubeMod's image.
Source: Sprig's date.go.
"""

from __future__ import annotations

import re
from typing import Any, Final

from krm_fn.lang.budget import Budget
from krm_fn.lang.go.time.duration import (
    HOUR,
    MINUTE,
    SECOND,
    duration_text,
    parse_duration,
    rounded,
)
from krm_fn.lang.go.time.times import ZERO, Time, parse_time
from krm_fn.lang.go.time.zones import NoZonesError, load_zone, zone_at
from krm_fn.lang.go.values import GoError, GoInt, GoInt64
from krm_fn.lang.gotemplate.sources import Draws
from krm_fn.lang.gotemplate.sprig.convert import wrap_int64
from krm_fn.lang.gotemplate.times import TIME, formatted
from krm_fn.lang.gotemplate.values import TYPES, Family, RefusedError

FUNCTIONS: Final = Family()

_TYPES: Final = {**TYPES, "time": TIME}
_INT64_MAX: Final = (1 << 63) - 1


def _now(draws: Draws) -> Time:
    return Time.from_datetime(draws.now())


def _moment(draws: Draws, value: Any) -> Time:
    """A time, or seconds since 1970 of type int or int64; all else is now. JSON's numbers too."""
    if type(value) is Time:
        return value
    if type(value) in (GoInt, GoInt64):
        return Time.from_unix(int(value))
    return _now(draws)


@FUNCTIONS.function("now", draws=True)
def now(draws: Draws) -> Time:
    return _now(draws)


@FUNCTIONS.function("ago", "any", budget=True, draws=True)
def ago(budget: Budget, draws: Draws, value: Any) -> str:
    """How long ago a date is, in whole seconds."""
    since = _now(draws).minus(_moment(draws, value))
    return duration_text(int(rounded(int(since), SECOND)))


@FUNCTIONS.function("date", "string any", budget=True, draws=True)
def date(budget: Budget, draws: Draws, layout: str, value: Any) -> str:
    return date_in_zone(budget, draws, layout, value, "Local")


@FUNCTIONS.function("htmlDate", "any", budget=True, draws=True)
def html_date(budget: Budget, draws: Draws, value: Any) -> str:
    return date_in_zone(budget, draws, "2006-01-02", value, "Local")


@FUNCTIONS.function("htmlDateInZone", "any string", budget=True, draws=True)
def html_date_in_zone(budget: Budget, draws: Draws, value: Any, zone: str) -> str:
    return date_in_zone(budget, draws, "2006-01-02", value, zone)


@FUNCTIONS.function("dateInZone date_in_zone", "string any string", budget=True, draws=True)
def date_in_zone(budget: Budget, draws: Draws, layout: str, value: Any, zone: str) -> str:
    """A date in a layout and a zone; in UTC if there is no zone of that name."""
    time = _moment(draws, value)
    found = None
    if zone not in ("", "UTC", "Local"):
        # A zone is read from a file, unless it was before; the price must not tell.
        budget.spend(150)
        try:
            found = load_zone(zone)
        except NoZonesError:
            reason = "needs a time zone database: install the package tzdata"
            raise RefusedError(reason) from None
    name, offset = zone_at(found, time.unix()) if found is not None else ("UTC", 0)
    return formatted(budget, time.fields(name, offset), layout)


def _span(budget: Budget, text: str) -> int:
    """The nanoseconds of a duration; raises DurationError."""
    budget.spend(len(text))
    return int(parse_duration(text))


@FUNCTIONS.function("dateModify date_modify", "string time", types=_TYPES, budget=True)
def date_modify(budget: Budget, duration: str, time: Time) -> Time:
    """The time moved by a duration; unmoved if that is none."""
    try:
        return time.plus(_span(budget, duration))
    except GoError:
        return time


@FUNCTIONS.function("mustDateModify must_date_modify", "string time", types=_TYPES, budget=True)
def must_date_modify(budget: Budget, duration: str, time: Time) -> Time:
    return time.plus(_span(budget, duration))


@FUNCTIONS.function("toDate", "string string", budget=True)
def to_date(budget: Budget, layout: str, text: str) -> Time:
    """A string as a time; the year 1 if it is none."""
    try:
        return must_to_date(budget, layout, text)
    except GoError:
        return ZERO


@FUNCTIONS.function("mustToDate", "string string", budget=True)
def must_to_date(budget: Budget, layout: str, text: str) -> Time:
    budget.spend(16 + 2 * len(layout) + len(text) // 4)
    return parse_time(layout, text)


@FUNCTIONS.function("unixEpoch", "time", types=_TYPES)
def unix_epoch(time: Time) -> str:
    return str(time.unix())


@FUNCTIONS.function("duration", "any")
def duration(value: Any) -> str:
    """Seconds, as a string or an int64, as Go writes a duration; 0s of all else."""
    seconds = 0
    if type(value) is str and re.fullmatch("[+-]?[0-9]+", value):
        digits = value.lstrip("+-").lstrip("0")
        seconds = int(digits or "0") if len(digits) < 20 else _INT64_MAX + 1
        seconds = -min(seconds, _INT64_MAX + 1) if value[0] == "-" else min(seconds, _INT64_MAX)
    elif type(value) is GoInt64:
        seconds = int(value)
    return duration_text(wrap_int64(seconds * SECOND))


_SPANS: Final = (
    (365 * 24 * HOUR, "y"),
    (30 * 24 * HOUR, "mo"),
    (24 * HOUR, "d"),
    (HOUR, "h"),
    (MINUTE, "m"),
    (SECOND, "s"),
)


@FUNCTIONS.function("durationRound", "any", budget=True, draws=True)
def duration_round(budget: Budget, draws: Draws, value: Any) -> str:
    """A duration, or the one since a time, in the largest unit of which it has more than one."""
    span = 0
    if type(value) is str:
        try:
            span = _span(budget, value)
        except GoError:
            span = 0
    elif type(value) is GoInt64:
        span = int(value)
    elif type(value) is Time:
        span = int(_now(draws).minus(value))
    for unit, name in _SPANS:
        if abs(span) > unit:
            return f"{abs(span) // unit}{name}"
    return "0s"
