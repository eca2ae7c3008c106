"""Built-in plugins in whole runs: when they take part, whose word counts, what is told."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from builtin_support import run, stream_of

from krm_fn.config.options import Options, from_document
from krm_fn.errors import ConfigError
from krm_fn.report.model import Report
from krm_fn.report.results import results
from krm_fn.run.admit import admit, stages_of
from krm_fn.run.caller import Caller
from krm_fn.values import Json
from krm_fn.wire import Stream

NAMESPACE = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team"}}
LIMIT_RANGE: Json = {
    "apiVersion": "v1",
    "kind": "LimitRange",
    "metadata": {"name": "limits", "namespace": "team"},
    "spec": {"limits": [{"type": "Container", "default": {"cpu": "500m"}, "max": {"cpu": "1"}}]},
}
POD: Json = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "p", "namespace": "team"},
    "spec": {"containers": [{"name": "app", "image": "app:1"}]},
}
LARGE = {"name": "app", "image": "app:1", "resources": {"limits": {"cpu": "2"}}}
DEPLOYMENT: Json = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "web", "namespace": "team"},
    "spec": {
        "selector": {"matchLabels": {"app": "web"}},
        "template": {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [LARGE]}},
    },
}


def labelled(**labels: str) -> Json:
    keyed = {f"pod-security.kubernetes.io/{mode}": level for mode, level in labels.items()}
    return {**NAMESPACE, "metadata": {"name": "team", "labels": keyed}}


def messages(report: Report, severity: str = "") -> list[str]:
    return [
        one["message"]
        for one in results(report).to_json()
        if severity in ("", one["severity"]) and not one["message"].startswith("changed")
    ]


def is_seen(stream: Stream) -> bool:
    """Whether the rule that looks for a toleration has matched the Pod."""
    pods = [item for item in stream.items if item.head.kind == "Pod"]
    return "labels" in pods[0].final["metadata"]


SPEAKING = [
    LIMIT_RANGE,
    labelled(enforce="privileged"),
    {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "q", "namespace": "team"},
        "spec": {"hard": {"pods": "5"}},
    },
    {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": "high"},
        "value": 5,
    },
    {
        "apiVersion": "node.k8s.io/v1",
        "kind": "RuntimeClass",
        "metadata": {"name": "gvisor"},
        "handler": "runsc",
    },
    {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": "fast"},
        "provisioner": "x",
    },
    {"apiVersion": "networking.k8s.io/v1", "kind": "IngressClass", "metadata": {"name": "nginx"}},
]


@pytest.mark.parametrize("known", SPEAKING, ids=lambda value: value["kind"])
def test_they_take_part_where_something_of_theirs_is_among_the_items(known: Json) -> None:
    _, stream = run(POD, known)
    assert is_seen(stream)


@pytest.mark.parametrize("known", SPEAKING, ids=lambda value: value["kind"])
def test_they_take_part_where_something_of_theirs_is_in_the_context(known: Json) -> None:
    _, stream = run(POD, context={"objects": [known]})
    assert is_seen(stream)


SILENT = [
    NAMESPACE,
    {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "a", "namespace": "team"}},
    {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}},
]


@pytest.mark.parametrize("known", SILENT, ids=lambda value: value["kind"])
def test_what_most_packages_have_brings_nobody_in(known: Json) -> None:
    report, stream = run(POD, known)
    assert not is_seen(stream)
    assert messages(report, "warning") == []


def test_they_take_part_where_they_are_asked_for() -> None:
    assert is_seen(run(POD, admissionPlugins={})[1])


def test_all_of_them_can_be_disabled() -> None:
    assert not is_seen(run(POD, LIMIT_RANGE, admissionPlugins={"disable": ["*"]})[1])


def test_one_of_them_can_be_enabled_and_all_others_disabled() -> None:
    options = {"disable": ["*"], "enable": ["LimitRanger"]}
    report, stream = run(POD, LIMIT_RANGE, admissionPlugins=options)
    assert not is_seen(stream)
    assert not report.denied


def test_without_rules_and_without_being_asked_there_is_nothing_to_run() -> None:
    with pytest.raises(ConfigError, match="no rule anywhere"):
        run(POD, LIMIT_RANGE, rule="")


def test_they_need_no_rule_where_they_are_asked_for() -> None:
    large = {**POD, "spec": {"containers": [LARGE]}}
    report, _ = run(large, LIMIT_RANGE, rule="", admissionPlugins={})
    (message,) = messages(report, "error")
    assert message == (
        'pods "p" is forbidden: maximum cpu usage per Container is 1, but limit is 2'
    )


def test_what_they_set_is_not_written() -> None:
    _, stream = run(POD, LIMIT_RANGE, rule="", admissionPlugins={})
    assert not stream.changed


def test_what_they_set_is_written_where_that_is_asked_for() -> None:
    options = {"enable": ["LimitRanger"], "disable": ["*"]}
    _, stream = run(POD, LIMIT_RANGE, rule="", admissionPlugins=options, writeDefaults=True)
    pod = next(item for item in stream.items if item.head.kind == "Pod").final
    assert pod["spec"]["containers"][0]["resources"]["limits"] == {"cpu": "500m"}


def test_a_denial_of_theirs_respects_what_denials_do() -> None:
    large = {**POD, "spec": {"containers": [LARGE]}}
    report, _ = run(large, LIMIT_RANGE, rule="", admissionPlugins={}, onReject="Warn")
    assert not report.denied
    assert any("maximum cpu usage" in text for text in messages(report, "warning"))


def test_a_template_is_warned_of_and_its_workload_admitted() -> None:
    report, _ = run(DEPLOYMENT, labelled(enforce="restricted"), rule="", admissionPlugins={})
    assert not report.denied
    (warning,) = messages(report, "warning")
    assert warning.startswith('would violate PodSecurity "restricted:latest"')


def test_what_an_audit_finds_is_information() -> None:
    report, _ = run(DEPLOYMENT, labelled(audit="restricted"), rule="", admissionPlugins={})
    assert messages(report, "warning") == []
    (found,) = [text for text in messages(report, "info") if "PodSecurity" in text]
    assert found.startswith('would violate PodSecurity "restricted:latest"')


@pytest.mark.parametrize("mode", ["Mutate", "Preview"])
def test_a_denied_pod_of_a_template_says_what_becomes_of_its_workload(mode: str) -> None:
    report, _ = run(DEPLOYMENT, LIMIT_RANGE, rule="", admissionPlugins={}, podTemplates=mode)
    (message,) = messages(report, "error")
    assert message == (
        'pods "web-" is forbidden: maximum cpu usage per Container is 1, but limit is 2; the '
        "Deployment is admitted, but none of its Pods would start"
    )


def test_a_template_gets_nothing_of_what_was_set_in_its_pod() -> None:
    small = {**LARGE, "resources": {}}
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [small]}}
    deployment = {**DEPLOYMENT, "spec": {**DEPLOYMENT["spec"], "template": template}}
    report, stream = run(deployment, LIMIT_RANGE, podTemplates="Mutate", admissionPlugins={})
    assert not stream.items[0].replaced
    assert any("metadata.labels.seen" in text for text in messages(report, "warning"))


UNKNOWN = {**POD, "spec": {**POD["spec"], "priorityClassName": "high"}}


def test_what_is_not_known_is_undecided_and_says_what_to_add() -> None:
    report, _ = run(UNKNOWN, LIMIT_RANGE, NAMESPACE, rule="", admissionPlugins={})
    assert not report.denied
    (warning,) = messages(report, "warning")
    assert warning.startswith("whether there is a PriorityClass high is not known")
    assert "context.objects" in warning


def test_what_is_not_there_is_refused_where_the_context_knows_all_of_its_kind() -> None:
    context = {"complete": ["PriorityClass"]}
    report, _ = run(UNKNOWN, NAMESPACE, rule="", admissionPlugins={}, context=context)
    assert messages(report, "error") == [
        'pods "p" is forbidden: no PriorityClass with name high was found'
    ]


def test_a_namespace_whose_labels_nobody_knows_is_told_once() -> None:
    pods = [{**POD, "metadata": {"name": name, "namespace": "team"}} for name in "abc"]
    report, _ = run(*pods, DEPLOYMENT, rule="", admissionPlugins={})
    (warning,) = messages(report, "warning")
    assert "labels of namespace team" in warning


def test_a_rule_that_labels_a_namespace_decides_what_its_pods_must_be() -> None:
    rule = """\
