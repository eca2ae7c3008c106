"""What a run as a whole would use of quotas: replicas, claims, one Pod a node."""

from __future__ import annotations

from typing import Any

import pytest
from builtin_support import run

from krm_fn.admission.quotause import QuotaUse
from krm_fn.dialects.builtin.quota.workloads import PER_NODE, replicas_of
from krm_fn.report.model import Report
from krm_fn.report.quotas import rows
from krm_fn.values import Json
from krm_fn.wire.stream import head_of

NAMESPACE = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team"}}


def quota(hard: Json, used: Json | None = None, **spec: Any) -> Json:
    value: Json = {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "q", "namespace": "team"},
        "spec": {"hard": hard, **spec},
    }
    if used is not None:
        value["status"] = {"hard": hard, "used": used}
    return value


def template(cpu: str = "100m") -> Json:
    container = {"name": "app", "image": "app:1", "resources": {"requests": {"cpu": cpu}}}
    return {"metadata": {"labels": {"app": "x"}}, "spec": {"containers": [container]}}


def workload(kind: str, name: str = "web", cpu: str = "100m", **spec: Any) -> Json:
    return {
        "apiVersion": "apps/v1",
        "kind": kind,
        "metadata": {"name": name, "namespace": "team"},
        "spec": {"selector": {"matchLabels": {"app": "x"}}, "template": template(cpu), **spec},
    }


def counted(*objects: Json, known: Json, **spec: Any) -> Report:
    """The report of a run that counts Pods of templates."""
    spec.setdefault("podTemplates", "Preview")
    context = {"objects": [known, NAMESPACE]}
    report, _ = run(*objects, context=context, **spec)
    return report


def use(report: Report, resource: str) -> QuotaUse:
    (found,) = [one for one in report.quotas if one.resource == resource]
    return found


def warned(report: Report) -> list[str]:
    return [one.message for one in report.findings if "together" in one.message]


def test_a_workload_counts_as_often_as_it_asks_for_pods() -> None:
    report = counted(
        workload("Deployment", replicas=3),
        workload("ReplicaSet", "old", cpu="1", replicas=0),
        workload("StatefulSet", "db", cpu="200m"),
        known=quota({"pods": "10", "requests.cpu": "1"}),
    )
    assert use(report, "pods").wanted == "4"
    cpu = use(report, "requests.cpu")
    assert (cpu.hard, cpu.used, cpu.wanted, cpu.left) == ("1", None, "500m", "500m")
    assert [share.amount for share in cpu.shares] == ["300m", "200m"]
    assert [share.who for share in cpu.shares] == [
        "Deployment web (3 Pods)",
        "StatefulSet db (1 Pod)",
    ]
    assert warned(report) == []


def test_what_is_more_than_the_limit_less_what_is_used_is_a_warning() -> None:
    report = counted(
        workload("Deployment", replicas=3),
        known=quota({"requests.cpu": "1"}, {"requests.cpu": "800m"}),
    )
    assert use(report, "requests.cpu").left == "-100m"
    assert use(report, "requests.cpu").is_exceeded
    assert warned(report) == [
        "ResourceQuota team/q: together the objects want requests.cpu=300m "
        "(Deployment web (3 Pods): 300m), and hard is 1, used 800m"
    ]
    assert not report.denied


def test_a_quota_that_is_exceeded_already_is_nobodys_fault_here() -> None:
    report = counted(
        {**NAMESPACE, "metadata": {"name": "other"}},
        known=quota({"pods": "1"}, {"pods": "2"}),
    )
    assert warned(report) == []


def test_how_many_pods_a_daemon_set_has_is_not_known() -> None:
    report = counted(workload("DaemonSet", "agent"), known=quota({"requests.cpu": "50m"}))
    # One Pod alone is more than the limit, and that is known.
    assert report.denied
    report = counted(workload("DaemonSet", "agent"), known=quota({"requests.cpu": "1"}))
    cpu = use(report, "requests.cpu")
    assert (cpu.wanted, cpu.shares) == ("0", ())
    assert [tuple(share) for share in cpu.per_node] == [
        ("100m", "DaemonSet agent (a Pod for each node)")
    ]
    *_, row = rows([cpu])
    assert row[5:] == ("100m each", "", "DaemonSet agent (a Pod for each node)")


