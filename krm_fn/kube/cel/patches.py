"""What the value of a mutation means: an object to merge, or JSON Patch operations.

The API server takes CEL values apart in two ways, and neither takes all: an `Object` becomes Go's
native values, in which some CEL values stay what they are (`Leaf`); the value of a patch operation
becomes JSON. Maps and lists of the live object are told from those that the expression made by
identity, since only the former are converted whole.
Source: apiserver v0.37, pkg/cel/mutation/dynamic/objects.go and
pkg/admission/plugin/policy/mutating/patch.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Iterable, Iterator
from typing import Any, Final

from krm_fn import work
from krm_fn.errors import EvaluationError
from krm_fn.kube.cel.net import Address, Network
from krm_fn.kube.cel.objects import ObjectValue, PatchValue
from krm_fn.kube.cel.semver import Semver
from krm_fn.kube.cel.urls import UrlValue
from krm_fn.lang.cel import types as t
from krm_fn.lang.cel import values as v
from krm_fn.lang.cel.times import format_duration, format_timestamp
from krm_fn.lang.cel.types import Type
from krm_fn.lang.cel.values import Duration, ListView, MapView, Optional, Timestamp, UInt, Value
from krm_fn.lang.go.strconv import format_float
from krm_fn.lang.go.url import URL

_SAFE: Final = 2**53 - 1


class Leaf:
    """A value in an object to merge that is no JSON: null, uint, bytes, a map within a list, ...

    `go_type` is what Go's `%T` prints for it, which errors of the merge show.
    """

    __slots__ = ("go_type", "value")

    def __init__(self, value: Any, go_type: str) -> None:
        self.value = value
        self.go_type = go_type


NIL_LIST: Final = Leaf((), "[]interface {}")
"""An empty list in a field of an Object: to a merge it is empty, in JSON it is null."""


class MarshalError(EvaluationError):
    """A merged object holds something that Go's JSON encoder refuses."""


# Objects to merge


def object_patch(
    value: Any, live: Iterable[Any] = (), joined: Iterable[Any] = ()
) -> dict[str, Any]:
    """The object that an ApplyConfiguration's value stands for: JSON and `Leaf`s.

    `live`: the values that the expression was evaluated on. `joined`: the lists that `+` made
    (`Budget.joined`). Raises EvaluationError in the API server's words.
    """
    if not isinstance(value, ObjectValue):
        name = v.type_of(value)
        raise EvaluationError(f"unsupported return type from ApplyConfiguration expression: {name}")
    converter = _Converter(live, joined)
    converter.check_names(value)
    try:
        return converter.fields(value)
    except _ConversionError:
        raise EvaluationError("invalid return type: *dynamic.ObjectVal") from None


class _ConversionError(Exception):
    """A field has no native value; the message is the inner cause."""


class _Converter:
    """CEL values to what Go's ConvertToNative and Value make of them."""

    def __init__(self, live: Iterable[Any], joined: Iterable[Any]) -> None:
        self._live = live
        self._ids: set[int] | None = None
        self._joined = {id(made) for made in joined}
        self._json: dict[int, tuple[Any, Any]] = {}
        self._fields: dict[int, tuple[Any, Any]] = {}

    def _is_live(self, value: Any) -> bool:
        if self._ids is None:
            self._ids = _containers(self._live)
        return id(value) in self._ids

    def json(self, value: Any) -> Any:
        """A list or map as JSON: itself where it is JSON, and once however often it is there."""
        known = self._json.get(id(value))
        if known is not None:
            return known[1]
        work.spend(len(value))
        made: Any
        if type(value) is list:
            made = [_to_json(inner, self) for inner in value]
            same = all(a is b for a, b in zip(made, value, strict=True))
        else:
            made = {_json_key(key): _to_json(inner, self) for key, inner in value.items()}
            same = all(key in made and made[key] is inner for key, inner in value.items())
        made = value if same else made
        # With the value itself, so that no other can take its identity.
        self._json[id(value)] = (value, made)
        return made

    def check_names(self, value: ObjectValue) -> None:
        """Raise EvaluationError if Object types below a value are not named by their path."""
        wrong = list(self._misnamed(value, value.name))
        if wrong:
            raise EvaluationError("type mismatch: " + "\n".join(wrong))

    def _misnamed(self, value: Any, path: str) -> Iterator[str]:
        if isinstance(value, ObjectValue):
            if value.name != path:
                yield (
                    f'unexpected type name "{value.name}", expected "{path}", which matches field '
                    "name path from root Object type"
                )
            for key, inner in value.fields.items():
                yield from self._misnamed(inner, f"{path}.{key}")
        elif type(value) is list and id(value) not in self._joined:
            for inner in value:
                yield from self._misnamed(inner, path)
        elif type(value) is dict:
            for inner in value.values():
                yield from self._misnamed(inner, path)

    def fields(self, value: ObjectValue) -> dict[str, Any]:
        """The fields of an Object."""
        converted = {}
        for key, inner in value.fields.items():
            try:
                converted[key] = self.field(inner)
            except _ConversionError as error:
                raise _ConversionError(f'fail to convert field "{key}": {error}') from None
        return converted

    def field(self, value: Any) -> Any:
        """The value of a field, or of an element of a live list or map; made once of each."""
        if type(value) is not list and type(value) is not dict:
            return self._field(value)
        known = self._fields.get(id(value))
        if known is None:
            work.spend(len(value))
            known = self._fields[id(value)] = value, self._field(value)
        return known[1]

    def _field(self, value: Any) -> Any:
        if type(value) is Optional:
            return self.field(value.value) if value.present else None
        if type(value) is list:
            if not value:
                return NIL_LIST
            if id(value) in self._joined or self._is_live(value):
                return [self.field(inner) for inner in value]
            return [self.value(inner) for inner in value]
        if type(value) is dict:
            return self._map(value)
        if isinstance(value, ListView):
            return [self.field(inner) for inner in value] or NIL_LIST
        if isinstance(value, MapView):
            return {key: self.field(value.find(key)[0]) for key in value.entries}
        return self.value(value)

    def _map(self, value: dict[Any, Any]) -> dict[str, Any]:
        convert = self.field if self._is_live(value) else self.value
        converted = {}
        for key, inner in value.items():
            if type(key) is not str:
                raw = v.key_value(key)
                raise _ConversionError(
                    f"map key {_go_quoted(raw)} is of type {v.go_type(raw)}, not string"
                )
            converted[key] = convert(inner)
        return converted

    def value(self, value: Any) -> Any:
        """What `Value()` gives: objects whole, maps that were made here as they are."""
        kind = type(value)
        if kind is bool or kind is int or kind is str or kind is float:
            return value
        if kind is Optional:
            return self.value(value.value) if value.present else None
        if isinstance(value, ObjectValue):
            try:
                return self.fields(value)
            except _ConversionError as error:
                return Leaf(str(error), "*types.Err")
        if (kind is list or kind is dict) and self._is_live(value):
            return value
        if kind is list:
            return Leaf([self.value(inner) for inner in value], "[]ref.Val")
        if kind is Type:
            return value.name
        return Leaf(value, _native_type(value))


