"""Points in time for `date()`: the layouts that KubeMod's library tries, in its order.

Times are only ever compared for being the very same, or by their text.
Source: ModRule specification, section 1.7; gval's `date` function.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from krm_fn.lang.go.time.layouts import LayoutError
from krm_fn.lang.go.time.times import LOCAL, UTC, parse_time

_LAYOUTS: Final = (
    "Mon Jan _2 15:04:05 2006",
    "Mon Jan _2 15:04:05 MST 2006",
    "Mon Jan 02 15:04:05 -0700 2006",
    "3:04PM",
    "2006-01-02T15:04:05Z07:00",
    "2006-01-02",
    "2006-01-02 15:04",
    "2006-01-02 15:04:05",
    "2006-01-02 15:04:05-07:00",
    "2006-01-02T15Z0700",
    "2006-01-02T15:04Z0700",
    "2006-01-02T15:04:05Z0700",
)


@dataclass(frozen=True, slots=True)
class Date:
    """A point in time as Go prints it.

    Two are equal if Go's reflect.DeepEqual says so: UTC that was written differs from the local
    zone, although both print alike.
    """

    text: str
    zone: str

    def __str__(self) -> str:
        return self.text


def parse_date(text: str) -> Date | None:
    """The time that the first fitting layout reads, or None."""
    for layout in _LAYOUTS:
        try:
            time = parse_time(layout, text)
        except LayoutError:
            continue
        zone = {UTC: "UTC", LOCAL: "local"}.get(time.location, time.location.name)
        return Date(time.go_string(), zone)
    return None
