"""Which rules are asked about which objects, by namespace and kind; nothing here looks inside.

A rule sees the objects of its own namespace. One in the namespace for cluster rules
(`kubemod-system`) sees cluster-scoped objects, or the namespaces that its regular expression finds.
Source: KubeMod core/modrulestore.go and its webhook configuration; the ModRule specification,
section 4.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from krm_fn.admission import Cluster
from krm_fn.dialects.modrule.chance import Chance
from krm_fn.dialects.modrule.rule import CompiledRule
from krm_fn.kube.resources import Resource
from krm_fn.kube.wellknown import DEFAULT_NAMESPACE
from krm_fn.values import Json, get
from krm_fn.wire import Head

TARGET_KINDS: Final = frozenset(
    (
        "Namespace",
        "Node",
        "ConfigMap",
        "PersistentVolumeClaim",
        "PersistentVolume",
        "Secret",
        "Service",
        "DaemonSet",
        "Deployment",
        "ReplicaSet",
        "StatefulSet",
        "HorizontalPodAutoscaler",
        "Ingress",
        "Pod",
        "CronJob",
        "Job",
        "ServiceAccount",
        "ClusterRoleBinding",
        "ClusterRole",
        "RoleBinding",
        "Role",
    )
)
"""The kinds of the 21 resources that KubeMod's webhook is registered for, in any group.

A custom resource that has one of these plurals has the kind, too, as everybody names them.
"""

IGNORE_LABEL: Final = "admission.kubemod.io/ignore"


class ModRuleScope(NamedTuple):
    """Where rules apply: the section `modRules` of the configuration."""

    cluster_rules_namespace: str = "kubemod-system"
    default_namespace: str = DEFAULT_NAMESPACE
    target_resources: frozenset[str] = frozenset()
    """Plurals beyond the 21; `*` is all."""
    ignored_namespaces: frozenset[str] = frozenset({"kube-system", "kubemod-system"})
    chance: Chance = Chance()
    """What templates may take for time and chance."""

    def is_target(self, kind: str, resource: Resource) -> bool:
        """Whether the webhook is called for a kind."""
        if kind in TARGET_KINDS or "*" in self.target_resources:
            return True
        return resource.plural in self.target_resources

    def is_ignored(self, head: Head, namespace: str, value: Json, cluster: Cluster) -> bool:
        """Whether the webhook's namespaceSelector leaves an object out.

        For a Namespace its own labels count, for other cluster-scoped kinds none.
        """
        if (head.group, head.kind) == ("", "Namespace"):
            if head.name in self.ignored_namespaces:
                return True
            return bool(get(value, ("metadata", "labels", IGNORE_LABEL)) == "true")
        if not namespace:
            return False
        if namespace in self.ignored_namespaces:
            return True
        return cluster.namespace(namespace).labels.get(IGNORE_LABEL) == "true"

    def namespace_of(self, rule: CompiledRule) -> str:
        """The namespace that a rule lives in."""
        return rule.ref.namespace or self.default_namespace

    def sees(self, rule: CompiledRule, namespace: str) -> bool:
        """Whether a rule is a candidate for objects of a namespace ("" for cluster-scoped ones).

        A rule that is one twice over (in the namespace for cluster rules itself) is one once; in
        KubeMod such a rule is applied twice.
        """
        if self.is_cluster_rule(rule):
            if rule.namespace_regex is not None:
                if rule.namespace_regex.search(namespace):
                    return True
            elif not namespace:
                return True
        return bool(namespace) and self.namespace_of(rule) == namespace

    def sees_twice(self, rule: CompiledRule, namespace: str) -> bool:
        """Whether KubeMod applies a rule twice: as a cluster rule and as one of the namespace."""
        regex = rule.namespace_regex
        here = self.is_cluster_rule(rule) and namespace == self.cluster_rules_namespace
        return here and regex is not None and regex.search(namespace)

    def is_cluster_rule(self, rule: CompiledRule) -> bool:
        return self.namespace_of(rule) == self.cluster_rules_namespace


def request_namespace(head: Head, namespace: str) -> str:
    """The namespace that KubeMod looks rules up by: "" for a Namespace itself."""
    return "" if (head.group, head.kind) == ("", "Namespace") else namespace
