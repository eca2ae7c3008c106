"""Progress on a terminal: there while somebody waits, and gone without a trace."""

from __future__ import annotations

import io
import os
import pty
from collections.abc import Iterator
from pathlib import Path

import pytest
from in_process import run

from krm_fn.cli import progress as shown_progress
from krm_fn.cli.progress import Display, is_wanted, shown
from krm_fn.system import progress
from krm_fn.system.progress import Progress, watched


class Terminal:
    """A terminal whose screen a test reads."""

    def __init__(self) -> None:
        self._ours, theirs = pty.openpty()
        self.file = open(theirs, "w")  # noqa: SIM115

    def screen(self, text: str) -> str:
        """What was drawn until it held a text."""
        drawn = ""
        while text not in drawn:
            self.file.flush()
            drawn += os.read(self._ours, 1 << 16).decode()
        return drawn

    def close(self) -> None:
        self.file.close()
        os.close(self._ours)


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Iterator[Terminal]:
    monkeypatch.setenv("TERM", "xterm")
    opened = Terminal()
    yield opened
    opened.close()


def test_it_says_what_is_done_and_how_far_it_is_and_leaves_nothing(terminal: Terminal) -> None:
    state = Progress()
    state.doing, state.done, state.total = "admitting object", 3, 7
    display = Display(state, terminal.file)
    display.start()
    assert terminal.screen("admitting object 3 of 7")
    display.stop()
    last = terminal.screen("\x1b[?25h")  # the cursor is back
    terminal.file.write("end")
    assert "admitting" not in (last + terminal.screen("end")).rpartition("\x1b[2K")[2]


def test_what_was_stopped_does_not_start(terminal: Terminal) -> None:
    display = Display(Progress(), terminal.file)
    display.stop()
    display.start()
    terminal.file.write("end")
    assert terminal.screen("end") == "end"


@pytest.mark.parametrize(
    ("doing", "done", "total", "text"),
    [
        ("", 0, 0, "working"),
        ("compiling rules", 0, 0, "compiling rules"),
        ("admitting object", 9, 7, "admitting object 7 of 7"),
        ("reading \x1b[31m/", 0, 0, "reading \\x1b[31m/"),
    ],
)
def test_the_line(doing: str, done: int, total: int, text: str) -> None:
    state = Progress()
    state.doing, state.done, state.total = doing, done, total
    assert Display(state, io.StringIO()).text() == text


@pytest.mark.parametrize(
    ("terminal_there", "ci", "quiet", "wanted"),
    [
        (True, "", False, True),
        (False, "", False, False),
        (True, "true", False, False),
        (True, "", True, False),
    ],
)
def test_it_is_for_people_at_a_terminal(
    terminal_there: bool, ci: str, quiet: bool, wanted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shown_progress, "is_terminal", lambda name: terminal_there)
    monkeypatch.setenv("CI", ci)
    assert is_wanted(quiet) is wanted


def test_a_run_tells_what_it_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for n in range(3):
        text = f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: c{n}}}\n"
        Path(f"c{n}.yaml").write_text(text)
    told = []
    monkeypatch.setattr(progress, "begin", lambda doing, total=0: told.append((doing, total)))
    assert run("check", "--strict", "-f", ".").returncode == 0
    assert told == [("reading ./, file", 3), ("compiling rules", 0), ("admitting object", 3)]


def test_steps_are_counted_for_those_who_watch() -> None:
    progress.begin("nobody watches", 5)
    progress.advance()
    with watched() as state:
        progress.begin("working", 2)
        progress.advance()
        assert (state.doing, state.done, state.total) == ("working", 1, 2)


def test_work_that_is_soon_done_shows_nothing(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shown_progress, "is_terminal", lambda name: True)
    monkeypatch.setattr(shown_progress, "open_terminal", lambda: os.fdopen(os.dup(2), "w"))
    monkeypatch.delenv("CI", raising=False)
    started = []
    monkeypatch.setattr(Display, "start", lambda display: started.append(display))
    with shown(delay=3600):
        pass
    assert started == []
