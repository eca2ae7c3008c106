"""What the render of one template may still do.

Rules come from people who may be hostile to the machine that renders, so every step, every
character and every element that is made is paid for from one budget, whichever language the
template is in. This module knows no language.
"""

from __future__ import annotations

from typing import Any, Final

from krm_fn import limits, work
from krm_fn.errors import LimitError

_RENDER: Final = 30
_WORK_PER_STEP: Final = 2
"""What the run pays for a render, and for each step of it."""

_TEXT_PER_STEP: Final = 16
_ELEMENTS_PER_STEP: Final = 8
_READ_PER_STEP: Final = 32


class Budget:
    """What a render may still do; every method raises LimitError when it is used up.

    The texts of the errors have no place in the template; whoever knows it adds it.
    """

    __slots__ = ("_given", "output", "steps")

    def __init__(
        self, steps: int = limits.TEMPLATE_STEPS, output: int = limits.TEMPLATE_OUTPUT
    ) -> None:
        self.steps = self._given = steps
        self.output = output

    def pay(self) -> None:
        """Let the run pay for what was done, when it is done. Raises RunLimitError."""
        work.spend(_RENDER + _WORK_PER_STEP * (self._given - self.steps))

    def spend(self, steps: int) -> None:
        """Pay for work of about so many evaluation steps."""
        self.steps -= steps
        if self.steps < 0:
            raise LimitError(f"it needs more than {limits.TEMPLATE_STEPS:,} steps")

    def text(self, length: int) -> None:
        """Allow a string of so many characters to be made; for functions that let one grow."""
        if length > self.output:
            raise LimitError(f"it makes a text of more than {self.output:,} characters")

    def read(self, value: Any) -> None:
        """Pay for a function's argument, which it may read from end to end."""
        if type(value) is str:
            self.spend(len(value) // _TEXT_PER_STEP)
        elif isinstance(value, list | dict):
            self.spend(len(value) // _READ_PER_STEP)

    def made(self, value: Any) -> None:
        """Pay for a function's result."""
        if type(value) is str:
            self.text(len(value))
            self.spend(len(value) // _TEXT_PER_STEP)
        elif isinstance(value, list | dict):
            self.spend(len(value) // _ELEMENTS_PER_STEP)
