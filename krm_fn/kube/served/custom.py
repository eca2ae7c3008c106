"""Serve objects of custom kinds as their CustomResourceDefinition says.

This module knows what a definition says of a version and in which order an object passes; what a
schema does to values is in `structural`.
Source: the served form's specification, section (e); apiextensions-apiserver
pkg/apiserver/customresource_handler.go (unstructuredSchemaCoercer).
"""

from __future__ import annotations

from typing import Any

from krm_fn import limits
from krm_fn.kube.schema import Struct
from krm_fn.kube.served.freeform import unstructured
from krm_fn.kube.served.mismatch import MismatchError
from krm_fn.kube.served.plan import Plan
from krm_fn.kube.served.strict import StrictFinding, unknown_field, unknown_fields
from krm_fn.kube.served.structural import SchemaNode, coerced, defaulted, pruned, without_nulls
from krm_fn.values import Json, Path, get


class CustomKind:
    """A version of a custom kind: `namespaced`, its schema, whether status is a subresource."""

    def __init__(self, namespaced: bool, schema: Json, has_status: bool) -> None:
        self.namespaced = namespaced
        self._root = SchemaNode(schema, root=True)
        # As a member of nothing the object is no embedded resource; its metadata comes first.
        self._own = SchemaNode(schema)
        self._has_status = has_status
        self._plan = Plan({}, {})

    def form(self, value: Json, metadata_type: Struct) -> tuple[Json, tuple[StrictFinding, ...]]:
        """The object as mutating admission sees it. Raises DecodeError."""
        found: list[StrictFinding] = []

        def decoded(metadata: Any, path: Path) -> Json:
            return self._metadata(metadata, metadata_type, path, found)

        def coerce(embedded: Json, path: Path) -> Json:
            return _coerced(embedded, path, decoded)

        try:
            value = unstructured(value)
        except MismatchError as mismatch:
            raise mismatch.error() from None
        metadata = decoded(value.get("metadata"), ("metadata",))
        fields: list[StrictFinding] = []

        def unknown(path: Path, node: SchemaNode | None) -> None:
            if len(fields) < limits.STRICT_FINDINGS:
                fields.append(unknown_field(path, list(node.properties) if node else []))

        served = pruned(value, self._root, unknown)
        found += sorted(fields, key=lambda finding: finding.message)
        served = without_nulls(served, self._own)
        served = coerced(served, self._own, coerce)
        if served.get("metadata") != metadata or "metadata" not in served:
            served = {**served, "metadata": metadata}
        return defaulted(served, self._own), tuple(found[: limits.STRICT_FINDINGS])

    def _metadata(
        self, metadata: Any, metadata_type: Struct, path: Path, found: list[StrictFinding]
    ) -> Json:
        """Metadata as its Go type leaves it, without the nulls that this writes."""
        if metadata is None:
            return {}
        self._plan.unknown = False
        try:
            typed = self._plan.struct(metadata_type)(metadata)
        except MismatchError as mismatch:
            mismatch.steps += reversed(path)
            raise mismatch.error() from None
        if self._plan.unknown:
            for finding in unknown_fields(metadata, metadata_type):
                found.append(unknown_field((*path, *finding.path), list(metadata_type.fields)))
        if None not in typed.values():
            return dict(typed) if typed is not metadata else metadata
        kept = {key: member for key, member in typed.items() if member is not None}
        return metadata if kept == metadata else kept

    def prepared(self, served: Json) -> Json:
        """The object as validating admission sees it when it is created."""
        kept = served
        if self._has_status and "status" in served:
            kept = {key: member for key, member in served.items() if key != "status"}
        if get(kept, ("metadata", "generation")) == 1:
            return kept
        return {**kept, "metadata": {**kept["metadata"], "generation": 1}}


def _coerced(embedded: Json, path: Path, decoded: Any) -> Json:
    """An embedded resource with its metadata decoded; its kind must be texts."""
    for name in ("apiVersion", "kind"):
        if name in embedded and type(embedded[name]) is not str:
            mismatch = MismatchError("a text", embedded[name])
            mismatch.steps += [name, *reversed(path)]
            raise mismatch.error()
    if "metadata" not in embedded:
        return embedded
    metadata = decoded(embedded["metadata"], (*path, "metadata"))
    return embedded if metadata is embedded["metadata"] else {**embedded, "metadata": metadata}


def custom_kind(crd: Json, version: str) -> CustomKind | None:
    """How a definition serves a version; None where it has none of that name, or no schema.

    The definition is one that was decoded, so that its members have their types.
    """
    for served in get(crd, ("spec", "versions")) or ():
        if served["name"] == version:
            schema = get(served, ("schema", "openAPIV3Schema"))
            if schema is None:
                return None
            has_status = get(served, ("subresources", "status")) is not None
            return CustomKind(crd["spec"]["scope"] != "Cluster", schema, has_status)
    return None