apiVersion: api.kubemod.io/v1beta1
kind: ModRule
metadata: {name: restricted, namespace: kubemod-system}
spec:
  type: Patch
  match: [{select: $.kind, matchValue: Namespace}]
  patch:
  - op: add
    path: /metadata/labels/pod-security.kubernetes.io~1enforce
    value: restricted
"""
    report, _ = run(POD, NAMESPACE, rule=rule, admissionPlugins={})
    assert any("violates PodSecurity" in text for text in messages(report, "error"))


def test_with_objects_as_they_are_written_nobody_takes_part() -> None:
    report, stream = run(POD, LIMIT_RANGE, objectForm="AsWritten")
    assert not is_seen(stream)
    assert any("objectForm: AsWritten" in text for text in messages(report, "info"))


def test_a_plugin_that_is_no_part_of_a_render_is_left_out_with_a_warning() -> None:
    report, _ = run(POD, NAMESPACE, rule="", admissionPlugins={"enable": ["NodeRestriction"]})
    assert any("NodeRestriction is not part of a render" in t for t in messages(report, "warning"))


WRONG = [
    ({"enable": ["LimitRangr"]}, "admissionPlugins.enable: 'LimitRangr' is no admission plugin; "),
    ({"disable": ["all"]}, "--enable-admission-plugins"),
    ({"enable": ["*"]}, "is no admission plugin"),
    ({"enable": ["Priority"], "disable": ["Priority"]}, "Priority is disabled, too"),
    ({"config": {"LimitRanger": {}}}, "admissionPlugins.config.LimitRanger: unknown field"),
    ({"config": {"PodSecurity": {"defaults": {"enforce": "none"}}}}, "must be one of privileged"),
    (
        {"config": {"PodSecurity": {"defaults": {"warn-version": "1.30"}}}},
        'config.PodSecurity.defaults.warn-version: \'1.30\' must be "latest" or "v1.x"',
    ),
    ({"config": {"PodSecurity": {"exemption": {}}}}, "did you mean exemptions"),
    ({"config": {"ResourceQuota": {"limitedResources": [{"resouce": "pods"}]}}}, "resource"),
    ({"config": {"PodTolerationRestriction": {"default": [{"seconds": 5}]}}}, "unknown field"),
    ({"config": {"PodNodeSelector": {"podNodeSelectorPluginConfig": {"a": 5}}}}, "quote"),
    ({"enabled": []}, "did you mean enable"),
]


@pytest.mark.parametrize(("options", "message"), WRONG)
def test_a_wrong_option_is_one_clear_sentence(options: Json, message: str) -> None:
    with pytest.raises(ConfigError) as error:
        run(POD, NAMESPACE, admissionPlugins=options)
    assert message in str(error.value)


def test_a_kind_that_nothing_refers_to_is_not_complete() -> None:
    with pytest.raises(ConfigError, match="'Pod' is not one of Namespace, PriorityClass"):
        run(POD, NAMESPACE, context={"complete": ["Pod"]})


CONFIGURED = {
    "PodSecurity": {
        "apiVersion": "pod-security.admission.config.k8s.io/v1",
        "kind": "PodSecurityConfiguration",
        "defaults": {"enforce": "restricted"},
        "exemptions": {"namespaces": ["calm"]},
    }
}


@pytest.mark.parametrize(("namespace", "denied"), [("team", True), ("calm", False)])
def test_configuration_files_have_their_own_fields(namespace: str, denied: bool) -> None:
    pod = {**POD, "metadata": {"name": "p", "namespace": namespace}}
    space = {**NAMESPACE, "metadata": {"name": namespace}}
    report, _ = run(pod, space, rule="", admissionPlugins={"config": CONFIGURED})
    assert report.denied is denied


def test_as_a_function_they_read_the_options_of_a_config_map() -> None:
    config = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "c"},
        "data": {"admissionPlugins.enable": "AlwaysPullImages, DenyServiceExternalIPs"},
    }
    from krm_fn.config.options import from_function_config

    service = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "s", "namespace": "team"},
        "spec": {"ports": [{"port": 80}], "externalIPs": ["203.0.113.7"]},
    }
    stream = stream_of(service)
    options = from_function_config(stream_of(config).items[0])
    report = admit([stream], stages_of(options, [stream]), None, Caller.FUNCTION)
    assert messages(report, "error") == [
        'services "s" is forbidden: Use of external IPs is denied by admission control'
    ]


def test_an_update_is_compared_with_the_old_object(tmp_path: Any) -> None:
    def claim(size: str) -> Json:
        return {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": {"name": "c", "namespace": "team"},
            "spec": {
                "accessModes": ["ReadWriteOnce"],
                "storageClassName": "slow",
                "resources": {"requests": {"storage": size}},
            },
            "status": {"phase": "Bound"},
        }

    old = tmp_path / "old.yaml"
    old.write_text(yaml.safe_dump(claim("1Gi")))
    context = {"operation": "UPDATE", "oldObjects": {"paths": ["old.yaml"]}}
    document = {
        "apiVersion": "krm-fn.dev/v1alpha1",
        "kind": "Admission",
        "spec": {"context": context, "admissionPlugins": {}},
    }
    from krm_fn.system.paths import base_of

    options = from_document(document, "test", base_of(str(tmp_path / "admission.yaml")))
    stream = stream_of(claim("2Gi"))
    report = admit([stream], stages_of(options, [stream]))
    (message,) = messages(report, "error")
    assert "only dynamically provisioned pvc can be resized" in message


def test_defaults_are_options_that_ask_for_nothing() -> None:
    assert Options().sections == {}
    assert not Options().write_defaults
