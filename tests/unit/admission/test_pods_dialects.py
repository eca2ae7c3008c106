"""Every dialect on the template of a workload: changed, previewed, refused, and stable."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from kw_support import wat
from pods_support import (
    ANNOTATION,
    APP,
    CONTAINERS,
    DEPLOYMENT,
    ENVOY,
    LOGTAIL,
    MESH,
    MOD_RULE,
    MUTATING_POLICY,
    SIDECAR_SET,
    TEMPLATE,
    documents,
    run,
    said,
)

from krm_fn.admission import Cause
from krm_fn.admission.pods import template_of
from krm_fn.config.options import from_document
from krm_fn.run.show import show
from krm_fn.values import Json, get, with_at
from krm_fn.wire import read_stream
from krm_fn.wire.stream import head_of


def kubewarden(name: str, **spec: Any) -> list[Json]:
    pods = {"apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"]}
    rules = [{**pods, "operations": ["CREATE"]}]
    return [
        {
            "apiVersion": "policies.kubewarden.io/v1",
            "kind": "ClusterAdmissionPolicy",
            "metadata": {"name": name},
            "spec": {"module": f"file://{name}.wasm", "mutating": True, "rules": rules, **spec},
        }
    ]


CHANGES: dict[str, tuple[list[Json], tuple[str, ...], Any]] = {
    "ModRule": (MOD_RULE, ANNOTATION, "yes"),
    "MutatingAdmissionPolicy": (MUTATING_POLICY, ANNOTATION, "yes"),
    "SidecarSet": (SIDECAR_SET, CONTAINERS, [APP, LOGTAIL]),
    "Mesh": (MESH, CONTAINERS, [APP, ENVOY]),
    "ClusterAdmissionPolicy": (kubewarden("mutate"), ANNOTATION, "yes"),
}
"""What changes a template's Pod: the rules, where, and what is there afterwards."""

DENIALS: dict[str, tuple[list[Json], str]] = {
    "ModRule": (
        documents("""
apiVersion: api.kubemod.io/v1beta1
kind: ModRule
metadata: {name: rule, namespace: shop}
spec:
  type: Reject
  match:
  - {select: $.kind, matchValue: Pod}
  rejectMessage: not today
"""),
        "not today",
    ),
    "ValidatingAdmissionPolicy": (
        documents("""
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: policy}
spec:
  matchConstraints:
    resourceRules:
    - {apiGroups: [''], apiVersions: [v1], operations: [CREATE], resources: [pods]}
  validations:
  - {expression: 'object.spec.containers.size() > 1', message: not today}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: binding}
spec: {policyName: policy, validationActions: [Deny]}
"""),
        "not today",
    ),
    "MutatingAdmissionPolicy": (
        [
            with_at(
                MUTATING_POLICY[0],
                ("spec", "mutations"),
                [
                    {
                        "patchType": "JSONPatch",
                        "jsonPatch": {
                            "expression": '[JSONPatch{op: "remove", path: "/spec/nothing"}]'
                        },
                    }
                ],
            ),
            MUTATING_POLICY[1],
        ],
        "/spec/nothing",
    ),
    "SidecarSet": (
        [
            with_at(
                SIDECAR_SET[0],
                ("spec", "patchPodMetadata"),
                [{"annotations": {"given": "{}"}, "patchPolicy": "MergePatchJson"}],
            )
        ],
        "annotation given: Invalid JSON Document",
    ),
    "Mesh": (
        [with_at(MESH[0], ("spec", "awsAppMesh", "virtualNodeLabel"), "absent"), MESH[1]],
        "pod is missing required virtual node label absent",
    ),
    "ClusterAdmissionPolicy": (kubewarden("reject"), "not today"),
}
"""What refuses a template's Pod: the rules, and what they say."""

dialects = pytest.mark.parametrize("kind", CHANGES)
refusing = pytest.mark.parametrize("kind", DENIALS)


# Modules of Kubewarden


