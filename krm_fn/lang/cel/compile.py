"""A checked tree to closures over a frame.

Every node becomes a function of the frame, a list of the budget and the variables by slot. What is
constant is computed here, and an error in it is a compile error even where it would not be reached,
as on the API server. What an evaluation costs is known before it runs but for loops, branches and
some calls: the sum is spent at the start, the others spend their own when they run. What fails in
the middle has been paid for whole, where upstream stops counting.
Source: cel-go v0.29, interpreter/planner.go, interpreter/decorators.go, interpreter/runtimecost.go.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, Protocol

from krm_fn.errors import CompileError, EvaluationError, LimitError
from krm_fn.lang.cel import operators
from krm_fn.lang.cel import types as t
from krm_fn.lang.cel import values as v
from krm_fn.lang.cel.ast import (
    Call,
    Comprehension,
    Entry,
    Ident,
    ListExpr,
    Literal,
    MapExpr,
    Node,
    Select,
    StructExpr,
)
from krm_fn.lang.cel.attributes import (
    FieldAccess,
    Frame,
    Run,
    Step,
    check_qualifier,
    compile_steps,
    test,
)
from krm_fn.lang.cel.checker import Checked, Reference, Types
from krm_fn.lang.cel.costs import Cost, Estimator, call_cost
from krm_fn.lang.cel.functions import Impl, Work, implementation
from krm_fn.lang.cel.regexes import compile_pattern
from krm_fn.lang.cel.values import NO_OVERLOAD, Optional


class Structs(Types, Protocol):
    """Types whose values can be made and read."""

    def make(self, name: str, fields: dict[str, Any]) -> Any:
        """A value of a struct type; raises EvaluationError."""
        ...

    def access(self, name: str) -> FieldAccess | None:
        """How fields are read where the static type is known; None: as the value itself does."""
        ...


class Compiled:
    """The result: what to run, what it costs at least, and which variables stand in which slots."""

    __slots__ = ("cost", "run", "size", "variables")

    def __init__(self, run: Run, cost: int, variables: dict[str, int], size: int) -> None:
        self.run = run
        self.cost = cost
        self.variables = variables
        self.size = size


def compile_tree(
    tree: Node,
    checked: Checked,
    structs: Structs,
    estimator: Estimator,
    unbound: frozenset[str] = frozenset(),
    compiler_type: type[Compiler] | None = None,
) -> Compiled:
    """Compile a tree; `unbound` variables fail where they are read.

    Raises CompileError with what constant parts fail with.
    """
    compiler = (compiler_type or Compiler)(checked, structs, estimator, unbound)
    try:
        code = compiler.compile(tree)
        run = code.build()
    except EvaluationError as error:
        raise CompileError(f"program instantiation failed: {error}") from None
    return Compiled(run, code.cost, compiler.globals, compiler.size)


class Code:
    """Something to run; `cost` is what it costs whenever it runs."""

    __slots__ = ("_run", "cost")

    def __init__(self, run: Run, cost: int) -> None:
        self._run = run
        self.cost = cost

    def build(self) -> Run:
        """The closure."""
        return self._run


class Constant(Code):
    """A value that is known."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value
        super().__init__(lambda frame: value, 0)


class Attribute(Code):
    """A value and qualifiers to apply to it; more can be added.

    `inner` is what it costs but for the 1 of reading it, which is free in a branch and as an index.
    """

    __slots__ = ("base", "inner", "slot", "steps")

    def __init__(self, base: Run, slot: int | None, steps: tuple[Step, ...], inner: int) -> None:
        self.base = base
        self.slot = slot
        self.steps = steps
        self.inner = inner
        self.cost = inner + 1

    def build(self) -> Run:
        return compile_steps(self.base, self.slot, self.steps)

    def with_step(self, step: Step) -> Attribute:
        """The same with one qualifier more."""
        return Attribute(self.base, self.slot, (*self.steps, step), self.inner + step.cost)

    def tested(self) -> Run:
        """Whether the last qualifier finds something."""
        base, steps = self.base, self.steps
        return lambda frame: test(frame, base(frame), steps)


