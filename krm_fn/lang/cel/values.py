"""What expressions compute with.

| CEL | Python |
|---|---|
| null, bool, int, double, string, bytes | None, bool, int, float, str, bytes |
| list, map | list or `ListView`, dict or `MapView` |
| uint, timestamp, duration, optional | the classes below |
| type | `types.Type` |
| what a library adds | a subclass of `Value` |

JSON is read in place. A dict's keys are strings as they are; any other key is wrapped (`map_key`),
since Python takes True, 1 and 1.0 for one key. The module knows no syntax and no function.
Source: cel-go v0.29, common/types.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any, Final, Protocol

from krm_fn.errors import EvaluationError
from krm_fn.lang.cel import types as t
from krm_fn.lang.cel.types import Type
from krm_fn.lang.go.strconv import format_float

INT_MIN: Final = -(2**63)
INT_MAX: Final = 2**63 - 1
UINT_MAX: Final = 2**64 - 1

RANGE_MOST: Final = 1_000_000
"""Elements that lists.range makes at most."""

NO_OVERLOAD: Final = "no such overload"


def no_overload() -> EvaluationError:
    """The error of an operation that there is not for these values."""
    return EvaluationError(NO_OVERLOAD)


class UInt:
    """An unsigned integer of 64 bits; a type of its own, so that arithmetic cannot lose it."""

    __slots__ = ("value",)

    def __init__(self, value: int) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, UInt) and other.value == self.value

    def __hash__(self) -> int:
        return hash((UInt, self.value))

    def __repr__(self) -> str:
        return f"UInt({self.value})"


class Duration:
    """A span of time in nanoseconds, within int64."""

    __slots__ = ("nanos",)

    def __init__(self, nanos: int) -> None:
        self.nanos = nanos

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Duration) and other.nanos == self.nanos

    def __hash__(self) -> int:
        return hash((Duration, self.nanos))

    def __repr__(self) -> str:
        return f"Duration({self.nanos})"


class Timestamp:
    """An instant in nanoseconds since 1970, and the offset in seconds it was written with.

    `offset` is None for UTC written as Z. Equality is that of instants.
    """

    __slots__ = ("nanos", "offset")

    def __init__(self, nanos: int, offset: int | None = None) -> None:
        self.nanos = nanos
        self.offset = offset

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Timestamp) and other.nanos == self.nanos

    def __hash__(self) -> int:
        return hash((Timestamp, self.nanos))

    def __repr__(self) -> str:
        return f"Timestamp({self.nanos}, {self.offset})"


class Optional:
    """A value that may be missing."""

    __slots__ = ("_value", "present")

    def __init__(self, value: Any, present: bool = True) -> None:
        self._value = value
        self.present = present

    @property
    def value(self) -> Any:
        """What is inside; an EvaluationError where nothing is."""
        if not self.present:
            raise EvaluationError("optional.none() dereference")
        return self._value

    def __repr__(self) -> str:
        return f"Optional({self._value!r})" if self.present else "NONE"


NONE: Final = Optional(None, present=False)


class Value:
    """A value of a type that a library adds. Subclasses say what can be done with it."""

    __slots__ = ()
    type: Type
    """Its run-time type."""
    go_type: str = ""
    """What Go's `%T` prints for it, which some messages show."""

    def equal(self, other: Any) -> bool:
        """Whether it equals another value; raises EvaluationError if that cannot be asked."""
        raise no_overload()

    def get(self, key: str) -> Any:
        """The value of a field; `has` was not asked before. Raises EvaluationError."""
        raise EvaluationError(f"no such key: {key}")

    def has(self, key: str) -> bool:
        """Whether a field is set. Raises EvaluationError."""
        return False

    @property
    def type_value(self) -> Type:
        """What `type(x)` gives."""
        return self.type

    @property
    def indexes(self) -> bool:
        """Whether `get` and `has` are meant to be used."""
        return False

    @property
    def zero(self) -> bool:
        """Whether it is its type's empty value."""
        return False