def test_the_claims_of_a_stateful_set_count_with_their_default_class() -> None:
    claim = {
        "metadata": {"name": "data"},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "2Gi"}}},
    }
    default = {"storageclass.kubernetes.io/is-default-class": "true"}
    fast = {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": "fast", "annotations": default},
        "provisioner": "x.example",
    }
    own = "fast.storageclass.storage.k8s.io/requests.storage"
    limits = {"requests.storage": "5Gi", "persistentvolumeclaims": "10", own: "5Gi"}
    report = counted(
        workload("StatefulSet", "db", replicas=3, volumeClaimTemplates=[claim]),
        fast,
        known=quota(limits),
    )
    assert use(report, "requests.storage").wanted == "6Gi"
    assert use(report, own).wanted == "6Gi"
    assert use(report, "persistentvolumeclaims").wanted == "3"
    assert len(warned(report)) == 2


def test_objects_beside_pods_count_once() -> None:
    secret = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "s", "namespace": "team"},
    }
    other = {**secret, "metadata": {"name": "t", "namespace": "team"}}
    report = counted(secret, other, known=quota({"count/secrets": "3"}))
    found = use(report, "count/secrets")
    assert (found.wanted, found.left) == ("2", "1")
    assert [share.who for share in found.shares] == ["Secret s", "Secret t"]


def test_what_is_refused_uses_nothing() -> None:
    report = counted(
        workload("Deployment", replicas=2),
        workload("Deployment", "large", cpu="3", replicas=2),
        known=quota({"requests.cpu": "1"}),
    )
    assert use(report, "requests.cpu").wanted == "200m"


def test_a_pod_that_no_scope_is_about_does_not_count() -> None:
    known = quota({"pods": "1"}, scopes=["BestEffort"])
    report = counted(workload("Deployment", replicas=5), known=known)
    assert use(report, "pods").wanted == "0"


def test_without_templates_only_objects_themselves_count() -> None:
    report = counted(
        workload("Deployment", replicas=5),
        known=quota({"pods": "1"}),
        podTemplates="Ignore",
        admissionPlugins={},
    )
    assert use(report, "pods").wanted == "0"
    assert warned(report) == []


def test_with_mutate_templates_count_with_what_rules_made_of_them() -> None:
    more = """\
apiVersion: api.kubemod.io/v1beta1
kind: ModRule
metadata: {name: more, namespace: team}
spec:
  type: Patch
  match: [{select: $.kind, matchValue: Pod}]
  patch: [{op: add, path: '/spec/containers/0/resources/requests/cpu', value: 500m}]
"""
    report = counted(
        workload("Deployment", replicas=2),
        known=quota({"requests.cpu": "4"}),
        podTemplates="Mutate",
        rule=more,
    )
    assert use(report, "requests.cpu").wanted == "1"


def test_of_a_kind_that_is_not_known_at_least_one_pod_counts() -> None:
    app = {
        "apiVersion": "acme.example/v1",
        "kind": "App",
        "metadata": {"name": "web", "namespace": "team"},
        "spec": {"pods": 3, "template": template()},
    }
    where = {"group": "acme.example", "kind": "App", "path": "spec.template"}
    report = counted(app, known=quota({"requests.cpu": "1"}), extraPodTemplates=[where])
    (share,) = use(report, "requests.cpu").shares
    assert tuple(share) == ("100m", "App web (1 Pod or more)")


@pytest.mark.parametrize(
    ("kind", "spec", "pods", "words"),
    [
        ("apps/v1/Deployment", {}, 1, "1 Pod"),
        ("apps/v1/Deployment", {"replicas": 0}, 0, "0 Pods"),
        ("v1/ReplicationController", {"replicas": 2}, 2, "2 Pods"),
        ("v1/PodTemplate", {}, 0, "no Pod"),
        ("apps/v1/DaemonSet", {}, PER_NODE, "a Pod for each node"),
        ("batch/v1/Job", {}, 1, "1 Pod"),
        ("batch/v1/Job", {"parallelism": 4}, 4, "4 Pods"),
        ("batch/v1/Job", {"parallelism": 4, "completions": 3}, 3, "3 Pods"),
        ("batch/v1/Job", {"parallelism": 0}, 0, "0 Pods"),
        (
            "batch/v1/CronJob",
            {"jobTemplate": {"spec": {"parallelism": 2}}},
            2,
            "2 Pods for each run",
        ),
        ("argoproj.io/v1alpha1/Rollout", {"replicas": 2}, 2, "2 Pods"),
    ],
)
def test_replicas(kind: str, spec: Json, pods: int, words: str) -> None:
    api_version, _, name = kind.rpartition("/")
    value = {"apiVersion": api_version, "kind": name, "metadata": {"name": "x"}, "spec": spec}
    assert replicas_of(head_of(value), value) == (pods, words)
