"""What an evaluation may still cost.

Costs are counted as the API server counts them where that decides anything, and never less than
what the operation takes here: a call is charged for the size of what it walks or makes, before it
does. Source: cel-go v0.29, interpreter/runtimecost.go.
"""

from __future__ import annotations

from typing import Any

from krm_fn import limits
from krm_fn.errors import LimitError

EXCEEDED = "operation cancelled: actual cost limit exceeded"


class Budget:
    """The cost that one expression may still have."""

    __slots__ = ("joined", "left", "limit")

    def __init__(self, limit: int = limits.CEL_STEPS) -> None:
        self.limit = limit
        self.left = limit
        self.joined: list[list[Any]] = []
        """The lists that `+` made, which upstream tells from others when it converts them."""

    @property
    def used(self) -> int:
        """What was spent so far; more than the limit if a single call cost so much."""
        return self.limit - self.left

    def spend(self, cost: int) -> None:
        """Take `cost`; raises LimitError when nothing is left."""
        self.left -= cost
        if self.left < 0:
            raise LimitError(EXCEEDED)
