"""An end in time for a whole run, with a sentence: whoever waits has only so long.

No limit of steps or bytes covers everything that a run does (a renderer that it starts, a slow
disk), and those who kill a process from outside say nothing of why. What was begun is dropped;
files that are being written are written first (`krm_fn.system.files`).
"""

from __future__ import annotations

import os
import re
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final, NoReturn

from krm_fn.system.streams import say_at_once

TIMED_OUT: Final = 3
"""The exit status of a run whose time is up."""

_UNITS: Final = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}
_PART: Final = re.compile(r"(\d+(?:\.\d*)?|\.\d+)(h|ms|m|s|us|µs|ns)")

at_end: list[Callable[[], None]] = []
"""What else has to end: programs that were started."""


def seconds_of(text: str) -> float:
    """The seconds of a duration as Go writes it (`1m30s`) or of a plain number.

    Raises ValueError for what is none, or not longer than nothing.
    """
    try:
        seconds = float(text) if text.isascii() else -1.0
    except ValueError:
        parts = _PART.findall(text)
        if "".join(number + unit for number, unit in parts) != text:
            raise ValueError(f"{text!r} is no duration; write it as 30s or 1m30s") from None
        seconds = sum(float(number) * _UNITS[unit] for number, unit in parts)
    if not 0 < seconds < float("inf"):
        raise ValueError(f"{text!r} is no duration; write it as 30s or 1m30s")
    return seconds


@contextmanager
def deadline(seconds: float | None, more: str, status: int = TIMED_OUT) -> Iterator[None]:
    """End the process with a status if the block takes longer; None is for ever.

    `more` says what gives more time. Only the main thread can be ended so; elsewhere, nothing is.
    """
    if seconds is None or threading.current_thread() is not threading.main_thread():
        yield
        return

    def give_up(signal_number: int, frame: object) -> NoReturn:
        for end in at_end:
            end()
        say_at_once(f"not done after {seconds:g} s, nothing was written; {more}")
        os._exit(status)

    before = signal.signal(signal.SIGALRM, give_up)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
