"""Kyverno's test files run as they are; each of those here uses other fields of the format."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from krm_fn.cli import run
from krm_fn.errors import ConfigError
from krm_fn.testing.read import read_suite
from krm_fn.testing.run import CaseResult, Runner

HERE = Path(__file__).resolve().parent / "kyverno"
FOLDERS = sorted(path.parent for path in HERE.glob("*/kyverno-test.yaml"))
OTHERS = {"pass": "fail", "fail": "pass", "skip": "pass", "warn": "fail"}


def results(file: Path) -> list[CaseResult]:
    suite = read_suite(str(file))
    runner = Runner(suite)
    return [runner.run(case) for case in suite.cases]


def test_there_are_ten_at_least() -> None:
    assert len(FOLDERS) >= 10


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_a_test_of_kyvernos_format_holds(folder: Path) -> None:
    ours = results(folder / "kyverno-test.yaml")
    assert [(r.case.name, r.failures, r.error) for r in ours if r.failures or r.error] == []
    assert any(r.passed for r in ours)


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_no_other_result_holds(folder: Path, tmp_path: Path) -> None:
    copy = tmp_path / folder.name
    shutil.copytree(folder, copy)
    file = copy / "kyverno-test.yaml"
    text = file.read_text()
    lines = [
        f"  result: {OTHERS[line.split()[1]]}" if line.startswith("  result: ") else line
        for line in text.splitlines()
    ]
    file.write_text("\n".join(lines))
    assert not any(result.passed for result in results(file))


def test_results_about_other_policies_are_skipped_with_a_reason() -> None:
    *_, last = results(HERE / "mixed" / "kyverno-test.yaml")
    assert last.skipped
    assert last.case.skip == (
        "policy labels is no ValidatingAdmissionPolicy or MutatingAdmissionPolicy"
    )


def test_another_patched_resource_fails(tmp_path: Path) -> None:
    copy = tmp_path / "mutation"
    shutil.copytree(HERE / "mutation", copy)
    patched = copy / "patched.yaml"
    patched.write_text(patched.read_text().replace("team: shop", "team: post"))
    (result,) = results(copy / "kyverno-test.yaml")
    assert "+    team: shop" in result.failures[0].came


def test_a_resource_that_is_not_there_fails(tmp_path: Path) -> None:
    copy = tmp_path / "userinfo"
    shutil.copytree(HERE / "userinfo", copy)
    file = copy / "kyverno-test.yaml"
    file.write_text(file.read_text().replace("[web]", "[wob]"))
    (result,) = results(file)
    assert result.failures[0].came == ("-Deployment/wob", "+(no such resource)")


def test_what_holds_without_defaults_only_fails_and_says_so(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Kyverno does not see what the API server fills in, such as revisionHistoryLimit."""
    copy = tmp_path / "replicas"
    shutil.copytree(HERE / "replicas", copy)
    policy = copy / "policy.yaml"
    expression = "'!has(object.spec.revisionHistoryLimit)'"
    policy.write_text(policy.read_text().replace("object.spec.replicas < 5", expression))
    file = copy / "kyverno-test.yaml"
    file.write_text(file.read_text().replace("result: fail", "result: pass"))
    assert run(["test", str(file)]) == 1
    assert "--object-form AsWritten" in capfd.readouterr().out
    assert run(["test", "--object-form", "AsWritten", str(file)]) == 0


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("policies:", "polices:", "did you mean"),
        ("result: pass", "result: passed", "'passed' is not one of pass, fail, skip, warn"),
        ("- resources.yaml", "- nowhere.yaml", "nowhere.yaml does not exist"),
        ("- resources.yaml", "- ../../../../../../etc/passwd", "out of"),
    ],
)
def test_a_mistake_is_said(tmp_path: Path, old: str, new: str, message: str) -> None:
    copy = tmp_path / "userinfo"
    shutil.copytree(HERE / "userinfo", copy)
    file = copy / "kyverno-test.yaml"
    file.write_text(file.read_text().replace(old, new))
    with pytest.raises(ConfigError, match=message.replace("'", ".")) as caught:
        read_suite(str(file))
    assert caught.value.where.startswith(str(file))


def test_updates_leave_tests_of_kyvernos_as_they_are(tmp_path: Path) -> None:
    copy = tmp_path / "userinfo"
    shutil.copytree(HERE / "userinfo", copy)
    file = copy / "kyverno-test.yaml"
    text = file.read_text().replace("result: pass", "result: fail")
    file.write_text(text)
    assert run(["test", "--update", str(file)]) == 1
    assert file.read_text() == text
