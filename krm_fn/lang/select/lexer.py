"""Text to tokens, one at a time, as Go's text/scanner reads Go's tokens.

The language has no token set of its own: KubeMod scans Go tokens, and after an operand it glues
symbol characters together into an operator, in which `i` and `n` count as symbols because of the
operator `in`. Both habits decide what compiles, so they are kept. This module knows no grammar.
Source: ModRule specification, section 1.2; Go's text/scanner.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

EOF: Final = "EOF"
IDENT: Final = "Ident"
INT: Final = "Int"
FLOAT: Final = "Float"
STRING: Final = "String"
CHAR: Final = "Char"
RAW_STRING: Final = "RawString"

OPERATOR_CHARACTERS: Final = frozenset("+-*/%><=!^&|~?in")
"""What is glued together into an operator: every character of every infix operator's name."""

_SPACE: Final = re.compile(r"[ \t\r\n]*")
_NUMBER: Final = re.compile(
    r"0[xX][0-9a-fA-F_]*(?P<hexpoint>\.[0-9a-fA-F_]*)?(?P<hexpower>[pP][+-]?[0-9_]*)?"
    r"|(?:0[oObB])?[0-9_]*(?P<point>\.[0-9_]*)?(?P<power>[eEpP][+-]?[0-9_]*)?"
)


class Token(NamedTuple):
    """A token: `kind` is one of this module's names or, for any other character, itself."""

    kind: str
    text: str
    start: int


class Lexer:
    """Scans `source`; `position` is where the next token or operator character begins."""

    __slots__ = ("open_comment", "position", "source")

    def __init__(self, source: str) -> None:
        self.source = source
        self.position = 1 if source.startswith("\ufeff") else 0
        self.open_comment = False
        """Whether a comment runs up to the end of the text."""

    def scan(self) -> Token:
        """The next token; EOF again and again at the end."""
        self._skip_space_and_comments()
        source, start = self.source, self.position
        if start >= len(source):
            return Token(EOF, "", start)
        first = source[start]
        if _starts_identifier(first):
            kind, end = IDENT, self._identifier_end(start)
        elif first in "0123456789" or (first == "." and source[start + 1 : start + 2] in _DIGITS):
            kind, end = self._number(start)
        elif first == '"' or first == "'":
            kind, end = (STRING if first == '"' else CHAR), self._quoted_end(start, first)
        elif first == "`":
            close = source.find("`", start + 1)
            kind, end = RAW_STRING, len(source) if close < 0 else close + 1
        else:
            kind, end = first, start + 1
        self.position = end
        return Token(kind, source[start:end], start)

    def scan_operator_rest(self) -> str:
        """The operator characters that follow immediately, without skipping any space."""
        source, start = self.source, self.position
        end = start
        while end < len(source) and source[end] in OPERATOR_CHARACTERS:
            end += 1
        self.position = end
        return source[start:end]

    def _skip_space_and_comments(self) -> None:
        source = self.source
        while True:
            space = _SPACE.match(source, self.position)
            self.position = space.end() if space else self.position
            if source.startswith("//", self.position):
                end = source.find("\n", self.position)
            elif source.startswith("/*", self.position):
                end = source.find("*/", self.position + 2)
                end = end + 2 if end >= 0 else end
            else:
                return
            self.open_comment = end < 0
            self.position = len(source) if end < 0 else end

    def _identifier_end(self, start: int) -> int:
        source, end = self.source, start + 1
        while end < len(source) and (_starts_identifier(source[end]) or source[end].isdecimal()):
            end += 1
        return end

    def _number(self, start: int) -> tuple[str, int]:
        match = _NUMBER.match(self.source, start)
        assert match is not None
        is_float = any(match[name] is not None for name in match.re.groupindex)
        return (FLOAT if is_float else INT), match.end()

    def _quoted_end(self, start: int, quote: str) -> int:
        source, end = self.source, start + 1
        while end < len(source):
            character = source[end]
            end += 1
            if character == quote or character == "\n":
                return end
            if character == "\\" and source[end : end + 1] not in ("", "\n"):
                end += 1
        return end


_DIGITS: Final = tuple("0123456789")


def _starts_identifier(character: str) -> bool:
    return character.isalpha() or character == "_"


def line_and_column(source: str, position: int) -> tuple[int, int]:
    """Where a position is, both counted from 1."""
    before = source[:position]
    return before.count("\n") + 1, position - before.rfind("\n")
