"""`krm-fn test`: what is printed, and with which status it ends."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from suite_support import write

from krm_fn.cli import run

GOLDEN = Path(__file__).resolve().parent / "testing"
UPDATE = os.environ.get("KPT_E2E_UPDATE_EXPECTED") == "true"

PASSES = "  - name: teams are named\n    object: web.yaml\n    expect: {outcome: Changed}\n"
FAILS = """\
  - name: another team
    object: web.yaml
    expect:
      fields:
        $.metadata.labels.team: post
      rules: [other]
  - name: too many
    object:
      inline: |
        apiVersion: apps/v1
        kind: Deployment
        metadata: {name: many, namespace: shop}
        spec: {replicas: 7}
    expect:
      object:
        inline: |
          apiVersion: apps/v1
          kind: Deployment
          metadata: {name: many, namespace: shop}
          spec: {replicas: 3}
  - name: later
    skip: "until #12"
"""
UNREADABLE = "  - name: a\n    objekt: web.yaml\n    expect: {}\n"


def output(
    folder: Path, capfd: pytest.CaptureFixture[str], *arguments: str
) -> tuple[int, str, str]:
    """The status, standard output and standard error of `krm-fn test` in a folder."""
    before = os.getcwd()
    os.chdir(folder)
    try:
        status = run(["test", *arguments])
    finally:
        os.chdir(before)
    captured = capfd.readouterr()
    return status, captured.out, captured.err


@pytest.mark.parametrize(
    ("name", "cases", "status", "arguments"),
    [
        ("passes", PASSES, 0, ()),
        ("fails", PASSES + FAILS, 1, ()),
        ("verbose", PASSES + FAILS, 1, ("-v",)),
        ("one", PASSES + FAILS, 0, ("--run", "teams/teams")),
        ("fail-fast", FAILS + PASSES, 1, ("--fail-fast",)),
        ("unreadable", UNREADABLE, 2, ()),
    ],
)
def test_results_are_printed(
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    name: str,
    cases: str,
    status: int,
    arguments: tuple[str, ...],
) -> None:
    write(tmp_path, cases)
    ended, out, err = output(tmp_path, capfd, *arguments)
    golden = GOLDEN / f"{name}.txt"
    text = out + err
    if UPDATE:
        golden.write_text(text)
    assert text == golden.read_text()
    assert ended == status


def test_no_suite_is_a_mistake_unless_it_may_be(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    status, _, err = output(tmp_path, capfd)
    assert status == 2
    assert "no suite (krm-fn-test.yaml)" in err
    assert output(tmp_path, capfd, "--allow-none")[:2] == (0, "0 passed, 0 failed, 0 skipped\n")


def test_a_folder_that_is_not_there_is_a_mistake(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    status, _, err = output(tmp_path, capfd, "nowhere")
    assert (status, err) == (2, "error nowhere: does not exist\n")


def test_a_wrong_pattern_is_a_mistake(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    write(tmp_path, PASSES)
    status, _, err = output(tmp_path, capfd, "--run", "(")
    assert status == 2
    assert err.startswith("error --run (: ")


def test_the_other_suites_run_where_one_cannot_be_read(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    for name, cases in (("a", UNREADABLE), ("b", PASSES)):
        (tmp_path / name).mkdir()
        write(tmp_path / name, cases)
    status, out, err = output(tmp_path, capfd)
    assert status == 2
    assert "ok   b/krm-fn-test.yaml" in out
    assert "1 passed, 0 failed, 0 skipped, 1 suite unreadable" in out
    assert "a/krm-fn-test.yaml:9" in err


def test_suites_beside_rules_and_manifests_are_neither(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """A folder with a suite is used as a folder of rules, and as one of manifests."""
    write(tmp_path, PASSES)
    folder = str(tmp_path)
    assert run(["check", "-f", folder, "-r", str(tmp_path / "rules.yaml")]) == 0
    assert "1 object, 1 changed" in capfd.readouterr().err
    assert run(["check", "-f", str(tmp_path / "web.yaml"), "-r", folder]) == 0
