"""Go's time.Time with the methods that templates call, and the types that those return.

The local zone is UTC, as in KubeMod's image. A time's location is UTC, the local one or a fixed
offset: templates cannot give a time another one, since zones by name appear only when printing.
Source: Go 1.18.0's time package, time.go.
"""

from __future__ import annotations

from datetime import UTC as PYTHON_UTC
from datetime import date, datetime
from typing import Any, ClassVar, Final

from krm_fn.lang.budget import Budget
from krm_fn.lang.go.time import layouts
from krm_fn.lang.go.time.duration import DURATION, SECOND, Duration, clamped
from krm_fn.lang.go.values import GoInt, GoInt64
from krm_fn.lang.gotemplate.values import TYPES, FunctionError, Methods, NamedInt, Object, Type

_INT64: Final = 1 << 63
_DAY: Final = 86_400
_CYCLE_DAYS: Final = 146_097
_UNIX: Final = 62_135_596_800
"""The seconds from the year 1 to the year 1970."""
_ABSOLUTE: Final = 9_223_371_966_579_724_800
"""The seconds from Go's earliest year to the year 1."""

METHODS: Final = Methods()
_LOCATION_METHODS: Final = Methods()
_MONTH_METHODS: Final = Methods()
_WEEKDAY_METHODS: Final = Methods()


def _wrapped(number: int) -> int:
    return (number + _INT64) % (2 * _INT64) - _INT64


class Month(NamedInt):
    """1 is January."""

    __slots__ = ()
    go_type: ClassVar[str] = "time.Month"

    def member(self, name: str) -> Any:
        return _MONTH_METHODS.bound(name, self)

    def go_string(self) -> str:
        return layouts.MONTHS[self - 1]


class Weekday(NamedInt):
    """0 is Sunday."""

    __slots__ = ()
    go_type: ClassVar[str] = "time.Weekday"

    def member(self, name: str) -> Any:
        return _WEEKDAY_METHODS.bound(name, self)

    def go_string(self) -> str:
        return layouts.DAYS[self]


@_MONTH_METHODS.function("String")
@_WEEKDAY_METHODS.function("String")
@_LOCATION_METHODS.function("String")
def _string(value: Month | Weekday | Location) -> str:
    return value.go_string()


class Location(Object):
    """A zone of times: its name, and seconds to the east of UTC."""

    __slots__ = ("name", "offset")
    go_type = "*time.Location"
    go_kind = "ptr"

    def __init__(self, name: str, offset: int = 0) -> None:
        self.name = name
        self.offset = offset

    def member(self, name: str) -> Any:
        return _LOCATION_METHODS.bound(name, self)

    def go_string(self) -> str:
        return self.name

    def deep_equal(self, other: Any) -> bool:
        fixed = self not in (UTC, LOCAL) and other not in (UTC, LOCAL)
        same = (self.name, self.offset) == (other.name, other.offset)
        return self is other or (fixed and same)


UTC: Final = Location("UTC")
LOCAL: Final = Location("UTC")
"""Go names the local zone so where the machine names none."""


