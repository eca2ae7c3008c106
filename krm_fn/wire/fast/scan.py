"""Find the items of a long ResourceList by their lines, without an event for each of their values.

`krm_fn.wire.scan` is right for any text and reads all of it. Here an item is found where a dash
stands in the list's column, and its head by the lines in its keys' column. That is the same thing
as long as no quoted text and no flow collection reaches over the end of a line, since YAML ignores
indentation inside these and nowhere else. So every place where one could begin is looked at: it
must end on its line, or the item is read exactly. Whatever else is unusual makes the item be read
exactly, or the whole text be scanned (None). What stands around the items is always scanned.

Why a line in the column of the dashes starts an item, and one in the column of an item's keys is a
key: the content of a block scalar and of a plain scalar that goes on is indented deeper than the
collection that it stands in. This holds while nothing is open at the start of the line; and nothing
is open at its end if each quote or bracket that may open something also closes before the end of
the line, each looked at for itself, whichever of them really opens.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import Final

from krm_fn.wire.compose import YamlError
from krm_fn.wire.scalars import WORDS, resolve_go_yaml
from krm_fn.wire.scan import Document, Entry, Head, Outline, scan


class QuickOutline(Outline):
    """An item found by its lines: where its content ends is read when somebody asks."""

    __slots__ = ("_end", "_text", "limit")
    _end: int

    def __init__(self, text: str, start: int, limit: int, line: int, head: Head) -> None:
        super().__init__(start, -1, line, "map", head=head)
        self._text = text
        self.limit = limit
        """Where the line of what follows starts: all that may bear on the item is before it."""

    @property
    def end(self) -> int:
        if self._end < 0:
            outline = _exact(self._text, self.start, self.limit, self.line)
            if outline is None:
                raise YamlError("the object cannot be read by itself", self.line)
            self._end = outline.end
        return self._end

    @end.setter
    def end(self, value: int) -> None:
        self._end = value

    def settle(self, end: int) -> None:
        self._end = end

    @property
    def reach(self) -> int:
        return self.limit - 1 if self._text[self.limit - 1] == "\n" else self.limit


class _Items(Outline):
    """The list: it ends with its last element."""

    __slots__ = ()

    @property
    def end(self) -> int:
        return self.children[-1].end

    @end.setter
    def end(self, value: int) -> None:
        del value  # it is that of the last element


_BREAKS: Final = "\x85\u2028\u2029\ufeff"
"""Line breaks, and a byte order mark, as YAML 1.1 knows them."""


def quick_scan(text: str) -> list[Document] | None:
    """What `scan` finds in the text of a ResourceList, or None where it must be asked."""
    if "\r" in text or (not text.isascii() and any(mark in text for mark in _BREAKS)):
        return None
    opening = _ITEMS.search(text)
    first = opening and _FIRST_DASH.match(text, opening.end())
    if not opening or not first:
        return None
    column = len(first[1])
    lines = _Lines.of(column)
    begin = opening.end()
    end = lines.after(text, begin)
    document = _around(text, opening.start("key"), begin, end)
    if document is None:
        return None
    children = _children(text, begin, end, lines)
    if children is None:
        return None
    line = text.count("\n", 0, first.end(1)) + 1
    items = _Items(first.end(1), -1, line, "list", after_key=opening.end("key"))
    items.children = children
    root = document.root
    last = root.entries["items"].start == max(e.start for e in root.entries.values())
    root.items = items
    root.entries["items"].value = items
    if last:
        document.root = _Root(root)
    return [document]


class _Root(Outline):
    """A ResourceList of which the list of items is the last part."""

    __slots__ = ()

    def __init__(self, other: Outline) -> None:
        super().__init__(other.start, -1, other.line, other.shape, head=other.head)
        self.entries = other.entries
        self.items = other.items
        self.anchors = other.anchors
        self.aliases = other.aliases
        self.odd = other.odd
        self.misspelt = other.misspelt

    @property
    def end(self) -> int:
        assert self.items is not None
        return self.items.end

    @end.setter
    def end(self, value: int) -> None:
        del value  # it is that of the items


# ------------------------------------------------------------------------------- around the items

_ITEMS: Final = re.compile(r"(?:\A|\n)(?P<key>items):[ ]*(?:#[^\n]*)?\n")
_FIRST_DASH: Final = re.compile(r"(?:[ ]*(?:#[^\n]*)?\n)*([ ]*)- ")


def _around(text: str, key: int, begin: int, end: int) -> Document | None:
    """The document without what stands in `[begin, end)`, which the value of `items` is."""
    try:
        documents = scan(text[:begin] + text[end:])
    except YamlError:
        return None
    if len(documents) != 1:
        return None
    document = documents[0]
    root = document.root
    entry = root.entries.get("items")
    if root.shape != "map" or root.flow or entry is None or entry.start != key:
        return None
    if entry.value.shape != "null" or entry.value.end > begin or root.odd:
        return None
    width, height = end - begin, text.count("\n", begin, end)
    for other in root.entries.values():
        _move(other, begin, width, height)
    if root.misspelt is not None and root.misspelt[1] > text.count("\n", 0, begin):
        root.misspelt = root.misspelt[0], root.misspelt[1] + height
    if root.end >= begin:
        root.end += width
    if document.end >= begin:
        document.end += width
    return document


def _move(entry: Entry, begin: int, width: int, height: int) -> None:
    if entry.start < begin:
        return
    entry.start += width
    pending = [entry.value]
    while pending:
        outline = pending.pop()
        outline.start += width
        outline.end += width
        outline.line += height
        if outline.after_key:
            outline.after_key += width
        if outline.misspelt is not None:
            outline.misspelt = outline.misspelt[0], outline.misspelt[1] + height
        pending += outline.children
        if outline.items is not None:
            pending.append(outline.items)
        pending += [inner.value for inner in outline.entries.values()]


# ------------------------------------------------------------------------------------- the items

_DOUBLE: Final = r'"(?:[^"\\\n]|\\[^\n])*+"'
_SINGLE: Final = r"'(?:[^'\n]|'')*+'"
_LEAF: Final = rf"""[^\[\]{{}}"'#\n]|{_DOUBLE}|{_SINGLE}"""
_FLOW: Final = rf"(?:{_LEAF}|\[(?:{_LEAF})*+\]|\{{(?:{_LEAF})*+\}})*+"
_BEFORE: Final = r"[\s\[{,:?]"
"""What a quote, an anchor, an alias or a tag that is one may stand behind."""

_DOUBTFUL: Final = re.compile(
    rf'"(?<={_BEFORE}")(?!(?<="){_DOUBLE[1:]})'
    rf"|'(?<={_BEFORE}')(?!(?<='){_SINGLE[1:]})"
    rf"|\[(?<=\s\[)(?!{_FLOW}\])"
    rf"|\{{(?<=\s\{{)(?!{_FLOW}\}})"
    rf"|[&*!](?<={_BEFORE}[&*!])[^\s]"
)
"""What may open something that its line does not close, and what may be an anchor or a tag."""

_COMMENT: Final = re.compile(r"""(?:[^\n"'\[{#]|(?<=[^\s])#)*(?<![^\s])#""")
"""The start of a line of which a comment is all that could open something."""

_BATCH: Final = 1024 * 1024
"""Characters whose lines are held at once."""

_KEY: Final = r"[A-Za-z0-9_][A-Za-z0-9_./-]*:(?=[ \n])"
_PLAIN: Final = r"[A-Za-z0-9](?:[A-Za-z0-9./:-]*[A-Za-z0-9])?"


class _Lines:
    """The patterns of lines for items whose dashes stand in a column."""

    _known: Final[dict[int, _Lines]] = {}

    def __init__(self, column: int) -> None:
        inner = column + 2
        deep = column + 4
        self.column = column
        self.dash = "\n" + " " * column + "- "
        # A comment or an empty line says nothing; anything else that is further left ends the list.
        less = rf"(?: {{0,{column - 1}}}(?![ \n#]))" if column else r"(?=[^ \n#-]|-[^ ])"
        self._end = re.compile(rf"\n{less}")
        self.stray = re.compile(rf"\n {{{column}}}(?![ \n#]|- )") if column else None
        self.odd = re.compile(rf"\n {{{inner}}}(?![ \n#]|{_KEY}|-[ \n])")
        self.odd_in_metadata = re.compile(rf"\n {{{deep}}}(?![ \n#]|{_KEY}|-[ \n])")
        self.key = re.compile(
            rf"(?:\n {{{inner}}}|\n {{{column}}}- )(apiVersion|kind|metadata|items):(?=[ \n])"
        )
        self.misspelt = re.compile(
            rf"(?:\n {{{inner}}}|\n {{{column}}}- )(?!kind:|apiVersion:)(?i:kind|apiversion):"
        )
        self.first = re.compile(rf"\n {{{column}}}- {_KEY}")
        self.metadata = re.compile(rf" *(?:[ ]#[^\n]*)?(?:\n *#[^\n]*)*(?=\n {{{deep}}}[^ \n#])")
        self.metadata_end = re.compile(rf"\n {{0,{inner}}}(?![ \n#])|\Z")
        self.name = re.compile(rf"\n {{{deep}}}(name|namespace):(?=[ \n])")
        self.value = self._value(inner)
        self.inner_value = self._value(deep)

    @classmethod
    def of(cls, column: int) -> _Lines:
        known = cls._known.get(column)
        if known is None:
            known = cls._known[column] = cls(column)
        return known

    @staticmethod
    def _value(column: int) -> re.Pattern[str]:
        """A string on its line that the next one does not go on with."""
        quoted = r""" (["'])([A-Za-z0-9./:-]*)\2"""
        return re.compile(
            rf"(?: ({_PLAIN})|{quoted}) *(?:[ ]#[^\n]*)?(?=\n {{0,{column}}}[^ \n]|\n?\Z)"
        )

    def after(self, text: str, begin: int) -> int:
        """Where the first line stands that is not of the list any more."""
        match = self._end.search(text, begin - 1)
        return match.start() + 1 if match else len(text)


def _children(text: str, begin: int, end: int, lines: _Lines) -> list[Outline] | None:
    if lines.stray is not None and lines.stray.search(text, begin - 1, end):
        return None
    starts = list(_starts(text, begin, end, lines.dash))
    limits = [*starts[1:], end]
    doubtful = _doubtful(text, begin, end, starts, lines)
    if doubtful is None:
        return None
    children: list[Outline] = []
    line = text.count("\n", 0, starts[0]) + 1
    at = starts[0]
    for n, (start, limit) in enumerate(zip(starts, limits, strict=True)):
        line += text.count("\n", at, start)
        at = start
        object_start = start + lines.column + 2
        head = None if n in doubtful else _head(text, start - 1, limit, lines)
        if head is not None:
            children.append(QuickOutline(text, object_start, limit, line, head))
            continue
        outline = _exact(text, object_start, limit, line)
        if outline is None or outline.anchors or outline.aliases:
            return None
        children.append(outline)
    return children


def _starts(text: str, begin: int, end: int, dash: str) -> Iterator[int]:
    """Where the lines of the items start."""
    at = text.find(dash, begin - 1, end)
    while at >= 0:
        yield at + 1
        at = text.find(dash, at + 1, end)


def _doubtful(text: str, begin: int, end: int, starts: list[int], lines: _Lines) -> set[int] | None:
    """The items that must be read exactly; None where what is before the first one is odd."""
    doubtful: set[int] = set()
    places = list(_open_places(text, starts[0], end))
    for pattern in (lines.odd, lines.misspelt):
        places += [match.start() + 1 for match in pattern.finditer(text, begin - 1, end)]
    for place in places:
        n = bisect_right(starts, place) - 1
        if n < 0:
            return None
        doubtful.add(n)
    return doubtful


def _open_places(text: str, begin: int, end: int) -> Iterator[int]:
    """Where lines start that may leave something open, or that may have an anchor or a tag.

    Lines repeat, so each is looked at once.
    """
    known: set[str] = set()
    while begin < end:
        stop = text.find("\n", min(begin + _BATCH, end - 1), end) + 1 or end
        lines = text[begin:stop].split("\n")
        new = set(lines) - known
        known |= new
        bad = {line for line in _doubtful_lines("\n" + "\n".join(new)) if line in new}
        if bad:
            at = begin
            for line in lines:
                if line in bad:
                    yield at
                at += len(line) + 1
            known -= bad
        begin = stop


def _doubtful_lines(text: str) -> Iterator[str]:
    """The lines of which something may open. The first place on a line decides, since a comment
    reaches to its end: a line is gone over once, however many such places it has."""
    match = _DOUBTFUL.search(text)
    while match:
        line = text.rfind("\n", 0, match.start()) + 1
        stop = text.find("\n", match.start())
        stop = stop if stop >= 0 else len(text)
        if not _COMMENT.match(text, line, match.start()):
            yield text[line:stop]
        match = _DOUBTFUL.search(text, stop)


def _head(text: str, start: int, limit: int, lines: _Lines) -> Head | None:
    """The head of the item whose line break before it is at `start`; None where it is unusual."""
    if not lines.first.match(text, start):
        return None
    known: dict[str, str] = {}
    for match in lines.key.finditer(text, start, limit):
        key = match[1]
        if key in known or key == "items":
            return None
        if key != "metadata":
            value = _string(lines.value.match(text, match.end()))
        elif _metadata(text, match.end(), limit, lines, known):
            value = ""
        else:
            value = None
        if value is None:
            return None
        known[key] = value
    if not known.get("apiVersion") or not known.get("kind"):
        return None
    return Head(
        known["apiVersion"], known["kind"], known.get("/namespace", ""), known.get("/name", "")
    )


def _metadata(text: str, start: int, limit: int, lines: _Lines, known: dict[str, str]) -> bool:
    """Read name and namespace from the lines of metadata; False where these are unusual."""
    opening = lines.metadata.match(text, start, limit)
    if not opening:
        return False
    begin = opening.end()
    closing = lines.metadata_end.search(text, begin, limit)
    end = closing.start() if closing else limit
    if lines.odd_in_metadata.search(text, begin, end):
        return False
    for match in lines.name.finditer(text, begin, end):
        key = f"/{match[1]}"
        value = _string(lines.inner_value.match(text, match.end()))
        if value is None or key in known:
            return False
        known[key] = value
    return True


def _string(match: re.Match[str] | None) -> str | None:
    """The string that a line holds, "" where it is a number or a boolean; None: unusual."""
    if match is None or match[1] in WORDS:
        return None
    if match[1] is None:
        return match[3]
    value = resolve_go_yaml(match[1])
    return value if type(value) is str else ""


def _exact(text: str, start: int, limit: int, line: int) -> Outline | None:
    """An item as `scan` finds it; None where its text alone is not one item.

    What follows it is there, too, since libyaml says of some empty values that they end there.
    """
    line_start = text.rfind("\n", 0, start) + 1
    before = f"items:\n{text[line_start:limit]}"
    follows = _FOLLOWS.match(text, limit)
    after = f"{follows[0]}follows: 1\n" if follows else ""
    try:
        documents = scan(before + after)
    except YamlError:
        return None
    if len(documents) != 1 or documents[0].root.items is None:
        return None
    starts = [entry.start for entry in documents[0].root.entries.values()]
    children = documents[0].root.items.children
    starts += [child.start for child in children]
    wanted = [0, start - line_start + len("items:\n")]
    if follows:
        wanted.append(len(before) + len(follows[0]))
    if sorted(starts) != wanted:
        return None
    outline = children[0]
    _move(Entry(0, outline), 0, line_start - len("items:\n"), line - 2)
    return outline


_FOLLOWS: Final = re.compile(r" *(?:- )?(?=[^ \n])")
