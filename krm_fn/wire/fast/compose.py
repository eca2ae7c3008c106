"""From the block YAML that manifests are written in to nodes, line by line.

Lines repeat: the same keys with the same indentation, the same values. What a line says is worked
out once and kept for the stream; putting an object together is then a walk over its lines. Anything
that a line alone does not decide (text that goes on in the next line, anchors, tags, merge keys,
folded text, explicit keys, tabs, a key twice, words such as `yes`) is left to
`krm_fn.wire.compose`, of which this is a shortcut: the same nodes or none. It refuses nothing.
"""

from __future__ import annotations

import re
from typing import Any, Final, NamedTuple

from krm_fn.wire.compose import Composed, MappingNode, Node, ScalarNode, SequenceNode
from krm_fn.wire.scalars import MergeKey, Word, resolve_go_yaml

_KEPT: Final = 20_000
"""Lines that are kept; beyond that all are forgotten, since what repeats comes back soon."""

_SHORT: Final = 300
"""Characters of a line that may be kept: longer ones are not those that repeat."""

_DEEPEST: Final = 300
"""Columns: deeper than this the limit on nesting may be passed."""

_LONGEST: Final = 1_000
"""Characters of a key; YAML itself ends at 1,024."""


class LineReader:
    """Reads objects by their lines, and keeps what these say.

    They may hold what is in users' Secrets: a stream has its own, which ends with it.
    """

    def __init__(self) -> None:
        self._known: dict[str, _Line | None] = {}

    def compose(self, text: str) -> Composed | None:
        """What `compose` makes of a text with one document, or None where it must be asked."""
        root = _Lines(text, self._known).run()
        return None if root is None else Composed([root], True)


# -------------------------------------------------------------------------------------- one line


class _Flow:
    """A flow collection: its span, and what is in it, relative to the line."""

    __slots__ = ("end", "keys", "start", "values")

    def __init__(self, start: int, end: int, keys: list[Any] | None, values: list[Any]) -> None:
        self.start = start
        self.end = end
        self.keys = keys
        """Scalars (start, end, value, style), for a mapping."""
        self.values = values

    def node(self, at: int) -> MappingNode | SequenceNode:
        """Nodes for an occurrence of it in a line that starts at `at`."""
        if self.keys is None:
            sequence = SequenceNode(at + self.start, at + self.end, True)
            for value in self.values:
                node = _node(value, at)
                sequence.items.append(node)
                sequence.value.append(node.value)
            return sequence
        mapping = MappingNode(at + self.start, at + self.end, True)
        for key, value in zip(self.keys, self.values, strict=True):
            node = _node(value, at)
            mapping.pairs.append((key[2], _node(key, at), node))
            mapping.value[key[2]] = node.value
        return mapping


def _node(value: Any, at: int) -> Node:
    if type(value) is _Flow:
        return value.node(at)
    start, end, content, style = value
    return ScalarNode(at + start, at + end, content, style)


class _Line(NamedTuple):
    """What a line says. Columns count from its start."""

    column: int
    dashes: list[int]
    """Where its dashes stand; the first is `column`."""
    name: str | None
    """Its key."""
    key: tuple[int, int, str]
    """Where the key starts and ends, its style."""
    scalar: tuple[int, int, Any, str] | None
    """A value: where it starts and ends, what it is, its style."""
    other: _Flow | _Literal | None
    """A value of another kind."""


class _Literal(NamedTuple):
    """The header of a block of text, which the next lines hold."""

    start: int
    chomps: bool
    """Whether its last line break is none of the text (`|-`)."""


_PRINTABLE: Final = "\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff"
_UNUSUAL: Final = re.compile(f"[^ -~{_PRINTABLE}]")
"""A tab, a line break of YAML 1.1, a byte order mark, what YAML cannot hold."""

_LINE: Final = re.compile(
    r"( *)((?:- +)*)"
    r"(?:(?:([A-Za-z0-9_./][^\s:#,\[\]{}\"']*)|\"([^\"\\]*)\"|'([^']*)'):(?= |$))?"
    r" *(.*)"
)
_DOUBLE: Final = re.compile(r'"((?:[^"\\]|\\["\\nrt])*+)"')
_SINGLE: Final = re.compile(r"'((?:[^']|'')*+)'")
_PLAIN_START: Final = re.compile(r"[^\s\-?:,\[\]{}#&*!|>'\"%@`]|-[^\s\-]|--")
_COMMENT: Final = re.compile(r"\s#")
_LITERAL: Final = re.compile(r"(\|-?) *(?: #.*)?$")
_ESCAPES: Final = {'\\"': '"', "\\\\": "\\", "\\n": "\n", "\\r": "\r", "\\t": "\t"}
_ESCAPE: Final = re.compile(r'\\["\\nrt]')

_UNDECIDED: Final = (MergeKey, Word)
"""What a plain scalar says only together with what is around it, and with who reads it."""

_EMPTY: Final = _Line(-1, [], None, (0, 0, ""), None, None)
"""A blank line or one with a comment only."""


