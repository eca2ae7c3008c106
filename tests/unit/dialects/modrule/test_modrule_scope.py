from __future__ import annotations

import pytest
from modrule_support import namespace

from krm_fn.admission import Cluster, RuleRef
from krm_fn.dialects.modrule.rule import CompiledRule, compile_rule
from krm_fn.dialects.modrule.scope import IGNORE_LABEL, ModRuleScope, request_namespace
from krm_fn.dialects.modrule.spec import decode
from krm_fn.kube.resources import Resource
from krm_fn.wire import Head


def rule(home: str, regex: str | None = None) -> CompiledRule:
    spec = {
        "type": "Reject",
        "match": [{"select": "$.kind"}],
        "targetNamespaceRegex": regex,
    }
    made = compile_rule(RuleRef("modrule", "ModRule", home, "r"), decode(spec))
    assert isinstance(made, CompiledRule)
    return made


@pytest.mark.parametrize(
    ("home", "regex", "seen"),
    [
        ("web", None, ["web"]),
        ("web", ".*", ["web"]),
        ("", None, ["default"]),
        ("kubemod-system", None, ["", "kubemod-system"]),
        ("kubemod-system", "", ["", "kubemod-system"]),
        ("kubemod-system", ".*", ["", "web", "web-2", "default", "kubemod-system"]),
        ("kubemod-system", "^$", ["", "kubemod-system"]),
        ("kubemod-system", "web", ["web", "web-2", "kubemod-system"]),
        ("kubemod-system", "^web$", ["web", "kubemod-system"]),
        ("kubemod-system", "^nowhere$", ["kubemod-system"]),
    ],
)
def test_which_namespaces_a_rule_sees(home: str, regex: str | None, seen: list[str]) -> None:
    spaces = ["", "web", "web-2", "default", "kubemod-system"]
    assert [space for space in spaces if ModRuleScope().sees(rule(home, regex), space)] == seen


def test_the_namespace_of_cluster_rules_is_configured() -> None:
    scope = ModRuleScope(cluster_rules_namespace="platform")
    assert scope.sees(rule("platform", ".*"), "web")
    assert not scope.sees(rule("kubemod-system", ".*"), "web")


def test_a_rule_without_a_namespace_lives_in_the_default_namespace() -> None:
    assert ModRuleScope(default_namespace="web").sees(rule(""), "web")


@pytest.mark.parametrize(
    ("kind", "plural", "extra", "expected"),
    [
        ("Deployment", "deployments", [], True),
        ("Ingress", "ingresses", [], True),
        ("NetworkPolicy", "networkpolicies", [], False),
        ("NetworkPolicy", "networkpolicies", ["networkpolicies"], True),
        ("Widget", "widgets", ["networkpolicies"], False),
        ("Widget", "widgets", ["*"], True),
    ],
)
def test_the_webhook_is_called_for_21_resources_and_those_that_are_added(
    kind: str, plural: str, extra: list[str], expected: bool
) -> None:
    scope = ModRuleScope(target_resources=frozenset(extra))
    assert scope.is_target(kind, Resource(plural, True)) is expected


@pytest.mark.parametrize("name", ["kube-system", "kubemod-system"])
def test_system_namespaces_are_ignored_without_a_label(name: str) -> None:
    head = Head("v1", "ConfigMap", name, "x")
    assert ModRuleScope().is_ignored(head, name, {}, Cluster())
    assert not ModRuleScope(ignored_namespaces=frozenset()).is_ignored(head, name, {}, Cluster())


@pytest.mark.parametrize(("label", "ignored"), [("true", True), ("false", False), ("", False)])
def test_the_label_of_a_namespace_makes_it_ignored(label: str, ignored: bool) -> None:
    cluster = Cluster(namespaces={"web": namespace("web", **{IGNORE_LABEL: label})})
    assert (
        ModRuleScope().is_ignored(Head("v1", "ConfigMap", "web", "x"), "web", {}, cluster)
        is ignored
    )


def test_for_a_namespace_its_own_labels_and_name_count() -> None:
    labelled = namespace("web", **{IGNORE_LABEL: "true"})
    assert ModRuleScope().is_ignored(Head("v1", "Namespace", "", "web"), "web", labelled, Cluster())
    assert ModRuleScope().is_ignored(
        Head("v1", "Namespace", "", "kube-system"), "", namespace("kube-system"), Cluster()
    )


def test_what_is_cluster_scoped_is_never_ignored() -> None:
    assert not ModRuleScope().is_ignored(Head("v1", "Node", "", "n"), "", {}, Cluster())


def test_a_namespace_is_looked_up_as_cluster_scoped() -> None:
    assert request_namespace(Head("v1", "Namespace", "", "web"), "web") == ""
    assert request_namespace(Head("x.io/v1", "Namespace", "web", "x"), "web") == "web"
