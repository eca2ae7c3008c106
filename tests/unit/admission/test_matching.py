"""One matching for everyone: rules, scopes, names, selectors, equivalents, what nobody knows."""

from __future__ import annotations

from typing import Any

import pytest

from krm_fn.admission import Cluster, Operation, Request
from krm_fn.admission.cluster import crds_by_kind
from krm_fn.admission.matching import (
    MatchResult,
    ResourcePrefilter,
    match,
    may_match,
    only_pods,
    read_constraints,
)
from krm_fn.kube.selectors import SelectorError
from krm_fn.values import Json
from krm_fn.wire import Head

RACK = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "spec": {
        "group": "order.example",
        "scope": "Namespaced",
        "names": {"kind": "Rack", "plural": "racks"},
        "versions": [{"name": "v1", "served": True}, {"name": "v2", "served": True}],
    },
}


def rule(**changed: Any) -> Json:
    given = {
        "apiGroups": ["*"],
        "apiVersions": ["*"],
        "operations": ["*"],
        "resources": ["*"],
    }
    return {**given, **changed}


def cluster(*objects: Json) -> Cluster:
    namespaces = {o["metadata"]["name"]: o for o in objects if o["kind"] == "Namespace"}
    return Cluster(namespaces=namespaces, crds=crds_by_kind(objects))


def namespace(name: str, **labels: str) -> Json:
    return {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": name, "labels": labels},
    }


def ask(
    constraints: Json,
    known: Cluster | None = None,
    api_version: str = "apps/v1",
    kind: str = "Deployment",
    name: str = "web",
    labels: dict[str, Any] | None = None,
    **changed: Any,
) -> MatchResult:
    known = known or cluster()
    head = Head(api_version, kind, "shop", name)
    value = {"metadata": {"name": name, "labels": labels or {}}}
    resource = known.resource_for(head.group, kind)
    fields: dict[str, Any] = {
        "operation": Operation.CREATE,
        "namespace": "shop" if resource.namespaced else "",
        "object": value,
        **changed,
    }
    return match(
        read_constraints(constraints), Request(head=head, resource=resource, **fields), known
    )


@pytest.mark.parametrize(
    ("changed", "matches"),
    [
        ({}, True),
        ({"apiGroups": ["apps"], "resources": ["deployments"]}, True),
        ({"apiGroups": [""]}, False),
        ({"apiGroups": ["Apps"]}, False),
        ({"apiVersions": ["v1beta1"]}, False),
        ({"operations": ["UPDATE"]}, False),
        ({"operations": ["create"]}, False),
        ({"resources": ["deployments/*"]}, True),
        ({"resources": ["deployments/"]}, True),
        ({"resources": ["deployments/status"]}, False),
        ({"resources": ["*/status"]}, False),
        ({"resources": ["*/*"]}, True),
        ({"scope": "Namespaced"}, True),
        ({"scope": "Cluster"}, False),
        ({"scope": "Neither"}, False),
        ({"resourceNames": ["web"]}, True),
        ({"resourceNames": ["api"]}, False),
    ],
)
def test_a_rule_is_about_groups_versions_resources_operations_and_names(
    changed: Json, matches: bool
) -> None:
    assert (ask({"resourceRules": [rule(**changed)]}).matched is not None) == matches


def test_without_rules_everything_matches_as_itself() -> None:
    assert ask({}).matched == ("apps", "v1", "Deployment", "deployments")


def test_an_excluded_resource_does_not_match() -> None:
    given = {"resourceRules": [rule()], "excludeResourceRules": [rule(apiGroups=["apps"])]}
    assert ask(given) == MatchResult()
    assert ask(given, api_version="v1", kind="Pod").matched is not None


@pytest.mark.parametrize(("scope", "matches"), [("Namespaced", False), ("Cluster", True)])
def test_a_namespace_lives_in_none_though_its_request_has_its_name(
    scope: str, matches: bool
) -> None:
    given = {"resourceRules": [rule(scope=scope)]}
    found = ask(given, api_version="v1", kind="Namespace").matched
    assert (found is not None) == matches


def test_a_namespace_is_selected_by_its_own_labels() -> None:
    given = {"namespaceSelector": {"matchLabels": {"env": "prod"}}}
    made = {"api_version": "v1", "kind": "Namespace"}
    assert ask(given, labels={"env": "prod"}, **made).matched is not None
    assert ask(given, labels={"env": "dev"}, **made).matched is None


