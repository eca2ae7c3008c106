"""The entry: which of function or command line.

No argument and a ResourceList on standard input is the function; any other stream is `apply -f -`;
on a terminal, the help. The command line's libraries are loaded only when it is used.
"""

from __future__ import annotations

import gc
import os
import sys
from typing import Final

from krm_fn.errors import OutputError

INTERRUPTED: Final = 130
FAULT: Final = 3

_ALLOCATIONS: Final = 20_000
"""New containers between two searches for cycles: values hold none, and are many."""


def main() -> None:
    """Run the program and exit with its documented status."""
    gc.set_threshold(_ALLOCATIONS)
    sys.exit(guarded(_main))


def _main() -> int:
    completing = "_KRM_FN_COMPLETE" in os.environ
    if len(sys.argv) > 1 or completing or sys.stdin is None or sys.stdin.isatty():
        from krm_fn.cli import run

        return run(sys.argv[1:])
    data = sys.stdin.buffer.read()
    if b"ResourceList" not in data:
        return _apply(data)
    from krm_fn.function import run as run_function
    from krm_fn.sdk import NotAResourceListError
    from krm_fn.sdk.run import write_stdout

    try:
        done = run_function(data, os.environ)
    except NotAResourceListError:
        return _apply(data)
    sys.stderr.write(done.stderr)
    sys.stderr.flush()
    write_stdout([done.stdout])
    return done.status


def _apply(data: bytes) -> int:
    from krm_fn.cli import run

    return run(["apply", "-f", "-"], data)


def guarded(work: object) -> int:
    """Run a piece of work so that nothing ends in a traceback."""
    assert callable(work)
    try:
        status = work()
        return status if isinstance(status, int) else 0
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        return INTERRUPTED
    except OutputError as error:
        sys.stderr.write(f"error {error}\n")
        return 1
    except Exception as error:
        sys.stderr.write(f"{fault(error)}\n")
        return FAULT


def fault(error: BaseException) -> str:
    """One sentence about a fault of the program: what and where, for a bug report."""
    trace = error.__traceback__
    place = ""
    while trace is not None:
        name = os.path.basename(trace.tb_frame.f_code.co_filename)
        place = f" at {name}:{trace.tb_lineno}"
        trace = trace.tb_next
    text = " ".join(str(error).split())[:200]
    return (
        f"internal error: {type(error).__name__}: {text}{place}; nothing was written. "
        "Please report it with the input"
    )


if __name__ == "__main__":
    main()
