"""Objects as a function author handles them: what they are, where they come from, what they bear.

A `KubeObject` is one item of a list, or one that a function makes.
Source: kpt's Go SDK `go/fn` object.go, object_io.go and origin.go.
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from krm_fn import limits
from krm_fn.errors import InputError
from krm_fn.sdk.scopes import DefinedScopes, scope_of
from krm_fn.sdk.subobject import UPSTREAM_IDENTIFIER, InternalAnnotationError, SubObject
from krm_fn.values import with_at
from krm_fn.wire import Item, read_stream, wellknown
from krm_fn.wire.emit import Layout, emit_block

_UPSTREAM: Final = r"([a-z0-9-.]*)\|([A-Z][a-zA-Z0-9]*)\|([a-z0-9-]{1,63}|~C)\|([a-z0-9-]{1,63})"
"""`group|kind|namespace|name`, a regular expression; `~C` is no namespace."""

Identity = tuple[str, str, str, str]
"""(group, kind, namespace, name)"""


class KubeObject(SubObject):
    """One object, with the item of text that it stands in."""

    def __init__(self, item: Item, scopes: DefinedScopes | None = None) -> None:
        super().__init__(item)
        self.item = item
        self._scopes = scopes or DefinedScopes(item.stream)

    # The head is known without parsing the object, as long as nobody has changed it.

    @property
    def api_version(self) -> str:
        return self._head("apiVersion", self.item.head.api_version)

    @api_version.setter
    def api_version(self, value: str) -> None:
        self.set_nested(value, "apiVersion")

    @property
    def kind(self) -> str:
        return self._head("kind", self.item.head.kind)

    @kind.setter
    def kind(self, value: str) -> None:
        self.set_nested(value, "kind")

    @property
    def name(self) -> str:
        return self._head("name", self.item.head.name)

    @name.setter
    def name(self, value: str) -> None:
        self.set_nested(value, "metadata", "name")

    @property
    def namespace(self) -> str:
        """The namespace, "" where there is none. Set it to None to remove it."""
        return self._head("namespace", self.item.head.namespace)

    @namespace.setter
    def namespace(self, value: str | None) -> None:
        if value is None:
            self.remove_nested_field("metadata", "namespace")
        else:
            self.set_nested(value, "metadata", "namespace")

    def _head(self, key: str, unchanged: str) -> str:
        if self.item.replaced is None:
            return unchanged
        path = (key,) if key in ("apiVersion", "kind") else ("metadata", key)
        value = self.nested(*path)
        return value if type(value) is str else ""

    @property
    def group(self) -> str:
        group, slash, _ = self.api_version.rpartition("/")
        return group if slash else ""

    @property
    def version(self) -> str:
        return self.api_version.rpartition("/")[2]

    # ------------------------------------------------------------------- labels, annotations

    @property
    def labels(self) -> dict[str, str]:
        """The labels, as a copy."""
        return self.nested_string_map("metadata", "labels")

    @property
    def annotations(self) -> dict[str, str]:
        """The annotations, those of the caller included, as a copy."""
        return self.nested_string_map("metadata", "annotations")

    def get_label(self, key: str) -> str:
        return self.labels.get(key, "")

    def set_label(self, key: str, value: str) -> None:
        self.set_nested(value, "metadata", "labels", key)

    def remove_label(self, key: str) -> bool:
        return self.remove_nested_field("metadata", "labels", key)

    def has_labels(self, labels: Mapping[str, str]) -> bool:
        """Returns whether the object has all these labels."""
        return labels.items() <= self.labels.items()

    def get_annotation(self, key: str) -> str:
        return self.annotations.get(key, "")

    def set_annotation(self, key: str, value: str) -> None:
        self.set_nested(value, "metadata", "annotations", key)

    def remove_annotation(self, key: str) -> bool:
        return self.remove_nested_field("metadata", "annotations", key)

    def remove_annotations_if_empty(self) -> None:
        """Remove the annotations where none is left."""
        if self.nested("metadata", "annotations") == {}:
            self.remove_nested_field("metadata", "annotations")

    def has_annotations(self, annotations: Mapping[str, str]) -> bool:
        """Returns whether the object has all these annotations."""
        return annotations.items() <= self.annotations.items()

    # ------------------------------------------------------------------------------- origins

    @property
    def path_annotation(self) -> str:
        """The file that the caller read the object from, "" where it does not say.

        Set it on a new object, so that the caller writes it there.
        """
        return self._first(wellknown.PATH)

    @path_annotation.setter
    def path_annotation(self, path: str) -> None:
        self._place(wellknown.PATH[0], path)

    @property
    def index_annotation(self) -> int:
        """The object's index in its file, -1 where the caller does not say."""
        text = self._first(wellknown.INDEX)
        return int(text) if text.isdecimal() else -1

    @index_annotation.setter
    def index_annotation(self, index: int) -> None:
        self._place(wellknown.INDEX[0], str(index))

    def _place(self, annotation: str, text: str) -> None:
        path = ("metadata", "annotations", annotation)
        self.item.replace(with_at(self.item.value, path, text))

    @property
    def id_annotation(self) -> str:
        """The identifier by which the caller knows the object again."""
        return self._first(wellknown.ID)

    def _first(self, keys: Iterable[str]) -> str:
        annotations = self.nested("metadata", "annotations")
        if type(annotations) is dict:
            for key in keys:
                if annotations.get(key) not in (None, ""):
                    return str(annotations[key])
        return ""

    def has_upstream_origin(self) -> bool:
        """Returns whether kpt noted which object of an upstream package this one comes from."""
        return bool(self._upstream())

    def _upstream(self) -> str:
        text = self.nested("metadata", "annotations", UPSTREAM_IDENTIFIER)
        return text if type(text) is str else ""

    def get_origin_id(self) -> Identity:
        """Returns the identity in the upstream package, else the one with which the object came in.

        Raises InternalAnnotationError where kpt's annotation is malformed.
        """
        upstream = self._upstream()
        if not upstream:
            head = self.item.head
            return head.group, head.kind, head.namespace, head.name
        match = re.fullmatch(_UPSTREAM, upstream.strip())
        if match is None:
            raise InternalAnnotationError(
                f"the annotation {UPSTREAM_IDENTIFIER} is not <GROUP>|<KIND>|<NAMESPACE>|<NAME>",
                str(self.item.origin),
            )
        group, kind, namespace, name = match.groups()
        return group, kind, "" if namespace == "~C" else namespace, name

    # ------------------------------------------------------------------------------- queries

    def is_gvk(self, group: str, version: str, kind: str) -> bool:
        """Returns whether group, version and kind are these; "" is any."""
        return (
            (not group or group == self.group)
            and (not version or version == self.version)
            and (not kind or kind == self.kind)
        )

    def is_group_version_kind(self, group: str, version: str, kind: str) -> bool:
        return (group, version, kind) == (self.group, self.version, self.kind)

    def is_group_kind(self, group: str, kind: str) -> bool:
        return (group, kind) == (self.group, self.kind)

    def is_local_config(self) -> bool:
        """Returns whether the object is for local tools and never applied."""
        return self.get_annotation(wellknown.LOCAL_CONFIG) == "true"

    def get_id(self) -> Identity:
        return self.group, self.kind, self.namespace, self.name

    def has_same_id(self, other: KubeObject) -> bool:
        """Returns whether two objects have the same group, kind, namespace, name, and version."""
        return (self.version, *self.get_id()) == (other.version, *other.get_id())

    def is_namespace_scoped(self) -> bool:
        """Returns whether the object's kind lives in a namespace.

        Known are Kubernetes' own kinds, and those of CustomResourceDefinitions in the list; of all
        others counts whether the object names a namespace.
        """
        namespaced = scope_of(self.group, self.kind)
        if namespaced is None:
            namespaced = self._scopes.scope_of(self.group, self.kind)
        return bool(self.namespace) if namespaced is None else namespaced

    def is_cluster_scoped(self) -> bool:
        return not self.is_namespace_scoped()

    # ------------------------------------------------------------------------------- writing

    def to_yaml(self) -> str:
        """Returns the object as YAML in block style, with its comments."""
        from krm_fn.wire.yamlstream import written_alone

        return written_alone(self.item)

    def short_string(self) -> str:
        """`Kind namespace/name`"""
        place = f"{self.namespace}/{self.name}" if self.namespace else self.name
        return f"{self.kind} {place}".strip()

    def __repr__(self) -> str:
        return f"<KubeObject {self.api_version} {self.short_string()}>"


