"""docs/testing.md: the suite of the page runs, and prints what the page says."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "testing.md").read_text()
CI = (ROOT / "docs" / "ci.md").read_text()
JOBS = [
    block
    for block in re.findall(r"^```yaml\n(.*?)^```", CI, re.MULTILINE | re.DOTALL)
    if "krm-fn test" in block
]


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


@pytest.mark.parametrize("job", JOBS, ids=["github", "gitlab"])
def test_the_jobs_of_the_page_on_ci_test_rules(tmp_path: Path, job: str) -> None:
    """What comes after the installation, which tests/e2e/test_ci.py runs for other jobs."""
    assert yaml.safe_load(job)
    shutil.copytree(ROOT / "examples" / "policies" / "memory-limits", tmp_path / "rules")
    (script,) = re.findall(r"\S+krm-fn (test (?:.*\\\n)*.*)", job)
    command = f"{sys.executable} -m krm_fn {script}"
    done = subprocess.run(
        ["sh", "-c", command], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "(100 % of rules' criteria covered)" in done.stdout
    for name in re.findall(r"=(\S+\.(?:xml|info))", script):
        assert (tmp_path / name).stat().st_size > 0
