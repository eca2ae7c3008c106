"""What one render keeps while it runs: its budget, its output and its variables."""

from __future__ import annotations

from typing import Any, Protocol

from krm_fn import limits
from krm_fn.errors import EvaluationError, LimitError
from krm_fn.lang.budget import Budget
from krm_fn.lang.gotemplate.sources import Draws, RenderSources


class Positioned(Protocol):
    """A node: it knows where it stands, and its source as Go prints it."""

    @property
    def pos(self) -> int: ...


def place(source: str, pos: int) -> str:
    """Line and column of a place in a template, as Go counts them: `3:12`."""
    before = source[:pos]
    line = before.count("\n") + 1
    column = len(before[before.rfind("\n") + 1 :].encode("utf-8", "surrogatepass"))
    return f"{line}:{column}"


class State:
    """A running template."""

    __slots__ = ("budget", "depth", "draws", "name", "out", "parse_name", "size", "source", "vars")

    def __init__(
        self, parse_name: str, source: str, budget: Budget, sources: RenderSources
    ) -> None:
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
        shown = str(node)
        if len(shown) > 200:
            shown = shown[:200] + "..."
        where = f"template: {self.parse_name}:{place(self.source, node.pos)}: "
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
