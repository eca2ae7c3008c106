"""JSON texts as streams: objects are decoded where they stand, changed ones written anew."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from krm_fn.values import Json, Path
from krm_fn.wire import jsontext
from krm_fn.wire.compose import YamlError
from krm_fn.wire.edit import TextEdit, apply_edits
from krm_fn.wire.scan import Head
from krm_fn.wire.stream import (
    RESOURCE_LIST,
    Item,
    Stream,
    a_shape,
    check_api_version,
    check_head,
)


class JsonStream(Stream):
    def __init__(self, text: str, name: str) -> None:
        super().__init__(text, name)
        self._root: jsontext.JsonValue | None = None
        self._members: dict[str, tuple[int, jsontext.JsonValue]] = {}
        self._lists: list[list[jsontext.JsonValue]] = []
        self._documents = list(jsontext.documents(text))
        for n, document in enumerate(self._documents):
            kind = document.value.get("kind") if type(document.value) is dict else None
            if kind == RESOURCE_LIST:
                if len(self._documents) > 1:
                    line = self._line(document.start)
                    raise YamlError("a ResourceList must be the only document", line)
                self._read_list(document)
            elif type(document.value) is list:
                self._lists.append(list(jsontext.elements(text, document.start)))
                for m, element in enumerate(self._lists[-1]):
                    self._collect(element, f"[{m}]")
            else:
                self._collect(document, f"document {n + 1}")

    def _line(self, at: int) -> int:
        return self.text.count("\n", 0, at) + 1

    def _read_list(self, document: jsontext.JsonValue) -> None:
        self._root = document
        self.api_version = _json_text(document.value, "apiVersion")
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
            self.function_config = self._item(config[1], "functionConfig")
        self._lists.append(list(jsontext.elements(self.text, items[1].start)))
        for n, element in enumerate(self._lists[-1]):
            self._collect(element, f"items[{n}]")

    def _collect(self, found: jsontext.JsonValue, place: str) -> None:
        value = found.value
        if type(value) is not dict:
            shape = _json_shape(value)
            line = self._line(found.start)
            raise YamlError(f"{place} is {a_shape(shape)}; it must be an object", line)
        if type(value.get("items")) is list and _json_text(value, "kind").endswith("List"):
            for key, _, member in jsontext.members(self.text, found.start):
                if key == "items":
                    self._lists.append(list(jsontext.elements(self.text, member.start)))
                    for n, element in enumerate(self._lists[-1]):
                        self._collect(element, f"{place}.items[{n}]")
            return
        item = self._item(found, place)
        check_head(item.head, place, self._line(found.start))
        self.items.append(item)

    def _item(self, found: jsontext.JsonValue, place: str) -> Item:
        metadata = found.value.get("metadata")
        metadata = metadata if type(metadata) is dict else {}
        head = Head(
            _json_text(found.value, "apiVersion"),
            _json_text(found.value, "kind"),
            _json_text(metadata, "namespace"),
            _json_text(metadata, "name"),
        )
        return Item(self, found, head, place)

    def load(self, item: Item) -> Json:
        value: Json = item.found.value
        return value

    def line_of(self, item: Item, path: Path) -> int:
        start: int = item.found.start
        for step in path:
            reached = self._member(start, step)
            if reached is None:
                break
            start = reached
        return self._line(start)

    def _member(self, start: int, step: str | int) -> int | None:
        if self.text[start] == "{" and isinstance(step, str):
            for key, _, value in jsontext.members(self.text, start):
                if key == step:
                    return value.start
        elif self.text[start] == "[" and isinstance(step, int):
            for n, value in enumerate(jsontext.elements(self.text, start)):
                if n == step:
                    return value.start
        return None

    def _render(self, results: Sequence[Json]) -> str:
        edits: list[TextEdit] = []
        for item in self.items:
            if item.replaced is not None and not item.dropped:
                body = jsontext.rewrite(self.text, item.found, item.replaced)
                edits.append((item.found.start, item.found.end, body))
        for siblings in [*self._lists, [d for d in self._documents if d is not self._root]]:
            edits += self._drop(siblings)
        edits += self._add()
        if self._root is not None:
            edits += self._write_results(self._root, results)
        return apply_edits(self.text, edits, 0, len(self.text))

    def _drop(self, siblings: list[jsontext.JsonValue]) -> list[TextEdit]:
        dropped = {item.found.start for item in self.items if item.dropped}
        gone = [n for n, found in enumerate(siblings) if found.start in dropped]
        if not gone:
            return []
        kept = [n for n in range(len(siblings)) if n not in gone]
        if not kept:
            return [(siblings[0].start, siblings[-1].end, "")]
        edits: list[TextEdit] = [
            (siblings[n].start, siblings[n + 1].start, "") for n in gone if n < kept[-1]
        ]
        if kept[-1] < len(siblings) - 1:
            edits.append((siblings[kept[-1]].end, siblings[-1].end, ""))
        return edits

    def _add(self) -> list[TextEdit]:
        if not self.added:
            return []
        if self._root is None:
            layout = jsontext.JsonLayout(2)
            body = "".join(f"\n{jsontext.write(value, layout)}" for value in self.added)
            end = len(self.text.rstrip())
            return [(end, end, body)]
        items = self._members["items"][1]
        kept = [i for i in self.items if not i.dropped and i.found.end <= items.end]
        bodies = [jsontext.write(v, jsontext.JsonLayout(None)) for v in self.added]
        elements = self._lists[0] if items.value else []
        if not elements:
            return [(items.start, items.end, "[" + ", ".join(bodies) + "]")]
        at = elements[-1].end
        return [(at, at, (", " if kept else "") + ", ".join(bodies))]

    def _write_results(self, root: jsontext.JsonValue, results: Sequence[Json]) -> list[TextEdit]:
        layout = jsontext.layout_of(self.text, root)
        deeper = jsontext.JsonLayout(
            layout.indent,
            layout.margin + " " * (layout.indent or 0),
            layout.colon,
            layout.comma,
            layout.ascii_only,
            layout.newline,
        )
        body = jsontext.write(list(results), deeper)
        old = self._members.get("results")
        if old is not None:
            return [(old[1].start, old[1].end, body)]
        if not results:
            return []
        last = max(value.end for _, value in self._members.values())
        between = layout.comma
        if layout.indent is not None:
            between = f",{layout.newline}{deeper.margin}"
        return [(last, last, f'{between}"results"{layout.colon}{body}')]


def _json_text(value: dict[str, Any], key: str) -> str:
    text = value.get(key)
    return str(text) if type(text) is str else ""


def _json_shape(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    shapes = {"str": "text", "list": "list", "dict": "map"}
    return shapes.get(type(value).__name__, "number")
