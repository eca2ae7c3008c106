"""Expressions of policy groups: members as calls, joined by logic. A part of Rhai.

Booleans, whole numbers of 64 bits, texts; `! && || & | ^ == != < <= > >= + - * / %`, parentheses,
`if a() { b() } else { c() }`, comments. The result must be a boolean. Knows no policy.
Source: rhai's eval_expression as the policy server configures it; vectors' README, 52, 53.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final

from krm_fn import limits
from krm_fn.dialects.kubewarden.faults import Fault, FaultKind

Member = Callable[[str], bool]
"""Runs a member by its name."""
Node = Callable[[Member], Any]

_TOKEN: Final = re.compile(
    r"(?P<space>\s+|//[^\n]*)|(?P<number>[0-9][0-9_]*)|(?P<name>[A-Za-z_][A-Za-z0-9_]*)"
    r'|(?P<text>"(?:[^"\\\n]|\\.)*"|`[^`$]*`)'
    r"|(?P<sign>&&|\|\||==|!=|<=|>=|[-+*/%!<>&|^(){},;.?:=#@\[\]~$])"
)
_RESERVED: Final = frozenset(
    (
        "let", "const", "while", "loop", "for", "in", "do", "until", "fn", "return", "throw", "try",
        "catch", "import", "export", "as", "switch", "break", "continue", "this", "private",
        "global", "else", "and", "or", "not", "var", "static", "async", "await", "yield", "match",
    )
)  # fmt: skip
_LEVELS: Final = (
    ("||", "|", "^"),
    ("&&", "&"),
    ("==", "!="),
    ("<", "<=", ">", ">="),
    ("+", "-"),
    ("*", "/", "%"),
)


class Expression:
    """A parsed expression. Raises Fault (BAD_EXPRESSION) for one that cannot be evaluated.

    As upstream does, it is tried once with every member answering true.
    """

    def __init__(self, source: str, members: frozenset[str]) -> None:
        self._members = members
        if len(source) > limits.CEL_SOURCE:
            raise _bad(f"longer than {limits.CEL_SOURCE:,} characters")
        with limits.deep_stack():
            self._node = _Parser(source).parse()
            self.evaluate(lambda name: True)

    def evaluate(self, member: Member) -> bool:
        """The value, running members as they are needed. Raises Fault."""

        def call(name: str) -> bool:
            if name not in self._members:
                raise _bad(f"Function not found: {name} ()")
            return member(name)

        result = self._node(call)
        if type(result) is not bool:
            raise _bad(f"Output type incorrect: {_kind(result)} (expecting bool)")
        return result


class _Parser:
    def __init__(self, source: str) -> None:
        self._tokens = list(_tokens(_without_comments(source)))
        self._at = 0
        self._depth = 0

    def parse(self) -> Node:
        node = self._expression()
        if self._at < len(self._tokens):
            raise _bad(f"Syntax error: Unexpected '{self._tokens[self._at][1]}'")
        return node

    def _peek(self) -> str:
        return self._tokens[self._at][1] if self._at < len(self._tokens) else ""

    def _kind(self) -> str:
        return self._tokens[self._at][0] if self._at < len(self._tokens) else ""

    def _next(self) -> tuple[str, str]:
        if self._at >= len(self._tokens):
            raise _bad("Syntax error: Script is incomplete")
        self._at += 1
        return self._tokens[self._at - 1]

    def _expect(self, sign: str) -> None:
        _, found = self._next()
        if found != sign:
            raise _bad(f"Syntax error: Expecting '{sign}', not '{found}'")

    def _expression(self, level: int = 0) -> Node:
        if level == len(_LEVELS):
            return self._unary()
        left = self._expression(level + 1)
        while self._kind() == "sign" and self._peek() in _LEVELS[level]:
            left = _binary(self._next()[1], left, self._expression(level + 1))
        return left

    def _unary(self) -> Node:
        self._depth += 1
        if self._depth > limits.EXPRESSION_NESTING:
            raise _bad(f"nested deeper than {limits.EXPRESSION_NESTING} levels")
        try:
            if self._kind() == "sign" and self._peek() == "!":
                self._next()
                inner = self._unary()
                return lambda call: not _boolean(inner(call), "!")
            if self._kind() == "sign" and self._peek() in ("-", "+"):
                sign = self._next()[1]
                operand = self._unary()
                return lambda call: _arithmetic(sign, 0, operand(call))
            return self._primary()
        finally:
            self._depth -= 1

    def _primary(self) -> Node:
        kind, word = self._next()
        if kind == "number":
            number = int(word.replace("_", "")[:20])
            if number >= 2**63:
                raise _bad(f"Syntax error: Malformed number: {word}")
            return lambda call: number
        if kind == "text":
            text = word[1:-1]
            return lambda call: text
        if word == "(":
            inner = self._expression()
            self._expect(")")
            return inner
        if word in ("true", "false"):
            return lambda call: word == "true"
        if word == "if":
            return self._choice()
        if kind != "name" or word in _RESERVED:
            raise _bad(f"Syntax error: Unexpected '{word}'")
        if self._peek() != "(":
            raise _bad(f"Variable not found: {word}")
        self._next()
        if self._peek() != ")":
            raise _bad(f"Function not found: {word}: members take no arguments")
        self._next()
        return lambda call: call(word)

    def _choice(self) -> Node:
        condition = self._expression()
        first = self._block()
        second: Node | None = None
        if self._peek() == "else":
            self._next()
            if self._peek() == "if":
                self._next()
                second = self._choice()
            else:
                second = self._block()

        def choose(call: Member) -> Any:
            if _boolean(condition(call), "if"):
                return first(call)
            return second(call) if second is not None else None

        return choose

    def _block(self) -> Node:
        self._expect("{")
        if self._peek() == "}":
            self._next()
            return lambda call: None
        node = self._expression()
        self._expect("}")
        return node


def _without_comments(source: str) -> str:
    """The text without block comments, which nest."""
    kept: list[str] = []
    depth = 0
    for piece in re.split(r'(/\*|\*/|"(?:[^"\\\n]|\\.)*"|//[^\n]*)', source):
        if piece == "/*":
            depth += 1
        elif piece == "*/" and depth:
            depth -= 1
        elif not depth:
            kept.append(piece)
    return " ".join(kept) if "/*" in source else source


def _tokens(source: str) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    at = 0
    while at < len(source):
        match = _TOKEN.match(source, at)
        if match is None:
            raise _bad(f"Syntax error: Unexpected '{source[at]}'")
        if match.lastgroup != "space":
            found.append((str(match.lastgroup), match.group()))
        at = match.end()
    return found


_ORDERINGS: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "<": lambda a, b: bool(a < b),
    "<=": lambda a, b: bool(a <= b),
    ">": lambda a, b: bool(a > b),
    ">=": lambda a, b: bool(a >= b),
}


def _binary(sign: str, left: Node, right: Node) -> Node:
    if sign == "&&":
        return lambda call: _boolean(left(call), sign) and _boolean(right(call), sign)
    if sign == "||":
        return lambda call: _boolean(left(call), sign) or _boolean(right(call), sign)

    def apply(call: Member) -> Any:
        a, b = left(call), right(call)
        if type(a) is not type(b):
            if sign in ("==", "!="):
                return sign == "!="
            raise _bad(f"Function not found: {sign} ({_kind(a)}, {_kind(b)})")
        if sign in ("==", "!="):
            return (a == b) == (sign == "==")
        if sign in _ORDERINGS and a is not None:
            return _ORDERINGS[sign](a, b)
        if type(a) in (bool, int) and sign in ("&", "|", "^"):
            return {"&": a & b, "|": a | b, "^": a ^ b}[sign]
        if sign == "+" and type(a) is str:
            return a + b
        return _arithmetic(sign, a, b)

    return apply


def _arithmetic(sign: str, a: Any, b: Any) -> int:
    """A whole number of 64 bits; division rounds towards zero."""
    if type(a) is not int or type(b) is not int or sign not in "+-*/%":
        raise _bad(f"Function not found: {sign} ({_kind(a)}, {_kind(b)})")
    if sign in "/%" and b == 0:
        raise _bad("Division by zero")
    quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1) if b else 0
    result = {"+": a + b, "-": a - b, "*": a * b, "/": quotient, "%": a - quotient * b}[sign]
    if not -(2**63) <= result < 2**63:
        raise _bad(f"{sign} overflows 64 bits")
    return result


def _boolean(value: Any, sign: str) -> bool:
    if type(value) is not bool:
        raise _bad(f"Data type incorrect: {_kind(value)} (expecting bool) at {sign}")
    return value


def _kind(value: Any) -> str:
    return {bool: "bool", int: "i64", str: "string"}.get(type(value), "()")


def _bad(message: str) -> Fault:
    return Fault(FaultKind.BAD_EXPRESSION, message)
