"""The shape of schema facts: kinds, struct types, fields, types of values.

Everything here is immutable and made when it is first asked for. A struct type may contain itself.
Source: reflection over Kubernetes' Go types; for merging, the schemas of its apply configurations.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import Final


class Value(StrEnum):
    """What a value is: a JSON shape and the Go type that reads and writes it.

    The strings are the letters of the table's codes.
    """

    STRING = "s"
    BOOLEAN = "b"
    INT32 = "i"
    INT64 = "l"
    NUMBER = "d"
    BYTES = "y"
    """A string in base64."""
    QUANTITY = "Q"
    INT_OR_STRING = "O"
    TIME = "T"
    MICRO_TIME = "U"
    RAW = "R"
    """Any JSON: runtime.RawExtension."""
    FIELDS = "F"
    """Any JSON object: metav1.FieldsV1."""
    JSON = "J"
    """Any JSON: apiextensions' JSON."""
    SCHEMA_OR_BOOLEAN = "B"
    SCHEMA_OR_LIST = "A"
    SCHEMA_OR_STRINGS = "S"
    LIST = "["
    MAP = "{"
    """A map with text keys."""
    STRUCT = "#"


RESOURCE_LIST: Final = "L"
"""The code of v1.ResourceList: a map of quantities that defaulting rounds."""


class Type:
    """The type of a value.

    `element` is a list's or a map's element type, or the schema of the three unions. `pointer`
    tells a value that may be nil, so that its zero is kept. `rounded` marks v1.ResourceList, whose
    quantities defaulting rounds.
    """

    __slots__ = ("_struct", "element", "pointer", "rounded", "value")

    def __init__(
        self,
        value: Value,
        pointer: bool = False,
        element: Type | None = None,
        struct: Callable[[], Struct] | None = None,
        rounded: bool = False,
    ) -> None:
        self.value = value
        self.pointer = pointer
        self.element = element
        self.rounded = rounded
        self._struct = struct

    @property
    def struct(self) -> Struct:
        """The struct type of a value that is a STRUCT."""
        assert self._struct is not None
        return self._struct()


class Field:
    """A member of a struct type.

    `relation` says how server-side apply merges it: "atomic" (as one value), "set" (a list of
    different scalars), "map" (a list of maps told apart by `keys`), "granular" (by its members), or
    "" for a struct that merges as its type says.
    `key_defaults` are the values that missing keys count as. `embedded` are the embedded structs
    that Go's errors name on the way to the field, and `go_name` is the Go type where a scalar in it
    has a name, such as `v1.PullPolicy`.
    """

    __slots__ = (
        "embedded",
        "go_name",
        "key_defaults",
        "keys",
        "name",
        "omit_empty",
        "omit_zero",
        "relation",
        "type",
    )

    def __init__(
        self,
        name: str,
        type: Type,  # noqa: A002
        omit_empty: bool,
        omit_zero: bool,
        relation: str,
        keys: tuple[str, ...],
        key_defaults: dict[str, str | int],
        embedded: tuple[str, ...] = (),
        go_name: str = "",
    ) -> None:
        self.embedded = embedded
        self.go_name = go_name
        self.name = name
        self.type = type
        self.omit_empty = omit_empty
        self.omit_zero = omit_zero
        self.relation = relation
        self.keys = keys
        self.key_defaults = key_defaults


class Struct:
    """A Go struct type: `name` is "core/v1.Container", `fields` are in Go's order.

    `atomic` tells a struct that server-side apply takes as one value.
    """

    __slots__ = ("atomic", "fields", "name")

    def __init__(self, name: str, fields: dict[str, Field], atomic: bool) -> None:
        self.name = name
        self.fields = fields
        self.atomic = atomic


class KindSchema:
    """A kind of one version. `plural` is "" where the kind is no resource, as a list is none."""

    __slots__ = ("_struct", "group", "kind", "namespaced", "plural", "version")

    def __init__(
        self,
        group: str,
        version: str,
        kind: str,
        plural: str,
        namespaced: bool,
        struct: Callable[[], Struct],
    ) -> None:
        self.group = group
        self.version = version
        self.kind = kind
        self.plural = plural
        self.namespaced = namespaced
        self._struct = struct

    @property
    def struct(self) -> Struct:
        """The type of the kind's objects."""
        return self._struct()
