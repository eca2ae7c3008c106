"""What is shown on a terminal while a run takes longer than a moment; nothing anywhere else."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final, TextIO

from krm_fn.printable import one_line
from krm_fn.system import deadline
from krm_fn.system.progress import Progress, watched
from krm_fn.system.streams import is_terminal, open_terminal, restore_terminal

if TYPE_CHECKING:
    from rich.live import Live

_DELAY: Final = 1.0
"""Seconds that a run may take without a word."""


def is_wanted(quiet: bool) -> bool:
    """Whether somebody watches: a person at a terminal, and no CI system."""
    return not quiet and is_terminal("stderr") and not os.environ.get("CI")


@contextlib.contextmanager
def shown(*, quiet: bool = False, delay: float = _DELAY) -> Iterator[None]:
    """Show on standard error how far the work within is, once it takes longer than `delay`."""
    if not is_wanted(quiet):
        yield
        return
    with watched() as progress, open_terminal() as terminal:
        display = Display(progress, terminal)
        timer = threading.Timer(delay, display.start)
        timer.daemon = True
        deadline.at_end.append(restore_terminal)
        timer.start()
        try:
            yield
        finally:
            timer.cancel()
            display.stop()
            deadline.at_end.remove(restore_terminal)


class Display:
    """A line that says what is done and how far it is, until it is stopped; then it is gone."""

    def __init__(self, progress: Progress, terminal: TextIO) -> None:
        self._progress = progress
        self._terminal = terminal
        self._lock = threading.Lock()
        self._live: Live | None = None
        self._stopped = False

    def start(self) -> None:
        """Begin to show it, unless it was stopped before."""
        from rich.console import Console
        from rich.live import Live
        from rich.spinner import Spinner
        from rich.table import Table
        from rich.text import Text

        spinner = Spinner("dots")

        def line() -> Any:
            grid = Table.grid(padding=(0, 1))
            grid.add_row(spinner, Text(self.text()))
            return grid

        with self._lock:
            if not self._stopped:
                console = Console(file=self._terminal)
                self._live = Live(console=console, get_renderable=line, transient=True)
                self._live.start()

    def text(self) -> str:
        """`admitting 12 of 340`."""
        progress = self._progress
        doing = one_line(progress.doing) or "working"
        if not progress.total:
            return doing
        return f"{doing} {min(progress.done, progress.total)} of {progress.total}"

    def stop(self) -> None:
        """Take it away."""
        with self._lock:
            self._stopped = True
            if self._live is not None:
                self._live.stop()
