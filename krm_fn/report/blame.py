"""Which rule wrote which line of a diff.

Source: docs/spec/explain.md section 4.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from krm_fn.admission import Change
from krm_fn.errors import InputError
from krm_fn.printable import one_line
from krm_fn.report.model import Report
from krm_fn.values import MISSING, Path
from krm_fn.wire import Item, Stream, read_stream

Writers = Mapping[int, str]
"""Who wrote a line, by its number from 1."""


class Blame(NamedTuple):
    """Who removed lines of the old text, and who wrote lines of the new one."""

    old: Writers
    new: Writers


def blame_of(stream: Stream, report: Report) -> Blame:
    """The rules behind the lines of a stream that they changed."""
    changes = {entry.item: entry.changes for entry in report.objects}
    before = [item for item in stream.items if changes.get(item) and not item.dropped]
    kept = [item for item in stream.items if not item.dropped]
    after = read_stream(stream.write(), stream.name or "stdin").items
    by_item = dict(zip(kept, after, strict=False))
    old: dict[int, str] = {}
    new: dict[int, str] = {}
    for item in before:
        for change in changes[item]:
            _mark(old, item, change, change.old)
            if item in by_item:
                _mark(new, by_item[item], change, change.new)
    return Blame(old, new)


def _mark(lines: dict[int, str], item: Item, change: Change, value: Any) -> None:
    if value is MISSING:
        return
    names = ", ".join(
        f"{rule} {rule.origin}" if rule.origin is not None else str(rule) for rule in change.rules
    )
    try:
        numbers = {item.line(path) for path in _paths(change.path, value)}
    except InputError:
        return
    for number in range(min(numbers), max(numbers) + 1):
        lines.setdefault(number, one_line(names or "the API server"))


def _paths(path: Path, value: Any) -> Iterator[Path]:
    """A value's path and those of all that is in it."""
    yield path
    if type(value) is dict:
        for key, member in value.items():
            yield from _paths((*path, key), member)
    elif type(value) is list:
        for n, element in enumerate(value):
            yield from _paths((*path, n), element)


_HUNK: Final = re.compile(r"^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@")


def with_blame(lines: Iterable[str], blame: Blame) -> Iterator[tuple[str, str]]:
    """Each line of a unified diff with who wrote it, "" for nobody or for all lines but changes."""
    old = new = 0
    for line in lines:
        hunk = _HUNK.match(line)
        if hunk is not None:
            old, new = int(hunk[1]), int(hunk[2])
            yield line, ""
        elif line.startswith(("---", "+++")) and not (old or new):
            yield line, ""
        elif line.startswith("-"):
            yield line, blame.old.get(old, "")
            old += 1
        elif line.startswith("+"):
            yield line, blame.new.get(new, "")
            new += 1
        else:
            yield line, ""
            old, new = old + 1, new + 1
