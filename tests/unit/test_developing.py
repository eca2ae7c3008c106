"""What docs/developing and CONTRIBUTING say is so: the tutorial runs, and the tables are true."""

from __future__ import annotations

import importlib
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

from krm_fn.cli import run
from krm_fn.config import dialects, options
from krm_fn.run import compile as compiling

ROOT = Path(__file__).resolve().parents[2]
DEVELOPING = ROOT / "docs" / "developing"
TUTORIAL = (DEVELOPING / "new-dialect.md").read_text()

RULE = re.findall(r"^```yaml\n(.*?)^```", TUTORIAL, re.MULTILINE | re.DOTALL)[0]
OBJECTS = """\
apiVersion: v1
kind: List
items:
- apiVersion: apps/v1   # the first
  kind: Deployment
  metadata: {name: web, namespace: shop}
- apiVersion: apps/v1
  kind: Deployment
  metadata: {name: mail, namespace: shop, labels: {team: post}}
- apiVersion: v1
  kind: Service
  metadata: {name: web, namespace: shop}
"""


@pytest.fixture
def labels(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tutorial's dialect, registered with the tutorial's row."""
    name = "krm_fn_tutorial_labels"
    module = ModuleType(name)
    monkeypatch.setitem(sys.modules, name, module)
    blocks = re.findall(r"^```python\n(.*?)^```", TUTORIAL, re.MULTILINE | re.DOTALL)
    exec(compile("\n".join(blocks), "new-dialect.md", "exec"), module.__dict__)
    row = re.search(r"^    DialectEntry\(\n.*?^    \),$", TUTORIAL, re.MULTILINE | re.DOTALL)
    assert row is not None
    text = re.sub(r"^    ", "", row[0], flags=re.MULTILINE).rstrip(",")
    entry = eval(text, {"DialectEntry": dialects.DialectEntry})
    entry = entry._replace(target=f"{name}:DIALECT")
    for where in (dialects, options, compiling):
        monkeypatch.setattr(where, "DIALECTS", (*dialects.DIALECTS, entry))
    for kind in entry.kinds:
        monkeypatch.setitem(dialects._BY_KIND, (entry.group, kind), entry)


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    (tmp_path / "rules.yaml").write_text(RULE)
    (tmp_path / "objects.yaml").write_text(OBJECTS)
    return str(tmp_path / "objects.yaml"), str(tmp_path / "rules.yaml")


@pytest.mark.usefixtures("labels")
def test_the_dialect_of_the_tutorial_labels_what_has_no_label(
    files: tuple[str, str], capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    objects, rules = files
    status = run(["apply", "-f", objects, "-r", rules, "--on-reject", "warn"])
    out, err = capfdbinary.readouterr()
    expected = OBJECTS.replace(
        "{name: web, namespace: shop}", "{name: web, namespace: shop, labels: {team: shop}}", 1
    )
    assert out.decode() == expected
    assert status == 0
    assert b"team must be shop, not post" in err


@pytest.mark.usefixtures("labels")
def test_the_dialect_of_the_tutorial_refuses_another_value(
    files: tuple[str, str], capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    objects, rules = files
    assert run(["check", "-f", objects, "-r", rules]) == 1
    err = capfdbinary.readouterr().err.decode()
    assert "error" in err
    assert "Label team" in err


@pytest.mark.usefixtures("labels")
def test_the_dialect_of_the_tutorial_says_what_is_wrong_with_a_rule_and_where(
    files: tuple[str, str], capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    objects, rules = files
    Path(rules).write_text(RULE.replace("value: shop", "value: 3"))
    assert run(["check", "-f", objects, "-r", rules]) == 2
    err = capfdbinary.readouterr().err.decode()
    assert f"{rules}:4: Label team: value must be a string" in err


@pytest.mark.usefixtures("labels")
def test_the_section_of_the_dialect_has_no_fields(tmp_path: Path, files: tuple[str, str]) -> None:
    config = tmp_path / "admission.yaml"
    config.write_text(
        "apiVersion: krm-fn.dev/v1alpha1\nkind: Admission\nmetadata: {name: a}\n"
        "spec:\n  labels: {extra: 1}\n  rules: [{paths: [rules.yaml]}]\n"
    )
    assert run(["check", "-f", files[0], "--config", str(config)]) == 2


def test_the_table_of_folders_is_that_of_the_tree() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text()
    named = re.findall(r"^\| `(\w+)/` \|", text, re.MULTILINE)
    package = ROOT / "krm_fn"
    assert sorted(named) == sorted(p.parent.name for p in package.glob("*/__init__.py"))


def test_each_folder_of_the_package_is_in_the_picture_of_floors() -> None:
    text = (DEVELOPING / "architecture.md").read_text()
    picture = text.partition("## Floors")[2].partition("Further contracts")[0]
    for path in (ROOT / "krm_fn").glob("*/__init__.py"):
        assert re.search(rf"\b{path.parent.name}\b", picture), path.parent.name


@pytest.mark.parametrize(
    "name",
    sorted(set(re.findall(r"\| `([a-z]+\.[\w.]+)`", (DEVELOPING / "glossary.md").read_text()))),
)
def test_what_the_glossary_names_is_in_the_code(name: str) -> None:
    module, _, last = f"krm_fn.{name}".rpartition(".")
    if last[0].isupper():
        assert hasattr(importlib.import_module(module), last)
    else:
        importlib.import_module(f"{module}.{last}")


@pytest.mark.parametrize("page", sorted(DEVELOPING.glob("*.md")), ids=lambda page: page.name)
def test_code_that_a_page_names_is_there(page: Path) -> None:
    """`run.admit.stages_of` and its like, where the first word is a folder of the package."""
    folders = {path.parent.name for path in (ROOT / "krm_fn").glob("*/__init__.py")}
    for name in re.findall(r"`([a-z]+\.[\w.]+)[`(]", page.read_text()):
        first, *rest = name.split(".")
        if first not in folders:
            continue
        found = importlib.import_module(f"krm_fn.{first}")
        for step in rest:
            if not hasattr(found, step):
                importlib.import_module(f"{found.__name__}.{step}")
            found = getattr(found, step)


def test_the_first_hour_names_tests_that_are_there() -> None:
    hour = (ROOT / "CONTRIBUTING.md").read_text().partition("## The first hour")[2]
    hour = hour.partition("## The house")[0]
    for path in re.findall(r"\b((?:tests|examples|krm_fn|docs)/[\w/.-]+)", hour):
        assert (ROOT / path).exists(), path
    vector = re.search(r"-k ([\w-]+)", hour)
    assert vector is not None
    assert any(
        f'"{vector[1]}"' in path.read_text()
        for path in (ROOT / "tests" / "conformance" / "modrule").glob("*.jsonl")
    )
