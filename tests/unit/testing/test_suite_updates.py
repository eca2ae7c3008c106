"""`--update` writes what comes into the expectations, and `--init` a first suite."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from suite_support import HEAD, RULE, WEB, write

from krm_fn.cli import run

CASES = """\
  # What a Deployment gets.
  - name: teams   # one label
    object: web.yaml
    expect:
      outcome: Unchanged  # so it was
      fields:
        # by jsonpath-ng
        $.metadata.labels.team: post
        $.spec.replicas: 2
        $.metadata.labels.app: {present: true}
      rules: [other]
"""
UPDATED = """\
  # What a Deployment gets.
  - name: teams   # one label
    object: web.yaml
    expect:
      outcome: Changed  # so it was
      fields:
        # by jsonpath-ng
        $.metadata.labels.team: shop
        $.spec.replicas: 2
        $.metadata.labels.app:
          absent: true
      rules: [team]
"""


def test_only_expectations_that_fail_are_written_and_comments_stay(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    file = write(tmp_path, CASES)
    assert run(["test", "--update", file]) == 0
    assert Path(file).read_text() == HEAD + UPDATED
    out = capfd.readouterr().out
    assert out.count("updated ") == 4
    assert "1 passed, 0 failed" in out


@pytest.mark.parametrize(
    "expect",
    [
        "{patch: []}",
        "{messages: [{contains: nothing}]}",
        "{idempotent: false}",
        "{invalid: {contains: x}}",
        "{each: {Deployment/web: {outcome: Denied, fields: {$.kind: x}}}}",
        '{object: {inline: "apiVersion: apps/v1\\nkind: Deployment\\nmetadata: {name: web}\\n"}}',
    ],
)
def test_each_expectation_can_be_updated(tmp_path: Path, expect: str) -> None:
    file = write(tmp_path, f"  - name: a\n    object: web.yaml\n    expect: {expect}\n")
    assert run(["test", file]) == 1
    assert run(["test", "--update", file]) == 0
    before = Path(file).read_text()
    assert run(["test", "--update", file]) == 0
    assert Path(file).read_text() == before


def test_a_denial_becomes_the_outcome(tmp_path: Path) -> None:
    many = WEB.replace("replicas: 2", "replicas: 7").replace("\n", "\\n")
    file = write(tmp_path, f'  - name: a\n    object: {{inline: "{many}"}}\n    expect: {{}}\n')
    assert run(["test", "--update", file]) == 0
    assert Path(file).read_text().endswith("    expect:\n      outcome: Denied\n")


def test_the_file_with_the_whole_object_is_updated_with_its_comments(tmp_path: Path) -> None:
    file = write(tmp_path, "  - name: a\n    object: web.yaml\n    expect: {object: after.yaml}\n")
    (tmp_path / "after.yaml").write_text(f"# after\n{WEB}")
    assert run(["test", "--update", file]) == 0
    text = (tmp_path / "after.yaml").read_text()
    assert text.startswith("# after\n")
    assert "labels: {team: shop}" in text


def test_values_of_secrets_are_not_written(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    secret = "apiVersion: v1\\nkind: Secret\\nmetadata: {name: s, namespace: shop}\\n"
    secret += "stringData: {key: hunter2hunter2}\\n"
    file = write(
        tmp_path,
        "  - name: a\n    object: web.yaml\n    expect: {}\n"
        f'  - name: b\n    object: {{inline: "{secret}"}}\n'
        "    expect: {fields: {$.stringData.key: other}}\n",
    )
    before = Path(file).read_text()
    assert run(["test", "--update", file]) == 1
    assert Path(file).read_text() == before
    captured = capfd.readouterr()
    assert "is of a Secret" in captured.out
    assert "hunter2" not in captured.out + captured.err


def test_a_first_suite_passes_and_is_strict(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("rules.yaml").write_text(RULE)
    Path("web.yaml").write_text(WEB)
    Path("many.yaml").write_text(WEB.replace("replicas: 2", "replicas: 7"))
    assert run(["test", "--init", "rules.yaml", "-f", "web.yaml", "-f", "many.yaml"]) == 0
    assert run(["test"]) == 0
    text = Path("krm-fn-test.yaml").read_text()
    assert "team changes Deployment web" in text
    assert "Deployment web is refused" in text
    Path("rules.yaml").write_text(RULE.replace("value: shop", "value: post"))
    assert run(["test"]) == 1


def test_a_first_suite_does_not_replace_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, CASES)
    assert run(["test", "--init", "rules.yaml", "-f", "web.yaml"]) == 2


def test_a_first_suite_of_the_demo_passes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    demo = Path(__file__).resolve().parents[3] / "examples" / "demo"
    for folder in ("rules", "manifests", "rejected"):
        shutil.copytree(demo / folder, tmp_path / folder)
    monkeypatch.chdir(tmp_path)
    assert run(["test", "--init", "rules/", "-f", "manifests/", "-f", "rejected/"]) == 0
    assert run(["test"]) == 0
