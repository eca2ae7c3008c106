"""The three standard streams, whatever state the caller left them in.

A stream that is closed, full, or whose reader has gone away is no fault of the program: it is a
sentence and a documented status, and output that was lost is never a success.
Source: kubectl and jq (and every Go program) die of SIGPIPE when the reader of standard output or
standard error has gone away.
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import signal
import sys
from collections.abc import Callable, Iterable
from typing import Any, Final, NoReturn, TextIO

from krm_fn.errors import InputError, OutputError
from krm_fn.printable import lines_of_text, log_line, one_line, visible
from krm_fn.system.reading import read_all

SIGPIPE_STATUS: Final = 141
"""128 + SIGPIPE, what a shell shows of a program that died of it."""


class ReaderGoneError(OutputError):
    """Whoever read standard output or standard error has gone away: the program ends by SIGPIPE."""


class Text(io.TextIOWrapper):
    """Standard output or standard error as lines of text that are safe to show.

    Raises OutputError where they cannot be written. Bytes (manifests) go past it, to `buffer`.
    """

    def write(self, text: str) -> int:
        try:
            return super().write(lines_of_text(text))
        except OSError as error:
            _lose(self, error)

    def flush(self) -> None:
        try:
            super().flush()
        except OSError as error:
            _lose(self, error)


def open_standard_streams() -> None:
    """Make the standard streams usable: UTF-8, safe to show, and none of them missing.

    A closed standard input or output is there, but cannot be read or written, so that no file that
    is opened later gets its number; a closed standard error is nobody's, and takes everything.
    """
    if sys.stdin is None:
        source = io.BufferedReader(io.FileIO(_stand_in(0, os.O_WRONLY), "r", closefd=False))
        sys.stdin = io.TextIOWrapper(source, "utf-8")
    for number, name, mode in ((1, "stdout", os.O_RDONLY), (2, "stderr", os.O_WRONLY)):
        stream: Any = getattr(sys, name)
        if stream is None:
            raw = io.FileIO(_stand_in(number, mode), "w", closefd=False)
            buffer: Any = io.BufferedWriter(raw)
        elif type(stream) is io.TextIOWrapper:
            buffer = stream.detach()
        else:
            continue
        text = Text(buffer, "utf-8", "backslashreplace", line_buffering=number == 2)
        setattr(sys, name, text)


def _stand_in(number: int, mode: int) -> int:
    """The null device under the number of a standard stream that is closed."""
    with contextlib.suppress(OSError):
        descriptor = os.open(os.devnull, mode)
        if descriptor != number:
            os.dup2(descriptor, number)
            os.close(descriptor)
    return number


def read_stdin() -> bytes:
    """All of standard input. Raises InputError where it cannot be read or is too large."""
    try:
        stream = sys.stdin.buffer
        _wait_for_it(stream)
        return read_all(stream, "standard input")
    except OSError as error:
        closed = error.errno == errno.EBADF
        reason = "is closed" if closed else f"cannot be read: {error.strerror}"
        raise InputError(reason, "standard input") from None


def write_stdout(parts: Iterable[bytes]) -> None:
    """Write bytes to standard output, once, at the end. Raises OutputError."""
    try:
        sys.stdout.flush()
        _wait_for_it(sys.stdout.buffer)
        sys.stdout.buffer.write(b"".join(parts))
        sys.stdout.buffer.flush()
    except OSError as error:
        _lose(sys.stdout, error)


Paint = Callable[[str], str]
"""Adds colours to a line."""


def say(*lines: str, paint: Paint = str) -> None:
    """Lines for people on standard error. Each stays one line, whatever it quotes."""
    sys.stderr.write("".join(f"{paint(log_line(one_line(line)))}\n" for line in lines))
    sys.stderr.flush()


def say_at_once(error: str) -> None:
    """One last line on standard error, for a signal handler: past everything that is buffered."""
    with contextlib.suppress(OSError):
        os.write(sys.stderr.fileno(), f"error {one_line(error)}\n".encode())


def put(*lines: str, paint: Paint = str) -> None:
    """Lines for people on standard output, where the text itself is what was asked for."""
    sys.stdout.write("".join(f"{paint(log_line(visible(line)))}\n" for line in lines))
    sys.stdout.flush()


def write_stderr(text: str) -> None:
    """A report on standard error, in which everything is escaped already."""
    sys.stderr.write(text)
    sys.stderr.flush()


def open_terminal() -> TextIO:
    """Standard error once more, for whoever draws on it: neither escaped nor buffered with ours."""
    return open(os.dup(2), "w", encoding="utf-8")


def restore_terminal() -> None:
    """Take away what was drawn, from a signal handler: past everything that is buffered."""
    with contextlib.suppress(OSError):
        os.write(2, b"\r\x1b[2K\x1b[?25h")


def is_terminal(name: str) -> bool:
    """Whether `stdout` or `stderr` is a terminal."""
    stream = getattr(sys, name)
    return bool(stream.isatty())


def _wait_for_it(stream: Any) -> None:
    """Let a stream block: a parent that shares it may have said otherwise."""
    with contextlib.suppress(OSError, io.UnsupportedOperation, AttributeError):
        os.set_blocking(stream.fileno(), True)


def _lose(stream: Any, error: OSError) -> NoReturn:
    """Give up a stream that cannot be written. Raises OutputError."""
    # Python would complain once more when it flushes at exit.
    with contextlib.suppress(OSError, io.UnsupportedOperation):
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, stream.fileno())
        os.close(null)
    if isinstance(error, BrokenPipeError):
        raise ReaderGoneError("whoever read the output has gone away") from None
    name = "standard error" if stream is sys.stderr else "standard output"
    reason = "it is closed" if error.errno == errno.EBADF else error.strerror
    raise OutputError(f"cannot write {name}: {reason}") from None


def end_process(status: int) -> NoReturn:
    """End at once, with what was written flushed as far as anybody takes it."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError, AttributeError):
            stream.flush()
    os._exit(status)


def end_without_reader() -> int:
    """End as a program does whose reader has gone away; answers the status where that fails."""
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGPIPE)
    return SIGPIPE_STATUS
