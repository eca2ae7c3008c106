"""Tokens to a tree, with macros expanded.

A mistake of grammar ends the parse (its text is this project's own: cel-go's lists ANTLR tokens);
any other mistake (a reserved word, a number out of range, a bad macro argument) is reported in
cel-go's words and the parse goes on.
Source: cel-go v0.29, parser/gen/CEL.g4, parser/parser.go, parser/helper.go.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from krm_fn import limits
from krm_fn.errors import CompileError
from krm_fn.lang.cel.ast import (
    Call,
    Entry,
    Ident,
    ListExpr,
    Literal,
    MapExpr,
    Node,
    Select,
    StructExpr,
)
from krm_fn.lang.cel.lexer import (
    BAD,
    BYTES,
    EOF,
    ESCAPED,
    FLOAT,
    IDENT,
    INT,
    KEYWORDS,
    STRING,
    UINT,
    LiteralError,
    Token,
    read_bytes,
    read_string,
    tokens,
)
from krm_fn.lang.cel.source import NO_POSITION, Issues, Source
from krm_fn.lang.cel.values import UInt

Macro = Callable[[Call], Node]
"""From the call as written to its expansion; raises MacroError."""

Macros = Mapping[tuple[str, int, bool], Macro]
"""By name, number of arguments, and whether there is a target."""

RESERVED: Final = frozenset(
    """as break const continue else for function if import let loop package namespace return var
    void while""".split()  # noqa: SIM905
)


def is_identifier(text: str) -> bool:
    """Whether a string can name a variable."""
    return text.isascii() and text.isidentifier() and text not in RESERVED and text not in KEYWORDS


_INFINITY: Final = float("inf")
_RELATIONS: Final = frozenset({"<", "<=", ">=", ">", "==", "!=", "in"})


class MacroError(Exception):
    """A macro whose arguments are not what it takes; `node` is the offending one."""

    def __init__(self, node: Node, message: str) -> None:
        super().__init__(message)
        self.node = node


class _SyntaxError(Exception):
    """The text is no expression; ends the parse."""


class _DepthError(Exception):
    """The text nests too deeply; ends the parse."""


def parse(source: Source, macros: Macros) -> Node:
    """The tree of an expression; raises CompileError with all that is wrong with it."""
    issues = Issues(source)
    size = len(source.text)
    if size > limits.CEL_SOURCE:
        issues.report(
            NO_POSITION,
            f"expression code point size exceeds limit: size: {size}, limit {limits.CEL_SOURCE}",
        )
        raise CompileError(issues.text())
    parser = _Parser(source, macros, issues)
    try:
        with limits.deep_stack():
            tree = parser.start()
    except (_SyntaxError, _DepthError):
        tree = None
    if issues or tree is None:
        raise CompileError(issues.text())
    return tree


class _Parser:
    """Recursive descent; one instance a string."""

    def __init__(self, source: Source, macros: Macros, issues: Issues) -> None:
        self._tokens = tokens(source.text)
        self._at = 0
        self._macros = macros
        self._issues = issues
        self._nesting = 0
        self._depth = 0

    # Tokens

    def _peek(self) -> str:
        return self._tokens[self._at].kind

    def _next(self) -> Token:
        token = self._tokens[self._at]
        if token.kind == BAD:
            raise self._unexpected()
        self._at += 1
        return token

    def _accept(self, kind: str) -> Token | None:
        return self._next() if self._peek() == kind else None

    def _expect(self, kind: str) -> Token:
        if self._peek() != kind:
            raise self._unexpected(kind)
        return self._next()

    def _unexpected(self, wanted: str = "") -> _SyntaxError:
        token = self._tokens[self._at]
        if token.kind == BAD:
            message = f"token recognition error at: '{token.text}'"
        else:
            text = "<EOF>" if token.kind == EOF else token.text
            message = f"mismatched input '{text}'"
            if wanted:
                shown = wanted.upper() if wanted == IDENT else f"'{wanted}'"
                message += f" expecting {'<EOF>' if wanted == EOF else shown}"
        self._issues.report(token.pos, f"Syntax error: {message}")
        return _SyntaxError()

    # Depth

    def _deeper(self, by: int) -> None:
        self._depth += by
        if self._depth > limits.CEL_DEPTH:
            self._issues.report(NO_POSITION, "max recursion depth exceeded")
            raise _DepthError

    # Grammar

    def start(self) -> Node:
        """The whole text as one expression."""
        tree = self._expr()
        self._expect(EOF)
        return tree

    def _expr(self) -> Node:
        self._nesting += 1
        if self._nesting > limits.CEL_DEPTH:
            self._issues.report(
                NO_POSITION, f"expression recursion limit exceeded: {limits.CEL_DEPTH}"
            )
            raise _DepthError
        tree = self._logic("||", "_||_", self._and)
        question = self._accept("?")
        if question is not None:
            self._deeper(1)
            yes = self._logic("||", "_||_", self._and)
            self._expect(":")
            no = self._expr()
            tree = Call(question.pos, "_?_:_", (tree, yes, no))
            self._depth -= 1
        self._nesting -= 1
        return tree

    def _and(self) -> Node:
        return self._logic("&&", "_&&_", self._relation)

    def _logic(self, symbol: str, function: str, operand: Callable[[], Node]) -> Node:
        first = operand()
        if self._peek() != symbol:
            return first
        terms, places = [first], []
        while (token := self._accept(symbol)) is not None:
            places.append(token.pos)
            terms.append(operand())
        return _balanced(function, terms, places, 0, len(places) - 1)

    def _relation(self) -> Node:
        tree = self._sum()
        deep = 0
        while self._peek() in _RELATIONS:
            token = self._next()
            self._deeper(1)
            deep += 1
            name = "@in" if token.kind == "in" else f"_{token.kind}_"
            tree = Call(token.pos, name, (tree, self._sum()))
        self._depth -= deep
        return tree

    def _sum(self) -> Node:
        return self._calc(("+", "-"), self._product)

    def _product(self) -> Node:
        return self._calc(("*", "/", "%"), self._unary)

    def _calc(self, symbols: tuple[str, ...], operand: Callable[[], Node]) -> Node:
        tree = operand()
        deep = 0
        while self._peek() in symbols:
            token = self._next()
            self._deeper(1)
            deep += 1
            tree = Call(token.pos, f"_{token.kind}_", (tree, operand()))
        self._depth -= deep
        return tree

    def _unary(self) -> Node:
        kind = self._peek()
        if kind not in ("!", "-"):
            return self._member()
        first = self._next()
        count = 1
        while self._accept(kind) is not None:
            count += 1
        if kind == "-" and count == 1 and self._peek() in (INT, FLOAT):
            return self._suffixes(self._number(first))
        target = self._member()
        if count % 2 == 0:
            return target
        return Call(first.pos, "!_" if kind == "!" else "-_", (target,))

    def _member(self) -> Node:
        return self._suffixes(self._primary())

    def _suffixes(self, tree: Node) -> Node:
        deep = 0
        while True:
            token = self._accept(".") or self._accept("[")
            if token is None:
                self._depth -= deep
                return tree
            self._deeper(1)
            deep += 1
            optional = self._accept("?") is not None
            if token.kind == "[":
                index = self._expr()
                self._expect("]")
                tree = Call(token.pos, "_[?_]" if optional else "_[_]", (tree, index))
            else:
                tree = self._dotted(tree, token, optional)

    def _dotted(self, operand: Node, dot: Token, optional: bool) -> Node:
        name = self._accept(ESCAPED) or self._expect(IDENT)
        field = name.text.strip("`")
        if not optional and name.kind == IDENT and self._peek() == "(":
            opening = self._next()
            return self._call(opening.pos, field, operand)
        if optional:
            return Call(dot.pos, "_?._", (operand, Literal(name.pos, field)))
        return Select(dot.pos, operand, field)

    def _call(self, pos: int, function: str, target: Node | None) -> Node:
        args: list[Node] = []
        if self._accept(")") is None:
            args.append(self._expr())
            while self._accept(",") is not None:
                args.append(self._expr())
            self._expect(")")
        call = Call(pos, function, tuple(args), target)
        macro = self._macros.get((function, len(args), target is not None))
        if macro is None:
            return call
        try:
            return macro(call)
        except MacroError as error:
            return self._mistake(error.node.pos, str(error))

    def _mistake(self, pos: int, message: str) -> Node:
        self._issues.report(pos, message)
        return Literal(pos, None)

    def _primary(self) -> Node:
        token = self._tokens[self._at]
        kind = token.kind
        if kind in (IDENT, "."):
            return self._name()
        if kind == "(":
            self._next()
            tree = self._expr()
            self._expect(")")
            return tree
        if kind == "[":
            return self._list()
        if kind == "{":
            self._next()
            return MapExpr(token.pos, self._entries(self._expr))
        return self._literal()

    def _name(self) -> Node:
        start = self._at
        dot = self._accept(".")
        first = self._expect(IDENT)
        message = self._message(start)
        if message is not None:
            return message
        begin = first.pos if dot is None else dot.pos
        name = first.text if dot is None else f".{first.text}"
        if first.text in RESERVED:
            if self._peek() == "(":
                self._next()
                self._call(begin, "", None)
            return self._mistake(begin, f"reserved identifier: {first.text}")
        opening = self._accept("(")
        if opening is not None:
            return self._call(opening.pos, name, None)
        return Ident(first.pos, name)

    def _message(self, start: int) -> Node | None:
        """`a.b.C{...}`, if that is what begins at token `start`."""
        at = self._at
        while self._tokens[at].kind == "." and self._tokens[at + 1].kind == IDENT:
            at += 2
        if self._tokens[at].kind != "{":
            return None
        name = "".join([token.text for token in self._tokens[start:at]])
        self._at = at + 1
        return StructExpr(self._tokens[at].pos, name, self._entries(self._field))

    def _field(self) -> str:
        return (self._accept(ESCAPED) or self._expect(IDENT)).text.strip("`")

    def _entries(self, key: Callable[[], Any]) -> tuple[Entry, ...]:
        """The inside of braces and the closing one; a comma may stand before it."""
        entries: list[Entry] = []
        while self._peek() not in ("}", ","):
            optional = self._accept("?") is not None
            name = key()
            colon = self._expect(":")
            entries.append(Entry(colon.pos, name, self._expr(), optional))
            if self._peek() != "," or self._tokens[self._at + 1].kind == "}":
                break
            self._next()
            if self._peek() == ",":
                raise self._unexpected()
        self._accept(",")
        self._expect("}")
        return tuple(entries)

    def _list(self) -> Node:
        opening = self._next()
        elements: list[Node] = []
        optionals: set[int] = set()
        while self._peek() not in ("]", ","):
            if self._accept("?") is not None:
                optionals.add(len(elements))
            elements.append(self._expr())
            if self._peek() != "," or self._tokens[self._at + 1].kind == "]":
                break
            self._next()
            if self._peek() == ",":
                raise self._unexpected()
        self._accept(",")
        self._expect("]")
        return ListExpr(opening.pos, tuple(elements), frozenset(optionals))

    # Literals

    def _number(self, sign: Token | None) -> Node:
        token = self._next()
        pos = token.pos if sign is None else sign.pos
        minus = -1 if sign is not None else 1
        if token.kind == FLOAT:
            number = float(token.text)
            if number == _INFINITY:
                return self._mistake(pos, "invalid double literal")
            return Literal(pos, minus * number)
        value = minus * _integer(token.text)
        if not -(2**63) <= value < 2**63:
            return self._mistake(pos, "invalid int literal")
        return Literal(pos, value)

    def _literal(self) -> Node:
        token = self._tokens[self._at]
        kind = token.kind
        if kind in (INT, FLOAT):
            return self._number(None)
        if kind in (STRING, BYTES):
            self._next()
            read = read_string if kind == STRING else read_bytes
            try:
                return Literal(token.pos, read(token.text))
            except LiteralError as error:
                return self._mistake(token.pos, str(error))
        if kind == UINT:
            self._next()
            value = _integer(token.text[:-1])
            if value >= 2**64:
                return self._mistake(token.pos, "invalid uint literal")
            return Literal(token.pos, UInt(value))
        if kind in KEYWORDS and kind != "in":
            self._next()
            return Literal(token.pos, {"true": True, "false": False, "null": None}[kind])
        raise self._unexpected()


_LONGEST: Final = 1_000
"""Digits of an integer that are worth reading: Python refuses far longer ones."""


def _integer(text: str) -> int:
    if len(text) > _LONGEST:
        text = text.lstrip("0")[:_LONGEST] or "0"
    return int(text[2:], 16) if text[:2] == "0x" else int(text)


def _balanced(function: str, terms: list[Node], places: list[int], low: int, high: int) -> Node:
    """A chain of `&&` or `||` as a tree of least depth."""
    middle = (low + high + 1) // 2
    left = terms[middle]
    if middle != low:
        left = _balanced(function, terms, places, low, middle - 1)
    right = terms[middle + 1]
    if middle != high:
        right = _balanced(function, terms, places, middle + 1, high)
    return Call(places[middle], function, (left, right))
