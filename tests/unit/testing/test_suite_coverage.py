"""Coverage: what no case has tried of the rules, with file and line, and in others' formats."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import lcov_cobertura
import pytest
from suite_support import HEAD, WEB, write

from krm_fn.cli import run
from krm_fn.testing.coverage import Coverage, RuleCoverage
from krm_fn.testing.read import read_suite
from krm_fn.testing.run import run_suite

CHANGED = "  - name: a\n    object: web.yaml\n    expect: {outcome: Changed}\n"
DENIED = (
    '  - name: b\n    object: {inline: "'
    + WEB.replace("replicas: 2", "replicas: 7").replace("\n", "\\n")
    + '"}\n    expect: {outcome: Denied}\n'
)
SERVICE = (
    '  - name: c\n    object: {inline: "apiVersion: v1\\nkind: Service\\n'
    'metadata: {name: s, namespace: shop}\\n"}\n    expect: {outcome: Unchanged}\n'
)


def coverage_of(folder: Path, cases: str, head: str = HEAD) -> dict[str, RuleCoverage]:
    coverage = Coverage()
    results = run_suite(
        read_suite(write(folder, cases, head)), lambda name: True, coverage=coverage
    )
    assert all(result.passed for result in results)
    return {rule.name.rpartition("/")[2]: rule for rule in coverage.rules()}


def sentences(rule: RuleCoverage) -> list[str]:
    return [f"{p.line} {p.sentence()}" for p in rule.points.values() if p.missing]


def test_what_was_never_tried_is_said_with_its_line(tmp_path: Path) -> None:
    rules = coverage_of(tmp_path, CHANGED)
    assert (rules["team"].covered, rules["team"].total) == (2, 3)
    assert sentences(rules["team"]) == ["7 spec.match[0] was never false"]
    assert (rules["one"].covered, rules["one"].total) == (1, 3)
    assert sentences(rules["one"]) == [
        "18 spec.match[0] was never true",
        "16 spec.rejectMessage never did anything",
    ]


def test_cases_together_cover_a_rule(tmp_path: Path) -> None:
    rules = coverage_of(tmp_path, CHANGED + DENIED + SERVICE)
    assert [sentences(rule) for rule in rules.values()] == [[], []]


def test_a_criterion_behind_one_that_fails_is_never_asked(tmp_path: Path) -> None:
    (tmp_path / "two.yaml").write_text(
        "apiVersion: api.kubemod.io/v1beta1\nkind: ModRule\n"
        "metadata: {name: two, namespace: shop}\nspec:\n  type: Patch\n  match:\n"
        "  - {select: $.kind, matchValue: Pod}\n  - {select: $.spec}\n"
        "  patch: [{op: add, path: /metadata/labels/a, value: b}]\n"
    )
    case = "  - {name: a, rules: [two.yaml], object: web.yaml, expect: {outcome: Unchanged}}\n"
    (rule,) = coverage_of(tmp_path, case).values()
    assert sentences(rule) == [
        "7 spec.match[0] was never true",
        "8 spec.match[1] was never asked",
        "9 spec.patch[0] never did anything",
    ]


def test_a_patch_that_writes_what_is_there_did_nothing(tmp_path: Path) -> None:
    labelled = WEB.replace("namespace: shop", "namespace: shop, labels: {team: shop}")
    text = labelled.replace("\n", "\\n")
    case = f'  - name: a\n    object: {{inline: "{text}"}}\n    expect: {{outcome: Unchanged}}\n'
    assert "9 spec.patch[0] never did anything" in sentences(coverage_of(tmp_path, case)["team"])


def test_what_a_suite_gives_a_reason_for_is_left_out(tmp_path: Path) -> None:
    head = HEAD.replace(
        "  cases:",
        "  uncovered:\n  - {rule: team, field: 'spec.match[0]', why: all are Deployments}\n"
        "  cases:",
    )
    rules = coverage_of(tmp_path, CHANGED, head)
    assert sentences(rules["team"]) == []
    assert rules["team"].total == 2


def test_less_than_the_minimum_fails(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    file = write(tmp_path, CHANGED + DENIED)
    assert run(["test", "--coverage-min", "80", file]) == 0
    out = capfd.readouterr().out
    assert "1 passed" not in out
    assert "2 passed, 0 failed, 0 skipped (83.3 % of rules' criteria covered)" in out
    assert run(["test", "--coverage-min", "83.4", file]) == 1
    assert "--coverage-min asks for 83.4 %" in capfd.readouterr().err


def test_lcov_is_what_other_programs_read(tmp_path: Path) -> None:
    file = write(tmp_path, CHANGED + DENIED)
    report = tmp_path / "lcov.info"
    assert run(["test", "--report", f"lcov={report}", file]) == 0
    parsed = lcov_cobertura.LcovCobertura(report.read_text(), str(tmp_path)).parse()
    (package,) = parsed["packages"].values()
    (rules,) = package["classes"].values()
    assert rules["branches-total"] == 6
    assert rules["branches-covered"] == 5
    assert set(rules["lines"]) == {7, 9, 16, 18}


def test_cobertura_says_the_same(tmp_path: Path) -> None:
    file = write(tmp_path, CHANGED + DENIED)
    report = tmp_path / "coverage.xml"
    assert run(["test", "--report", f"cobertura={report}", file]) == 0
    root = ElementTree.parse(report).getroot()
    assert root.get("branches-covered") == "5"
    assert root.get("branches-valid") == "6"
    (match,) = root.findall(".//line[@number='7']")
    assert match.get("condition-coverage") == "50% (1/2)"
