"""Text of a template to tokens, as Go's lexer cuts it.

Go's lexer decides by look-ahead what a minus, a dot or a space is (`{{- -3 }}`), and its refusals
are part of the language; this module follows it character by character and knows no grammar.
Source: Go 1.18.0's text/template/parse/lex.go.
"""

from __future__ import annotations

from enum import Enum, auto
from typing import Final, NamedTuple


class Kind(Enum):
    """The kinds of tokens."""

    ERROR = auto()
    EOF = auto()
    TEXT = auto()
    LEFT = auto()
    RIGHT = auto()
    SPACE = auto()
    ASSIGN = auto()
    DECLARE = auto()
    PIPE = auto()
    OPEN = auto()
    CLOSE = auto()
    CHAR = auto()
    STRING = auto()
    RAW_STRING = auto()
    CHAR_CONSTANT = auto()
    NUMBER = auto()
    COMPLEX = auto()
    BOOL = auto()
    NIL = auto()
    DOT = auto()
    FIELD = auto()
    VARIABLE = auto()
    IDENTIFIER = auto()
    KEYWORD = auto()


class Token(NamedTuple):
    """One token: its text, where it starts and on which line. An ERROR's text is the reason."""

    kind: Kind
    text: str
    pos: int
    line: int

    def __str__(self) -> str:
        if self.kind is Kind.EOF:
            return "EOF"
        if self.kind is Kind.ERROR:
            return self.text
        if self.kind in (Kind.KEYWORD, Kind.DOT, Kind.NIL):
            return f"<{self.text}>"
        if len(self.text) > 10:
            return f'"{self.text[:10]}"...'
        return '"' + self.text.replace("\\", "\\\\").replace('"', '\\"') + '"'


KEYWORDS: Final = frozenset(
    ["block", "break", "continue", "define", "else", "end", "if", "range", "template", "with"]
)
_SPACES: Final = " \t\r\n"
_TERMINATORS: Final = _SPACES + ".,|:)(}"


def lex(text: str) -> list[Token]:
    """All tokens, the last of which is EOF or ERROR."""
    lexer = _Lexer(text)
    try:
        lexer.run()
    except _LexError as error:
        lexer.tokens.append(Token(Kind.ERROR, str(error), lexer.start, lexer.line))
    return lexer.tokens


class _LexError(Exception):
    """Why the text cannot be cut."""


def is_name_character(char: str) -> bool:
    """Whether a character may stand in a name: a letter, a decimal digit or an underscore."""
    return char == "_" or char.isalpha() or char.isdecimal()


