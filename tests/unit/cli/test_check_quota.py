"""`krm-fn check --quota`: a table of what the manifests would use of each quota."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from krm_fn.cli import main

MANIFESTS = """\
apiVersion: v1
kind: Namespace
metadata: {name: shop}
---
apiVersion: v1
kind: ResourceQuota
metadata: {name: team, namespace: shop}
spec: {hard: {pods: "3"}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: 4
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: nginx}]}
"""
TABLE = """\
NAMESPACE  QUOTA  RESOURCE  HARD  USED  WANTED  LEFT
shop       team   pods      3     -     4       -1    exceeded
                                        4             Deployment web (4 Pods)
"""


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def check(text: str, *arguments: str) -> Result:
    Path("m.yaml").write_text(text)
    arguments = ("check", "-f", "m.yaml", *arguments)
    return CliRunner().invoke(main, arguments, standalone_mode=False)


def test_the_pods_of_workloads_count_and_no_rule_is_needed() -> None:
    done = check(MANIFESTS, "--quota")
    assert done.stdout == TABLE
    assert "together the objects want pods=4" in done.stderr
    assert done.return_value == 0


def test_without_the_option_there_is_no_table() -> None:
    done = check(MANIFESTS, "--admission-plugins", "")
    assert done.stdout == ""
    assert "together" not in done.stderr


def test_without_a_quota_the_table_says_what_to_add() -> None:
    done = check(MANIFESTS.replace("kind: ResourceQuota", "kind: ConfigMap"), "--quota")
    assert done.stdout.startswith("no ResourceQuota is known")


def test_a_program_finds_the_figures_in_the_report() -> None:
    check(MANIFESTS, "--quota", "--report", "json=r.json")
    (quota,) = json.loads(Path("r.json").read_text())["quotas"]
    assert quota["wanted"] == "4"
    assert quota["exceeded"] is True
    assert quota["by"] == [{"amount": "4", "who": "Deployment web (4 Pods)"}]
