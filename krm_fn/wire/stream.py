"""A stream of objects: what comes in as bytes, is edited in place, and goes out as bytes.

A stream is a ResourceList (with a functionConfig, and results on the way out), one or more YAML
documents, or JSON; what stands under `items` in an object of any kind are items, too, as
`krm_fn.wire.lists` says. An item knows its head without being parsed; its value is composed on
first use. What is not touched leaves byte for byte as it came. This module is what the two kinds of
text have in common; it knows no rule.
Source: the KRM functions specification (config.kubernetes.io/v1), kyaml's kio/byteio_reader.go.
"""

from __future__ import annotations

import contextlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from krm_fn import limits
from krm_fn.errors import InputError
from krm_fn.values import MISSING, Json, Path, equal
from krm_fn.wire import lists, wellknown
from krm_fn.wire.compose import YamlError
from krm_fn.wire.scan import Head, is_misspelt
from krm_fn.wire.words import Doubt, Expect, Reading

API_VERSIONS: Final = (
    "config.kubernetes.io/v1",
    "config.kubernetes.io/v1beta1",
    "config.kubernetes.io/v1alpha1",
)
RESOURCE_LIST: Final = "ResourceList"


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


class Comments(NamedTuple):
    """What stands above a value and behind it, without the number signs; "" is nothing."""

    head: str = ""
    line: str = ""


class Comment(NamedTuple):
    """A comment to be set when an object is written: above the value at a path, or behind it."""

    path: Path
    text: str
    """Without number signs; "" removes what is there. A head comment may have several lines."""
    head: bool = False
    carried: bool = False
    """Whether it came with the object from another text; left out where it cannot stand."""


