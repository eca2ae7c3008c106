"""Go's layouts: `2006-01-02 15:04:05` as a pattern to write times by and to read them with.

This module knows calendar fields and texts; it knows neither zones nor points in time. Texts are
read as bytes (as characters of Latin-1), since that is what Go counts and cuts.
Source: Go 1.18.0's time package, format.go.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from krm_fn.lang.go.time.calendar import days_in, is_leap
from krm_fn.lang.go.values import GoError, from_bytes, to_bytes

DAYS: Final = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
MONTHS: Final = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)

_CHUNK: Final = re.compile(
    r"January|Jan(?![a-z])|Monday|Mon(?![a-z])|MST|0[1-6]|002|15|1|2006|2|_2(?!006)|__2|3|4|5|PM|pm"
    r"|[-Z]07(?:0000|:00:00|00|:00|)|[.,](?:0++|9++)(?![0-9])"
)
"""What stands for a field; the order decides where two would fit."""


class CalendarFields(NamedTuple):
    """A time on the calendar, in a zone."""

    year: int
    month: int
    day: int
    day_of_year: int
    weekday: int
    """0 is Sunday."""
    hour: int
    minute: int
    second: int
    nanosecond: int
    zone: str
    """The zone's abbreviation; empty where only the offset is known."""
    offset: int
    """Seconds to the east of UTC."""


class LayoutError(GoError):
    """Why a string is no time in a layout."""


# Writing


def chunks(layout: str) -> list[tuple[str, str]]:
    """(text, field) pairs of a layout; the last field is empty."""
    pairs = []
    at = 0
    for match in _CHUNK.finditer(layout):
        pairs.append((layout[at : match.start()], match[0]))
        at = match.end()
    pairs.append((layout[at:], ""))
    return pairs


def write(fields: CalendarFields, layout: str, limit: int) -> str | None:
    """A time in a layout; None where the text would be longer than `limit` characters."""
    parts: list[str] = []
    size = 0
    for text, chunk in chunks(layout):
        shown = _written(fields, chunk) if chunk else ""
        parts += text, shown
        size += len(text) + len(shown)
        if size > limit:
            return None
    return "".join(parts)


def _padded(number: int, width: int) -> str:
    return f"{'-' if number < 0 else ''}{abs(number):0{width}d}"


def _written(fields: CalendarFields, chunk: str) -> str:
    if chunk[0] in "-Z" and len(chunk) > 1:
        return _offset(fields.offset, chunk)
    if chunk[0] in ".,":
        return _nanoseconds(fields.nanosecond, chunk)
    match chunk:
        case "January":
            return MONTHS[fields.month - 1]
        case "Jan":
            return MONTHS[fields.month - 1][:3]
        case "1":
            return str(fields.month)
        case "01":
            return _padded(fields.month, 2)
        case "Monday":
            return DAYS[fields.weekday]
        case "Mon":
            return DAYS[fields.weekday][:3]
        case "2":
            return str(fields.day)
        case "_2":
            return f"{fields.day:2d}"
        case "02":
            return _padded(fields.day, 2)
        case "__2":
            return f"{fields.day_of_year:3d}"
        case "002":
            return _padded(fields.day_of_year, 3)
        case "2006":
            return _padded(fields.year, 4)
        case "06":
            return _padded(abs(fields.year) % 100, 2)
        case "15":
            return _padded(fields.hour, 2)
        case "3":
            return str(fields.hour % 12 or 12)
        case "03":
            return _padded(fields.hour % 12 or 12, 2)
        case "4":
            return str(fields.minute)
        case "04":
            return _padded(fields.minute, 2)
        case "5":
            return str(fields.second)
        case "05":
            return _padded(fields.second, 2)
        case "PM":
            return "PM" if fields.hour >= 12 else "AM"
        case "pm":
            return "pm" if fields.hour >= 12 else "am"
        case _:
            return fields.zone or _offset(fields.offset, "-0700")


