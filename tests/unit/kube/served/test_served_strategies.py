"""What the create strategy of a kind makes of an object, as validating rules see it."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from krm_fn.kube.schema import Schemas
from krm_fn.kube.served import Served
from krm_fn.values import get

USER = {"username": "jane", "uid": "1", "groups": ["dev"], "extra": {"scopes": ["a"]}}


def created(text: str, release: str = "1.37") -> Any:
    """An object as validating admission sees it, created by jane."""
    server = Served(Schemas(release), user=USER)
    return server.validating(server.form(yaml.safe_load(text), "shop").object)


def at(value: Any, path: str) -> Any:
    steps = (int(step) if step.isdecimal() else step for step in path.split("|"))
    return get(value, tuple(steps))


POD = "{apiVersion: v1, kind: Pod, metadata: {name: p%s}, spec: {containers: [{name: c}]%s}}"


@pytest.mark.parametrize(("release", "generation"), [("1.33", None), ("1.34", 1), ("1.37", 1)])
def test_a_pod_counts_generations_since_1_34(release: str, generation: int | None) -> None:
    assert created(POD % ("", ""), release)["metadata"].get("generation") == generation


@pytest.mark.parametrize(
    ("release", "quality"), [("1.33", "BestEffort"), ("1.34", "Guaranteed"), ("1.37", "Guaranteed")]
)
def test_a_pods_own_resources_decide_its_class_of_service(release: str, quality: str) -> None:
    resources = ", resources: {limits: {cpu: 1, memory: 1Gi}, requests: {cpu: 1, memory: 1Gi}}"
    assert at(created(POD % ("", resources), release), "status|qosClass") == quality


def test_an_app_armor_annotation_becomes_the_containers_field() -> None:
    annotation = ", annotations: {container.apparmor.security.beta.kubernetes.io/c: %s}"
    field = "spec|containers|0|securityContext|appArmorProfile"
    assert at(created(POD % (annotation % "runtime/default", "")), field) == {
        "type": "RuntimeDefault"
    }
    local = {"type": "Localhost", "localhostProfile": "x"}
    assert at(created(POD % (annotation % "localhost/x", "")), field) == local
    for text in ("localhost/", "nope", '"localhost/x "'):
        assert at(created(POD % (annotation % text, "")), field) is None


def test_an_annotation_that_says_what_the_pod_says_is_not_copied() -> None:
    annotation = (
        ", annotations: {container.apparmor.security.beta.kubernetes.io/c: runtime/default}"
    )
    context = ", securityContext: {appArmorProfile: {type: RuntimeDefault}}"
    value = created(POD % (annotation, context))
    assert at(value, "spec|containers|0|securityContext") is None


def test_label_keys_become_part_of_the_selector() -> None:
    term = "{topologyKey: z, labelSelector: {matchLabels: {a: b}}, matchLabelKeys: [v, none]}"
    spec = (
        f", affinity: {{podAffinity: {{requiredDuringSchedulingIgnoredDuringExecution: [{term}]}}}}"
    )
    value = created(POD % (", labels: {v: x}", spec))
    path = (
        "spec|affinity|podAffinity|requiredDuringSchedulingIgnoredDuringExecution|0|labelSelector"
    )
    wanted = [{"key": "v", "operator": "In", "values": ["x"]}]
    assert at(value, f"{path}|matchExpressions") == wanted


@pytest.mark.parametrize(("release", "merged"), [("1.33", False), ("1.34", True)])
def test_spread_constraints_take_label_keys_since_1_34(release: str, merged: bool) -> None:
    spec = (
        ", topologySpreadConstraints: [{maxSkew: 1, topologyKey: z, matchLabelKeys: [v],"
        " whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {a: b}}}]"
    )
    value = created(POD % (", labels: {v: x}", spec), release)
    expressions = at(value, "spec|topologySpreadConstraints|0|labelSelector|matchExpressions")
    assert (expressions is not None) == merged


CREATED = {
    "a Namespace has its finalizer": (
        "{apiVersion: v1, kind: Namespace, metadata: {name: n}}",
        "spec|finalizers",
        ["kubernetes"],
    ),
    "finalizers of its own stay": (
        "{apiVersion: v1, kind: Namespace, metadata: {name: n}, spec: {finalizers: [a/b]}}",
        "spec|finalizers",
        ["a/b", "kubernetes"],
    ),
    "a DaemonSet is of its first generation": (
        "{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: d}, spec: {template: {}}}",
        "metadata|annotations",
        {"deprecated.daemonset.template.generation": "1"},
    ),
    "a Job's Pods have its name": (
        "{apiVersion: batch/v1, kind: Job, metadata: {name: j}, spec: {template: {}}}",
        "spec|template|metadata|labels",
        {"job-name": "j", "batch.kubernetes.io/job-name": "j"},
    ),
    "not where the Job has its own selector": (
        "{apiVersion: batch/v1, kind: Job, metadata: {name: j},"
        " spec: {manualSelector: true, template: {}}}",
        "spec|template|metadata|labels",
        None,
    ),
    "a definition's written status is none": (
        "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: c},"
        " spec: {group: x.io, names: {kind: X, plural: xs}, scope: Cluster, versions:"
        " [{name: v1, served: true, storage: true}]}, status: {conditions: [{type: Established}],"
        " acceptedNames: {kind: X, plural: xs}, storedVersions: [v0]}}",
        "status",
        {
            "conditions": None,
            "acceptedNames": {"plural": "", "kind": ""},
            "storedVersions": ["v1"],
        },
    ),
    "a claim's source is its reference, too": (
        "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: c}, spec: {dataSource:"
        " {kind: PersistentVolumeClaim, name: a}}}",
        "spec|dataSourceRef",
        {"apiGroup": None, "kind": "PersistentVolumeClaim", "name": "a"},
    ),
    "and its reference is its source": (
        "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: c}, spec: {dataSourceRef:"
        " {apiGroup: x.io, kind: X, name: a}}}",
        "spec|dataSource",
        {"apiGroup": "x.io", "kind": "X", "name": "a"},
    ),
    "a reference into another namespace is dropped": (
        "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: c}, spec: {dataSourceRef:"
        " {apiGroup: x.io, kind: X, name: a, namespace: other}}}",
        "spec|dataSourceRef",
        None,
    ),
    "a source that is no volume's is dropped": (
        "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: c}, spec: {dataSource:"
        " {apiGroup: x.io, kind: X, name: a}}}",
        "spec|dataSource",
        None,
    ),
    "a ServiceAccount keeps the names of its secrets": (
        "{apiVersion: v1, kind: ServiceAccount, metadata: {name: s},"
        " secrets: [{name: a, namespace: b, kind: Secret}]}",
        "secrets",
        [{"name": "a"}],
    ),
    "a Node has no dynamic configuration": (
        "{apiVersion: v1, kind: Node, metadata: {name: n}, spec: {configSource: {configMap: {}}}}",
        "spec",
        {},
    ),
    "a signing request is of who asks": (
        "{apiVersion: certificates.k8s.io/v1, kind: CertificateSigningRequest, metadata: {name: c},"
        " spec: {request: YQ==, signerName: a/b, usages: [], username: root, uid: '0'}}",
        "spec|username",
        "jane",
    ),
    "with their groups": (
        "{apiVersion: certificates.k8s.io/v1, kind: CertificateSigningRequest, metadata: {name: c},"
        " spec: {request: YQ==, signerName: a/b, usages: [], groups: [system:masters]}}",
        "spec|groups",
        ["dev"],
    ),
    "an autoscaler of the first version loses its status in annotations": (
        "{apiVersion: autoscaling/v1, kind: HorizontalPodAutoscaler, metadata: {name: h,"
        " annotations: {autoscaling.alpha.kubernetes.io/conditions: "
        ' "[{\\"type\\":\\"A\\",\\"status\\":\\"True\\"}]"}},'
        " spec: {maxReplicas: 1, scaleTargetRef: {kind: D, name: d}}}",
        "metadata|annotations",
        None,
    ),
}


@pytest.mark.parametrize(("text", "path", "value"), CREATED.values(), ids=CREATED)
def test_a_created_object(text: str, path: str, value: Any) -> None:
    assert at(created(text), path) == value


@pytest.mark.parametrize(("release", "more"), [("1.32", ""), ("1.33", ',"Tolerance":null')])
def test_the_behavior_of_an_autoscaler_has_a_tolerance_since_1_33(release: str, more: str) -> None:
    annotation = "autoscaling.alpha.kubernetes.io/behavior"
    value = {
        "apiVersion": "autoscaling/v1",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "h", "annotations": {annotation: '{"ScaleUp":{}}'}},
        "spec": {"maxReplicas": 1, "scaleTargetRef": {"kind": "D", "name": "d"}},
    }
    shown = Served(Schemas(release)).form(value, "shop").object
    wanted = f'"StabilizationWindowSeconds":null,"SelectPolicy":null,"Policies":null{more}}}'
    assert wanted in shown["metadata"]["annotations"][annotation]
