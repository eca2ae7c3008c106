"""YAML texts as streams: the reference path, right for any input.

One pass of libyaml over the text finds the objects (`krm_fn.wire.scan`); an object's value is
composed from its own span when somebody asks for it; changes become edits of the text. What bears
on more than one object (anchors, dropping, adding, results) is decided here; how one object's text
changes is not (`krm_fn.wire.edit`). Knows no rule.
"""

from __future__ import annotations

import contextlib
import re
from bisect import bisect_right
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from krm_fn.errors import InputError
from krm_fn.values import Json, Path, equal
from krm_fn.wire.compose import Composed, MappingNode, Node, SequenceNode, YamlError, compose
from krm_fn.wire.edit import Region, TextEdit, apply_edits, edit_object, newline_of, without
from krm_fn.wire.emit import Layout, emit_block, emit_flow
from krm_fn.wire.lines import (
    CannotEditError,
    content_line_end,
    line_end,
    line_start,
    lines_of,
    next_dash,
    next_line,
)
from krm_fn.wire.scan import Document, Entry, Head, Outline, scan
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
    misspelt,
    omitting,
)
from krm_fn.wire.words import KUBECTL, Doubt, Reading, agrees, by_type, settle, settled

WORTH_IT: Final = 48 * 1024
"""Characters below which reading exactly takes no longer than getting ready to do without."""


_NO_MARKER: Final = re.compile(r"(?:\A|\n)(---)[^ \t\r\n]")


if TYPE_CHECKING:
    from krm_fn.wire.fast.compose import LineReader


def _quick_scan(text: str) -> list[Document] | None:
    from krm_fn.wire.fast.scan import quick_scan  # patterns that a short text can do without

    return quick_scan(text)


