"""`krm-fn explain`: golden files of what people read, and what programs read.

KPT_E2E_UPDATE_EXPECTED=true records the golden files anew.
"""

from __future__ import annotations

import json
import os
import re
import shlex
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from krm_fn.cli import run as run_cli

HERE = Path(__file__).resolve().parent / "explain"
ROOT = HERE.parents[3]
UPDATE = os.environ.get("KPT_E2E_UPDATE_EXPECTED") == "true"

GOLDEN = {
    "modrule/overview": [],
    "modrule/deployment": ["deployment/web"],
    "modrule/other-kind": ["widget/w", "--rule", "everywhere"],
    "modrule/ignored-namespace": ["configmap/settings", "--rule", "everywhere"],
    "modrule/server": ["configmap/settings", "-v", "--rule", "everywhere"],
    "modrule/in-depth": ["deployment/web", "--rule", "everywhere", "--rule", "filter"],
    "policies/overview": [],
    "policies/deployment": ["deployment/web"],
    "policies/in-depth": ["deployment/web", "--rule", "replicas"],
    "sidecarset/pod": ["pod/web"],
    "sidecarset/in-depth": ["pod/web", "--rule", "logging"],
    "appmesh/pod": ["pod/web"],
    "fields/history": ["deployment/web", "--field", "spec.replicas"],
    "fields/default": ["deployment/web", "--field", "spec.progressDeadlineSeconds"],
    "fields/undone": ["deployment/web", "--field", "spec.revisionHistoryLimit"],
    "fields/three-dialects": [
        *("deployment/web", "--pod-templates", "mutate"),
        *("--field", "spec.template.metadata.annotations"),
    ],
    "fields/nobody": ["deployment/web", "--field", "spec.paused"],
    "fields/changes": ["deployment/web", "--changes", "--pod-templates", "mutate"],
}


def explain(
    folder: str, *arguments: str, capsys: pytest.CaptureFixture[str], width: int = 80
) -> tuple[int, str, str]:
    status = run_cli(
        [
            *("explain", *arguments, "--width", str(width)),
            *("-f", "manifests.yaml", "-r", "rules.yaml"),
        ]
    )
    captured = capsys.readouterr()
    return status, captured.out, captured.err


