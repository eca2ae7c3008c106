"""Every vector file beside this one holds: each case answers what the real system answered."""

from __future__ import annotations

from pathlib import Path

import pytest
import run

HERE = Path(__file__).resolve().parent
FILES = sorted(HERE.glob("*/*.jsonl"))


@pytest.mark.parametrize("path", FILES, ids=lambda p: f"{p.parent.name}/{p.name}")
def test_every_case_answers_as_the_real_system_did(path: Path) -> None:
    name = run.format_of(path)
    failures = []
    for case in run.load(path):
        verdict = run.check(name, case)
        if not verdict.ok and not verdict.skip:
            failures.append(f"{case['id']}: expected {verdict.expected}, got {verdict.actual}")
    assert not failures, f"{len(failures)} failed:\n" + "\n".join(failures[:20])
