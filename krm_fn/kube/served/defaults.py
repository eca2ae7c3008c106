"""API defaults that are one value for one field: by struct type, as data.

Read it beside the specification's tables; what depends on more than the field itself is a rule in
one of the modules `pods`, `workloads` and `others`. A default applies to a pointer that is absent,
and to any other field that is absent or zero.
Source: the served form's specification, section (c); pkg/apis/*/v*/defaults.go of Kubernetes.
"""

from __future__ import annotations

from typing import Any, Final

_CONTAINER: Final = {
    "terminationMessagePath": "/dev/termination-log",
    "terminationMessagePolicy": "File",
}
_FILE_MODE: Final = {"defaultMode": 420}
_RBD: Final = {"pool": "rbd", "user": "admin", "keyring": "/etc/ceph/keyring"}
_SCALE_IO: Final = {"storageMode": "ThinProvisioned", "fsType": "xfs"}
_WEBHOOK: Final[dict[str, Any]] = {
    "failurePolicy": "Fail",
    "matchPolicy": "Equivalent",
    "timeoutSeconds": 10,
    "namespaceSelector": {},
    "objectSelector": {},
}
_MATCH_RESOURCES: Final[dict[str, Any]] = {
    "matchPolicy": "Equivalent",
    "namespaceSelector": {},
    "objectSelector": {},
}
_AVERAGE_CPU: Final = {
    "type": "Resource",
    "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80}},
}