def _read_line(line: str) -> _Line | None:
    """What a line says by itself; None where that is not enough."""
    if _UNUSUAL.search(line):
        return None
    stripped = line.lstrip(" ")
    if not stripped or stripped[0] == "#":
        return _EMPTY
    match = _LINE.match(line)
    assert match is not None
    spaces, dashes, plain, double, single, rest = match.groups()
    column = len(spaces)
    start = column + len(dashes)
    name: Any = None
    key = (start, start, "")
    if plain is not None:
        name, key = resolve_go_yaml(plain), (start, match.end(3), "")
    elif double is not None:
        name, key = double, (start, match.end(4) + 1, '"')
    elif single is not None:
        name, key = single, (start, match.end(5) + 1, "'")
    elif not dashes or not rest:
        # A dash that nothing follows on its line is rare.
        return None
    if (name is not None and type(name) is not str) or key[1] - start > _LONGEST:
        return None
    if name is None and plain is not None:
        return None
    where = [n for n, c in enumerate(spaces + dashes) if c == "-"]
    if len(where) > _FLOW_DEPTH:
        return None
    if not rest or rest[0] == "#":
        return _Line(column, where, name, key, None, None) if name is not None else None
    value = _read_value(line, match.start(6), rest)
    if value is None:
        return None
    if type(value) is tuple:
        return _Line(column, where, name, key, value, None)
    return _Line(column, where, name, key, None, value)


def _read_value(line: str, at: int, rest: str) -> Any:
    """A scalar, a `_Flow` or a `_Literal`; None: unusual."""
    first = rest[0]
    if first == "|":
        match = _LITERAL.match(rest)
        return _Literal(at, match[1] == "|-") if match else None
    if first in "\"'":
        quoted = _quoted(line, at)
        return quoted if quoted is not None and _ends(line, quoted[1]) else None
    if first in "[{":
        flow = _read_flow(line, at, 0)
        return flow if flow is not None and _ends(line, flow.end) else None
    if not _PLAIN_START.match(rest):
        return None
    comment = _COMMENT.search(rest)
    content = (rest[: comment.start()] if comment else rest).rstrip(" ")
    if ": " in content or content[-1] == ":":
        return None
    value = resolve_go_yaml(content)
    return None if type(value) in _UNDECIDED else (at, at + len(content), value, "")


def _ends(line: str, at: int) -> bool:
    """Whether nothing but a comment follows."""
    rest = line[at:]
    return not rest.strip(" ") or (rest[0] == " " and rest.lstrip(" ")[0] == "#")


def _quoted(line: str, at: int) -> tuple[int, int, str, str] | None:
    if line[at] == '"':
        match = _DOUBLE.match(line, at)
        if match is None:
            return None
        text = match[1]
        if "\\" in text:
            text = _ESCAPE.sub(lambda escape: _ESCAPES[escape[0]], text)
        return at, match.end(), text, '"'
    match = _SINGLE.match(line, at)
    if match is None:
        return None
    return at, match.end(), match[1].replace("''", "'"), "'"


_FLOW_PLAIN: Final = re.compile(
    r"""(?:[^\s\-?:,\[\]{}#&*!|>'"%@`]|-(?=[^\s,\[\]{}]))[^,\[\]{}:#?]*"""
)
_FLOW_DEPTH: Final = 20


def _read_flow(line: str, at: int, depth: int) -> _Flow | None:
    """The flow collection that starts at `at` and ends on the line."""
    if depth > _FLOW_DEPTH:
        return None
    closing = "]" if line[at] == "[" else "}"
    keys: list[Any] | None = [] if closing == "}" else None
    values: list[Any] = []
    names: set[str] = set()
    start = at
    at = _skip(line, at + 1)
    if line[at : at + 1] == closing:
        return _Flow(start, at + 1, keys, values)
    while True:
        if keys is not None:
            key = _flow_scalar(line, at)
            if key is None or type(key[2]) is not str or line[key[1] : key[1] + 2] != ": ":
                return None
            if key[2] in names or key[1] - at > _LONGEST:
                return None
            names.add(key[2])
            keys.append(key)
            at = _skip(line, key[1] + 1)
        value = _flow_value(line, at, depth)
        if value is None:
            return None
        values.append(value)
        at = _skip(line, value.end if type(value) is _Flow else value[1])
        mark = line[at : at + 1]
        if mark == closing:
            return _Flow(start, at + 1, keys, values)
        if mark != ",":
            return None
        at = _skip(line, at + 1)


def _flow_value(line: str, at: int, depth: int) -> Any:
    if line[at : at + 1] in ("[", "{"):
        return _read_flow(line, at, depth + 1)
    return _flow_scalar(line, at)


def _flow_scalar(line: str, at: int) -> tuple[int, int, Any, str] | None:
    first = line[at : at + 1]
    if first in ('"', "'") and first:
        return _quoted(line, at)
    match = _FLOW_PLAIN.match(line, at)
    if match is None:
        return None
    text = match[0].rstrip(" ")
    value = resolve_go_yaml(text)
    return None if type(value) in _UNDECIDED else (at, at + len(text), value, "")


