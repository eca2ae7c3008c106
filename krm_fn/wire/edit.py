"""The smallest change of a text that turns the value it holds into another one.

Given the nodes of an object (with their spans), the value they hold and the value wanted, this
module writes edits: set a scalar in its quotes, insert a key with its siblings' indentation, delete
a key with the comment above it, align lists so that only the elements that changed are touched.
Comments, key order, quoting, blank lines and line ends around an edit stay. The result is parsed
again and compared: what does not come out right is written anew as a whole, so that a fault here
makes a larger difference, never a wrong object.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from krm_fn.errors import InputError
from krm_fn.values import align, equal
from krm_fn.wire.compose import (
    Composed,
    MappingNode,
    Node,
    ScalarNode,
    SequenceNode,
    YamlError,
    compose,
)
from krm_fn.wire.emit import Layout, emit_block, emit_flow, emit_value, literal_lines, write_key
from krm_fn.wire.lines import (
    CannotEditError,
    break_before,
    content_line_end,
    line_end,
    line_start,
    lines_of,
    next_dash,
    next_line,
    with_comments_above,
)
from krm_fn.wire.scalars import can_be_literal, write_scalar
from krm_fn.wire.words import agrees

_JSON_LIKE: Final = re.compile(r'\{\s*"')

TextEdit = tuple[int, int, str]
"""Replace the span `[start, end)` by a text. Edits never overlap."""


def apply_edits(text: str, edits: Sequence[TextEdit], start: int, end: int) -> str:
    """`text[start:end]` with the edits in it made; they must lie within the span.

    What is inserted amid lines that are deleted comes behind these.
    """
    parts: list[str] = []
    at = start
    for first, last, new in sorted(edits, key=lambda e: (e[0], e[1])):
        if first < at and first < last:
            raise CannotEditError("edits overlap")
        parts += (text[at:first], new)
        at = max(at, last)
    parts.append(text[at:end])
    return "".join(parts)


def without(spans: Sequence[tuple[int, int]], gone: Sequence[int]) -> list[TextEdit]:
    """Take members out of a flow collection or a JSON text, each with one comma; one must stay."""
    removed = set(gone)
    last_kept = max(n for n in range(len(spans)) if n not in removed)
    edits = [(spans[n][0], spans[n + 1][0], "") for n in gone if n < last_kept]
    if last_kept < len(spans) - 1:
        edits.append((spans[last_kept][1], spans[-1][1], ""))
    return edits


@dataclass(frozen=True, slots=True)
class Region:
    """An object in a text: the span of its node, and whether it stands inside flow style."""

    text: str
    start: int
    end: int
    flow: bool
    context: str = ""
    """What the node needs to be read alone: its document's directives."""
    by_lines: Callable[[str], Composed | None] | None = None
    """Reads a text by its lines where that is enough; None where texts are to be read exactly."""

    @property
    def column(self) -> int:
        """What the lines of the object are indented by; nothing in flow style, which may have a
        line of any length before it."""
        return 0 if self.flow else self.start - line_start(self.text, self.start)

    def quotes_keys(self) -> bool:
        """Whether the object is in flow style as JSON has it."""
        return self.flow and _JSON_LIKE.match(self.text, self.start) is not None

    def alone(self, body: str) -> str:
        """The object's text, or `body` in its stead, as a document of its own."""
        return self.context + " " * self.column + body

    def source(self) -> str:
        """The object's text with the line break that ends it, as a document of its own."""
        return self.alone(self.text[self.start : self.limit()])

    def read(self, body: str, line_offset: int = 0) -> Composed:
        """A text as `source` and `alone` give it, composed. Raises YamlError."""
        if self.by_lines is not None and not self.flow:
            found = self.by_lines(body)
            if found is not None:
                return found
        return compose(body, line_offset=line_offset)

    @property
    def base(self) -> int:
        """What to add to a position in `source()` to get one in `text`."""
        return self.start - self.column - len(self.context)

    def limit(self) -> int:
        """The end of what may bear on the object: its last line, then blank and comment lines.

        These count since a block scalar that an edit puts last could swallow them.
        """
        if self.flow:
            return self.end
        text = self.text
        at = next_line(text, self.end)
        while at < len(text):
            stop = text.find("\n", at)
            line = text[at : stop if stop >= 0 else len(text)].strip(" \t\r")
            if line and not line.startswith("#"):
                return at
            at = stop + 1 if stop >= 0 else len(text)
        return at

    def lead(self) -> str:
        """What stands before the object on its line, indentation and dashes aside."""
        before = self.text[line_start(self.text, self.start) : self.start]
        return before if before.startswith("---") or before.strip(" -") else ""


