"""What an evaluation may still cost, and how much it may still do.

The cost is counted as the API server counts it (`costs`), since it decides what is admitted. It
takes some work for cheap: sorting a list of which the checker does not know the elements costs 1.
What a call takes here beyond its cost is toil, which has a limit of its own, and is paid for before
the call runs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krm_fn import limits
from krm_fn.errors import LimitError

if TYPE_CHECKING:
    from krm_fn.lang.cel.recording import Recorder

EXCEEDED = "operation cancelled: actual cost limit exceeded"


class Budget:
    """The cost that one expression may still have."""

    __slots__ = ("joined", "left", "limit", "recorder", "toiled")

    def __init__(self, limit: int = limits.CEL_STEPS, recorder: Recorder | None = None) -> None:
        self.limit = limit
        self.left = limit
        self.toiled = 0
        """The steps that calls took besides their cost."""
        self.joined: list[list[Any]] = []
        """The lists that `+` made, which upstream tells from others when it converts them."""
        self.recorder = recorder
        """Takes the values of all parts of the expression, where somebody asks for them."""

    @property
    def used(self) -> int:
        """What was spent so far; more than the limit if a single call cost so much."""
        return self.limit - self.left

    def spend(self, cost: int) -> None:
        """Take `cost`; raises LimitError when nothing is left."""
        self.left -= cost
        if self.left < 0:
            raise LimitError(EXCEEDED)

    def toil(self, steps: int) -> None:
        """Take steps; raises LimitError for more than one expression may take."""
        self.toiled += steps
        if self.toiled > limits.CEL_WORK:
            raise LimitError(f"the expression takes more than {limits.CEL_WORK:,} steps")