class YamlStream(Stream):
    def __init__(self, text: str, name: str, *, quick: bool = True, tolerant: bool = False) -> None:
        """`quick`: a long text may be read by its lines; else it is read exactly, as well."""
        super().__init__(text, name, tolerant=tolerant)
        self._quick = quick and len(text) >= WORTH_IT
        self.documents = (_quick_scan(text) if self._quick else None) or scan(text)
        self._lines: LineReader | None = None
        self._list: Document | None = None
        self._layout = Layout(newline=newline_of(text))
        self._in_context: dict[tuple[int, int], Node] | None = None
        self._settled: dict[int, Json] = {}
        """The values of objects that were read in their context, by where they start."""
        self._doubts: dict[int, list[Doubt]] = {}
        """Of objects with words, by where they start: those that nothing decides."""
        self._odd_breaks = _has_odd_breaks(text)
        self._last: tuple[Outline, Composed] | None = None
        """The object that was composed last."""
        self._prepared: dict[int, tuple[Any, list[TextEdit]]] = {}
        """The edits of objects by where they start, with the values that they lead to."""
        self._starts = [d.root.start for d in self.documents]
        roots = [d.root for d in self.documents]
        lists = [r for r in roots if self._head(r).kind == RESOURCE_LIST and r.shape == "map"]
        if lists and len(roots) > 1:
            raise YamlError("a ResourceList must be the only document", lists[0].line)
        if lists:
            self._read_list(self.documents[0])
        else:
            self._check_markers()
            for n, document in enumerate(self.documents):
                self.collect(document.root, f"document {n + 1}")

    def _check_markers(self) -> None:
        """Refuse lines that Helm takes for the start of a document, and YAML does not."""
        marker = _NO_MARKER.search(self.text)
        if marker:
            raise YamlError(
                "the line starts with --- and goes on: Helm starts a document there, and other "
                "readers do not; put a space or a line break behind it, or indent it",
                self.text.count("\n", 0, marker.start(1)) + 1,
            )

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
            self.function_config = Item(
                self, config.value, self._head(config.value), "functionConfig"
            )
        for n, child in enumerate(root.items.children):
            self.collect(child, f"items[{n}]")

    def _shape(self, outline: Outline) -> tuple[str, int]:
        return outline.shape, outline.line

    def _items(self, outline: Outline, place: str) -> tuple[str, int, Sequence[Outline]]:
        if outline.items is not None:
            return "list", outline.items.line, outline.items.children
        if outline.odd and type(self._value(outline).get("items")) is list:
            raise YamlError(
                f"the items of {place} are an alias or merged in; write them out", outline.line
            )
        entry = outline.entries.get("items")
        return (
            ("", outline.line, ()) if entry is None else (entry.value.shape, entry.value.line, ())
        )

    def _head(self, outline: Outline) -> Head:
        """The head of an object; where aliases, tags or words may be part of it, by its value."""
        if outline.misspelt is not None:
            raise misspelt(*outline.misspelt)
        if not outline.odd or outline.shape != "map":
            return outline.head
        value = self._value(outline)
        check_keys(value, outline.line)
        return head_of(value)

    def _document(self, outline: Outline) -> Document:
        """The document that a node stands in."""
        return self.documents[bisect_right(self._starts, outline.start) - 1]

    # ------------------------------------------------------------------------------- reading

    def _region(self, outline: Outline, end: int = -1) -> Region:
        document = self._document(outline)
        context = ""
        if self.text.startswith("%", document.start):
            marker = self.text.find("\n---", document.start)
            context = self.text[document.start : marker] + "\n---\n"
        if end < 0:
            end = outline.end
        flow = self._in_flow(document, outline)
        by_lines = self._compose_by_lines if self._quick else None
        return Region(self.text, outline.start, end, flow, context, by_lines)

    def _compose_by_lines(self, text: str) -> Composed | None:
        if self._lines is None:
            from krm_fn.wire.fast.compose import LineReader  # that a short text can do without

            self._lines = LineReader()
        return self._lines.compose(text)

    def _in_flow(self, document: Document, outline: Outline) -> bool:
        """Whether the object stands in flow style, its own or that of a collection around it."""
        if outline.flow:
            return True
        return outline is not document.root and document.root.flow

    def _compose(self, outline: Outline) -> Composed:
        """An object read alone, its words decided; positions as `Region.base` says."""
        if self._last is not None and self._last[0] is outline:
            return self._last[1]
        composed = self._read(outline)
        if composed.words:
            root = composed.roots[0]
            settle(root, composed.plain, self._reading(outline, root.value))
        self._last = outline, composed
        return composed

    def _read(self, outline: Outline) -> Composed:
        """An object read alone, its words as they are."""
        region = self._region(outline, outline.reach)
        line = outline.line - 1 - region.context.count("\n")
        composed = region.read(region.source(), line)
        if len(composed.roots) != 1:
            raise YamlError("the object does not end where its document says", outline.line)
        outline.settle(region.base + composed.roots[0].end)
        return composed

    def _reading(self, outline: Outline, value: Any) -> Reading:
        """How the words of an object are read in this stream."""
        doubts = self._doubts[outline.start] = []
        if not self.is_resource_list:
            return KUBECTL
        head = value if type(value) is dict else {}
        api_version, kind = (str(head.get(key)) for key in ("apiVersion", "kind"))
        return by_type(api_version, kind, self.expect, doubts)

    def node_of(self, item: Item) -> tuple[Node, int]:
        """An object's node, and what to add to its positions to get those in the text."""
        if self._is_in_context(item.outline):
            return self._node_in_context(item.outline), 0
        return self._compose(item.outline).roots[0], self._region(item.outline).base

    def comments_of(self, item: Item) -> dict[Path, Comments]:
        from krm_fn.wire.comments import comments_in  # few runs look at comments

        try:
            root, base = self.node_of(item)
        except YamlError as error:
            raise error.at(self.name) from None
        return comments_in(self.text, root, base)

    def set_comments(self, text: str, wanted: Sequence[tuple[int, Comment]]) -> str:
        return _with_comments(text, wanted)

    def load(self, item: Item) -> Json:
        try:
            value = self._value(item.outline)
        except YamlError as error:
            error.at(self.name)
            raise
        doubts = self._doubts.get(item.outline.start)
        item.has_words = doubts is not None
        item.doubts = tuple(doubts or ())
        return value

    def load_as(self, item: Item, reading: Reading) -> Json:
        outline: Outline = item.outline
        if self._is_in_context(outline):
            root = self._node_in_context(outline)
        else:
            root = self._read(outline).roots[0]
        value: Json = settled(root.value, reading)
        return value

    def _value(self, outline: Outline) -> Json:
        value: Json
        if not self._is_in_context(outline):
            value = self._compose(outline).roots[0].value
            return value
        node = self._node_in_context(outline)
        if outline.start not in self._settled:
            reading = self._reading(outline, node.value)
            self._settled[outline.start] = settled(node.value, reading)
        value = self._settled[outline.start]
        return value

    def _node(self, outline: Outline) -> Node:
        if self._is_in_context(outline):
            return self._node_in_context(outline)
        return self._compose(outline).roots[0]

    def _is_in_context(self, outline: Outline) -> bool:
        """Whether an object cannot be read alone, having aliases to anchors outside it, say."""
        return bool(outline.aliases) or self._odd_breaks

    def _node_in_context(self, outline: Outline) -> Node:
        """The node of an object among all others, its words as they are."""
        if self._in_context is None:
            self._in_context = _nodes_by_span(compose(self.text).roots)
        node = self._in_context.get((outline.start, outline.end))
        if node is None:
            raise YamlError("cannot be read with its anchors and line breaks", outline.line)
        return node

    def line_of(self, item: Item, path: Path) -> int:
        outline: Outline = item.outline
        if not path:
            return outline.line
        node: Node | None = self._node(outline)
        assert node is not None
        start = position = node.start
        for step in path:
            node, position = _step(node, step, position)
            if node is None:
                break
        source = self.text if self._is_in_context(outline) else self._region(outline).source()
        return outline.line + source.count("\n", start, position)

    # ------------------------------------------------------------------------------- writing

    def _render(self, results: Sequence[Json]) -> str:
        touched = [i for i in self.items if not i.dropped and i.replaced is not None]
        dropped = [i for i in self.items if i.dropped]
        anew = {outline.start: outline for outline in self._linked_parts(touched + dropped)}
        if results or self.added:
            anew |= {outline.start: outline for outline in self._open_end()}
        try:
            edits: list[TextEdit] = []
            units = {id(u): u for u in (self._unit(i, anew) for i in touched + dropped)}
            whole = {unit.outline.start for unit in units.values() if not unit.dropped}
            for unit in units.values():
                if not unit.dropped:
                    edits += self._edit(unit, unit.value, unit.outline.start in anew)
                anew.pop(unit.outline.start, None)
            for outline in anew.values():
                edits += self._expand(outline)
            starts = self._dropped()
            for siblings, parent in self._sibling_groups(starts, whole):
                edits += self._drop(siblings, parent, starts)
            edits += self._add()
            edits += self._write_results(results) if self._list else []
            text = apply_edits(self.text, edits, 0, len(self.text))
        except CannotEditError:
            raise InputError("the changed objects cannot be put back into the text") from None
        # Each object was checked alone; these may also change what is around them.
        if edits and (self._odd_breaks or any(d.root.anchors for d in self.documents)):
            self._check(text, deeply=True)
        elif dropped or self.added:
            self._check(text, deeply=False)
        return text

    @staticmethod
    def _unit(item: Item, anew: Collection[int] = ()) -> Item:
        """What is edited as one where an item is touched: itself, or one around it that is touched,
        too, or in which its anchors may stand, or that is written `anew` (by where it starts)."""
        unit = item
        while item.outer is not None:
            item = item.outer
            touched = item.replaced is not None or item.dropped
            if touched or _shares(item.outline) or item.outline.start in anew:
                unit = item
        return unit

    def _check(self, text: str, *, deeply: bool) -> None:
        """Read the new text and compare: all objects, or only their heads."""
        kept = [item for item in self.items if not item.dropped]
        try:
            stream = YamlStream(text, self.name, quick=self._quick)
            stream.expect = self.expect
            stream._lines = self._lines  # it is the same text but for the edits
            items = stream.items
            if deeply:
                values = [item.final for item in kept] + self.added
                same = equal([item.value for item in items], values)
            else:
                heads = [head_of(i.replaced) if i.replaced is not None else i.head for i in kept]
                same = [i.head for i in items] == heads + [head_of(v) for v in self.added]
        except YamlError:
            same = False
        if not same:
            raise InputError(
                "the changed objects cannot be put back into the text; write it without anchors, "
                "aliases and line breaks other than LF and CR LF"
            )

    def _open_end(self) -> list[Outline]:
        """The last part, where the missing line break at the end is part of its value."""
        parts = self._parts()
        if not parts or self.text.endswith("\n") or parts[-1].shape == "null":
            return []
        last = parts[-1]
        item = next((item for item in reversed(self.items) if item.outline is last), None)
        while item is not None and item.outer is not None:
            item = item.outer
            last = item.outline
        source = self._region(last).source()
        try:
            closed = compose(source + "\n").roots
            return [] if agrees(closed[0].value, self._value(last)) else [last]
        except YamlError:
            return []

    def prepare(self, item: Item) -> None:
        """Work the edits out at once: later, the object would have to be composed once more."""
        self._prepared.pop(item.outline.start, None)
        new = item.replaced
        if new is None or item.elements or self._last is None or self._last[0] is not item.outline:
            return
        self._prepared[item.outline.start] = new, self._edit(item, new, False)

    def _edit(self, item: Item, new: Any, anew: bool) -> list[TextEdit]:
        prepared = self._prepared.get(item.outline.start)
        if prepared is not None and prepared[0] is new and not anew:
            return prepared[1]
        region = self._region(item.outline)
        root: Node | None = None
        if not anew and not item.outline.aliases:
            with contextlib.suppress(YamlError):
                composed = self._compose(item.outline)
                root = composed.roots[0] if composed.plain else None
        old = omitting(item.original, item.inherited)
        return edit_object(region, root, old, item.written(new))

    def _expand(self, outline: Outline) -> list[TextEdit]:
        """Write a part of the text anew without anchors and aliases."""
        value = self._value(outline)
        return edit_object(self._region(outline), None, value, value)

    def _linked_parts(self, touched: Sequence[Item]) -> list[Outline]:
        """All parts of the text that share anchors with a touched one, these included."""
        parts = self._parts()
        linked: dict[int, list[int]] = {}
        definer: dict[str, int] = {}
        for n, part in enumerate(parts):
            for m in {definer[name] for name in part.aliases if name in definer}:
                linked.setdefault(n, []).append(m)
                linked.setdefault(m, []).append(n)
            definer.update(dict.fromkeys(part.anchors, n))
        if not linked:
            return []
        starts = {self._unit(item).outline.start for item in touched}
        pending = [n for n in linked if parts[n].start in starts]
        reached = set(pending)
        while pending:
            new = set(linked[pending.pop()]) - reached
            reached |= new
            pending += new
        return [parts[n] for n in sorted(reached)]

    def _parts(self) -> list[Outline]:
        """What may share anchors: the items, and the other members of the ResourceList."""
        parts = list({id(unit): unit.outline for unit in map(self._unit, self.items)}.values())
        if self._list is not None:
            parts += [e.value for k, e in self._list.root.entries.items() if k != "items"]
        return sorted(parts, key=lambda part: part.start)

    # -------------------------------------------------------------------- dropping and adding

    def _sibling_groups(
        self, dropped: set[int], whole: set[int]
    ) -> list[tuple[list[Outline], Outline | None]]:
        """Lists of objects of which at least one is to be dropped, each with its `items` node.

        Not those in what is dropped itself, or is written as a `whole`; by where these start.
        """
        if not dropped:
            return []
        groups: list[tuple[list[Outline], Outline | None]] = []
        if self._list is None and any(d.root.start in dropped for d in self.documents):
            groups.append(([d.root for d in self.documents], None))
        pending = [d.root for d in self.documents]
        while pending:
            outline = pending.pop()
            if (
                outline.items is not None
                and outline.start not in dropped
                and outline.start not in whole
            ):
                pending += outline.items.children
                if any(child.start in dropped for child in outline.items.children):
                    groups.append((outline.items.children, outline.items))
        return groups

    def _drop(
        self, siblings: list[Outline], parent: Outline | None, dropped: set[int]
    ) -> list[TextEdit]:
        gone = [n for n, outline in enumerate(siblings) if outline.start in dropped]
        if parent is None:
            return [self._document_span(n) for n in gone]
        if len(gone) == len(siblings):
            return self._empty(parent)
        if parent.flow:
            return without([(outline.start, outline.end) for outline in siblings], gone)
        text = self.text
        column = parent.start - line_start(text, parent.start)
        edits: list[TextEdit] = []
        for n in gone:
            floor = next_line(text, siblings[n - 1].end if n else parent.after_key)
            dash = next_dash(text, siblings[n - 1].end, column) if n else parent.start
            edits.append((*lines_of(text, dash, siblings[n].end, floor, column), ""))
        return edits

    def _dropped(self) -> set[int]:
        """Where the dropped objects start."""
        return {item.outline.start for item in self.items if item.dropped}

    def _empty(self, items: Outline) -> list[TextEdit]:
        """Take all elements out of a list, with the comments between them."""
        text = self.text
        added = self.added if self._list and items is self._list.root.items else []
        if items.flow:
            return [(items.start, items.end, emit_flow(added, self._is_json_like(items)))]
        colon = text.index(":", items.after_key) + 1
        column = items.start - line_start(text, items.start)
        return [
            (colon, colon, "" if added else " []"),
            (
                min(content_line_end(text, colon), items.start),
                content_line_end(text, items.end),
                self._elements(added, column, items.end),
            ),
        ]

    def _document_span(self, n: int) -> TextEdit:
        """The text of a document, up to the next one; directives need an end marker before them."""
        start = self.documents[n].start
        if n + 1 == len(self.documents):
            return (start, len(self.text), "")
        end = self.documents[n + 1].start
        marker = f"...{self._layout.newline}" if n and self.text.startswith("%", end) else ""
        return (start, end, marker)

    def _add(self) -> list[TextEdit]:
        if not self.added:
            return []
        text = self.text
        if self._list is None:
            newline = self._layout.newline
            body = "".join(
                f"---{newline}{emit_block(value, 0, self._layout)}{newline}" for value in self.added
            )
            lead = newline if text and not text.endswith("\n") else ""
            return [(len(text), len(text), lead + body)]
        root = self._list.root
        items = root.items
        assert items is not None
        if items.children and self._dropped().issuperset(c.start for c in items.children):
            return []  # `_empty` has put the new ones in
        if items.flow and (items.children or root.flow):
            body = emit_flow(self.added, self._is_json_like(items))[1:-1]
            if items.children:
                return [(items.children[-1].end, items.children[-1].end, ", " + body)]
            return [(items.start, items.end, f"[{body}]")]
        if items.children:
            column = items.start - line_start(text, items.start)
            at = content_line_end(text, items.end)
            return [(at, at, self._elements(self.added, column, items.end))]
        column = root.start - line_start(text, root.start)
        colon = text.index(":", items.after_key) + 1
        at = content_line_end(text, items.end)
        return [
            (colon, items.end, ""),
            (at, at, self._elements(self.added, column, items.end)),
        ]

    def _elements(self, values: Sequence[Json], column: int, end: int) -> str:
        """Lines, each with its break before it, for elements of a list behind what ends at `end`.

        No literals where one at the end could swallow what follows or lack its last line break.
        """
        at = next_line(self.text, end)
        below = self.text[at : line_end(self.text, at)].lstrip()
        if at < len(self.text):
            literals = bool(below) and not below.startswith("#")
        else:
            literals = self.text.endswith("\n")
        layout = replace(self._layout, literals=literals)
        return "".join(
            f"{layout.newline}{' ' * column}- {emit_block(value, column + 2, layout)}"
            for value in values
        )

    def _is_json_like(self, items: Outline) -> bool:
        """Whether a list in flow style holds objects as JSON writes them."""
        assert self._list is not None
        like = items.children[0] if items.children else self._list.root
        return self._region(like).quotes_keys()

    # -------------------------------------------------------------------------------- results

    def _write_results(self, results: Sequence[Json]) -> list[TextEdit]:
        assert self._list is not None
        root = self._list.root
        text = self.text
        old = root.entries.get("results")
        if root.flow:
            return self._write_flow_results(root, old, results)
        column = root.start - line_start(text, root.start)
        layout = replace(self._layout, literals=False)
        body = emit_block({"results": list(results)}, column, layout)
        if old is not None:
            if results:
                return [(old.start, content_line_end(text, old.value.end), body)]
            return [(*lines_of(text, old.start, old.value.end, old.start, column), "")]
        if not results:
            return []
        at = content_line_end(text, root.end)
        return [(at, at, f"{layout.newline}{' ' * column}{body}")]

    def _write_flow_results(
        self, root: Outline, old: Entry | None, results: Sequence[Json]
    ) -> list[TextEdit]:
        body = emit_flow(list(results), True)
        if old is not None:
            if results:
                return [(old.value.start, old.value.end, body)]
            entries = list(root.entries.values())
            return without([(e.start, e.value.end) for e in entries], [entries.index(old)])
        if not results:
            return []
        at = max(entry.value.end for entry in root.entries.values())
        return [(at, at, f', "results": {body}')]


