"""Suites are read strictly: what is wrong is said with file and line."""

from __future__ import annotations

from pathlib import Path

import pytest
from suite_support import HEAD, write

from krm_fn.errors import ConfigError
from krm_fn.testing.read import find_suites, read_suite

GOOD = "  - name: a\n    object: web.yaml\n    expect: {outcome: Changed}\n"


@pytest.mark.parametrize(
    ("cases", "line", "message"),
    [
        ("  - {name: a, objekt: web.yaml, expect: {}}\n", 8, "did you mean object?"),
        ("  - name: a\n    object: no.yaml\n    expect: {}\n", 9, "no.yaml does not exist"),
        ("  - name: a\n    object: web.yaml\n    expect:\n      outcom: Denied\n", 11, "outcome?"),
        ("  - name: a\n    object: web.yaml\n    expect:\n      outcome: Gone\n", 11, "not one of"),
        ("  - name: a\n    object: web.yaml\n    expect:\n      fields: 3\n", 11, "must be a map"),
        (
            "  - name: a\n    object: web.yaml\n    expect:\n      fields: {$.a: {matches: (}}\n",
            11,
            "matches: ",
        ),
        (f"{GOOD}{GOOD}", 11, "a is there twice"),
        ("  - name: a\n    expect: {}\n", 8, "object is required"),
        ("  - name: a\n    object: Deployment/wob\n    expect: {}\n", 9, "Deployment/web?"),
        ("  - name: a\n    object: ../outside.yaml\n    expect: {}\n", 9, "out of"),
        ("  - name: a\n    object: web.yaml\n    objects: [web.yaml]\n    expect: {}\n", 10, "or"),
    ],
)
def test_a_mistake_is_said_with_its_line(
    tmp_path: Path, cases: str, line: int, message: str
) -> None:
    (tmp_path.parent / "outside.yaml").write_text("")
    file = write(tmp_path, cases)
    with pytest.raises(ConfigError) as caught:
        read_suite(file)
    assert caught.value.where == f"{file}:{line}"
    assert message in caught.value.message


@pytest.mark.parametrize(
    ("head", "message"),
    [
        (HEAD.replace("kind: Suite", "kind: Suit"), "did you mean Suite?"),
        (HEAD.replace("v1alpha1", "v9"), "use krm-fn.dev/v1alpha1"),
        (HEAD.replace("{name: teams}", "{}"), "metadata.name is required"),
        (HEAD.replace("rules.yaml", "rulez.yaml"), "rulez.yaml does not exist"),
        (HEAD.replace("  cases:", "  options: {mode: Mutat}\n  cases:"), "did you mean Mutate?"),
    ],
)
def test_a_mistake_outside_of_cases_is_said(tmp_path: Path, head: str, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read_suite(write(tmp_path, GOOD, head))
    assert message in str(caught.value)
    assert "krm-fn-test.yaml" in caught.value.where


def test_suites_are_found_by_their_names(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    (tmp_path / ".hidden").mkdir()
    names = ["krm-fn-test.yaml", "b/images.krm-fn-test.yaml"]
    for name in (*names, "b/other.yaml", ".hidden/krm-fn-test.yaml"):
        (tmp_path / name).write_text("")
    found = find_suites([str(tmp_path), str(tmp_path / "b")])
    assert [str(Path(file).relative_to(tmp_path)) for file in found] == names


def test_a_suite_says_which_files_it_reads(tmp_path: Path) -> None:
    suite = read_suite(write(tmp_path, GOOD))
    assert {Path(file).name for file in suite.files} == {"krm-fn-test.yaml", "web.yaml"}
