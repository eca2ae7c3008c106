"""API defaults: what is filled in, and on what that depends."""

from __future__ import annotations

from typing import Any

import pytest

from krm_fn.errors import DecodeError
from krm_fn.kube.schema import Schemas
from krm_fn.kube.served import Served
from krm_fn.values import MISSING, Json, Path, equal, get

NEWEST = Served(Schemas())
OLDEST = Served(Schemas("1.32"))


def serve(value: Json, server: Served = NEWEST) -> Json:
    return server.form(value).object


def of(api_version: str, kind: str, **members: Any) -> Json:
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": "x"}, **members}


def pod(**spec: Any) -> Json:
    return serve(of("v1", "Pod", spec=spec))["spec"]


def container(**members: Any) -> Json:
    return pod(containers=[{"name": "c", **members}])["containers"][0]


# ------------------------------------------------------------------------------------------ pods


def test_a_pod_gets_what_every_pod_has() -> None:
    assert pod(containers=[]) == {
        "containers": [],
        "dnsPolicy": "ClusterFirst",
        "enableServiceLinks": True,
        "restartPolicy": "Always",
        "schedulerName": "default-scheduler",
        "securityContext": {},
        "terminationGracePeriodSeconds": 30,
    }


def test_a_template_gets_no_more_than_a_template_has() -> None:
    limits = {"limits": {"cpu": "1"}}
    template = {"spec": {"containers": [{"name": "c", "resources": limits}], "hostNetwork": True}}
    deployment = serve(of("apps/v1", "Deployment", spec={"template": template}))
    spec = deployment["spec"]["template"]["spec"]
    assert spec["dnsPolicy"] == "ClusterFirst"
    assert "enableServiceLinks" not in spec
    assert spec["containers"][0]["resources"] is limits


def test_in_a_pod_what_is_limited_is_also_requested() -> None:
    resources = {"limits": {"cpu": "1", "memory": "1Gi"}, "requests": {"cpu": "500m"}}
    requests = container(resources=resources)["resources"]["requests"]
    assert requests == {"cpu": "500m", "memory": "1Gi"}


def test_on_the_hosts_network_ports_are_the_hosts() -> None:
    ports = [{"containerPort": 80}, {"containerPort": 81, "hostPort": 1}]
    spec = pod(hostNetwork=True, containers=[{"name": "c", "ports": ports}])
    assert [port["hostPort"] for port in spec["containers"][0]["ports"]] == [80, 1]


def test_a_probe_counts_zero_as_unset() -> None:
    probe = container(livenessProbe={"httpGet": {"port": 80}, "periodSeconds": 0})["livenessProbe"]
    assert probe["periodSeconds"] == 10
    assert probe["httpGet"] == {"port": 80, "path": "/", "scheme": "HTTP"}


def test_a_volume_without_a_source_is_an_empty_directory() -> None:
    volumes = [{"name": "a"}, {"name": "b", "secret": {"secretName": "s"}}]
    assert pod(volumes=volumes)["volumes"] == [
        {"name": "a", "emptyDir": {}},
        {"name": "b", "secret": {"secretName": "s", "defaultMode": 420}},
    ]


ACCOUNTS = [
    ({"serviceAccount": "a"}, "a"),
    ({"serviceAccountName": "a"}, "a"),
    ({"serviceAccountName": "a", "serviceAccount": "b"}, "a"),
]


@pytest.mark.parametrize(("spec", "name"), ACCOUNTS)
def test_the_two_names_of_the_service_account_are_one(spec: Json, name: str) -> None:
    served = pod(**spec)
    assert (served["serviceAccount"], served["serviceAccountName"]) == (name, name)


def test_a_negative_grace_period_becomes_one_second_in_pods_only() -> None:
    assert pod(terminationGracePeriodSeconds=-5)["terminationGracePeriodSeconds"] == 1
    template = {"spec": {"terminationGracePeriodSeconds": -5}}
    served = serve(of("v1", "PodTemplate", template=template))
    assert served["template"]["spec"]["terminationGracePeriodSeconds"] == -5


