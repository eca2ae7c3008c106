"""What a run changes, as a unified diff of the texts; values of Secrets are hidden."""

from __future__ import annotations

import difflib
from collections.abc import Iterator

from krm_fn.report.redact import is_secret, redact_object
from krm_fn.wire import Stream, read_stream


def unified(stream: Stream, *, show_secrets: bool = False) -> Iterator[str]:
    """The lines of the diff of one stream, without line ends; none where nothing changed."""
    if not stream.changed:
        return
    before, after = stream.source(), stream.write()
    name = stream.name or "stdin"
    if not show_secrets:
        before, after = _without_secrets(before, after, name)
    old, new = before.decode().splitlines(), after.decode().splitlines()
    yield from difflib.unified_diff(old, new, f"a/{name}", f"b/{name}", lineterm="")


def _without_secrets(before: bytes, after: bytes, name: str) -> tuple[bytes, bytes]:
    old, new = read_stream(before, name), read_stream(after, name)
    secrets_before = {item.head: item for item in old.items if is_secret(item.head)}
    secrets_after = {item.head: item for item in new.items if is_secret(item.head)}
    for head, item in secrets_before.items():
        other = secrets_after.get(head)
        item.replace(redact_object(item.original, other.original if other else None, "before"))
    for head, item in secrets_after.items():
        other = secrets_before.get(head)
        item.replace(redact_object(item.original, other.original if other else None, "after"))
    return old.write(), new.write()
