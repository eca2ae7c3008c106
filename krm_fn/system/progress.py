"""How far a run is, for whoever shows it.

Whoever works says what it does and how much of it there is; whoever waits reads it when they like.
The state is found in the context, as the work of a run is (`krm_fn.work`). Knows no terminal.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final


class Progress:
    """What is being done, and how far; `total` is 0 where nobody knows how much there is."""

    __slots__ = ("doing", "done", "total")

    def __init__(self) -> None:
        self.doing = ""
        self.done = 0
        self.total = 0


_CURRENT: Final[ContextVar[Progress | None]] = ContextVar("progress", default=None)


@contextmanager
def watched() -> Iterator[Progress]:
    """What is done within is told to the progress that this gives."""
    progress = Progress()
    token = _CURRENT.set(progress)
    try:
        yield progress
    finally:
        _CURRENT.reset(token)


def begin(doing: str, total: int = 0) -> None:
    """Say what is now being done, and how many steps it has."""
    progress = _CURRENT.get()
    if progress is not None:
        progress.doing, progress.done, progress.total = doing, 0, total


def advance() -> None:
    """Say that a step is done."""
    progress = _CURRENT.get()
    if progress is not None:
        progress.done += 1
