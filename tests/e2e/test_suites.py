"""The suites beside the examples: `krm-fn test examples/` passes, and each policy has one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
POLICIES = sorted(path.parent for path in (ROOT / "examples" / "policies").glob("*/policy.yaml"))


def test_there_are_forty_policies_at_least() -> None:
    assert len(POLICIES) >= 40


def test_the_suites_of_the_examples_pass_and_cover_every_criterion() -> None:
    command = [sys.executable, "-m", "krm_fn", "test", "--coverage-min", "100", "examples/"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("folder", POLICIES, ids=lambda folder: folder.name)
def test_a_policy_has_a_suite_with_what_it_does_and_what_it_leaves_alone(folder: Path) -> None:
    suite = (folder / "krm-fn-test.yaml").read_text()
    assert "object: before.yaml" in suite
    assert "object: left-alone.yaml" in suite
    assert "outcome: Unchanged" in suite
