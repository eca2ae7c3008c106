"""The nodes of a parsed template; each compiles itself to a closure.

An operand can stand in two places. As the first word of a command it may take arguments and the
value of the pipeline so far (`command`); as an argument it is checked against a parameter's type
(`argument`). A statement writes to the state. The order in which things are looked at follows Go's
evaluator, since the first mistake decides the error.
Source: Go 1.18.0's text/template/exec.go and parse/node.go.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, Protocol

from krm_fn import limits
from krm_fn.errors import LimitError
from krm_fn.lang.go import printf
from krm_fn.lang.go.strconv import quote
from krm_fn.lang.go.values import GoError, GoInt, GoObject, NamedInt, type_name
from krm_fn.lang.gotemplate.state import State
from krm_fn.lang.gotemplate.values import (
    ANY,
    BOOL,
    FLOAT,
    INT,
    STRING,
    VALUE,
    Function,
    Object,
    Pointer,
    RefusedError,
    Type,
    TypeMismatchError,
    indirect,
    truth,
)
from krm_fn.lang.nodes import Frozen
from krm_fn.values import MISSING

Eval = Callable[[State, Any], Any]
"""(state, dot) to a value."""

Call = Callable[[State, Any, Any], Any]
"""(state, dot, final) to a value; final is the pipeline's value so far, or NO_FINAL."""

Run = Callable[[State, Any], None]
"""(state, dot): write to the state."""

NO_FINAL: Final = object()
"""Stands for "no value so far" at the start of a pipeline."""


class Operand(Protocol):
    """What a command is made of."""

    @property
    def pos(self) -> int: ...

    def command(self, command: Command) -> Call:
        """As the first word of `command`."""
        ...

    def argument(self, kind: Type) -> Eval:
        """As an argument for a parameter of type `kind`."""
        ...


class Statement(Protocol):
    """What a list of nodes is made of."""

    @property
    def pos(self) -> int: ...

    def compile(self) -> Run: ...


# Operands


class Dot(Frozen):
    """`.`: the value at hand."""

    pos: int

    def __str__(self) -> str:
        return "."

    def command(self, command: Command) -> Call:
        return _alone(self, command, lambda _, dot: dot)

    def argument(self, kind: Type) -> Eval:
        return _checked(self, kind, lambda _, dot: dot)


class Nil(Frozen):
    """`nil`: only as an argument."""

    pos: int

    def __str__(self) -> str:
        return "nil"

    def command(self, command: Command) -> Call:
        def refuse(state: State, dot: Any) -> Any:
            raise state.error(command, "nil is not a command")

        return _alone(self, command, refuse)

    def argument(self, kind: Type) -> Eval:
        nil = kind.nil

        def evaluate(state: State, dot: Any) -> Any:
            if nil is None:
                raise state.error(self, f"cannot assign nil to {kind.name}")
            return nil()

        return evaluate


class Literal(Frozen):
    """A boolean, a string or a number as it is written.

    `types` are the parameter types that the literal fits, with its value in each: a number fits
    int and float64 if it is whole, whichever way it is written. MISSING in `value` stands for a
    whole number that is too large for an int.
    """

    pos: int
    source: str
    value: Any
    types: Mapping[str, Any]

    def __str__(self) -> str:
        return self.source

    def command(self, command: Command) -> Call:
        return _alone(self, command, self._plain())

    def argument(self, kind: Type) -> Eval:
        if kind in (ANY, VALUE):
            return self._plain()
        key = kind.literal or kind.name
        if key in self.types:
            value = self.types[key]
            if kind.literal and kind.convert is not None:
                value = kind.convert(value)
            return lambda _, __: value
        expected = _LITERALS.get(key)
        reason = f"expected {expected}; found {self}"
        if expected is None:
            reason = f"can't handle {self} for arg of type {kind.name}"

        def refuse(state: State, dot: Any) -> Any:
            raise state.error(self, reason)

        return refuse

    def _plain(self) -> Eval:
        value = self.value
        if value is not MISSING:
            return lambda _, __: value

        def refuse(state: State, dot: Any) -> Any:
            raise state.error(self, f"{self} overflows int")

        return refuse