class Item:
    """One object. `value` is raw: with all annotations, as written.

    Values are immutable: whoever changes one hands a new object to `replace`, in which what did not
    change is the same Python objects.
    """

    __slots__ = (
        "_dropped",
        "_new",
        "_text",
        "_value",
        "_written_comments",
        "comments",
        "doubts",
        "elements",
        "has_words",
        "head",
        "inherited",
        "outer",
        "outline",
        "place",
    )

    def __init__(
        self,
        text: Stream,
        outline: Any,
        head: Head,
        place: str,
        outer: Item | None = None,
        inherited: Json | None = None,
    ) -> None:
        self._text = text
        self.outline = outline
        self.head = head
        self.place = place
        self._dropped = False
        self.outer = outer
        """The item in whose `items` this one stands."""
        self.elements: dict[Path, Item] = {}
        """The items in this one's own `items`, by where they stand in it."""
        self.inherited = inherited or {}
        """apiVersion and kind, where they are those of the object around it and not written."""
        self.has_words = False
        """Whether words such as `yes` stand plain in the object; known with its value."""
        self.doubts: tuple[Doubt, ...] = ()
        """Those of a ResourceList's item of which no type is known; known with its value."""
        self.comments: dict[tuple[Path, bool], Comment] = {}
        """Comments to be set when the object is written, by (path of the value, whether head)."""
        self._written_comments: dict[Path, Comments] | None = None
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
                self._value = self._with_inherited(self._text.load(self))
        return self._value

    @property
    def written_comments(self) -> dict[Path, Comments]:
        """The comments that the object came in with, by the paths of their values.

        Raises InputError where it cannot be read.
        """
        if self._written_comments is None:
            with limits.deep_stack():
                self._written_comments = self._text.comments_of(self)
        return self._written_comments

    def read_as(self, reading: Reading) -> Json:
        """The object as it came in, with words such as `yes` read in another way."""
        value = self.original
        if not self.has_words:
            return value
        with limits.deep_stack():
            return self._with_inherited(self._text.load_as(self, reading))

    @property
    def stream(self) -> Stream:
        """The stream that the object came in."""
        return self._text

    def _with_inherited(self, value: Json) -> Json:
        if not self.inherited:
            return value
        if not self.inherited.keys().isdisjoint(value):
            raise InputError("apiVersion and kind must be strings", str(self._text.name))
        return {**self.inherited, **value}

    @property
    def replaced(self) -> Json | None:
        """The object to be written instead, or None."""
        return self._new

    def replace(self, value: Json) -> None:
        """Let the object leave as `value`, or as it came where that is equal.

        Raises InputError for another value of `items`, where these are items of their own.
        """
        with limits.deep_stack():
            if self.elements and not equal(value.get("items"), self.original["items"]):
                raise InputError(
                    f"{self.head}: what stands under items are objects of their own, and cannot "
                    "be changed as a part of this one",
                    str(self.origin),
                )
            self._new = None if equal(value, self.original) else value
            # What cannot be written is an error when it is written.
            with contextlib.suppress(InputError):
                self._text.prepare(self)

    def all_comments(self) -> list[Comment]:
        """Every comment that the object leaves with in another text."""
        carried = [
            Comment(path, text, head, carried=True)
            for path, comments in self.written_comments.items()
            for text, head in ((comments.head, True), (comments.line, False))
            if text and (path, head) not in self.comments
        ]
        return carried + list(self.comments.values())

    @property
    def dropped(self) -> bool:
        """Whether the object leaves no more, by itself or with the one that it stands in."""
        return self._dropped or (self.outer is not None and self.outer.dropped)

    @dropped.setter
    def dropped(self, dropped: bool) -> None:
        self._dropped = dropped

    @property
    def own_value(self) -> Json:
        """The object as it now is, without those in its `items` that are items of their own."""
        value = _with_all(self.value, dict.fromkeys(self.elements, MISSING))
        return value if value.get("items") or not self.elements else omitting(value, ("items",))

    def written(self, value: Json) -> Json:
        """An object as it is to stand in the text: with its elements as they now are, and without
        what it takes from the object around it."""
        elements = {
            path: MISSING if element.dropped else element.written(element.value)
            for path, element in self.elements.items()
        }
        return omitting(_with_all(value, elements), self.inherited)

    @property
    def final(self) -> Json:
        """The object as it leaves, with its elements as they leave."""
        return {**self.inherited, **self.written(self.value)}

    @property
    def origin(self) -> Origin:
        """Where the object comes from: what kpt or kustomize say, else the file that was read."""
        annotations: Any = None
        with contextlib.suppress(InputError, AttributeError):
            annotations = (self.value.get("metadata") or {}).get("annotations")
        if type(annotations) is dict:
            file = _first_text(annotations, wellknown.PATH)
            if file:
                index = _first_text(annotations, wellknown.INDEX)
                return Origin(file, int(index) if index.isdecimal() else None)
            file = _origin_path(annotations.get(wellknown.ORIGIN))
            if file:
                return Origin(file)
        return Origin(self._text.name, line=self.line(), place=self.place)

    def line(self, path: Path = ()) -> int:
        """The line in the text, from 1, on which the object or a value in it stands."""
        with limits.deep_stack():
            return self._text.line_of(self, path)

    def __repr__(self) -> str:
        return f"<Item {self.head} {self.place}>"


class Around(NamedTuple):
    """What an element of `items` stands in."""

    head: Head
    item: Item | None
    """The object around it that is an item."""
    path: Path
    """Where it stands in that item."""
    depth: int
    """How many lists it stands in."""


def _with_all(value: Any, members: Mapping[Path, Any]) -> Any:
    """A value with others in these places, MISSING for none; each list is copied once."""
    if () in members:
        return members[()]
    below: dict[str | int, dict[Path, Any]] = {}
    for path, member in members.items():
        below.setdefault(path[0], {})[path[1:]] = member
    if not below:
        return value
    if type(value) is list:
        elements = [
            _with_all(element, below[n]) if n in below else element
            for n, element in enumerate(value)
        ]
        return [element for element in elements if element is not MISSING]
    return {**value, **{key: _with_all(value[key], inner) for key, inner in below.items()}}


