"""Go's time.Time with the methods that templates call, and the types that those return.

The local zone is UTC, as in KubeMod's image. A time's location is UTC, the local one or a fixed
offset: templates cannot give a time another one, since zones by name appear only when printing.
Source: Go 1.18.0's time package, time.go.
"""

from __future__ import annotations

from datetime import UTC as PYTHON_UTC
from datetime import datetime
from typing import Any, ClassVar, Final

from krm_fn.lang.go.time import layouts
from krm_fn.lang.go.time.calendar import DAY, civil, days_from_civil
from krm_fn.lang.go.time.duration import SECOND, Duration, clamped
from krm_fn.lang.go.values import GoError, GoObject, NamedInt

_INT64: Final = 1 << 63
_UNIX: Final = 62_135_596_800
"""The seconds from the year 1 to the year 1970."""
_ABSOLUTE: Final = 9_223_371_966_579_724_800
"""The seconds from Go's earliest year to the year 1."""


def _wrapped(number: int) -> int:
    return (number + _INT64) % (2 * _INT64) - _INT64


class Month(NamedInt):
    """1 is January."""

    __slots__ = ()
    go_type: ClassVar[str] = "time.Month"

    def go_string(self) -> str:
        return layouts.MONTHS[self - 1]


class Weekday(NamedInt):
    """0 is Sunday."""

    __slots__ = ()
    go_type: ClassVar[str] = "time.Weekday"

    def go_string(self) -> str:
        return layouts.DAYS[self]


class Location(GoObject):
    """A zone of times: its name, and seconds to the east of UTC."""

    __slots__ = ("name", "offset")
    go_type = "*time.Location"
    go_kind = "ptr"

    def __init__(self, name: str, offset: int = 0) -> None:
        self.name = name
        self.offset = offset

    def go_string(self) -> str:
        return self.name

    def deep_equal(self, other: Any) -> bool:
        fixed = self not in (UTC, LOCAL) and other not in (UTC, LOCAL)
        same = (self.name, self.offset) == (other.name, other.offset)
        return self is other or (fixed and same)


UTC: Final = Location("UTC")
LOCAL: Final = Location("UTC")
"""Go names the local zone so where the machine names none."""


class Time(GoObject):
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
        return cls(span.days * DAY + span.seconds, span.microseconds * 1_000, LOCAL)

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

    def fields(self, zone: str | None = None, offset: int = 0) -> layouts.CalendarFields:
        """The time on the calendar, in its own location or in another zone."""
        if zone is None:
            zone, offset = self.location.name, self.location.offset
        local = (self.seconds + offset + _ABSOLUTE) % (2 * _INT64) - _ABSOLUTE - _UNIX
        when = civil(local)
        days = local // DAY
        return layouts.CalendarFields(
            when.year,
            when.month,
            when.day,
            days - days_from_civil(when.year, 1, 1) + 1,
            (days + 4) % 7,
            when.hour,
            when.minute,
            when.second,
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
            raise GoError(
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

    def unix(self) -> int:
        """The seconds since 1970, an int64."""
        return _wrapped(self.seconds - _UNIX)

    def unix_in(self, unit: int) -> int:
        """The units of so many nanoseconds since 1970, an int64."""
        return _wrapped(self.unix() * (SECOND // unit) + self.nanoseconds // unit)

    def at(self, location: Location) -> Time:
        """The same moment in another location."""
        return Time(self.seconds, self.nanoseconds, location)

    def on_date(self, years: int, months: int, days: int) -> Time:
        """Later by a span of the calendar. Source: Time.AddDate."""
        fields = self.fields()
        whole = _days(fields.year + years, fields.month + months, fields.day + days)
        clock = (fields.hour * 60 + fields.minute) * 60 + fields.second
        seconds = _wrapped(whole * DAY + clock + _UNIX - fields.offset)
        return Time(seconds, self.nanoseconds, self.location)

    def truncated(self, multiple: int) -> Time:
        """The last multiple of a duration since the year 1. Source: Time.Truncate."""
        return self.plus(-self._since_multiple(multiple)) if multiple > 0 else self

    def rounded(self, multiple: int) -> Time:
        """The nearest multiple of a duration since the year 1. Source: Time.Round."""
        if multiple <= 0:
            return self
        rest = self._since_multiple(multiple)
        return self.plus(-rest if 2 * rest < multiple else multiple - rest)

    def _since_multiple(self, multiple: int) -> int:
        return (self.seconds * SECOND + self.nanoseconds) % multiple


ZERO: Final = Time(0, 0, UTC)
"""Go's time.Time{}."""


def parse_time(layout: str, text: str) -> Time:
    """A string in a layout as a time, in the local zone unless it names another.

    Raises LayoutError where the text does not fit the layout. Source: time.ParseInLocation.
    """
    parts = layouts.read(layout, text)
    clock = (parts.hour * 60 + parts.minute) * 60 + parts.second
    seconds = _days(parts.year, parts.month, parts.day) * DAY + clock + _UNIX
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
    """The days from 1970 to a day; month and day may lie outside of their ranges."""
    year, month = year + (month - 1) // 12, (month - 1) % 12 + 1
    return days_from_civil(year, month, 1) + day - 1
