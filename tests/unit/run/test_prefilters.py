"""Only objects that a rule could match are parsed: each dialect names them by their heads.

What was parsed is seen where objects are read from the text. The list holds one object of each kind
in each of two namespaces; `shop/*` is short for all of them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from krm_fn.config.options import Options, Paths
from krm_fn.run.admit import admit, stages_of
from krm_fn.values import equal
from krm_fn.wire import Item, read_stream
from krm_fn.wire.yamlstream import YamlStream

KINDS = [
    ("v1", "Pod"),
    ("v1", "ConfigMap"),
    ("v1", "Service"),
    ("apps/v1", "Deployment"),
    ("apps/v1", "StatefulSet"),
    ("example.com/v1", "Shop"),
]
BODY = {
    "Pod": "spec: {containers: [{name: c, image: i}]}\n",
    "Deployment": "spec: {replicas: 1}\n",
    "StatefulSet": "spec: {replicas: 1}\n",
}
MANIFESTS = "---\n".join(
    f"apiVersion: {version}\nkind: {kind}\nmetadata: {{name: x, namespace: {namespace}}}\n"
    + BODY.get(kind, "data: {}\n" if kind == "ConfigMap" else "spec: {}\n")
    for namespace in ("shop", "bank")
    for version, kind in KINDS
)
EVERY = [f"{namespace}/{kind}" for namespace in ("shop", "bank") for _, kind in KINDS]

MODRULE = """\
apiVersion: api.kubemod.io/v1beta1
kind: ModRule
metadata: {name: r, namespace: NAMESPACE}
spec:
  type: Patch
  targetNamespaceRegex: TARGET
  match: MATCH
  patch: [{op: add, path: /metadata/labels/a, value: b}]
"""


def modrule(match: str, namespace: str = "shop", target: str = '""') -> str:
    text = MODRULE.replace("NAMESPACE", namespace).replace("MATCH", match)
    return text.replace("TARGET", target)


def policy(kind: str, rules: str, more: str = "") -> str:
    body = (
        "validations: [{expression: 'true'}]"
        if kind.startswith("V")
        else "reinvocationPolicy: Never\n  mutations: [{patchType: JSONPatch, jsonPatch: "
        '{expression: \'[JSONPatch{op: "test", path: "/kind", value: object.kind}]\'}}]'
    )
    return (
        f"apiVersion: admissionregistration.k8s.io/v1\nkind: {kind}\nmetadata: {{name: p}}\n"
        f"spec:\n  matchConstraints: {{resourceRules: [{rules}]{more}}}\n  {body}\n"
        "---\n"
        f"apiVersion: admissionregistration.k8s.io/v1\nkind: {kind}Binding\n"
        "metadata: {name: p}\nspec: {policyName: p"
        + (", validationActions: [Deny]" if kind.startswith("V") else "")
        + "}\n"
    )


DEPLOYMENTS = "{apiGroups: [apps], apiVersions: [v1], operations: ['*'], resources: [deployments]}"
APPS = "{apiGroups: [apps], apiVersions: ['*'], operations: ['*'], resources: ['*']}"
ALL = "{apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], resources: ['*']}"

SIDECARSET = """\
apiVersion: apps.kruise.io/v1beta1
kind: SidecarSet
metadata: {name: s}
spec:
  NAMESPACE
  selector: {matchLabels: {app: x}}
  containers: [{name: side, image: i}]
"""
BANK = "namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: bank}}"
MESH = """\
apiVersion: supergloo.solo.io/v1
kind: Mesh
metadata: {name: m, namespace: supergloo-system}
spec:
  awsAppMesh:
    region: eu-central-1
    enableAutoInject: true
    virtualNodeLabel: node
    injectionSelector: {namespaceSelector: {namespaces: [shop]}}
"""

PODS = ["shop/Pod", "bank/Pod"]
CASES = {
    "a ModRule that names a kind": (
        modrule("[{select: $.kind, matchValue: Deployment}]"),
        ["shop/Deployment"],
    ),
    "a ModRule that names kinds": (
        modrule("[{select: $.kind, matchValues: [Service, Pod]}]"),
        ["shop/Pod", "shop/Service"],
    ),
    "a ModRule that names no kind": (
        modrule("[{select: $.spec}]"),
        ["shop/Pod", "shop/ConfigMap", "shop/Service", "shop/Deployment", "shop/StatefulSet"],
    ),
    "a cluster's ModRule": (
        modrule("[{select: $.kind, matchValue: Pod}]", "kubemod-system", "ba.*"),
        ["bank/Pod"],
    ),
    "a ValidatingAdmissionPolicy on one resource": (
        policy("ValidatingAdmissionPolicy", DEPLOYMENTS),
        ["shop/Deployment", "bank/Deployment"],
    ),
    "a ValidatingAdmissionPolicy on a group": (
        policy("ValidatingAdmissionPolicy", APPS),
        ["shop/Deployment", "shop/StatefulSet", "bank/Deployment", "bank/StatefulSet"],
    ),
    "a MutatingAdmissionPolicy on one resource": (
        policy("MutatingAdmissionPolicy", DEPLOYMENTS),
        ["shop/Deployment", "bank/Deployment"],
    ),
    "a policy on everything": (policy("ValidatingAdmissionPolicy", ALL), EVERY),
    "a SidecarSet": (SIDECARSET.replace("NAMESPACE", ""), PODS),
    "a SidecarSet of one namespace": (
        SIDECARSET.replace("NAMESPACE", BANK),
        ["bank/Pod"],
    ),
    # It names the Pod's Deployment in what it injects.
    "a Mesh": (MESH, [*PODS, "shop/Deployment", "bank/Deployment"]),
}


def parsed(rules: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The objects of the list whose text was parsed."""
    (folder / "rules.yaml").write_text(rules)
    monkeypatch.chdir(folder)
    stream = read_stream(MANIFESTS.encode())
    read: list[str] = []
    load = YamlStream.load

    def spy(self: YamlStream, item: Item) -> Any:
        if self is stream:
            read.append(f"{item.head.namespace}/{item.head.kind}")
        return load(self, item)

    monkeypatch.setattr(YamlStream, "load", spy)
    options = Options(rules=(Paths(("rules.yaml",), "rules"),))
    admit([stream], stages_of(options, [stream]))
    assert len(read) == len(set(read))
    return read


@pytest.mark.parametrize("name", CASES)
def test_only_what_a_rule_could_match_is_parsed(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rules, expected = CASES[name]
    assert sorted(parsed(rules, tmp_path, monkeypatch)) == sorted(expected)


def test_the_list_has_all_that_the_cases_speak_of() -> None:
    items = read_stream(MANIFESTS.encode()).items
    assert equal([f"{item.head.namespace}/{item.head.kind}" for item in items], EVERY)