def _containers(live: Iterable[Any]) -> set[int]:
    """The identities of all maps and lists in some values."""
    found: set[int] = set()
    pending = list(live)
    while pending:
        value = pending.pop()
        if id(value) in found:
            continue
        if type(value) is dict:
            found.add(id(value))
            pending.extend(value.values())
        elif type(value) is list:
            found.add(id(value))
            pending.extend(value)
    work.spend(len(found))
    return found


_NATIVE: Final[dict[type, str]] = {
    type(None): "structpb.NullValue",
    UInt: "uint64",
    bytes: "[]uint8",
    Duration: "time.Duration",
    Timestamp: "time.Time",
    dict: "map[ref.Val]ref.Val",
    Type: "string",
}


def _native_type(value: Any) -> str:
    return _NATIVE.get(type(value)) or v.go_type(value)


def _go_quoted(value: Any) -> str:
    """A value as Go's `%q` prints it."""
    number = value.value if type(value) is UInt else value
    if type(number) is int and 0 <= number < 0x110000:
        return repr(chr(number)).replace('"', "'")
    return f"%!q({v.go_type(value)}={v.show(value)})"


def merged_json(value: Any) -> Any:
    """An object to merge as Go's JSON encoder prints it; raises MarshalError."""
    if isinstance(value, Leaf):
        return _leaf_json(value)
    if type(value) is float:
        if not math.isfinite(value):
            raise MarshalError(f"json: unsupported value: {format_float(value)}")
        return value
    if type(value) is dict:
        return {key: merged_json(inner) for key, inner in value.items()}
    if type(value) is list:
        return [merged_json(inner) for inner in value]
    return value


def _leaf_json(leaf: Leaf) -> Any:
    value = leaf.value
    if leaf is NIL_LIST:
        return None
    if type(value) is list:
        return merged_json(value)
    if value is None:
        return 0
    if isinstance(value, (Address, Network, Semver)):
        return str(value)
    if isinstance(value, UrlValue):
        return _url_json(value.url)
    if leaf.go_type in _UNREADABLE:
        return {}
    if type(value) is UInt:
        return value.value
    if type(value) is bytes:
        return base64.b64encode(value).decode()
    if type(value) is Duration:
        return value.nanos
    if type(value) is Timestamp:
        return format_timestamp(value)
    if type(value) is Type:
        return value.name
    raise MarshalError(f"json: unsupported type: {leaf.go_type}")


_UNREADABLE: Final = frozenset({"*types.Err", "*lazy.MapValue", "library.authorizerVal"})
"""What Go prints as an empty JSON object, since it is an error or has no public fields."""


def _url_json(url: URL) -> dict[str, Any]:
    """The fields of Go's url.URL."""
    return {
        "Scheme": url.scheme,
        "Opaque": url.opaque,
        "User": None if url.userinfo is None else {},
        "Host": url.host,
        "Path": url.path,
        "Fragment": url.fragment,
        "RawQuery": url.query,
        "RawPath": url.raw_path,
        "RawFragment": url.raw_fragment,
        "ForceQuery": url.force_query,
        "OmitHost": url.omit_host,
    }


