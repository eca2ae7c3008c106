"""Expressions to tokens.

Source: cel-go v0.29, parser/gen/CEL.g4 and parser/unescape.go. Identifiers are ASCII; the longest
token wins, as in ANTLR.
"""

from __future__ import annotations

import functools
import re
from typing import Any, Final, NamedTuple

EOF: Final = "end"
IDENT: Final = "identifier"
ESCAPED: Final = "escaped identifier"
INT: Final = "int"
UINT: Final = "uint"
FLOAT: Final = "float"
STRING: Final = "string"
BYTES: Final = "bytes"
BAD: Final = "bad"

KEYWORDS: Final = frozenset({"in", "true", "false", "null"})


class Token(NamedTuple):
    """One token: its kind (a symbol is its own kind), its text, the code point it begins at."""

    kind: str
    text: str
    pos: int


_ESCAPE: Final = (
    r"(?:\\(?:[abfnrtv\"'\\?`]|[0-3][0-7][0-7]|[xX][0-9a-fA-F]{2}"
    r"|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}))"
)


def _string() -> str:
    return "|".join(
        [
            rf'"""(?:{_ESCAPE}|[^\\])*?"""',
            rf"'''(?:{_ESCAPE}|[^\\])*?'''",
            rf'"(?:{_ESCAPE}|[^\\"\n\r])*+"',
            rf"'(?:{_ESCAPE}|[^\\'\n\r])*+'",
            r'[rR]""".*?"""',
            r"[rR]'''.*?'''",
            r'[rR]"[^"\n\r]*+"',
            r"[rR]'[^'\n\r]*+'",
        ]
    )


@functools.cache
def _pattern() -> re.Pattern[str]:
    """One pattern for all tokens; made when the first expression is read."""
    string = _string()
    return re.compile(
        rf"""(?P<space>[\t\ \r\n\f]++|//[^\n]*+)
        |(?P<bytes>[bB](?:{string}))
        |(?P<string>{string})
        |(?P<float>[0-9]++\.[0-9]++(?:[eE][+-]?[0-9]++)?|[0-9]++[eE][+-]?[0-9]++
            |\.[0-9]++(?:[eE][+-]?[0-9]++)?)
        |(?P<uint>(?:0x[0-9a-fA-F]++|[0-9]++)[uU])
        |(?P<int>0x[0-9a-fA-F]++|[0-9]++)
        |(?P<identifier>[A-Za-z_][A-Za-z0-9_]*+)
        |(?P<escaped>`[A-Za-z0-9_.\-/\ ]++`)
        |(?P<symbol>==|!=|<=|>=|&&|\|\||[<>\[\]{{}}().,\-!?:+*/%])""",
        re.VERBOSE | re.DOTALL,
    )


_KINDS: Final = {
    "bytes": BYTES,
    "string": STRING,
    "float": FLOAT,
    "uint": UINT,
    "int": INT,
    "identifier": IDENT,
    "escaped": ESCAPED,
}


def tokens(text: str) -> list[Token]:
    """The tokens of an expression and a closing EOF; a character that begins none is a BAD one."""
    found: list[Token] = []
    pos = 0
    match = _pattern().match
    while pos < len(text):
        m = match(text, pos)
        if m is None:
            found.append(Token(BAD, text[pos], pos))
            break
        group: Any = m.lastgroup
        if group != "space":
            value = m.group()
            if group == "symbol" or value in KEYWORDS:
                found.append(Token(value, value, pos))
            else:
                found.append(Token(_KINDS[group], value, pos))
        pos = m.end()
    found.append(Token(EOF, "", len(text)))
    return found


class LiteralError(Exception):
    """A string literal that cannot be read; its text is cel-go's."""


_SIMPLE: Final = {
    "a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v",
    "\\": "\\", "'": "'", '"': '"', "`": "`", "?": "?",
}  # fmt: skip


def _body(literal: str) -> tuple[str, bool]:
    """What stands between the quotes of a literal, and whether it is raw."""
    text = literal.replace("\r\n", "\n").replace("\r", "\n")
    raw = text[0] in "rR"
    if raw:
        text = text[1:]
    width = 3 if len(text) >= 6 and text[:3] in ("'''", '"""') else 1
    return text[width:-width], raw


def read_string(literal: str) -> str:
    """The value of a string literal; raises LiteralError."""
    body, raw = _body(literal)
    if raw or "\\" not in body:
        return body
    parts: list[str] = []
    at = 0
    while True:
        slash = body.find("\\", at)
        if slash < 0:
            parts.append(body[at:])
            return "".join(parts)
        parts.append(body[at:slash])
        code, at = _escape(body, slash + 1)
        if isinstance(code, str):
            parts.append(code)
            continue
        if code > 0x10FFFF or 0xD800 <= code <= 0xDFFF:
            raise LiteralError("invalid unicode code point")
        parts.append(chr(code))


def read_bytes(literal: str) -> bytes:
    """The value of a bytes literal (with its `b`); raises LiteralError."""
    body, raw = _body(literal[1:])
    if raw or "\\" not in body:
        return body.encode("utf-8", "surrogatepass")
    parts = bytearray()
    at = 0
    while at < len(body):
        if body[at] != "\\":
            parts += body[at].encode("utf-8", "surrogatepass")
            at += 1
            continue
        if body[at + 1] in "uU":
            raise LiteralError("unable to unescape string")
        code, at = _escape(body, at + 1)
        parts += code.encode() if isinstance(code, str) else bytes([code & 0xFF])
    return bytes(parts)


def _escape(body: str, at: int) -> tuple[str | int, int]:
    """The character or the number behind a backslash, and where the text goes on."""
    char = body[at]
    if char in _SIMPLE:
        return _SIMPLE[char], at + 1
    width = {"x": 2, "X": 2, "u": 4, "U": 8}.get(char)
    if width is not None:
        return int(body[at + 1 : at + 1 + width], 16), at + 1 + width
    return int(body[at : at + 3], 8), at + 3
