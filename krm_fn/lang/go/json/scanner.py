"""JSON texts as Go's encoding/json reads them: to the letter, with its error texts.

Values keep the spelling of their numbers and strings, so that what nobody touches can be written as
it was. Knows no type that values are decoded to.
Source: Go's encoding/json (scanner.go).
"""

from __future__ import annotations

import json
import re
from functools import cache
from typing import Any, Final

from krm_fn import limits
from krm_fn.errors import LimitError
from krm_fn.lang.go import strconv
from krm_fn.lang.go.values import GoError


class NotJsonError(GoError):
    """The text is no JSON."""


def check_nesting(text: str) -> None:
    """Raise LimitError where a JSON text nests too deeply."""
    if limits.json_too_deep(text) is not None:
        raise LimitError(f"JSON nests deeper than {limits.NESTING:,}")


class Members:
    """An object as it is written: its members in order, with the keys decoded."""

    __slots__ = ("pairs",)

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        self.pairs = pairs


Node = Any
"""A scalar is its text; others are a list of nodes, `Members`, or a dict that is to be sorted."""

_SPACE: Final = " \t\r\n"
_LITERALS: Final = {"t": "true", "f": "false", "n": "null"}


@cache
def _token() -> re.Pattern[str]:
    return re.compile(
        r'[ \t\r\n]*(?:("(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*")'
        r"|(-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null)|([\[\]{},:]))"
    )


def parse(text: str) -> Node:
    """The value of a JSON text. Raises NotJson, and LimitError where it nests too deeply."""
    check_nesting(text)
    with limits.deep_stack():
        try:
            node, at = _value(text, 0)
        except _StuckError:
            raise NotJsonError(syntax_error(text)) from None
    if text[at:].strip(_SPACE):
        raise NotJsonError(syntax_error(text))
    return node


class _StuckError(Exception):
    """The quick reader is stuck; `syntax_error` tells why."""


def _next(text: str, at: int) -> tuple[str, str | None, int]:
    """The next token: its text, the punctuation that it is or None, and where it ends."""
    match = _token().match(text, at)
    if match is None:
        raise _StuckError
    return match[match.lastindex or 0], match[3], match.end()


def _value(text: str, at: int) -> tuple[Node, int]:
    token, mark, at = _next(text, at)
    if mark is None:
        return token, at
    if mark == "[":
        return _list(text, at)
    if mark == "{":
        return _object(text, at)
    raise _StuckError


def _list(text: str, at: int) -> tuple[list[Node], int]:
    nodes: list[Node] = []
    if _next(text, at)[1] == "]":
        return nodes, _next(text, at)[2]
    while True:
        node, at = _value(text, at)
        nodes.append(node)
        _, mark, at = _next(text, at)
        if mark == "]":
            return nodes, at
        if mark != ",":
            raise _StuckError


def _object(text: str, at: int) -> tuple[Members, int]:
    pairs: list[tuple[str, Node]] = []
    token, mark, end = _next(text, at)
    if mark == "}":
        return Members(pairs), end
    while True:
        token, mark, at = _next(text, at)
        if mark is not None or token[0] != '"':
            raise _StuckError
        key = string(token)
        _, mark, at = _next(text, at)
        if mark != ":":
            raise _StuckError
        node, at = _value(text, at)
        pairs.append((key, node))
        _, mark, at = _next(text, at)
        if mark == "}":
            return Members(pairs), at
        if mark != ",":
            raise _StuckError


def string(token: str) -> str:
    """What a string's token means; half a surrogate pair is U+FFFD."""
    if "\\" not in token:
        return token[1:-1]
    decoded: str = json.loads(token)
    return re.sub("[\ud800-\udfff]", "\ufffd", decoded)


# ------------------------------------------------------------------------------- what went wrong


_END: Final = "unexpected end of JSON input"


