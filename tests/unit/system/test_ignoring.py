"""`.krmignore`: what kpt leaves out; tests/e2e/test_repository.py asks kpt itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from krm_fn.errors import InputError
from krm_fn.system.ignoring import Patterns, patterns_in

PATHS = ["a.yaml", "b.yaml", "plain/a.yaml", "plain/b.yaml", "plain/deep/a.yaml", "deep/a.yaml"]


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("a.yaml", ["b.yaml", "plain/b.yaml"]),
        ("/a.yaml", ["b.yaml", "plain/a.yaml", "plain/b.yaml", "plain/deep/a.yaml", "deep/a.yaml"]),
        ("deep/a.yaml", ["a.yaml", "b.yaml", "plain/a.yaml", "plain/b.yaml"]),
        ("*/deep", ["a.yaml", "b.yaml", "plain/a.yaml", "plain/b.yaml", "deep/a.yaml"]),
        ("plain/**", ["a.yaml", "b.yaml", "deep/a.yaml"]),
        ("**/deep", ["a.yaml", "b.yaml", "plain/a.yaml", "plain/b.yaml"]),
        ("*.yaml\n!b.yaml", ["b.yaml", "plain/b.yaml"]),
        ("# a.yaml\n\n", PATHS),
    ],
)
def test_patterns_leave_out_what_kpt_leaves_out(text: str, left: list[str]) -> None:
    patterns = Patterns(text.splitlines())
    assert [path for path in PATHS if not patterns.fit(path)] == left


def test_a_pattern_with_a_slash_behind_it_is_of_folders() -> None:
    patterns = Patterns(["build/"])
    assert patterns.fit("build", folder=True)
    assert not patterns.fit("build")


def test_without_a_file_nothing_is_left_out(tmp_path: Path) -> None:
    assert not patterns_in(str(tmp_path))


def test_a_file_that_is_no_text_is_an_error_that_names_it(tmp_path: Path) -> None:
    (tmp_path / ".krmignore").write_bytes(b"\xff\xff")
    with pytest.raises(InputError, match=r"\.krmignore: is no text in UTF-8"):
        patterns_in(str(tmp_path))
