"""The differences of two texts by lines, in a time that grows with their lines and no faster.

difflib compares every line with every equal one. Here, what is equal at both ends goes first, then
lines that are there once on each side hold the texts together (patience), and difflib sees what is
left between them where that is small. What is large and has nothing to hold on to is replaced.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Final

from krm_fn.values import longest_ascending

Lines = Sequence[str]
Block = tuple[int, int, int]
"""Where equal lines begin in the old and in the new text, and how many there are."""

_Edit = tuple[str, int, int, int, int]
"""What happened (equal, replace, delete, insert) to which lines of the old and of the new text."""

_CONTEXT: Final = 3
_SMALL: Final = 120
"""Lines of both sides up to which difflib compares them."""

_ROUNDS: Final = 30
"""How often lines are looked for that are there once in what lies between others."""


def unified(old: Lines, new: Lines, old_name: str, new_name: str) -> Iterator[str]:
    """The lines of a unified diff, as `difflib.unified_diff` with lineterm="" writes them."""
    begun = False
    for group in _groups(old, new):
        if not begun:
            begun = True
            yield f"--- {old_name}"
            yield f"+++ {new_name}"
        first, last = group[0], group[-1]
        ranges = _range(first[1], last[2]), _range(first[3], last[4])
        yield f"@@ -{ranges[0]} +{ranges[1]} @@"
        for tag, i, i_end, j, j_end in group:
            if tag == "equal":
                yield from (f" {line}" for line in old[i:i_end])
                continue
            yield from (f"-{line}" for line in old[i:i_end])
            yield from (f"+{line}" for line in new[j:j_end])


def _range(start: int, stop: int) -> str:
    """Lines as a hunk's head counts them."""
    size = stop - start
    if size == 1:
        return str(start + 1)
    return f"{start + 1 if size else start},{size}"


def _groups(old: Lines, new: Lines) -> Iterator[list[_Edit]]:
    """Edits with the lines around them, those that are near each other together."""
    group: list[_Edit] = []
    edits = list(_edits(old, new))
    for n, edit in enumerate(edits):
        tag, i, i_end, j, j_end = edit
        if tag != "equal":
            group.append(edit)
            continue
        size = i_end - i
        last = n == len(edits) - 1
        if group and (last or size > 2 * _CONTEXT):
            shown = min(_CONTEXT, size)
            yield [*group, (tag, i, i + shown, j, j + shown)]
            group = []
        if not last and (not n or size > 2 * _CONTEXT):
            shown = min(_CONTEXT, size)
            group = [(tag, i_end - shown, i_end, j_end - shown, j_end)]
        elif not last:
            group.append(edit)
    if group:
        yield group


def _edits(old: Lines, new: Lines) -> Iterator[_Edit]:
    """What happened to all lines, in order, as difflib says it."""
    i = j = 0
    for start, other, size in [*blocks(old, new), (len(old), len(new), 0)]:
        if i < start and j < other:
            yield "replace", i, start, j, other
        elif i < start:
            yield "delete", i, start, j, other
        elif j < other:
            yield "insert", i, start, j, other
        i, j = start + size, other + size
        if size:
            yield "equal", start, i, other, j


def blocks(old: Lines, new: Lines) -> list[Block]:
    """The lines that both texts have in common and in order; blocks do not touch."""
    found: list[Block] = []
    _collect(old, new, (0, len(old), 0, len(new)), found)
    merged: list[Block] = []
    for start, other, size in sorted(found):
        if merged:
            i, j, before = merged[-1]
            if i + before == start and j + before == other:
                merged[-1] = (i, j, before + size)
                continue
        merged.append((start, other, size))
    return merged


_Span = tuple[int, int, int, int]
"""A part of the old text and one of the new: start and end of both."""


def _collect(old: Lines, new: Lines, whole: _Span, found: list[Block]) -> None:
    pending = [(whole, _ROUNDS)]
    while pending:
        span, rounds = pending.pop()
        i, i_end, j, j_end = _without_ends(old, new, span, found)
        if i == i_end or j == j_end:
            continue
        if i_end - i + j_end - j <= _SMALL:
            matcher = SequenceMatcher(None, old[i:i_end], new[j:j_end], autojunk=False)
            found += ((i + a, j + b, size) for a, b, size in matcher.get_matching_blocks() if size)
            continue
        anchors = _anchors(old[i:i_end], new[j:j_end]) if rounds else []
        start, other = i, j
        for a, b in anchors:
            at, there = i + a, j + b
            found.append((at, there, 1))
            pending.append(((start, at, other, there), rounds - 1))
            start, other = at + 1, there + 1
        if anchors:
            pending.append(((start, i_end, other, j_end), rounds - 1))


def _without_ends(old: Lines, new: Lines, span: _Span, found: list[Block]) -> _Span:
    """A span less what is equal at its ends, which is noted."""
    i, i_end, j, j_end = span
    start, other = i, j
    while i < i_end and j < j_end and old[i] == new[j]:
        i, j = i + 1, j + 1
    if i > start:
        found.append((start, other, i - start))
    size = 0
    while i < i_end and j < j_end and old[i_end - 1] == new[j_end - 1]:
        i_end, j_end, size = i_end - 1, j_end - 1, size + 1
    if size:
        found.append((i_end, j_end, size))
    return i, i_end, j, j_end


def _anchors(old: Lines, new: Lines) -> list[tuple[int, int]]:
    """Lines that are there once on each side, as the longest run that ascends in both."""
    times, others = Counter(old), Counter(new)
    places = {line: j for j, line in enumerate(new) if others[line] == 1}
    pairs = [(i, places[line]) for i, line in enumerate(old) if times[line] == 1 and line in places]
    return longest_ascending(pairs)
