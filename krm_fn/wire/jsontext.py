"""JSON texts: where objects stand in them, and how a changed one is written back.

Objects are found by `raw_decode` spans, so that untouched ones keep their bytes. A touched object
is written anew as a whole, in the file's own indentation and with its unchanged numbers spelled as
they were (1.10 stays 1.10).
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from krm_fn import limits
from krm_fn.values import align, equal
from krm_fn.wire.compose import YamlError
from krm_fn.wire.scalars import INT_MIN, UINT_MAX, UNPRINTABLE

_TIGHT: Final = re.compile(r'[\[{\s]*"(?:[^"\\]|\\.)*":\S')
_ESCAPED_LETTER: Final = re.compile(r"\\u(?!00[0-7])")
_NOT_ASCII: Final = re.compile("[^\x20-\x7e\U00010000-\U0010ffff]")
_SPACE: Final = re.compile(r"[ \t\n\r]*")
_SURROGATES: Final = re.compile(
    r"\\\\|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    r"|(?P<half>\\u[dD][89a-fA-F][0-9a-fA-F]{2})"
)


class JsonError(YamlError):
    """The text is JSON that this program does not take."""


class JsonSyntaxError(JsonError):
    """The text is not JSON."""


@dataclass(frozen=True, slots=True)
class JsonValue:
    """A decoded value with its span in the text."""

    start: int
    end: int
    value: Any


def documents(text: str) -> Iterator[JsonValue]:
    """The values of a JSON text, one after the other. Raises JsonError."""
    check_nesting(text)
    check_surrogates(text)
    at = _skip(text, 0)
    while at < len(text):
        value = _decode(text, at)
        yield value
        at = _skip(text, value.end)


def check_nesting(text: str) -> None:
    """Refuse what nests deeper than `limits.NESTING`, before the decoder recurses into it."""
    at = limits.json_too_deep(text)
    if at is not None:
        raise JsonError(f"nested deeper than {limits.NESTING} levels", _line(text, at))


def check_surrogates(text: str) -> None:
    """Refuse half a surrogate pair: no UTF-8 text can hold it, and Go would put a U+FFFD there."""
    for match in _SURROGATES.finditer(text):
        if match["half"]:
            raise JsonError(
                f"{match['half']} is half of a surrogate pair", _line(text, match.start())
            )


def members(text: str, start: int) -> Iterator[tuple[str, int, JsonValue]]:
    """The members of the object at `start`: key, where the key starts, value with its span."""
    at = _skip(text, start + 1)
    while text[at] != "}":
        key = _decode(text, at)
        colon = _skip(text, key.end)
        value = _decode(text, _skip(text, colon + 1))
        yield key.value, at, value
        at = _skip(text, value.end)
        if text[at] == ",":
            at = _skip(text, at + 1)


def elements(text: str, start: int) -> Iterator[JsonValue]:
    """The elements of the list at `start`."""
    at = _skip(text, start + 1)
    while text[at] != "]":
        value = _decode(text, at)
        yield value
        at = _skip(text, value.end)
        if text[at] == ",":
            at = _skip(text, at + 1)


def _decode(text: str, start: int) -> JsonValue:
    try:
        value, end = _DECODER.raw_decode(text, start)
    except json.JSONDecodeError as error:
        raise JsonSyntaxError(f"not valid JSON: {error.msg}", error.lineno) from None
    except _RefusedError as error:
        raise JsonError(str(error), _line(text, start)) from None
    return JsonValue(start, end, value)


class _RefusedError(ValueError):
    """Python's decoder would take it, Go's does not."""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise _RefusedError(f"the key {key!r} is there twice in one object")
            seen.add(key)
    return result


def _constant(name: str) -> Any:
    raise _RefusedError(f"not valid JSON: {name}")


def _integer(text: str) -> int | float:
    """As Kubernetes reads JSON: what no 64-bit number holds is a float."""
    if len(text) <= 20:
        number = int(text)
        if INT_MIN <= number <= UINT_MAX:
            return number
    return _float(text)


def _float(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise _RefusedError(f"not valid JSON: the number {text[:30]} is out of range")
    return number


_DECODER: Final = json.JSONDecoder(
    object_pairs_hook=_object,
    parse_constant=_constant,
    parse_int=_integer,
    parse_float=_float,
    strict=True,
)


def _skip(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    assert match is not None
    return match.end()


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1


# ---------------------------------------------------------------------------------------- writing


class _Spelled:
    """A number with the digits that stood in the text."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text


