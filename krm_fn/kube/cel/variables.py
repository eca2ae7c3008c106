"""`variables`: evaluated when first read, once.

Source: apiserver v0.37, pkg/admission/plugin/cel/composition.go and pkg/cel/lazy.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from krm_fn.errors import CompileError, EvaluationError
from krm_fn.kube.cel.environments import variable_type, with_variables
from krm_fn.kube.cel.evaluation import Pool, pay_for
from krm_fn.lang.cel import Environment, Program
from krm_fn.lang.cel import types as t
from krm_fn.lang.cel.types import Type
from krm_fn.lang.cel.values import NO_OVERLOAD, Value
from krm_fn.lang.go.strconv import quote

_TYPE: Final = t.struct("kubernetes.variables")

Compiled = Program | CompileError
"""A variable's program, or why it has none: that is told when the variable is read."""


class Variables:
    """The variables of a policy, compiled in order; each sees those before it.

    `environment` is the one that other expressions of the policy are compiled in: pass theirs to
    `extend`. A name that is declared again replaces the earlier one.
    """

    def __init__(self, environment: Environment) -> None:
        self.types: dict[str, Type] = {}
        self._environment = self.extend(environment)
        self.programs: dict[str, Compiled] = {}

    def add(self, name: str, expression: str) -> Compiled:
        """Compile one variable; an error is kept and returned, not raised."""
        compiled: Compiled
        try:
            compiled = self._environment.compile(expression)
        except CompileError as error:
            compiled = error
        failed = isinstance(compiled, CompileError)
        self.types[name] = t.DYN if failed else variable_type(compiled.type)  # type: ignore[union-attr]
        self.programs[name] = compiled
        return compiled

    def extend(self, environment: Environment) -> Environment:
        """An environment with `variables` as known so far."""
        return with_variables(environment, self.types)

    def bind(self, bindings: Mapping[str, Any], pool: Pool | None = None) -> Mapping[str, Any]:
        """The bindings and `variables`, which evaluates itself over them when it is read.

        Each variable is paid for from the pool when it is evaluated.
        """
        known = dict(bindings)
        known["variables"] = _Lazy(self.programs, known, pool or Pool())
        return known


class _Lazy(Value):
    """The value of `variables`."""

    __slots__ = ("_bindings", "_done", "_pool", "_programs")
    type = _TYPE
    go_type = "*lazy.MapValue"

    def __init__(
        self,
        programs: Mapping[str, Compiled],
        bindings: Mapping[str, Any],
        pool: Pool,
    ) -> None:
        self._programs = programs
        self._bindings = bindings
        self._pool = pool
        self._done: dict[str, Any] = {}

    @property
    def indexes(self) -> bool:
        return True

    def equal(self, other: Any) -> bool:
        if not isinstance(other, _Lazy):
            return super().equal(other)
        return self is other

    def has(self, key: Any) -> bool:
        if type(key) is not str:
            raise EvaluationError(NO_OVERLOAD)
        if key not in self._programs:
            return False
        self.get(key)
        return True

    def get(self, key: Any) -> Any:
        if type(key) is not str:
            raise EvaluationError(NO_OVERLOAD)
        if key not in self._done:
            self._done[key] = self._evaluate(key)
        value = self._done[key]
        if isinstance(value, EvaluationError):
            raise EvaluationError(value.message)
        return value

    def _evaluate(self, name: str) -> Any:
        if name not in self._programs:
            return EvaluationError(f"no such key: {name}")
        program = self._programs[name]
        if isinstance(program, CompileError):
            reason = f"composited variable {quote(name)} fails to compile: {program.message}"
            return EvaluationError(reason)
        budget = self._pool.budget(program, name)
        try:
            return program.evaluate(self._bindings, budget)
        except EvaluationError as error:
            # Also one that ran out of its budget: to its reader it is an error as any other.
            reason = f"composited variable {quote(name)} fails to evaluate: {error.message}"
            return EvaluationError(reason)
        finally:
            pay_for(budget)
            self._pool.spend(budget.used)