def syntax_error(text: str) -> str:
    """What Go says of the first character that cannot stand where it does, in what is no JSON."""
    stack: list[str] = []
    wants = "value"
    at = 0
    while True:
        while at < len(text) and text[at] in _SPACE:
            at += 1
        if at == len(text):
            return _END
        char = text[at]
        if wants in ("value", "value or ]"):
            if wants == "value or ]" and char == "]":
                stack.pop()
                wants, at = "more", at + 1
            elif char in "[{":
                stack.append(char)
                wants, at = ("value or ]" if char == "[" else "key or }"), at + 1
            else:
                end, problem = _scalar(text, at)
                if problem:
                    return problem
                wants, at = "more", end
        elif wants in ("key", "key or }"):
            if wants == "key or }" and char == "}":
                stack.pop()
                wants, at = "more", at + 1
            elif char != '"':
                return _bad(char, "looking for beginning of object key string")
            else:
                at, problem = _scalar(text, at)
                if problem:
                    return problem
                wants = "colon"
        elif wants == "colon":
            if char != ":":
                return _bad(char, "after object key")
            wants, at = "value", at + 1
        elif not stack:
            return _bad(char, "after top-level value")
        elif char == ",":
            wants, at = ("value" if stack[-1] == "[" else "key"), at + 1
        elif char == ("]" if stack[-1] == "[" else "}"):
            stack.pop()
            at += 1
        else:
            where = "array element" if stack[-1] == "[" else "object key:value pair"
            return _bad(char, f"after {where}")


def _scalar(text: str, at: int) -> tuple[int, str]:
    """Where a scalar ends, and what is wrong with it."""
    char = text[at]
    if char == '"':
        return _string_end(text, at + 1)
    if char in _LITERALS:
        word = _LITERALS[char]
        for n in range(1, len(word)):
            if at + n == len(text):
                return at, _END
            if text[at + n] != word[n]:
                return at, _bad(text[at + n], f"in literal {word} (expecting '{word[n]}')")
        return at + len(word), ""
    if char == "-" or char in _DIGITS:
        return _number_end(text, at)
    return at, _bad(char, "looking for beginning of value")


_DIGITS: Final = "0123456789"


def _string_end(text: str, at: int) -> tuple[int, str]:
    while at < len(text):
        char = text[at]
        if char == '"':
            return at + 1, ""
        if char < " ":
            return at, _bad(char, "in string literal")
        if char == "\\":
            at += 1
            if at == len(text):
                break
            if text[at] == "u":
                for n in range(1, 5):
                    if at + n == len(text):
                        return at, _END
                    if text[at + n] not in "0123456789abcdefABCDEF":
                        return at, _bad(text[at + n], "in \\u hexadecimal character escape")
                at += 4
            elif text[at] not in '"\\/bfnrt':
                return at, _bad(text[at], "in string escape code")
        at += 1
    return at, _END


def _number_end(text: str, at: int) -> tuple[int, str]:
    def digits(start: int, what: str) -> tuple[int, str]:
        end = start
        while end < len(text) and text[end] in _DIGITS:
            end += 1
        if end > start:
            return end, ""
        return end, _bad(text[end], what) if end < len(text) else _END

    if text[at] == "-":
        at += 1
    if text[at : at + 1] == "0":
        at += 1
    else:
        at, problem = digits(at, "in numeric literal")
        if problem:
            return at, problem
    if text[at : at + 1] == ".":
        at, problem = digits(at + 1, "after decimal point in numeric literal")
        if problem:
            return at, problem
    if text[at : at + 1] in ("e", "E"):
        at += 1
        if text[at : at + 1] in ("+", "-"):
            at += 1
        return digits(at, "in exponent of numeric literal")
    return at, ""


def _bad(char: str, where: str) -> str:
    """Go looks at bytes: of a longer character it shows the first one."""
    first = chr(char.encode("utf-8", "surrogatepass")[0])
    quoted = {"'": r"'\''", '"': "'\"'"}.get(first)
    if quoted is None:
        quoted = "'" + strconv.quote(first)[1:-1] + "'"
    return f"invalid character {quoted} {where}"
