"""The proleptic Gregorian calendar by arithmetic, for any year.

Python's own dates know the years 1 to 9999 and microseconds only.
Source: Howard Hinnant, chrono-compatible low-level date algorithms.
"""

from __future__ import annotations

from typing import Final, NamedTuple

DAY: Final = 86_400
"""The seconds of a day."""

_MONTHS: Final = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


class Civil(NamedTuple):
    """A date and a time of day."""

    year: int
    month: int
    day: int
    hour: int
    minute: int
    second: int


def is_leap(year: int) -> bool:
    """Whether a year has 366 days."""
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


def days_in(year: int, month: int) -> int:
    """The days of a month."""
    return _MONTHS[month - 1] + (month == 2 and is_leap(year))


def days_from_civil(year: int, month: int, day: int) -> int:
    """Days since 1970-01-01."""
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
    days, rest = divmod(seconds, DAY)
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
