"""A stream of objects: what comes in as bytes, is edited in place, and goes out as bytes.

A stream is a ResourceList (with a functionConfig, and results on the way out), one or more YAML
documents, or JSON; a `kind: List` is looked into, so that its objects are items too. An item knows
its head without being parsed; its value is composed on first use. What is not touched leaves byte
for byte as it came. This module is what the two kinds of text have in common; it knows no rule.
Source: the KRM functions specification (config.kubernetes.io/v1), kyaml's kio/byteio_reader.go.
"""

from __future__ import annotations

import contextlib
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from krm_fn import limits
from krm_fn.errors import InputError
from krm_fn.values import Json, Path, equal
from krm_fn.wire.compose import YamlError
from krm_fn.wire.scan import Head

API_VERSIONS: Final = (
    "config.kubernetes.io/v1",
    "config.kubernetes.io/v1beta1",
    "config.kubernetes.io/v1alpha1",
)
RESOURCE_LIST: Final = "ResourceList"

_PATH_ANNOTATIONS: Final = ("internal.config.kubernetes.io/path", "config.kubernetes.io/path")
_INDEX_ANNOTATIONS: Final = ("internal.config.kubernetes.io/index", "config.kubernetes.io/index")


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a user wrote an object: a file with a line or an index, or a place in the list."""

    file: str = ""
    index: int | None = None
    line: int | None = None
    """Counts from 1 in `file`; None where the file is known by name only."""
    place: str = ""
    """`items[3]`, for what came from no file."""

    def __str__(self) -> str:
        if not self.file:
            return self.place
        if self.line is not None:
            return f"{self.file}:{self.line}"
        return f"{self.file}[{self.index}]" if self.index else self.file


class Item:
    """One object. `value` is raw: with all annotations, as written.

    Values are immutable: whoever changes one hands a new object to `replace`, in which what did not
    change is the same Python objects.
    """

    __slots__ = ("_new", "_text", "_value", "comments", "dropped", "found", "head", "place")

    def __init__(self, text: Stream, found: Any, head: Head, place: str) -> None:
        self._text = text
        self.found = found
        self.head = head
        self.place = place
        self.dropped = False
        self.comments: list[tuple[Path, str]] = []
        """Line comments to be set when the object is written: (path of the value, comment)."""
        self._value: Json | None = None
        self._new: Json | None = None

    @property
    def value(self) -> Json:
        """The object as it now is. Raises InputError where it cannot be read."""
        return self._new if self._new is not None else self.original

    @property
    def original(self) -> Json:
        """The object as it came in."""
        if self._value is None:
            with limits.deep_stack():
                self._value = self._text.load(self)
        return self._value

    @property
    def replaced(self) -> Json | None:
        """The object to be written instead, or None."""
        return self._new

    def replace(self, value: Json) -> None:
        """Let the object leave as `value`, or as it came where that is equal."""
        with limits.deep_stack():
            self._new = None if equal(value, self.original) else value
            # What cannot be written is an error when it is written.
            with contextlib.suppress(InputError):
                self._text.prepare(self)

    @property
    def origin(self) -> Origin:
        """Where the object comes from: what kpt or kustomize say, else the file that was read."""
        annotations: Any = None
        with contextlib.suppress(InputError, AttributeError):
            annotations = (self.value.get("metadata") or {}).get("annotations")
        if type(annotations) is dict:
            file = _first_text(annotations, _PATH_ANNOTATIONS)
            if file:
                index = _first_text(annotations, _INDEX_ANNOTATIONS)
                return Origin(file, int(index) if index.isdecimal() else None)
            file = _origin_path(annotations.get("config.kubernetes.io/origin"))
            if file:
                return Origin(file)
        return Origin(self._text.name, line=self.line(), place=self.place)

    def line(self, path: Path = ()) -> int:
        """The line in the text, from 1, on which the object or a value in it stands."""
        with limits.deep_stack():
            return self._text.line_of(self, path)

    def __repr__(self) -> str:
        return f"<Item {self.head} {self.place}>"


def _first_text(annotations: dict[str, Any], keys: Sequence[str]) -> str:
    for key in keys:
        value = annotations.get(key)
        if isinstance(value, str | int) and value != "":
            return str(value)
    return ""


def _origin_path(text: Any) -> str:
    """The path in kustomize's origin annotation (YAML: path, repo, ref, configuredIn)."""
    if type(text) is not str:
        return ""
    for line in text.splitlines():
        key, _, value = line.partition(":")
        if key == "path":
            return value.strip().strip("'\"")
    return ""


