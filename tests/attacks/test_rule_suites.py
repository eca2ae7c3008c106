"""Suites that somebody else wrote: what they name stays inside their repository, what they ask is
bounded, and what they print is text."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from krm_fn.cli import run

RULE = (
    "apiVersion: api.kubemod.io/v1beta1\nkind: ModRule\nmetadata: {name: a, namespace: shop}\n"
    "spec:\n  type: Patch\n  match: [{select: $.kind, matchValue: ConfigMap}]\n"
    "  patch: [{op: add, path: /data/b, value: c}]\n"
)
OBJECT = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m, namespace: shop}\ndata: {a: x}\n"
SUITE = (
    "apiVersion: krm-fn.dev/v1alpha1\nkind: Suite\nmetadata: {name: s}\n"
    "spec:\n  rules: [%s]\n  cases:\n  - {name: %s, object: %s, expect: %s}\n"
)


def suite(
    folder: Path,
    rules: str = "rule.yaml",
    name: str = "a",
    object_: str = "object.yaml",
    expect: str = "{outcome: Changed}",
) -> str:
    (folder / "rule.yaml").write_text(RULE)
    (folder / "object.yaml").write_text(OBJECT)
    file = folder / "krm-fn-test.yaml"
    file.write_text(SUITE % (rules, name, object_, expect))
    return str(file)


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A file that is not the suite's, beside its repository."""
    repository = tmp_path / "repository"
    (repository / ".git").mkdir(parents=True)
    secret = tmp_path / "outside.yaml"
    secret.write_text(OBJECT)
    os.symlink(secret, repository / "link.yaml")
    return repository


@pytest.mark.parametrize("name", ["../outside.yaml", "link.yaml"])
@pytest.mark.parametrize("field", ["rules", "object_", "expect"])
def test_a_suite_reads_nothing_outside_of_its_repository(
    outside: Path, capfd: pytest.CaptureFixture[str], field: str, name: str
) -> None:
    value = f"{{object: {name}}}" if field == "expect" else name
    assert run(["test", suite(outside, **{field: value})]) == 2
    assert "leads out of" in capfd.readouterr().err


def test_an_update_writes_nothing_outside_of_the_repository(outside: Path) -> None:
    target = outside.parent / "outside.yaml"
    before = target.read_text()
    assert run(["test", "--update", suite(outside, expect="{object: link.yaml}")]) == 2
    assert target.read_text() == before


def test_what_a_suite_is_called_cannot_write_on_the_terminal(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    file = suite(tmp_path, name='"a\\e[2Jb\\nok   all passed"', expect="{outcome: Denied}")
    for form in ("text", "junit", "tap"):
        assert run(["test", "-o", form, "-v", file]) == 1
        out = capfd.readouterr().out
        assert "\x1b" not in out
        assert "\nok   all passed" not in out


def test_a_regular_expression_that_explodes_elsewhere_ends_here(tmp_path: Path) -> None:
    """RE2 takes a time that grows with the text, whatever the expression."""
    long = "a" * 5_000
    expect = '{fields: {$.data.a: {not: {matches: "^(a+)+$b"}}}}'
    (tmp_path / "krm-fn-test.yaml").write_text("")
    file = suite(tmp_path, expect=expect)
    (tmp_path / "object.yaml").write_text(OBJECT.replace("a: x", f"a: {long}"))
    assert run(["test", file]) == 0
