"""CEL's types: what the checker infers, and what values are at run time.

One class stands for both, as in cel-go: at run time only the name counts (`list`, not `list(int)`).
The module knows no values and no functions.
Source: cel-go v0.29, common/types/types.go and checker/format.go.
"""

from __future__ import annotations

from typing import Final


class Type:
    """A type: its kind, its run-time name, its parameters. Immutable.

    `str()` is how cel-go prints it (`list(int)`); `display()` is how the checker's messages do.
    """

    __slots__ = ("_display", "_hash", "kind", "name", "params")

    def __init__(self, kind: str, name: str, params: tuple[Type, ...] = ()) -> None:
        self.kind = kind
        self.name = name
        self.params = params
        self._hash = hash((kind, name, params))
        self._display: str | None = None

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return (
            isinstance(other, Type)
            and self._hash == other._hash
            and self.kind == other.kind
            and self.name == other.name
            and self.params == other.params
        )

    def __hash__(self) -> int:
        return self._hash

    def __str__(self) -> str:
        name = f"<{self.name}>" if self.kind == PARAM else self.name
        if self.kind == WRAPPER:
            return f"wrapper({self.name})"
        return f"{name}({', '.join(map(str, self.params))})" if self.params else name

    def __repr__(self) -> str:
        return f"Type({self})"

    def display(self) -> str:
        """The type as error messages of the checker show it."""
        if self._display is None:
            self._display = self._show()
        return self._display

    def _show(self) -> str:
        if self.kind in _DISPLAY:
            return _DISPLAY[self.kind]
        if not self.params:
            return f"wrapper({self.name})" if self.kind == WRAPPER else self.name
        return f"{self.name}({', '.join([p.display() for p in self.params])})"

    @property
    def is_dyn(self) -> bool:
        """Whether any value may be of it, as far as the checker knows."""
        return self.kind in (DYN_KIND, ANY)


BOOL_KIND: Final = "bool"
BYTES_KIND: Final = "bytes"
DOUBLE_KIND: Final = "double"
DURATION_KIND: Final = "duration"
DYN_KIND: Final = "dyn"
ANY: Final = "any"
ERROR_KIND: Final = "error"
INT_KIND: Final = "int"
LIST: Final = "list"
MAP: Final = "map"
NULL_KIND: Final = "null"
OPAQUE: Final = "opaque"
PARAM: Final = "param"
STRING_KIND: Final = "string"
STRUCT: Final = "struct"
TIMESTAMP_KIND: Final = "timestamp"
TYPE_KIND: Final = "type"
UINT_KIND: Final = "uint"
WRAPPER: Final = "wrapper"

_DISPLAY: Final = {
    ANY: "any",
    DURATION_KIND: "duration",
    ERROR_KIND: "!error!",
    NULL_KIND: "null",
    TIMESTAMP_KIND: "timestamp",
}

BOOL: Final = Type(BOOL_KIND, "bool")
BYTES: Final = Type(BYTES_KIND, "bytes")
DOUBLE: Final = Type(DOUBLE_KIND, "double")
DURATION: Final = Type(DURATION_KIND, "google.protobuf.Duration")
DYN: Final = Type(DYN_KIND, "dyn")
ERROR: Final = Type(ERROR_KIND, "error")
INT: Final = Type(INT_KIND, "int")
NULL: Final = Type(NULL_KIND, "null_type")
STRING: Final = Type(STRING_KIND, "string")
TIMESTAMP: Final = Type(TIMESTAMP_KIND, "google.protobuf.Timestamp")
TYPE: Final = Type(TYPE_KIND, "type")
UINT: Final = Type(UINT_KIND, "uint")


def list_of(element: Type) -> Type:
    """`list(element)`."""
    return Type(LIST, "list", (element,))


def map_of(key: Type, value: Type) -> Type:
    """`map(key, value)`."""
    return Type(MAP, "map", (key, value))


def opaque(name: str, *params: Type) -> Type:
    """A type of a library whose values only its functions look into."""
    return Type(OPAQUE, name, params)


def optional_of(value: Type) -> Type:
    """`optional_type(value)`."""
    return opaque("optional_type", value)


def param(name: str) -> Type:
    """A type parameter of a function, or one that the checker still has to find."""
    return Type(PARAM, name)


def struct(name: str) -> Type:
    """A type with named fields, which a `TypeProvider` describes."""
    return Type(STRUCT, name)


def type_of(inner: Type) -> Type:
    """`type(inner)`, the type of a type's name."""
    return Type(TYPE_KIND, "type", (inner,))


LIST_DYN: Final = list_of(DYN)
MAP_DYN: Final = map_of(DYN, DYN)

NAMED: Final = {
    **{t.name: t for t in (BOOL, BYTES, DOUBLE, DURATION, DYN, INT, NULL, STRING)},
    **{t.name: t for t in (TIMESTAMP, TYPE, UINT, LIST_DYN, MAP_DYN)},
}
"""The types of the language whose names are identifiers."""


def is_optional(kind: Type) -> bool:
    """Whether it is `optional_type(...)`."""
    return kind.kind == OPAQUE and kind.name == "optional_type"


def unwrap_optional(kind: Type) -> tuple[Type, bool]:
    """What is inside an optional type, and whether it was one."""
    return (kind.params[0], True) if is_optional(kind) else (kind, False)


def equivalent(a: Type, b: Type) -> bool:
    """Equal but for the names of type parameters."""
    if a is b:
        return True
    if a.kind != b.kind or len(a.params) != len(b.params):
        return False
    if a.kind != PARAM and a.name != b.name:
        return False
    return all(map(equivalent, a.params, b.params))