def omitting(value: Json, keys: Collection[str]) -> Json:
    """An object without some of its members."""
    return {k: v for k, v in value.items() if k not in keys} if keys else value


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

    def __init__(self, text: str, name: str, *, tolerant: bool = False) -> None:
        """`tolerant`: pass over documents that are no objects, instead of refusing them."""
        self.text = text
        self.name = name
        self.items: list[Item] = []
        self.others: list[int] = []
        """The lines of the documents that were passed over."""
        self._tolerant = tolerant
        self.function_config: Item | None = None
        self.api_version = ""
        self._additions: list[Item | Json] = []
        self.prefix = b""
        """The byte order mark that stood before the text, if one did."""
        self.expect: Expect | None = None
        """What types fields have, for words in a ResourceList; to be set before values are read."""

    @property
    def is_resource_list(self) -> bool:
        return bool(self.api_version)

    def collect(self, outline: Any, place: str, around: Around | None = None) -> bool:
        """Take an object as an item, and the objects that later readers find in its `items`.

        `around` is what it stands in as an element. Returns whether it is an object to anybody.
        Raises YamlError for what later readers refuse.
        """
        shape, line = self._shape(outline)
        if self._tolerant and around is None and not self.is_resource_list:
            head = self._head(outline) if shape == "map" else Head()
            if not is_object(head, lambda: self._value(outline)):
                self.others.append(line)
                return False
        if shape == "alias":
            raise YamlError(f"{place} is an alias; write the object out", line)
        if shape != "map":
            if around is not None and self.is_resource_list and not lists.is_plain(around.head):
                return False
            raise YamlError(f"{place} is {a_shape(shape)}; it must be an object", line)
        head = self._head(outline)
        inherited: Json = {}
        if around is not None:
            if self.is_resource_list and not lists.counts(
                around.head, head, lambda: type(self._value(outline).get("metadata")) is dict
            ):
                return False
            inherited = lists.inherited(around.head, head)
        if inherited:
            api_version, kind = inherited.values()
            head = Head(api_version, kind, head.namespace, head.name)
        items, items_line, elements = self._items(outline, place)
        if items != "list":
            if items not in ("", "null") and around is None and not self.is_resource_list:
                raise YamlError(
                    f"items of {place} is {a_shape(items)}; to kubectl any object with items is "
                    "a list, and this one it refuses",
                    items_line,
                )
            self._take(outline, head, place, line, around, inherited)
            return True
        if around is not None and not self.is_resource_list:
            raise YamlError(
                f"{place} has a list called items and stands in one itself, which kubectl "
                "refuses; take it out",
                line,
            )
        return self._collect_elements(outline, head, place, line, elements, around, inherited)

    def _collect_elements(
        self,
        outline: Any,
        head: Head,
        place: str,
        line: int,
        elements: Sequence[Any],
        around: Around | None,
        inherited: Json,
    ) -> bool:
        """Take the objects in an object's `items`, and itself where it is one, too."""
        is_itself = lists.is_itself(head)
        outer, path, depth = (None, (), 0) if around is None else around[1:]
        if depth >= limits.LISTS:
            raise YamlError("lists of lists nest too deep", line)
        if is_itself:
            outer, path = self._take(outline, head, place, line, around, inherited), ()
        counted = [
            self.collect(
                element,
                f"{place}.items[{n}]",
                Around(head, outer, (*path, "items", n), depth + 1),
            )
            for n, element in enumerate(elements)
        ]
        if counted and not any(counted) and not is_itself:
            self._take(outline, head, place, line, around, inherited)
        return True

    def _take(
        self,
        outline: Any,
        head: Head,
        place: str,
        line: int,
        around: Around | None,
        inherited: Json,
    ) -> Item:
        check_head(head, place, line)
        outer = around.item if around is not None else None
        item = Item(self, outline, head, place, outer, inherited)
        self.items.append(item)
        if around is not None and outer is not None:
            outer.elements[around.path] = item
        return item

    @abstractmethod
    def _shape(self, outline: Any) -> tuple[str, int]:
        """What a part of the text is, and its line."""

    @abstractmethod
    def _head(self, outline: Any) -> Head:
        """The head of a map. Raises YamlError for a misspelt one."""

    @abstractmethod
    def _value(self, outline: Any) -> Json:
        """The value of a map."""

    @abstractmethod
    def _items(self, outline: Any, place: str) -> tuple[str, int, Sequence[Any]]:
        """What the member `items` of a map is ("" where there is none), its line, its elements."""

    def add(self, addition: Json | Item) -> None:
        """Let an object leave that did not come in, behind all others.

        An item of another stream leaves as it is when this one is written, with its comments.
        """
        self._additions.append(addition)

    def drop(self, item: Item) -> None:
        """Let an object that came in, or an item that was added, not leave."""
        if item.stream is self:
            item.dropped = True
        else:
            self._additions = [one for one in self._additions if one is not item]

    def drop_added(self, predicate: Callable[[Json], bool]) -> None:
        """Let those added objects not leave for which a predicate holds."""
        self._additions = [
            one
            for one in self._additions
            if not predicate(one.final if isinstance(one, Item) else one)
        ]

    @property
    def added(self) -> list[Json]:
        """The objects that leave and did not come in, as they now are."""
        return [one.final if isinstance(one, Item) else one for one in self._additions]

    @property
    def changed(self) -> bool:
        """Whether the text that leaves differs from the one that came, results aside."""
        return bool(self._additions) or any(
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
        """The text with the comments that were asked for."""
        comments = [list(item.comments.values()) for item in self.items if not item.dropped]
        comments += (one.all_comments() if isinstance(one, Item) else [] for one in self._additions)
        wanted = [(n, comment) for n, of_one in enumerate(comments) for comment in of_one]
        if not wanted:
            return text
        return self.set_comments(text, wanted)

    @abstractmethod
    def comments_of(self, item: Item) -> dict[Path, Comments]:
        """The comments of an item as it came in, by the paths of their values; for items.

        Raises InputError where it cannot be read.
        """

    @abstractmethod
    def set_comments(self, text: str, wanted: Sequence[tuple[int, Comment]]) -> str:
        """What leaves, with comments set: pairs of (index of the object in it, comment).

        Of several for one place the last counts. Raises InputError where one cannot stand.
        """

    @abstractmethod
    def prepare(self, item: Item) -> None:
        """Hear that an item was replaced, while what was read of it is still at hand; for items."""

    @abstractmethod
    def _render(self, results: Sequence[Json]) -> str: ...

    @abstractmethod
    def load(self, item: Item) -> Json:
        """The value of an item as written; tells it of the words in it; for items."""

    @abstractmethod
    def load_as(self, item: Item, reading: Reading) -> Json:
        """The value of an item with words read in another way; for items."""

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


def check_keys(value: Json, line: int) -> None:
    """Refuse a decoded object with `kind` or `apiVersion` in another letter case."""
    for key in value:
        if is_misspelt(key):
            raise misspelt(key, line)


def misspelt(key: str, line: int) -> YamlError:
    """The error for `Kind`, say."""
    right = "kind" if len(key) == len("kind") else "apiVersion"
    return YamlError(
        f"the key {key!r}: the API server takes it for {right}, and other readers do not; "
        f"write {right}",
        line,
    )


def is_object(head: Head, value: Callable[[], Json]) -> bool:
    """Whether a document is an object, or is meant as one.

    kubectl refuses what has no kind, and objects without a name. So what has neither apiVersion nor
    kind, or only one of them and nothing else that objects have, is a file of another program.
    """
    if not head.api_version and not head.kind:
        return False
    if head.api_version and head.kind:
        return True
    members = value()
    return "metadata" in members or "items" in members


def check_head(head: Head, place: str, line: int) -> None:
    """Refuse an object that does not say what it is."""
    for name, value in (("apiVersion", head.api_version), ("kind", head.kind)):
        if not value:
            raise YamlError(
                f"{place} has no {name}; every object needs apiVersion and kind, as strings", line
            )


def a_shape(shape: str) -> str:
    """The name of a shape (`Found.shape`) in a sentence."""
    return {"text": "a string", "null": "null", "alias": "an alias"}.get(shape, f"a {shape}")
