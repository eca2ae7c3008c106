"""Values of Go's types that JSON has not, and the names of Go's types.

Numbers: a plain Python int or float is JSON's number, which Go decodes to float64; an int of one of
Go's integer types is a `GoInt`. Strings are str; bytes that are not UTF-8 are held as Python's
surrogate escapes, so that cutting a string in the middle of a character loses nothing. Every
language in `krm_fn.lang` keeps to this.
Source: Go's reflect package; docs/spec/modrule.md section 1.9.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from krm_fn.errors import EvaluationError


class GoError(EvaluationError):
    """What a function of Go's library returns as its error; the message is Go's."""


class GoInt(int):
    """An int of Go's type `int`: the result of `length`, a key part, a template's int literal."""

    __slots__ = ()
    go_type: ClassVar[str] = "int"
    go_kind: ClassVar[str] = "int"

    def go_string(self) -> str | None:
        """What the type's method String returns; None where it has none."""
        return None


class GoInt64(GoInt):
    """An int of Go's type `int64`."""

    __slots__ = ()
    go_type = "int64"
    go_kind = "int64"


class GoUint8(GoInt):
    """An int of Go's type `uint8`, a byte."""

    __slots__ = ()
    go_type = "uint8"
    go_kind = "uint8"


class GoUint64(GoInt):
    """An int of Go's type `uint64`."""

    __slots__ = ()
    go_type = "uint64"
    go_kind = "uint64"


class GoList(list[Any]):
    """A slice that is nil, or whose elements have a type: `[]string`, `[]int`."""

    __slots__ = ("go_type", "is_nil")

    def __init__(
        self, items: Iterable[Any] = (), go_type: str = "[]interface {}", is_nil: bool = False
    ) -> None:
        super().__init__(items)
        self.go_type = go_type
        self.is_nil = is_nil


class GoMap(dict[str, Any]):
    """A map with text keys that is nil, or whose values have a type: `map[string]string`."""

    __slots__ = ("go_type", "is_nil")

    def __init__(
        self,
        items: Mapping[str, Any] | None = None,
        go_type: str = "map[string]interface {}",
        is_nil: bool = False,
    ) -> None:
        super().__init__(items or {})
        self.go_type = go_type
        self.is_nil = is_nil


class NamedInt(GoInt):
    """An integer of a type with a name and methods: it counts as a number, prints as a string."""

    __slots__ = ()


class GoObject:
    """A value of a Go type with fields or methods: the base of what JSON has no type for."""

    __slots__ = ()
    go_type: ClassVar[str] = "struct {}"
    go_kind: ClassVar[str] = "struct"

    def go_string(self) -> str | None:
        """What the type's method String returns; None where it has none."""
        return None

    def go_source(self) -> str | None:
        """What the type's method GoString returns, for %#v; None where it has none."""
        return None

    def go_fields(self) -> dict[str, Any] | None:
        """The fields that print where there is no text; None where an address is among them."""
        return None

    def go_json(self) -> Any:
        """What the value is in JSON, as a value that JSON has. Raises GoError."""
        return {}

    def deep_equal(self, other: Any) -> bool:
        """Whether an object of the same type is equal under reflect.DeepEqual; `==` is Go's."""
        return self is other or bool(self == other)


_TYPES: dict[type, tuple[str, str]] = {
    type(None): ("<nil>", "invalid"),
    bool: ("bool", "bool"),
    str: ("string", "string"),
    int: ("float64", "float64"),
    float: ("float64", "float64"),
    complex: ("complex128", "complex128"),
    list: ("[]interface {}", "slice"),
    dict: ("map[string]interface {}", "map"),
}


def type_name(value: Any) -> str:
    """The name of a value's type as %T prints it; objects of other classes say `go_type`."""
    names = _TYPES.get(type(value))
    return names[0] if names else str(value.go_type)


def kind_name(value: Any) -> str:
    """The name of a value's kind in Go's reflect package; other classes say `go_kind`."""
    names = _TYPES.get(type(value))
    if names:
        return names[1]
    if isinstance(value, GoInt):
        return value.go_kind
    if isinstance(value, list):
        return "slice"
    if isinstance(value, dict):
        return "map"
    return str(value.go_kind)


def is_nil(value: Any) -> bool:
    """Whether a list or map is Go's nil list or nil map."""
    return isinstance(value, GoList | GoMap) and value.is_nil


def to_float(value: float) -> float:
    """A number as a float64; infinite where it is too large."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def to_bytes(text: str) -> bytes:
    """The bytes of a string as Go holds it; a lone surrogate is U+FFFD, as in Go's JSON decoder."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        whole = "".join(c if not 0xD800 <= ord(c) < 0xDC80 else "\ufffd" for c in text)
        return whole.encode("utf-8", "surrogateescape")


def from_bytes(data: bytes) -> str:
    """The text of bytes that may not be UTF-8; the reverse of `to_bytes`."""
    return data.decode("utf-8", "surrogateescape")
