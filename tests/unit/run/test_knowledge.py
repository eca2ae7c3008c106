"""What rules know of other objects: as a cluster holds them, wherever they were given."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml

from krm_fn.config.options import Context, Options
from krm_fn.config.sources import RuleSet, Stage
from krm_fn.run.function import run
from krm_fn.run.knowledge import knowledge_of
from krm_fn.wire import read_stream

Json = dict[str, Any]

POD: Json = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "web", "namespace": "shop"},
    "spec": {"containers": [{"name": "app", "image": "app:1"}]},
}
DEFINITION: Json = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "limits.x.example.com"},
    "spec": {
        "group": "x.example.com",
        "names": {"kind": "Limit", "plural": "limits"},
        "scope": "Cluster",
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "properties": {"pods": {"type": "string", "default": "no"}},
                    }
                },
            }
        ],
    },
}
PARAM: Json = {"apiVersion": "x.example.com/v1", "kind": "Limit", "metadata": {"name": "limits"}}
POLICY = """\
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: limited}
spec:
  paramKind: {apiVersion: x.example.com/v1, kind: Limit}
  matchConstraints:
    resourceRules:
    - {apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}
  validations: [{expression: "params.pods == 'yes'", message: no Pods here}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: limited}
spec:
  policyName: limited
  validationActions: [Deny]
  paramRef: {name: limits, parameterNotFoundAction: Allow}
"""
PLACES = ["items", "context", "rules"]


@pytest.mark.parametrize("param", PLACES)
@pytest.mark.parametrize("definition", PLACES)
def test_a_param_of_a_cluster_scoped_custom_kind_is_found_wherever_both_are(
    definition: str, param: str
) -> None:
    """With parameterNotFoundAction: Allow, one that is not found admits silently."""
    given: dict[str, list[Json]] = {"items": [POD], "context": [], "rules": []}
    given[definition].append(DEFINITION)
    given[param].append(PARAM)
    rules = "---\n".join([POLICY, *map(yaml.safe_dump, given["rules"])])
    spec = {"rules": [{"inline": rules}], "context": {"objects": given["context"]}}
    config = {"apiVersion": "krm-fn.dev/v1alpha1", "kind": "Admission", "spec": spec}
    resource_list = {
        "apiVersion": "config.kubernetes.io/v1",
        "kind": "ResourceList",
        "functionConfig": config,
        "items": given["items"],
    }
    done = run(json.dumps(resource_list).encode(), {})
    assert done.status == 1
    assert "no Pods here" in done.stderr


def cluster(*items: Json, objects: tuple[Json, ...] = ()) -> Any:
    stream = read_stream(yaml.safe_dump_all(items).encode())
    options = Options(context=Context(objects=objects, default_namespace="shop"))
    return knowledge_of(stream.items, [Stage(options, RuleSet())]).cluster


def test_an_object_among_the_items_is_there_as_it_would_be_stored() -> None:
    service = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s"}, "spec": {}}
    stored = cluster(service).get("", "Service", "shop", "s")
    assert stored["metadata"] == {"name": "s", "namespace": "shop"}
    assert stored["spec"]["type"] == "ClusterIP"
    assert list(cluster(service).list("", "Service", "shop")) == [stored]


def test_an_object_of_the_context_keeps_what_the_cluster_gave_it() -> None:
    node = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": "n", "uid": "u", "resourceVersion": "7"},
        "status": {"phase": "Running"},
    }
    stored = cluster(objects=(node,)).get("", "Node", "", "n")
    assert stored["metadata"] == node["metadata"]
    assert stored["status"]["phase"] == "Running"


def test_a_known_namespace_is_one_that_was_created() -> None:
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}}
    for known in (cluster(namespace), cluster(objects=(namespace,))):
        value = known.namespace("shop").object
        assert value["spec"] == {"finalizers": ["kubernetes"]}
        assert value["status"] == {"phase": "Active"}
        assert value["metadata"]["labels"] == {"kubernetes.io/metadata.name": "shop"}


def test_what_cannot_be_decoded_is_there_as_it_is_written() -> None:
    service = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s"}, "spec": "x"}
    assert cluster(service).get("", "Service", "shop", "s")["spec"] == "x"


def warnings(*items: Json, **context: Any) -> list[str]:
    rule = """\
apiVersion: api.kubemod.io/v1beta1
kind: ModRule
metadata: {name: r, namespace: shop}
spec:
  type: Reject
  match: [{select: $.kind, matchValue: Pod}, {select: $.metadata.name, matchValue: x}]
"""
    config = {
        "apiVersion": "krm-fn.dev/v1alpha1",
        "kind": "Admission",
        "spec": {"rules": [{"inline": rule}], "context": context},
    }
    resource_list = {
        "apiVersion": "config.kubernetes.io/v1",
        "kind": "ResourceList",
        "functionConfig": config,
        "items": [POD, *items],
    }
    done = run(json.dumps(resource_list).encode(), {})
    assert done.status == 0
    return [line for line in done.stderr.splitlines() if line.startswith("warning")]


def of(api_version: str, kind: str) -> Json:
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": "a", "namespace": "shop"}}


NOT_SERVED = [
    ("extensions/v1beta1", "Deployment", "apps/v1"),
    ("apps/v1beta2", "Deployment", "apps/v1"),
    ("extensions/v1beta1", "Ingress", "networking.k8s.io/v1"),
    ("batch/v1beta1", "CronJob", "batch/v1"),
]


@pytest.mark.parametrize(("api_version", "kind", "served"), NOT_SERVED)
def test_a_kind_of_a_version_that_is_not_served_is_told(
    api_version: str, kind: str, served: str
) -> None:
    (warning,) = warnings(of(api_version, kind), of(api_version, kind))
    assert f"{kind} shop/a" in warning
    assert f"(2 objects): Kubernetes 1.37 has no {kind} of {api_version}" in warning
    assert warning.endswith(f"; write {served}")


def test_a_version_is_looked_for_in_the_release_at_hand() -> None:
    claim = of("resource.k8s.io/v1", "ResourceClaim")
    assert warnings(claim) == []
    (warning,) = warnings(claim, kubernetesVersion="1.32")
    assert "Kubernetes 1.32 has no ResourceClaim of resource.k8s.io/v1" in warning


def test_custom_kinds_are_no_concern_of_kubernetes() -> None:
    assert warnings(of("x.example.com/v1", "Deployment")) == []
