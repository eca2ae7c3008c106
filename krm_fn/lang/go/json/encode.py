"""JSON texts as Go's encoding/json writes them.

Keys are sorted, `<`, `>` and `&` are escaped unless told otherwise, and floats have their own form.
Source: Go's encoding/json (encode.go).
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any, Final

from krm_fn import limits
from krm_fn.lang.go import strconv
from krm_fn.lang.go.json.scanner import Node
from krm_fn.lang.go.release import Release
from krm_fn.lang.go.values import GoError

_ESCAPES: Final = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_NEW_ESCAPES: Final = {"\b": "\\b", "\f": "\\f"}
_HAS_NEW_ESCAPES: Final = 22
"""The release from which `\\b` and `\\f` are written as such."""


@cache
def _html() -> re.Pattern[str]:
    return re.compile("[<>&\u2028\u2029]")


@cache
def _special() -> re.Pattern[str]:
    return re.compile('[\\x00-\\x1f"\\\\<>&\u2028\u2029\ud800-\udfff]')


def quote(text: str, release: Release = Release.GO_1_26, html: bool = True) -> str:
    """A string as Go writes it; without `html`, `<`, `>` and `&` stand as they are."""

    def escape(match: re.Match[str]) -> str:
        char = match[0]
        if char in _ESCAPES:
            return _ESCAPES[char]
        if char in _NEW_ESCAPES and release >= _HAS_NEW_ESCAPES:
            return _NEW_ESCAPES[char]
        if char in "<>&" and not html:
            return char
        return "\\ufffd" if "\ud800" <= char <= "\udfff" else _escaped(char)

    return '"' + _special().sub(escape, text) + '"'


def _escaped(char: str) -> str:
    return f"\\u{ord(char):04x}"


def marshal(value: Any, sort: bool = True) -> str:
    """A value of JSON's types as Go writes it, without spaces. Raises GoError for infinite floats.

    Without `sort`, members stand in the order that the mapping has, as the fields of a struct do.
    """
    kind = type(value)
    if kind is str:
        return quote(value)
    if kind is dict:
        keys = sorted(value) if sort else value
        return "{" + ",".join([f"{quote(k)}:{marshal(value[k], sort)}" for k in keys]) + "}"
    if kind is list:
        return "[" + ",".join([marshal(element, sort) for element in value]) + "]"
    if kind is float:
        return float_text(value)
    if value is None:
        return "null"
    if kind is bool:
        return "true" if value else "false"
    return str(value)


def float_text(value: float) -> str:
    """The text of a float64 in Go's encoding/json: plain digits within [1e-6, 1e21).

    Raises GoError where it is not finite. Source: encoding/json floatEncoder.
    """
    mantissa, exponent, negative = strconv.shortest_digits(value)
    sign = "-" if negative else ""
    if exponent is None:
        raise GoError(f"json: unsupported value: {strconv.format_float(value)}")
    if mantissa != "0" and (exponent < -6 or exponent >= 21):
        point = "." + mantissa[1:] if len(mantissa) > 1 else ""
        return f"{sign}{mantissa[0]}{point}e{'-' if exponent < 0 else '+'}{abs(exponent)}"
    return sign + strconv.plain_digits(mantissa, exponent)


def write(node: Node) -> str:
    """What `scanner.parse` read, without spaces: objects keep their order, dicts are sorted."""
    parts: list[str] = []
    with limits.deep_stack():
        _write(node, parts)
    return "".join(parts)


def _write(node: Node, parts: list[str]) -> None:
    if type(node) is str:
        parts.append(_html().sub(lambda match: _escaped(match[0]), node))
        return
    if type(node) is list:
        parts.append("[")
        for n, element in enumerate(node):
            if n:
                parts.append(",")
            _write(element, parts)
        parts.append("]")
        return
    sort = type(node) is dict
    pairs = sorted(node.items(), key=lambda pair: pair[0]) if sort else node.pairs
    parts.append("{")
    for n, (key, member) in enumerate(pairs):
        parts += ("," if n else "", quote(key), ":")
        _write(member, parts)
    parts.append("}")
