"""Policies in a few words, and what becomes of an object under them; no test."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from krm_fn.admission import Cluster, Finding, Operation, Request, Rule, RuleRef, User
from krm_fn.admission.cluster import crds_by_kind
from krm_fn.config.fields import Section
from krm_fn.dialects.policies.common import TypesOnly
from krm_fn.dialects.policies.dialect import Policies
from krm_fn.dialects.policies.mutating import MutatingPolicies
from krm_fn.dialects.policies.validating import ValidatingPolicies, ValidationOutcome
from krm_fn.kube.schema import Schemas
from krm_fn.kube.served import Served
from krm_fn.values import Json, get
from krm_fn.wire import Head
from tests.compiling import compile_with

GROUP = "admissionregistration.k8s.io"
EVERYTHING: Json = {
    "apiGroups": ["*"],
    "apiVersions": ["*"],
    "operations": ["*"],
    "resources": ["*"],
}
SHOP: Json = {
    "apiVersion": "v1",
    "kind": "Namespace",
    "metadata": {"name": "shop", "labels": {"env": "prod"}},
}


class Denied(Exception):
    """The request was refused; `code` and `reason` are the status'."""

    def __init__(self, message: str, code: int, reason: str) -> None:
        super().__init__(message)
        self.code = code
        self.reason = reason


def manifest(kind: str, name: str, spec: Json) -> Json:
    return {
        "apiVersion": f"{GROUP}/v1",
        "kind": kind,
        "metadata": {"name": name},
        "spec": spec,
    }


def apply(expression: str) -> Json:
    return {"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": expression}}


def patch(expression: str) -> Json:
    return {"patchType": "JSONPatch", "jsonPatch": {"expression": expression}}


def mutating(*mutations: Json, name: str = "p", **spec: Any) -> Json:
    """A MutatingAdmissionPolicy about everything."""
    given = {
        "matchConstraints": {"resourceRules": [EVERYTHING]},
        "mutations": list(mutations),
        "reinvocationPolicy": "Never",
    }
    return manifest("MutatingAdmissionPolicy", name, {**given, **spec})


def validating(*validations: Json, name: str = "v", **spec: Any) -> Json:
    """A ValidatingAdmissionPolicy about everything."""
    given = {"matchConstraints": {"resourceRules": [EVERYTHING]}, "validations": list(validations)}
    return manifest("ValidatingAdmissionPolicy", name, {**given, **spec})


def binding(policy: Json, name: str = "", **spec: Any) -> Json:
    """The binding of a policy."""
    policy_name = policy["metadata"]["name"]
    given: Json = {"policyName": policy_name}
    if policy["kind"].startswith("Validating"):
        given["validationActions"] = ["Deny"]
    return manifest(f"{policy['kind']}Binding", name or policy_name, {**given, **spec})


def rule(value: Json) -> Rule:
    return Rule(RuleRef("policies", value["kind"], "", value["metadata"]["name"]), value)


def head_of(value: Json) -> Head:
    metadata = value.get("metadata") or {}
    names = (metadata.get("namespace", ""), metadata.get("name", ""))
    return Head(value["apiVersion"], value["kind"], *names)


def cluster_of(*objects: Json) -> Cluster:
    """What is known: these objects, and the namespace `shop`."""
    known = [SHOP, *objects]
    namespaces = {get(o, ("metadata", "name")): o for o in known if o["kind"] == "Namespace"}
    crds = crds_by_kind(known)
    described = Cluster(crds=crds)
    loaders: Any = {}
    for value in known:
        head = head_of(value)
        key = (head.group, head.kind, described.subject_of(head).namespace, head.name)
        loaders[key] = lambda value=value: value
    return Cluster(loaders, namespaces, crds)


def request_for(value: Json, cluster: Cluster, old: Json | None = None) -> Request:
    head = head_of(value)
    return Request(
        Operation.CREATE if old is None else Operation.UPDATE,
        head,
        cluster.resource_for(head.group, head.kind),
        cluster.subject_of(head).namespace,
        value,
        old,
        User(),
    )


def typed(value: Json) -> Json:
    return Served(Schemas()).typed(value)


def compiled(
    policies: Sequence[Json],
    bindings: Sequence[Json] | None,
    cluster: Cluster,
    section: Json | None = None,
    **options: Any,
) -> tuple[list[Any], tuple[Finding, ...]]:
    """The plugins of policies, each with a binding of its own unless some are given."""
    if bindings is None:
        bindings = [binding(policy) for policy in policies]
    given = {
        "bindings": list(map(rule, bindings)),
        "served": TypesOnly(Served(Schemas(), cluster.crd)),
        **options,
    }
    dialect = Policies(validate=given.pop("validate", False))
    own = Section(section or {}, "policies")
    made = compile_with(dialect, list(map(rule, policies)), cluster, own, **given)
    return list(made.plugins), made.findings


def mutate(
    policies: Json | Sequence[Json],
    live: Json,
    *,
    old: Json | None = None,
    known: Sequence[Json] = (),
    bindings: Sequence[Json] | None = None,
    section: Json | None = None,
) -> Json:
    """The typed object after both passes; raises Denied."""
    policies = [policies] if isinstance(policies, dict) else policies
    cluster = cluster_of(*known)
    (plugin,), _ = compiled(policies, bindings, cluster, section)
    assert isinstance(plugin, MutatingPolicies)
    request = request_for(typed(live), cluster, None if old is None else typed(old))
    outcome = plugin.evaluate(request, cluster)
    if outcome.denial is None and outcome.dirty:
        again = request_for(outcome.object, cluster, request.old_object)
        outcome = plugin.evaluate(again, cluster, frozenset(outcome.reinvocable))
    if outcome.denial is not None:
        denial = outcome.denial
        raise Denied(denial.message, denial.code, denial.reason)
    return outcome.object


def judge(
    policies: Json | Sequence[Json],
    live: Json,
    *,
    known: Sequence[Json] = (),
    bindings: Sequence[Json] | None = None,
    section: Json | None = None,
) -> ValidationOutcome:
    """What validating policies say of an object."""
    policies = [policies] if isinstance(policies, dict) else policies
    cluster = cluster_of(*known)
    (plugin,), _ = compiled(policies, bindings, cluster, section)
    assert isinstance(plugin, ValidatingPolicies)
    return plugin.evaluate(request_for(typed(live), cluster), cluster)


def deployment(
    *containers: Json, labels: Json | None = None, init: Sequence[Json] = (), **spec: Any
) -> Json:
    pod: Json = {"containers": list(containers)} if containers else {}
    if init:
        pod["initContainers"] = list(init)
    metadata: Json = {"name": "d", "namespace": "shop"}
    if labels is not None:
        metadata["labels"] = labels
    template = {**spec.pop("template", {}), "spec": {**pod, **spec.pop("pod", {})}}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": metadata,
        "spec": {"template": template, **spec},
    }


def config_map(data: Json | None = None, **metadata: Any) -> Json:
    value = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "settings", "namespace": "shop", **metadata},
    }
    return value if data is None else {**value, "data": data}