_SPELLING_DECODER: Final = json.JSONDecoder(parse_int=_Spelled, parse_float=_Spelled, strict=True)


def rewrite(text: str, found: JsonValue, new: Any) -> str:
    """The text of the object at `found` with the value `new`, laid out as it was."""
    source = text[found.start : found.end]
    spelled = _SPELLING_DECODER.decode(source)
    return write(_respell(found.value, new, spelled), layout_of(text, found))


@dataclass(frozen=True, slots=True)
class JsonLayout:
    """How a JSON text is laid out."""

    indent: str | None
    """What a member is indented by; None: all on one line."""
    margin: str = ""
    colon: str = ": "
    comma: str = ", "
    ascii_only: bool = False
    newline: str = "\n"

    def between(self, margin: str) -> str:
        """What stands between two members that are indented by `margin`."""
        return self.comma if self.indent is None else f",{self.newline}{margin}"


def layout_of(text: str, found: JsonValue) -> JsonLayout:
    """The layout of the object at `found`, by its own lines."""
    source = text[found.start : found.end]
    ascii_only = source.isascii() and _ESCAPED_LETTER.search(source) is not None
    newline = "\r\n" if "\r\n" in source else "\n"
    first, _, rest = source.partition("\n")
    if not rest or first.strip() not in ("{", "["):
        tight = _TIGHT.match(source) is not None
        return JsonLayout(
            None, "", ":" if tight else ": ", "," if tight else ", ", ascii_only, newline
        )
    line = text.rfind("\n", 0, found.start) + 1
    closing = source[source.rfind("\n") + 1 :]
    margin = _leading(closing) or _leading(text[line : found.start])
    indent = _leading(rest).removeprefix(margin)
    return JsonLayout(indent, margin, ": ", ", ", ascii_only, newline)


def _leading(line: str) -> str:
    return line[: len(line) - len(line.lstrip(" \t"))]


def write(value: Any, layout: JsonLayout) -> str:
    """A value as JSON text; the first line without the margin."""
    parts: list[str] = []
    _write(value, layout, layout.margin, parts)
    return "".join(parts)


def _write(value: Any, layout: JsonLayout, margin: str, parts: list[str]) -> None:
    kind = type(value)
    if kind is _Spelled:
        parts.append(value.text)
    elif (kind is dict or kind is list) and value:
        opening, closing = ("{", "}") if kind is dict else ("[", "]")
        deeper = margin + (layout.indent or "")
        between = layout.between(deeper)
        parts.append(opening)
        if layout.indent is not None:
            parts.append(layout.newline + deeper)
        for n, member in enumerate(value.items() if kind is dict else value):
            if n:
                parts.append(between)
            if kind is dict:
                key, member = member
                parts.append(_quote(key, layout) + layout.colon)
            _write(member, layout, deeper, parts)
        if layout.indent is not None:
            parts.append(layout.newline + margin)
        parts.append(closing)
    elif kind is str:
        parts.append(_quote(value, layout))
    else:
        parts.append(json.dumps(value, allow_nan=False))


def _quote(text: str, layout: JsonLayout) -> str:
    """A string as JSON that YAML readers take too: none of them reads surrogate pairs."""
    escaped = _NOT_ASCII if layout.ascii_only else UNPRINTABLE
    return escaped.sub(_escape, json.dumps(text, ensure_ascii=False))


def _escape(match: re.Match[str]) -> str:
    return f"\\u{ord(match.group()):04x}"


def _respell(old: Any, new: Any, spelled: Any) -> Any:
    """`new` with the numbers that are unchanged since `old` as they were spelled."""
    if type(new) is dict and type(old) is dict:
        return {
            key: _respell(old[key], value, spelled[key]) if key in old else value
            for key, value in new.items()
        }
    if type(new) is list and type(old) is list:
        result = list(new)
        for i, j in align(old, new):
            if i is not None and j is not None:
                result[j] = _respell(old[i], new[j], spelled[i])
        return result
    return spelled if type(spelled) is _Spelled and equal(old, new) else new