_LITERALS: Final = {
    STRING.name: "string",
    BOOL.name: "bool",
    INT.name: "integer",
    FLOAT.name: "float",
    "uint": "unsigned integer",
}
"""What a parameter expects, in the error of a literal that does not fit."""


class Field(Frozen):
    """`.a.b`: fields of the value at hand."""

    pos: int
    names: tuple[str, ...]

    def __str__(self) -> str:
        return "".join("." + name for name in self.names)

    def command(self, command: Command) -> Call:
        arguments = command.words[1:]
        names = self.names

        def evaluate(state: State, dot: Any, final: Any) -> Any:
            return _fields(state, dot, self, dot, names, arguments, final)

        return evaluate

    def argument(self, kind: Type) -> Eval:
        names = self.names
        return _checked(
            self, kind, lambda state, dot: _fields(state, dot, self, dot, names, (), NO_FINAL)
        )


class Variable(Frozen):
    """`$x` or `$x.a.b`."""

    pos: int
    name: str
    names: tuple[str, ...] = ()

    def __str__(self) -> str:
        return ".".join((self.name, *self.names))

    def command(self, command: Command) -> Call:
        if not self.names:
            return _alone(self, command, self._get)
        arguments = command.words[1:]

        def evaluate(state: State, dot: Any, final: Any) -> Any:
            receiver = state.get(self, self.name)
            return _fields(state, dot, self, receiver, self.names, arguments, final)

        return evaluate

    def argument(self, kind: Type) -> Eval:
        return _checked(self, kind, self._get)

    def _get(self, state: State, dot: Any) -> Any:
        value = state.get(self, self.name)
        if not self.names:
            return value
        return _fields(state, dot, self, value, self.names, (), NO_FINAL)


class Chain(Frozen):
    """`(pipe).a.b` or `name.a.b`: fields of what an operand gives."""

    pos: int
    operand: Operand
    names: tuple[str, ...]

    def __str__(self) -> str:
        return "".join([_parenthesized(self.operand), *("." + name for name in self.names)])

    def command(self, command: Command) -> Call:
        inner = self.operand.argument(_UNTYPED)
        arguments = command.words[1:]
        names = self.names

        def evaluate(state: State, dot: Any, final: Any) -> Any:
            return _fields(state, dot, self, inner(state, dot), names, arguments, final)

        return evaluate

    def argument(self, kind: Type) -> Eval:
        inner = self.operand.argument(_UNTYPED)
        names = self.names
        return _checked(
            self,
            kind,
            lambda state, dot: _fields(state, dot, self, inner(state, dot), names, (), NO_FINAL),
        )


class Identifier(Frozen):
    """A function's name, with the function."""

    pos: int
    name: str
    function: Function

    def __str__(self) -> str:
        return self.name

    def command(self, command: Command) -> Call:
        return _call(self, command, command.words[1:])

    def argument(self, kind: Type) -> Eval:
        call = _call(self, self, ())
        return _checked(self, kind, lambda state, dot: call(state, dot, NO_FINAL))


class Command(Frozen):
    """The words between two bars of a pipeline."""

    pos: int
    words: tuple[Operand, ...]

    def __str__(self) -> str:
        return " ".join(map(_parenthesized, self.words))

    def compile(self) -> Call:
        return self.words[0].command(self)


class Pipe(Frozen):
    """Commands, each of which takes the value before it as its last argument."""

    pos: int
    commands: tuple[Command, ...]
    variables: tuple[Variable, ...] = ()
    assigns: bool = False

    def __str__(self) -> str:
        names = ""
        if self.variables:
            names = ", ".join(map(str, self.variables)) + (" = " if self.assigns else " := ")
        return names + " | ".join(map(str, self.commands))

    def command(self, command: Command) -> Call:
        return _alone(self, command, self.compile())

    def argument(self, kind: Type) -> Eval:
        return _checked(self, kind, self.compile())

    def compile(self) -> Eval:
        calls = [command.compile() for command in self.commands]
        first, rest = calls[0], calls[1:]
        variables = self.variables

        def evaluate(state: State, dot: Any) -> Any:
            state.step(self)
            value = first(state, dot, NO_FINAL)
            for call in rest:
                value = call(state, dot, MISSING if value is None else value)
            # A pipeline unpacks an interface: of null nothing is left.
            if value is None:
                value = MISSING
            for variable in variables:
                if self.assigns:
                    state.set(self, variable.name, value)
                else:
                    state.vars.append([variable.name, value])
            return value

        return evaluate


