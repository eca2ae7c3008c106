"""Go's own functions of templates: and, or, not, comparisons, index, len, print and escapes.

This module knows values; it knows neither Sprig, whose `slice` hides this one, nor the syntax.
Source: Go 1.18.0's text/template/funcs.go.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from krm_fn.lang.budget import Budget
from krm_fn.lang.go.printf import sprint, sprintf, sprintln
from krm_fn.lang.go.values import (
    GoInt,
    GoObject,
    GoUint8,
    from_bytes,
    kind_name,
    to_bytes,
    to_float,
    type_name,
)
from krm_fn.lang.gotemplate.values import Family, FunctionError, indirect, truth

BUILTINS: Final = Family()
"""The functions by name. `and` and `or` are evaluated by the nodes, since they stop early."""


@BUILTINS.function("and or", "value ...value")
def choose(first: Any, *rest: Any) -> Any:
    """Never called; here for the signature."""
    raise AssertionError("and and or are evaluated by the nodes")


@BUILTINS.function("not", "value")
def not_(value: Any) -> bool:
    return not truth(value)


# Comparisons


def _basic_kind(value: Any) -> str | None:
    """The kind under which a value is compared; None where it is none of the basic kinds."""
    kind = kind_name(value)
    if isinstance(value, GoInt):
        return kind.rstrip("0123456789")
    return kind if kind in ("bool", "float64", "string", "complex128") else None


def _equal(first: Any, other: Any) -> bool:
    kind, other_kind = _basic_kind(first), _basic_kind(other)
    if kind != other_kind:
        if {kind, other_kind} == {"int", "uint"}:
            return int(first) == int(other)
        if first is not None and other is not None:
            raise FunctionError("incompatible types for comparison")
        return False
    if kind is None:
        if first is None or other is None:
            return first is other
        if not isinstance(other, GoObject):
            raise _uncomparable(other)
        return bool(first == other)
    if kind == "float64":
        return to_float(first) == to_float(other)
    if kind == "string":
        return bool(first == other) or to_bytes(first) == to_bytes(other)
    return bool(first == other)


def _uncomparable(value: Any) -> FunctionError:
    return FunctionError(f"uncomparable type {type_name(value)}")


@BUILTINS.function("eq", "value ...value")
def eq(first: Any, *others: Any) -> bool:
    return _any_equal(first, others)


def _any_equal(first: Any, others: Sequence[Any]) -> bool:
    if isinstance(first, list | dict):
        raise _uncomparable(first)
    if not others:
        raise FunctionError("missing argument for comparison")
    return any(_equal(first, other) for other in others)


@BUILTINS.function("ne", "value value")
def ne(first: Any, other: Any) -> bool:
    return not _any_equal(first, (other,))


@BUILTINS.function("lt", "value value")
def lt(first: Any, other: Any) -> bool:
    return _less(first, other)


def _less(first: Any, other: Any) -> bool:
    kind, other_kind = _basic_kind(first), _basic_kind(other)
    if kind is None or other_kind is None:
        raise FunctionError("invalid type for comparison")
    if kind != other_kind:
        if {kind, other_kind} == {"int", "uint"}:
            return int(first) < int(other)
        raise FunctionError("incompatible types for comparison")
    if kind in ("bool", "complex128"):
        raise FunctionError("invalid type for comparison")
    if kind == "float64":
        return to_float(first) < to_float(other)
    if kind == "string":
        # Code points sort as their UTF-8 bytes do, but for bytes that are none.
        return to_bytes(first) < to_bytes(other)
    return int(first) < int(other)


@BUILTINS.function("le", "value value")
def le(first: Any, other: Any) -> bool:
    return _less(first, other) or _any_equal(first, (other,))


@BUILTINS.function("gt", "value value")
def gt(first: Any, other: Any) -> bool:
    return not (_less(first, other) or _any_equal(first, (other,)))


@BUILTINS.function("ge", "value value")
def ge(first: Any, other: Any) -> bool:
    return not _less(first, other)


# Collections


@BUILTINS.function("index", "value ...value")
def index(item: Any, *keys: Any) -> Any:
    """A member of a member of ...; a missing map key is the type's zero."""
    if item is None:
        raise FunctionError("index of untyped nil")
    for key in keys:
        item = indirect(item)
        if item is None:
            raise FunctionError("index of nil pointer")
        if isinstance(item, dict):
            if type(key) is not str:
                got = "value is nil" if key is None else f"value has type {type_name(key)}"
                raise FunctionError(f"{got}; should be string")
            zero = "" if type_name(item) == "map[string]string" else None
            item = item.get(key, zero)
        elif isinstance(item, list):
            item = item[_position(key, len(item))]
        elif type(item) is str:
            data = to_bytes(item)
            item = GoUint8(data[_position(key, len(data))])
        else:
            raise FunctionError(f"can't index item of type {type_name(item)}")
    return item