class Time(Object):
    """A point in time: seconds since the year 1 (UTC, an int64) and nanoseconds, in a location."""

    __slots__ = ("location", "nanoseconds", "seconds")
    go_type = "time.Time"

    def __init__(self, seconds: int, nanoseconds: int, location: Location) -> None:
        self.seconds = seconds
        self.nanoseconds = nanoseconds
        self.location = location

    @classmethod
    def from_unix(cls, seconds: int) -> Time:
        """So many seconds after 1970, local."""
        return cls(_wrapped(seconds + _UNIX), 0, LOCAL)

    @classmethod
    def from_datetime(cls, moment: datetime) -> Time:
        """Python's time, in UTC if it names no zone; local."""
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=PYTHON_UTC)
        span = moment - datetime(1, 1, 1, tzinfo=PYTHON_UTC)
        return cls(span.days * _DAY + span.seconds, span.microseconds * 1_000, LOCAL)

    def member(self, name: str) -> Any:
        return METHODS.bound(name, self)

    def __eq__(self, other: object) -> bool:
        """Go's `==`, for which the same moment in another location is another time."""
        return (
            type(other) is Time
            and (self.seconds, self.nanoseconds) == (other.seconds, other.nanoseconds)
            and self.location is other.location
        )

    __hash__ = None  # type: ignore[assignment]

    def deep_equal(self, other: Any) -> bool:
        same = (self.seconds, self.nanoseconds) == (other.seconds, other.nanoseconds)
        return same and self.location.deep_equal(other.location)

    @property
    def order(self) -> tuple[int, int]:
        """What earlier and later mean."""
        return self.seconds, self.nanoseconds

    def fields(self, zone: str | None = None, offset: int = 0) -> layouts.Fields:
        """The time on the calendar, in its own location or in another zone."""
        if zone is None:
            zone, offset = self.location.name, self.location.offset
        local = (self.seconds + offset + _ABSOLUTE) % (2 * _INT64) - _ABSOLUTE
        days, clock = divmod(local, _DAY)
        # The calendar repeats every 400 years.
        cycle, day = divmod(days, _CYCLE_DAYS)
        on = date.fromordinal(day + 1)
        return layouts.Fields(
            on.year + 400 * cycle,
            on.month,
            on.day,
            on.timetuple().tm_yday,
            on.isoweekday() % 7,
            clock // 3_600,
            clock // 60 % 60,
            clock % 60,
            self.nanoseconds,
            zone,
            offset,
        )

    def go_string(self) -> str:
        text = layouts.write(self.fields(), "2006-01-02 15:04:05.999999999 -0700 MST", 1 << 20)
        return text or ""

    def go_source(self) -> str:
        fields = self.fields()
        zone = "time.UTC" if self.location is UTC else "time.Local"
        if self.location not in (UTC, LOCAL):
            zone = f'time.Location("{self.location.name}")'
        month = layouts.MONTHS[fields.month - 1]
        clock = f"{fields.hour}, {fields.minute}, {fields.second}, {fields.nanosecond}"
        return f"time.Date({fields.year}, time.{month}, {fields.day}, {clock}, {zone})"

    def go_json(self) -> Any:
        fields = self.fields()
        if not 0 <= fields.year <= 9999:
            raise FunctionError(
                "json: error calling MarshalJSON for type time.Time: "
                "Time.MarshalJSON: year outside of range [0,9999]"
            )
        return layouts.write(fields, "2006-01-02T15:04:05.999999999Z07:00", 1 << 20)

    def plus(self, nanoseconds: int) -> Time:
        """Later by a duration; the last or first moment there is where it would be beyond it."""
        carry, rest = divmod(self.nanoseconds + nanoseconds, SECOND)
        seconds = max(1 - _INT64, min(_INT64 - 1, self.seconds + carry))
        return Time(seconds, rest, self.location)

    def minus(self, other: Time) -> Duration:
        """The duration since another time."""
        seconds = self.seconds - other.seconds
        return clamped(seconds * SECOND + self.nanoseconds - other.nanoseconds)


ZERO: Final = Time(0, 0, UTC)
"""Go's time.Time{}."""

TIME: Final = Type("time.Time", lambda v: type(v) is Time)
LOCATION: Final = Type("*time.Location", lambda v: type(v) is Location, lambda: None)
_TYPES: Final = {**TYPES, "time": TIME, "location": LOCATION, "duration": DURATION}


def parse_time(layout: str, text: str) -> Time:
    """A text in a layout as a time, in the local zone unless it names another.

    Raises FunctionError where the text does not fit the layout. Source: time.ParseInLocation.
    """
    try:
        parts = layouts.read(layout, text)
    except layouts.LayoutError as error:
        raise FunctionError(str(error)) from None
    clock = (parts.hour * 60 + parts.minute) * 60 + parts.second
    seconds = _days(parts.year, parts.month, parts.day) * _DAY + clock
    if parts.utc:
        return Time(seconds, parts.nanosecond, UTC)
    # Go takes an offset of one second to the west for "no offset".
    if parts.offset is not None and parts.offset != -1:
        local = parts.offset == 0 and parts.zone in ("", "UTC")
        location = LOCAL if local else Location(parts.zone, parts.offset)
        return Time(seconds - parts.offset, parts.nanosecond, location)
    if parts.zone:
        return Time(seconds, parts.nanosecond, Location(parts.zone, _named_offset(parts.zone)))
    return Time(seconds, parts.nanosecond, LOCAL)


def _named_offset(zone: str) -> int:
    """The offset of `GMT+3`; an abbreviation's is not known, and taken for none."""
    if not zone.startswith("GMT") or zone == "GMT":
        return 0
    hours = int(zone[4:].lstrip("0") or "0")
    return (-hours if zone[3] == "-" else hours) * 3_600


def _days(year: int, month: int, day: int) -> int:
    """The days from the year 1 to a day; month and day may lie outside of their ranges."""
    year, month = year + (month - 1) // 12, (month - 1) % 12 + 1
    cycle, year = divmod(year - 1, 400)
    return cycle * _CYCLE_DAYS + date(year + 1, month, 1).toordinal() - 1 + day - 1


# Methods


@METHODS.function("String")
def _text(time: Time) -> str:
    return time.go_string()


@METHODS.function("GoString")
def _source(time: Time) -> str:
    return time.go_source()


@METHODS.function("Format", "string", budget=True)
def _format(time: Time, budget: Budget, layout: str) -> str:
    return formatted(budget, time.fields(), layout)