def test_old_annotations_of_init_containers_are_dropped() -> None:
    annotations = {"pod.beta.kubernetes.io/init-containers": "[]", "a": "b"}
    value = of("v1", "Pod")
    value["metadata"]["annotations"] = annotations
    assert serve(value)["metadata"]["annotations"] == {"a": "b"}


def test_the_first_of_a_pods_addresses_is_its_address() -> None:
    assert serve(of("v1", "Pod", status={"podIP": "1.2.3.4"}))["status"] == {
        "podIP": "1.2.3.4",
        "podIPs": [{"ip": "1.2.3.4"}],
    }


def whole(resources: Json, server: Served = NEWEST, **spec: Any) -> Json:
    value = of("v1", "Pod", spec={"resources": resources, **spec})
    return serve(value, server)["spec"]["resources"]


def asks(name: str, cpu: str, **more: Any) -> Json:
    return {"name": name, "resources": {"requests": {"cpu": cpu}}, **more}


def test_a_whole_pod_requests_what_its_containers_do_if_it_has_limits() -> None:
    starting = [asks("sidecar", "500m", restartPolicy="Always"), asks("init", "3")]
    containers = [asks("a", "1"), asks("b", "250m")]
    resources = whole({"limits": {"cpu": "4"}}, containers=containers, initContainers=starting)
    assert resources["requests"] == {"cpu": "3500m"}


def test_a_whole_pod_requests_its_limit_if_its_containers_request_nothing() -> None:
    resources = whole({"limits": {"cpu": "2", "memory": "1Gi"}}, containers=[{"name": "c"}])
    assert resources["requests"] == {"cpu": "2", "memory": "1Gi"}


def test_a_whole_pod_has_the_huge_pages_of_its_containers() -> None:
    pages = {"limits": {"hugepages-2Mi": "4Mi"}}
    resources = whole({"requests": {"cpu": "1"}}, containers=[{"name": "c", "resources": pages}])
    assert resources["limits"] == {"hugepages-2Mi": "4Mi"}
    assert resources["requests"] == {"cpu": "1", "hugepages-2Mi": "4Mi"}


def test_the_oldest_release_has_no_defaults_for_whole_pods() -> None:
    assert whole({"limits": {"cpu": "2"}}, OLDEST) == {"limits": {"cpu": "2"}}


# ------------------------------------------------------------------------------------- by field

REPLICAS = [
    ("apps/v1", "Deployment", 1),
    ("apps/v1", "ReplicaSet", 1),
    ("apps/v1", "StatefulSet", 1),
    ("v1", "ReplicationController", 1),
]


@pytest.mark.parametrize(("api_version", "kind", "replicas"), REPLICAS)
def test_replicas_are_one_unless_they_are_given_be_it_zero(
    api_version: str, kind: str, replicas: int
) -> None:
    assert serve(of(api_version, kind))["spec"]["replicas"] == replicas
    assert serve(of(api_version, kind, spec={"replicas": 0}))["spec"]["replicas"] == 0


ROLLING = [
    ("Deployment", "strategy", {}, {"maxUnavailable": "25%", "maxSurge": "25%"}),
    ("Deployment", "strategy", {"rollingUpdate": {"maxSurge": 0}}, {"maxUnavailable": "25%"}),
    ("Deployment", "strategy", {"type": "Recreate"}, MISSING),
    ("Deployment", "strategy", {"type": "Recreate", "rollingUpdate": {}}, {"maxSurge": 0}),
    ("DaemonSet", "updateStrategy", {}, {"maxUnavailable": 1, "maxSurge": 0}),
    ("DaemonSet", "updateStrategy", {"type": "OnDelete"}, MISSING),
    ("StatefulSet", "updateStrategy", {}, {"partition": 0}),
    ("StatefulSet", "updateStrategy", {"type": "RollingUpdate"}, MISSING),
    (
        "StatefulSet",
        "updateStrategy",
        {"type": "RollingUpdate", "rollingUpdate": {}},
        {"partition": 0},
    ),
    ("StatefulSet", "updateStrategy", {"type": "OnDelete", "rollingUpdate": {}}, {"partition": 0}),
]


