"""docs/testing.md: the suite of the page runs, and prints what the page says."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "testing.md").read_text()


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """`krm-fn test` on the files of the page."""
    for block in re.findall(r"^```yaml\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL):
        name = re.match(r"# (\S+)\n", block)
        assert name is not None, block
        if not (folder / name[1]).exists():
            (folder / name[1]).write_text(block)
    command = [sys.executable, "-m", "krm_fn", "test", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def indented(text: str) -> str:
    return "".join(f"    {line}\n" for line in text.splitlines())


def test_the_suite_of_the_page_passes_and_prints_what_it_says(tmp_path: Path) -> None:
    done = run(tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert indented(done.stdout) in PAGE


def test_a_case_fails_as_the_page_says(tmp_path: Path) -> None:
    run(tmp_path)
    suite = tmp_path / "krm-fn-test.yaml"
    suite.write_text(suite.read_text().replace("labels.team: shop", "labels.team: post"))
    done = run(tmp_path)
    assert done.returncode == 1
    shown = done.stdout.split("\n\n")[1]
    assert indented(shown) in PAGE
