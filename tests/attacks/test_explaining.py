"""Explanations quote what authors wrote: nothing of it may pass for the program's own words."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from krm_fn.cli import run as run_cli

FORGED = "web\n::error::forged\x1b[2J\u202e"
RULES = """\
apiVersion: api.kubemod.io/v1beta1
kind: ModRule
metadata: {name: r, namespace: shop}
spec:
  type: Patch
  match:
  - {select: '$.metadata.labels.app', matchRegex: '^x'}
  - {select: '$.data.token', matchValue: other}
  patch: [{op: add, path: /metadata/labels/a, value: b}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: p}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: ["*"]}]
  matchConditions: [{name: c, expression: "has(object.data) && 'token' in object.data"}]
  validations: [{expression: "object.data.token == object.metadata.labels.app"}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: p}
spec: {policyName: p, validationActions: [Deny]}
"""


@pytest.mark.parametrize(
    "arguments",
    [[], ["-v"], ["--rule", "r"], ["--rule", "p"], ["--changes"], ["--field", "metadata.labels"]],
)
@pytest.mark.parametrize("output", ["text", "json"])
def test_what_an_author_wrote_stays_text_on_one_line(
    arguments: list[str],
    output: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    manifest = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": FORGED, "namespace": "shop", "labels": {"app": FORGED}},
        "data": {"token": "Y29ycmVjdC1ob3JzZS1iYXR0ZXJ5"},
    }
    (tmp_path / "manifests.json").write_text(json.dumps(manifest))
    (tmp_path / "rules.yaml").write_text(RULES)
    monkeypatch.chdir(tmp_path)
    status = run_cli(
        ["explain", *arguments, "-o", output, "-f", "manifests.json", "-r", "rules.yaml"]
    )
    captured = capsys.readouterr()
    text = captured.out + captured.err
    assert status == 0, text
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert not any(line.lstrip().startswith("::error") for line in text.splitlines())
    assert "Y29ycmVjdC1ob3JzZS1iYXR0ZXJ5" not in text
    assert "correct-horse" not in text