class ObjectShape:
    """The name of a struct type, and the shapes of its fields.

    Only fields that are structs, or lists or maps of them, and `PLAIN` ones have a shape. A map of
    structs has no name, and all its keys have one shape.
    """

    __slots__ = ("fields", "name")

    def __init__(self, name: str, fields: FieldShapes | None = None) -> None:
        self.name = name
        self.fields: FieldShapes = {} if fields is None else fields


class FieldShapes(Protocol):
    """The shapes of fields. Not a Mapping: a struct type may contain itself without end."""

    def get(self, key: str, /) -> ObjectShape | None: ...


PLAIN: Final = ObjectShape("")
"""The shape of what a Go type turns into JSON by itself: its maps and lists are no views."""


class ListView:
    """A list read in place, with stricter rules than a list literal's: indexes are ints.

    Elements are views in turn. Stands for a list of a typed object, whose elements have a shape.
    Source: apiserver v0.37, pkg/cel/common/valuesschemalesstyped.go.
    """

    __slots__ = ("items", "shape")

    def __init__(self, items: list[Any], shape: ObjectShape | None = None) -> None:
        self.items = items
        self.shape = shape

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[Any]:
        for item in self.items:
            yield view(item, self.shape)

    def at(self, index: int) -> Any:
        """The element at an index that there is."""
        return view(self.items[index], self.shape)


class MapView:
    """A map with string keys read in place, as a typed object's map or struct; see ListView."""

    __slots__ = ("entries", "shape")

    def __init__(self, entries: dict[str, Any], shape: ObjectShape | None = None) -> None:
        self.entries = entries
        self.shape = shape

    def __len__(self) -> int:
        return len(self.entries)

    def find(self, key: Any) -> tuple[Any, bool]:
        """The value of a key, and whether there is one; an EvaluationError for other than text."""
        if type(key) is not str:
            raise EvaluationError(f"unsupported map key type: {go_type(key)}")
        if key in self.entries:
            return self.member(key), True
        return None, False

    def member(self, key: str) -> Any:
        """The value of a key that there is."""
        value = self.entries[key]
        kind = type(value)
        if kind is not dict and kind is not list:
            return value
        return view(value, None if self.shape is None else self.shape.fields.get(key))


def view(value: Any, shape: ObjectShape | None = None) -> Any:
    """A JSON value as part of a typed object."""
    kind = type(value)
    if shape is PLAIN:
        return value
    if kind is dict:
        return MapView(value, shape)
    if kind is list:
        return ListView(value, shape)
    return value


# Types at run time

_TYPES: Final[dict[type, Type]] = {
    type(None): t.NULL,
    bool: t.BOOL,
    int: t.INT,
    float: t.DOUBLE,
    str: t.STRING,
    bytes: t.BYTES,
    list: t.LIST_DYN,
    dict: t.MAP_DYN,
    ListView: t.LIST_DYN,
    MapView: t.MAP_DYN,
    UInt: t.UINT,
    Duration: t.DURATION,
    Timestamp: t.TIMESTAMP,
    Optional: t.opaque("optional_type", t.DYN),
    Type: t.TYPE,
}


def type_of(value: Any) -> Type:
    """The run-time type of a value."""
    found = _TYPES.get(type(value))
    if found is None:
        assert isinstance(value, Value)
        return value.type
    return found


_GO_TYPES: Final[dict[type, str]] = {
    type(None): "types.Null",
    bool: "types.Bool",
    int: "types.Int",
    float: "types.Double",
    str: "types.String",
    bytes: "types.Bytes",
    list: "*types.baseList",
    dict: "*types.baseMap",
    ListView: "*common.reflectSchemalessTypedList",
    MapView: "*common.reflectSchemalessTypedStruct",
    UInt: "types.Uint",
    Duration: "types.Duration",
    Timestamp: "types.Timestamp",
    Optional: "*types.Optional",
    Type: "*types.Type",
}


def go_type(value: Any) -> str:
    """What Go prints for the type of a value (`%T`), for the messages that show it."""
    return _GO_TYPES.get(type(value)) or value.go_type