class Choice(Code):
    """`c ? a : b`, whose qualifiers go to both branches, of which one is paid for."""

    __slots__ = ("inner", "no", "when", "yes")

    def __init__(self, when: Code, yes: Selectable, no: Selectable) -> None:
        self.when = when
        self.yes = yes
        self.no = no
        self.cost = self.inner = when.cost

    def build(self) -> Run:
        return self._either(self.yes.build(), self.no.build())

    def _either(self, yes: Run, no: Run) -> Run:
        when = self.when.build()
        yes, no = _paying(yes, self.yes.inner), _paying(no, self.no.inner)

        def run(frame: Frame) -> Any:
            chosen = when(frame)
            if chosen is True:
                return yes(frame)
            if chosen is False:
                return no(frame)
            raise EvaluationError(NO_OVERLOAD)

        return run

    def with_step(self, step: Step) -> Choice:
        """The same with one qualifier more in both branches."""
        return Choice(self.when, self.yes.with_step(step), self.no.with_step(step))

    def tested(self) -> Run:
        """Whether the last qualifier finds something, in the branch that is taken."""
        return self._either(self.yes.tested(), self.no.tested())


Selectable = Attribute | Choice


def _as_attribute(code: Code) -> Selectable:
    if isinstance(code, (Attribute, Choice)):
        return code
    return Attribute(code.build(), None, (), code.cost)


def _paying(run: Run, cost: int) -> Run:
    """Something that may not run, and pays when it does."""
    if not cost:
        return run

    def paid(frame: Frame) -> Any:
        budget = frame[0]
        budget.left -= cost
        if budget.left < 0:
            budget.spend(0)
        return run(frame)

    return paid


_CONVERSIONS: Final = frozenset(
    {"bool", "bytes", "double", "duration", "dyn", "int", "string", "timestamp", "type", "uint"}
)
_PATTERNS: Final = frozenset({"matches", "find", "findAll"})
_LIST_COST: Final = 10
_MAP_COST: Final = 30
_STRUCT_COST: Final = 40


