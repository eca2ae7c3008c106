"""This program as other programs start it: what plugins are made of."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from krm_fn.errors import ConfigError
from krm_fn.system.files import working_directory, write_file


def program() -> list[str]:
    """This program, as another one can start it from anywhere. Raises ConfigError."""
    script = shutil.which("krm-fn")
    if script is None:
        return [sys.executable, "-m", "krm_fn"]
    return [os.path.normpath(os.path.join(working_directory(), script))]


def install_file(path: Path, text: str, mode: int) -> None:
    """Write a file of a plugin, and its folders. Raises ConfigError."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_file(os.path.join(path.parent.resolve(), path.name), text.encode())
        path.chmod(mode)
    except OSError as error:
        raise ConfigError(f"cannot be written: {error.strerror}", str(path)) from None
