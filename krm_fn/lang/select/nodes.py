"""The syntax tree of an expression but for its paths: small frozen classes that compile themselves.

`Node.compile` returns a closure, so that a rule's expression is read once and evaluated on every
object without looking at the tree again. Constants are seen while compiling and make the common
comparisons cheap. This module knows no text and no positions beyond the one a node carries for
messages.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from krm_fn.errors import EvaluationError
from krm_fn.lang.go.strconv import parse_int
from krm_fn.lang.select.captures import Trail, key_text
from krm_fn.lang.select.functions import FUNCTIONS, Function
from krm_fn.lang.select.run import Closure, Run, text_of
from krm_fn.lang.select.tree import Syntax


class Node(Syntax):
    """An expression."""

    def compile(self) -> Closure:
        """The closure that evaluates this expression."""
        raise NotImplementedError


class Constant(Node):
    """A number, a string or a truth value as written."""

    value: Any

    def compile(self) -> Closure:
        value = self.value
        return lambda run, current: value


class Array(Node):
    """`[a, b]`: a list; undefined elements stay in it."""

    elements: tuple[Node, ...]

    def compile(self) -> Closure:
        closures = [element.compile() for element in self.elements]

        def array(run: Run, current: Any) -> list[Any]:
            run.spend(len(closures))
            return [closure(run, current) for closure in closures]

        return array


Named = list[tuple[str, Any]]
"""Members of an object that is made: names and values."""


class Member(Syntax):
    """One or more members of an object, named by an expression."""

    key: Node

    def compile(self) -> Callable[[Run, Any], Named]:
        """The closure that makes the members."""
        raise NotImplementedError


class SingleMember(Member):
    """One `key: value` of an object."""

    value: Node

    def compile(self) -> Callable[[Run, Any], Named]:
        key, value = self.key.compile(), self.value.compile()

        def member(run: Run, current: Any) -> Named:
            item = value(run, current)
            return [(text_of(run, key(run, current)), item)]

        return member


class Object(Node):
    """`{key: value, #: path}`: a map; keys are expressions whose text is taken."""

    members: tuple[Member, ...]

    def compile(self) -> Closure:
        closures = [member.compile() for member in self.members]

        def make(run: Run, current: Any) -> dict[str, Any]:
            run.spend(len(closures))
            return {name: item for closure in closures for name, item in closure(run, current)}

        return make


class Variable(Node):
    """`kind`, `metadata.name`, `items[0]`: a look-up from the root in which nothing is undefined.

    A missing member is null, an index out of range leaves the list itself, and anything else that
    cannot be entered is an error. So `null` is null by being the name of nothing.
    """

    keys: tuple[Node, ...]

    def compile(self) -> Closure:
        closures = [key.compile() for key in self.keys]

        def variable(run: Run, current: Any) -> Any:
            names = [text_of(run, closure(run, current)) for closure in closures]
            value = run.root
            for count, name in enumerate(names, start=1):
                if type(value) is dict:
                    value = value.get(name)
                elif type(value) is list:
                    index = parse_int(name)
                    if index is not None and 0 <= index < len(value):
                        value = value[index]
                else:
                    raise EvaluationError(f"unknown parameter {'.'.join(names[:count])}")
            return value

        return variable


class UnknownCall(Node):
    """A call of a name that is no function, which fails when it is evaluated, not before."""

    name: str

    def compile(self) -> Closure:
        name = self.name

        def unknown(run: Run, current: Any) -> Any:
            raise EvaluationError(f"there is no function {name}; known are {', '.join(FUNCTIONS)}")

        return unknown


class Call(Node):
    """A call of one of the language's functions, whose arguments are evaluated, then counted."""

    name: str
    arguments: tuple[Node, ...]

    def compile(self) -> Closure:
        function: Function = FUNCTIONS[self.name]
        name = self.name
        closures = [argument.compile() for argument in self.arguments]
        if len(closures) == 1:
            argument = closures[0]
            return lambda run, current: function(argument(run, current))

        def wrong_count(run: Run, current: Any) -> Any:
            for closure in closures:
                closure(run, current)
            raise EvaluationError(f"{name}() takes exactly one argument, not {len(closures)}")

        return wrong_count


class Conditional(Node):
    """`condition ? then : otherwise`, where only false and null are not true."""

    condition: Node
    then: Node
    otherwise: Node

    def compile(self) -> Closure:
        condition = self.condition.compile()
        then, otherwise = self.then.compile(), self.otherwise.compile()

        def conditional(run: Run, current: Any) -> Any:
            test = condition(run, current)
            chosen = otherwise if test is False or test is None else then
            return chosen(run, current)

        return conditional


class Placeholder(Node):
    """`#0`, the key that the first ambiguous selector captured, or `#`, all of them as one text."""

    index: int | None

    def compile(self) -> Closure:
        index = self.index
        if index is None:
            return lambda run, current: key_text(run.captured)

        def placeholder(run: Run, current: Any) -> Any:
            if index >= len(run.captured):
                raise EvaluationError(f"the placeholder #{index} stands for no captured key")
            captured = run.captured[index]
            return captured.keys() if type(captured) is Trail else str(captured)

        return placeholder