class Compiler:
    """One instance an expression."""

    def __init__(
        self, checked: Checked, structs: Structs, estimator: Estimator, unbound: frozenset[str]
    ) -> None:
        self._unbound = unbound
        self._estimator = estimator
        self._types = checked.types
        self._refs = checked.refs
        self._structs = structs
        self._scopes: list[dict[str, int]] = []
        self.globals: dict[str, int] = {}
        self.size = 1

    def _slot(self) -> int:
        self.size += 1
        return self.size - 1

    def compile(self, node: Node) -> Code:
        """The code of a node."""
        if isinstance(node, Literal):
            return Constant(node.value)
        if isinstance(node, Ident):
            return self._name(node, self._refs[node])
        if isinstance(node, Select):
            return self._select(node)
        if isinstance(node, Call):
            return self._call(node)
        if isinstance(node, ListExpr):
            return self._list(node)
        if isinstance(node, MapExpr):
            return self._map(node)
        if isinstance(node, StructExpr):
            return self._struct(node)
        assert isinstance(node, Comprehension)
        return self._comprehension(node)

    # Names and selections

    def _name(self, node: Node, reference: Reference) -> Code:
        name = reference.name
        kind = self._types[node]
        if kind.kind == t.TYPE_KIND and self._local(name) is None:
            named = self._structs.ident(name)
            if named is None:
                raise EvaluationError(f"reference to undefined type: {name}")
            return Constant(named)
        slot = self._local(name)
        if slot is None:
            bare = name.removeprefix(".")
            if bare in self._unbound:
                return Attribute(_failing(f"no such attribute(s): {bare}"), None, (), 0)
            slot = self.globals.get(bare)
            if slot is None:
                slot = self.globals[bare] = self._slot()
        place: int = slot
        return Attribute(lambda frame: frame[place], place, (), 0)

    def _local(self, name: str) -> int | None:
        if name.startswith("."):
            return None
        for scope in reversed(self._scopes):
            if name in scope:
                return scope[name]
        return None

    def _select(self, node: Select) -> Code:
        reference = self._refs.get(node)
        if reference is not None:
            return self._name(node, reference)
        operand = _as_attribute(self.compile(node.operand))
        kind = self._types[node.operand]
        access = self._structs.access(kind.name) if kind.kind == t.STRUCT else None
        chosen = operand.with_step(Step(node.field, None, False, access))
        return Code(chosen.tested(), chosen.cost - 1) if node.test else chosen

    def _index(self, node: Call, optional: bool) -> Code:
        operand, index = _as_attribute(self.compile(node.args[0])), self.compile(node.args[1])
        if isinstance(index, Constant):
            check_qualifier(index.value)
            return operand.with_step(Step(index.value, None, optional))
        cost = index.inner if isinstance(index, (Attribute, Choice)) else index.cost
        return operand.with_step(Step(None, index.build(), optional, cost=cost + 1))

    # Calls

    def _call(self, node: Call) -> Code:
        name = node.function
        special = _SPECIAL.get(name)
        if special is not None:
            return special(self, node)
        reference = self._refs[node]
        arguments = [self.compile(argument) for argument in _arguments(node, reference)]
        if name in ("or", "orValue") and len(arguments) == 2:
            return self._alternative(name, arguments)
        assert reference.function is not None
        runs = [argument.build() for argument in arguments]
        total = sum(argument.cost for argument in arguments)
        fast = operators.specialized(reference.name, reference.overloads, runs)
        if fast is not None:
            return Code(fast, total + 1)
        impl, work = implementation(reference.function, reference.overloads)
        if name in _PATTERNS and len(arguments) > 1 and isinstance(arguments[1], Constant):
            pattern = arguments[1].value
            if type(pattern) is str:
                compile_pattern(pattern)
                impl = _on_text(impl)
        if len(arguments) == 1 and reference.name in _CONVERSIONS:
            (only,) = arguments
            if isinstance(only, Constant):
                return Constant(impl(only.value))
        cost = call_cost(reference.function.name, reference.overloads, self._estimator)
        if cost is not None or work is not None:
            return Code(_paid_call(impl, cost, work, runs), total)
        return Code(_plain_call(impl, runs), total + 1)

    def _conditional(self, node: Call) -> Code:
        when, yes, no = [self.compile(argument) for argument in node.args]
        return Choice(when, _as_attribute(yes), _as_attribute(no))

    def _logic(self, node: Call, decisive: bool) -> Code:
        """`&&`, which false decides whatever the other side is, and `||`, which true does."""
        left, right = [self.compile(argument) for argument in node.args]
        first, second = left.build(), _paying(right.build(), right.cost)
        other = not decisive

        def run(frame: Frame) -> bool:
            try:
                value = first(frame)
            except LimitError:
                raise
            except EvaluationError:
                if _decides(second, frame, decisive):
                    return decisive
                raise
            if value is decisive:
                return bool(value)
            if value is not other:
                return _absorbed(second, frame, decisive)
            value = second(frame)
            if value is True or value is False:
                return bool(value)
            raise EvaluationError(NO_OVERLOAD)

        return Code(run, left.cost)

    def _alternative(self, name: str, arguments: Sequence[Code]) -> Code:
        """`or` and `orValue`, whose argument is looked at only where there is no value."""
        first, second = arguments[0].build(), _paying(arguments[1].build(), arguments[1].cost)
        whole = name == "or"

        def run(frame: Frame) -> Any:
            value = first(frame)
            if type(value) is not Optional:
                raise EvaluationError(NO_OVERLOAD)
            if value.present:
                return value if whole else value.value
            return second(frame)

        return Code(run, arguments[0].cost)

    def _in(self, node: Call) -> Code:
        wanted, among = self.compile(node.args[0]), self.compile(node.args[1])
        overloads = self._refs[node].overloads
        listed = overloads == ("in_list",)
        first, second = wanted.build(), among.build()
        if isinstance(among, Constant) and listed:
            if not among.value:
                return Constant(False)
            known = operators.membership(among.value)
            if known is not None:
                return Code(lambda frame: known(first(frame)), wanted.cost)

        def run(frame: Frame) -> bool:
            value, values = first(frame), second(frame)
            frame[0].spend(v.size_of(values) if listed else 1)
            return operators.contains(frame[0], value, values)

        return Code(run, wanted.cost + among.cost)

    # Literals with parts

    def _list(self, node: ListExpr) -> Code:
        codes = [self.compile(element) for element in node.elements]
        optionals = node.optionals
        cost = sum(code.cost for code in codes) + _LIST_COST
        runs = [code.build() for code in codes]
        if not optionals:

            def run(frame: Frame) -> list[Any]:
                return [element(frame) for element in runs]
        else:

            def run(frame: Frame) -> list[Any]:
                return _with_optionals(frame, runs, optionals)

        if all(isinstance(code, Constant) for code in codes):
            return Constant(run([]))
        return Code(run, cost)

    def _map(self, node: MapExpr) -> Code:
        keys = [self.compile(entry.key) for entry in node.entries]
        values = [self.compile(entry.value) for entry in node.entries]
        parts = [
            (key.build(), value.build(), entry.optional)
            for key, value, entry in zip(keys, values, node.entries, strict=True)
        ]

        def run(frame: Frame) -> dict[Any, Any]:
            made: dict[Any, Any] = {}
            for key_run, value_run, optional in parts:
                key = key_run(frame)
                _set_entry(made, key, v.map_key(key), value_run(frame), optional)
            return made

        if all(isinstance(code, Constant) for code in (*keys, *values)):
            return Constant(run([]))
        return Code(run, sum(code.cost for code in (*keys, *values)) + _MAP_COST)

    def _struct(self, node: StructExpr) -> Code:
        name = self._refs[node].name
        values = [self.compile(entry.value) for entry in node.entries]
        runs = [code.build() for code in values]
        entries: tuple[Entry, ...] = node.entries
        make = self._structs.make

        def run(frame: Frame) -> Any:
            fields: dict[str, Any] = {}
            for entry, value in zip(entries, runs, strict=True):
                _set_entry(fields, entry.key, entry.key, value(frame), entry.optional)
            return make(name, fields)

        return Code(run, sum(code.cost for code in values) + _STRUCT_COST)

    # Comprehensions
    #
    # The accumulator is read for 1 in each step, in the condition of each turn, and in the result.

    def _comprehension(self, node: Comprehension) -> Code:
        over = self.compile(node.range)
        init = self.compile(node.init)
        if node.shape == "let":
            return self._let(node, init)
        first, second = self._slot(), self._slot()
        scope = {node.var: first}
        if node.var2:
            scope[node.var2] = second
        self._scopes.append(scope)
        loop = LOOPS[node.shape](self, node, first)
        self._scopes.pop()
        pairs = bool(node.var2)
        source = over.build()

        def run(frame: Frame) -> Any:
            if pairs:
                return loop(frame, _pairs(frame, source(frame), second))
            return loop(frame, iter(_elements(source(frame))))

        result = 2 if node.shape == "exists_one" else 1
        return Code(run, over.cost + init.cost + result)

    def _let(self, node: Comprehension, init: Code) -> Code:
        slot = self._slot()
        self._scopes.append({node.accu: slot})
        body = self.compile(node.result)
        self._scopes.pop()
        value, inner = init.build(), body.build()

        def run(frame: Frame) -> Any:
            frame[slot] = value(frame)
            return inner(frame)

        return Code(run, init.cost + body.cost)

    def _quantifier(self, node: Comprehension, slot: int) -> Loop:
        step = node.step
        assert isinstance(step, Call)
        predicate = self.compile(step.args[1])
        holds, decided = predicate.build(), node.shape == "exists"
        condition = 3 if decided else 2
        cost = predicate.cost + condition + 1

        def loop(frame: Frame, values: Iterator[Any]) -> bool:
            budget = frame[0]
            failure: EvaluationError | None = None
            for frame[slot] in values:
                budget.left -= cost
                if budget.left < 0:
                    budget.spend(0)
                try:
                    value = holds(frame)
                except LimitError:
                    raise
                except EvaluationError as error:
                    failure = failure or error
                    continue
                if value is decided:
                    if next(values, _END) is not _END:
                        budget.spend(condition)
                    return bool(value)
                if value is not (not decided):
                    failure = failure or EvaluationError(NO_OVERLOAD)
            if failure is not None:
                raise failure
            return not decided

        return loop

    def _exactly_one(self, node: Comprehension, slot: int) -> Loop:
        step = node.step
        assert isinstance(step, Call)
        predicate = self.compile(step.args[0])
        holds, cost = predicate.build(), predicate.cost

        def loop(frame: Frame, values: Iterator[Any]) -> bool:
            budget = frame[0]
            count = 0
            for frame[slot] in values:
                budget.spend(cost)
                value = holds(frame)
                if value is True:
                    budget.spend(2)
                    count += 1
                elif value is not False:
                    raise EvaluationError(NO_OVERLOAD)
            return count == 1

        return loop

    def _collect(self, node: Comprehension, slot: int) -> Loop:
        """map, filter, transformList."""
        predicate, step = self._predicate(node)
        addition = step.args[1]
        assert isinstance(addition, ListExpr)
        element = self.compile(addition.elements[0])
        # A list of a constant is a constant, which costs nothing.
        made_cost = 0 if isinstance(element, Constant) else element.cost + _LIST_COST
        value, cost = element.build(), made_cost + 2
        if predicate is None:

            def loop(frame: Frame, values: Iterator[Any]) -> list[Any]:
                budget = frame[0]
                made = []
                for frame[slot] in values:
                    budget.left -= cost
                    if budget.left < 0:
                        budget.spend(0)
                    made.append(value(frame))
                return made

            return loop
        holds, ask = predicate.build(), predicate.cost

        def filtered(frame: Frame, values: Iterator[Any]) -> list[Any]:
            budget = frame[0]
            made = []
            for frame[slot] in values:
                budget.spend(ask)
                chosen = holds(frame)
                if chosen is True:
                    budget.spend(cost)
                    made.append(value(frame))
                elif chosen is not False:
                    raise EvaluationError(NO_OVERLOAD)
            return made

        return filtered

    def _predicate(self, node: Comprehension) -> tuple[Code | None, Call]:
        step = node.step
        assert isinstance(step, Call)
        if step.function != "_?_:_":
            return None, step
        inner = step.args[1]
        assert isinstance(inner, Call)
        return self.compile(step.args[0]), inner

    def _insert(self, node: Comprehension, slot: int) -> Loop:
        """transformMap, transformMapEntry."""
        predicate, step = self._predicate(node)
        code = self.compile(step.args[-1])
        by_key = len(step.args) == 3
        value, cost = code.build(), code.cost + (3 if by_key else 2)
        holds = None if predicate is None else predicate.build()
        ask = 0 if predicate is None else predicate.cost

        def loop(frame: Frame, values: Iterator[Any]) -> dict[Any, Any]:
            budget = frame[0]
            made: dict[Any, Any] = {}
            for frame[slot] in values:
                if holds is not None:
                    budget.spend(ask)
                    chosen = holds(frame)
                    if chosen is False:
                        continue
                    if chosen is not True:
                        raise EvaluationError(NO_OVERLOAD)
                budget.spend(cost)
                made_value = value(frame)
                if by_key:
                    _insert(made, frame[slot], made_value)
                else:
                    _merge(budget, made, made_value)
            return made

        return loop


