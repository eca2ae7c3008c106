"""JSON and YAML to the Go types of Kubernetes 1.13, with which SuperGloo is built, and back.

Go's decoder takes names in any case, and where two keys name one field it decodes into what is
there already. Fields that Kubernetes 1.13 does not have are dropped whatever they hold. From YAML,
numbers and booleans become texts where a text is wanted. The types are those of the schema table
without what came later; values and their written form are those of `kube.served.plan`.
Source: Go's encoding/json (decode.go, fold.go); ghodss/yaml v1.0.0; k8s.io/api, Kubernetes 1.13.1.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any, Final

from krm_fn.dialects.appmesh.yamltext import as_text
from krm_fn.errors import EvaluationError
from krm_fn.kube.schema import Field, Schemas, Struct, Type, Value
from krm_fn.kube.served.mismatch import Mismatch
from krm_fn.kube.served.plan import Plan
from krm_fn.lang.go.json.encode import float_text
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

_READ_BY_THEMSELVES: Final = frozenset((Value.QUANTITY, Value.INT_OR_STRING, Value.TIME))
"""Types that make something of null, too."""

_FOLDS: Final = str.maketrans({"\u017f": "s", "\u212a": "k"})


def read_pod(value: Any) -> Json:
    """A Pod as Kubernetes 1.13 reads and writes it. Raises EvaluationError."""
    return _read(value, "core/v1.Pod", from_yaml=False)


def read_pod_spec(value: Any) -> Json:
    """The PodSpec of a YAML value; null is an empty one. Raises EvaluationError."""
    return _read({} if value is None else value, "core/v1.PodSpec", from_yaml=True)


def _read(value: Any, name: str, *, from_yaml: bool) -> Json:
    struct, plan = _types()[0].struct(name), _types()[1]
    try:
        folded = _Decoder(from_yaml).struct(value, struct, {})
        written: Json = plan.struct(struct)(folded)
    except Mismatch as mismatch:
        raise EvaluationError(mismatch.error().message) from None
    return written


@cache
def _types() -> tuple[Schemas, Plan]:
    return Schemas(_TABLE), Plan({}, {})


@cache
def _fields(struct_name: str) -> tuple[dict[str, Field], dict[str, Field]]:
    """A type's fields by their names and by their names in lower case."""
    later = _LATER.get(struct_name, "").split()
    fields = _types()[0].struct(struct_name).fields
    known = {name: field for name, field in fields.items() if name not in later}
    lower: dict[str, Field] = {}
    for name, field in known.items():
        lower.setdefault(name.lower(), field)
    return known, lower


class _Decoder:
    """Puts values under their fields' names; single values are checked by who writes them."""

    def __init__(self, from_yaml: bool) -> None:
        self.from_yaml = from_yaml

    def struct(self, value: Any, struct: Struct, there: Json) -> Json:
        """`value` decoded into what is there already, with the members in Go's order."""
        if type(value) is not dict:
            raise Mismatch("a map", value)
        exact, lower = _fields(struct.name)
        made = dict(there)
        # Keys come in the order in which a map's JSON has them.
        for key in sorted(value):
            member = value[key]
            field = exact.get(key) or lower.get(key.translate(_FOLDS).lower())
            if field is None:
                _check_json(member, key)
                continue
            if member is None:
                if field.type.pointer or field.type.value in _NIL or _reads_null(field.type):
                    made.pop(field.name, None)
                continue
            if field.name in made:
                # What is wrong with the first of two stays wrong.
                _types()[1].struct(struct)({field.name: made[field.name]})
            decoder = _JSON if self.from_yaml and _is_promoted(struct, field) else self
            try:
                made[field.name] = decoder.value(member, field.type, made.get(field.name))
            except Mismatch as mismatch:
                mismatch.steps.append(key)
                raise
        return {name: made[name] for name in exact if name in made}

    def value(self, value: Any, kind: Type, there: Any) -> Any:
        """A value that is not null."""
        if kind.value is Value.STRUCT:
            return self.struct(value, kind.struct, there or {})
        if kind.value is Value.LIST:
            return self.list(value, kind, there or [])
        if kind.value is Value.MAP:
            return self.map(value, kind, there or {})
        if self.from_yaml and kind.value is Value.STRING and type(value) in (bool, int, float):
            return as_text(value)
        if kind.value in _WHOLE and type(value) is float and value.is_integer():
            # What JSON has of a float are its shortest digits, and zeros.
            digits = float_text(value)
            return value if "e" in digits else int(digits)
        return value

    def list(self, value: Any, kind: Type, there: list[Any]) -> list[Any]:
        if type(value) is not list:
            raise Mismatch("a list", value)
        assert kind.element is not None
        made = []
        for n, member in enumerate(value):
            old = there[n] if n < len(there) else None
            if member is None:
                made.append(None if _reads_null(kind.element) else old)
                continue
            try:
                made.append(self.value(member, kind.element, old))
            except Mismatch as mismatch:
                mismatch.steps.append(n)
                raise
        return made

    def map(self, value: Any, kind: Type, there: Json) -> Json:
        if type(value) is not dict:
            raise Mismatch("a map", value)
        assert kind.element is not None
        made = dict(there)
        for key in sorted(value):
            try:
                member = value[key]
                made[key] = None if member is None else self.value(member, kind.element, None)
            except Mismatch as mismatch:
                mismatch.steps.append(key)
                raise
        return made


_JSON: Final = _Decoder(from_yaml=False)


def _is_promoted(struct: Struct, field: Field) -> bool:
    if struct.name == "core/v1.Volume":
        return field.name != "name"
    return field.name in _PROMOTED.get(struct.name, ())


_WHOLE: Final = frozenset((Value.INT32, Value.INT64, Value.INT_OR_STRING))
_NIL: Final = frozenset((Value.LIST, Value.MAP))


def _reads_null(kind: Type) -> bool:
    return kind.value in _READ_BY_THEMSELVES


def _check_json(value: Any, key: str) -> None:
    """JSON has no infinite numbers, whether anybody wants them or not."""
    left = [value]
    while left:
        member = left.pop()
        if type(member) is dict:
            left += member.values()
        elif type(member) is list:
            left += member
        elif type(member) is float and not math.isfinite(member):
            raise EvaluationError(f"json: unsupported value: {member} in {key}")
