"""One evaluation of one expression: its document, its budget, and the work that is bounded by it.

Rules and documents are hostile input. Everything in the language whose cost is not bounded by the
length of the expression times the depth of the document draws on the budget of a `Run`. This module
knows values; it knows neither syntax nor nodes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from krm_fn import work
from krm_fn.errors import LimitError
from krm_fn.lang.go.fmt import format_value
from krm_fn.lang.select.values import UNDEFINED, to_float
from krm_fn.limits import EXPRESSION_NESTING, NESTING, SELECT_STEPS

_CHARACTERS_A_STEP: Final = 64
_DEPTH: Final = NESTING + EXPRESSION_NESTING


_WORK_PER_STEP: Final = 10
"""What the run pays for a step, which may compare, follow a path or make a value."""


class Run:
    """The document as `root`, the captured keys of the entry being named, the steps that are left.

    `captured` holds one key for each ambiguous selector of a path: an index, a member name or, for
    `..`, the `Trail` that was walked.
    """

    __slots__ = ("captured", "root", "steps")

    def __init__(self, root: Any) -> None:
        self.root = root
        self.captured: tuple[Any, ...] = ()
        self.steps = SELECT_STEPS

    def pay(self) -> None:
        """Let the run pay for what was done, when it is done. Raises RunLimitError."""
        work.spend(_WORK_PER_STEP * (1 + SELECT_STEPS - self.steps))

    def spend(self, steps: int) -> None:
        """Draw on the budget; raises LimitError when it is used up."""
        self.steps -= steps
        if self.steps < 0:
            raise LimitError(f"the select expression takes more than {SELECT_STEPS:,} steps")

    def spend_text(self, length: int) -> None:
        """Draw on the budget for work on a string of this length."""
        if length >= _CHARACTERS_A_STEP:
            self.spend(length // _CHARACTERS_A_STEP)

    def spend_value(self, value: Any) -> None:
        """Draw on the budget for a walk over a whole value, which must not nest too deep.

        Expressions can build values: nested ever deeper, or as lists that hold the same list twice
        and so are small in memory and huge as text.
        """
        pending = [(value, 1)]
        while pending:
            value, depth = pending.pop()
            kind = type(value)
            if kind is str:
                self.spend_text(len(value))
            elif kind is list or kind is dict:
                if depth > _DEPTH:
                    raise LimitError(f"the select expression makes a value nested over {_DEPTH:,}")
                self.spend(1 + len(value))
                children = value if kind is list else value.values()
                pending.extend((child, depth + 1) for child in children)


Closure = Callable[[Run, Any], Any]
"""A compiled expression: (run, what `@` stands for) -> value; raises EvaluationError."""


def text_of(run: Run, value: Any) -> str:
    """The text of a value as Go's %v."""
    kind = type(value)
    if kind is str:
        return value  # type: ignore[no-any-return]
    if kind is list or kind is dict:
        run.spend_value(value)
    return format_value(value)


def deep_equal(run: Run, left: Any, right: Any) -> bool:
    """Go's reflect.DeepEqual: typed, an int is no float64, a NaN equals nothing.

    A list or map equals itself whatever it holds, since Go compares its address first.
    """
    pending = [(left, right)]
    while pending:
        left, right = pending.pop()
        kind = type(left)
        if kind is list:
            if left is right:
                continue
            if type(right) is not list or len(left) != len(right):
                return False
            run.spend(1 + len(left))
            pending.extend(zip(left, right, strict=True))
        elif kind is dict:
            if left is right:
                continue
            if type(right) is not dict or len(left) != len(right):
                return False
            run.spend(1 + len(left))
            for key, value in left.items():
                if key not in right:
                    return False
                pending.append((value, right[key]))
        elif not _scalars_equal(run, left, right):
            return False
    return True


def _scalars_equal(run: Run, left: Any, right: Any) -> bool:
    kind, other = type(left), type(right)
    if (kind is int or kind is float) and (other is int or other is float):
        return to_float(left) == to_float(right)
    if kind is str and other is str:
        run.spend_text(len(left))
    return kind is other and left is not UNDEFINED and bool(left == right)