def written_alone(item: Item) -> str:
    """An item as a YAML document of its own, in block style, with its comments."""
    text = emit_block(item.final, 0, Layout()) + "\n"
    return _with_comments(text, [(0, comment) for comment in item.all_comments()])


def _with_comments(text: str, wanted: Sequence[tuple[int, Comment]]) -> str:
    """The text with comments set, which is read again: one that would change a value is refused."""
    from krm_fn.wire.comments import comment_edits  # few runs set comments

    stream = YamlStream(text, "")
    by_item: dict[int, dict[tuple[Path, bool], Comment]] = {}
    for index, comment in wanted:
        by_item.setdefault(index, {})[comment.path, comment.head] = comment
    edits: dict[tuple[int, int], str] = {}
    for index, comments in by_item.items():
        item = stream.items[index]
        nodes = stream.node_of(item)
        for start, end, body in comment_edits(text, *nodes, comments.values(), str(item.head)):
            edits[start, end] = body  # what is above an object is above its first key, too
    written = apply_edits(text, [(*span, body) for span, body in edits.items()], 0, len(text))
    after = YamlStream(written, "")
    for old, new in zip(stream.items, after.items, strict=True):
        if not equal(old.value, new.value):
            raise InputError(f"{old.head}: a comment would change a value")
    return written


def _shares(outline: Outline) -> bool:
    """Whether what stands in a node may be linked by anchors."""
    return bool(outline.anchors or outline.aliases)


def _has_odd_breaks(text: str) -> bool:
    """Whether there are line breaks that YAML 1.1 knows and `krm_fn.wire.lines` does not."""
    if text.count("\r") != text.count("\r\n"):
        return True
    return not text.isascii() and any(mark in text for mark in "\x85\u2028\u2029")


def _nodes_by_span(roots: Sequence[Node]) -> dict[tuple[int, int], Node]:
    pending = list(roots)
    nodes: dict[tuple[int, int], Node] = {}
    while pending:
        node = pending.pop()
        nodes[node.start, node.end] = node
        pending += _children(node)
    return nodes


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
