"""What type the schema of a kind expects at a path: a string, a boolean, or nothing that is known.

For words such as `yes` in a ResourceList, which are one or the other to different readers. Built-in
kinds are known by their Go types, custom ones by the schemas of their CustomResourceDefinitions.
Knows no text and no reader.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from krm_fn.kube.schema import Schemas, Type, Value
from krm_fn.values import Json, Path, get

_TEXTS: Final = frozenset(
    (
        Value.STRING,
        Value.BYTES,
        Value.QUANTITY,
        Value.INT_OR_STRING,
        Value.TIME,
        Value.MICRO_TIME,
    )
)
_SCHEMAS: Final = frozenset(
    (Value.SCHEMA_OR_BOOLEAN, Value.SCHEMA_OR_LIST, Value.SCHEMA_OR_STRINGS)
)


class Expected:
    """The types of one Kubernetes release. `find_crd` gives the definition of a group and kind."""

    def __init__(
        self, schemas: Schemas, find_crd: Callable[[str, str], Json | None] | None = None
    ) -> None:
        self._schemas = schemas
        self.find_crd = find_crd

    def __call__(self, api_version: str, kind: str, path: Path) -> type | None:
        """str or bool, None where the schema has neither or nobody knows the kind."""
        schema = self._schemas.kind(api_version, kind)
        if schema is not None:
            return _by_type(Type(Value.STRUCT, struct=lambda: schema.struct), path)
        if path[:1] == ("metadata",):
            metadata = self._schemas.struct("meta/v1.ObjectMeta")
            return _by_type(Type(Value.STRUCT, struct=lambda: metadata), path[1:])
        group, _, version = api_version.rpartition("/")
        crd = self.find_crd(group, kind) if self.find_crd is not None else None
        return _by_schema(_schema_of(crd, version), path)


def _by_type(kind: Type | None, path: Path) -> type | None:
    for n, step in enumerate(path):
        if kind is None:
            return None
        if kind.value is Value.STRUCT:
            field = kind.struct.fields.get(step) if isinstance(step, str) else None
            kind = field.type if field is not None else None
        elif kind.value in _SCHEMAS:
            if isinstance(step, int):
                # A list of texts, or of schemas.
                texts = kind.value is Value.SCHEMA_OR_STRINGS and n == len(path) - 1
                return str if texts else _by_type(kind.element, path[n + 1 :])
            kind = kind.element
            return _by_type(kind, path[n:])
        else:
            kind = kind.element
    if kind is None:
        return None
    if kind.value in _TEXTS:
        return str
    return bool if kind.value in (Value.BOOLEAN, Value.SCHEMA_OR_BOOLEAN) else None


def _schema_of(crd: Json | None, version: str) -> Any:
    versions = get(crd, ("spec", "versions"))
    for entry in versions if type(versions) is list else ():
        if type(entry) is dict and entry.get("name") == version:
            return get(entry, ("schema", "openAPIV3Schema"))
    return None


def _by_schema(schema: Any, path: Path) -> type | None:
    for step in path:
        if type(schema) is not dict:
            return None
        if isinstance(step, int):
            schema = schema.get("items")
        else:
            properties = schema.get("properties")
            named = properties.get(step) if type(properties) is dict else None
            schema = schema.get("additionalProperties") if named is None else named
    if type(schema) is not dict:
        return None
    if schema.get("x-kubernetes-int-or-string") is True:
        return str
    return {"string": str, "boolean": bool}.get(schema.get("type", ""))