class _Lexer:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.start = 0
        self.line = 1
        self.parens = 0
        self.tokens: list[Token] = []

    def emit(self, kind: Kind) -> None:
        text = self.text[self.start : self.at]
        self.tokens.append(Token(kind, text, self.start, self.line))
        self.line += text.count("\n")
        self.start = self.at

    def skip(self, to: int) -> None:
        """Drop the text up to `to`."""
        self.line += self.text.count("\n", self.start, to)
        self.at = self.start = to

    def peek(self) -> str:
        return self.text[self.at : self.at + 1]

    def run(self) -> None:
        text = self.text
        while True:
            left = text.find("{{", self.at)
            if left < 0:
                self.at = len(text)
                if self.at > self.start:
                    self.emit(Kind.TEXT)
                self.emit(Kind.EOF)
                return
            inside = left + 2
            trims = text[inside : inside + 1] == "-" and text[inside + 1 : inside + 2] in (
                *_SPACES,
            )
            self.at = len(text[self.start : left].rstrip(_SPACES)) + self.start if trims else left
            if self.at > self.start:
                self.emit(Kind.TEXT)
            self.skip(left)
            after = inside + 2 if trims else inside
            if text.startswith("/*", after):
                self.comment(after)
                continue
            self.at = inside
            self.emit(Kind.LEFT)
            self.skip(after)
            self.action()

    def comment(self, start: int) -> None:
        close = self.text.find("*/", start + 2)
        if close < 0:
            raise _LexError("unclosed comment")
        self.at = close + 2
        trims = self.trims_right()
        if not trims and not self.text.startswith("}}", self.at):
            raise _LexError("comment ends before closing delimiter")
        self.after_right(trims)

    def trims_right(self) -> bool:
        """Whether ` -}}` stands here."""
        return self.peek() in (*_SPACES,) and self.text.startswith("-}}", self.at + 1)

    def after_right(self, trims: bool) -> None:
        """Pass the closing delimiter and, if it trims, the space behind it."""
        end = self.at + (4 if trims else 2)
        if trims:
            while end < len(self.text) and self.text[end] in _SPACES:
                end += 1
        self.skip(end)

    def action(self) -> None:
        """The tokens up to and with the closing delimiter."""
        text = self.text
        self.parens = 0
        while True:
            trims = self.trims_right()
            if trims or text.startswith("}}", self.at):
                if self.parens:
                    raise _LexError("unclosed left paren")
                end = self.at + (4 if trims else 2)
                self.tokens.append(Token(Kind.RIGHT, "}}", self.at, self.line))
                self.after_right(trims)
                assert self.at >= end
                return
            self.token()

    def token(self) -> None:
        char = self.peek()
        if not char:
            raise _LexError("unclosed action")
        if char in _SPACES:
            self.space()
            return
        self.at += 1
        match char:
            case "=":
                self.emit(Kind.ASSIGN)
            case ":":
                if self.peek() != "=":
                    raise _LexError("expected :=")
                self.at += 1
                self.emit(Kind.DECLARE)
            case "|":
                self.emit(Kind.PIPE)
            case '"':
                self.quoted('"', "unterminated quoted string")
                self.emit(Kind.STRING)
            case "'":
                self.quoted("'", "unterminated character constant")
                self.emit(Kind.CHAR_CONSTANT)
            case "`":
                close = self.text.find("`", self.at)
                if close < 0:
                    raise _LexError("unterminated raw quoted string")
                self.at = close + 1
                self.emit(Kind.RAW_STRING)
            case "$":
                self.name_after(Kind.VARIABLE, Kind.VARIABLE)
            case "." if self.at < len(self.text) and self.peek() not in (*"0123456789",):
                self.name_after(Kind.FIELD, Kind.DOT)
            case "(":
                self.parens += 1
                self.emit(Kind.OPEN)
            case ")":
                self.parens -= 1
                if self.parens < 0:
                    raise _LexError("unexpected right paren")
                self.emit(Kind.CLOSE)
            case _ if char in ".+-" or char in "0123456789":
                self.at -= 1
                self.number()
            case _ if is_name_character(char):
                self.name()
            case _ if char.isascii() and char.isprintable():
                self.emit(Kind.CHAR)
            case _:
                raise _LexError(f"unrecognized character in action: U+{ord(char):04X}")

    def space(self) -> None:
        count = 0
        while self.peek() and self.peek() in _SPACES:
            self.at += 1
            count += 1
        # The last space belongs to a closing delimiter that trims.
        if self.text.startswith("-}}", self.at):
            self.at -= 1
            if count == 1:
                return
        self.emit(Kind.SPACE)

    def quoted(self, mark: str, reason: str) -> None:
        while True:
            char = self.peek()
            self.at += 1
            if char == "\\":
                char = self.peek()
                self.at += 1
                if char and char != "\n":
                    continue
            if not char or char == "\n":
                raise _LexError(reason)
            if char == mark:
                return

    def at_terminator(self) -> bool:
        return not self.peek() or self.peek() in _TERMINATORS

    def names(self) -> None:
        while self.peek() and is_name_character(self.peek()):
            self.at += 1
        if not self.at_terminator():
            char = self.peek()
            raise _LexError(f"bad character U+{ord(char):04X} '{char}'")

    def name_after(self, kind: Kind, alone: Kind) -> None:
        """A name behind its mark, or the mark alone."""
        if self.at_terminator():
            self.emit(alone)
            return
        self.names()
        self.emit(kind)

    def name(self) -> None:
        self.names()
        word = self.text[self.start : self.at]
        if word in KEYWORDS:
            self.emit(Kind.KEYWORD)
        elif word == "nil":
            self.emit(Kind.NIL)
        elif word in ("true", "false"):
            self.emit(Kind.BOOL)
        else:
            self.emit(Kind.IDENTIFIER)

    def number(self) -> None:
        if not self.scan_number():
            raise _LexError(f'bad number syntax: "{self.text[self.start : self.at]}"')
        if self.peek() and self.peek() in "+-":
            # A complex number: 1+2i, without spaces.
            if not self.scan_number() or self.text[self.at - 1] != "i":
                raise _LexError(f'bad number syntax: "{self.text[self.start : self.at]}"')
            self.emit(Kind.COMPLEX)
            return
        self.emit(Kind.NUMBER)

    def accept(self, chars: str) -> bool:
        if self.peek() and self.peek() in chars:
            self.at += 1
            return True
        return False

    def accept_run(self, chars: str) -> None:
        while self.accept(chars):
            pass

    def scan_number(self) -> bool:
        """Pass what looks like a number; whether nothing that belongs to a name follows."""
        self.accept("+-")
        digits = "0123456789_"
        base = 10
        if self.accept("0"):
            if self.accept("xX"):
                base, digits = 16, "0123456789abcdefABCDEF_"
            elif self.accept("oO"):
                base, digits = 8, "01234567_"
            elif self.accept("bB"):
                base, digits = 2, "01_"
        self.accept_run(digits)
        if self.accept("."):
            self.accept_run(digits)
        if (base == 10 and self.accept("eE")) or (base == 16 and self.accept("pP")):
            self.accept("+-")
            self.accept_run("0123456789_")
        self.accept("i")
        if self.peek() and is_name_character(self.peek()):
            self.at += 1
            return False
        return True
