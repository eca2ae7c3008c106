"""Objects as a function author handles them: typed access to fields, edits that keep the text.

A `KubeObject` is one item of the list. Reading answers plain values that must not be changed;
writing goes through `set_nested` and its kin, so that only what changed is written back, with
comments, quoting and key order around it kept.
Source: kpt's Go SDK `go/fn` object.go.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final, TypeVar

from krm_fn.errors import KrmFnError
from krm_fn.values import MISSING, Json, Path, format_path, get, with_at
from krm_fn.wire import Item

PATH_ANNOTATIONS: Final = ("internal.config.kubernetes.io/path", "config.kubernetes.io/path")
INDEX_ANNOTATIONS: Final = ("internal.config.kubernetes.io/index", "config.kubernetes.io/index")
ID_ANNOTATIONS: Final = ("internal.config.kubernetes.io/id", "config.k8s.io/id")
LOCAL_CONFIG: Final = "config.kubernetes.io/local-config"
_INTERNAL: Final = ("internal.config.kubernetes.io/", "internal.config.k8s.io/")

Value = TypeVar("Value")


class InternalAnnotationError(KrmFnError):
    """A function may not write the annotations by which its caller knows objects again."""


class FieldTypeError(KrmFnError):
    """A field is there and has another type than was asked for."""


class SubObject:
    """A map inside an object (or the object itself), by its path."""

    def __init__(self, item: Item, path: Path = ()) -> None:
        self._item = item
        self._path = path

    @property
    def value(self) -> Json:
        """The map as a plain dict; empty where it is missing. Do not change it."""
        found = get(self._item.value, self._path, MISSING)
        return found if type(found) is dict else {}

    # ------------------------------------------------------------------------------- reading

    def nested(self, *fields: str | int) -> Any:
        """The value at a path below, None where it is missing. Do not change it."""
        return get(self._item.value, (*self._path, *fields))

    def nested_string(self, *fields: str | int) -> str | None:
        """A string, None where it is missing. Raises FieldTypeError for another type."""
        return self._typed(fields, str)

    def nested_int(self, *fields: str | int) -> int | None:
        return self._typed(fields, int)

    def nested_bool(self, *fields: str | int) -> bool | None:
        return self._typed(fields, bool)

    def nested_float(self, *fields: str | int) -> float | None:
        """A number with or without a fraction."""
        value = self.nested(*fields)
        if type(value) is int:
            return float(value)
        return self._typed(fields, float)

    def nested_slice(self, *fields: str | int) -> list[SubObject]:
        """The elements of a list of maps."""
        elements = self._typed(fields, list) or []
        for n, element in enumerate(elements):
            self._check((*fields, n), element, dict)
        return [SubObject(self._item, (*self._path, *fields, n)) for n in range(len(elements))]

    def nested_string_slice(self, *fields: str | int) -> list[str]:
        """A list of strings, empty where it is missing."""
        elements = self._typed(fields, list) or []
        for n, element in enumerate(elements):
            self._check((*fields, n), element, str)
        return list(elements)

    def nested_string_map(self, *fields: str | int) -> dict[str, str]:
        """A map of strings, empty where it is missing."""
        members = self._typed(fields, dict) or {}
        for key, member in members.items():
            self._check((*fields, key), member, str)
        return dict(members)

    def nested_resource(self, *fields: str | int) -> SubObject:
        """The map at a path below; it need not be there yet."""
        return SubObject(self._item, (*self._path, *fields))

    nested_subobject = nested_resource
    get_map = nested_resource
    get_slice = nested_slice

    def upsert_map(self, *fields: str | int) -> SubObject:
        """The map at a path below, made where it is missing."""
        if self.nested(*fields) is None:
            self.set_nested({}, *fields)
        return SubObject(self._item, (*self._path, *fields))

    # ------------------------------------------------------------------------------- writing

    def set_nested(self, value: Any, *fields: str | int) -> None:
        """Set the value at a path below; missing maps are made.

        Raises InternalAnnotationError for an annotation that belongs to the function's caller.
        """
        path = (*self._path, *fields)
        _refuse_internal(path)
        self._item.replace(with_at(self._item.value, path, value))

    set_nested_string = set_nested
    set_nested_int = set_nested
    set_nested_bool = set_nested
    set_nested_float = set_nested
    set_nested_string_map = set_nested
    set_nested_string_slice = set_nested

    def set_line_comment(self, comment: str, *fields: str | int) -> None:
        """Put a comment behind the value at a path below, in place of the one there; "" removes it.

        It is set when the list is written, which raises KrmFnError where no comment can stand: in
        JSON, inside a map or list in flow style, behind what is not there.
        """
        if "\n" in comment or "\r" in comment:
            raise KrmFnError("a line comment is one line", str(self._item.origin))
        self._item.comments.append(((*self._path, *fields), comment.strip()))

    def remove_nested_field(self, *fields: str | int) -> bool:
        """Remove the value at a path below; whether it was there."""
        path = (*self._path, *fields)
        _refuse_internal(path)
        if get(self._item.value, path, MISSING) is MISSING:
            return False
        self._item.replace(with_at(self._item.value, path, MISSING))
        return True

    # --------------------------------------------------------------------------- small parts

    def _typed(self, fields: Iterable[str | int], kind: type[Value]) -> Value | None:
        value = self.nested(*fields)
        if value is None:
            return None
        self._check(tuple(fields), value, kind)
        result: Value = value
        return result

    def _check(self, fields: Path, value: Any, kind: type) -> None:
        if type(value) is not kind:
            path = format_path((*self._path, *fields))
            raise FieldTypeError(
                f"{path} is of type {type(value).__name__}, not {kind.__name__}",
                str(self._item.origin),
            )


def _refuse_internal(path: Path) -> None:
    if path[:2] == ("metadata", "annotations") and len(path) > 2:
        key = str(path[2])
        if key.startswith(_INTERNAL):
            raise InternalAnnotationError(f"the annotation {key} is not for functions to write")


class KubeObject(SubObject):
    """One object of the list."""

    def __init__(self, item: Item) -> None:
        super().__init__(item)
        self.item = item

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
        return self._head("namespace", self.item.head.namespace)

    @namespace.setter
    def namespace(self, value: str) -> None:
        self.set_nested(value, "metadata", "namespace")

    def _head(self, key: str, unchanged: str) -> str:
        if self.item.replaced is None:
            return unchanged
        path = (key,) if key in ("apiVersion", "kind") else ("metadata", key)
        value = self.nested(*path)
        return value if type(value) is str else ""

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

    def get_annotation(self, key: str) -> str:
        return self.annotations.get(key, "")

    def set_annotation(self, key: str, value: str) -> None:
        self.set_nested(value, "metadata", "annotations", key)

    def remove_annotation(self, key: str) -> bool:
        return self.remove_nested_field("metadata", "annotations", key)

    @property
    def path_annotation(self) -> str:
        """The file that the caller read the object from, "" where it does not say."""
        return self._first(PATH_ANNOTATIONS)

    @property
    def index_annotation(self) -> int:
        """The object's index in its file, -1 where the caller does not say."""
        text = self._first(INDEX_ANNOTATIONS)
        return int(text) if text.isdecimal() else -1

    @property
    def id_annotation(self) -> str:
        """The identifier by which the caller knows the object again."""
        return self._first(ID_ANNOTATIONS)

    def _first(self, keys: Iterable[str]) -> str:
        found = self.nested("metadata", "annotations")
        if type(found) is dict:
            for key in keys:
                if found.get(key) not in (None, ""):
                    return str(found[key])
        return ""

    @property
    def group(self) -> str:
        group, slash, _ = self.api_version.rpartition("/")
        return group if slash else ""

    @property
    def version(self) -> str:
        return self.api_version.rpartition("/")[2]

    def is_gvk(self, group: str, version: str, kind: str) -> bool:
        """Whether group, version and kind are these; "" is any."""
        return (
            (not group or group == self.group)
            and (not version or version == self.version)
            and (not kind or kind == self.kind)
        )

    def is_group_kind(self, group: str, kind: str) -> bool:
        return (group, kind) == (self.group, self.kind)

    def is_local_config(self) -> bool:
        """Whether the object is for local tools and never applied."""
        return self.get_annotation(LOCAL_CONFIG) == "true"

    def get_id(self) -> tuple[str, str, str, str]:
        """(group, kind, namespace, name)"""
        return self.group, self.kind, self.namespace, self.name

    def get_origin_id(self) -> tuple[str, str, str, str]:
        """The identity with which the object came in."""
        head = self.item.head
        return head.group, head.kind, head.namespace, head.name

    def is_namespace_scoped(self) -> bool:
        """Whether the object names a namespace; what its kind allows is not known here."""
        return bool(self.namespace)

    def is_cluster_scoped(self) -> bool:
        return not self.is_namespace_scoped()

    def short_string(self) -> str:
        """`Kind namespace/name`"""
        place = f"{self.namespace}/{self.name}" if self.namespace else self.name
        return f"{self.kind} {place}".strip()

    def __repr__(self) -> str:
        return f"<KubeObject {self.api_version} {self.short_string()}>"


