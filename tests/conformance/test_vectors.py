"""Every vector file beside this one holds: each case answers what the real system answered.

The cases run in chunks, which pytest-xdist spreads over its workers. Where `-k` or a node id
selects tests, each case is a test of its own, named by its file and its id:
`pytest tests/conformance/test_vectors.py -k select-0002`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import run

HERE = Path(__file__).resolve().parent
FILES = sorted(HERE.glob("*/*.jsonl"))
CHUNK = 200
"""Cases in one test: few enough to spread, so many that pytest's own work is small beside them."""

Case = dict[str, Any]


def chunks(size: int) -> Iterator[tuple[str, Path, int]]:
    """The name, the file and the first case of each test that runs `size` cases."""
    for path in FILES:
        lines = run.lines(path)
        for start in range(0, len(lines), size):
            end = min(start + size, len(lines))
            label = _label(json.loads(lines[start])) if size == 1 else f"{start + 1}-{end}"
            yield f"{path.parent.name}/{path.name}:{label}", path, start


def _label(case: Case) -> str:
    release = case.get("kubernetes")
    return f"{case['id']}@{release}" if release else str(case["id"])


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "start" in metafunc.fixturenames:
        chosen = metafunc.config.option.keyword or any(
            "[" in str(arg) for arg in metafunc.config.args
        )
        size = 1 if chosen else CHUNK
        tests = list(chunks(size))
        metafunc.parametrize(
            ("path", "start", "size"),
            [(path, start, size) for _, path, start in tests],
            ids=[name for name, _, _ in tests],
        )


def test_cases_answer_as_the_real_system_did(path: Path, start: int, size: int) -> None:
    failures = []
    for line in run.lines(path)[start : start + size]:
        case = json.loads(line)
        verdict = run.check(run.format_of(path, case), case)
        if not verdict.ok and not verdict.skip:
            failures.append(f"{_label(case)}: expected {verdict.expected}, got {verdict.actual}")
    assert not failures, f"{len(failures)} failed:\n" + "\n".join(failures[:20])


def test_the_chunks_of_a_file_hold_each_of_its_cases_once() -> None:
    for path in FILES:
        starts = [start for _, other, start in chunks(CHUNK) if other == path]
        assert starts == list(range(0, len(run.lines(path)), CHUNK))
