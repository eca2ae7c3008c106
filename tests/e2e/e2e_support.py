"""Small helpers of the end-to-end tests; no test."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Shell = Callable[..., Any]


def tree(folder: Path) -> dict[str, str]:
    """The texts of all files below a folder, by their path in it."""
    return {
        str(path.relative_to(folder)): path.read_text()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def fixtures() -> Path:
    """Real packages that are not part of this repository; skips where they are missing."""
    beside = Path(__file__).resolve().parents[3] / "shared" / "fixtures"
    folder = Path(os.environ.get("KRM_FN_FIXTURES", beside))
    if not folder.is_dir():
        pytest.skip("no fixtures: KRM_FN_FIXTURES names no folder")
    return folder