# Statements


class Text(Frozen):
    """What stands between actions."""

    pos: int
    text: str

    def compile(self) -> Run:
        text = self.text
        return lambda state, _: state.write(text)


class Action(Frozen):
    """`{{pipeline}}`: prints, unless it declares."""

    pos: int
    pipe: Pipe

    def __str__(self) -> str:
        return "{{" + str(self.pipe) + "}}"

    def compile(self) -> Run:
        evaluate = self.pipe.compile()
        silent = bool(self.pipe.variables)

        def run(state: State, dot: Any) -> None:
            value = evaluate(state, dot)
            if not silent:
                state.write(_printed(state, self, value))

        return run


class Block(Frozen):
    """A list of statements."""

    pos: int
    statements: tuple[Statement, ...]

    def compile(self) -> Run:
        runs = [statement.compile() for statement in self.statements]
        if len(runs) == 1:
            return runs[0]

        def run(state: State, dot: Any) -> None:
            for each in runs:
                each(state, dot)

        return run


class Branch(Frozen):
    """`if` and `with`; `with` moves the dot."""

    pos: int
    keyword: str
    pipe: Pipe
    then: Block
    otherwise: Block | None

    def __str__(self) -> str:
        return f"{{{{{self.keyword} {self.pipe}}}}}"

    def compile(self) -> Run:
        evaluate = self.pipe.compile()
        then = self.then.compile()
        otherwise = self.otherwise.compile() if self.otherwise else None
        moves = self.keyword == "with"

        def run(state: State, dot: Any) -> None:
            mark = len(state.vars)
            value = evaluate(state, dot)
            if truth(value):
                then(state, value if moves else dot)
            elif otherwise is not None:
                otherwise(state, dot)
            del state.vars[mark:]

        return run


class _BreakError(Exception):
    """Leaves the innermost range."""


class _ContinueError(Exception):
    """Goes on with the innermost range."""


class Jump(Frozen):
    """`{{break}}` and `{{continue}}`."""

    pos: int
    keyword: str

    def compile(self) -> Run:
        signal = _BreakError if self.keyword == "break" else _ContinueError

        def run(state: State, dot: Any) -> None:
            state.step(self)
            raise signal

        return run


class Range(Frozen):
    """`{{range $i, $e := pipe}}`: lists in order, maps by sorted keys."""

    pos: int
    pipe: Pipe
    body: Block
    otherwise: Block | None

    def __str__(self) -> str:
        return f"{{{{range {self.pipe}}}}}"

    def compile(self) -> Run:
        evaluate = self.pipe.compile()
        body = self.body.compile()
        otherwise = self.otherwise.compile() if self.otherwise else None
        declared = len(self.pipe.variables)

        def run(state: State, dot: Any) -> None:
            mark = len(state.vars)
            value = indirect(evaluate(state, dot))
            if declared > len(state.vars):
                raise state.error(self.pipe, "range assigns more variables than there are")
            inner = len(state.vars)
            for index, element in self._entries(state, value):
                state.step(self)
                # The variables on top of the stack, whichever they are: that is Go's rule.
                if declared > 0:
                    state.vars[-1][1] = element
                if declared > 1:
                    state.vars[-2][1] = index
                try:
                    body(state, element)
                except _ContinueError:
                    pass
                except _BreakError:
                    break
                finally:
                    del state.vars[inner:]
            if not truth(value) and otherwise is not None:
                otherwise(state, dot)
            del state.vars[mark:]

        return run

    def _entries(self, state: State, value: Any) -> Iterable[tuple[Any, Any]]:
        if value is MISSING:
            return ()
        if isinstance(value, list):
            return zip(map(GoInt, itertools.count()), value, strict=False)
        if isinstance(value, dict):
            # Sorting is paid for here; the turns are paid for one by one.
            state.budget.read(value)
            return [(key, value[key]) for key in sorted(value)]
        shown = "<nil>" if value is None else _short(state, value)
        raise state.error(self.pipe, f"range can't iterate over {shown}")