@pytest.mark.parametrize("name", GOLDEN)
def test_people_read(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, _, case = name.partition("/")
    monkeypatch.chdir(HERE / folder)
    status, out, err = explain(folder, *GOLDEN[name], capsys=capsys)
    assert (status, err) == (0, "")
    golden = HERE / folder / f"{case}.txt"
    if UPDATE:
        golden.write_text(out)
    assert out == golden.read_text()


@pytest.mark.parametrize("width", [80, 120, 200])
def test_no_line_is_wider_than_it_may_be(
    width: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for folder in ("modrule", "policies", "sidecarset", "appmesh"):
        monkeypatch.chdir(HERE / folder)
        _, out, _ = explain(folder, "web", capsys=capsys, width=width)
        assert [line for line in out.splitlines() if len(line) > width] == []


def test_the_same_as_data(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(HERE / "policies")
    _, out, _ = explain("policies", "deployment/web", "-o", "json", capsys=capsys)
    value = json.loads(out)
    assert value["kind"] == "Explanation"
    (web,) = value["objects"]
    rules = {rule["name"]: rule for rule in web["rules"]}
    assert rules["condition"]["outcome"] == "not matched"
    (failing,) = [one for one in rules["condition"]["criteria"] if one.get("held") is False]
    assert failing["field"] == "spec.matchConditions[0]"
    assert failing["place"].startswith("rules.yaml:")
    (whole,) = failing["parts"]
    assert (whole["text"], whole["value"]) == ("object.spec.replicas > 100", "false")
    assert whole["parts"][0]["value"] == "3"
    assert whole["parts"][0]["place"] == "manifests.yaml:8"


@pytest.mark.parametrize("folder", ["modrule", "policies", "sidecarset", "appmesh", "fields"])
def test_the_data_are_what_their_schema_says(
    folder: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(HERE / folder)
    schema = json.loads((ROOT / "docs/schemas/explanation.json").read_text())
    validator = jsonschema.Draft202012Validator(schema)
    _, out, _ = explain(folder, "--pod-templates", "mutate", "-o", "json", capsys=capsys)
    assert list(validator.iter_errors(json.loads(out))) == []
    assert list(validator.iter_errors({**json.loads(out), "kind": "Explanations"}))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["deployment/wob"], "no object deployment/wob; did you mean deployment/web?"),
        (["job/x"], "no object job/x; there are deployment/web, widget/w, configmap/settings"),
        (["web", "--rule", "filtr"], "no rule filtr; did you mean filter?"),
        (["web", "--field", "spec..x"], "--field spec..x: is no path such as"),
    ],
)
def test_what_is_not_there_is_named_with_what_is_near(
    arguments: list[str],
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(HERE / "modrule")
    status, out, err = explain("modrule", *arguments, capsys=capsys)
    assert (status, out) == (2, "")
    assert message in err


def test_values_of_secrets_are_not_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "manifests.yaml").write_text(
        "apiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: shop}\n"
        "stringData: {password: correct-horse}\n"
    )
    (tmp_path / "rules.yaml").write_text(
        "apiVersion: api.kubemod.io/v1beta1\nkind: ModRule\nmetadata: {name: r, namespace: shop}\n"
        "spec:\n  type: Patch\n  match:\n"
        "  - {select: '$.stringData.password', matchValue: battery-staple}\n"
        "  - {select: '$.data.password', matchRegex: ^x}\n"
        "  patch: [{op: add, path: /metadata/labels/a, value: b}]\n"
    )
    monkeypatch.chdir(tmp_path)
    for arguments in ([], ["s"], ["s", "--rule", "r"], ["s", "-o", "json"], ["-v"]):
        _, out, err = explain("", *arguments, capsys=capsys)
        assert "correct-horse" not in out + err
        assert "Y29ycmVjdC1ob3JzZQ" not in out + err


def test_blame_names_the_rule_beside_each_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(HERE / "fields")
    arguments = ["-f", "manifests.yaml", "-r", "rules.yaml", "--pod-templates", "mutate"]
    assert run_cli(["diff", "--blame=always", *arguments]) == 1
    blamed = capsys.readouterr().out
    golden = HERE / "fields/blame.txt"
    if UPDATE:
        golden.write_text(blamed)
    assert blamed == golden.read_text()
    for blame in ([], ["--blame"]):  # no terminal here
        assert run_cli(["diff", *blame, *arguments]) == 1
        plain = capsys.readouterr().out
        assert plain == re.sub(r"  # .*", "", blamed)


def test_explaining_edits_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("manifests.yaml", "rules.yaml"):
        (tmp_path / name).write_bytes((HERE / "fields" / name).read_bytes())
    before: dict[str, Any] = {p.name: p.read_bytes() for p in tmp_path.iterdir()}
    monkeypatch.chdir(tmp_path)
    explain("fields", "web", capsys=capsys)
    assert {p.name: p.read_bytes() for p in tmp_path.iterdir()} == before


def sessions() -> list[tuple[str, str]]:
    """The commands of docs/explain.md with their output."""
    text = (ROOT / "docs/explain.md").read_text()
    blocks = re.findall(r"^```console\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    parts = [part for block in blocks for part in re.split(r"^\$ krm-fn ", block, flags=re.M)[1:]]
    return [(command, output) for command, _, output in (part.partition("\n") for part in parts)]


@pytest.mark.parametrize(("command", "output"), sessions())
def test_the_page_shows_what_the_command_prints(
    command: str,
    output: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("COLUMNS", "100")
    for _ in range(2):
        assert run_cli(shlex.split(command)) == 0
        assert capsys.readouterr().out == output