def edit_object(region: Region, root: Node | None, old: Any, new: Any) -> list[TextEdit]:
    """Edits of `region.text` after which the object at `region` is `new`.

    `root` is the object's node as composed from `region.source()`, and `old` its value. Without a
    root (for what has anchors, aliases or merge keys) the object is written anew, expanded.
    Raises InputError if the value cannot be written as YAML at all (a key over 1,024 characters).
    """
    layout = _layout(region, root) if root is not None else Layout(newline=newline_of(region.text))
    # A literal may swallow a comment below it that is indented deeper; a quoted text does not.
    layouts = (layout, replace(layout, literals=False))
    limit = region.limit()
    if root is not None:
        for layout in layouts:
            editor = _Editor(region, layout)
            slot = _Slot("flow" if region.flow else "root", region.column, 0)
            with contextlib.suppress(CannotEditError):
                editor.change(root, old, new, slot)
                if _holds(region, editor.edits, limit, new):
                    return editor.edits
    for layout in layouts:
        with contextlib.suppress(CannotEditError):
            edits = [_whole(region, layout, new)]
            if _holds(region, edits, limit, new):
                return edits
    raise InputError("the changed object cannot be written as YAML")


def _whole(region: Region, layout: Layout, new: Any) -> TextEdit:
    """The edit that writes an object anew as a whole, without the comments in it."""
    if region.flow:
        return (region.start, region.end, emit_flow(new, region.quotes_keys()))
    end = content_line_end(region.text, region.end)
    lead = region.lead()
    if not lead or not _is_block(new, layout):
        return (region.start, end, emit_block(new, region.column, layout))
    # An anchor or a tag stood behind `---` or a key: a block collection cannot.
    column = 0 if lead.startswith("---") else len(lead) - len(lead.lstrip(" ")) + layout.step
    body = emit_block(new, column, layout)
    return (region.start, end, f"{layout.newline}{' ' * column}{body}")


def _holds(region: Region, edits: Sequence[TextEdit], limit: int, new: Any) -> bool:
    """Whether the edited text reads back as exactly `new`, and ends its line as it did."""
    if any(first < region.start for first, _, _ in edits):
        return False
    try:
        body = apply_edits(region.text, edits, region.start, limit)
        if region.text[limit - 1] == "\n" and not body.endswith("\n"):
            return False
        composed = region.read(region.alone(body))
    except (YamlError, CannotEditError):
        return False
    # A word such as `yes` is never written plain: what is one was not touched.
    same = agrees if composed.words else equal
    return len(composed.roots) == 1 and same(composed.roots[0].value, new)


@dataclass(frozen=True, slots=True)
class _Slot:
    """Where a value hangs: behind a key or a dash at `column`, or as the root, or inside flow."""

    kind: str
    column: int
    after: int
    """The position right behind the colon or the dash."""