def _guest(answer: Json) -> bytes:
    """A module that gives the same answer to every request."""
    text = json.dumps(answer)
    quoted = "".join(f"\\{byte:02x}" for byte in text.encode())
    code: bytes = wat(f"""(module
      (import "wapc" "__guest_request" (func $request (param i32 i32)))
      (import "wapc" "__guest_response" (func $response (param i32 i32)))
      (memory (export "memory") 2)
      (data (i32.const 1024) "{quoted}")
      (data (i32.const 65536) "{{\\22valid\\22:true}}")
      (func (export "__guest_call") (param $op i32) (param $len i32) (result i32)
        (if (i32.eq (local.get $op) (i32.const 17))
          (then (call $response (i32.const 65536) (i32.const 14)))
          (else (call $response (i32.const 1024) (i32.const {len(text)}))))
        (i32.const 1)))""")
    name = b"io.kubewarden.metadata"
    about = {
        "protocolVersion": "v1",
        "rules": [],
        "mutating": True,
        "executionMode": "kubewarden-wapc",
    }
    section = _leb(len(name)) + name + json.dumps(about).encode()
    return bytes(code) + b"\0" + _leb(len(section)) + section


def _leb(number: int) -> bytes:
    low = number & 0x7F
    return bytes([low]) if number < 0x80 else bytes([low | 0x80]) + _leb(number >> 7)


def _pod_as_served() -> Json:
    """The Pod of the Deployment's template as rules see it."""
    value = yaml.safe_load(DEPLOYMENT)
    template = template_of(head_of(value), value, "shop", TEMPLATE)
    assert template is not None
    document = {"apiVersion": "krm-fn.dev/v1alpha1", "kind": "Admission", "spec": {}}
    [pod], _ = show(
        [read_stream(yaml.safe_dump(template.pod).encode())], from_document(document, "test")
    )
    return pod


@pytest.fixture(autouse=True)
def _modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    changed = with_at(_pod_as_served(), ANNOTATION, "yes")
    Path("mutate.wasm").write_bytes(_guest({"accepted": True, "mutated_object": changed}))
    Path("reject.wasm").write_bytes(_guest({"accepted": False, "message": "not today"}))


# What each dialect does


@dialects
def test_the_template_changes_and_nothing_else(kind: str) -> None:
    rules, path, expected = CHANGES[kind]
    text, report = run(DEPLOYMENT, rules)
    assert not report.denied
    before = yaml.safe_load(DEPLOYMENT)
    assert yaml.safe_load(text) == with_at(before, (*TEMPLATE, *path), expected)
    assert "- name: app   # the application" in text
    changes = [change for entry in report.objects for change in entry.changes]
    assert {change.path[:2] for change in changes} == {TEMPLATE}
    assert {rule.kind for change in changes for rule in change.rules} == {kind}


@dialects
def test_a_preview_shows_the_change_and_the_workload_stays(kind: str) -> None:
    rules, path, expected = CHANGES[kind]
    text, report = run(DEPLOYMENT, rules, "Preview")
    assert not report.denied
    assert text.startswith(DEPLOYMENT)
    _, pod = documents(text)
    assert pod["metadata"]["name"] == "web-deployment-pod"
    assert get(pod, path) == expected


@dialects
@pytest.mark.parametrize("templates", ["Mutate", "Preview"])
def test_the_output_is_stable(kind: str, templates: str) -> None:
    rules = CHANGES[kind][0]
    once, report = run(DEPLOYMENT, rules, templates, idempotency="Fail")
    assert not report.denied
    again, report = run(once, rules, templates, idempotency="Fail")
    assert again == once
    assert not any(entry.changes for entry in report.objects)


@dialects
def test_templates_are_left_where_nobody_asks_and_one_warning_names_them(kind: str) -> None:
    rules = CHANGES[kind][0]
    text, report = run(DEPLOYMENT, rules, "Ignore")
    assert text == DEPLOYMENT
    [warning] = said(report, Cause.WARNING)
    assert "templates of Pods stay as they are (1: Deployment web)" in warning
    assert "--pod-templates mutate or preview" in warning


@refusing
@pytest.mark.parametrize("templates", ["Mutate", "Preview"])
def test_a_denial_of_the_pod_rejects_the_workload(kind: str, templates: str) -> None:
    rules, message = DENIALS[kind]
    text, report = run(DEPLOYMENT, rules, templates)
    assert report.denied
    denials = [f for entry in report.objects for f in entry.findings if f.denies]
    assert [message in f.message for f in denials] == [True]
    assert (denials[0].field or ())[:2] == TEMPLATE
    assert text.startswith(DEPLOYMENT)


