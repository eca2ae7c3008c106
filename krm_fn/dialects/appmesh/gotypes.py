"""JSON and YAML to the Go types of Kubernetes 1.13, with which SuperGloo is built, and back.

Fields that Kubernetes 1.13 does not have are dropped whatever they hold. From YAML, numbers and
booleans become strings where one is wanted. The types are those of the schema table without what
came later; values and their written form are those of `kube.served.plan`.
Source: ghodss/yaml v1.0.0; k8s.io/api, Kubernetes 1.13.1.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final, NamedTuple

from krm_fn.dialects.appmesh.yamltext import as_text
from krm_fn.errors import EvaluationError
from krm_fn.kube.gotypes.fold import Folding
from krm_fn.kube.schema import Field, Schemas, Struct
from krm_fn.kube.served.mismatch import MismatchError
from krm_fn.kube.served.plan import Plan
from krm_fn.values import Json

_TABLE: Final = "1.32"
"""The release whose table is read; what 1.13 has, it has."""

_LATER: Final = {
    "meta/v1.ObjectMeta": "managedFields",
    "core/v1.PodSpec": """
        ephemeralContainers preemptionPolicy overhead topologySpreadConstraints setHostnameAsFQDN os
        hostUsers schedulingGates resourceClaims resources""",
    "core/v1.Volume": "csi ephemeral image",
    "core/v1.QuobyteVolumeSource": "tenant",
    "core/v1.VolumeProjection": "clusterTrustBundle",
    "core/v1.Container": "resizePolicy restartPolicy startupProbe",
    "core/v1.ResourceRequirements": "claims",
    "core/v1.VolumeMount": "recursiveReadOnly subPathExpr",
    "core/v1.LifecycleHandler": "sleep",
    "core/v1.Probe": "grpc terminationGracePeriodSeconds",
    "core/v1.SecurityContext": "windowsOptions seccompProfile appArmorProfile",
    "core/v1.PodSecurityContext": """
        windowsOptions supplementalGroupsPolicy fsGroupChangePolicy seccompProfile appArmorProfile
        seLinuxChangePolicy""",
    "core/v1.PodAffinityTerm": "namespaceSelector matchLabelKeys mismatchLabelKeys",
    "core/v1.PodStatus": "hostIPs podIPs ephemeralContainerStatuses resize resourceClaimStatuses",
    "core/v1.ContainerStatus": """
        started allocatedResources resources volumeMounts user allocatedResourcesStatus""",
}
"""The fields that came to these types after Kubernetes 1.13."""

_REFERENCE: Final = frozenset(("name",))
_PROMOTED: Final = {
    "core/v1.ConfigMapEnvSource": _REFERENCE,
    "core/v1.SecretEnvSource": _REFERENCE,
    "core/v1.ConfigMapKeySelector": _REFERENCE,
    "core/v1.SecretKeySelector": _REFERENCE,
    "core/v1.ConfigMapProjection": _REFERENCE,
    "core/v1.SecretProjection": _REFERENCE,
    "core/v1.ConfigMapVolumeSource": _REFERENCE,
    "core/v1.Probe": frozenset(("exec", "httpGet", "tcpSocket")),
}
"""Fields of embedded types, of which the YAML reader does not find the type.

Below them no number becomes a text. (The sources of volumes are such fields, too.)
"""


def read_pod(value: Any) -> Json:
    """A Pod as Kubernetes 1.13 reads and writes it. Raises EvaluationError."""
    return _read(value, "core/v1.Pod", _decoders().json)


def read_pod_spec(value: Any) -> Json:
    """The PodSpec of a YAML value; null is an empty one. Raises EvaluationError."""
    return _read({} if value is None else value, "core/v1.PodSpec", _decoders().yaml)


def _read(value: Any, name: str, decoder: Folding) -> Json:
    try:
        return decoder.read(value, _schemas().struct(name))
    except MismatchError as mismatch:
        raise EvaluationError(mismatch.error().message) from None


@cache
def _schemas() -> Schemas:
    return Schemas(_TABLE)


class _Decoders(NamedTuple):
    json: Folding
    yaml: Folding


@cache
def _decoders() -> _Decoders:
    plan = Plan({}, {})
    return _Decoders(Folding(plan, _fields), Folding(plan, _fields, as_text, _is_promoted))


def _fields(struct: Struct) -> dict[str, Field]:
    """A type's fields but for those that came later."""
    later = _LATER.get(struct.name, "").split()
    return {name: field for name, field in struct.fields.items() if name not in later}


def _is_promoted(struct: Struct, field: Field) -> bool:
    if struct.name == "core/v1.Volume":
        return field.name != "name"
    return field.name in _PROMOTED.get(struct.name, ())