Predicate = Callable[[KubeObject], bool]


class KubeObjects(list[KubeObject]):
    """Objects in order, with selections."""

    def where(self, predicate: Predicate) -> KubeObjects:
        """Those for which the predicate holds."""
        return KubeObjects(obj for obj in self if predicate(obj))

    def where_not(self, predicate: Predicate) -> KubeObjects:
        """Those for which it does not."""
        return KubeObjects(obj for obj in self if not predicate(obj))

    def get_root_kptfile(self) -> KubeObject | None:
        """The Kptfile of the package itself, not of a package in it."""
        found = [
            obj
            for obj in self
            if obj.is_group_kind("kpt.dev", "Kptfile") and "/" not in obj.path_annotation
        ]
        return found[0] if found else None


def is_gvk(group: str, version: str, kind: str) -> Predicate:
    """Objects of a group, version and kind; "" is any."""
    return lambda obj: obj.is_gvk(group, version, kind)


def is_name(name: str) -> Predicate:
    return lambda obj: obj.name == name


def is_namespace(namespace: str) -> Predicate:
    """Objects in a namespace (not the kind Namespace)."""
    return lambda obj: obj.namespace == namespace


def has_labels(labels: dict[str, str]) -> Predicate:
    """Objects with all these labels."""
    return lambda obj: labels.items() <= obj.labels.items()


def has_annotations(annotations: dict[str, str]) -> Predicate:
    """Objects with all these annotations."""
    return lambda obj: annotations.items() <= obj.annotations.items()


def is_meta_resource() -> Predicate:
    """Objects that describe the package and are never applied: Kptfiles, local configuration."""
    return lambda obj: obj.is_group_kind("kpt.dev", "Kptfile") or obj.is_local_config()


def not_(predicate: Predicate) -> Predicate:
    return lambda obj: not predicate(obj)