class Stream(ABC):
    """The objects of one input, in order, and the text around them."""

    def __init__(self, text: str, name: str) -> None:
        self.text = text
        self.name = name
        self.items: list[Item] = []
        self.function_config: Item | None = None
        self.api_version = ""
        self.added: list[Json] = []
        self.prefix = b""
        """The byte order mark that stood before the text, if one did."""

    @property
    def is_resource_list(self) -> bool:
        return bool(self.api_version)

    def add(self, value: Json) -> None:
        """Let an object leave that did not come in, behind all others."""
        self.added.append(value)

    def drop(self, item: Item) -> None:
        """Let an object that came in not leave."""
        item.dropped = True

    @property
    def changed(self) -> bool:
        """Whether the text that leaves differs from the one that came, results aside."""
        return bool(self.added) or any(
            item.dropped or item.replaced is not None or item.comments for item in self.items
        )

    def source(self) -> bytes:
        """The bytes that came in."""
        return self.prefix + self.text.encode()

    def write(self, results: Sequence[Json] = ()) -> bytes:
        """The stream as bytes. A ResourceList gets a key `results` if there are any."""
        if not self.is_resource_list and not self.changed:
            return self.prefix + self.text.encode()
        with limits.deep_stack():
            return self.prefix + self._commented(self._render(results)).encode()

    def _commented(self, text: str) -> str:
        """The text with the line comments that were asked for."""
        kept = [item for item in self.items if not item.dropped]
        wanted = [(n, *comment) for n, item in enumerate(kept) for comment in item.comments]
        if not wanted:
            return text
        from krm_fn.wire.comments import with_line_comments  # stands on the streams

        return with_line_comments(text, wanted)

    @abstractmethod
    def prepare(self, item: Item) -> None:
        """Hear that an item was replaced, while what was read of it is still at hand; for items."""

    @abstractmethod
    def _render(self, results: Sequence[Json]) -> str: ...

    @abstractmethod
    def load(self, item: Item) -> Json:
        """The value of an item; for items."""

    @abstractmethod
    def line_of(self, item: Item, path: Path) -> int:
        """The line of a value of an item; for items."""


def head_of(value: Json) -> Head:
    """The head of a decoded object."""
    metadata = value.get("metadata")
    if type(metadata) is not dict:
        metadata = {}
    return Head(
        _text(value, "apiVersion"),
        _text(value, "kind"),
        _text(metadata, "namespace"),
        _text(metadata, "name"),
    )


def _text(value: Json, key: str) -> str:
    text = value.get(key)
    return text if type(text) is str else ""


def check_api_version(api_version: str, line: int) -> None:
    """Refuse a ResourceList of a version that does not exist."""
    if api_version not in API_VERSIONS:
        raise YamlError(
            f"a ResourceList of apiVersion {api_version!r} is not known; "
            f"it is one of {', '.join(API_VERSIONS)}",
            line,
        )


def check_head(head: Head, place: str, line: int) -> None:
    """Refuse an object that does not say what it is."""
    for name, value in (("apiVersion", head.api_version), ("kind", head.kind)):
        if not value:
            raise YamlError(
                f"{place} has no {name}; every object needs apiVersion and kind, as strings", line
            )


def a_shape(shape: str) -> str:
    """The name of a shape (`Found.shape`) in a sentence."""
    return {"text": "a string", "null": "null", "list": "a list", "map": "a map"}.get(
        shape, f"a {shape}"
    )
