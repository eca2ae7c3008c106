"""From the block YAML that manifests are written in to nodes, line by line.

Lines repeat: the same keys with the same indentation, the same values. What a line says is worked
out once and kept; putting an object together is then a walk over its lines. Anything that a line
alone does not decide (text that goes on in the next line, anchors, tags, merge keys, folded text,
explicit keys, tabs, a key twice) is left to `krm_fn.wire.compose`, of which this is a shortcut: the
same nodes or none. It refuses nothing by itself.
"""

from __future__ import annotations

import re
from typing import Any, Final

from krm_fn.wire.compose import Composed, MappingNode, Node, ScalarNode, SequenceNode
from krm_fn.wire.scalars import resolve_go_yaml

_KEPT: Final = 20_000
"""Lines that are kept; beyond that all are forgotten, since what repeats comes back soon."""

_DEEPEST: Final = 300
"""Columns: deeper than this the limit on nesting may be passed."""

_LONGEST: Final = 1_000
"""Characters of a key; YAML itself ends at 1,024."""


def quick_compose(text: str) -> Composed | None:
    """What `compose` makes of a text with one document, or None where it must be asked."""
    root = _Lines(text).run()
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


class _Line:
    """What a line says. Columns count from its start."""

    __slots__ = ("after_key", "column", "dashes", "flow", "key", "literal", "scalar", "width")

    def __init__(self, column: int, dashes: list[int]) -> None:
        self.column = column
        self.dashes = dashes
        """Where its dashes stand; the first is `column`."""
        self.key: tuple[int, int, str, str] | None = None
        self.after_key = 0
        self.scalar: tuple[int, int, Any, str] | None = None
        self.flow: _Flow | None = None
        self.literal = ""
        """`|` or `|-`: the lines that follow are its value."""
        self.width = 0
        """Where the header of a literal starts."""


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

_EMPTY: Final = _Line(-1, [])
"""A blank line or one with a comment only."""


def _read_line(line: str) -> _Line | None:
    """What a line says by itself; None where that is not enough."""
    stripped = line.lstrip(" ")
    if _UNUSUAL.search(line):
        return None
    if not stripped or stripped[0] == "#":
        return _EMPTY
    match = _LINE.match(line)
    assert match is not None
    spaces, dashes, plain, double, single, rest = match.groups()
    made = _Line(len(spaces), [n for n, c in enumerate(spaces + dashes) if c == "-"])
    start = len(spaces) + len(dashes)
    has_key = plain is not None or double is not None or single is not None
    if not has_key and not dashes:
        return None
    if has_key:
        made.after_key = match.end(3) + 1
        if plain is not None:
            name, style, end = resolve_go_yaml(plain), "", match.end(3)
        else:
            name, style = (double, '"') if double is not None else (single, "'")
            end = match.end(4 if double is not None else 5) + 1
        made.after_key = end + 1
        if type(name) is not str or len(name) > _LONGEST:
            return None
        made.key = (start, end, name, style)
    at = match.start(6)
    if not rest or rest[0] == "#":
        # A dash that nothing follows on its line is rare.
        return made if has_key else None
    return made if _read_value(line, at, rest, made) else None


def _read_value(line: str, at: int, rest: str, made: _Line) -> bool:
    first = rest[0]
    if first == "|":
        match = _LITERAL.match(rest)
        if not match:
            return False
        made.literal, made.width = match[1], at
        return True
    if first in "\"'":
        quoted = _quoted(line, at)
        if quoted is None or not _ends(line, quoted[1]):
            return False
        made.scalar = quoted
        return True
    if first in "[{":
        flow = _read_flow(line, at, 0)
        if flow is None or not _ends(line, flow.end):
            return False
        made.flow = flow
        return True
    if not _PLAIN_START.match(rest):
        return False
    comment = _COMMENT.search(rest)
    content = (rest[: comment.start()] if comment else rest).rstrip(" ")
    if ": " in content or content[-1] == ":":
        return False
    value = resolve_go_yaml(content)
    made.scalar = (at, at + len(content), value, "")
    return True


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
    start = at
    at = _skip(line, at + 1)
    if line[at : at + 1] == closing:
        return _Flow(start, at + 1, keys, values)
    while True:
        if keys is not None:
            key = _flow_scalar(line, at)
            if key is None or type(key[2]) is not str or line[key[1] : key[1] + 2] != ": ":
                return None
            if any(key[2] == other[2] for other in keys) or key[1] - at > _LONGEST:
                return None
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
    if text == "<<":
        return None
    return at, at + len(text), value, ""


def _skip(line: str, at: int) -> int:
    while line[at : at + 1] == " ":
        at += 1
    return at


# ------------------------------------------------------------------------------------- all lines

_known: dict[str, _Line | None] = {}


