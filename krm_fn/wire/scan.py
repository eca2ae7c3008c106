"""Find the objects in a YAML text without composing them.

One pass over libyaml's events notes where each document, each entry of its root and each element of
an `items` list stands, with its head (apiVersion, kind, namespace, name). Everything else is
skipped: whoever wants an object's value composes its span then. Knows ResourceLists only as "a map
with a list called items".
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

import yaml

from krm_fn import limits
from krm_fn.wire.compose import (
    YamlError,
    block_scalar_end,
    check_version,
    parse_error,
    parser,
    place_of_nothing,
    twice,
)
from krm_fn.wire.scalars import WORDS, resolve_go_yaml


@dataclass(frozen=True, slots=True)
class Head:
    """What identifies an object, as written; empty where it is missing or no string."""

    api_version: str = ""
    kind: str = ""
    namespace: str = ""
    name: str = ""

    @property
    def group(self) -> str:
        """The API group, "" for the core group."""
        group, slash, _ = self.api_version.rpartition("/")
        return group if slash else ""

    @property
    def version(self) -> str:
        return self.api_version.rpartition("/")[2]

    def __str__(self) -> str:
        place = f"{self.namespace}/{self.name}" if self.namespace else self.name
        return f"{self.api_version}/{self.kind} {place}".strip()


@dataclass(slots=True)
class Outline:
    """A node without its values: its span (as in `krm_fn.wire.compose.Node`), line, what it is."""

    start: int
    end: int
    line: int
    shape: str
    """map, list, null, or the name of a scalar's type: text, number, boolean."""
    flow: bool = False
    head: Head = Head()
    entries: dict[str, Entry] = field(default_factory=dict)
    """The members of a document's root."""
    items: Outline | None = None
    """The member called `items`, where it is a list."""
    children: list[Outline] = field(default_factory=list)
    """The elements of a list called `items`."""
    after_key: int = 0
    """Of a list called `items`: where its key ends."""
    anchors: frozenset[str] = frozenset()
    aliases: frozenset[str] = frozenset()
    """Names of anchors in the node, and of anchors outside it that its aliases name."""
    odd: bool = False
    """Whether tags, aliases, merge keys or words such as `yes` may make the object another one than
    `head` says."""
    misspelt: tuple[str, int] | None = None
    """A key that is `kind` or `apiVersion` in another letter case, and its line."""

    @property
    def reach(self) -> int:
        """What its content does not go beyond, on its last line; it may end before."""
        return self.end

    def settle(self, end: int) -> None:
        """Hear where the content ends, from someone who has read it."""


@dataclass(slots=True)
class Entry:
    """A member of a map: where its key starts, and its value."""

    start: int
    value: Outline


@dataclass(slots=True)
class Document:
    """A document: where it starts (its `---`, if it has one) and ends, and its root."""

    start: int
    end: int
    root: Outline


def scan(text: str) -> list[Document]:
    """The documents of a text, without the empty ones. Raises YamlError for what is not YAML."""
    try:
        return _Scanner(text).documents()
    except yaml.YAMLError as error:
        raise parse_error(error, text) from None


_HEAD_KEYS: Final = frozenset(("apiVersion", "kind", "metadata", "items"))
_FOLDED: Final = frozenset(("apiversion", "kind"))
_SHAPES: Final = {str: "text", int: "number", float: "number", bool: "boolean", type(None): "null"}


def is_misspelt(key: str) -> bool:
    """Whether a key is `kind` or `apiVersion` in another letter case.

    The API server finds these two whatever their case, and every other field as it is spelled.
    Folding is Go's, to which a long s or a Kelvin sign is a letter, too.
    Source: encoding/json fold.go.
    """
    return key not in _HEAD_KEYS and key.casefold() in _FOLDED


