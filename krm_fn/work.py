"""What the rules of a run may still do, all together.

A limit for one expression on one object bounds nothing where there are many of both, so that every
language also pays here for what it does. The unit is a step, about a tenth of a microsecond on a
common machine. The run is found in the context, as `decimal` finds its precision: a language that
is used as a library belongs to no run, and only its own limits hold.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

from krm_fn import limits
from krm_fn.errors import RunLimitError

_MEGABYTE: Final = 1_000_000


class Work:
    """The steps that are left to a run whose input has `size` bytes (or characters)."""

    __slots__ = ("left", "limit")

    def __init__(self, size: int = 0) -> None:
        small = min(size, _MEGABYTE)
        share = limits.RUN_STEPS_PER_BYTE * small
        share += limits.RUN_STEPS_PER_BYTE_BEYOND * (size - small)
        self.limit = limits.RUN_STEPS + share
        self.left = self.limit

    def spend(self, steps: int) -> None:
        """Pay for steps; raises RunLimitError when there are none left."""
        self.left -= steps
        if self.left < 0:
            raise RunLimitError(
                f"the rules take more than {self.limit:,} steps on this input; loops in their "
                "expressions and templates multiply: write them with fewer, or give the objects "
                "in several runs"
            )


_CURRENT: Final[ContextVar[Work | None]] = ContextVar("work", default=None)


@contextmanager
def bounded(size: int) -> Iterator[Work]:
    """Everything within belongs to one run on `size` bytes; a run within a run is part of it."""
    current = _CURRENT.get()
    if current is not None:
        yield current
        return
    work = Work(size)
    token = _CURRENT.set(work)
    try:
        yield work
    finally:
        _CURRENT.reset(token)


def spend(steps: int) -> None:
    """Pay for steps, if there is a run. Raises RunLimitError."""
    work = _CURRENT.get()
    if work is not None:
        work.spend(steps)
