"""Infix and prefix operators: which values each takes, and in which order it tries them.

An operator may work on numbers, on strings and on anything. Strict types are tried first, then what
converts: two numbers, two strings, two values that read as numbers, two strings by force. This
order is the whole of the language's surprises (`"10" < "9"` compares strings, `"10" == "10.0"`
numbers).
This module knows nodes only to compile a right-hand side, and no paths.
Source: ModRule specification, sections 1.4 to 1.6.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, Final, NamedTuple

from krm_fn.errors import CompileError, EvaluationError
from krm_fn.lang.go.regexp import compile_regex
from krm_fn.lang.select.arithmetic import (
    bits,
    divide,
    power,
    remainder,
    shift_left,
    shift_right,
)
from krm_fn.lang.select.nodes import Array, Constant, Node
from krm_fn.lang.select.run import Closure, Run, deep_equal, text_of
from krm_fn.lang.select.values import to_float, to_int64, type_name

Step = Callable[[Any, Run, Any], Any]
"""What follows a left-hand value: (that value, run, what `@` stands for) -> value."""

Textual = Callable[[str, str], Any]


class Infix(NamedTuple):
    """An infix operator: `step` compiles its right-hand side; a higher precedence binds tighter."""

    precedence: int
    step: Callable[[Node], Step]


class Binary(Node):
    """`left operator right`."""

    operator: str
    left: Node
    right: Node

    def compile(self) -> Closure:
        """A chain such as `a && b && c` leans to the left as far as it is long: it is walked."""
        steps: list[Step] = []
        node: Node = self
        while type(node) is Binary:
            steps.append(INFIX[node.operator].step(node.right))
            node = node.left
        steps.reverse()
        first = node.compile()
        if len(steps) == 1:
            step = steps[0]
            return lambda run, current: step(first(run, current), run, current)

        def chain(run: Run, current: Any) -> Any:
            value = first(run, current)
            for step in steps:
                value = step(value, run, current)
            return value

        return chain


class Prefix(Node):
    """`-a`, `!a`, `~a`."""

    operator: str
    operand: Node

    def compile(self) -> Closure:
        apply, operand = PREFIX[self.operator], self.operand.compile()
        return lambda run, current: apply(operand(run, current))


def _negated(value: Any) -> float:
    return -_number(value, "-")


def _inverted(value: Any) -> float:
    return float(~to_int64(_number(value, "~")))


def _not(value: Any) -> bool:
    if type(value) is not bool:
        raise EvaluationError(f"! takes a boolean, not a {type_name(value)}")
    return not value


def _number(value: Any, name: str) -> float:
    number = to_float(value)
    if number is None:
        raise EvaluationError(f"{name} takes a number, not a {type_name(value)}")
    return number


PREFIX: Final[dict[str, Callable[[Any], Any]]] = {"-": _negated, "!": _not, "~": _inverted}


# --- operators on numbers and texts ---------------------------------------------------------------


def _numeric(
    name: str,
    precedence: int,
    numeric: Callable[[float, float], Any],
    textual: Textual | None = None,
) -> Infix:
    """An operator on numbers and perhaps on strings, which everything but null can become."""

    def step(right: Node) -> Step:
        closure = right.compile()

        def apply(left: Any, run: Run, current: Any) -> Any:
            right = closure(run, current)
            if type(left) is float and type(right) is float:
                return numeric(left, right)
            if textual and type(left) is str and type(right) is str:
                run.spend_text(len(left) + len(right))
                return textual(left, right)
            a, b = _float_of(run, left), _float_of(run, right)
            if a is not None and b is not None:
                return numeric(a, b)
            if textual and left is not None and right is not None:
                left, right = text_of(run, left), text_of(run, right)
                run.spend_text(len(left) + len(right))
                return textual(left, right)
            raise EvaluationError(
                f"invalid operation ({type_name(left)}) {name} ({type_name(right)})"
            )

        return apply

    return Infix(precedence, step)


def _float_of(run: Run, value: Any) -> float | None:
    if type(value) is str:
        run.spend_text(len(value))
    return to_float(value)


# --- equality ------------------------------------------------------------------------------------


def _equality(positive: bool) -> Infix:
    """`==` or `!=`: as numbers if both sides read as numbers, else Go's deep equality."""

    def step(right: Node) -> Step:
        if type(right) is Constant:
            return _equal_to_constant(right.value, positive)
        closure = right.compile()

        def apply(left: Any, run: Run, current: Any) -> bool:
            right = closure(run, current)
            a, b = _float_of(run, left), _float_of(run, right)
            if a is not None and b is not None:
                return (a == b) is positive
            return deep_equal(run, left, right) is positive

        return apply

    return Infix(40, step)