# JSON Patch


def json_patch(
    value: Any, live: Iterable[Any] = (), joined: Iterable[Any] = ()
) -> list[dict[str, Any]]:
    """The operations that a list of JSONPatch values stands for.

    Each has op and path, from if it is not empty, value if it was given; for `live` and `joined`
    see `object_patch`. Raises EvaluationError.
    """
    converter = _Converter(live, joined)
    made = []
    for operation in value:
        if not isinstance(operation, PatchValue):
            name = v.type_of(operation)
            raise EvaluationError(
                "type mismatch: JSONPatchType.expression should evaluate to array of JSONPatch: "
                f"type conversion error from '{name}' to '*mutation.JSONPatchVal'"
            )
        made.append(_operation(operation, converter))
    return made


_MARSHAL: Final = "JSONPath valueExpression evaluated to a type that could not marshal to JSON: "


def _operation(operation: PatchValue, converter: _Converter) -> dict[str, Any]:
    made: dict[str, Any] = {"op": operation.text("op"), "path": operation.text("path")}
    if operation.text("from"):
        made["from"] = operation.text("from")
    if "value" in operation.fields:
        value = operation.fields["value"]
        if isinstance(value, ObjectValue):
            converter.check_names(value)
        try:
            made["value"] = _to_json(value, converter)
        except EvaluationError as error:
            raise EvaluationError(_MARSHAL + error.message) from None
    return made


_NAMES: Final = {
    "cel.Quantity": "Quantity",
    "*cel.Quantity": "Quantity",
    "cel.IP": "IP",
    "cel.CIDR": "CIDR",
    "cel.URL": "URL",
    "cel.Semver": "Semver",
    "cel.Format": "Format",
}
_TARGET: Final = "'*structpb.Value'"


def _to_json(value: Any, converter: _Converter) -> Any:
    kind = type(value)
    if kind is list or kind is dict:
        return converter.json(value)
    if value is None or kind is bool or kind is str:
        return value
    if kind is int:
        return value if -_SAFE <= value <= _SAFE else str(value)
    if kind is UInt:
        return value.value if value.value <= _SAFE else str(value.value)
    if kind is float:
        return _number(value)
    if kind is bytes:
        return base64.b64encode(value).decode()
    if kind is Timestamp:
        return format_timestamp(value)
    if kind is Duration:
        return format_duration(value.nanos)
    if kind is Optional:
        return _to_json(value.value, converter)
    if isinstance(value, ObjectValue):
        try:
            return _structure(converter.fields(value))
        except _ConversionError as error:
            raise EvaluationError(str(error)) from None
    raise EvaluationError(_refusal(value))


def _refusal(value: Any) -> str:
    if type(value) is Type:
        return "type conversion not supported for 'type'"
    if isinstance(value, MapView) and value.shape is not None and value.shape.name:
        return f"type conversion error from struct type {value.shape.name} to *structpb.Value"
    if isinstance(value, (ListView, MapView)):
        kind = t.LIST_DYN if isinstance(value, ListView) else t.MAP_DYN
        return f"type conversion error from '{kind}' to {_TARGET}"
    if isinstance(value, PatchValue):
        return "cannot convert to native type: *structpb.Value"
    assert isinstance(value, Value)
    if value.go_type == "*lazy.MapValue":
        return f'disallowed conversion from "{value.type.name}" to ""'
    name = _NAMES.get(value.go_type, value.type.name)
    return f"type conversion error from '{name}' to {_TARGET}"


def _json_key(key: Any) -> str:
    if type(key) is str:
        return key
    name = v.type_of(v.key_value(key)).name
    if name == "bool":
        raise EvaluationError("type conversion error from bool to 'string'")
    raise EvaluationError(f"unsupported type conversion from '{name}' to string")


def _number(value: float) -> int | float:
    """A double as JSON's text of it reads back: whole ones as ints."""
    if not math.isfinite(value):
        raise EvaluationError(
            "json: error calling MarshalJSON for type *structpb.Value: "
            f"proto:\u00a0google.protobuf.Value.number_value: invalid {format_float(value)} value"
        )
    return int(value) if value == int(value) and abs(value) < 2.0**63 else value


def _structure(value: Any) -> Any:
    """An Object's native values as a protobuf structure, in which all numbers are doubles."""
    if isinstance(value, Leaf):
        if value is NIL_LIST:
            return []
        if type(value.value) is list:
            return _structure(value.value)
        if type(value.value) is UInt:
            return _number(float(value.value.value))
        if type(value.value) is bytes:
            return base64.b64encode(value.value).decode()
        if type(value.value) is Type:
            return value.value.name
        raise EvaluationError(f"proto:\u00a0invalid type: {value.go_type}")
    if type(value) is int or type(value) is float:
        return _number(float(value))
    if type(value) is dict:
        return {key: _structure(inner) for key, inner in value.items()}
    if type(value) is list:
        return [_structure(inner) for inner in value]
    return value
