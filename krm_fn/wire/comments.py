"""Comments at the end of a line: set, replaced or removed in a text that is otherwise done.

A comment is no part of a value, so it is put into the text that is about to leave, after all edits
of values. The text is read again afterwards: a comment that would change a value is refused.
"""

from __future__ import annotations

from collections.abc import Sequence

from krm_fn.errors import InputError
from krm_fn.values import Path, equal, format_path
from krm_fn.wire.compose import MappingNode, Node, ScalarNode, SequenceNode
from krm_fn.wire.edit import apply_edits
from krm_fn.wire.lines import CannotEdit, line_end
from krm_fn.wire.yamlstream import YamlStream

Wanted = tuple[int, Path, str]
"""(index of the item, path of the value, comment; "" removes it)."""


def with_line_comments(text: str, wanted: Sequence[Wanted]) -> str:
    """`text` with the comments behind the values. Raises InputError where one cannot stand."""
    stream = YamlStream(text, "")
    edits = []
    for (index, path), comment in {(n, path): text for n, path, text in wanted}.items():
        item = stream.items[index]
        try:
            node, base = stream.node_of(item)
            start, end = _span(text, node, base, path)
        except CannotEdit as error:
            raise InputError(
                f"{item.head}: {format_path(path)} cannot have a line comment: {error}"
            ) from None
        edits.append((start, end, f" # {comment}" if comment else ""))
    written = apply_edits(text, edits, 0, len(text))
    after = YamlStream(written, "")
    for old, new in zip(stream.items, after.items, strict=True):
        if not equal(old.value, new.value):
            raise InputError(f"{old.head}: a comment would change a value")
    return written


def _span(text: str, root: Node, base: int, path: Path) -> tuple[int, int]:
    """From where what is to carry the comment ends to the end of its line."""
    colon: int | None = None
    node = root
    for step in path:
        node, colon = _child(text, node, base, step)
    start, end = node.start + base, node.end + base
    if isinstance(node, ScalarNode) and node.style in ("|", ">"):
        header = text[start : line_end(text, start)]
        at = start + len(header.split(" #")[0].rstrip())
    elif isinstance(node, MappingNode | SequenceNode) and not node.flow:
        if colon is None:
            raise CannotEdit("it has no line of its own")
        at = colon
    else:
        at = end
    stop = line_end(text, at)
    rest = text[at:stop].strip(" \t")
    if rest and not rest.startswith("#"):
        raise CannotEdit("something else stands behind it")
    return at, stop


def _child(text: str, node: Node, base: int, step: str | int) -> tuple[Node, int | None]:
    """(the value at a key or index, the position behind the key's colon)"""
    if isinstance(node, MappingNode):
        for key, key_node, value in node.pairs:
            if key == step:
                colon = text.find(":", key_node.end + base)
                if colon < 0:
                    raise CannotEdit("its key has no colon")
                return value, colon + 1
    if isinstance(node, SequenceNode) and isinstance(step, int) and 0 <= step < len(node.items):
        return node.items[step], None
    raise CannotEdit("it is not there")
