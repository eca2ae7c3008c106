"""YAML texts as streams: the reference path, right for any input.

One pass of libyaml over the text finds the objects (`krm_fn.wire.scan`); an object's value is
composed from its own span when somebody asks for it; changes become edits of the text.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

from krm_fn.errors import InputError
from krm_fn.values import Json, Path
from krm_fn.wire.compose import MappingNode, Node, SequenceNode, YamlError, compose
from krm_fn.wire.edit import Region, TextEdit, apply_edits, edit_object, newline_of
from krm_fn.wire.emit import Layout, emit_block, emit_flow
from krm_fn.wire.lines import (
    CannotEdit,
    content_line_end,
    line_start,
    lines_of,
    next_dash,
    next_line,
)
from krm_fn.wire.scan import Document, Entry, Found, scan
from krm_fn.wire.stream import (
    RESOURCE_LIST,
    Item,
    Stream,
    a_shape,
    check_api_version,
    check_head,
)


class YamlStream(Stream):
    def __init__(self, text: str, name: str) -> None:
        super().__init__(text, name)
        self.documents = scan(text)
        self._list: Document | None = None
        self._layout = Layout(newline=newline_of(text))
        self._with_anchors: dict[tuple[int, int], Node] | None = None
        self._starts = [d.root.start for d in self.documents]
        roots = [d.root for d in self.documents]
        lists = [r for r in roots if r.head.kind == RESOURCE_LIST and r.shape == "map"]
        if lists and len(roots) > 1:
            raise YamlError("a ResourceList must be the only document", lists[0].line)
        if lists:
            self._read_list(self.documents[0])
        else:
            for n, document in enumerate(self.documents):
                self._collect(document.root, f"document {n + 1}")

    def _read_list(self, document: Document) -> None:
        root = document.root
        self.api_version = root.head.api_version
        check_api_version(self.api_version, root.line)
        self._list = document
        entry = root.entries.get("items")
        if entry is None:
            raise YamlError("the ResourceList has no items", root.line)
        if root.items is None:
            raise YamlError(
                f"items is {a_shape(entry.value.shape)}; it must be a list of objects",
                entry.value.line,
            )
        config = root.entries.get("functionConfig")
        if config is not None and config.value.shape != "null":
            if config.value.shape != "map":
                raise YamlError(
                    f"functionConfig is {a_shape(config.value.shape)}; it must be an object",
                    config.value.line,
                )
            self.function_config = Item(self, config.value, config.value.head, "functionConfig")
        for n, child in enumerate(root.items.children):
            self._collect(child, f"items[{n}]")

    def _collect(self, found: Found, place: str) -> None:
        """Take an object as an item; of a List, the objects in it."""
        if found.shape == "alias":
            raise YamlError(f"{place} is an alias; write the object out", found.line)
        if found.shape != "map":
            raise YamlError(f"{place} is {a_shape(found.shape)}; it must be an object", found.line)
        if found.items is not None and found.head.kind.endswith("List"):
            for n, child in enumerate(found.items.children):
                self._collect(child, f"{place}.items[{n}]")
            return
        check_head(found.head, place, found.line)
        self.items.append(Item(self, found, found.head, place))

    def _document(self, found: Found) -> Document:
        """The document that a node stands in."""
        return self.documents[bisect_right(self._starts, found.start) - 1]

    # ------------------------------------------------------------------------------- reading

    def _region(self, found: Found) -> Region:
        document = self._document(found)
        context = ""
        if self.text.startswith("%", document.start):
            marker = self.text.find("\n---", document.start)
            context = self.text[document.start : marker] + "\n---\n"
        return Region(self.text, found.start, found.end, self._in_flow(document, found), context)

    def _in_flow(self, document: Document, found: Found) -> bool:
        """Whether the object stands in flow style, its own or that of a collection around it."""
        if found.flow:
            return True
        return found is not document.root and document.root.flow

    def _compose(self, found: Found) -> tuple[Node, bool]:
        """The node of an object, read alone; positions as `Region.base` says."""
        region = self._region(found)
        line = found.line - 1 - region.context.count("\n")
        try:
            composed = compose(region.source(), line_offset=line)
        except YamlError as error:
            error.at(self.name)
            raise
        if len(composed.roots) != 1:
            raise YamlError(
                "the object does not end where its document says", found.line, self.name
            )
        return composed.roots[0], composed.plain

    def load(self, item: Item) -> Json:
        found = item.found
        node = self._linked_node(found) if found.aliases else self._compose(found)[0]
        if type(node.value) is not dict:
            raise YamlError(f"{item.place} is no object", found.line, self.name)
        return node.value

    def _linked_node(self, found: Found) -> Node:
        """The node of an object with an alias to an anchor outside it: read with its document."""
        if self._with_anchors is None:
            self._with_anchors = self._compose_all()
        node = self._with_anchors.get((found.start, found.end))
        if node is None:
            raise YamlError("cannot be read with its anchors", found.line, self.name)
        return node

    def _compose_all(self) -> dict[tuple[int, int], Node]:
        """All maps and lists of the text by their spans, with aliases resolved across objects."""
        try:
            pending = compose(self.text).roots
        except YamlError as error:
            error.at(self.name)
            raise
        nodes: dict[tuple[int, int], Node] = {}
        while pending:
            node = pending.pop()
            if type(node) in (MappingNode, SequenceNode):
                nodes[node.start, node.end] = node
                pending += _children(node)
        return nodes

    def line_of(self, item: Item, path: Path) -> int:
        found: Found = item.found
        if not path or found.aliases:
            return found.line
        node: Node | None = self._compose(found)[0]
        source = self._region(found).source()
        position = node.start if node else 0
        for step in path:
            node, position = _step(node, step, position)
            if node is None:
                break
        offset = source.count("\n", 0, position) - self._region(found).context.count("\n")
        return found.line + offset

    # ------------------------------------------------------------------------------- writing

    def _render(self, results: Sequence[Json]) -> str:
        edits: list[TextEdit] = []
        touched = [i for i in self.items if not i.dropped and i.replaced is not None]
        linked = self._linked_parts([i.found for i in self.items if i.dropped or i in touched])
        for item in touched:
            edits += self._edit(item, item.replaced)
        done = {item.found.start for item in touched} | {
            item.found.start for item in self.items if item.dropped
        }
        for found in linked:
            if found.start not in done:
                edits += self._expand(found)
        for siblings, parent in self._sibling_groups():
            edits += self._drop(siblings, parent)
        edits += self._write_results(results) if self._list else []
        edits += self._add()
        try:
            text = apply_edits(self.text, edits, 0, len(self.text))
        except CannotEdit:
            raise InputError("the changed objects cannot be put back into the text") from None
        if linked:
            scan(text)
        return text

    def _edit(self, item: Item, new: Any) -> list[TextEdit]:
        region = self._region(item.found)
        root: Node | None = None
        if not item.found.aliases:
            root, plain = self._compose(item.found)
            root = root if plain else None
        return edit_object(region, root, item.original, new)

    def _expand(self, found: Found) -> list[TextEdit]:
        """Write a part of the text anew without anchors and aliases."""
        node = self._linked_node(found) if found.aliases else self._compose(found)[0]
        return edit_object(self._region(found), None, node.value, node.value)

    def _linked_parts(self, touched: Sequence[Found]) -> list[Found]:
        """All parts of the ResourceList that share anchors with a touched one, these included."""
        parts = self._parts()
        links: list[tuple[int, int]] = []
        for n, part in enumerate(parts):
            for name in part.aliases:
                for m in range(n - 1, -1, -1):
                    if name in parts[m].anchors:
                        links.append((m, n))
                        break
        if not links:
            return []
        reached = {n for n, part in enumerate(parts) if any(part is t for t in touched)}
        if not reached:
            return []
        while True:
            more = {end for link in links if reached & set(link) for end in link}
            if more <= reached:
                break
            reached |= more
        linked = {end for link in links for end in link}
        return [parts[n] for n in sorted(reached & linked)]

    def _parts(self) -> list[Found]:
        """What may share anchors: the items, and the other members of the ResourceList."""
        parts = [item.found for item in self.items]
        if self._list is not None:
            parts += [e.value for k, e in self._list.root.entries.items() if k != "items"]
        return sorted(parts, key=lambda part: part.start)

    # -------------------------------------------------------------------- dropping and adding

    def _sibling_groups(self) -> list[tuple[list[Found], Found | None]]:
        """Lists of objects of which at least one is to be dropped, each with its `items` node."""
        dropped = {item.found.start for item in self.items if item.dropped}
        if not dropped:
            return []
        groups: list[tuple[list[Found], Found | None]] = []
        if self._list is None and any(d.root.start in dropped for d in self.documents):
            groups.append(([d.root for d in self.documents], None))
        pending = [d.root for d in self.documents]
        while pending:
            found = pending.pop()
            if found.items is not None:
                pending += found.items.children
                if any(child.start in dropped for child in found.items.children):
                    groups.append((found.items.children, found.items))
        return groups

    def _drop(self, siblings: list[Found], parent: Found | None) -> list[TextEdit]:
        dropped = {item.found.start for item in self.items if item.dropped}
        gone = [n for n, found in enumerate(siblings) if found.start in dropped]
        if parent is None:
            return [self._document_span(n) for n in gone]
        text = self.text
        if len(gone) == len(siblings):
            start = parent.start if parent.flow else text.rindex(":", 0, parent.start) + 1
            return [(start, parent.end, "[]" if parent.flow else " []")]
        if parent.flow:
            return self._drop_in_flow(siblings, gone)
        column = parent.start - line_start(text, parent.start)
        edits: list[TextEdit] = []
        for n in gone:
            if n:
                floor = next_line(text, siblings[n - 1].end)
                dash = next_dash(text, siblings[n - 1].end, column)
            else:
                floor = next_line(text, text.rindex(":", 0, parent.start))
                dash = parent.start
            edits.append((*lines_of(text, dash, siblings[n].end, floor, column), ""))
        return edits

    def _drop_in_flow(self, siblings: list[Found], gone: list[int]) -> list[TextEdit]:
        kept = [n for n in range(len(siblings)) if n not in gone]
        edits: list[TextEdit] = [
            (siblings[n].start, siblings[n + 1].start, "") for n in gone if n < kept[-1]
        ]
        if kept[-1] < len(siblings) - 1:
            edits.append((siblings[kept[-1]].end, siblings[-1].end, ""))
        return edits

    def _document_span(self, n: int) -> TextEdit:
        start = self.documents[n].start
        if n + 1 < len(self.documents):
            return (start, self.documents[n + 1].start, "")
        return (start, len(self.text), "")

    def _add(self) -> list[TextEdit]:
        if not self.added:
            return []
        break_ = self._layout.newline
        if self._list is None:
            lead = "" if not self.text or self.text.endswith("\n") else break_
            body = "".join(
                f"---{break_}{emit_block(value, 0, self._layout)}{break_}" for value in self.added
            )
            return [(len(self.text), len(self.text), lead + body)]
        items = self._list.root.items
        assert items is not None
        text = self.text
        kept = [i for i in self.items if not i.dropped]
        if items.flow and items.children and kept:
            body = "".join(", " + emit_flow(value) for value in self.added)
            at = items.children[-1].end
            return [(at, at, body)]
        if items.flow and self._list.root.flow:
            return [(items.start, items.end, emit_flow(self.added))]
        column = 0
        if items.children and not items.flow:
            column = items.start - line_start(text, items.start)
        lines = "".join(
            f"{break_}{' ' * column}- {emit_block(value, column + 2, self._layout)}"
            for value in self.added
        )
        if not kept:
            start = text.rindex(":", 0, items.start) + 1
            return [(start, items.end, lines)]
        at = content_line_end(text, items.end)
        return [(at, at, lines)]

    # -------------------------------------------------------------------------------- results

    def _write_results(self, results: Sequence[Json]) -> list[TextEdit]:
        assert self._list is not None
        root = self._list.root
        text = self.text
        edits: list[TextEdit] = []
        old = root.entries.get("results")
        if root.flow:
            return self._write_flow_results(root, old, results)
        if old is not None:
            edits.append((*lines_of(text, old.start, old.value.end, old.start, 0), ""))
        if results:
            column = root.start - line_start(text, root.start)
            body = emit_block({"results": list(results)}, column, self._layout)
            at = content_line_end(text, root.end)
            edits.append((at, at, f"{self._layout.newline}{' ' * column}{body}"))
        return edits

    def _write_flow_results(
        self, root: Found, old: Entry | None, results: Sequence[Json]
    ) -> list[TextEdit]:
        if old is not None:
            return [(old.value.start, old.value.end, emit_flow(list(results), True))]
        if not results:
            return []
        at = root.end - 1
        lead = self.text[:at].rstrip()
        comma = "" if lead.endswith(",") else ", "
        return [(len(lead), len(lead), f'{comma}"results": {emit_flow(list(results), True)}')]


def _children(node: Node) -> list[Node]:
    if type(node) is MappingNode:
        return [value for _, _, value in node.pairs]
    if type(node) is SequenceNode:
        return node.items
    return []


def _step(node: Node | None, step: str | int, position: int) -> tuple[Node | None, int]:
    if type(node) is MappingNode:
        for key, key_node, value in node.pairs:
            if key == step:
                return value, key_node.start
    if type(node) is SequenceNode and isinstance(step, int) and 0 <= step < len(node.items):
        return node.items[step], node.items[step].start
    return None, position
