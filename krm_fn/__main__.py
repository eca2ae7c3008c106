"""The entry: which of function or command line.

No argument and a ResourceList on standard input is the function; any other stream is `apply -f -`;
on a terminal, the help. The command line's libraries are loaded only when it is used.
"""

from __future__ import annotations

import contextlib
import errno
import gc
import os
import sys
from collections.abc import Callable
from typing import Final, NoReturn

from krm_fn.errors import KrmFnError, OutputError
from krm_fn.system.streams import (
    ReaderGoneError,
    end_process,
    end_without_reader,
    open_standard_streams,
    read_stdin,
    say,
    write_stderr,
    write_stdout,
)

INTERRUPTED: Final = 130
FAULT: Final = 3
UNREADABLE: Final = 4
REFUSED: Final = 1

_ALLOCATIONS: Final = 20_000
"""New containers between two searches for cycles: values hold none, and are many."""

_MACHINE: Final = {
    *(errno.EACCES, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EISDIR, errno.ELOOP),
    *(errno.EMFILE, errno.ENAMETOOLONG, errno.ENFILE, errno.ENODEV, errno.ENOENT, errno.ENOMEM),
    *(errno.ENOSPC, errno.ENOTDIR, errno.EPERM, errno.EROFS, errno.ESTALE),
}
"""What the machine says no with: a disk that is full, a folder that is gone. No fault of ours."""


def main() -> None:
    """Run the program and exit with its documented status."""
    gc.set_threshold(_ALLOCATIONS)
    open_standard_streams()
    sys.exit(guarded(_main))


def entry() -> NoReturn:
    """The program as a process: `main`, and an end without taking the interpreter apart.

    That would free every object of the run one by one, which takes longer than a small run.
    """
    status: object = 0
    try:
        main()
    except SystemExit as end:
        status = end.code
    end_process(status if isinstance(status, int) else 0)


def _main() -> int:
    completing = "_KRM_FN_COMPLETE" in os.environ
    if len(sys.argv) > 1 or completing or sys.stdin.isatty():
        return _command_line(sys.argv[1:])
    try:
        data = read_stdin()
    except KrmFnError as error:
        say(*error.lines())
        return UNREADABLE
    if b"ResourceList" not in data:
        return _apply(data)
    from krm_fn.run.function import run as run_function
    from krm_fn.sdk import NotAResourceListError

    try:
        done = run_function(data, os.environ)
        write_stderr(done.stderr)
        write_stdout([done.stdout])
    except NotAResourceListError:
        return _apply(data)
    except ReaderGoneError:
        raise
    except OutputError as error:
        return _said(f"error {error}", REFUSED)
    except (OSError, MemoryError) as error:
        return _not_our_fault(error, REFUSED)
    return done.status


def _apply(data: bytes) -> int:
    return _command_line(["apply", "-f", "-"], data)


def _command_line(arguments: list[str], data: bytes | None = None) -> int:
    from krm_fn.cli import run

    return run(arguments, data)


def guarded(work: Callable[[], int]) -> int:
    """Run a piece of work so that nothing ends in a traceback."""
    try:
        return work()
    except KeyboardInterrupt:
        return _said("interrupted", INTERRUPTED)
    except ReaderGoneError:
        return end_without_reader()
    except OutputError as error:
        return _said(f"error {error}", UNREADABLE)
    except (OSError, MemoryError) as error:
        return _not_our_fault(error, UNREADABLE)
    except Exception as error:
        return _said(fault(error), FAULT)


def _not_our_fault(error: OSError | MemoryError, status: int) -> int:
    """The status of what the machine refuses; anything else is a fault."""
    if isinstance(error, MemoryError):
        return _said("error there is not enough memory", status)
    if error.errno not in _MACHINE:
        return _said(fault(error), FAULT)
    name = os.fsdecode(error.filename) if isinstance(error.filename, str | bytes) else ""
    return _said(f"error {name + ': ' if name else ''}{error.strerror}", status)


def _said(line: str, status: int) -> int:
    """Say a last line, where anybody can hear it."""
    with contextlib.suppress(OutputError):
        say(line)
    return status


def fault(error: BaseException) -> str:
    """One sentence about a fault of the program, for a bug report: what and where.

    The error's own text is not in it, since it may quote a Secret.
    """
    trace = error.__traceback__
    places: list[str] = []
    while trace is not None:
        name = os.path.basename(trace.tb_frame.f_code.co_filename)
        places.append(f"{name}:{trace.tb_lineno}")
        trace = trace.tb_next
    at = " < ".join(reversed(places[-_PLACES:]))
    return f"internal error: {type(error).__name__} at {at}; please report it with the input"


_PLACES: Final = 3


if __name__ == "__main__":
    entry()
