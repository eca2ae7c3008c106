"""JSON texts as streams: objects are decoded where they stand, changed ones written anew.

JSON is no YAML here: its own decoder gives spans, and it is laid out in few ways, so that a changed
object is simply written again. Knows no rule; how JSON is read and written is in `jsontext`.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

from krm_fn.errors import InputError
from krm_fn.values import Json, Path
from krm_fn.wire import jsontext
from krm_fn.wire.compose import YamlError
from krm_fn.wire.edit import TextEdit, apply_edits, without
from krm_fn.wire.scan import Head
from krm_fn.wire.stream import (
    RESOURCE_LIST,
    Comment,
    Comments,
    Item,
    Stream,
    a_shape,
    check_api_version,
    check_keys,
    head_of,
    omitting,
)
from krm_fn.wire.words import Reading


class JsonStream(Stream):
    def __init__(self, text: str, name: str, *, tolerant: bool = False) -> None:
        super().__init__(text, name, tolerant=tolerant)
        self._root: jsontext.JsonValue | None = None
        self._members: dict[str, tuple[int, jsontext.JsonValue]] = {}
        self._lists: list[tuple[jsontext.JsonValue, list[jsontext.JsonValue]]] = []
        """Lists of objects, each with its elements."""
        self._starts: dict[int, dict[str | int, int]] = {}
        """Where members start, of each collection (by where it starts) that was asked for."""
        self._documents = list(jsontext.documents(text))
        for n, document in enumerate(self._documents):
            kind = document.value.get("kind") if type(document.value) is dict else None
            if kind == RESOURCE_LIST:
                if len(self._documents) > 1:
                    line = self._line(document.start)
                    raise YamlError("a ResourceList must be the only document", line)
                self._read_list(document)
            elif type(document.value) is list:
                elements = self._elements(document)
                for m, element in enumerate(elements):
                    self.collect(element, f"[{m}]")
            else:
                self.collect(document, f"document {n + 1}")

    def _line(self, at: int) -> int:
        return bisect_left(self._breaks, at) + 1

    @cached_property
    def _breaks(self) -> list[int]:
        """Where the lines end; made once, since every object may be asked for its line."""
        return [match.start() for match in re.finditer("\n", self.text)]

    def _read_list(self, document: jsontext.JsonValue) -> None:
        self._root = document
        self.api_version = head_of(document.value).api_version
        line = self._line(document.start)
        check_api_version(self.api_version, line)
        for key, start, value in jsontext.members(self.text, document.start):
            self._members[key] = (start, value)
        items = self._members.get("items")
        if items is None:
            raise YamlError("the ResourceList has no items", line)
        if type(items[1].value) is not list:
            shape = _json_shape(items[1].value)
            raise YamlError(
                f"items is {a_shape(shape)}; it must be a list of objects", self._line(items[0])
            )
        config = self._members.get("functionConfig")
        if config is not None and config[1].value is not None:
            if type(config[1].value) is not dict:
                shape = _json_shape(config[1].value)
                raise YamlError(
                    f"functionConfig is {a_shape(shape)}; it must be an object",
                    self._line(config[0]),
                )
            self.function_config = Item(self, config[1], self._head(config[1]), "functionConfig")
        for n, element in enumerate(self._elements(items[1])):
            self.collect(element, f"items[{n}]")

    def _elements(self, outline: jsontext.JsonValue) -> list[jsontext.JsonValue]:
        """The elements of a list of objects."""
        elements = list(jsontext.elements(self.text, outline.start))
        self._lists.append((outline, elements))
        return elements

    def _shape(self, outline: jsontext.JsonValue) -> tuple[str, int]:
        return _json_shape(outline.value), self._line(outline.start)

    def _head(self, outline: jsontext.JsonValue) -> Head:
        check_keys(outline.value, self._line(outline.start))
        return head_of(outline.value)

    def _value(self, outline: jsontext.JsonValue) -> Json:
        value: Json = outline.value
        return value

    def _items(
        self, outline: jsontext.JsonValue, place: str
    ) -> tuple[str, int, Sequence[jsontext.JsonValue]]:
        if "items" not in outline.value:
            return "", 0, ()
        shape = _json_shape(outline.value["items"])
        items = next(
            value for key, _, value in jsontext.members(self.text, outline.start) if key == "items"
        )
        elements = self._elements(items) if shape == "list" else ()
        return shape, self._line(items.start), elements

    def load(self, item: Item) -> Json:
        return self._value(item.outline)

    def load_as(self, item: Item, reading: Reading) -> Json:
        del reading  # JSON has no plain words
        return self._value(item.outline)

    def comments_of(self, item: Item) -> dict[Path, Comments]:
        return {}

    def set_comments(self, text: str, wanted: Sequence[tuple[int, Comment]]) -> str:
        if any(not comment.carried for _, comment in wanted):
            raise InputError("JSON has no comments", self.name)
        return text

    def prepare(self, item: Item) -> None:
        """Nothing to prepare: what was decoded of the object is kept."""

    def line_of(self, item: Item, path: Path) -> int:
        start: int = item.outline.start
        for step in path:
            reached = self._member(start, step)
            if reached is None:
                break
            start = reached
        return self._line(start)

    def _member(self, start: int, step: str | int) -> int | None:
        """Where a member of the collection at `start` starts."""
        members = self._starts.get(start)
        if members is None:
            members = self._starts[start] = dict(self._members_at(start))
        return members.get(step)

    def _members_at(self, start: int) -> Iterator[tuple[str | int, int]]:
        if self.text[start] == "{":
            for key, _, value in jsontext.members(self.text, start):
                yield key, value.start
        elif self.text[start] == "[":
            for n, value in enumerate(jsontext.elements(self.text, start)):
                yield n, value.start

    def _render(self, results: Sequence[Json]) -> str:
        edits: list[TextEdit] = []
        done: list[tuple[int, int]] = []
        """What is written anew or left out as a whole, in order: nothing in it is edited."""
        for item in self.items:
            outline = item.outline
            if done and outline.start < done[-1][1]:
                continue
            if item.dropped:
                done.append((outline.start, outline.end))
            elif item.replaced is not None:
                old = replace(outline, value=omitting(item.original, item.inherited))
                body = jsontext.rewrite(self.text, old, item.written(item.replaced))
                edits.append((outline.start, outline.end, body))
                done.append((outline.start, outline.end))
        ends = [end for _, end in done]
        dropped = {item.outline.start for item in self.items if item.dropped}
        for siblings, elements in self._lists if dropped else ():
            n = bisect_right(ends, siblings.start)
            if n == len(done) or siblings.start < done[n][0]:
                edits += self._drop(elements, dropped)
        edits += self._drop([d for d in self._documents if d is not self._root], dropped)
        edits += self._add()
        if self._root is not None:
            edits += self._write_results(self._root, results)
        return apply_edits(self.text, edits, 0, len(self.text))

    @staticmethod
    def _drop(siblings: list[jsontext.JsonValue], dropped: set[int]) -> list[TextEdit]:
        """Take out those that start at these places."""
        gone = [n for n, outline in enumerate(siblings) if outline.start in dropped]
        if not gone:
            return []
        if len(gone) == len(siblings):
            return [(siblings[0].start, siblings[-1].end, "")]
        return without([(outline.start, outline.end) for outline in siblings], gone)

    def _add(self) -> list[TextEdit]:
        if not self.added:
            return []
        if self._root is None:
            layout = jsontext.JsonLayout("  ")
            body = "".join(f"\n{jsontext.write(value, layout)}" for value in self.added)
            end = len(self.text.rstrip())
            return [(end, end, body)]
        items = self._members["items"][1]
        elements = self._lists[0][1]
        if not elements:
            body = jsontext.write(list(self.added), self._member_layout(self._root))
            return [(items.start, items.end, body)]
        layout = jsontext.layout_of(self.text, elements[-1])
        between = layout.between(layout.margin)
        bodies = [jsontext.write(value, layout) for value in self.added]
        at = elements[-1].end
        some_stay = not self._dropped().issuperset(element.start for element in elements)
        return [(at, at, (between if some_stay else "") + between.join(bodies))]

    def _dropped(self) -> set[int]:
        """Where the dropped objects start."""
        return {item.outline.start for item in self.items if item.dropped}

    def _member_layout(self, root: jsontext.JsonValue) -> jsontext.JsonLayout:
        layout = jsontext.layout_of(self.text, root)
        return replace(layout, margin=layout.margin + (layout.indent or ""))

    def _write_results(self, root: jsontext.JsonValue, results: Sequence[Json]) -> list[TextEdit]:
        layout = self._member_layout(root)
        body = jsontext.write(list(results), layout)
        old = self._members.get("results")
        members = list(self._members.values())
        if old is not None:
            if results:
                return [(old[1].start, old[1].end, body)]
            spans = [(start, value.end) for start, value in members]
            return without(spans, [members.index(old)])
        if not results:
            return []
        last = members[-1][1].end
        return [(last, last, f'{layout.between(layout.margin)}"results"{layout.colon}{body}')]


def _json_shape(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    shapes = {"str": "text", "list": "list", "dict": "map"}
    return shapes.get(type(value).__name__, "number")