class TemplateCall(Frozen):
    """`{{template "name" pipe}}`; `block` is one as well."""

    pos: int
    name: str
    pipe: Pipe | None
    program: Program

    def __str__(self) -> str:
        pipe = f" {self.pipe}" if self.pipe else ""
        return f"{{{{template {quote(self.name)}{pipe}}}}}"

    def compile(self) -> Run:
        evaluate = self.pipe.compile() if self.pipe else None
        program = self.program

        def run(state: State, dot: Any) -> None:
            state.step(self)
            body = program.body(self.name)
            if body is None:
                raise state.error(self, f'template "{self.name}" not defined')
            if state.depth >= limits.TEMPLATE_DEPTH:
                reason = f"exceeded maximum template depth ({limits.TEMPLATE_DEPTH:,})"
                raise state.limit(self, reason)
            value = evaluate(state, dot) if evaluate is not None else MISSING
            caller, name = state.vars, state.name
            state.vars, state.name = [["$", value]], self.name
            state.depth += 1
            body(state, value)
            state.depth -= 1
            state.vars, state.name = caller, name

        return run


class Program:
    """All templates of one text by name, compiled when first called."""

    __slots__ = ("_compiled", "blocks")

    def __init__(self) -> None:
        self.blocks: dict[str, Block] = {}
        self._compiled: dict[str, Run] = {}

    def body(self, name: str) -> Run | None:
        """The closure of a template, or None where there is no such template."""
        if name not in self._compiled:
            if name not in self.blocks:
                return None
            self._compiled[name] = self.blocks[name].compile()
        return self._compiled[name]


# Evaluation

_UNTYPED: Final = Type("", lambda _: True, lambda: MISSING)
"""The type of what a chain of fields starts from."""


def _parenthesized(operand: Operand) -> str:
    return f"({operand})" if isinstance(operand, Pipe) else str(operand)


def _alone(node: Operand, command: Command, evaluate: Eval) -> Call:
    """A first word that takes neither arguments nor a final value."""
    extra = len(command.words) > 1

    def run(state: State, dot: Any, final: Any) -> Any:
        if extra or final is not NO_FINAL:
            shown = _parenthesized(node)
            raise state.error(command, f"can't give argument to non-function {shown}")
        return evaluate(state, dot)

    return run


def _checked(node: Operand, kind: Type, evaluate: Eval) -> Eval:
    """`evaluate`, with its value as type `kind`."""
    if kind is _UNTYPED:
        return evaluate

    def run(state: State, dot: Any) -> Any:
        value = evaluate(state, dot)
        try:
            return kind.check(value)
        except TypeMismatchError as error:
            raise state.error(node, str(error)) from None

    return run


def _fields(
    state: State,
    dot: Any,
    node: Operand,
    receiver: Any,
    names: Sequence[str],
    arguments: Sequence[Operand],
    final: Any,
) -> Any:
    """Follow names from a receiver; only the last of them may take arguments."""
    last = len(names) - 1
    for n, name in enumerate(names):
        if n < last:
            receiver = _field(state, dot, node, receiver, name, (), NO_FINAL)
        else:
            receiver = _field(state, dot, node, receiver, name, arguments, final)
    return receiver


