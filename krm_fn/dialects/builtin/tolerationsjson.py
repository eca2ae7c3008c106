"""A JSON list of tolerations as Go decodes it, with Go's errors.

Source: Go's encoding/json (decode.go); k8s.io/api core/v1 Toleration.
"""

from __future__ import annotations

from typing import Any, Final

from krm_fn.dialects.builtin.plugin import InternalError
from krm_fn.dialects.builtin.tolerations import Toleration
from krm_fn.lang.go.json import scanner
from krm_fn.lang.go.json.unmarshal import kind_of_node
from krm_fn.values import Json

_TYPES: Final = {
    "key": "string",
    "operator": "v1.TolerationOperator",
    "value": "string",
    "effect": "v1.TaintEffect",
    "tolerationSeconds": "int64",
}
_FOLDED: Final = {name.lower(): name for name in _TYPES}
_SECONDS: Final = "tolerationSeconds"
_INT64: Final = range(-(2**63), 2**63)
_LONGEST: Final = len(str(-(2**63)))


def tolerations_of(text: str) -> list[Json]:
    """The tolerations of an annotation; "" has none. Raises Denied with Go's error."""
    if not text:
        return []
    try:
        node = scanner.parse(text)
    except scanner.NotJsonError as error:
        raise InternalError(error.message) from None
    if node == "null":
        return []
    if type(node) is not list:
        raise _mismatch(node, "value of type []v1.Toleration")
    # What does not fit is told in the end: the first of it, after all was read.
    errors: list[InternalError] = []
    read = [_toleration(one, errors) for one in node]
    if errors:
        raise errors[0]
    return [one.written() for one in read]


def _toleration(node: Any, errors: list[InternalError]) -> Toleration:
    fields: dict[str, Any] = {}
    if isinstance(node, scanner.Members):
        for key, value in node.pairs:
            name = key if key in _TYPES else _FOLDED.get(key.casefold())
            if name is not None and value != "null":
                _read(name, value, fields, errors)
    elif node != "null":
        errors.append(_mismatch(node, "value of type v1.Toleration"))
    seconds = fields.pop(_SECONDS, None)
    return Toleration(**fields, seconds=seconds)


def _read(name: str, node: Any, fields: dict[str, Any], errors: list[InternalError]) -> None:
    kind = kind_of_node(node)
    where = f"struct field Toleration.{name} of type {_TYPES[name]}"
    if name != _SECONDS:
        if kind == "string":
            fields[name] = scanner.string(node)
        else:
            errors.append(_mismatch(node, where))
    elif kind != "number":
        errors.append(_mismatch(node, where))
    elif not _is_integer(node) or int(node) not in _INT64:
        errors.append(_mismatch(node, where, f"number {node}"))
    else:
        fields[name] = int(node)


def _is_integer(text: str) -> bool:
    return text.lstrip("-").isdecimal() and len(text) <= _LONGEST


def _mismatch(node: Any, where: str, kind: str = "") -> InternalError:
    return InternalError(f"json: cannot unmarshal {kind or kind_of_node(node)} into Go {where}")
