"""The expressions of a resources policy: `max(cpu*50%, 100m)`.

Numbers are float64 and quantities are Kubernetes'; an operation goes through thousandths in 64
bits. A fault does not stop the evaluation, and of several the last one is told, as upstream's
parser does it. Knows no container.
Source: OpenKruise v1.9.0 pkg/util/calculator; the SidecarSet specification, A13.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

from krm_fn import limits
from krm_fn.errors import EvaluationError, LimitError
from krm_fn.kube.quantity import DECIMAL, Quantity, QuantityError, parse
from krm_fn.lang.go.strconv import format_float

Value = float | Quantity

_UNITS: Final = frozenset(("m", "k", "M", "G", "T", "P", "Ki", "Mi", "Gi", "Ti", "Pi"))
_NUMBER: Final = "number"
_QUANTITY: Final = "quantity"
_NAME: Final = "name"
_END: Final = ""
_MILLI: Final = -3
_INT64: Final = 2**63


def evaluate(text: str, variable: str, value: Value) -> Value:
    """The value of an expression in which one variable is known.

    Raises EvaluationError with Kruise's text, and LimitError where it is too long or too deep.
    """
    if len(text) > limits.RESOURCE_EXPRESSION:
        raise LimitError(f"an expression of more than {limits.RESOURCE_EXPRESSION:,} characters")
    with limits.deep_stack():
        result = _Parser(text, variable, value).run()
    negative = result.number < 0 if isinstance(result, Quantity) else result < 0
    if negative:
        shown = str(result) if isinstance(result, Quantity) else format_float(result)
        raise EvaluationError(f"calculation result is negative: {shown}")
    return result


def as_quantity(value: Value) -> Quantity:
    """A number in thousandths, cut off as Go's conversion to int64 does."""
    if isinstance(value, Quantity):
        return value
    return Quantity(_int64(value * 1000), _MILLI, DECIMAL)


def _int64(number: float) -> int:
    """int64(number) on amd64: what does not fit is the smallest number of all."""
    if not math.isfinite(number) or not -_INT64 <= int(number) < _INT64:
        return -_INT64
    return int(number)


class _Token(NamedTuple):
    kind: str
    text: str


class _Lexer:
    """Tokens, byte by byte: upstream takes each byte for a character."""

    def __init__(self, text: str) -> None:
        self.text = text.encode("utf-8", "surrogatepass").decode("latin-1")
        self.at = 0
        self.line = 1
        self.column = 1

    def _peek(self) -> str:
        char = self.text[self.at : self.at + 1]
        return "" if char == "\0" else char

    def _skip(self) -> None:
        if self.text[self.at] == "\n":
            self.line += 1
            self.column = 1
        else:
            self.column += 1
        self.at += 1

    def next(self) -> _Token:
        while self._peek() and self._peek() in " \t\n\v\f\r\x85\xa0":
            self._skip()
        char = self._peek()
        start = self.at
        if not char:
            if self.at < len(self.text):
                self._skip()
            return _Token(_END, "")
        if char == "." or char in "0123456789":
            self._number()
            text = self.text[start : self.at]
            return _Token(_QUANTITY if _is_quantity(text) else _NUMBER, text)
        if char.isalpha():
            while self._peek() and (self._peek().isalpha() or self._peek() in "0123456789_"):
                self._skip()
            return _Token(_NAME, self.text[start : self.at])
        self._skip()
        return _Token(char, char)

    def _number(self) -> None:
        """Digits, a point, an exponent, then a percent sign or letters."""
        dot = exponent = signed = False
        while char := self._peek():
            if char in "0123456789":
                signed = False
            elif char == ".":
                if dot or exponent:
                    return
                dot = True
            elif char in "eE":
                if exponent:
                    return
                exponent = signed = True
            elif char in "+-":
                if not signed:
                    return
                signed = False
            elif char == "%":
                self._skip()
                return
            else:
                while not signed and self._peek() and self._peek().isalpha():
                    self._skip()
                return
            self._skip()


def _is_quantity(text: str) -> bool:
    """A number with a unit behind it; one with any other letters is a number that fails."""
    for n, char in enumerate(text):
        if char not in "0123456789.eE+-":
            return n > 0 and text[n:] in _UNITS
    return False