_END: Final = object()

Loop = Callable[[Frame, Iterator[Any]], Any]
"""Runs a comprehension's body for each value of the first variable."""

LOOPS: Final[dict[str, Callable[[Compiler, Comprehension, int], Loop]]] = {
    "all": Compiler._quantifier,
    "exists": Compiler._quantifier,
    "exists_one": Compiler._exactly_one,
    "list": Compiler._collect,
    "map": Compiler._insert,
}

_SPECIAL: Final[Mapping[str, Callable[[Compiler, Call], Code]]] = {
    "_&&_": lambda compiler, node: compiler._logic(node, False),
    "_||_": lambda compiler, node: compiler._logic(node, True),
    "_?_:_": Compiler._conditional,
    "_[_]": lambda compiler, node: compiler._index(node, False),
    "_[?_]": lambda compiler, node: compiler._index(node, True),
    "_?._": lambda compiler, node: compiler._index(node, True),
    "@in": Compiler._in,
}


def _on_text(impl: Impl) -> Impl:
    """A function with a constant pattern, which upstream runs past the check of its arguments."""

    def run(value: Any, *others: Any) -> Any:
        if type(value) is str:
            return impl(value, *others)
        raise EvaluationError(NO_OVERLOAD)

    return run


def _failing(message: str) -> Run:
    def run(frame: Frame) -> Any:
        raise EvaluationError(message)

    return run


