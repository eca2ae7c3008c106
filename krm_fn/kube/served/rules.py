"""Which rule applies to which struct type, and since which release.

Source: the served form's specification, sections (c) and (d).
"""

from __future__ import annotations

from typing import Final

from krm_fn.kube.schema import Schemas, Struct
from krm_fn.kube.served import autoscalers, others, pods, workloads
from krm_fn.kube.served.plan import Plan, Rule

_ALWAYS: Final[dict[str, Rule]] = {
    "core/v1.Container": pods.container,
    "core/v1.EphemeralContainer": pods.container,
    "core/v1.LimitRangeItem": others.limit_range_item,
    "core/v1.Namespace": others.namespace,
    "core/v1.NodeSpec": others.node_spec,
    "core/v1.NodeStatus": others.node_status,
    "core/v1.PersistentVolume": others.persistent_volume,
    "core/v1.Pod": pods.pod,
    "core/v1.PodSpec": pods.pod_spec,
    "core/v1.PodStatus": pods.pod_status,
    "core/v1.PodTemplateSpec": pods.pod_template,
    "core/v1.ReplicationController": workloads.replication_controller,
    "core/v1.Secret": others.secret,
    "core/v1.Service": others.service,
    "core/v1.ServicePort": others.service_port,
    "core/v1.ServiceSpec": others.service_spec,
    "core/v1.Volume": pods.volume,
    "apps/v1.DaemonSet": workloads.daemon_set,
    "apps/v1.DaemonSetUpdateStrategy": workloads.daemon_set_strategy,
    "apps/v1.Deployment": workloads.deployment,
    "apps/v1.DeploymentStrategy": workloads.deployment_strategy,
    "apps/v1.StatefulSetSpec": workloads.stateful_set_spec,
    "apps/v1.StatefulSetUpdateStrategy": workloads.stateful_set_strategy,
    "autoscaling/v2.HorizontalPodAutoscalerBehavior": autoscalers.behavior,
    "batch/v1.Job": workloads.job,
    "networking/v1.NetworkPolicySpec": others.network_policy_spec,
    "rbac/v1.Subject": others.subject,
    "resource/v1alpha3.DeviceRequest": others.device_request,
    "resource/v1beta1.DeviceRequest": others.device_request,
    "resource/v1beta1.DeviceSubRequest": others.device_request,
    "resource/v1beta2.DeviceSubRequest": others.device_request,
    "resource/v1beta2.ExactDeviceRequest": others.device_request,
    "resource/v1.DeviceSubRequest": others.device_request,
    "resource/v1.ExactDeviceRequest": others.device_request,
    "apiextensions/v1.CustomResourceDefinition": others.definition,
    "apiextensions/v1.CustomResourceDefinitionSpec": others.definition_spec,
}

_SINCE: Final[dict[tuple[int, int], dict[str, Rule]]] = {
    (1, 34): {"core/v1.Pod": pods.pod_with_resources},
    (1, 35): {"core/v1.ImageVolumeSource": pods.image_volume},
    (1, 37): {"apps/v1.StatefulSetUpdateStrategy": workloads.stateful_set_strategy_unavailable},
}


def rounds(struct: Struct) -> bool:
    """Whether defaulting rounds the resource lists of a struct type."""
    return struct.name.startswith("core/v1.")


def rules_of(schemas: Schemas, typed: Plan) -> dict[str, Rule]:
    """The rules of a release by struct type; `typed` is its round trip without defaults."""
    rules = dict(_ALWAYS)
    for since, more in _SINCE.items():
        if schemas.version >= since:
            rules.update(more)
    first_version = autoscalers.first_version(typed, schemas.struct)
    rules["autoscaling/v1.HorizontalPodAutoscaler"] = first_version
    return rules
