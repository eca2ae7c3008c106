"""What an action takes, counted and not timed: the same on every machine, however busy.

Calls of Python and C functions stand for time. A loop that calls nothing is not seen; where that
matters, `lines` counts lines of Python instead, which is slower.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any


class TooManyStepsError(AssertionError):
    """An action has taken more steps than it may; it was stopped."""


def calls(action: Callable[[], Any], at_most: int = 200_000_000) -> int:
    """How many functions an action calls. Raises TooManyStepsError, which ends it."""
    count = 0

    def profile(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal count
        if event in ("call", "c_call"):
            count += 1
            if count > at_most:
                sys.setprofile(None)
                raise TooManyStepsError(f"more than {at_most:,} calls")

    before = sys.getprofile()
    sys.setprofile(profile)
    try:
        action()
    finally:
        sys.setprofile(before)
    return count


def lines(action: Callable[[], Any]) -> int:
    """How many lines of Python an action takes."""
    count = 0

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal count
        if event == "line":
            count += 1
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        action()
    finally:
        sys.settrace(before)
    return count


def assert_linear(
    action: Callable[[int], Any],
    size: int,
    count: Callable[[Callable[[], Any]], int] = calls,
) -> None:
    """An action on twice as much takes at most twice as many steps, and some for luck."""
    action(size)
    once, twice, four = (count(lambda n=n: action(n)) for n in (size, 2 * size, 4 * size))  # type: ignore[misc]
    assert twice <= 2.2 * once, (once, twice, four)
    assert four <= 2.2 * twice, (once, twice, four)