@pytest.mark.parametrize(("kind", "field", "strategy", "expected"), ROLLING)
def test_a_rolling_update_depends_on_the_type(
    kind: str, field: str, strategy: Json, expected: Any
) -> None:
    served = serve(of("apps/v1", kind, spec={field: strategy}))["spec"][field]
    update = served.get("rollingUpdate", MISSING)
    if expected is MISSING:
        assert update is MISSING
    else:
        assert expected.items() <= update.items()


def test_how_many_may_be_unavailable_has_a_default_in_the_newest_release() -> None:
    updates = [
        serve(of("apps/v1", "StatefulSet"), server)["spec"]["updateStrategy"]["rollingUpdate"]
        for server in (OLDEST, NEWEST)
    ]
    assert updates == [{"partition": 0}, {"partition": 0, "maxUnavailable": 1}]


def test_claims_in_a_stateful_set_say_what_they_are() -> None:
    served = serve(of("apps/v1", "StatefulSet", spec={"volumeClaimTemplates": [{}]}))
    (claim,) = served["spec"]["volumeClaimTemplates"]
    assert (claim["apiVersion"], claim["kind"]) == ("v1", "PersistentVolumeClaim")
    assert claim["spec"]["volumeMode"] == "Filesystem"
    assert claim["status"] == {"phase": "Pending"}


JOBS = [
    ({}, {"completions": 1, "parallelism": 1, "backoffLimit": 6}),
    ({"completions": 3}, {"completions": 3, "parallelism": 1}),
    ({"parallelism": 3}, {"completions": MISSING, "parallelism": 3}),
    ({"backoffLimitPerIndex": 0}, {"backoffLimit": 2**31 - 1}),
    ({}, {"podReplacementPolicy": "TerminatingOrFailed", "completionMode": "NonIndexed"}),
    ({"podFailurePolicy": {"rules": []}}, {"podReplacementPolicy": "Failed"}),
]


@pytest.mark.parametrize(("spec", "expected"), JOBS)
def test_a_jobs_numbers_depend_on_each_other(spec: Json, expected: Json) -> None:
    served = serve(of("batch/v1", "Job", spec=spec))["spec"]
    assert {key: served.get(key, MISSING) for key in expected} == expected


def test_a_condition_that_fails_a_job_is_true_if_nothing_is_said() -> None:
    rules = [
        {"action": "Ignore", "onPodConditions": [{"type": "a"}, {"type": "b", "status": "False"}]}
    ]
    spec = serve(of("batch/v1", "Job", spec={"podFailurePolicy": {"rules": rules}}))["spec"]
    conditions = spec["podFailurePolicy"]["rules"][0]["onPodConditions"]
    assert [one["status"] for one in conditions] == ["True", "False"]


def test_the_defaults_of_jobs_do_not_reach_into_cron_jobs() -> None:
    served = serve(of("batch/v1", "CronJob"))["spec"]
    assert served["concurrencyPolicy"] == "Allow"
    assert "backoffLimit" not in served["jobTemplate"]["spec"]
    assert served["jobTemplate"]["spec"]["template"]["spec"]["dnsPolicy"] == "ClusterFirst"


def test_labels_come_from_the_template_if_there_are_none() -> None:
    template = {"metadata": {"labels": {"app": "x"}}}
    job = serve(of("batch/v1", "Job", spec={"template": template}))
    controller = serve(of("v1", "ReplicationController", spec={"template": template}))
    assert job["metadata"]["labels"] == {"app": "x"}
    assert controller["metadata"]["labels"] == {"app": "x"}
    assert controller["spec"]["selector"] == {"app": "x"}


