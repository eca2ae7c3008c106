"""The program as its users meet it, without a process for each run; no test."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from typing import NamedTuple
from unittest import mock

import pytest

from krm_fn.__main__ import main


class Done(NamedTuple):
    returncode: int
    stdout: str
    stderr: str


def run(*arguments: str, stdin: bytes = b"", **env: str) -> Done:
    """The program in this process, with streams and an environment of its own."""
    out, err = io.BytesIO(), io.BytesIO()
    streams = {
        "stdin": io.TextIOWrapper(io.BytesIO(stdin), "utf-8"),
        "stdout": io.TextIOWrapper(out, "utf-8"),
        "stderr": io.TextIOWrapper(err, "utf-8"),
    }
    with contextlib.ExitStack() as stack:
        for name, stream in streams.items():
            stack.enter_context(mock.patch.object(sys, name, stream))
        stack.enter_context(mock.patch.object(sys, "argv", ["krm-fn", *arguments]))
        stack.enter_context(mock.patch.dict(os.environ, env))
        with pytest.raises(SystemExit) as ended:
            main()
        sys.stdout.flush()
        sys.stderr.flush()
        assert isinstance(ended.value.code, int)
        return Done(ended.value.code, out.getvalue().decode(), err.getvalue().decode())
