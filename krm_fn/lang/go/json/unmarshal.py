"""What Go's encoding/json says of a value that its type cannot hold.

Source: Go's encoding/json (decode.go, UnmarshalTypeError).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from krm_fn.lang.go.json.scanner import Members, Node, string

_KINDS: Final = {type(None): "null", bool: "bool", str: "string", list: "array", dict: "object"}


def kind_of(value: Any) -> str:
    """What a JSON value is to Go: "bool", "string", "array", "object", "null" or "number"."""
    return _KINDS.get(type(value), "number")


def kind_of_node(node: Node) -> str:
    """As `kind_of`, of what `scanner.parse` gives."""
    if type(node) is Members:
        return "object"
    if type(node) is list:
        return "array"
    if node in ("true", "false"):
        return "bool"
    if node == "null":
        return "null"
    return "string" if node.startswith('"') else "number"


def value_of(node: Node) -> Any:
    """The Python value of what `scanner.parse` gives; of a key that is there twice, the last."""
    if type(node) is Members:
        return {key: value_of(member) for key, member in node.pairs}
    if type(node) is list:
        return [value_of(element) for element in node]
    if node.startswith('"'):
        return string(node)
    if node in _WORDS:
        return _WORDS[node]
    if any(char in node for char in ".eE"):
        return float(node)
    # A number of so many digits fits nowhere; more would only be slow to read.
    return int(node[:_DIGITS])


_DIGITS: Final = 400
_WORDS: Final = {"true": True, "false": False, "null": None}


def type_error(kind: str, wanted: str, struct: str = "", fields: Sequence[str] = ()) -> str:
    """The error for a value of a kind (`number 1.5`) where Go wants another type.

    `struct` is the Go type whose field was entered last, `fields` lead to it from the root.
    """
    where = f"struct field {struct}.{'.'.join(fields)}" if struct else "value"
    return f"json: cannot unmarshal {kind} into Go {where} of type {wanted}"
