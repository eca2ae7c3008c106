"""The methods of Go's times and durations, as templates call them.

What they answer is in `krm_fn.lang.go.time`, which knows no templates.
Source: Go 1.18.0's time package, time.go.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from krm_fn.lang.budget import Budget
from krm_fn.lang.go.time import duration as d
from krm_fn.lang.go.time import layouts
from krm_fn.lang.go.time.duration import Duration
from krm_fn.lang.go.time.times import LOCAL, UTC, Location, Month, Time, Weekday
from krm_fn.lang.go.values import GoInt, GoInt64
from krm_fn.lang.gotemplate.values import TYPES, FunctionError, Methods, Type

DURATION: Final = Type(
    "time.Duration", lambda v: type(v) is Duration, None, lambda v: Duration(int(v)), "int"
)
"""The type of a parameter; integer literals are nanoseconds."""
TIME: Final = Type("time.Time", lambda v: type(v) is Time)
LOCATION: Final = Type("*time.Location", lambda v: type(v) is Location, lambda: None)
_TYPES: Final = {**TYPES, "time": TIME, "location": LOCATION, "duration": DURATION}


def formatted(budget: Budget, fields: layouts.CalendarFields, layout: str) -> str:
    """A time in a layout; raises LimitError."""
    budget.spend(8 + len(layout))
    text = layouts.write(fields, layout, budget.output)
    if text is None:
        budget.text(budget.output + 1)
    return text or ""


_TIME: Final = Methods()
_DURATION: Final = Methods()
_NAMED: Final = Methods()
"""The methods of months, weekdays and locations."""

METHODS: Final[Mapping[type, Methods]] = {
    Time: _TIME,
    Duration: _DURATION,
    Location: _NAMED,
    Month: _NAMED,
    Weekday: _NAMED,
}
"""The methods of each type."""


@_NAMED.function("String")
@_DURATION.function("String")
@_TIME.function("String")
def _string(value: Any) -> Any:
    return value.go_string()


# Points in time

_TIME.add("GoString", "", Time.go_source)
_TIME.add("Year", "", lambda time: GoInt(time.fields().year))
_TIME.add("Month", "", lambda time: Month(time.fields().month))
_TIME.add("Day", "", lambda time: GoInt(time.fields().day))
_TIME.add("YearDay", "", lambda time: GoInt(time.fields().day_of_year))
_TIME.add("Weekday", "", lambda time: Weekday(time.fields().weekday))
_TIME.add("Hour", "", lambda time: GoInt(time.fields().hour))
_TIME.add("Minute", "", lambda time: GoInt(time.fields().minute))
_TIME.add("Second", "", lambda time: GoInt(time.fields().second))
_TIME.add("Nanosecond", "", lambda time: GoInt(time.nanoseconds))
_TIME.add("Unix", "", lambda time: GoInt64(time.unix()))
_TIME.add("UnixMilli", "", lambda time: GoInt64(time.unix_in(d.MILLISECOND)))
_TIME.add("UnixMicro", "", lambda time: GoInt64(time.unix_in(d.MICROSECOND)))
_TIME.add("UnixNano", "", lambda time: GoInt64(time.unix_in(1)))
_TIME.add("IsZero", "", lambda time: time.order == (0, 0))
_TIME.add("IsDST", "", lambda time: False)
_TIME.add("UTC", "", lambda time: time.at(UTC))
_TIME.add("Local", "", lambda time: time.at(LOCAL))
_TIME.add("Location", "", lambda time: time.location)
_TIME.add("After", "time", lambda time, other: time.order > other.order, _TYPES)
_TIME.add("Before", "time", lambda time, other: time.order < other.order, _TYPES)
_TIME.add("Equal", "time", lambda time, other: time.order == other.order, _TYPES)
_TIME.add("Sub", "time", Time.minus, _TYPES)
_TIME.add("Add", "duration", lambda time, span: time.plus(int(span)), _TYPES)
_TIME.add("AddDate", "int int int", Time.on_date)
_TIME.add("Truncate", "duration", lambda time, span: time.truncated(int(span)), _TYPES)
_TIME.add("Round", "duration", lambda time, span: time.rounded(int(span)), _TYPES)


@_TIME.function("Format", "string", budget=True)
def _format(time: Time, budget: Budget, layout: str) -> str:
    return formatted(budget, time.fields(), layout)


@_TIME.function("In", "location", types=_TYPES)
def _in(time: Time, location: Location | None) -> Time:
    if location is None:
        raise FunctionError("time: missing Location in call to Time.In")
    return time.at(location)


# Durations

_DURATION.add("Nanoseconds", "", GoInt64)
_DURATION.add("Microseconds", "", lambda span: GoInt64(d.in_whole(span, d.MICROSECOND)))
_DURATION.add("Milliseconds", "", lambda span: GoInt64(d.in_whole(span, d.MILLISECOND)))
_DURATION.add("Seconds", "", lambda span: d.in_units(span, d.SECOND))
_DURATION.add("Minutes", "", lambda span: d.in_units(span, d.MINUTE))
_DURATION.add("Hours", "", lambda span: d.in_units(span, d.HOUR))
_DURATION.add("Round", "duration", lambda span, to: d.rounded(int(span), int(to)), _TYPES)
_DURATION.add("Truncate", "duration", lambda span, to: d.truncated(int(span), int(to)), _TYPES)