class _Editor:
    """Collects the edits of one object. Positions are those of the whole text."""

    def __init__(self, region: Region, layout: Layout) -> None:
        self.text = region.text
        self.base = region.base
        self.layout = layout
        self.quoted = region.quotes_keys()
        self.edits: list[TextEdit] = []

    def change(self, node: Node, old: Any, new: Any, slot: _Slot) -> None:
        """Turn the value of `node` from `old` into `new`."""
        if old is new or equal(old, new):
            return
        before = len(self.edits)
        try:
            if type(node) is MappingNode and type(new) is dict:
                self._mapping(node, old, new, slot)
            elif type(node) is SequenceNode and type(new) is list:
                self._sequence(node, old, new, slot)
            else:
                self._replace(node, new, slot)
        except CannotEditError:
            if slot.kind == "root":
                raise
            del self.edits[before:]
            self._replace(node, new, slot)

    # ------------------------------------------------------------------------------------ maps

    def _mapping(
        self, node: MappingNode, old: dict[str, Any], new: dict[str, Any], slot: _Slot
    ) -> None:
        pairs = node.pairs
        kept = [i for i, (key, _, _) in enumerate(pairs) if key in new]
        gone = [i for i, (key, _, _) in enumerate(pairs) if key not in new]
        if not kept:
            self._replace(node, new, slot)
            return
        if node.flow:
            self._flow_mapping(node, old, new, kept, gone)
            return
        column = self._column(self._start(pairs[0][1]))
        for i in kept:
            key, key_node, value = pairs[i]
            if old[key] is not new[key]:
                self.change(value, old[key], new[key], self._key_slot(key_node, column))
        self._delete_pairs(node, gone, kept[0], column, slot)
        added = [key for key in new if key not in old]
        if added:
            newline = self.layout.newline
            lines = [
                f"{' ' * column}{write_key(key)}:{emit_value(new[key], column, self.layout)}"
                for key in added
            ]
            at = content_line_end(self.text, self._end(pairs[kept[-1]][2]))
            self.edits.append((at, at, newline + newline.join(lines)))

    def _delete_pairs(
        self, node: MappingNode, gone: list[int], first: int, column: int, slot: _Slot
    ) -> None:
        """Delete the pairs `gone`; `first` is the first one that stays."""
        pairs = node.pairs
        start = self._start(pairs[0][1])
        leading = self.text[line_start(self.text, start) : start]
        if first > 0 and (leading.strip() or slot.kind == "root"):
            # The first key shares its line with a dash, or the object starts with it: the next one
            # takes its place.
            self._pull_up(start, self._start(pairs[first][1]), column)
            gone = [i for i in gone if i > first]
        for i in gone:
            floor = (
                next_line(self.text, self._end(pairs[i - 1][2]))
                if i
                else self._first_floor(slot, start)
            )
            span = lines_of(
                self.text, self._start(pairs[i][1]), self._end(pairs[i][2]), floor, column
            )
            self.edits.append((*span, ""))

    def _pull_up(self, start: int, target: int, column: int) -> None:
        """Move the key at `target`, with the comments above it, to where the first one starts."""
        text = self.text
        line = line_start(text, target)
        above = with_comments_above(text, line, next_line(text, start), column)
        if above == line:
            self.edits.append((start, target, ""))
        elif text[line_start(text, start) : start].strip():
            dash_line = line_start(text, start)
            self.edits += [(start, target, ""), (dash_line, dash_line, text[above:line])]
        else:
            self.edits.append((start, above + column, ""))

    def _flow_mapping(
        self,
        node: MappingNode,
        old: dict[str, Any],
        new: dict[str, Any],
        kept: list[int],
        gone: list[int],
    ) -> None:
        pairs = node.pairs
        for i in kept:
            key, _, value = pairs[i]
            self.change(value, old[key], new[key], _Slot("flow", 0, self._end(pairs[i][1])))
        spans = [(self._start(key), self._end(value)) for _, key, value in pairs]
        self.edits += without(spans, gone)
        added = {key: value for key, value in new.items() if key not in old}
        if added:
            separator = self._flow_separator(self._start(node), spans)
            texts = [emit_flow({k: v}, self.quoted)[1:-1] for k, v in added.items()]
            at = spans[kept[-1]][1]
            self.edits.append((at, at, separator + separator.join(texts)))

    # ----------------------------------------------------------------------------------- lists

    def _sequence(self, node: SequenceNode, old: list[Any], new: list[Any], slot: _Slot) -> None:
        pairs = align(old, new)
        if not any(i is not None and j is not None for i, j in pairs):
            self._replace(node, new, slot)
            return
        if node.flow:
            self._flow_sequence(node, old, new, pairs)
            return
        start = self._start(node)
        column = self._column(start)
        leading = self.text[line_start(self.text, start) : start]
        dashes = self._dashes(node, column)
        first_floor = self._first_floor(slot, start)
        newline = self.layout.newline
        previous: int | None = None
        for i, j in pairs:
            if i is None:
                assert j is not None
                item = f"{newline}{' ' * column}{emit_block([new[j]], column, self.layout)}"
                at = self._insertion_point(node, previous, dashes, column, first_floor, leading)
                self.edits.append((at, at, item))
                continue
            if j is None:
                if leading.strip() and i == 0:
                    raise CannotEditError("the first element shares its line")
                floor = next_line(self.text, self._end(node.items[i - 1])) if i else first_floor
                span = lines_of(self.text, dashes[i], self._end(node.items[i]), floor, column)
                self.edits.append((*span, ""))
            else:
                slot_here = _Slot("item", column, dashes[i] + 1)
                self.change(node.items[i], old[i], new[j], slot_here)
                previous = i

    def _insertion_point(
        self,
        node: SequenceNode,
        previous: int | None,
        dashes: list[int],
        column: int,
        floor: int,
        leading: str,
    ) -> int:
        if previous is not None:
            return content_line_end(self.text, self._end(node.items[previous]))
        if leading.strip():
            raise CannotEditError("the first element shares its line")
        line = with_comments_above(self.text, line_start(self.text, dashes[0]), floor, column)
        if line == 0:
            raise CannotEditError("no line above")
        return break_before(self.text, line)

    def _dashes(self, node: SequenceNode, column: int) -> list[int]:
        """Where the dash of each element stands."""
        dashes: list[int] = []
        at = self._start(node)
        for n, item in enumerate(node.items):
            if n:
                at = next_dash(self.text, self._end(node.items[n - 1]), column)
            if at > self._start(item):
                raise CannotEditError("a dash is not where it should be")
            dashes.append(at)
        return dashes

    def _flow_sequence(
        self,
        node: SequenceNode,
        old: list[Any],
        new: list[Any],
        pairs: list[tuple[int | None, int | None]],
    ) -> None:
        spans = [(self._start(item), self._end(item)) for item in node.items]
        separator = self._flow_separator(self._start(node), spans)
        previous: int | None = None
        for i, j in pairs:
            if i is None:
                assert j is not None
                text = emit_flow(new[j], self.quoted or _all_quoted(node))
                if previous is None:
                    at = spans[0][0]
                    self.edits.append((at, at, text + separator))
                else:
                    at = spans[previous][1]
                    self.edits.append((at, at, separator + text))
            elif j is not None:
                self.change(node.items[i], old[i], new[j], _Slot("flow", 0, spans[i][0]))
                previous = i
        self.edits += without(spans, [i for i, j in pairs if i is not None and j is None])

    def _flow_separator(self, start: int, spans: list[tuple[int, int]]) -> str:
        if len(spans) > 1:
            between = self.text[spans[-2][1] : spans[-1][0]]
        else:
            between = "," + self.text[start + 1 : spans[0][0]]
        return between if "\n" in between and between.strip() == "," else ", "

    # --------------------------------------------------------------------------------- values

    def _replace(self, node: Node, new: Any, slot: _Slot) -> None:
        """Write a value anew where another one stands."""
        style = node.style if isinstance(node, ScalarNode) else ""
        if slot.kind == "flow":
            if type(new) in (dict, list) or self.quoted:
                text = emit_flow(new, self.quoted)
            else:
                text = write_scalar(new, style, flow=True)
            start, end = self._start(node), self._end(node)
            if start == end:
                # Nothing stands there: `{a}`, `{"a":}` or `{a: }`.
                behind = start
                while self.text[behind - 1 : behind] in (" ", "\t"):
                    behind -= 1
                colon = "" if self.text[behind - 1] == ":" else ":"
                text = f"{colon}{' ' if colon or behind == start else ''}{text}"
            self.edits.append((start, end, text))
        elif slot.kind == "root":
            raise CannotEditError("the root is written anew as a whole")
        elif not _is_block(new, self.layout):
            self._write_on_line(node, _one_line(new, style), slot)
        elif style == "|" and type(new) is str:
            self._rewrite_literal(node, new, slot)
        else:
            self._write_below(node, new, slot)

    def _write_on_line(self, node: Node, text: str, slot: _Slot) -> None:
        start, end = self._start(node), self._end(node)
        if start < end and self.text[end - 1] == "\n":
            end = break_before(self.text, end)
        if start < end and "\n" not in self.text[slot.after : start]:
            self.edits.append((start, end, text))
            return
        self.edits.append((slot.after, slot.after, " " + text))
        if start < end:
            self.edits.append((line_end(self.text, slot.after), end, ""))

    def _rewrite_literal(self, node: Node, new: str, slot: _Slot) -> None:
        """Keep the indentation, so that the lines that do not change stay as they are."""
        start, end = self._start(node), self._end(node)
        header, lines = literal_lines(new, slot.column, self._literal_step(start, end, slot))
        body = self.layout.newline.join([header, *lines])
        self.edits.append((start, content_line_end(self.text, end), body))

    def _write_below(self, node: Node, new: Any, slot: _Slot) -> None:
        start, end = self._start(node), self._end(node)
        newline = self.layout.newline
        if slot.kind == "key":
            written = emit_value(new, slot.column, self.layout)
        else:
            written = emit_value([new], slot.column, replace(self.layout, wide=False))
            written = " " + written.split("- ", 1)[1]
        first, _, rest = written.partition(newline)
        if start == end or "\n" not in self.text[slot.after : start]:
            at = content_line_end(self.text, end)
            comment = self.text[end:at] if "\n" not in self.text[slot.after : end] else ""
            self.edits.append((slot.after, at, first + comment.rstrip() + newline + rest))
        else:
            at = line_end(self.text, slot.after)
            self.edits.append((slot.after, slot.after, first))
            self.edits.append((at, end, newline + rest))

    def _literal_step(self, start: int, end: int, slot: _Slot) -> int:
        """What the lines of a literal are indented by."""
        header, *lines = self.text[start:end].split("\n")
        digit = re.match(r"\|[+-]?([1-9])", header)
        if digit:
            return int(digit[1])
        first = next((line for line in lines if line.strip()), None)
        if first is None:
            return self.layout.step
        return len(first) - len(first.lstrip(" ")) - slot.column

    # -------------------------------------------------------------------------- text and lines

    def _start(self, node: Node) -> int:
        return node.start + self.base

    def _end(self, node: Node) -> int:
        return node.end + self.base

    def _column(self, at: int) -> int:
        return at - line_start(self.text, at)

    def _first_floor(self, slot: _Slot, start: int) -> int:
        """How far up the comment above a collection's first member may reach."""
        if slot.kind == "key":
            return next_line(self.text, slot.after)
        return line_start(self.text, start)

    def _key_slot(self, key: Node, column: int) -> _Slot:
        end = self._end(key)
        colon = self.text.find(":", end)
        if colon < 0 or self.text[end:colon].strip(" "):
            raise CannotEditError("an explicit key")
        return _Slot("key", column, colon + 1)