def is_list(value: Any) -> bool:
    """Whether it is a list of either kind."""
    return type(value) is list or type(value) is ListView


def is_map(value: Any) -> bool:
    """Whether it is a map of either kind."""
    return type(value) is dict or type(value) is MapView


# Keys of maps


class Key:
    """A key that is no scalar; identity is equality, but for timestamps, durations, null, types."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def _same(self) -> Any:
        value = self.value
        if value is None or isinstance(value, (Timestamp, Duration, Type)):
            return (type(value), value)
        return id(value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Key) and self._same() == other._same()

    def __hash__(self) -> int:
        return hash(self._same())


_TAGGED: Final = frozenset({bool, int, float})


def map_key(value: Any) -> Any:
    """What stands for a key in a dict: strings as they are, all others wrapped."""
    kind = type(value)
    if kind is str:
        return value
    if kind in _TAGGED:
        return (kind, value)
    if kind is UInt:
        return (UInt, value.value)
    if kind is bytes:
        raise EvaluationError("internal error: runtime error: hash of unhashable type types.Bytes")
    if isinstance(value, Value) and value.go_type == "cel.Semver":
        raise EvaluationError("internal error: runtime error: hash of unhashable type cel.Semver")
    return Key(value)


def key_value(key: Any) -> Any:
    """The value that `map_key` wrapped."""
    if type(key) is str:
        return key
    if type(key) is tuple:
        return UInt(key[1]) if key[0] is UInt else key[1]
    return key.value


_MISSING: Final = object()


def find(entries: dict[Any, Any], key: Any) -> tuple[Any, bool]:
    """The value of a key, and whether there is one; numbers find keys of other number types."""
    if not entries:
        return None, False
    kind = type(key)
    found = entries.get(map_key(key), _MISSING)
    if found is _MISSING and (kind is int or kind is UInt or kind is float):
        found = _find_number(entries, key)
    if found is _MISSING:
        return None, False
    return found, True


def _find_number(entries: dict[Any, Any], key: Any) -> Any:
    if type(key) is float:
        if not math.isfinite(key) or key != int(key):
            return _MISSING
        number = int(key)
        if INT_MIN <= number <= INT_MAX and (int, number) in entries:
            return entries[(int, number)]
        return entries.get((UInt, number), _MISSING)
    if type(key) is UInt:
        return entries.get((int, key.value), _MISSING)
    return entries.get((UInt, key), _MISSING)


def map_find(value: Any, key: Any) -> tuple[Any, bool]:
    """As `find`, in a map of either kind."""
    return find(value, key) if type(value) is dict else value.find(key)


def map_keys(value: Any) -> Iterable[Any]:
    """The keys of a map of either kind."""
    if type(value) is dict:
        return map(key_value, value)
    entries: dict[str, Any] = value.entries
    return entries


def elements(value: Any) -> Iterable[Any]:
    """The elements of a list, or the keys of a map, of either kind."""
    kind = type(value)
    if kind is list or kind is ListView:
        items: Iterable[Any] = value
        return items
    return map_keys(value)


# Equality


def equals(a: Any, b: Any) -> bool:
    """CEL's `==`: numbers by value, lists and maps by their parts.

    Raises EvaluationError where a library's type refuses the question.
    """
    if a is None or b is None:
        return a is b
    return _equal(a, b)


def _equal(a: Any, b: Any) -> bool:
    kind = type(a)
    other = type(b)
    if kind is other and kind in _PLAIN:
        return bool(a == b)
    if kind in _NUMBERS:
        return other in _NUMBERS and compare_numbers(a, b) == 0
    if kind is list:
        return is_list(b) and _equal_lists(a, b)
    if kind is dict:
        return is_map(b) and _equal_maps(a, b)
    if kind is ListView:
        if not is_list(b):
            raise no_overload()
        return _equal_viewed_lists(a, b)
    if kind is MapView:
        if not is_map(b):
            raise no_overload()
        return _equal_viewed_maps(a, b)
    if kind is Optional:
        if other is not Optional or a.present != b.present:
            return False
        return not a.present or equals(a.value, b.value)
    if kind is Type:
        return other is Type and a.name == b.name
    if isinstance(a, Value):
        return a.equal(b)
    return False


_PLAIN: Final = frozenset({bool, int, str, bytes, Duration, Timestamp})
_NUMBERS: Final = frozenset({int, float, UInt})


def _equal_lists(a: Any, b: Any) -> bool:
    if len(a) != len(b):
        return False
    for x, y in zip(a, b, strict=True):
        # As upstream: elements that cannot be compared do not make lists differ.
        try:
            if not equals(x, y):
                return False
        except EvaluationError:
            continue
    return True


def _equal_maps(a: dict[Any, Any], b: Any) -> bool:
    if len(a) != len(b):
        return False
    for key, value in a.items():
        other, found = map_find(b, key_value(key))
        if not found:
            return False
        try:
            if not equals(value, other):
                return False
        except EvaluationError:
            continue
    return True


def _equal_viewed_lists(a: ListView, b: Any) -> bool:
    if len(a) != len(b):
        return False
    for x, y in zip(a, b, strict=True):
        try:
            if x is None or y is None:
                if x is not y:
                    return False
            elif not _equal(x, y):
                return False
        except EvaluationError:
            return False
    return True


def _equal_viewed_maps(a: MapView, b: Any) -> bool:
    if len(a) != len(b):
        return False
    for key in a.entries:
        other, found = map_find(b, key)
        if not found:
            return False
        value, _ = a.find(key)
        if value is None or other is None:
            if value is not other:
                return False
        elif not _equal(value, other):
            return False
    return True


# Order


def compare_numbers(a: Any, b: Any) -> int | None:
    """-1, 0 or 1 as two numbers of any types compare; None if one is NaN."""
    x = a.value if type(a) is UInt else a
    y = b.value if type(b) is UInt else b
    if type(x) is float or type(y) is float:
        if x != x or y != y:
            return None
        # A double and an integer compare as doubles, within the integers' range.
        if type(x) is int and -(2.0**63) <= y <= 2.0**64:
            x = float(x)
        elif type(y) is int and -(2.0**63) <= x <= 2.0**64:
            y = float(y)
    return (x > y) - (x < y)


def compare(a: Any, b: Any, operator: str) -> int:
    """-1, 0 or 1; raises EvaluationError where there is no order."""
    kind = type(a)
    other = type(b)
    if kind in _NUMBERS:
        if other not in _NUMBERS:
            if kind is float and a != a:
                raise EvaluationError("NaN values cannot be ordered")
            raise no_overload()
        order = compare_numbers(a, b)
        if order is None:
            raise EvaluationError("NaN values cannot be ordered")
        return order
    if kind in _ORDERED:
        if kind is not other:
            raise no_overload()
        if kind is Duration or kind is Timestamp:
            a, b = a.nanos, b.nanos
        return int(a > b) - int(a < b)
    raise EvaluationError(f"no such overload: {operator}")


_ORDERED: Final = frozenset({bool, str, bytes, Duration, Timestamp})
COMPARABLE: Final = _ORDERED | _NUMBERS
"""The Python types of values that can be ordered among themselves."""


# Sizes and texts


def size_of(value: Any) -> int:
    """The size that costs are counted by: of strings, lists and maps; 1 for all else."""
    kind = type(value)
    if kind in _SIZED:
        return len(value)
    if kind is Optional and value.present:
        return size_of(value.value)
    return 1


_SIZED: Final = frozenset({str, bytes, list, dict, ListView, MapView})


def show(value: Any) -> str:
    """A value as Go prints it (`%v`) in messages."""
    kind = type(value)
    if kind is str:
        return str(value)
    if kind is bool:
        return "true" if value else "false"
    if kind is float:
        return format_float(value)
    if kind is UInt:
        return str(value.value)
    if kind is Type:
        return str(value)
    if value is None:
        return "null"
    return str(value)
