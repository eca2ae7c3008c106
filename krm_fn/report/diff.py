"""What a run changes, as a unified diff of the texts; values of Secrets are hidden."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from krm_fn.errors import InputError
from krm_fn.printable import one_line
from krm_fn.report import linediff
from krm_fn.report.redact import REDACTED, Redactor, is_secret, redact_object
from krm_fn.wire import Head, Item, Stream, read_stream


def unified(stream: Stream, redactor: Redactor | None = None) -> Iterator[str]:
    """The lines of the diff of one stream, without line ends; none where nothing changed.

    `redactor` hides the values of Secrets; None shows them.
    """
    if not stream.changed:
        return
    before, after = stream.source(), stream.write()
    name = stream.name or "stdin"
    if redactor is not None:
        before, after = _without_secrets(before, after, name)
    old, new = _lines(before, name, redactor), _lines(after, name, redactor)
    shown = one_line(name)
    lines = linediff.unified(old, new, f"a/{shown}", f"b/{shown}")
    # What is left is in comments, or was written by a rule that can look at Secrets.
    yield from lines if redactor is None else map(redactor.line, lines)


def _lines(text: bytes, name: str, redactor: Redactor | None) -> list[str]:
    lines = [line.removesuffix("\r") for line in text.decode().split("\n")]
    if not lines[-1]:
        del lines[-1]
    if redactor is None:
        return lines
    items = sorted(read_stream(text, name).items, key=Item.line)
    ends = [item.line() - 1 for item in items[1:]] + [len(lines)]
    for item, end in zip(items, ends, strict=True):
        if is_secret(item.head) and not _is_readable(item):
            start = item.line() - 1
            lines[start : max(end, start + 1)] = map(_hidden, lines[start : max(end, start + 1)])
    return lines


def _hidden(line: str) -> str:
    return line[: len(line) - len(line.lstrip())] + REDACTED


def _is_readable(item: Item) -> bool:
    try:
        item.original  # noqa: B018
    except InputError:
        return False
    return True


def _without_secrets(before: bytes, after: bytes, name: str) -> tuple[bytes, bytes]:
    old, new = read_stream(before, name), read_stream(after, name)
    were, are = _secrets(old), _secrets(new)
    for (head, n), item in were.items():
        other = are.get((head, n))
        item.replace(redact_object(item.original, other.original if other else None, "before"))
    for (head, n), item in are.items():
        other = were.get((head, n))
        item.replace(redact_object(item.original, other.original if other else None, "after"))
    return old.write(), new.write()


def _secrets(stream: Stream) -> dict[tuple[Head, int], Item]:
    """The Secrets that can be read, by head and by how many of that head stand before."""
    secrets: dict[tuple[Head, int], Item] = {}
    count: Counter[Head] = Counter()
    for item in stream.items:
        if is_secret(item.head):
            if _is_readable(item):
                secrets[item.head, count[item.head]] = item
            count[item.head] += 1
    return secrets
