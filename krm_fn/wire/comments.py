"""Comments of values: read from the text that came in, and set in the text that leaves.

A value has a head comment, the lines right above it that are indented as it is, and a line
comment, which ends its line (that of its key, for a block of lines). They are no part of a value,
so they are put into the text that is about to leave, after all edits of values. This module knows
texts and nodes; it knows no stream of objects.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, NamedTuple

from krm_fn.errors import InputError
from krm_fn.values import Path, format_path
from krm_fn.wire.compose import MappingNode, Node, ScalarNode, SequenceNode
from krm_fn.wire.edit import TextEdit, newline_of
from krm_fn.wire.lines import CannotEditError, line_end, line_start, with_comments_above
from krm_fn.wire.stream import Comment, Comments


def comments_in(text: str, root: Node, base: int) -> dict[Path, Comments]:
    """Returns the comments of an object's values by their paths; values without are not there.

    `base` is what to add to the positions of its nodes to get those in `text`. Takes one pass.
    """
    by_path: dict[Path, Comments] = {}
    for path, place in _places(text, root, base):
        comments = place.read()
        if any(comments):
            by_path[path] = comments
    return by_path


def comment_edits(
    text: str, root: Node, base: int, comments: Iterable[Comment], name: str
) -> Iterator[TextEdit]:
    """Returns the edits that set comments of the object `name`.

    Raises InputError where one cannot stand that did not come with it from another text.
    """
    places = dict(_places(text, root, base))
    for comment in comments:
        kind = "head" if comment.head else "line"
        try:
            yield _edit(places, comment)
        except CannotEditError as error:
            if comment.carried:
                continue
            raise InputError(
                f"{name}: {format_path(comment.path)} cannot have a {kind} comment: {error}"
            ) from None


def _edit(places: Mapping[Path, _Place], comment: Comment) -> TextEdit:
    place = places.get(comment.path)
    if place is None:
        raise CannotEditError("it is not there")
    return place.set_head(comment.text) if comment.head else place.set_line(comment.text)


_LINE_COMMENT: Final = re.compile(r"[ \t]+#([^\r\n]*)")
_PROPERTIES: Final = re.compile(r"(?:[ \t]+[&!]\S*)*")
"""An anchor and a tag of what is on the lines below."""


class _Place(NamedTuple):
    """Where comments of a value stand. Positions are those of the text."""

    text: str
    start: int
    """Where the value starts, with its key or its dash."""
    end: int
    """Where the line comment may stand behind; -1 for none."""

    def read(self) -> Comments:
        head = ""
        lines = self._head_lines()
        if lines is not None:
            above, line = lines
            head = "\n".join(
                _plain(one.strip(" \t\r")[1:]) for one in self.text[above:line].splitlines()
            )
        match = _LINE_COMMENT.match(self.text, self.end) if self.end >= 0 else None
        return Comments(head, _plain(match[1]) if match else "")

    def _head_lines(self) -> tuple[int, int] | None:
        """The span of the comment lines above, or None where the value has no line of its own."""
        line = line_start(self.text, self.start)
        if self.text[line : self.start].strip(" "):
            return None
        return with_comments_above(self.text, line, 0, self.start - line), line

    def set_head(self, comment: str) -> TextEdit:
        lines = self._head_lines()
        if lines is None:
            raise CannotEditError("something else stands before it on its line")
        above, line = lines
        newline, indent = newline_of(self.text), self.text[line : self.start]
        body = [f"{indent}# {one}".rstrip() for one in comment.splitlines()]
        return above, line, "".join(f"{one}{newline}" for one in body)

    def set_line(self, comment: str) -> TextEdit:
        if self.end < 0:
            raise CannotEditError("it has no line of its own")
        stop = line_end(self.text, self.end)
        rest = self.text[self.end : stop].strip(" \t")
        if rest and not rest.startswith("#"):
            raise CannotEditError("something else stands behind it")
        return self.end, stop, f" # {comment}" if comment else ""


def _plain(comment: str) -> str:
    return comment.removeprefix(" ").rstrip()


def _places(text: str, root: Node, base: int) -> Iterator[tuple[Path, _Place]]:
    """Every value with where its comments stand; the root first, parents before what is in them."""
    start = root.start + base
    pending: list[tuple[Path, Node, int, int]] = [((), root, _dash(text, start) or start, -1)]
    while pending:
        path, node, at, colon = pending.pop()
        yield path, _Place(text, at, _line_end(text, node, base, colon))
        if isinstance(node, MappingNode):
            for key, key_node, value in reversed(node.pairs):
                behind = text.find(":", key_node.end + base) + 1
                pending.append(((*path, key), value, key_node.start + base, behind))
        elif isinstance(node, SequenceNode):
            for n in range(len(node.items) - 1, -1, -1):
                at = node.items[n].start + base
                dash = None if node.flow else _dash(text, at)
                pending.append(((*path, n), node.items[n], at if dash is None else dash, -1))


def _dash(text: str, start: int) -> int | None:
    """The dash before a value on its line, or None."""
    before = start - 1
    while before >= 0 and text[before] == " ":
        before -= 1
    return before if 0 <= before < start - 1 and text[before] == "-" else None


def _line_end(text: str, node: Node, base: int, colon: int) -> int:
    """Where a line comment of a value stands behind; `colon` is the end of its key, -1 for none."""
    start, end = node.start + base, node.end + base
    if isinstance(node, ScalarNode) and node.style in ("|", ">"):
        header = text[start : line_end(text, start)]
        return start + len(header.split(" #")[0].rstrip())
    if isinstance(node, MappingNode | SequenceNode) and not node.flow:
        match = _PROPERTIES.match(text, colon) if colon > 0 else None
        return match.end() if match else -1
    return end
