"""What one render keeps while it runs: its budget, its output and its variables.

Rules come from people who may be hostile to the machine that renders, so every step, every
character and every element that a function makes is paid for from one budget.
"""

from __future__ import annotations

from typing import Any, Final, Protocol

from krm_fn import limits
from krm_fn.errors import EvaluationError, LimitError
from krm_fn.lang.gotemplate.sources import Draws, Sources

_TEXT_PER_STEP: Final = 16
_ELEMENTS_PER_STEP: Final = 8
_READ_PER_STEP: Final = 32


class Budget:
    """What a render may still do; every method raises LimitError when it is used up.

    The texts of the errors have no place in the template; `State.error` adds it.
    """

    __slots__ = ("output", "steps")

    def __init__(
        self, steps: int = limits.TEMPLATE_STEPS, output: int = limits.TEMPLATE_OUTPUT
    ) -> None:
        self.steps = steps
        self.output = output

    def spend(self, steps: int) -> None:
        """Pay for work of about so many evaluation steps."""
        self.steps -= steps
        if self.steps < 0:
            raise LimitError(f"it needs more than {limits.TEMPLATE_STEPS:,} steps")

    def text(self, length: int) -> None:
        """Allow a text of so many characters to be made; for functions that make a text grow."""
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


class Positioned(Protocol):
    """A node: it knows where it stands, and its source as Go prints it."""

    @property
    def pos(self) -> int: ...


class State:
    """A running template."""

    __slots__ = ("budget", "depth", "draws", "name", "out", "parse_name", "size", "source", "vars")

    def __init__(self, parse_name: str, source: str, budget: Budget, sources: Sources) -> None:
        self.parse_name = parse_name
        self.source = source
        self.budget = budget
        self.draws = Draws(sources)
        self.name = parse_name
        self.out: list[str] = []
        self.size = 0
        self.depth = 0
        self.vars: list[list[Any]] = []

    def write(self, text: str) -> None:
        self.size += len(text)
        if self.size > self.budget.output:
            bound = f"it prints more than {self.budget.output:,} characters"
            raise LimitError(f"template: {self.parse_name}: {bound}")
        self.out.append(text)

    def error(self, node: Positioned, reason: str) -> EvaluationError:
        """The error to raise, with the node's place, shaped as Go's."""
        return EvaluationError(self._place(node) + reason)

    def limit(self, node: Positioned, reason: str) -> LimitError:
        return LimitError(self._place(node) + reason)

    def _place(self, node: Positioned) -> str:
        before = self.source[: node.pos]
        line = before.count("\n") + 1
        column = len(before[before.rfind("\n") + 1 :].encode("utf-8", "surrogatepass"))
        shown = str(node)
        if len(shown) > 200:
            shown = shown[:200] + "..."
        where = f"template: {self.parse_name}:{line}:{column}: "
        return where + f'executing "{self.name}" at <{shown}>: '

    def step(self, node: Positioned) -> None:
        """Pay for one evaluation step."""
        self.budget.steps -= 1
        if self.budget.steps < 0:
            raise self.limit(node, f"it needs more than {limits.TEMPLATE_STEPS:,} steps")

    # Variables: a stack, since a declaration lives until the end of its block.

    def get(self, node: Positioned, name: str) -> Any:
        for entry in reversed(self.vars):
            if entry[0] == name:
                return entry[1]
        raise self.error(node, f"undefined variable: {name}")

    def set(self, node: Positioned, name: str, value: Any) -> None:
        for entry in reversed(self.vars):
            if entry[0] == name:
                entry[1] = value
                return
        raise self.error(node, f"undefined variable: {name}")