class _Scanner:
    def __init__(self, text: str) -> None:
        self.text = text
        self.next = parser(text).get_event
        self.track = "&" in text
        self.anchors: set[str] = set()
        self.aliases: set[str] = set()
        self.known: set[str] = set()

    def documents(self) -> list[Document]:
        documents: list[Document] = []
        while True:
            event = self.next()
            kind = type(event)
            if kind is yaml.StreamEndEvent:
                return documents
            if kind is not yaml.DocumentStartEvent:
                continue
            check_version(event)
            start = event.start_mark.index
            self.known = set()
            root = self._object(self.next(), 0)
            end = self.next().end_mark.index
            if root.shape != "null":
                documents.append(Document(start, end, root))

    def _object(self, event: Any, depth: int) -> Outline:
        """Note a node that may be an object, and the objects in its list `items`."""
        around = self.anchors, self.aliases
        self.anchors, self.aliases = set(), set()
        self._note(event)
        kind = type(event)
        mark = event.start_mark
        outline = Outline(mark.index, event.end_mark.index, mark.line + 1, "alias")
        if kind is yaml.MappingStartEvent:
            outline.shape = "map"
            self._mapping(event, outline, depth)
        elif kind is yaml.SequenceStartEvent:
            outline.shape = "list"
            outline.flow = bool(event.flow_style)
            outline.end = self._skip(event)
        elif kind is yaml.ScalarEvent:
            outline.end = self._end(event)
            plain = not event.style and event.tag is None
            value = resolve_go_yaml(event.value) if plain else ""
            outline.shape = _SHAPES.get(type(value), "text")
        outline.anchors, outline.aliases = frozenset(self.anchors), frozenset(self.aliases)
        # What an earlier sibling has anchored is not outside of their parent. Added in place: there
        # may be as many siblings as anchors.
        around[1].update(self.aliases - around[0])
        around[0].update(self.anchors)
        self.anchors, self.aliases = around
        return outline

    def _mapping(self, event: Any, outline: Outline, depth: int) -> None:
        outline.flow = bool(event.flow_style)
        api_version = kind = namespace = name = ""
        seen: set[str] = set()
        while True:
            event = self.next()
            if type(event) is yaml.MappingEndEvent:
                break
            key_event = event
            key_start, key_end = event.start_mark.index, event.end_mark.index
            key = self._key(event, outline)
            event = self.next()
            if key in _HEAD_KEYS:
                if key in seen:
                    raise twice(key, event.start_mark.line + 1)
                seen.add(key)
                outline.odd |= _is_odd(event)
            elif key is not None and len(key) in (4, 10) and is_misspelt(key):
                outline.misspelt = outline.misspelt or (key, key_event.start_mark.line + 1)
            if key == "items" and type(event) is yaml.SequenceStartEvent:
                value = outline.items = self._items(event, depth)
                value.after_key = key_end
            elif key == "metadata" and type(event) is yaml.MappingStartEvent:
                value, namespace, name = self._metadata(event)
                outline.odd |= value.odd
            elif depth == 0:
                value = self._object(event, 1)
                if key == "apiVersion":
                    api_version = _text(event)
                elif key == "kind":
                    kind = _text(event)
            else:
                if key == "apiVersion":
                    api_version = _text(event)
                elif key == "kind":
                    kind = _text(event)
                outline.end = self._behind(key_event, event)
                continue
            if value.start == value.end:
                at = place_of_nothing(self.text, self._end(key_event), value.start)
                value.start = value.end = at
            outline.end = value.end
            if depth == 0 and key is not None:
                if key in outline.entries:
                    raise twice(key, event.start_mark.line + 1)
                outline.entries[key] = Entry(key_start, value)
        if outline.flow:
            outline.end = event.end_mark.index
        outline.head = Head(api_version, kind, namespace, name)

    def _items(self, event: Any, depth: int) -> Outline:
        if depth >= limits.LISTS:
            raise YamlError("lists of lists nest too deep", event.start_mark.line + 1)
        self._note(event)
        mark = event.start_mark
        outline = Outline(mark.index, event.end_mark.index, mark.line + 1, "list")
        outline.flow = bool(event.flow_style)
        while True:
            event = self.next()
            if type(event) is yaml.SequenceEndEvent:
                break
            outline.children.append(self._object(event, depth + 1))
        if outline.flow:
            outline.end = event.end_mark.index
        elif outline.children:
            outline.end = outline.children[-1].end
        return outline

    def _metadata(self, event: Any) -> tuple[Outline, str, str]:
        self._note(event)
        mark = event.start_mark
        outline = Outline(mark.index, event.end_mark.index, mark.line + 1, "map")
        outline.flow = bool(event.flow_style)
        namespace = name = ""
        seen: set[str] = set()
        while True:
            event = self.next()
            if type(event) is yaml.MappingEndEvent:
                break
            key_event = event
            key = self._key(event, outline)
            event = self.next()
            if key in ("name", "namespace"):
                if key in seen:
                    raise twice(key, event.start_mark.line + 1)
                seen.add(key)
                outline.odd |= _is_odd(event)
            if key == "name":
                name = _text(event)
            elif key == "namespace":
                namespace = _text(event)
            outline.end = self._behind(key_event, event)
        if outline.flow:
            outline.end = event.end_mark.index
        return outline, namespace, name

    def _key(self, event: Any, outline: Outline) -> str | None:
        """The text of a key of `outline`; None where it is no scalar."""
        if type(event) is not yaml.ScalarEvent:
            outline.odd = True
            self._skip(event)
            return None
        self._note(event)
        if event.tag is not None or (event.value == "<<" and not event.style):
            outline.odd = True
        key: str = event.value
        return key

    def _skip(self, event: Any) -> int:
        """Pass over a node of which the first event is given; returns where its content ends."""
        self._note(event)
        kind = type(event)
        if kind is yaml.ScalarEvent or kind is yaml.AliasEvent:
            return self._end(event)
        depth = 1
        last = event
        following = self.next
        track = self.track
        while True:
            event = following()
            kind = type(event)
            if kind is yaml.ScalarEvent:
                if event.end_mark.index != event.start_mark.index or self._is_here(event, last):
                    last = event
                if track and event.anchor is not None:
                    self._note(event)
            elif kind is yaml.MappingStartEvent or kind is yaml.SequenceStartEvent:
                depth += 1
                last = event
                if depth > limits.NESTING:
                    raise YamlError(
                        f"nested deeper than {limits.NESTING} levels", event.start_mark.line + 1
                    )
                if track and event.anchor is not None:
                    self._note(event)
            elif kind is yaml.AliasEvent:
                last = event
                self._note(event)
            else:
                depth -= 1
                # The end of a flow collection has a span, that of a block collection has none.
                if event.end_mark.index != event.start_mark.index:
                    last = event
                if not depth:
                    return self._end(last)

    def _is_here(self, nothing: Any, last: Any) -> bool:
        """Whether an empty value stands on the line of what precedes it."""
        at: int = nothing.start_mark.index
        return place_of_nothing(self.text, self._end(last), at) == at

    def _behind(self, key: Any, event: Any) -> int:
        """Pass over a key's value; returns where its content ends."""
        end = self._skip(event)
        if type(event) is yaml.ScalarEvent and event.start_mark.index == event.end_mark.index:
            return place_of_nothing(self.text, self._end(key), end)
        return end

    def _end(self, event: Any) -> int:
        end: int = event.end_mark.index
        if type(event) is yaml.ScalarEvent and event.style in ("|", ">"):
            return block_scalar_end(self.text, event.start_mark.index, end)
        return end

    def _note(self, event: Any) -> None:
        """Keep the anchor of a node or alias; an alias to no anchor is an error."""
        anchor = getattr(event, "anchor", None)
        if anchor is None:
            return
        if type(event) is not yaml.AliasEvent:
            self.anchors.add(anchor)
            self.known.add(anchor)
        elif anchor in self.known:
            if anchor not in self.anchors:
                self.aliases.add(anchor)
        else:
            raise YamlError("unknown anchor referenced", event.start_mark.line + 1)


def _is_odd(event: Any) -> bool:
    """Whether a value is not what it says where it stands: an alias, with a tag, or a word."""
    if type(event) is yaml.AliasEvent or event.tag is not None:
        return True
    return type(event) is yaml.ScalarEvent and not event.style and event.value in WORDS


def _text(event: Any) -> str:
    """A scalar's text where it is a string; a number or boolean is none."""
    if type(event) is not yaml.ScalarEvent:
        return ""
    if event.style or event.tag is not None:
        return str(event.value)
    value = resolve_go_yaml(event.value)
    return value if type(value) is str else ""