SERVICES = [
    ({}, {"type": "ClusterIP", "internalTrafficPolicy": "Cluster"}),
    ({}, {"externalTrafficPolicy": MISSING, "allocateLoadBalancerNodePorts": MISSING}),
    ({"externalIPs": ["1.2.3.4"]}, {"externalTrafficPolicy": "Cluster"}),
    ({"type": "NodePort"}, {"externalTrafficPolicy": "Cluster"}),
    ({"type": "LoadBalancer"}, {"allocateLoadBalancerNodePorts": True}),
    ({"type": "ExternalName"}, {"internalTrafficPolicy": MISSING}),
    ({"sessionAffinityConfig": {"clientIP": {}}}, {"sessionAffinityConfig": MISSING}),
    (
        {"sessionAffinity": "ClientIP"},
        {"sessionAffinityConfig": {"clientIP": {"timeoutSeconds": 10800}}},
    ),
    ({"ports": [{"port": 80}]}, {"ports": [{"protocol": "TCP", "port": 80, "targetPort": 80}]}),
]


@pytest.mark.parametrize(("spec", "expected"), SERVICES)
def test_a_service_depends_on_its_type(spec: Json, expected: Json) -> None:
    served = serve(of("v1", "Service", spec=spec))["spec"]
    assert {key: served.get(key, MISSING) for key in expected} == expected


def test_a_load_balancers_addresses_are_virtual() -> None:
    status = {"loadBalancer": {"ingress": [{"ip": "1.2.3.4"}, {"hostname": "x"}]}}
    served = serve(of("v1", "Service", spec={"type": "LoadBalancer"}, status=status))
    assert served["status"]["loadBalancer"]["ingress"] == [
        {"ip": "1.2.3.4", "ipMode": "VIP"},
        {"hostname": "x"},
    ]


def test_texts_of_a_secret_are_merged_into_its_data_and_win() -> None:
    served = serve(of("v1", "Secret", data={"a": "eA==", "b": "eA=="}, stringData={"a": "ü"}))
    assert served["data"] == {"a": "w7w=", "b": "eA=="}
    assert "stringData" not in served
    assert served["type"] == "Opaque"


def test_a_namespace_is_labelled_with_its_name_also_over_another_value() -> None:
    value = of("v1", "Namespace")
    value["metadata"]["labels"] = {"kubernetes.io/metadata.name": "other", "a": "b"}
    labels = serve(value)["metadata"]["labels"]
    assert labels == {"kubernetes.io/metadata.name": "x", "a": "b"}
    assert "labels" not in serve({**value, "metadata": {"generateName": "x-"}})["metadata"]


def test_a_limit_range_fills_default_and_request_by_resource() -> None:
    limits = {"type": "Container", "max": {"cpu": "2"}, "min": {"memory": "1Mi"}}
    (item,) = serve(of("v1", "LimitRange", spec={"limits": [limits]}))["spec"]["limits"]
    assert item["default"] == {"cpu": "2"}
    assert item["defaultRequest"] == {"cpu": "2", "memory": "1Mi"}


def test_a_limit_range_for_pods_is_left_alone() -> None:
    limits = [{"type": "Pod", "max": {"cpu": "2"}}]
    assert serve(of("v1", "LimitRange", spec={"limits": limits}))["spec"]["limits"] is limits


POLICIES = [
    ({}, ["Ingress"]),
    ({"egress": []}, ["Ingress"]),
    ({"egress": [{}]}, ["Ingress", "Egress"]),
]


@pytest.mark.parametrize(("spec", "types"), POLICIES)
def test_a_network_policy_is_about_egress_if_it_has_rules_for_it(
    spec: Json, types: list[str]
) -> None:
    served = serve(of("networking.k8s.io/v1", "NetworkPolicy", spec=spec))
    assert served["spec"]["policyTypes"] == types