def _position(key: Any, length: int) -> int:
    if key is None:
        raise FunctionError("cannot index slice/array with nil")
    if not isinstance(key, GoInt):
        raise FunctionError(f"cannot index slice/array with type {type_name(key)}")
    if not 0 <= key < length:
        raise FunctionError(f"index out of range: {int(key)}")
    return int(key)


@BUILTINS.function("slice", "value ...value")
def slice_(item: Any, *indexes: Any) -> Any:
    """A part of a list, or of a string's bytes. Source: funcs.go slice."""
    if item is None:
        raise FunctionError("slice of untyped nil")
    item = indirect(item)
    if len(indexes) > 3:
        raise FunctionError(f"too many slice indexes: {len(indexes)}")
    if type(item) is str:
        if len(indexes) == 3:
            raise FunctionError("cannot 3-index slice a string")
        data: Any = to_bytes(item)
    elif isinstance(item, list):
        data = item
    else:
        raise FunctionError(f"can't slice item of type {type_name(item)}")
    places = [_position(index, len(data) + 1) for index in indexes]
    start, stop, *_ = [*places, *(0, len(data))[len(places) :]]
    if start > stop:
        raise FunctionError(f"invalid slice index: {start} > {stop}")
    part = data[start:stop]
    return from_bytes(part) if type(item) is str else part


@BUILTINS.function("len", "value")
def len_(value: Any) -> GoInt:
    """Members of a list or map, bytes of a string."""
    if value is None:
        raise FunctionError("len of nil")
    value = indirect(value)
    if value is None:
        raise FunctionError("len of nil pointer")
    if type(value) is str:
        return GoInt(len(to_bytes(value)))
    if isinstance(value, list | dict):
        return GoInt(len(value))
    raise FunctionError(f"len of type {type_name(value)}")


@BUILTINS.function("call", "value ...value")
def call(function: Any, *arguments: Any) -> Any:
    """Calls a function value; there are none."""
    if function is None:
        raise FunctionError("call of nil")
    raise FunctionError(f"non-function of type {type_name(function)}")


# Texts


@BUILTINS.function("print", "...any", budget=True)
def print_(budget: Budget, *values: Any) -> str:
    return _paid(budget, values, sprint(values, budget.output))


def _paid(budget: Budget, values: Sequence[Any], text: str) -> str:
    """Pay for printing: what is no text costs more than the text that it makes."""
    if not all(type(value) is str for value in values):
        budget.spend(len(text) // 2)
    return text


@BUILTINS.function("println", "...any", budget=True)
def println(budget: Budget, *values: Any) -> str:
    return _paid(budget, values, sprintln(values, budget.output))


@BUILTINS.function("printf", "string ...any", budget=True)
def printf(budget: Budget, template: str, *values: Any) -> str:
    return _paid(budget, values, sprintf(template, values, budget.output))


def _joined(budget: Budget, values: Sequence[Any]) -> str:
    """What html, js and urlquery escape. Source: funcs.go evalArgs."""
    if len(values) == 1 and type(values[0]) is str:
        return values[0]
    shown = ["<no value>" if v is None else indirect(v) for v in values]
    return _paid(budget, values, sprint(shown, budget.output))


@BUILTINS.function("html", "...any", budget=True)
def html(budget: Budget, *values: Any) -> str:
    text = _joined(budget, values)
    return text.translate(_HTML)


_HTML: Final = str.maketrans(
    {"\0": "\ufffd", '"': "&#34;", "'": "&#39;", "&": "&amp;", "<": "&lt;", ">": "&gt;"}
)


@BUILTINS.function("js", "...any", budget=True)
def js(budget: Budget, *values: Any) -> str:
    text = _joined(budget, values)
    return "".join(map(_js_escape, text))


def _js_escape(char: str) -> str:
    if char in "\\'\"":
        return "\\" + char
    code = ord(char)
    if char in "<>&=" or code < 0x20:
        return f"\\u{code:04X}"
    if 0xDC80 <= code < 0xDD00:
        return "\\uFFFD"
    return char if code < 0x80 or char.isprintable() else f"\\u{code:04X}"


@BUILTINS.function("urlquery", "...any", budget=True)
def urlquery(budget: Budget, *values: Any) -> str:
    text = _joined(budget, values)
    from urllib.parse import quote_plus

    return quote_plus(to_bytes(text), safe="")