def _all_quoted(node: SequenceNode) -> bool:
    """Whether the elements of a list are all in double quotes, as in `["sh", "-c"]`."""
    return all(isinstance(item, ScalarNode) and item.style == '"' for item in node.items)


def _is_block(value: Any, layout: Layout) -> bool:
    if type(value) is str:
        return layout.literals and can_be_literal(value)
    return type(value) in (dict, list) and bool(value)


def _one_line(value: Any, style: str) -> str:
    if type(value) in (dict, list):
        return emit_flow(value)
    return write_scalar(value, style if style in ("'", '"') else "")


def _layout(region: Region, root: Node) -> Layout:
    """The indentation that the object uses itself, from the first places that show it."""
    step: int | None = None
    wide: bool | None = None
    source = region.source()
    pending: list[Node] = [root]
    while pending and (step is None or wide is None):
        node = pending.pop()
        if type(node) is SequenceNode:
            pending.extend(reversed(node.items))
        if type(node) is not MappingNode or node.flow:
            continue
        column = node.start - line_start(source, node.start)
        for _, _, value in node.pairs:
            if type(value) not in (MappingNode, SequenceNode) or value.flow:  # type: ignore[attr-defined]
                continue
            inner = value.start - line_start(source, value.start) - column
            if type(value) is MappingNode and step is None:
                step = inner
            elif type(value) is SequenceNode and wide is None:
                wide = inner > 0
        pending.extend(value for _, _, value in reversed(node.pairs))
    return Layout(
        step if step is not None and 0 < step < 9 else 2, bool(wide), newline_of(region.text)
    )


def newline_of(text: str) -> str:
    """The line break that the text uses first."""
    at = text.find("\n")
    return "\r\n" if at > 0 and text[at - 1] == "\r" else "\n"