class _Parser:
    """Evaluates as it reads. None is the value of what failed; `fault` is the last failure."""

    def __init__(self, text: str, variable: str, value: Value) -> None:
        self.lexer = _Lexer(text)
        self.variable = variable
        self.value = value
        self.fault = ""
        self.depth = 0
        self.token = self.lexer.next()

    def run(self) -> Value:
        try:
            result = self.sum()
            self.expect(_END)
        except _SyntaxError:
            result = None
            if not self.fault:
                place = f"line {self.lexer.line}, col {self.lexer.column}"
                self.fault = f"parse error: syntax error at {place}"
        if result is None:
            raise EvaluationError(self.fault)
        return result

    def advance(self) -> _Token:
        token = self.token
        self.token = self.lexer.next()
        return token

    def expect(self, kind: str) -> None:
        if self.token.kind != kind:
            raise _SyntaxError
        if kind:
            self.advance()

    def fail(self, fault: str) -> Value | None:
        """Note a failure; its value."""
        self.fault = fault
        return None

    def sum(self) -> Value | None:
        left = self.product()
        while self.token.kind in ("+", "-"):
            operator = self.advance().kind
            right = self.product()
            left = None if left is None or right is None else _added(left, right, operator)
        return left

    def product(self) -> Value | None:
        left = self.factor()
        while self.token.kind in ("*", "/"):
            operator = self.advance().kind
            right = self.factor()
            if left is None or right is None:
                left = None
            else:
                left = self.times(left, right) if operator == "*" else self.over(left, right)
        return left

    def factor(self) -> Value | None:
        self.depth += 1
        if self.depth > limits.EXPRESSION_NESTING:
            raise LimitError(f"an expression nests deeper than {limits.EXPRESSION_NESTING}")
        try:
            return self._factor()
        finally:
            self.depth -= 1

    def _factor(self) -> Value | None:
        token = self.token
        if token.kind == _NUMBER:
            self.advance()
            return _float(token.text)
        if token.kind == _QUANTITY:
            self.advance()
            try:
                return parse(token.text)
            except QuantityError as error:
                return self.fail(error.message)
        if token.kind == "-":
            self.advance()
            value = self.factor()
            return None if value is None else _negated(value)
        if token.kind == "(":
            self.advance()
            value = self.sum()
            self.expect(")")
            return value
        if token.kind != _NAME:
            raise _SyntaxError
        self.advance()
        if self.token.kind == "(":
            return self.call(token.text)
        name = _lower(token.text)
        if name != self.variable:
            return self.fail(f"undefined variable: {name}")
        return self.value

    def call(self, name: str) -> Value | None:
        self.advance()
        arguments = [self.sum()]
        if self.token.kind == ",":
            self.advance()
            arguments.append(self.sum())
        self.expect(")")
        function = _lower(name)
        if function not in ("max", "min"):
            shown = name.encode("latin-1").decode("utf-8", "replace")
            return self.fail(f"unknown function: {shown}")
        if len(arguments) != 2:
            return self.fail(f"{function} function requires exactly 2 arguments, got 1")
        left, right = arguments
        if left is None or right is None:
            return None
        if isinstance(left, Quantity) or isinstance(right, Quantity):
            a, b = as_quantity(left), as_quantity(right)
            first = not (b.is_more_than(a) if function == "max" else a.is_more_than(b))
            return a if first else b
        return max(left, right) if function == "max" else min(left, right)

    def times(self, left: Value, right: Value) -> Value | None:
        if isinstance(left, Quantity):
            if isinstance(right, Quantity):
                return self.fail("multiplication of two quantities")
            return _scaled(left, float(_milli(left)) * right)
        if isinstance(right, Quantity):
            return _scaled(right, float(_milli(right)) * left)
        return left * right

    def over(self, left: Value, right: Value) -> Value | None:
        if isinstance(right, Quantity):
            return self.fail("division by quantity")
        if right == 0:
            return self.fail("division by zero")
        if isinstance(left, Quantity):
            return _scaled(left, float(_milli(left)) / right)
        return left / right


class _SyntaxError(Exception):
    """The token at hand cannot stand here."""


def _lower(name: str) -> str:
    """In lower case; what is no UTF-8 is U+FFFD, as strings.ToLower has it."""
    return name.encode("latin-1").decode("utf-8", "replace").lower()


def _float(text: str) -> float:
    """A number, 50% is 0.5; upstream takes what it cannot read for zero."""
    percent = text.endswith("%")
    digits = text.removesuffix("%")
    if any(char not in "0123456789.eE+-" for char in digits):
        return 0.0
    try:
        number = float(digits)
    except ValueError:
        return 0.0
    return number / 100 if percent else number


def _added(left: Value, right: Value, operator: str) -> Value:
    if isinstance(left, Quantity) or isinstance(right, Quantity):
        other = as_quantity(right)
        return as_quantity(left).plus(other if operator == "+" else _minus(other))
    return left + right if operator == "+" else left - right


def _negated(value: Value) -> Value:
    return _minus(value) if isinstance(value, Quantity) else -value


def _minus(quantity: Quantity) -> Quantity:
    return quantity._replace(number=-quantity.number, text="")


def _milli(quantity: Quantity) -> int:
    """The quantity in thousandths, rounded up; zero where 64 bits do not hold them."""
    scale = quantity.scale - _MILLI
    if scale >= 0:
        number: int = quantity.number * 10**scale
    else:
        unit: int = 10**-scale
        number = -(-quantity.number // unit)
    return number if -_INT64 <= number < _INT64 else 0


def _scaled(quantity: Quantity, milli: float) -> Quantity:
    return Quantity(_int64(milli), _MILLI, quantity.format)
