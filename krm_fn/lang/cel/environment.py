"""What an expression may use, and the way from its text to a program.

An environment is made once and compiles any number of expressions; a program is evaluated on any
number of bindings. Both are immutable.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from typing import Any, Final

from krm_fn import limits, work
from krm_fn.errors import CompileError, EvaluationError, LimitError
from krm_fn.lang.cel import formatting
from krm_fn.lang.cel import types as t
from krm_fn.lang.cel.ast import Call, Literal, Node, walk
from krm_fn.lang.cel.attributes import FieldAccess
from krm_fn.lang.cel.budget import Budget
from krm_fn.lang.cel.checker import UNKNOWN_FIELD, Checked, check, check_homogeneous
from krm_fn.lang.cel.compile import Compiled, Compiler, compile_tree
from krm_fn.lang.cel.costs import Estimator
from krm_fn.lang.cel.functions import Function, no_such_overload
from krm_fn.lang.cel.parser import Macro, parse
from krm_fn.lang.cel.provider import TypeProvider
from krm_fn.lang.cel.regexes import compile_pattern
from krm_fn.lang.cel.source import Issues, Source
from krm_fn.lang.cel.types import Type
from krm_fn.lang.cel.wellknown import WellKnown

COMPILATION_FAILED: Final = "compilation failed: "


class Library:
    """Functions, macros and type names that belong together."""

    __slots__ = ("functions", "idents", "macros")

    def __init__(
        self,
        functions: Iterable[Function] = (),
        macros: Mapping[tuple[str, int, bool], Macro] | None = None,
        idents: Iterable[Type] = (),
    ) -> None:
        self.functions = tuple(functions)
        self.macros = dict(macros or {})
        self.idents = tuple(idents)


class _Structs:
    """The type names and struct types of an environment, as checker and compiler ask for them."""

    def __init__(self, idents: Mapping[str, Type], providers: Sequence[TypeProvider]) -> None:
        self._idents = idents
        self._providers = (*providers, WellKnown())

    def and_of(self, providers: Sequence[TypeProvider]) -> _Structs:
        """These and those of more providers, which are asked last."""
        return _Structs(self._idents, (*self._providers[:-1], *providers))

    def ident(self, name: str) -> Type | None:
        return self._idents.get(name)

    def _provider(self, name: str) -> TypeProvider | None:
        for provider in self._providers:
            if provider.struct(name) is not None:
                return provider
        return None

    def struct(self, name: str) -> Type | None:
        provider = self._provider(name)
        return None if provider is None else provider.struct(name)

    def field(self, name: str, field: str) -> Type | None:
        provider = self._provider(name)
        return None if provider is None else provider.field(name, field)

    def make(self, name: str, fields: dict[str, Any]) -> Any:
        provider = self._provider(name) or TypeProvider()
        return provider.make(name, fields)

    def access(self, name: str) -> FieldAccess | None:
        provider = self._provider(name)
        return None if provider is None else provider.access(name)


_IDENTS: Final = {name: kind for name, kind in t.NAMED.items() if name != "dyn"}


class Environment:
    """Variables with their types, libraries, struct types.

    `cross_numeric`: `1 < 1.5` compiles. `validate`: constant timestamps, durations, regular
    expressions and formats are checked when an expression is compiled. `estimator`: what calls of
    functions cost, by name.
    """

    def __init__(
        self,
        variables: Mapping[str, Type],
        libraries: Sequence[Library],
        providers: Sequence[TypeProvider] = (),
        *,
        cross_numeric: bool = True,
        validate: bool = True,
        estimator: Estimator | None = None,
    ) -> None:
        self._estimator: Estimator = {} if estimator is None else estimator
        self._variables = dict(variables)
        self._libraries = tuple(libraries)
        self._providers = tuple(providers)
        self._cross_numeric = cross_numeric
        self._validate = validate
        self._functions: dict[str, Function] = {}
        self._macros: dict[tuple[str, int, bool], Macro] = {}
        idents = dict(_IDENTS)
        for library in self._libraries:
            for function in library.functions:
                known = self._functions.get(function.name)
                merged = function if known is None else known.merged(function)
                self._functions[function.name] = merged
            self._macros.update(library.macros)
            idents.update({kind.name: kind for kind in library.idents})
        self._structs = _Structs(idents, self._providers)

    def extend(
        self,
        variables: Mapping[str, Type] | None = None,
        libraries: Sequence[Library] = (),
        providers: Sequence[TypeProvider] = (),
    ) -> Environment:
        """This environment and more."""
        if not libraries:
            return self._declaring(variables or {}, providers)
        return Environment(
            {**self._variables, **(variables or {})},
            (*self._libraries, *libraries),
            (*self._providers, *providers),
            cross_numeric=self._cross_numeric,
            validate=self._validate,
            estimator=self._estimator,
        )

    def _declaring(
        self, variables: Mapping[str, Type], providers: Sequence[TypeProvider]
    ) -> Environment:
        """More variables and types; the functions stay what they are."""
        made = copy(self)
        made._variables = {**self._variables, **variables}
        made._providers = (*self._providers, *providers)
        made._structs = self._structs.and_of(providers)
        return made

    def parse(self, text: str) -> Node:
        """The tree of an expression, macros expanded; raises CompileError."""
        try:
            return parse(Source(text), self._macros)
        except CompileError as error:
            raise CompileError(COMPILATION_FAILED + error.message) from None

    def compile(self, text: str, returns: Sequence[Type] = ()) -> Program:
        """A program whose static type is one of `returns`; any type will do if there are none.

        Raises CompileError with the API server's words: all that the checker found (`compilation
        failed: ...`), a wrong type (`must evaluate to bool but got dyn`), or a constant part that
        cannot be computed (`program instantiation failed: ...`).
        """
        source = Source(text)
        tree = self.parse(text)
        try:
            with limits.deep_stack():
                return self._compile(source, tree, returns)
        except RecursionError:
            raise CompileError(f"{COMPILATION_FAILED}the expression nests too deeply") from None

    def _compile(self, source: Source, tree: Node, returns: Sequence[Type]) -> Program:
        issues = Issues(source)
        nodes = walk(tree)
        work.spend(_COMPILED + _NODE * len(nodes))
        checked = check(
            tree,
            self._variables,
            self._functions,
            self._structs,
            issues,
            cross_numeric=self._cross_numeric,
        )
        if not issues:
            self._check_literals(nodes, checked, issues)
        if issues:
            raise CompileError(COMPILATION_FAILED + issues.text())
        kind = checked.types[tree]
        if returns and kind not in returns:
            wanted = str(returns[0])
            if len(returns) > 1:
                wanted = f"one of [{' '.join(map(str, returns))}]"
            raise CompileError(f"must evaluate to {wanted} but got {kind}")
        if UNKNOWN_FIELD in checked.types.values():
            message = "unexpected compilation error: missing type conversion to proto: "
            raise CompileError(message)
        return Program(source.text, tree, checked, self._structs, self._estimator)

    def _check_literals(self, nodes: Sequence[Node], checked: Checked, issues: Issues) -> None:
        exempt: frozenset[Node] = frozenset()
        if "format" in self._functions and self._validate:
            exempt = formatting.exempt(nodes, checked)
            formatting.check_formats(nodes, checked, issues)
        check_homogeneous(nodes, checked, exempt, issues)
        if self._validate:
            for node in nodes:
                if isinstance(node, Call) and node.function in _CHECKED and node.args:
                    self._check_constant(node, issues)

    def _check_constant(self, node: Call, issues: Issues) -> None:
        argument = node.args[0]
        if not isinstance(argument, Literal):
            return
        try:
            if node.function == "matches":
                compile_pattern(argument.value)
            elif node.target is None:
                function = self._functions[node.function]
                _convert(function, argument.value)
        except EvaluationError:
            issues.report(argument.pos, f"invalid {node.function} argument")


_COMPILED: Final = 500
_NODE: Final = 100
"""What it takes to compile an expression, in steps of the run; macros make many nodes of little."""

_CHECKED: Final = frozenset({"duration", "timestamp", "matches"})


def _convert(function: Function, value: Any) -> None:
    for overload in function.overloads.values():
        if overload.fits((value,)) and overload.impl is not None:
            overload.impl(value)
            return
    raise no_such_overload(function.name, (value,))


class Program:
    """A compiled expression."""

    __slots__ = (
        "_checked",
        "_compiled",
        "_estimator",
        "_structs",
        "_variants",
        "text",
        "tree",
        "type",
    )

    def __init__(
        self, text: str, tree: Node, checked: Checked, structs: _Structs, estimator: Estimator
    ) -> None:
        self.text = text
        self.tree = tree
        self.type: Type = checked.types[tree]
        """Its static type."""
        self._checked = checked
        self._structs = structs
        self._estimator = estimator
        self._compiled = compile_tree(tree, checked, structs, estimator)
        self._variants: dict[tuple[frozenset[str], bool], Compiled] = {}

    @property
    def variables(self) -> frozenset[str]:
        """The names of the variables that it reads."""
        return frozenset(self._compiled.variables)

    def evaluate(self, bindings: Mapping[str, Any], budget: Budget | None = None) -> Any:
        """The value of the expression; only the variables that it reads are taken from `bindings`.

        A variable that is not bound fails where it is read. Spends from `budget`, a fresh one by
        default; one with a recorder gets the values of all parts. Raises EvaluationError in
        upstream's words, and LimitError.
        """
        if budget is None:
            budget = Budget()
        if budget.recorder is not None:
            return self._evaluate_partly(bindings, budget)
        compiled = self._compiled
        frame: list[Any] = [None] * compiled.size
        try:
            for name, slot in compiled.variables.items():
                frame[slot] = bindings[name]
        except KeyError:
            return self._evaluate_partly(bindings, budget)
        return _run(compiled, frame, budget)

    def _evaluate_partly(self, bindings: Mapping[str, Any], budget: Budget) -> Any:
        missing = frozenset(name for name in self._compiled.variables if name not in bindings)
        records = budget.recorder is not None
        compiled = self._variants.get((missing, records))
        if compiled is None:
            compiler: type[Compiler] = Compiler
            if records:
                from krm_fn.lang.cel.recording import RecordingCompiler

                compiler = RecordingCompiler
            with limits.deep_stack():
                compiled = compile_tree(
                    self.tree, self._checked, self._structs, self._estimator, missing, compiler
                )
            self._variants[missing, records] = compiled
        frame: list[Any] = [None] * compiled.size
        for name, slot in compiled.variables.items():
            frame[slot] = bindings[name]
        return _run(compiled, frame, budget)


def _run(compiled: Compiled, frame: list[Any], budget: Budget) -> Any:
    frame[0] = budget
    budget.spend(compiled.cost)
    left = budget.left
    try:
        return compiled.run(frame)
    except RecursionError:
        # Rare: a value or an expression deeper than Python's default stack.
        budget.left = left
    try:
        with limits.deep_stack():
            return compiled.run(frame)
    except RecursionError:
        raise LimitError("the value nests too deeply") from None
