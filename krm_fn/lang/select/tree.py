"""The parts of a syntax tree, and walking them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from krm_fn.lang.nodes import Frozen


class Syntax(Frozen):
    """Any part of a tree; `start` is where its text begins, or an infix operator itself."""

    start: int


def walk(syntax: Syntax) -> Iterator[Syntax]:
    """A part of a tree and all parts below it, in the order of their fields."""
    pending: list[Any] = [syntax]
    while pending:
        part = pending.pop()
        if isinstance(part, tuple):
            pending.extend(reversed(part))
        elif isinstance(part, Syntax):
            yield part
            pending.extend(reversed(part.__dict__.values()))