def _skip(line: str, at: int) -> int:
    while line[at : at + 1] == " ":
        at += 1
    return at


# ------------------------------------------------------------------------------------- all lines


def _collection(dashes: list[int], start: int) -> Node:
    return SequenceNode(start, 0, False) if dashes else MappingNode(start, 0, False)


class _Lines:
    """Puts an object together from its lines."""

    def __init__(self, text: str, known: dict[str, _Line | None]) -> None:
        self.lines = text.split("\n")
        self.known = known

    def run(self) -> Node | None:
        lines = self.lines
        columns: list[int] = []
        stack: list[Any] = []
        """The collections that are open, and where their keys or dashes stand."""
        waiting: tuple[MappingNode, ScalarNode, int] | None = None
        """A key without a value on its line, with its column."""
        root: MappingNode | None = None
        known = self.known
        count = len(lines)
        end = n = at = 0
        while n < count:
            text = lines[n]
            start = at
            n += 1
            at += len(text) + 1
            try:
                line = known[text]
            except KeyError:
                if len(known) >= _KEPT:
                    known.clear()
                line = _read_line(text)
                if len(text) <= _SHORT:
                    known[text] = line
            if line is _EMPTY:
                continue
            if line is None:
                return None
            column, dashes, name, key_span, scalar, other = line
            child: Node
            if waiting is not None:
                mapping, key, key_column = waiting
                waiting = None
                if column > key_column or (dashes and column == key_column):
                    if column > _DEEPEST:
                        return None
                    child = _collection(dashes, start + column)
                    columns.append(column)
                    stack.append(child)
                else:
                    end = key.end + 1
                    child = ScalarNode(end, end, None, "")
                mapping.pairs.append((key.value, key, child))
                mapping.value[key.value] = child.value
            elif root is None:
                if dashes:
                    return None
                root = MappingNode(start + column, 0, False)
                columns.append(column)
                stack.append(root)
            while columns[-1] >= column:
                if columns[-1] == column and (dashes or type(stack[-1]) is MappingNode):
                    break
                columns.pop()
                stack.pop().end = end
                if not stack:
                    return None
            if columns[-1] != column:
                return None
            top = stack[-1]
            if dashes:
                if type(top) is not SequenceNode:
                    return None
                for dash in dashes[1:]:
                    child = SequenceNode(start + dash, 0, False)
                    top.items.append(child)
                    top.value.append(child.value)
                    columns.append(dash)
                    stack.append(child)
                    top = child
                if name is not None:
                    child = MappingNode(start + key_span[0], 0, False)
                    top.items.append(child)
                    top.value.append(child.value)
                    columns.append(key_span[0])
                    stack.append(child)
                    top = child
            value: Node
            if scalar is not None:
                end = start + scalar[1]
                value = ScalarNode(start + scalar[0], end, scalar[2], scalar[3])
            elif type(other) is _Flow:
                value = other.node(start)
                end = value.end
            elif type(other) is _Literal:
                owner = dashes[-1] if name is None else key_span[0]
                literal = self._literal(other, start, owner, n, at)
                if literal is None:
                    return None
                value, n, at = literal
                end = value.end
            else:
                assert name is not None
                if name in top.value:
                    return None
                key = ScalarNode(start + key_span[0], start + key_span[1], name, key_span[2])
                waiting = (top, key, key_span[0])
                top.value[name] = None
                continue
            if name is None:
                top.items.append(value)
                top.value.append(value.value)
                continue
            if name in top.value:
                return None
            key = ScalarNode(start + key_span[0], start + key_span[1], name, key_span[2])
            top.pairs.append((name, key, value))
            top.value[name] = value.value
        if waiting is not None:
            mapping, key, _ = waiting
            end = key.end + 1
            mapping.pairs.append((key.value, key, ScalarNode(end, end, None, "")))
        while stack:
            stack.pop().end = end
        return root

    def _literal(
        self, header: _Literal, start: int, column: int, n: int, at: int
    ) -> tuple[ScalarNode, int, int] | None:
        """A block of text, and the line behind it: its number and where it starts.

        Its lines are indented deeper than the key or dash, in `column`, that it belongs to.
        """
        lines = self.lines
        first = lines[n] if n < len(lines) else ""
        indent = len(first) - len(first.lstrip(" "))
        if not first.strip(" ") or indent <= column:
            return None
        lead = " " * indent
        content: list[str] = []
        end = blank = 0
        while n < len(lines):
            text = lines[n]
            if not text:
                blank += 1
            elif text.startswith(lead):
                if text[-1] == " " or _UNUSUAL.search(text):
                    return None
                content += [""] * blank
                blank = 0
                content.append(text[indent:])
                end = at + len(text)
            elif not text.strip(" "):
                return None
            else:
                break
            n += 1
            at += len(text) + 1
        if n >= len(lines) and not blank:
            # The last line has no break, and so the text may have none.
            return None
        value = "\n".join(content)
        if not header.chomps:
            value += "\n"
        return ScalarNode(start + header.start, end, value, "|"), n, at