def _equal_to_constant(constant: Any, positive: bool) -> Step:
    number = to_float(constant)
    if type(constant) is bool:
        return lambda left, run, current: (left is constant) is positive
    if number is None:  # a text that is no number equals only itself
        return lambda left, run, current: bool(left == constant) is positive
    return lambda left, run, current: (_float_of(run, left) == number) is positive


# --- the others ----------------------------------------------------------------------------------


def _regex(positive: bool) -> Infix:
    """`=~` or `!~`: whether the right-hand text, a regular expression, matches in the left one."""

    def step(right: Node) -> Step:
        closure = right.compile()

        def apply(left: Any, run: Run, current: Any) -> bool:
            text = text_of(run, left)
            pattern = text_of(run, closure(run, current))
            run.spend(1)
            run.spend_text(len(text) + len(pattern))
            return _search(pattern, text) is positive

        return apply

    return Infix(40, step)


def _search(pattern: str, text: str) -> bool:
    try:
        return compile_regex(pattern).search(text)
    except CompileError as error:
        raise EvaluationError(error.message) from None
    except UnicodeError:
        raise EvaluationError("a text that is no UTF-8 cannot be matched") from None


def _in(right: Node) -> Step:
    if type(right) is Array and all(
        type(element) is Constant and type(element.value) is str for element in right.elements
    ):
        texts = frozenset(element.value for element in right.elements)  # type: ignore[attr-defined]
        return lambda left, run, current: type(left) is str and left in texts
    closure = right.compile()

    def apply(left: Any, run: Run, current: Any) -> bool:
        right = closure(run, current)
        if type(right) is not list:
            raise EvaluationError(f"in takes a list on its right, not a {type_name(right)}")
        run.spend(len(right))
        return any(deep_equal(run, left, element) for element in right)

    return apply


def _logical(name: str, decisive: bool) -> Infix:
    """`&&` or `||`: the right side is looked at unless the left one decides; both are booleans."""

    def step(right: Node) -> Step:
        closure = right.compile()

        def apply(left: Any, run: Run, current: Any) -> Any:
            if left is decisive:
                return left
            right = closure(run, current)
            for value in (left, right):
                if type(value) is not bool:
                    raise EvaluationError(f"{name} takes booleans, not a {type_name(value)}")
            return right

        return apply

    return Infix(21 if name == "&&" else 20, step)


def _coalesce(right: Node) -> Step:
    closure = right.compile()

    def apply(left: Any, run: Run, current: Any) -> Any:
        return closure(run, current) if left is False or left is None else left

    return apply


INFIX: Final[dict[str, Infix]] = {
    "**": _numeric("**", 200, power),
    "*": _numeric("*", 150, operator.mul),
    "/": _numeric("/", 150, divide),
    "%": _numeric("%", 150, remainder),
    "+": _numeric("+", 120, operator.add, operator.add),
    "-": _numeric("-", 120, operator.sub),
    "<<": _numeric("<<", 90, shift_left),
    ">>": _numeric(">>", 90, shift_right),
    "&": _numeric("&", 60, bits(operator.and_)),
    "|": _numeric("|", 60, bits(operator.or_)),
    "^": _numeric("^", 60, bits(operator.xor)),
    "==": _equality(True),
    "!=": _equality(False),
    ">": _numeric(">", 40, operator.gt, operator.gt),
    ">=": _numeric(">=", 40, operator.ge, operator.ge),
    "<": _numeric("<", 40, operator.lt, operator.lt),
    "<=": _numeric("<=", 40, operator.le, operator.le),
    "=~": _regex(True),
    "!~": _regex(False),
    "in": Infix(40, _in),
    "&&": _logical("&&", decisive=False),
    "||": _logical("||", decisive=True),
    "??": Infix(0, _coalesce),
}
