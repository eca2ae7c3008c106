"""Time zones by name, from the machine's database or the package tzdata.

A name that is not in the database is UTC to the functions that ask. A machine without a database is
an error instead: it would render other strings than the next machine.
Source: Go's time.LoadLocation.
"""

from __future__ import annotations

import zoneinfo
from datetime import UTC, datetime, timedelta
from typing import Final

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_CYCLE: Final = 146_097 * 86_400
"""The seconds of 400 years, after which the calendar repeats, and zones with it."""
_YEAR: Final = 31_556_952
_LATEST: Final = 7_000 * _YEAR
_EARLIEST: Final = -1_900 * _YEAR

_OF_THE_MACHINE: Final = ("localtime", "posixrules")
"""Names in the database that mean whatever this machine is set to."""
_SURE: Final = "America/New_York"


class NoZonesError(Exception):
    """There is no time zone database."""


def load_zone(name: str) -> zoneinfo.ZoneInfo | None:
    """A zone by its name; None where there is none of that name. Raises NoZonesError."""
    if ".." in name or name.startswith(("/", "\\")) or name in _OF_THE_MACHINE:
        return None
    try:
        return zoneinfo.ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        pass
    try:
        zoneinfo.ZoneInfo(_SURE)
    except KeyError:
        raise NoZonesError from None
    return None


def zone_at(zone: zoneinfo.ZoneInfo, seconds: int) -> tuple[str, int]:
    """The abbreviation and the offset in seconds that hold in a zone.

    The moment is in seconds since 1970; it may lie outside of what Python's datetime can hold.
    """
    if seconds > _LATEST:
        seconds = _LATEST - _CYCLE + (seconds - _LATEST) % _CYCLE
    moment = _EPOCH + timedelta(seconds=max(seconds, _EARLIEST))
    local = moment.astimezone(zone)
    offset = local.utcoffset()
    assert offset is not None
    return local.tzname() or "", offset.days * 86_400 + offset.seconds
