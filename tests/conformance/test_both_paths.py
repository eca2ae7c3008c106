"""The quick ways of reading and the reference path print the same: rule vectors, real packages.

Each vector's object is laid out as YAML among others, its rules stand in the functionConfig, and
the function runs twice, once with `KRM_FN_WIRE` set. What it prints and says is the same.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from krm_fn.run.function import Done, run
from krm_fn.wire import yamlstream
from krm_fn.wire.fast.scan import quick_scan
from krm_fn.wire.reading import SWITCH

HERE = Path(__file__).parent
VECTORS = [
    json.loads(line)
    for line in (HERE / "modrule" / "rules.jsonl").read_bytes().split(b"\n")
    if line
]
HEAD = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n"
OTHER = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "beside", "namespace": "shop"},
    "data": {"script": "set -eu\n- kind: Pod\necho 'done\n", "quoted": "it's\n\n"},
}


class Literals(yaml.SafeDumper):
    """Writes text of several lines as people do."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _text(dumper: yaml.SafeDumper, value: str) -> yaml.Node:
    style = "|" if "\n" in value and "\t" not in value else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)


Literals.add_representer(str, _text)


def dump(value: Any) -> str:
    text: str = yaml.dump(value, Dumper=Literals, sort_keys=False, allow_unicode=True, width=10**6)
    return text


def as_list(case: dict[str, Any]) -> bytes:
    """The case's object between two others, and its rules."""
    config = {
        "apiVersion": "krm-fn.dev/v1alpha1",
        "kind": "Admission",
        "metadata": {"name": "a"},
        "spec": {
            "onRuleError": "AsCluster",
            "modRules": {"seed": "s", "clock": "2024-01-01T00:00:00Z"},
            "rules": [{"inline": text} for text in case["rules"]],
        },
    }
    items = dump([OTHER, case["object"], {**OTHER, "kind": "Secret", "stringData": {"a": "b"}}])
    return (HEAD + items + dump({"functionConfig": config})).encode()


def both(data: bytes, monkeypatch: pytest.MonkeyPatch) -> tuple[Done, Done]:
    """The function run on a list, by the quick ways and without them."""
    monkeypatch.setattr(yamlstream, "WORTH_IT", 0)
    monkeypatch.setenv(SWITCH, "")
    quick = run(data, {})
    monkeypatch.setenv(SWITCH, "reference")
    return quick, run(data, {})


@pytest.mark.parametrize("area", sorted({case["area"] for case in VECTORS}))
def test_rules_print_the_same_bytes_by_both_paths(
    area: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for case in VECTORS:
        if case["area"] == area:
            quick, reference = both(as_list(case), monkeypatch)
            assert quick == reference, case["id"]


def test_the_lists_of_the_vectors_are_split_by_their_lines() -> None:
    split = sum(quick_scan(as_list(case).decode()) is not None for case in VECTORS)
    assert split >= 0.9 * len(VECTORS)


FIXTURES = HERE.parents[2] / "shared" / "fixtures"
LABEL = """\
apiVersion: api.kubemod.io/v1beta1
kind: ModRule
metadata: {name: label, namespace: kubemod-system}
spec:
  type: Patch
  targetNamespaceRegex: .*
  match: [{select: $.metadata.name}]
  patch:
  - {op: add, path: /metadata/labels/team, value: platform}
  - {op: remove, path: /metadata/annotations}
"""


@pytest.mark.parametrize("name", ["argo-cd", "cert-manager", "kpt-ingress-nginx", "kpt-wordpress"])
def test_real_packages_print_the_same_bytes_by_both_paths(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = FIXTURES / name
    if not folder.is_dir():
        pytest.skip("no fixtures beside the repository")
    items: list[str] = []
    for path in sorted(folder.rglob("*.yaml")):
        for document in ("\n" + path.read_text()).split("\n---"):
            lines = document.strip("\n").split("\n")
            if any(line.startswith("kind:") for line in lines):
                indented = [f"  {line}" if line.strip() else line for line in lines]
                first = next(n for n, x in enumerate(indented) if x.strip() and x.strip()[0] != "#")
                indented[first] = "- " + indented[first][2:]
                items.append("\n".join(indented) + "\n")
    config = {
        "apiVersion": "krm-fn.dev/v1alpha1",
        "kind": "Admission",
        "metadata": {"name": "a"},
        "spec": {"rules": [{"inline": LABEL}], "modRules": {"targetResources": ["*"]}},
    }
    text = HEAD + "".join(items) + dump({"functionConfig": config})
    assert quick_scan(text) is not None
    quick, reference = both(text.encode(), monkeypatch)
    assert quick == reference
    assert quick.status == 0, quick.stderr
    assert quick.stdout != text.encode()