@refusing
def test_a_workload_whose_pod_is_denied_can_be_dropped(kind: str) -> None:
    other = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: other, namespace: shop}\n"
    given = f"{DEPLOYMENT}---\n{other}"
    for templates in ("Mutate", "Preview"):
        text, report = run(given, DENIALS[kind][0], templates, onReject="Drop")
        assert not report.denied
        assert [value["kind"] for value in documents(text)] == ["ConfigMap"]


def test_all_dialects_together_apply_in_the_order_of_a_cluster_and_are_stable() -> None:
    kinds = ("Mesh", "ModRule", "SidecarSet", "MutatingAdmissionPolicy")
    rules = [rule for kind in kinds for rule in CHANGES[kind][0]]
    once, report = run(DEPLOYMENT, rules, idempotency="Fail")
    assert not report.denied
    template = get(yaml.safe_load(once), TEMPLATE)
    assert get(template, CONTAINERS) == [APP, LOGTAIL, ENVOY]
    assert get(template, ANNOTATION) == "yes"
    assert run(once, rules, idempotency="Fail")[0] == once


# Labels that only controllers set

_HASH = "pod-template-hash"
_BY_HASH = {"matchLabels": {"app": "web", _HASH: "5d4f"}}
CONTROLLERS: dict[str, list[Json]] = {
    "ModRule": [
        with_at(
            MOD_RULE[0],
            ("spec", "match", 1),
            {"select": f'$.metadata.labels["{_HASH}"]', "matchValue": "5d4f"},
        )
    ],
    "MutatingAdmissionPolicy": [
        with_at(MUTATING_POLICY[0], ("spec", "matchConstraints", "objectSelector"), _BY_HASH),
        MUTATING_POLICY[1],
    ],
    "SidecarSet": [with_at(SIDECAR_SET[0], ("spec", "selector"), _BY_HASH)],
    "Mesh": [
        with_at(
            MESH[0],
            ("spec", "awsAppMesh", "injectionSelector", "labelSelector", "labelsToMatch"),
            _BY_HASH["matchLabels"],
        ),
        MESH[1],
    ],
    "ClusterAdmissionPolicy": kubewarden("mutate", objectSelector=_BY_HASH),
}
"""Rules that ask for a label which no template has."""


@pytest.mark.parametrize("kind", CONTROLLERS)
def test_a_controller_added_label_is_taken_for_absent_with_a_warning(kind: str) -> None:
    text, report = run(DEPLOYMENT, CONTROLLERS[kind])
    assert text == DEPLOYMENT
    [warning] = said(report, Cause.WARNING)
    assert f"a controller-added label ({_HASH})" in warning


@pytest.mark.parametrize("kind", CONTROLLERS)
def test_no_warning_is_due_where_something_else_decides(kind: str) -> None:
    if kind == "ModRule":
        rules = [
            with_at(
                CONTROLLERS[kind][0],
                ("spec", "match", 0),
                {"select": "$.metadata.labels.app", "matchValue": "web"},
            )
        ]
    else:
        rules = CONTROLLERS[kind]
    _, report = run(DEPLOYMENT.replace("app: web, node", "app: shop, node"), rules)
    assert said(report, Cause.WARNING) == []


@pytest.mark.parametrize("kind", CONTROLLERS)
def test_a_template_that_has_the_label_itself_is_decided_by_it(kind: str) -> None:
    labelled = DEPLOYMENT.replace("node: vn", f"node: vn, {_HASH}: other")
    text, report = run(labelled, CONTROLLERS[kind])
    assert text == labelled
    assert said(report, Cause.WARNING) == []


@pytest.mark.parametrize("templates", ["Mutate", "Preview"])
def test_what_nobody_knows_is_told_once_and_not_for_each_template(templates: str) -> None:
    unknown = with_at(
        SIDECAR_SET[0], ("spec", "namespaceSelector"), {"matchLabels": {"team": "blue"}}
    )
    two = f"{DEPLOYMENT}---\n{DEPLOYMENT.replace('name: web', 'name: api', 1)}"
    _, report = run(two, [unknown], templates)
    [message] = said(report, Cause.UNDECIDED)
    assert "the labels of namespace shop are not known" in message
