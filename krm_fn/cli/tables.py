"""Tables on standard output: columns with a head, as kubectl prints them."""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence

_WIDE = 10_000


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """The lines of a table, each as long as it needs to be; wide letters count as wide."""
    from rich.cells import cell_len
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    made = Table(*columns, box=None, pad_edge=False, padding=(0, 2, 0, 0), show_edge=False)
    cells = [columns, *rows]
    for row in cells[1:]:
        made.add_row(*map(Text, row))
    width = sum(max(cell_len(row[n]) for row in cells) + 2 for n in range(len(columns)))
    console = Console(file=io.StringIO(), width=min(width, _WIDE), legacy_windows=False)
    lines = console.render_lines(made)
    return ["".join(segment.text for segment in line).rstrip() for line in lines]
