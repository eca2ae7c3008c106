"""Evaluate expressions that share a budget, as those of one policy do.

Source: apiserver v0.37, pkg/admission/plugin/cel/activation.go and pkg/apis/cel/config.go.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from krm_fn import work
from krm_fn.errors import EvaluationError, LimitError
from krm_fn.lang.cel import Budget, Program

if TYPE_CHECKING:
    from krm_fn.lang.cel.recording import Recorder

EXHAUSTED: Final = (
    "validation failed due to running out of cost budget, no further validation rules will be run"
)

POLICY_COST: Final = 10_000_000
"""What the mutations, or the validations, of one policy may cost together, variables included."""

CONDITIONS_COST: Final = 2_500_000
"""What the matchConditions of one policy may cost together."""


class PoolError(LimitError):
    """The budget that expressions share is spent: none of them counts any more."""


class Recording(NamedTuple):
    """An evaluation with the values of its parts. `variable` is the name of a variable, or ""."""

    program: Program
    recorder: Recorder
    variable: str = ""


class Pool:
    """What expressions may cost together; with `recordings`, their parts are recorded there."""

    __slots__ = ("left", "recordings")

    def __init__(self, cost: int = POLICY_COST, recordings: list[Recording] | None = None) -> None:
        self.left = cost
        self.recordings = recordings

    def budget(self, program: Program, variable: str = "") -> Budget:
        """A budget for one evaluation."""
        if self.recordings is None:
            return Budget()
        from krm_fn.lang.cel.recording import Recorder

        recording = Recording(program, Recorder(), variable)
        self.recordings.append(recording)
        return Budget(recorder=recording.recorder)

    def spend(self, cost: int) -> None:
        """Take a cost; `evaluate` sees that there is nothing left."""
        self.left -= cost


def pay_for(budget: Budget) -> None:
    """Let the run pay for what an evaluation did. Raises RunLimitError."""
    work.spend(_EVALUATION + _COST * budget.used + budget.toiled)


_EVALUATION: Final = 60
_COST: Final = 2
"""The steps that every evaluation takes, and those of a unit of its cost."""


class Evaluated(NamedTuple):
    """A value, and what `object_patch` and `json_patch` want to know of how it was made."""

    value: Any
    joined: list[list[Any]]


def evaluate(program: Program, bindings: Mapping[str, Any], pool: Pool) -> Evaluated:
    """The value of a program; `bindings` from `Variables.bind` with the pool.

    Raises EvaluationError (LimitError if the expression alone costs too much), and PoolError if
    the pool is spent, whatever the value.
    """
    budget = pool.budget(program)
    failure: EvaluationError | None = None
    value = None
    try:
        value = program.evaluate(bindings, budget)
    except EvaluationError as error:
        failure = error
    pay_for(budget)
    pool.spend(budget.used)
    if pool.left < 0:
        raise PoolError(EXHAUSTED)
    if failure is not None:
        raise failure
    return Evaluated(value, budget.joined)
