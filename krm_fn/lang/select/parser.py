"""Tokens to nodes: recursive descent with precedence climbing, exactly as lax as KubeMod is.

Some of what is accepted is surely not meant (any one token may stand for the `:` of an object, any
separator or none between the elements of a list), but rules that load in a cluster must load here.
This module knows what each node is called, and nothing of how it is evaluated.
Source: ModRule specification, section 1.3.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from krm_fn.errors import CompileError
from krm_fn.lang.go.strconv import parse_float, parse_int, unquote
from krm_fn.lang.select.functions import FUNCTIONS
from krm_fn.lang.select.lexer import (
    CHAR,
    EOF,
    FLOAT,
    IDENT,
    INT,
    OPERATOR_CHARACTERS,
    RAW_STRING,
    STRING,
    Lexer,
    Token,
    line_and_column,
)
from krm_fn.lang.select.nodes import (
    Array,
    Call,
    Conditional,
    Constant,
    Member,
    Node,
    Object,
    Placeholder,
    SingleMember,
    UnknownCall,
    Variable,
)
from krm_fn.lang.select.operators import INFIX, PREFIX, Binary, Prefix
from krm_fn.lang.select.paths import (
    Child,
    Descend,
    FanOutMember,
    Filter,
    Path,
    Script,
    Selector,
    Slice,
    Union,
    Wildcard,
)
from krm_fn.limits import EXPRESSION_NESTING

_CONDITIONAL: Final = "?"
_LARGEST_INDEX: Final = float((1 << 31) - 1)


def parse_expression(text: str) -> Node:
    """The tree of a whole expression; raises CompileError."""
    parser = _Parser(text)
    node = parser.expression()
    parser.expect_end("an operator or the end")
    return node


def parse_path(text: str) -> Path:
    """The tree of a string that is one path, as a fan-out needs it; raises CompileError.

    KubeMod wraps the text as `{#: text}`, so that a comment at its end would swallow the brace.
    """
    parser = _Parser(text)
    path = parser.path("a path that starts with $ or @ (the select of a patch is a path alone)")
    parser.expect_end("the end, since the select of a patch is a path alone, without operators")
    parser.refuse_open_comment()
    return path


class _Parser:
    def __init__(self, text: str) -> None:
        self._lexer = Lexer(text)
        self._token = Token(EOF, "", 0)
        self._unread = False
        self._depth = 0
        self._key_placeholders: list[int] | None = None
        """Where `#` stood in the object key that is being read; None outside of any."""
        self._operands: dict[str, Callable[[Token], Node]] = {
            INT: self._number,
            FLOAT: self._number,
            STRING: self._string,
            CHAR: self._string,
            RAW_STRING: self._string,
            IDENT: self._identifier,
            "(": self._parentheses,
            "[": self._array,
            "{": self._object,
            "$": self._path,
            "@": self._path,
            "#": self._placeholder,
            **dict.fromkeys(PREFIX, self._prefix),
        }

    # --- tokens ---

    def _scan(self) -> Token:
        if self._unread:
            self._unread = False
        else:
            self._token = self._lexer.scan()
        return self._token

    def _put_back(self) -> None:
        self._unread = True

    def expect_end(self, expected: str) -> None:
        token = self._scan()
        if token.kind != EOF:
            raise self._unexpected(token, expected)

    def refuse_open_comment(self) -> None:
        if self._lexer.open_comment:
            raise self._failure(self._token.start, "a patch's select must not end in a comment")

    def _unexpected(self, token: Token, expected: str) -> CompileError:
        found = "the end" if token.kind == EOF else f"`{token.text[:40]}`"
        return self._failure(token.start, f"unexpected {found}, expected {expected}{_hint(token)}")

    def _failure(self, position: int, reason: str) -> CompileError:
        line, column = line_and_column(self._lexer.source, position)
        return CompileError(f"select expression, {line}:{column}: {reason}")

    def _enter(self, token: Token) -> None:
        self._depth += 1
        if self._depth > EXPRESSION_NESTING:
            raise self._failure(
                token.start, f"the expression nests deeper than {EXPRESSION_NESTING}"
            )

    # --- expressions ---

    def expression(self) -> Node:
        """Operands and infix operators; what binds tighter than the next operator is reduced."""
        self._enter(self._token)
        pending: list[tuple[Node, Token]] = []
        while True:
            node = self._operand()
            operator = self._operator()
            while operator is not None and operator.kind == _CONDITIONAL:
                node = self._conditional(_reduce(pending, node, 0), operator)
                operator = self._operator()
            if operator is None:
                self._depth -= 1
                return _reduce(pending, node, 0)
            node = _reduce(pending, node, INFIX[operator.text].precedence)
            pending.append((node, operator))

    def _operand(self) -> Node:
        token = self._scan()
        operand = self._operands.get(token.kind)
        if operand is None:
            raise self._unexpected(token, "a value")
        return operand(token)

    def _operator(self) -> Token | None:
        """The infix operator that follows, None if there is none.

        Operator characters are glued together as far as they follow each other: `a==-1` is not
        `a == -1` but an operator that does not exist.
        """
        token = self._scan()
        name = token.text
        if token.kind in OPERATOR_CHARACTERS:
            name += self._lexer.scan_operator_rest()
        if name in INFIX and (token.kind == IDENT or token.kind in OPERATOR_CHARACTERS):
            return Token(IDENT, name, token.start)
        if name == _CONDITIONAL and token.kind == _CONDITIONAL:
            return token
        if name != token.text:
            raise self._failure(token.start, f"unknown operator {name}{_operator_hint(name)}")
        self._put_back()
        return None

    def _conditional(self, condition: Node, token: Token) -> Node:
        then = self.expression()
        following = self._scan()
        if following.kind == ":":
            return Conditional(token.start, condition, then, self.expression())
        if following.kind != EOF:
            raise self._unexpected(following, "`:` or the end")
        return Conditional(token.start, condition, then, Constant(following.start, None))

    def _prefix(self, token: Token) -> Node:
        self._enter(token)
        operand = self._operand()
        self._depth -= 1
        return Prefix(token.start, token.kind, operand)

    def _parentheses(self, token: Token) -> Node:
        node = self.expression()
        self._close(")")
        return node

    def _close(self, bracket: str) -> None:
        token = self._scan()
        if token.kind != bracket:
            raise self._unexpected(token, f"`{bracket}`")

    # --- literals ---

    def _number(self, token: Token) -> Node:
        number = parse_float(token.text)
        if number is None:
            raise self._failure(token.start, f"{token.text[:40]} is not a number that can be read")
        return Constant(token.start, number)

    def _string(self, token: Token) -> Node:
        text = unquote(token.text)
        if text is None:
            hint = ""
            if token.kind == CHAR:
                hint = ": '…' holds a single character, put texts in double quotes"
            raise self._failure(
                token.start, f"{token.text[:40]} is not a text that can be read{hint}"
            )
        return Constant(token.start, text)

    def _array(self, token: Token) -> Node:
        elements: list[Node] = []
        while (following := self._scan()).kind != "]":
            if following.kind != ",":
                self._put_back()
                elements.append(self.expression())
        return Array(token.start, tuple(elements))

    def _object(self, token: Token) -> Node:
        members: list[Member] = []
        while (following := self._scan()).kind != "}":
            if following.kind != ",":
                self._put_back()
                members.append(self._member())
        return Object(token.start, tuple(members))

    def _member(self) -> Member:
        outer, self._key_placeholders = self._key_placeholders, []
        key = self.expression()
        fans_out = bool(self._key_placeholders)
        self._key_placeholders = outer
        self._scan()  # any one token stands for the colon
        if fans_out:
            return FanOutMember(
                key.start, key, self.path("a path, since the key has a placeholder")
            )
        return SingleMember(key.start, key, self.expression())

    def _placeholder(self, token: Token) -> Node:
        if self._key_placeholders is None:
            raise self._failure(
                token.start, "a placeholder (#) can only stand in the key of an object"
            )
        self._key_placeholders.append(token.start)
        following = self._scan()
        if following.kind != INT:
            self._put_back()
            return Placeholder(token.start, None)
        index = parse_int(following.text)
        if index is None:
            raise self._failure(
                following.start, f"{following.text[:40]} is not the number of a placeholder"
            )
        return Placeholder(token.start, index)

    # --- names ---

    def _identifier(self, token: Token) -> Node:
        name = token.text
        if name in ("true", "false"):
            return Constant(token.start, name == "true")
        if name in FUNCTIONS:
            return Call(token.start, name, self._arguments_if_any())
        keys: list[Node] = [Constant(token.start, name)]
        while True:
            following = self._scan()
            if following.kind == ".":
                field = self._scan()
                if field.kind != IDENT:
                    raise self._unexpected(field, "a name")
                keys.append(Constant(field.start, field.text))
            elif following.kind == "[":
                keys.append(self.expression())
                self._close("]")
            elif following.kind == "(":
                self._arguments()
                return UnknownCall(token.start, name)
            else:
                self._put_back()
                return Variable(token.start, tuple(keys))

    def _arguments_if_any(self) -> tuple[Node, ...]:
        if self._scan().kind == "(":
            return self._arguments()
        self._put_back()
        return ()

    def _arguments(self) -> tuple[Node, ...]:
        if self._scan().kind == ")":
            return ()
        self._put_back()
        arguments = [self.expression()]
        while (token := self._scan()).kind != ")":
            if token.kind != ",":
                raise self._unexpected(token, "`)` or `,`")
            arguments.append(self.expression())
        return tuple(arguments)

    # --- paths ---

    def path(self, expected: str) -> Path:
        """A path alone, which starts with `$` or `@`."""
        token = self._scan()
        if token.kind not in ("$", "@"):
            raise self._unexpected(token, expected)
        return self._path(token)

    def _path(self, token: Token) -> Path:
        selectors: list[Selector] = []
        scripts = 0
        while True:
            following = self._scan()
            if following.kind == ".":
                selectors.extend(self._dotted(following))
            elif following.kind == "[":
                selectors.append(self._bracketed(following))
            elif following.kind == "(":
                selectors.append(self._script(following))
                scripts += 1
            else:
                self._put_back()
                return Path(token.start, token.kind == "$", tuple(selectors))
            if scripts > EXPRESSION_NESTING:
                raise self._failure(
                    following.start, f"a path has more than {EXPRESSION_NESTING} scripts"
                )

    def _dotted(self, dot: Token) -> list[Selector]:
        token = self._scan()
        if token.kind == IDENT:
            return [_named(token)]
        if token.kind == "*":
            return [Wildcard(dot.start)]
        if token.kind == ".":
            return [Descend(dot.start), self._descended()]
        raise self._unexpected(token, "a name, `*` or `.`")

    def _descended(self) -> Selector:
        """What stands behind `..`, where a bracket with one key is a union, too."""
        token = self._scan()
        if token.kind == IDENT:
            return _named(token)
        if token.kind == "*":
            return Wildcard(token.start)
        if token.kind == "(":
            return self._script(token)
        if token.kind == "[":
            selector = self._bracketed(token)
            if isinstance(selector, Slice):
                raise self._failure(token.start, "a range cannot follow `..`")
            if isinstance(selector, Child):
                return Union(token.start, (selector.key,))
            return selector
        raise self._unexpected(token, "a name, `*`, `[` or `(`")

    def _script(self, bracket: Token) -> Selector:
        expression = self.expression()
        self._close(")")
        return Script(bracket.start, expression)

    def _bracketed(self, bracket: Token) -> Selector:
        """`[…]`: the first separator (`?`, `:`, `,`) decides what it is and must stay the only one.

        A `*` before the closing bracket makes a wildcard of it, whatever came before.
        """
        keys: list[Node] = []
        separator = ""
        while True:
            token = self._scan()
            if token.kind == "*":
                self._close("]")
                return Wildcard(bracket.start)
            if token.kind == ":":
                keys.append(Constant(token.start, _LARGEST_INDEX if len(keys) == 1 else 0.0))
            elif token.kind != "?" and not (token.kind == "]" and separator == ":"):
                self._put_back()
                keys.append(self.expression())
                token = self._scan()
            separator = separator or token.kind
            if token.kind == "]":
                return self._selector(bracket, keys, separator)
            if token.kind not in (":", ",") and not (token.kind == "?" and not keys):
                raise self._unexpected(token, "`]`, `:` or `,`")
            if token.kind != separator:
                raise self._unexpected(token, f"`]`: {separator} and {token.kind} cannot be mixed")

    def _selector(self, bracket: Token, keys: list[Node], separator: str) -> Selector:
        start = bracket.start
        if separator == ":":
            if len(keys) > 3:
                raise self._failure(start, "a range is [min:max:step], with no further part")
            defaults: list[Node] = [
                Constant(start, number) for number in (0.0, _LARGEST_INDEX, 1.0)
            ]
            minimum, maximum, step = keys + defaults[len(keys) :]
            return Slice(start, minimum, maximum, step)
        if separator == "?":
            return Filter(start, keys[0])
        return Child(start, keys[0]) if len(keys) == 1 else Union(start, tuple(keys))


def _named(token: Token) -> Child:
    return Child(token.start, Constant(token.start, token.text))


def _reduce(pending: list[tuple[Node, Token]], node: Node, precedence: int) -> Node:
    """`node` as the right side of all pending operators that bind at least this tight."""
    while pending and INFIX[pending[-1][1].text].precedence >= precedence:
        left, operator = pending.pop()
        node = Binary(operator.start, operator.text, left, node)
    return node


def _operator_hint(name: str) -> str:
    for length in range(len(name) - 1, 0, -1):
        if name[:length] in INFIX or name[:length] == _CONDITIONAL:
            return f": put a space after {name[:length]}"
    return ": compare with ==" if name.startswith("=") else ""


def _hint(token: Token) -> str:
    if token.text in ("and", "or", "not"):
        return "; the operators are &&, || and !"
    if token.text == "=":
        return "; compare with =="
    if token.kind in (STRING, CHAR):
        return '; a member with another name is selected with ["name"]'
    return ""