def _field(
    state: State,
    dot: Any,
    node: Operand,
    receiver: Any,
    name: str,
    arguments: Sequence[Operand],
    final: Any,
) -> Any:
    """One field of a value. Source: exec.go evalField."""
    if receiver is MISSING:
        return MISSING
    value = indirect(receiver)
    if value is None:
        kind = "*interface {}" if type(receiver) is Pointer else "interface {}"
        raise state.error(node, f"nil pointer evaluating {kind}.{name}")
    given = bool(arguments) or final is not NO_FINAL
    if isinstance(value, dict):
        if given:
            raise state.error(node, f"{name} is not a method but has arguments")
        return value.get(name, MISSING)
    if isinstance(value, GoObject | NamedInt):
        try:
            member = _member(value, name)
        except KeyError:
            pass
        else:
            if type(member) is Function:
                return _invoke(state, dot, node, name, member, arguments, final)
            if given:
                reason = f"{name} has arguments but cannot be invoked as function"
                raise state.error(node, reason)
            return member
    raise state.error(node, f"can't evaluate field {name} in type {type_name(value)}")


def _member(value: GoObject | NamedInt, name: str) -> Any:
    """A field, or a method as a `Function`; raises KeyError where the type has neither."""
    if isinstance(value, Object):
        return value.member(name)
    from krm_fn.lang.gotemplate.times import METHODS  # few templates have a time

    return METHODS[type(value)].bound(name, value)


def _invoke(
    state: State,
    dot: Any,
    node: Operand,
    name: str,
    function: Function,
    arguments: Sequence[Operand],
    final: Any,
) -> Any:
    """Call a method, whose signature is known only now, so that it is compiled each time."""
    state.budget.spend(12)
    call = _call(Identifier(node.pos, name, function), node, arguments)
    return call(state, dot, final)


def _call(node: Identifier, command: Command | Operand, arguments: Sequence[Operand]) -> Call:
    """A function with its arguments. Source: exec.go evalCall."""
    function = node.function
    fixed, variadic = function.parameters, function.variadic
    given = len(arguments)
    wrong = f"wrong number of args for {node.name}: want "
    if variadic is None:
        wrong += f"{len(fixed)} got "
    else:
        wrong += f"at least {len(fixed)} got "
    kinds = [*fixed[:given], *([variadic or ANY] * (given - len(fixed)))]
    evaluate = [word.argument(kind) for word, kind in zip(arguments, kinds, strict=True)]
    choose = {"and": False, "or": True}.get(node.name)

    def final_type(count: int) -> Type:
        return fixed[count - 1] if count <= len(fixed) else variadic or ANY

    def run(state: State, dot: Any, final: Any) -> Any:
        state.step(command)
        count = given + (final is not NO_FINAL)
        if count < len(fixed) or (variadic is None and count > len(fixed)):
            shown = given if variadic is not None else count
            raise state.error(node, wrong + str(shown))
        if choose is not None:
            value = None
            for each in evaluate:
                value = each(state, dot)
                if truth(value) == choose:
                    return value
            return value if final is NO_FINAL else final
        values = [each(state, dot) for each in evaluate]
        if final is not NO_FINAL:
            try:
                values.append(final_type(count).check(final))
            except TypeMismatchError as error:
                raise state.error(node, str(error)) from None
        budget = state.budget
        try:
            for value in values:
                budget.read(value)
            if function.draws:
                values.insert(0, state.draws)
            if function.budget:
                values.insert(0, budget)
            result = function.call(*values)
            budget.made(result)
        except RefusedError as error:
            reason = f"error calling {node.name}: {node.name} {error}"
            raise state.error(command, reason) from None
        except (GoError, printf.UnprintableError) as error:
            raise state.error(command, f"error calling {node.name}: {error}") from None
        except LimitError as error:
            raise state.limit(command, error.message) from None
        return result

    return run


def _printed(state: State, node: Action, value: Any) -> str:
    """What an action prints. Source: exec.go printValue."""
    if type(value) is str:
        return value
    if value is MISSING:
        return "<no value>"
    try:
        return printf.sprint([indirect(value)], state.budget.output)
    except printf.UnprintableError as error:
        raise state.error(node, str(error)) from None
    except LimitError as error:
        raise state.limit(node, error.message) from None


def _short(state: State, value: Any) -> str:
    """A value in an error's text."""
    try:
        text = printf.sprint([value], state.budget.output)
    except (printf.UnprintableError, LimitError):
        return type_name(value)
    return text if len(text) <= 100 else text[:100] + "..."