def formatted(budget: Budget, fields: layouts.Fields, layout: str) -> str:
    """A time in a layout; raises LimitError."""
    budget.spend(8 + len(layout))
    text = layouts.write(fields, layout, budget.output)
    if text is None:
        budget.text(budget.output + 1)
    return text or ""


@METHODS.function("Year")
def _year(time: Time) -> GoInt:
    return GoInt(time.fields().year)


@METHODS.function("Month")
def _month(time: Time) -> Month:
    return Month(time.fields().month)


@METHODS.function("Day")
def _day(time: Time) -> GoInt:
    return GoInt(time.fields().day)


@METHODS.function("YearDay")
def _year_day(time: Time) -> GoInt:
    return GoInt(time.fields().day_of_year)


@METHODS.function("Weekday")
def _weekday(time: Time) -> Weekday:
    return Weekday(time.fields().weekday)


@METHODS.function("Hour")
def _hour(time: Time) -> GoInt:
    return GoInt(time.fields().hour)


@METHODS.function("Minute")
def _minute(time: Time) -> GoInt:
    return GoInt(time.fields().minute)


@METHODS.function("Second")
def _second(time: Time) -> GoInt:
    return GoInt(time.fields().second)


@METHODS.function("Nanosecond")
def _nanosecond(time: Time) -> GoInt:
    return GoInt(time.nanoseconds)


@METHODS.function("Unix")
def unix(time: Time) -> GoInt64:
    """Seconds since 1970."""
    return GoInt64(_wrapped(time.seconds - _UNIX))


@METHODS.function("UnixMilli")
def _unix_milli(time: Time) -> GoInt64:
    return GoInt64(_wrapped(unix(time) * 1_000 + time.nanoseconds // 1_000_000))


@METHODS.function("UnixMicro")
def _unix_micro(time: Time) -> GoInt64:
    return GoInt64(_wrapped(unix(time) * 1_000_000 + time.nanoseconds // 1_000))


@METHODS.function("UnixNano")
def _unix_nano(time: Time) -> GoInt64:
    return GoInt64(_wrapped(unix(time) * SECOND + time.nanoseconds))


@METHODS.function("IsZero")
def _is_zero(time: Time) -> bool:
    return time.order == (0, 0)


@METHODS.function("IsDST")
def _is_dst(time: Time) -> bool:
    return False


@METHODS.function("UTC")
def _utc(time: Time) -> Time:
    return Time(time.seconds, time.nanoseconds, UTC)


@METHODS.function("Local")
def _local(time: Time) -> Time:
    return Time(time.seconds, time.nanoseconds, LOCAL)


@METHODS.function("Location")
def _location(time: Time) -> Location:
    return time.location


@METHODS.function("In", "location", types=_TYPES)
def _in(time: Time, location: Location | None) -> Time:
    if location is None:
        raise FunctionError("time: missing Location in call to Time.In")
    return Time(time.seconds, time.nanoseconds, location)


@METHODS.function("After", "time", types=_TYPES)
def _after(time: Time, other: Time) -> bool:
    return time.order > other.order


@METHODS.function("Before", "time", types=_TYPES)
def _before(time: Time, other: Time) -> bool:
    return time.order < other.order


@METHODS.function("Equal", "time", types=_TYPES)
def _equal(time: Time, other: Time) -> bool:
    return time.order == other.order


@METHODS.function("Sub", "time", types=_TYPES)
def _sub(time: Time, other: Time) -> Duration:
    return time.minus(other)


@METHODS.function("Add", "duration", types=_TYPES)
def _add(time: Time, duration: Duration) -> Time:
    return time.plus(int(duration))


@METHODS.function("AddDate", "int int int")
def _add_date(time: Time, years: int, months: int, days: int) -> Time:
    fields = time.fields()
    whole = _days(fields.year + years, fields.month + months, fields.day + days)
    clock = (fields.hour * 60 + fields.minute) * 60 + fields.second
    seconds = _wrapped(whole * _DAY + clock - fields.offset)
    return Time(seconds, time.nanoseconds, time.location)


@METHODS.function("Truncate", "duration", types=_TYPES)
def _truncate(time: Time, multiple: Duration) -> Time:
    return time.plus(-_rest(time, multiple)) if multiple > 0 else time


@METHODS.function("Round", "duration", types=_TYPES)
def _round(time: Time, multiple: Duration) -> Time:
    if multiple <= 0:
        return time
    rest = _rest(time, multiple)
    return time.plus(-rest if 2 * rest < multiple else int(multiple) - rest)


def _rest(time: Time, multiple: Duration) -> int:
    """The nanoseconds since the last multiple, counted from the year 1."""
    return (time.seconds * SECOND + time.nanoseconds) % int(multiple)
