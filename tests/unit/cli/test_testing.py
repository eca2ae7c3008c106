"""`krm-fn test`: what is printed, and with which status it ends."""

from __future__ import annotations

import os
import re
from pathlib import Path

import junitparser
import pytest
import tap.parser
import yaml
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
BROKEN = """\
  - name: "a broken # object"
    object: {inline: "kind: [<&"}
    expect: {}
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
        ("junit", PASSES + FAILS + BROKEN, 2, ("-o", "junit")),
        ("tap", PASSES + FAILS + BROKEN, 2, ("-o", "tap")),
        ("json", PASSES + FAILS + BROKEN, 2, ("-o", "json")),
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


def test_junit_is_what_other_programs_read(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path, PASSES + FAILS + BROKEN)
    report = tmp_path / "report.xml"
    assert output(tmp_path, capfd, "--report", f"junit={report}")[0] == 2
    (suite,) = junitparser.JUnitXml.fromfile(str(report))
    assert (suite.tests, suite.failures, suite.errors, suite.skipped) == (5, 2, 1, 1)
    results = {case.name: case.result for case in suite}
    assert results["teams are named"] == []
    assert isinstance(results["too many"][0], junitparser.Failure)
    assert "replicas: 7" in results["too many"][0].text
    assert isinstance(results["later"][0], junitparser.Skipped)
    assert isinstance(results["a broken # object"][0], junitparser.Error)


def test_tap_is_what_other_programs_read(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    write(tmp_path, PASSES + FAILS + BROKEN)
    text = output(tmp_path, capfd, "-o", "tap")[1]
    block = re.compile(r"^  ---\n(.*?)^  \.\.\.\n", re.MULTILINE | re.DOTALL)
    places = [yaml.safe_load(found)["at"] for found in block.findall(text)]
    assert places == ["krm-fn-test.yaml:11", "krm-fn-test.yaml:17", "krm-fn-test.yaml:33"]
    # tap.py knows the versions up to 13; 14 differs in what is not used here.
    plain = block.sub("", text).replace("TAP version 14", "TAP version 13")
    lines = list(tap.parser.Parser().parse_text(plain))
    tests = [line for line in lines if line.category == "test"]
    assert [(line.ok, bool(line.skip)) for line in tests] == [
        (True, False),
        (False, False),
        (False, False),
        (True, True),
        (False, False),
    ]
    assert [line.expected_tests for line in lines if line.category == "plan"] == [5]
    assert "unknown" not in {line.category for line in lines}


@pytest.mark.parametrize("wanted", ["junit", "xml=a.xml", "junit="])
def test_a_report_without_file_or_of_unknown_format_is_a_mistake(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], wanted: str
) -> None:
    write(tmp_path, PASSES)
    status, _, err = output(tmp_path, capfd, "--report", wanted)
    assert status == 2
    assert f"--report {wanted}" in err
