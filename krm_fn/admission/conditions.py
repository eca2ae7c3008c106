"""Expressions that are evaluated together: the matchConditions of a policy or a webhook, and such.

They share a budget and the values of variables. Loaded only where there is one, since it needs CEL.
Source: apiserver v0.37, pkg/admission/plugin/cel/condition.go and
pkg/admission/plugin/webhook/matchconditions/matcher.go.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, NamedTuple

from krm_fn.admission.trace import Part, RuleTrace
from krm_fn.errors import CompileError, EvaluationError
from krm_fn.kube.cel import Pool, PoolError, Variables, evaluate
from krm_fn.kube.cel.evaluation import CONDITIONS_COST
from krm_fn.lang.cel import Environment, Program, types
from krm_fn.values import compact


@dataclass(frozen=True, slots=True)
class Expression:
    """A text with its program, or why it has none."""

    source: str
    program: Program | CompileError


def compile_expression(
    source: str, environment: Environment, returns: Sequence[types.Type] = ()
) -> Expression:
    """Compile a text; an error is kept, since it is told when the expression is evaluated."""
    try:
        return Expression(source, environment.compile(source, returns))
    except CompileError as error:
        return Expression(source, error)


class Result(NamedTuple):
    """The value of an expression, or its error in the words of the API server."""

    value: Any = None
    error: str = ""
    parts: Callable[[], tuple[Part, ...]] | None = None
    """The parts of the expression, where the pool records them."""

    @property
    def text(self) -> str:
        """`true`, or the error."""
        return self.error or compact(self.value)


def evaluate_all(
    expressions: Sequence[Expression | None],
    variables: Variables,
    bindings: Mapping[str, Any],
    pool: Pool,
) -> list[Result]:
    """The values of expressions, in order; None has the value None.

    Raises PoolError where what they may cost together is spent: then none of them counts.
    """
    bound = variables.bind(bindings, pool)
    return [Result() if one is None else evaluate_one(one, bound, pool) for one in expressions]


def evaluate_one(expression: Expression, bound: Mapping[str, Any], pool: Pool) -> Result:
    """The value of an expression; `bound` from `Variables.bind`. Raises PoolError."""
    program = expression.program
    if isinstance(program, CompileError):
        return Result(error=f"compilation error: {program.message}")
    try:
        result = Result(evaluate(program, bound, pool).value)
    except PoolError:
        raise
    except EvaluationError as error:
        message = f"expression '{expression.source}' resulted in error: {error.message}"
        result = Result(error=message)
    if pool.recordings is None:
        return result
    from krm_fn.admission.parts import parts_of

    return result._replace(parts=partial(parts_of, tuple(pool.recordings)))


class ConditionDecision(NamedTuple):
    """Whether all conditions hold. `error` says why nobody can tell."""

    holds: bool
    error: str = ""


_FIELD: Final = ("spec", "matchConditions")


class MatchConditions:
    """The conditions of one policy or webhook."""

    def __init__(
        self, sources: Sequence[str], environment: Environment, variables: Variables
    ) -> None:
        self.expressions = [
            compile_expression(source, environment, [types.BOOL]) for source in sources
        ]
        self._variables = variables

    def decide(
        self, bindings: Mapping[str, Any], record: RuleTrace | None = None
    ) -> ConditionDecision:
        """Evaluate all; a false one decides, whatever errors there are.

        `record` takes each condition with its parts.
        """
        if not self.expressions:
            return ConditionDecision(True)
        pool = Pool(CONDITIONS_COST, None if record is None else [])
        try:
            results = evaluate_all(self.expressions, self._variables, bindings, pool)
        except PoolError as error:
            if record is not None:
                record.ask("matchConditions", error.message, None, field=_FIELD)
            return ConditionDecision(False, error.message)
        if record is not None:
            for n, (expression, result) in enumerate(zip(self.expressions, results, strict=True)):
                record.ask(
                    expression.source,
                    result.text,
                    None if result.error else result.value is True,
                    field=(*_FIELD, n),
                    parts=result.parts,
                )
        if any(result.value is False for result in results):
            return ConditionDecision(False)
        errors = list(dict.fromkeys(result.error for result in results if result.error))
        if not errors:
            return ConditionDecision(True)
        return ConditionDecision(False, errors[0] if len(errors) == 1 else f"[{', '.join(errors)}]")