def _offset(offset: int, chunk: str) -> str:
    if chunk[0] == "Z" and offset == 0:
        return "Z"
    # The minutes are cut towards zero, and the sign is theirs.
    minutes = abs(offset) // 60
    text = ("-" if offset < 0 and minutes else "+") + _padded(minutes // 60, 2)
    colon = ":" if ":" in chunk else ""
    if len(chunk) > 3:
        text += colon + _padded(minutes % 60, 2)
    if len(chunk) > 6:
        seconds = abs(offset) if minutes or offset >= 0 else offset
        text += colon + _padded(seconds % 60 if seconds >= 0 else -(-seconds % 60), 2)
    return text


def _nanoseconds(nanosecond: int, chunk: str) -> str:
    # Go keeps twelve bits of the number of digits.
    places = len(chunk) - 1 & 0xFFF
    digits = f"{nanosecond:09d}"[:places]
    if chunk[1] == "9":
        digits = digits.rstrip("0")
        return chunk[0] + digits if digits else ""
    return chunk[0] + digits


# Reading


class Read(NamedTuple):
    """What a layout read from a string."""

    year: int
    month: int
    day: int
    hour: int
    minute: int
    second: int
    nanosecond: int
    utc: bool
    """The text says that it is UTC."""
    zone: str
    """The zone's abbreviation; empty where the text has none."""
    offset: int | None
    """The offset that the text gives, in seconds."""


def read(layout: str, value: str) -> Read:
    """The time of a string in a layout; raises LayoutError."""
    return _Reader(_latin(layout), _latin(value)).run()


def _latin(text: str) -> str:
    return text if text.isascii() else to_bytes(text).decode("latin-1")


def _quoted(text: str) -> str:
    shown = text if len(text) <= 100 else text[:100] + "..."
    shown = from_bytes(shown.encode("latin-1"))
    return '"' + shown.replace("\\", "\\\\").replace('"', '\\"') + '"'


class _BadError(Exception):
    """The field does not read."""


class _RangeError(Exception):
    """The field reads, and is out of range."""


_RUNS: Final = re.compile(" +|[^ ]+")


class _Reader:
    def __init__(self, layout: str, value: str) -> None:
        self.layout = layout
        self.value = value
        self.at = 0
        self.year = self.hour = self.minute = self.second = self.nanosecond = 0
        self.month = self.day = self.day_of_year = -1
        self.utc = False
        self.zone = ""
        self.offset: int | None = None
        self.half = ""

    def error(self, element: str, start: int, reason: str = "") -> LayoutError:
        text = f"parsing time {_quoted(self.value)}"
        if reason:
            return LayoutError(f"{text}: {reason}")
        text += f" as {_quoted(self.layout)}: cannot parse "
        return LayoutError(f"{text}{_quoted(self.value[start:])} as {_quoted(element)}")

    def run(self) -> Read:
        pairs = chunks(self.layout)
        for n, (text, chunk) in enumerate(pairs):
            if not self.skip(text):
                raise self.error(text, self.at)
            if not chunk:
                break
            start = self.at
            following = pairs[n + 1][1]
            try:
                self.field(chunk, following)
            except _BadError:
                raise self.error(chunk, start) from None
            except _RangeError as error:
                raise self.error("", 0, f"{error} out of range") from None
        if self.at < len(self.value):
            raise self.error("", 0, f"extra text: {_quoted(self.value[self.at :])}")
        if self.half == "PM" and self.hour < 12:
            self.hour += 12
        elif self.half == "AM" and self.hour == 12:
            self.hour = 0
        self.date()
        return Read(
            self.year,
            self.month,
            self.day,
            self.hour,
            self.minute,
            self.second,
            self.nanosecond,
            self.utc,
            self.zone,
            self.offset,
        )

    def skip(self, text: str) -> bool:
        """Pass over a string; a run of spaces matches any number of them, none at the end only."""
        value = self.value
        for run in _RUNS.findall(text):
            if run[0] == " ":
                if self.at < len(value) and value[self.at] != " ":
                    return False
                while self.at < len(value) and value[self.at] == " ":
                    self.at += 1
            elif value.startswith(run, self.at):
                self.at += len(run)
            else:
                return False
        return True

    def date(self) -> None:
        """Complete month and day, and check that there is such a day."""
        leap = is_leap(self.year)
        if self.day_of_year >= 0:
            lengths = [days_in(self.year, month) for month in range(1, 13)]
            if not 1 <= self.day_of_year <= 365 + leap:
                raise self.error("", 0, "day-of-year out of range")
            month, day = 1, self.day_of_year
            while day > lengths[month - 1]:
                day -= lengths[month - 1]
                month += 1
            if self.month >= 0 and self.month != month:
                raise self.error("", 0, "day-of-year does not match month")
            if self.day >= 0 and self.day != day:
                raise self.error("", 0, "day-of-year does not match day")
            self.month, self.day = month, day
        else:
            self.month = 1 if self.month < 0 else self.month
            self.day = 1 if self.day < 0 else self.day
        if not 1 <= self.day <= days_in(self.year, self.month):
            raise self.error("", 0, "day out of range")

    # Fields

    def field(self, chunk: str, following: str) -> None:
        if chunk[0] in "-Z" and len(chunk) > 1:
            self.zone_offset(chunk)
            return
        if chunk[0] in ".,":
            self.fraction(chunk)
            return
        match chunk:
            case "January" | "Jan":
                self.month = self.name(MONTHS, chunk == "Jan") + 1
            case "1" | "01":
                self.month = self.number(chunk == "01", 1, 12, "month")
            case "Monday" | "Mon":
                self.name(DAYS, chunk == "Mon")
            case "2" | "_2" | "02":
                if chunk == "_2" and self.value.startswith(" ", self.at):
                    self.at += 1
                self.day = self.number(chunk == "02", 0, 99, "day")
            case "__2" | "002":
                self.read_day_of_year(chunk == "002")
            case "2006":
                self.year = int(self.take("[0-9]{4}"))
            case "06":
                year = int(self.take("[0-9]{2}|[+-][0-9]"))
                self.year = year + (1900 if year >= 69 else 2000)
            case "15":
                self.hour = self.number(False, 0, 23, "hour")
            case "3" | "03":
                self.hour = self.number(chunk == "03", 0, 12, "hour")
            case "4" | "04":
                self.minute = self.number(chunk == "04", 0, 59, "minute")
            case "5" | "05":
                self.second = self.number(chunk == "05", 0, 59, "second")
                # A fraction may follow that the layout does not mention.
                if following[:1] not in (".", ","):
                    self.any_fraction()
            case "PM" | "pm":
                halves = "AM|PM" if chunk == "PM" else "am|pm"
                self.half = self.take(halves).upper()
            case _:
                self.abbreviation()

    def take(self, pattern: str) -> str:
        match = re.compile(pattern).match(self.value, self.at)
        if match is None:
            raise _BadError
        self.at = match.end()
        return match[0]

    def number(self, fixed: bool, least: int, most: int, name: str) -> int:
        number = int(self.take("[0-9]{2}" if fixed else "[0-9]{1,2}"))
        if not least <= number <= most:
            raise _RangeError(name)
        return number

    def name(self, names: tuple[str, ...], short: bool) -> int:
        for n, name in enumerate(names):
            name = name[:3] if short else name
            if self.value[self.at : self.at + len(name)].lower() == name.lower():
                self.at += len(name)
                return n
        raise _BadError

    def read_day_of_year(self, fixed: bool) -> None:
        if not fixed:
            self.take(" {0,2}")
        self.day_of_year = int(self.take("[0-9]{3}" if fixed else "[0-9]{1,3}"))

    def any_fraction(self) -> None:
        match = re.compile("[.,]([0-9]+)").match(self.value, self.at)
        if match is not None:
            self.at = match.end()
            self.nanosecond = int(match[1][:9].ljust(9, "0"))

    def fraction(self, chunk: str) -> None:
        if chunk[1] == "9":
            # It may be missing, and have more digits than the layout.
            self.any_fraction()
            return
        places = len(chunk) - 1 & 0xFFF
        text = self.value[self.at : self.at + places + 1]
        if len(text) <= places or text[0] not in ".,":
            raise _BadError
        digits = text[1:10]
        # Go reads a sign here, even one that no digit follows.
        if not re.fullmatch("[+-]?[0-9]*", digits):
            raise _BadError
        number = int(digits.lstrip("+-") or "0")
        if digits.startswith("-") and number:
            raise _RangeError("fractional second")
        self.nanosecond = number * 10 ** (9 - len(digits))
        self.at += places + 1

    def zone_offset(self, chunk: str) -> None:
        if chunk[0] == "Z" and self.value.startswith("Z", self.at):
            self.at += 1
            self.utc = True
            return
        # Two characters are a number even if the first is a sign.
        two = "([0-9]{2}|[+-][0-9])"
        colon = ":" if ":" in chunk else ""
        pattern = "([+-])" + colon.join([two] * {3: 1, 5: 2, 6: 2, 7: 3, 9: 3}[len(chunk)])
        match = re.compile(pattern).match(self.value, self.at)
        if match is None:
            raise _BadError
        self.at = match.end()
        numbers = [int(number) for number in match.groups()[1:]] + [0, 0]
        offset = (numbers[0] * 60 + numbers[1]) * 60 + numbers[2]
        self.offset = -offset if match[1] == "-" else offset

    def abbreviation(self) -> None:
        if self.value.startswith("UTC", self.at):
            self.at += 3
            self.utc = True
            return
        if len(self.value) - self.at < 3:
            raise _BadError
        self.zone = self.take(_ABBREVIATION)


_SIGNED: Final = "[+-]0*(?:2[0-3]|1?[0-9])(?![0-9])"
_ABBREVIATION: Final = (
    rf"ChST|MeST|GMT(?:{_SIGNED})?|{_SIGNED}"
    r"|(?:[A-Z]{4}T|[A-Z]{3}T|WITA|[A-Z]{3})(?![A-Z])"
)