def new_from_typed(value: Any) -> KubeObject:
    """Returns a new object of a mapping, or of a dataclass with the members as it names them.

    Raises InputError for what is no object with apiVersion, kind and plain values.
    """
    return parse_kube_object(yaml_of(value))


def yaml_of(value: Any) -> str:
    """Returns a mapping or a dataclass as YAML in block style. Raises InputError."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        value = dataclasses.asdict(value)
    if not isinstance(value, Mapping):
        raise InputError(f"a {type(value).__name__} is no object; it must be a mapping")
    with limits.deep_stack():
        return emit_block(_plain(value), 0, Layout()) + "\n"


def _plain(value: Any, depth: int = 0) -> Any:
    """A value of plain dicts, lists and scalars. Raises InputError for anything else."""
    if depth > limits.NESTING:
        raise InputError(f"an object nests at most {limits.NESTING:,} deep")
    if isinstance(value, Mapping):
        return {str(key): _plain(member, depth + 1) for key, member in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(element, depth + 1) for element in value]
    if isinstance(value, float) and not math.isfinite(value):
        raise InputError(f"the number {value} cannot stand in an object")
    for kind in (bool, int, float, str):
        if isinstance(value, kind):
            return kind(value)
    if value is None:
        return None
    raise InputError(f"a {type(value).__name__} cannot stand in an object")


def parse_kube_object(data: str | bytes) -> KubeObject:
    """Returns the one object of a YAML or JSON text. Raises InputError."""
    items = _items(data)
    if len(items) != 1:
        raise InputError(f"expected exactly one object, got {len(items)}")
    return KubeObject(items[0])


def _items(data: str | bytes) -> list[Item]:
    return read_stream(data.encode() if isinstance(data, str) else data).items