def _arguments(node: Call, reference: Reference) -> list[Node]:
    return list(node.args) if reference.target is None else [reference.target, *node.args]


def _plain_call(impl: Impl, runs: Sequence[Run]) -> Run:
    if len(runs) == 1:
        (one,) = runs
        return lambda frame: impl(one(frame))
    if len(runs) == 2:
        first, second = runs
        return lambda frame: impl(first(frame), second(frame))
    return lambda frame: impl(*[run(frame) for run in runs])


def _paid_call(impl: Impl, cost: Cost | None, work: Work | None, runs: Sequence[Run]) -> Run:
    """A call that pays for itself before it runs."""
    if len(runs) == 2 and work is None and cost is not None:
        first, second = runs

        def run_two(frame: Frame) -> Any:
            a, b = first(frame), second(frame)
            budget = frame[0]
            budget.left -= cost(a, b)
            if budget.left < 0:
                budget.spend(0)
            return impl(a, b)

        return run_two

    def run(frame: Frame) -> Any:
        values = [run(frame) for run in runs]
        budget = frame[0]
        budget.spend(1 if cost is None else cost(*values))
        if work is not None:
            budget.toil(_steps(work, values))
        return impl(*values)

    return run


def _steps(work: Work, values: list[Any]) -> int:
    """The steps of a call; values of wrong types take none, since the call will refuse them."""
    try:
        return work(*values)
    except (TypeError, AttributeError):
        return 0