DEFAULTS: Final[dict[str, dict[str, Any]]] = {
    # Pods and their templates
    "core/v1.PodSpec": {
        "dnsPolicy": "ClusterFirst",
        "restartPolicy": "Always",
        "securityContext": {},
        "terminationGracePeriodSeconds": 30,
        "schedulerName": "default-scheduler",
    },
    "core/v1.Container": _CONTAINER,
    "core/v1.EphemeralContainer": _CONTAINER,
    "core/v1.ContainerPort": {"protocol": "TCP"},
    "core/v1.Probe": {
        "timeoutSeconds": 1,
        "periodSeconds": 10,
        "successThreshold": 1,
        "failureThreshold": 3,
    },
    "core/v1.HTTPGetAction": {"path": "/", "scheme": "HTTP"},
    "core/v1.GRPCAction": {"service": ""},
    "core/v1.ObjectFieldSelector": {"apiVersion": "v1"},
    "core/v1.FileKeySelector": {"optional": False},
    "core/v1.SecretVolumeSource": _FILE_MODE,
    "core/v1.ConfigMapVolumeSource": _FILE_MODE,
    "core/v1.DownwardAPIVolumeSource": _FILE_MODE,
    "core/v1.ProjectedVolumeSource": _FILE_MODE,
    "core/v1.ServiceAccountTokenProjection": {"expirationSeconds": 3600},
    "core/v1.HostPathVolumeSource": {"type": ""},
    "core/v1.ISCSIVolumeSource": {"iscsiInterface": "default"},
    "core/v1.ISCSIPersistentVolumeSource": {"iscsiInterface": "default"},
    "core/v1.RBDVolumeSource": _RBD,
    "core/v1.RBDPersistentVolumeSource": _RBD,
    "core/v1.AzureDiskVolumeSource": {
        "cachingMode": "ReadWrite",
        "fsType": "ext4",
        "readOnly": False,
        "kind": "Shared",
    },
    "core/v1.ScaleIOVolumeSource": _SCALE_IO,
    "core/v1.ScaleIOPersistentVolumeSource": _SCALE_IO,
    # Other kinds of the core group
    "core/v1.PersistentVolumeClaimSpec": {"volumeMode": "Filesystem"},
    "core/v1.PersistentVolumeClaimStatus": {"phase": "Pending"},
    "core/v1.PersistentVolumeStatus": {"phase": "Pending"},
    "core/v1.NamespaceStatus": {"phase": "Active"},
    "core/v1.ReplicationControllerSpec": {"replicas": 1},
    "core/v1.Secret": {"type": "Opaque"},
    "core/v1.ServiceSpec": {"type": "ClusterIP", "sessionAffinity": "None"},
    "core/v1.ServicePort": {"protocol": "TCP"},
    "core/v1.EndpointPort": {"protocol": "TCP"},
    # Workloads
    "apps/v1.DeploymentSpec": {
        "replicas": 1,
        "revisionHistoryLimit": 10,
        "progressDeadlineSeconds": 600,
    },
    "apps/v1.DeploymentStrategy": {"type": "RollingUpdate"},
    "apps/v1.DaemonSetSpec": {"revisionHistoryLimit": 10},
    "apps/v1.DaemonSetUpdateStrategy": {"type": "RollingUpdate"},
    "apps/v1.StatefulSetSpec": {
        "podManagementPolicy": "OrderedReady",
        "replicas": 1,
        "revisionHistoryLimit": 10,
        "persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Retain", "whenScaled": "Retain"},
    },
    "apps/v1.StatefulSetUpdateStrategy": {"type": "RollingUpdate"},
    "apps/v1.StatefulSetPersistentVolumeClaimRetentionPolicy": {
        "whenDeleted": "Retain",
        "whenScaled": "Retain",
    },
    "apps/v1.ReplicaSetSpec": {"replicas": 1},
    "batch/v1.CronJobSpec": {
        "concurrencyPolicy": "Allow",
        "suspend": False,
        "successfulJobsHistoryLimit": 3,
        "failedJobsHistoryLimit": 1,
    },
    "autoscaling/v1.HorizontalPodAutoscalerSpec": {"minReplicas": 1},
    "autoscaling/v2.HorizontalPodAutoscalerSpec": {"minReplicas": 1, "metrics": [_AVERAGE_CPU]},
    # Networks
    "discovery/v1.EndpointPort": {"name": "", "protocol": "TCP"},
    "networking/v1.IngressClassParametersReference": {"scope": "Cluster"},
    "networking/v1.NetworkPolicyPort": {"protocol": "TCP"},
    # Storage
    "storage/v1.StorageClass": {"reclaimPolicy": "Delete", "volumeBindingMode": "Immediate"},
    "storage/v1.CSIDriverSpec": {
        "attachRequired": True,
        "podInfoOnMount": False,
        "storageCapacity": False,
        "requiresRepublish": False,
        "seLinuxMount": False,
        "fsGroupPolicy": "ReadWriteOnceWithFSType",
        "volumeLifecycleModes": ["Persistent"],
    },
    # Access
    "rbac/v1.RoleRef": {"apiGroup": "rbac.authorization.k8s.io"},
    "authentication/v1.TokenRequestSpec": {"expirationSeconds": 3600},
    # Scheduling and flow control
    "scheduling/v1.PriorityClass": {"preemptionPolicy": "PreemptLowerPriority"},
    "flowcontrol/v1.FlowSchemaSpec": {"matchingPrecedence": 1000},
    "flowcontrol/v1.LimitedPriorityLevelConfiguration": {
        "nominalConcurrencyShares": 30,
        "lendablePercent": 0,
    },
    "flowcontrol/v1.ExemptPriorityLevelConfiguration": {
        "nominalConcurrencyShares": 0,
        "lendablePercent": 0,
    },
    "flowcontrol/v1.QueuingConfiguration": {"handSize": 8, "queues": 64, "queueLengthLimit": 50},
    # Devices
    "resource/v1alpha3.DeviceToleration": {"operator": "Equal"},
    "resource/v1beta1.DeviceToleration": {"operator": "Equal"},
    "resource/v1beta2.DeviceToleration": {"operator": "Equal"},
    "resource/v1.DeviceToleration": {"operator": "Equal"},
    # Extensions
    "admissionregistration/v1.ValidatingWebhook": _WEBHOOK,
    "admissionregistration/v1.MutatingWebhook": {**_WEBHOOK, "reinvocationPolicy": "Never"},
    "admissionregistration/v1.ServiceReference": {"port": 443},
    "admissionregistration/v1.RuleWithOperations": {"scope": "*"},
    "admissionregistration/v1alpha1.ParamRef": {"parameterNotFoundAction": "Deny"},
    **{
        f"admissionregistration/{version}.{name}": values
        for version in ("v1", "v1beta1", "v1alpha1")
        for name, values in {
            "NamedRuleWithOperations": {"scope": "*"},
            "ValidatingAdmissionPolicySpec": {"failurePolicy": "Fail"},
            "MutatingAdmissionPolicySpec": {"failurePolicy": "Fail"},
            "MatchResources": _MATCH_RESOURCES,
        }.items()
    },
    "apiextensions/v1.CustomResourceDefinitionSpec": {"conversion": {"strategy": "None"}},
    "apiextensions/v1.ServiceReference": {"port": 443},
    "apiregistration/v1.ServiceReference": {"port": 443},
}
