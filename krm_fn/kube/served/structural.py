"""The structural schema of a custom kind: what stays of a value, and its defaults.

Passes over a value, as the API server makes them: pruning what the schema does not have, nulls
where none may be, the metadata of embedded resources, defaults. Each returns what it was given
where nothing changed.
Source: the served form's specification, section (e); apiextensions-apiserver
pkg/apiserver/schema/{pruning,defaulting,objectmeta}.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from krm_fn.values import MISSING, Json, Path

_META_FIELDS: Final = frozenset(("apiVersion", "kind", "metadata"))

Unknown = Callable[[Path, "SchemaNode | None"], None]
"""Told of each field that is pruned, with the schema that does not have it."""


class SchemaNode:
    """A schema. `additional` is MISSING where no other keys may be, None where any value may."""

    __slots__ = (
        "additional",
        "default",
        "embedded",
        "embeds",
        "fills",
        "items",
        "nullable",
        "preserves",
        "properties",
    )

    def __init__(self, schema: Json, *, root: bool = False) -> None:
        self.properties = {
            name: SchemaNode(member)
            for name, member in _map(schema, "properties").items()
            if type(member) is dict
        }
        additional = schema.get("additionalProperties", MISSING)
        self.additional: Any = MISSING
        if type(additional) is dict:
            self.additional = SchemaNode(additional)
        elif additional is True:
            self.additional = None
        items = schema.get("items")
        self.items = SchemaNode(items) if type(items) is dict else None
        self.nullable = schema.get("nullable") is True
        self.preserves = schema.get("x-kubernetes-preserve-unknown-fields") is True
        self.embedded = root or schema.get("x-kubernetes-embedded-resource") is True
        default = schema.get("default")
        self.default = None if default is None else pruned(default, self, _nobody)
        below = [*self.properties.values(), self.items, self.additional or None]
        nodes = [node for node in below if node is not None]
        # Whether there is anything to fill in, and any whole resource, in values of this schema.
        self.fills: bool = any(node.fills or node.default is not None for node in nodes)
        self.embeds: bool = self.embedded or any(node.embeds for node in nodes)

    def member(self, key: str) -> Any:
        """The schema of a member; MISSING where it may not be, None where any value may."""
        found = self.properties.get(key)
        return self.additional if found is None else found


def _map(schema: Json, name: str) -> Json:
    value = schema.get(name)
    return value if type(value) is dict else {}


def _nobody(path: Path, node: SchemaNode | None) -> None:
    """Nobody wants to hear of unknown fields in a default."""


# ------------------------------------------------------------------------------------- pruning


def pruned(
    value: Any,
    node: SchemaNode | None,
    unknown: Unknown,
    path: Path = (),
    *,
    preserves: bool = False,
) -> Any:
    """The value without the fields that its schema does not have.

    A schema that preserves unknown fields does so for the elements of its lists, but not for the
    members that it names.
    """
    preserves = preserves or (node is not None and node.preserves)
    if preserves and node is None:
        return value
    out = value
    if type(value) is list:
        items = node.items if node is not None else None
        for n, member in enumerate(value):
            new = pruned(member, items, unknown, (*path, n), preserves=preserves)
            if new is not member:
                out = value.copy() if out is value else out
                out[n] = new
    elif type(value) is dict:
        for key, member in value.items():
            if node is not None and node.embedded and key in _META_FIELDS:
                continue
            known: Any = node.member(key) if node is not None else MISSING
            if known is not MISSING:
                new = pruned(member, known, unknown, (*path, key))
            elif preserves:
                continue
            else:
                unknown((*path, key), node)
                new = MISSING
            if new is not member:
                out = value.copy() if out is value else out
                if new is MISSING:
                    del out[key]
                else:
                    out[key] = new
    return out


# --------------------------------------------------------------------------------------- nulls


def without_nulls(value: Any, node: SchemaNode | None) -> Any:
    """The value without the null members that can neither be null nor get a default."""
    if node is None:
        return value
    out = value
    if type(value) is list:
        for n, member in enumerate(value):
            new = without_nulls(member, node.items)
            if new is not member:
                out = value.copy() if out is value else out
                out[n] = new
    elif type(value) is dict:
        for key, member in value.items():
            known = node.member(key) or None
            if member is None and known is not None and known.default is None:
                new = None if known.nullable else MISSING
            else:
                new = without_nulls(member, known)
            if new is not member:
                out = value.copy() if out is value else out
                if new is MISSING:
                    del out[key]
                else:
                    out[key] = new
    return out


# ------------------------------------------------------------------------------------ defaults


def defaulted(value: Any, node: SchemaNode | None) -> Any:
    """The value with the defaults of its schema, and those of what they created."""
    if node is None or not node.fills:
        return value
    out = value
    if type(value) is list:
        for n, member in enumerate(value):
            new = _defaulted_member(member, node.items)
            if new is not member:
                out = value.copy() if out is value else out
                out[n] = new
    elif type(value) is dict:
        for key, known in node.properties.items():
            if known.default is not None and key not in value:
                out = value.copy() if out is value else out
                out[key] = known.default
        for key, member in list(out.items()):
            new = _defaulted_member(member, node.member(key) or None)
            if new is not member:
                out = value.copy() if out is value else out
                out[key] = new
    return out


def _defaulted_member(member: Any, node: SchemaNode | None) -> Any:
    if member is None and node is not None and not node.nullable:
        member = node.default
    return defaulted(member, node)


# --------------------------------------------------------------------------- embedded resources

Coerce = Callable[[Json, Path], Json]
"""An object of any kind with its metadata decoded; given where it stands."""


def coerced(value: Any, node: SchemaNode | None, coerce: Coerce, path: Path = ()) -> Any:
    """The value with `coerce` applied to each object in it that is a whole resource."""
    if node is None or not node.embeds:
        return value
    out = value
    if type(value) is list:
        for n, member in enumerate(value):
            new = coerced(member, node.items, coerce, (*path, n))
            if new is not member:
                out = value.copy() if out is value else out
                out[n] = new
    elif type(value) is dict:
        for key, member in value.items():
            new = coerced(member, node.member(key) or None, coerce, (*path, key))
            if new is not member:
                out = value.copy() if out is value else out
                out[key] = new
        if node.embedded:
            out = coerce(out, path)
    return out