def _decides(second: Run, frame: Frame, decided: bool) -> bool:
    """Whether the right side of `&&` or `||` settles it although the left side failed."""
    try:
        return second(frame) is decided
    except LimitError:
        raise
    except EvaluationError:
        return False


def _absorbed(second: Run, frame: Frame, decided: bool) -> bool:
    """The left side was no boolean: an error, unless the right side decides."""
    if _decides(second, frame, decided):
        return decided
    raise EvaluationError(NO_OVERLOAD)


def _with_optionals(frame: Frame, runs: Sequence[Run], optionals: frozenset[int]) -> list[Any]:
    made = []
    for index, run in enumerate(runs):
        value = run(frame)
        if index in optionals:
            if type(value) is not Optional:
                raise EvaluationError(
                    "cannot initialize optional list element from non-optional value "
                    f"{v.show(value)}"
                )
            if not value.present:
                continue
            value = value.value
        made.append(value)
    return made


def _set_entry(made: dict[Any, Any], name: Any, key: Any, value: Any, optional: bool) -> None:
    """Put an entry into a map or struct under construction; the last of a key wins."""
    if optional:
        if type(value) is not Optional:
            raise EvaluationError(
                f"cannot initialize optional entry '{v.show(name)}' from non-optional value "
                f"{v.show(value)}"
            )
        if not value.present:
            made.pop(key, None)
            return
        value = value.value
    made[key] = value


def _elements(value: Any) -> Iterable[Any]:
    kind = type(value)
    if kind is list:
        items: list[Any] = value
        return items
    if kind is dict or v.is_list(value) or v.is_map(value):
        return v.elements(value)
    raise EvaluationError(f"got '{v.go_type(value)}', expected iterable type")


def _pairs(frame: Frame, value: Any, second: int) -> Iterator[Any]:
    """Keys or indexes, with the value of each put into the second variable's slot."""
    if v.is_map(value):
        for key in v.map_keys(value):
            frame[second], _ = v.map_find(value, key)
            yield key
    elif v.is_list(value):
        for index, element in enumerate(value):
            frame[second] = element
            yield index
    else:
        raise EvaluationError(f"unsupported comprehension range type: {v.go_type(value)}")


def _insert(made: dict[Any, Any], key: Any, value: Any) -> None:
    wrapped = v.map_key(key)
    if v.find(made, key)[1]:
        raise EvaluationError(f"insert failed: key {v.show(key)} already exists")
    made[wrapped] = value


def _merge(budget: Any, made: dict[Any, Any], entries: Any) -> None:
    if not v.is_map(entries):
        name = v.type_of(entries).name
        raise EvaluationError(f"no such overload: cel.@mapInsert(map, {name})")
    budget.toil(len(entries))
    for key in v.map_keys(entries):
        _insert(made, key, v.map_find(entries, key)[0])
