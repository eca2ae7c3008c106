"""What the end-to-end tests share: the real tools, and krm-fn as users start it."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest


@dataclass(frozen=True)
class Done:
    """How a command ended."""

    status: int
    out: str
    err: str


Shell = Callable[..., Done]


@pytest.fixture
def krm_fn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with `krm-fn` in it, which runs this checkout."""
    folder = tmp_path_factory.mktemp("bin")
    script = folder / "krm-fn"
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m krm_fn "$@"\n')
    script.chmod(0o755)
    return folder


@pytest.fixture
def shell(krm_fn: Path) -> Shell:
    """Run a command with krm-fn first in PATH."""

    def run(
        command: Sequence[str | Path], *, cwd: Path | None = None, stdin: bytes = b"", **env: str
    ) -> Done:
        root = str(Path(__file__).resolve().parents[2])
        environment = {
            **os.environ,
            "PATH": f"{krm_fn}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": root,
            **env,
        }
        done = subprocess.run(
            list(map(str, command)),
            cwd=cwd,
            input=stdin,
            env=environment,
            capture_output=True,
            timeout=120,
            check=False,
        )
        return Done(done.returncode, done.stdout.decode(), done.stderr.decode())

    return run


DOCKER = """\
#!/bin/sh
# Stands for docker: asserts how the function is run, and runs it.
case "$1" in
version) echo "29.0.0"; exit 0 ;;
image) exit 0 ;;
esac
echo "$@" >>"{log}"
exec krm-fn
"""


@pytest.fixture
def docker(tmp_path: Path, krm_fn: Path) -> Path:
    """The log of a `docker` that stands in PATH beside krm-fn."""
    log = tmp_path / "docker.log"
    script = krm_fn / "docker"
    script.write_text(DOCKER.format(log=log))
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    return log