def test_a_binding_knows_the_group_of_users_and_groups_only() -> None:
    subjects = [{"kind": "User"}, {"kind": "Group"}, {"kind": "ServiceAccount"}, {"kind": "user"}]
    served = serve(of("rbac.authorization.k8s.io/v1", "RoleBinding", subjects=subjects))
    assert [s.get("apiGroup", "") for s in served["subjects"]] == [
        "rbac.authorization.k8s.io",
        "rbac.authorization.k8s.io",
        "",
        "",
    ]
    assert served["roleRef"]["apiGroup"] == "rbac.authorization.k8s.io"


FIELDS: list[tuple[str, str, Json, Path, Any]] = [
    ("v1", "PersistentVolume", {}, ("spec", "volumeMode"), "Filesystem"),
    ("v1", "PersistentVolumeClaim", {}, ("status", "phase"), "Pending"),
    ("v1", "Node", {"status": {"capacity": {"a": 1}}}, ("status", "allocatable"), {"a": "1"}),
    ("v1", "Node", {"spec": {"podCIDR": "a"}}, ("spec", "podCIDRs"), ["a"]),
    ("storage.k8s.io/v1", "StorageClass", {}, ("reclaimPolicy",), "Delete"),
    ("storage.k8s.io/v1", "CSIDriver", {}, ("spec", "attachRequired"), True),
    ("scheduling.k8s.io/v1", "PriorityClass", {}, ("preemptionPolicy",), "PreemptLowerPriority"),
    (
        "flowcontrol.apiserver.k8s.io/v1",
        "FlowSchema",
        {"spec": {"matchingPrecedence": 0}},
        ("spec", "matchingPrecedence"),
        1000,
    ),
    (
        "networking.k8s.io/v1",
        "IngressClass",
        {"spec": {"parameters": {"kind": "a", "name": "b"}}},
        ("spec", "parameters", "scope"),
        "Cluster",
    ),
    (
        "admissionregistration.k8s.io/v1",
        "ValidatingWebhookConfiguration",
        {"webhooks": [{"name": "a", "clientConfig": {"service": {"name": "a"}}}]},
        ("webhooks", 0, "clientConfig", "service", "port"),
        443,
    ),
    (
        "apiextensions.k8s.io/v1",
        "CustomResourceDefinition",
        {"spec": {"names": {"kind": "Foo"}, "versions": [{"name": "v1", "storage": True}]}},
        ("status", "storedVersions"),
        ["v1"],
    ),
    (
        "apiextensions.k8s.io/v1",
        "CustomResourceDefinition",
        {"spec": {"names": {"kind": "Foo"}}},
        ("spec", "names"),
        {"plural": "", "kind": "Foo", "singular": "foo", "listKind": "FooList"},
    ),
    (
        "resource.k8s.io/v1",
        "ResourceClaim",
        {"spec": {"devices": {"requests": [{"name": "a", "exactly": {}}]}}},
        ("spec", "devices", "requests", 0, "exactly", "count"),
        1,
    ),
    (
        "node.k8s.io/v1",
        "RuntimeClass",
        {"handler": "a", "overhead": {"podFixed": {"cpu": "1n"}}},
        ("overhead", "podFixed", "cpu"),
        "1n",
    ),
    ("v1", "Pod", {"spec": {"overhead": {"cpu": "1n"}}}, ("spec", "overhead", "cpu"), "1m"),
]


@pytest.mark.parametrize(("api_version", "kind", "members", "path", "expected"), FIELDS)
def test_a_field_has_its_default(
    api_version: str, kind: str, members: Json, path: Path, expected: Any
) -> None:
    assert equal(get(serve(of(api_version, kind, **members)), path), expected)


# ---------------------------------------------------------------------------------- autoscalers

ALPHA = "autoscaling.alpha.kubernetes.io/"


def scaler(annotations: Json, **members: Any) -> Json:
    value = of("autoscaling/v1", "HorizontalPodAutoscaler", **members)
    value["metadata"]["annotations"] = {ALPHA + key: text for key, text in annotations.items()}
    return serve(value)


