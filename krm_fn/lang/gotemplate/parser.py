"""Tokens of a template to nodes.

Go shares one lexer between the main template and those defined inside it, each of which has its own
variables; here one parser walks one list of tokens and keeps a `_Scope` for each. This module knows
no values.
Source: Go 1.18.0's text/template/parse/parse.go.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

from krm_fn import limits
from krm_fn.errors import CompileError
from krm_fn.lang.go.strconv import parse_float, read_integer, unquote, unquote_char
from krm_fn.lang.go.values import GoInt
from krm_fn.lang.gotemplate.lexer import Kind, Token, lex
from krm_fn.lang.gotemplate.nodes import (
    Action,
    Block,
    Branch,
    Chain,
    Command,
    Dot,
    Field,
    Identifier,
    Jump,
    Literal,
    Nil,
    Operand,
    Pipe,
    Program,
    Range,
    Statement,
    TemplateCall,
    Text,
    Variable,
)
from krm_fn.lang.gotemplate.values import Function
from krm_fn.values import MISSING

Lookup = Callable[[str], Function]
"""A function by its name; raises KeyError with the reason as its text where there is none."""


def parse_program(text: str, name: str, lookup: Lookup) -> tuple[Program, dict[str, Function]]:
    """The templates of a string, the main one under `name`, and the functions they use.

    Raises CompileError with a string shaped `template: NAME:LINE: reason`.
    """
    parser = _Parser(text, name, lookup)
    parser.main()
    return parser.program, parser.used


class _Scope:
    """What belongs to one template: its variables and whether a range is open."""

    def __init__(self) -> None:
        self.variables = ["$"]
        self.ranges = 0


class _Parser:
    def __init__(self, text: str, name: str, lookup: Lookup) -> None:
        self.name = name
        self.lookup = lookup
        self.tokens = lex(text)
        self.at = 0
        self.scope = _Scope()
        self.program = Program()
        self.used: dict[str, Function] = {}
        self.nesting = 0

    # Tokens

    def next(self) -> Token:
        token = self.tokens[self.at]
        # The last token stays: nothing comes after the end or an error.
        self.at = min(self.at + 1, len(self.tokens) - 1)
        return token

    def peek(self) -> Token:
        return self.tokens[self.at]

    def next_word(self) -> Token:
        self.peek_word()
        return self.next()

    def peek_word(self) -> Token:
        while self.peek().kind is Kind.SPACE:
            self.at += 1
        return self.peek()

    def error(self, reason: str, token: Token | None = None) -> CompileError:
        line = (token or self.peek()).line
        return CompileError(f"template: {self.name}:{line}: {reason}")

    def unexpected(self, token: Token, context: str) -> CompileError:
        if token.kind is Kind.ERROR:
            return self.error(token.text, token)
        return self.error(f"unexpected {token} in {context}", token)

    def expect(self, kind: Kind, context: str) -> Token:
        token = self.next_word()
        if token.kind is not kind:
            raise self.unexpected(token, context)
        return token

    def deeper(self) -> None:
        self.nesting += 1
        if self.nesting > limits.EXPRESSION_NESTING:
            raise self.error(f"it nests deeper than {limits.EXPRESSION_NESTING}")

    # Lists

    def main(self) -> None:
        statements: list[Statement] = []
        while self.peek().kind is not Kind.EOF:
            if self.peek().kind is Kind.LEFT:
                start = self.at
                self.next()
                if self.keyword() == "define":
                    self.next()
                    self.definition()
                    continue
                self.at = start
            statement = self.statement()
            if isinstance(statement, str):
                raise self.error(f"unexpected {{{{{statement}}}}}")
            statements.append(statement)
        self.add(self.name, Block(0, tuple(statements)))

    def keyword(self) -> str:
        """The keyword that comes next, or nothing."""
        token = self.peek_word()
        return token.text if token.kind is Kind.KEYWORD else ""

    def block(self) -> tuple[Block, str]:
        """Statements up to and with `{{end}}` or `{{else}}`, and which of them it was."""
        start = self.peek_word().pos
        statements: list[Statement] = []
        while self.peek_word().kind is not Kind.EOF:
            statement = self.statement()
            if isinstance(statement, str):
                return Block(start, tuple(statements)), statement
            statements.append(statement)
        raise self.error("unexpected EOF")

    def statement(self) -> Statement | str:
        """A text or an action; `end` and `else` as words."""
        token = self.next_word()
        if token.kind is Kind.TEXT:
            return Text(token.pos, token.text)
        if token.kind is not Kind.LEFT:
            raise self.unexpected(token, "input")
        return self.action()

    def action(self) -> Statement | str:
        word = self.keyword()
        match word:
            case "block":
                return self.inline_block()
            case "break" | "continue":
                return self.jump()
            case "else":
                self.next()
                # {{else if ...}} leaves the `if` where it is.
                if self.keyword() != "if":
                    self.expect(Kind.RIGHT, "else")
                return word
            case "end":
                self.next()
                self.expect(Kind.RIGHT, "end")
                return word
            case "if" | "range" | "with":
                self.next()
                return self.control(word)
            case "template":
                return self.template()
        token = self.peek_word()
        return Action(token.pos, self.pipeline("command", Kind.RIGHT))

    # Control

    def control(self, word: str) -> Statement:
        self.deeper()
        start = self.peek_word().pos
        mark = len(self.scope.variables)
        pipe = self.pipeline(word, Kind.RIGHT)
        self.scope.ranges += word == "range"
        then, closing = self.block()
        self.scope.ranges -= word == "range"
        otherwise = None
        if closing == "else":
            if word == "if" and self.keyword() == "if":
                token = self.next()
                otherwise = Block(token.pos, (self.control("if"),))
            else:
                otherwise, closing = self.block()
                if closing != "end":
                    raise self.error(f"expected end; found {{{{{closing}}}}}")
        del self.scope.variables[mark:]
        self.nesting -= 1
        if word == "range":
            return Range(start, pipe, then, otherwise)
        return Branch(start, word, pipe, then, otherwise)

    def jump(self) -> Statement:
        token = self.next()
        # Not even a space may follow here; Go 1.19 allows it.
        after = self.next()
        if after.kind is not Kind.RIGHT:
            raise self.unexpected(after, f"in {{{{{token.text}}}}}")
        if not self.scope.ranges:
            raise self.error(f"{{{{{token.text}}}}} outside {{{{range}}}}")
        return Jump(token.pos, token.text)

    def template_name(self, context: str) -> tuple[Token, str]:
        token = self.next_word()
        if token.kind not in (Kind.STRING, Kind.RAW_STRING):
            raise self.unexpected(token, context)
        return token, self.unquoted(token)

    def template(self) -> Statement:
        self.next()
        token, name = self.template_name("template clause")
        pipe = None
        if self.peek_word().kind is Kind.RIGHT:
            self.next()
        else:
            pipe = self.pipeline("template clause", Kind.RIGHT)
        return TemplateCall(token.pos, name, pipe, self.program)

    def inline_block(self) -> Statement:
        self.next()
        token, name = self.template_name("block clause")
        pipe = self.pipeline("block clause", Kind.RIGHT)
        self.define(name, "block clause")
        return TemplateCall(token.pos, name, pipe, self.program)

    def definition(self) -> None:
        _, name = self.template_name("define clause")
        self.expect(Kind.RIGHT, "define clause")
        self.define(name, "define clause")

    def define(self, name: str, context: str) -> None:
        self.deeper()
        outer, self.scope = self.scope, _Scope()
        body, closing = self.block()
        if closing != "end":
            raise self.error(f"unexpected {{{{{closing}}}}} in {context}")
        self.scope = outer
        self.nesting -= 1
        self.add(name, body)

    def add(self, name: str, body: Block) -> None:
        """Define a template; an empty one gives way to another of the same name."""
        known = self.program.blocks.get(name)
        if known is None or _is_empty(known):
            self.program.blocks[name] = body
        elif not _is_empty(body):
            raise self.error(f'template: multiple definition of template "{name}"')

    # Pipelines

    def pipeline(self, context: str, end: Kind) -> Pipe:
        start = self.peek_word().pos
        variables, assigns = self.declarations(context)
        commands: list[Command] = []
        while True:
            token = self.peek_word()
            if token.kind is end:
                self.next()
                break
            if token.kind not in _OPERANDS:
                raise self.unexpected(token, context)
            commands.append(self.command())
        if not commands:
            raise self.error(f"missing value for {context}")
        for n, command in enumerate(commands[1:], 2):
            if isinstance(command.words[0], Dot | Nil | Literal):
                raise self.error(f"non executable command in pipeline stage {n}")
        return Pipe(start, tuple(commands), variables, assigns)

    def declarations(self, context: str) -> tuple[tuple[Variable, ...], bool]:
        """`$x :=`, `$x =` and, for a range, `$i, $x :=`."""
        variables: list[Variable] = []
        while True:
            token = self.peek_word()
            if token.kind is not Kind.VARIABLE:
                return tuple(variables), False
            start = self.at
            self.next()
            follow = self.peek_word()
            comma = follow.kind is Kind.CHAR and follow.text == ","
            if follow.kind not in (Kind.ASSIGN, Kind.DECLARE) and not comma:
                self.at = start
                return tuple(variables), False
            self.next()
            variables.append(Variable(token.pos, token.text))
            self.scope.variables.append(token.text)
            if not comma:
                return tuple(variables), follow.kind is Kind.ASSIGN
            if context != "range" or len(variables) >= 2:
                raise self.error(f"too many declarations in {context}")
            if self.peek_word().kind not in (Kind.VARIABLE, Kind.RIGHT, Kind.CLOSE):
                raise self.error("range can only initialize variables")

    def command(self) -> Command:
        start = self.peek_word().pos
        words: list[Operand] = []
        while True:
            self.peek_word()
            operand = self.operand()
            if operand is not None:
                words.append(operand)
            token = self.peek()
            if token.kind is Kind.SPACE:
                self.next()
                continue
            if token.kind is Kind.PIPE:
                self.next()
            elif token.kind not in (Kind.RIGHT, Kind.CLOSE):
                raise self.unexpected(token, "operand")
            break
        if not words:
            raise self.error("empty command")
        return Command(start, tuple(words))

    def operand(self) -> Operand | None:
        node = self.term()
        if node is None or self.peek().kind is not Kind.FIELD:
            return node
        start = self.peek().pos
        names = []
        while self.peek().kind is Kind.FIELD:
            names.append(self.next().text[1:])
        match node:
            case Field():
                return Field(start, (*node.names, *names))
            case Variable():
                return Variable(start, node.name, (*node.names, *names))
            case Dot() | Nil() | Literal():
                raise self.error(f'unexpected . after term "{node}"')
        return Chain(start, node, tuple(names))

    def term(self) -> Operand | None:
        token = self.peek_word()
        if token.kind not in _OPERANDS:
            return None
        self.next()
        match token.kind:
            case Kind.IDENTIFIER:
                return Identifier(token.pos, token.text, self.function(token))
            case Kind.DOT:
                return Dot(token.pos)
            case Kind.NIL:
                return Nil(token.pos)
            case Kind.VARIABLE:
                if token.text not in self.scope.variables:
                    raise self.error(f'undefined variable "{token.text}"', token)
                return Variable(token.pos, token.text)
            case Kind.FIELD:
                return Field(token.pos, (token.text[1:],))
            case Kind.BOOL:
                value = token.text == "true"
                return Literal(token.pos, token.text, value, {"bool": value})
            case Kind.OPEN:
                self.deeper()
                pipe = self.pipeline("parenthesized pipeline", Kind.CLOSE)
                self.nesting -= 1
                return pipe
            case Kind.STRING | Kind.RAW_STRING:
                text = self.unquoted(token)
                return Literal(token.pos, token.text, text, {"string": text})
            case _:
                return self.number(token)

    def function(self, token: Token) -> Function:
        try:
            function = self.lookup(token.text)
        except KeyError as error:
            raise self.error(str(error.args[0]), token) from None
        self.used[token.text] = function
        return function

    # Literals

    def unquoted(self, token: Token) -> str:
        text = unquote(token.text)
        if text is None:
            raise self.error("invalid syntax", token)
        return text

    def number(self, token: Token) -> Literal:
        """A number in every type that it fits. Source: node.go newNumber."""
        text = token.text
        if token.kind is Kind.CHAR_CONSTANT:
            point = unquote_char(text)
            if point is None:
                raise self.error(f"malformed character constant: {text}", token)
            code = GoInt(point)
            return Literal(
                token.pos, text, code, {"int": code, "uint": code, "float64": float(code)}
            )
        if token.kind is Kind.COMPLEX or text.endswith("i"):
            return self.complex(token)
        integer = read_integer(text, 0)
        if integer is not None:
            if not -(1 << 63) <= integer < 1 << 64:
                raise self.error(f'integer overflow: "{text}"', token)
            fits = {"int": GoInt(integer)} if integer < 1 << 63 else {}
            value: Any = fits.get("int", MISSING)
            if integer >= 0:
                fits["uint"] = GoInt(integer)
            return Literal(token.pos, text, value, {**fits, "float64": float(integer)})
        number = parse_float(text)
        if number is None or not set(text) & set(".eEpP"):
            raise self.error(f'illegal number syntax: "{text}"', token)
        types: dict[str, Any] = {"float64": number}
        if math.isfinite(number) and number == int(number) and -(2.0**63) <= number < 2.0**63:
            types["int"] = GoInt(number)
        if math.isfinite(number) and number == int(number) and 0 <= number < 2.0**64:
            types["uint"] = GoInt(number)
        return Literal(token.pos, text, number, types)

    def complex(self, token: Token) -> Literal:
        text = token.text[:-1]
        split = max(text.rfind("+"), text.rfind("-"))
        # A sign behind an exponent's letter is the exponent's.
        while split > 0 and text[split - 1] in "eEpP":
            split = max(text.rfind("+", 0, split), text.rfind("-", 0, split))
        parts = (text[:split], text[split:]) if split > 0 else ("0", text)
        numbers = [parse_float(part) for part in parts]
        if None in numbers:
            raise self.error(f'illegal number syntax: "{token.text}"', token)
        value = complex(*(n for n in numbers if n is not None))
        types: dict[str, Any] = {}
        if value.imag == 0:
            types["float64"] = value.real
        return Literal(token.pos, token.text, value, types)


_OPERANDS: Final = frozenset(
    [
        Kind.BOOL,
        Kind.CHAR_CONSTANT,
        Kind.COMPLEX,
        Kind.DOT,
        Kind.FIELD,
        Kind.IDENTIFIER,
        Kind.NUMBER,
        Kind.NIL,
        Kind.RAW_STRING,
        Kind.STRING,
        Kind.VARIABLE,
        Kind.OPEN,
    ]
)


def _is_empty(block: Block) -> bool:
    """Whether nothing but space stands in a template. Source: parse.go IsEmptyTree."""
    return all(
        isinstance(each, Text) and not each.text.strip(" \t\n\v\f\r\x85\xa0")
        for each in block.statements
    )