def test_no_namespace_selector_leaves_out_a_cluster_scoped_object() -> None:
    given = {"namespaceSelector": {"matchLabels": {"env": "prod"}}}
    role = {"api_version": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole"}
    assert ask(given, **role).matched is not None


def test_an_object_selector_takes_the_old_object_as_well() -> None:
    given = {"objectSelector": {"matchLabels": {"app": "web"}}}
    old = {"metadata": {"labels": {"app": "web"}}}
    assert ask(given).matched is None
    assert ask(given, old_object=old, operation=Operation.UPDATE).matched is not None


def test_the_labels_of_an_unknown_namespace_are_undecided() -> None:
    given = {"namespaceSelector": {"matchLabels": {"env": "prod"}}}
    answer = ask(given)
    assert answer.matched is None
    assert "namespace shop" in answer.undecided
    assert "env" in answer.undecided
    assert ask(given, cluster(namespace("shop", env="prod"))).matched is not None
    assert ask(given, cluster(namespace("shop"))) == MatchResult()


@pytest.mark.parametrize(("name", "matches"), [("shop", True), ("other", False)])
def test_the_name_of_an_unknown_namespace_is_known(name: str, matches: bool) -> None:
    given = {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": name}}}
    answer = ask(given)
    assert (answer.matched is not None, answer.undecided) == (matches, "")


def test_what_a_rule_leaves_out_is_never_undecided() -> None:
    given = {
        "namespaceSelector": {"matchLabels": {"env": "prod"}},
        "resourceRules": [rule(apiGroups=["batch"])],
    }
    assert ask(given) == MatchResult()


@pytest.mark.parametrize("which", ["namespaceSelector", "objectSelector"])
def test_a_wrong_selector_is_an_error_only_if_all_else_matches(which: str) -> None:
    wrong = {which: {"matchExpressions": [{"key": "env", "operator": "Near"}]}}
    with pytest.raises(SelectorError, match='"Near" is not a valid label selector operator'):
        ask(wrong)
    assert ask({**wrong, "resourceRules": [rule(apiGroups=["batch"])]}) == MatchResult()


def test_a_label_that_only_a_controller_sets_is_absent_from_a_template_and_says_so() -> None:
    expression = {"key": "pod-template-hash", "operator": "DoesNotExist"}
    given = {"objectSelector": {"matchExpressions": [expression]}}
    pod = {"api_version": "v1", "kind": "Pod"}
    assert ask(given, **pod) == MatchResult(("", "v1", "Pod", "pods"))
    answer = ask(given, workload=Head("apps/v1", "Deployment", "shop", "web"), **pod)
    assert answer.matched is not None
    assert "pod-template-hash" in answer.notes[0]


def test_a_match_that_hangs_on_a_label_of_a_controller_alone_says_so() -> None:
    given = {
        "objectSelector": {"matchLabels": {"pod-template-hash": "5d4f"}},
        "resourceRules": [rule(apiGroups=[""], resources=["pods"])],
    }
    template = {"workload": Head("apps/v1", "Deployment", "shop", "web"), "api_version": "v1"}
    answer = ask(given, kind="Pod", **template)
    assert answer.matched is None
    assert "a controller-added label (pod-template-hash)" in answer.notes[0]
    assert ask(given, kind="Service", **template) == MatchResult()


def test_a_label_that_is_no_text_is_none() -> None:
    given = {"objectSelector": {"matchLabels": {"app": "web"}}}
    assert ask(given, labels={"app": ["web"]}) == MatchResult()


def test_another_version_of_a_custom_kind_is_equivalent() -> None:
    given = {"resourceRules": [rule(apiGroups=["order.example"], apiVersions=["v2"])]}
    rack = {"api_version": "order.example/v1", "kind": "Rack"}
    assert ask(given, cluster(RACK), **rack).matched == ("order.example", "v2", "Rack", "racks")
    assert ask({**given, "matchPolicy": "Exact"}, cluster(RACK), **rack) == MatchResult()


def test_a_version_that_only_a_webhook_converts_to_is_undecided() -> None:
    given = {"resourceRules": [rule(apiGroups=["order.example"], apiVersions=["v2"])]}
    converted = {**RACK, "spec": {**RACK["spec"], "conversion": {"strategy": "Webhook"}}}  # type: ignore[dict-item]
    answer = ask(given, cluster(converted), api_version="order.example/v1", kind="Rack")
    assert answer.matched is None
    assert "convert order.example/v1" in answer.undecided


def test_another_version_of_a_built_in_kind_is_undecided() -> None:
    given = {"resourceRules": [rule(apiGroups=["autoscaling"], apiVersions=["v1"])]}
    answer = ask(given, api_version="autoscaling/v2", kind="HorizontalPodAutoscaler")
    assert answer.matched is None
    assert "horizontalpodautoscalers of autoscaling/v1" in answer.undecided


def test_an_exact_match_is_preferred_to_an_equivalent_one() -> None:
    given = {"resourceRules": [rule(apiVersions=["v2"]), rule(apiVersions=["v1"])]}
    found = ask(given, cluster(RACK), api_version="order.example/v1", kind="Rack").matched
    assert found is not None
    assert found.version == "v1"


@pytest.mark.parametrize(
    ("changed", "api_version", "kind", "name", "wanted"),
    [
        ({"resources": ["deployments"]}, "apps/v1", "Deployment", "web", True),
        ({"resources": ["deployments"]}, "v1", "Pod", "web", False),
        ({"resources": ["*"], "scope": "Cluster"}, "v1", "Pod", "web", False),
        ({"resources": ["*"], "scope": "Cluster"}, "v1", "Namespace", "web", True),
        ({"apiVersions": ["v1beta1"]}, "apps/v1", "Deployment", "web", True),
        ({"resourceNames": ["api"]}, "apps/v1", "Deployment", "web", False),
    ],
)
def test_a_head_tells_what_could_never_match(
    changed: Json, api_version: str, kind: str, name: str, wanted: bool
) -> None:
    given = read_constraints({"resourceRules": [rule(**changed)]})
    head = Head(api_version, kind, "shop", name)
    assert ResourcePrefilter([given], cluster()).wants(head, "shop") == wanted
    assert may_match(given, head, cluster()) == wanted


def test_rules_that_name_pods_alone_match_pods_alone() -> None:
    assert only_pods(read_constraints({"resourceRules": [rule(resources=["pods", "pods/exec"])]}))
    assert not only_pods(read_constraints({"resourceRules": [rule(resources=["*"])]}))
    assert not only_pods(read_constraints({}))