class _Lines:
    """Puts an object together from its lines."""

    def __init__(self, text: str) -> None:
        self.lines = text.split("\n")
        self.n = 0
        self.at = 0
        """The next line, and where it starts."""
        self.columns: list[int] = []
        self.open: list[MappingNode | SequenceNode] = []
        self.end = 0
        """Where the content ends that was read last."""

    def run(self) -> Node | None:
        lines, columns, stack = self.lines, self.columns, self.open
        known = _known
        waiting: tuple[MappingNode, ScalarNode, int, int] | None = None
        root: Node | None = None
        count = len(lines)
        while self.n < count:
            text = lines[self.n]
            start = self.at
            self.n += 1
            self.at += len(text) + 1
            try:
                line = known[text]
            except KeyError:
                if len(known) >= _KEPT:
                    known.clear()
                line = known[text] = _read_line(text)
            if line is _EMPTY:
                continue
            if line is None:
                return None
            column = line.column
            dashes = line.dashes
            if waiting is not None:
                mapping, key, after, key_column = waiting
                waiting = None
                if column > key_column or (dashes and column == key_column):
                    if column > _DEEPEST:
                        return None
                    child = (
                        SequenceNode(start + column, 0, False)
                        if dashes
                        else MappingNode(start + column, 0, False)
                    )
                    mapping.pairs.append((key.value, key, child))
                    mapping.value[key.value] = child.value
                    columns.append(column)
                    stack.append(child)
                else:
                    empty = ScalarNode(after, after, None, "")
                    mapping.pairs.append((key.value, key, empty))
                    mapping.value[key.value] = None
                    self.end = after
            elif not stack:
                if root is not None or dashes:
                    return None
                root = MappingNode(start + column, 0, False)
                columns.append(column)
                stack.append(root)
            while columns[-1] > column or (
                not dashes and columns[-1] == column and type(stack[-1]) is SequenceNode
            ):
                columns.pop()
                stack.pop().end = self.end
                if not stack:
                    return None
            top = stack[-1]
            if columns[-1] != column:
                return None
            key_part = line.key
            if dashes:
                for dash in dashes:
                    if dash != column:
                        child = SequenceNode(start + dash, 0, False)
                        top.items.append(child)  # type: ignore[union-attr]
                        top.value.append(child.value)
                        columns.append(dash)
                        stack.append(child)
                        top = child
                    elif type(top) is not SequenceNode:
                        return None
                if key_part is None:
                    value = self._value(line, start, dashes[-1])
                    if value is None:
                        return None
                    top.items.append(value)  # type: ignore[union-attr]
                    top.value.append(value.value)
                    continue
                child = MappingNode(start + key_part[0], 0, False)
                top.items.append(child)  # type: ignore[union-attr]
                top.value.append(child.value)
                columns.append(key_part[0])
                stack.append(child)
                top = child
            assert key_part is not None
            key_start, key_end, name, style = key_part
            if name in top.value:
                return None
            key = ScalarNode(start + key_start, start + key_end, name, style)
            scalar = line.scalar
            if scalar is not None:
                end = start + scalar[1]
                content = scalar[2]
                value = ScalarNode(start + scalar[0], end, content, scalar[3])
                top.pairs.append((name, key, value))  # type: ignore[union-attr]
                top.value[name] = content
                self.end = end
            elif line.flow is None and not line.literal:
                waiting = (top, key, start + line.after_key, key_start)  # type: ignore[assignment]
                top.value[name] = None
            else:
                value = self._value(line, start, key_start)
                if value is None:
                    return None
                top.pairs.append((name, key, value))  # type: ignore[union-attr]
                top.value[name] = value.value
        if root is None:
            return None
        if waiting is not None:
            mapping, key, after, _ = waiting
            mapping.pairs.append((key.value, key, ScalarNode(after, after, None, "")))
            mapping.value[key.value] = None
            self.end = after
        while stack:
            stack.pop().end = self.end
        return root

    def _value(self, line: _Line, start: int, column: int) -> Node | None:
        """The value that begins on a line; `column` is that of the key or dash it belongs to."""
        if line.scalar is not None:
            node = _node(line.scalar, start)
        elif line.flow is not None:
            node = line.flow.node(start)
        else:
            literal = self._literal(line, start, column)
            if literal is None:
                return None
            node = literal
        self.end = node.end
        return node

    def _literal(self, line: _Line, start: int, column: int) -> ScalarNode | None:
        """A block of text: the lines that are indented deeper than what it belongs to."""
        lines = self.lines
        first = lines[self.n] if self.n < len(lines) else ""
        indent = len(first) - len(first.lstrip(" "))
        if not first.strip(" ") or indent <= column or first[indent] == "\t":
            return None
        lead = " " * indent
        content: list[str] = []
        end = 0
        blank = 0
        while self.n < len(lines):
            text = lines[self.n]
            if not text:
                blank += 1
            elif text.startswith(lead):
                if text[-1] == " " or _UNUSUAL.search(text):
                    return None
                content += [""] * blank
                blank = 0
                content.append(text[indent:])
                end = self.at + len(text)
            elif not text.strip(" "):
                return None
            else:
                break
            self.n += 1
            self.at += len(text) + 1
        if self.n >= len(lines) and not blank:
            # The last line has no break: whether the text has one is for others to say.
            return None
        value = "\n".join(content)
        return ScalarNode(
            start + line.width, end, value if line.literal == "|-" else value + "\n", "|"
        )