def test_an_autoscaler_aims_at_eighty_percent_without_any_metric() -> None:
    assert scaler({})["spec"]["targetCPUUtilizationPercentage"] == 80


def test_a_metric_in_an_annotation_is_written_again_in_canonical_form() -> None:
    metrics = (
        '[{"resource": {"name": "memory", "targetAverageValue": "1000m"}, "type": "Resource"}]'
    )
    served = scaler({"metrics": metrics})
    assert served["metadata"]["annotations"][f"{ALPHA}metrics"] == (
        '[{"type":"Resource","resource":{"name":"memory","targetAverageValue":"1"}}]'
    )
    assert "targetCPUUtilizationPercentage" not in served["spec"]


def test_a_target_for_the_cpu_moves_from_the_annotation_to_the_field() -> None:
    metrics = '[{"type":"Resource","resource":{"name":"cpu","targetAverageUtilization":50}}]'
    served = scaler({"metrics": metrics})
    assert served["spec"]["targetCPUUtilizationPercentage"] == 50
    assert "annotations" not in served["metadata"]


@pytest.mark.parametrize("text", ["", "x", "5", "{}", "[5]", '[{"type": 1}]', "[" * 100_000])
def test_an_annotation_that_cannot_be_read_is_removed(text: str) -> None:
    assert "annotations" not in scaler({"metrics": text, "behavior": text + "x"})["metadata"]


def test_a_behavior_is_written_in_the_notation_of_the_internal_type() -> None:
    served = scaler({"behavior": '{"scaleUp":{"selectPolicy":"Max"}}'})
    assert served["metadata"]["annotations"][f"{ALPHA}behavior"] == (
        '{"ScaleUp":{"StabilizationWindowSeconds":null,"SelectPolicy":"Max","Policies":null,'
        '"Tolerance":null},"ScaleDown":null}'
    )


def test_what_the_status_says_of_the_cpu_is_a_metric_too() -> None:
    served = scaler({}, status={"currentCPUUtilizationPercentage": 7})
    assert (
        '"currentAverageUtilization":7'
        in served["metadata"]["annotations"][f"{ALPHA}current-metrics"]
    )


def test_a_behavior_of_the_second_version_is_filled_in_for_both_directions() -> None:
    spec = {"behavior": {"scaleUp": {"selectPolicy": "Min"}}}
    behavior = serve(of("autoscaling/v2", "HorizontalPodAutoscaler", spec=spec))["spec"]["behavior"]
    assert behavior["scaleUp"]["selectPolicy"] == "Min"
    assert len(behavior["scaleUp"]["policies"]) == 2
    assert behavior["scaleDown"]["selectPolicy"] == "Max"


# ------------------------------------------------------------------ annotations of old fields


def test_a_daemon_set_counts_its_templates_in_an_annotation() -> None:
    key = "deprecated.daemonset.template.generation"
    value = of("apps/v1", "DaemonSet")
    assert serve(value)["metadata"]["annotations"] == {key: "0"}
    value["metadata"]["annotations"] = {key: "+07"}
    assert serve(value)["metadata"]["annotations"] == {key: "7"}


@pytest.mark.parametrize("text", ["x", "1.5", "", "9" * 30])
def test_such_an_annotation_must_be_a_number(text: str) -> None:
    value = of("apps/v1", "DaemonSet")
    value["metadata"]["annotations"] = {"deprecated.daemonset.template.generation": text}
    with pytest.raises(DecodeError) as caught:
        serve(value)
    assert caught.value.path[:2] == ("metadata", "annotations")


def test_a_deployment_drops_an_empty_rollback() -> None:
    value = of("apps/v1", "Deployment")
    value["metadata"]["annotations"] = {"deprecated.deployment.rollback.to": ""}
    assert "annotations" not in serve(value)["metadata"]
