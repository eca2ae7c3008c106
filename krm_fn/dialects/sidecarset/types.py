"""The Go types of a SidecarSet, and what its defaulting webhook fills in.

Types and defaults are data for `kube.served.plan`, which makes round trips of them. This module
knows fields; what they are for is known elsewhere.
Source: OpenKruise v1.9.0 apis/apps/v1beta1/sidecarset_types.go, apis/apps/defaults; the SidecarSet
specification, A1 and A2, as its vectors correct them.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final, NamedTuple

from krm_fn.kube.schema import Field, Schemas, Struct, Type, Value
from krm_fn.kube.served import Served, pods
from krm_fn.kube.served.defaults import DEFAULTS
from krm_fn.kube.served.plan import Plan, Rule
from krm_fn.values import Json

KRUISE_KUBERNETES: Final = "1.32"
"""The release of Kubernetes whose types OpenKruise v1.9.0 is built with."""

V1ALPHA1: Final = "apps.kruise.io/v1alpha1"
V1BETA1: Final = "apps.kruise.io/v1beta1"

_STRING: Final = Type(Value.STRING)
_STRINGS: Final = Type(Value.LIST, element=_STRING)
_STRING_MAP: Final = Type(Value.MAP, element=_STRING)
_BOOLEAN: Final = Type(Value.BOOLEAN)
_INT32: Final = Type(Value.INT32)
_OPTIONAL_STRING: Final = Type(Value.STRING, pointer=True)
_OPTIONAL_INT32: Final = Type(Value.INT32, pointer=True)
_COUNT_OR_PERCENT: Final = Type(Value.INT_OR_STRING, pointer=True)


def _struct(name: str, *fields: Field) -> Struct:
    return Struct(name, {field.name: field for field in fields}, False)


def _field(name: str, type_: Type, *, always: bool = False) -> Field:
    """A field; one that is not `always` written is left out where it is empty."""
    return Field(name, type_, not always, False, "granular", (), {})


def _of(struct: Struct, pointer: bool = False) -> Type:
    return Type(Value.STRUCT, pointer, struct=lambda: struct)


def _list(struct: Struct) -> Type:
    return Type(Value.LIST, element=_of(struct))


@cache
def kubernetes() -> Served:
    """Kubernetes' own kinds, as Kruise knows them."""
    return Served(Schemas(KRUISE_KUBERNETES))


class Types(NamedTuple):
    """The struct types of one version's SidecarSets that others ask for by name."""

    object: Struct
    container: Struct
    init_container: Struct


@cache
def types(api_version: str) -> Types:
    """The types of `V1ALPHA1` or `V1BETA1`."""
    core = Schemas(KRUISE_KUBERNETES).struct
    selector = _of(core("meta/v1.LabelSelector"), pointer=True)
    containers = [_sidecar(core, name) for name in (_SIDECAR, _INIT_SIDECAR)]
    revision = _struct(
        "kruise/v1beta1.SidecarSetInjectRevision",
        _field("customVersion", _OPTIONAL_STRING),
        _field("revisionName", _OPTIONAL_STRING),
        _field("policy", _STRING),
    )
    injection = _struct(
        "kruise/v1beta1.SidecarSetInjectionStrategy",
        _field("paused", _BOOLEAN),
        _field("revision", _of(revision, pointer=True)),
    )
    older = " (v1alpha1)" if api_version == V1ALPHA1 else ""
    spec = _struct(
        _SPEC + older,
        _field("selector", selector),
        *([_field("namespace", _STRING)] if api_version == V1ALPHA1 else []),
        _field("namespaceSelector", selector),
        _field("initContainers", _list(containers[1])),
        _field("containers", _list(containers[0])),
        _field("volumes", _list(core("core/v1.Volume"))),
        _field("updateStrategy", _of(_update_strategy(selector))),
        _field("injectionStrategy", _of(injection)),
        _field("imagePullSecrets", _list(core("core/v1.LocalObjectReference"))),
        _field("revisionHistoryLimit", _OPTIONAL_INT32),
        _field("patchPodMetadata", _list(_PATCH)),
        *([_field("customVersion", _STRING)] if api_version == V1BETA1 else []),
    )
    whole = _struct(
        "kruise/v1beta1.SidecarSet" + older,
        _field("kind", _STRING),
        _field("apiVersion", _STRING),
        _field("metadata", _of(core("meta/v1.ObjectMeta"))),
        _field("spec", _of(spec)),
        _field("status", _of(_STATUS)),
    )
    return Types(whole, containers[0], containers[1])


_SPEC: Final = "kruise/v1beta1.SidecarSetSpec"
_SIDECAR: Final = "kruise/v1beta1.SidecarContainer"
_INIT_SIDECAR: Final = "kruise/v1beta1.SidecarContainer (init)"
_STARTUP: Final = " (startup)"

_PATCH: Final = _struct(
    "kruise/v1beta1.SidecarSetPatchPodMetadata",
    _field("annotations", _STRING_MAP),
    _field("patchPolicy", _STRING),
)
_STATUS: Final = _struct(
    "kruise/v1beta1.SidecarSetStatus",
    _field("observedGeneration", Type(Value.INT64)),
    _field("matchedPods", _INT32, always=True),
    _field("updatedPods", _INT32, always=True),
    _field("readyPods", _INT32, always=True),
    _field("updatedReadyPods", _INT32),
    _field("latestRevision", _STRING),
    _field("collisionCount", _OPTIONAL_INT32),
)
_UPGRADE: Final = _struct(
    "kruise/v1beta1.SidecarContainerUpgradeStrategy",
    _field("upgradeType", _STRING),
    _field("hotUpgradeEmptyImage", _STRING),
)
_SHARE: Final = _struct("kruise/v1beta1.ShareVolumePolicy", _field("type", _STRING))
_SHARE_DEVICE: Final = _struct("kruise/v1beta1.ShareVolumePolicy (device)", _field("type", _STRING))


def _expressions(name: str) -> Type:
    struct = _struct(name, _field("cpu", _STRING), _field("memory", _STRING))
    return _of(struct, pointer=True)


_RESOURCES_POLICY: Final = _struct(
    "kruise/v1beta1.ResourcesPolicy",
    _field("targetContainersMode", _STRING),
    _field("targetContainersNameRegex", _STRING),
    _field(
        "resourcesExpr",
        _of(
            _struct(
                "kruise/v1beta1.ResourcesExpr",
                _field("limits", _expressions("kruise/v1beta1.ResourceExprLimits")),
                _field("requests", _expressions("kruise/v1beta1.ResourceExprRequests")),
            )
        ),
    ),
)


def _sidecar(core: Any, name: str) -> Struct:
    """A container with the fields that Kruise adds.

    The startup probe has types of its own, since the webhook forgets its defaults.
    """
    container: Struct = core("core/v1.Container")
    probe: Struct = core("core/v1.Probe")
    http: Struct = core("core/v1.HTTPGetAction")
    forgotten_http = Struct(http.name + _STARTUP, http.fields, http.atomic)
    probe_fields = {
        **probe.fields,
        "httpGet": _field("httpGet", _of(forgotten_http, pointer=True)),
    }
    forgotten = Struct(probe.name + _STARTUP, probe_fields, probe.atomic)
    source = _struct(
        "kruise/v1beta1.SourceContainerNameSource",
        _field("fieldRef", _of(core("core/v1.ObjectFieldSelector"), pointer=True)),
    )
    transfer = _struct(
        "kruise/v1beta1.TransferEnvVar",
        _field("sourceContainerName", _STRING),
        _field("sourceContainerNameFrom", _of(source, pointer=True)),
        _field("envName", _STRING),
        _field("envNames", _STRINGS),
    )
    own = (
        _field("podInjectPolicy", _STRING),
        _field("upgradeStrategy", _of(_UPGRADE)),
        _field("shareVolumePolicy", _of(_SHARE)),
        _field("shareVolumeDevicePolicy", _of(_SHARE_DEVICE, pointer=True)),
        _field("transferEnv", _list(transfer)),
        _field("resourcesPolicy", _of(_RESOURCES_POLICY, pointer=True)),
    )
    fields = {**container.fields, "startupProbe": _field("startupProbe", _of(forgotten, True))}
    return Struct(name, {**fields, **{field.name: field for field in own}}, False)


OWN_FIELDS: Final = frozenset(
    {
        "podInjectPolicy",
        "upgradeStrategy",
        "shareVolumePolicy",
        "shareVolumeDevicePolicy",
        "transferEnv",
        "resourcesPolicy",
    }
)
"""What Kruise adds to a container; no Pod has it."""


def _update_strategy(selector: Type) -> Struct:
    weight = _struct(
        "kruise/v1beta1.UpdatePriorityWeightTerm",
        _field("weight", _INT32, always=True),
        _field("matchSelector", Type(Value.STRUCT, struct=lambda: selector.struct), always=True),
    )
    order = _struct(
        "kruise/v1beta1.UpdatePriorityOrderTerm", _field("orderedKey", _STRING, always=True)
    )
    priority = _struct(
        "kruise/v1beta1.UpdatePriorityStrategy",
        _field("orderPriority", _list(order)),
        _field("weightPriority", _list(weight)),
    )
    scatter = _struct(
        "kruise/v1beta1.UpdateScatterTerm",
        _field("key", _STRING, always=True),
        _field("value", _STRING, always=True),
    )
    return _struct(
        "kruise/v1beta1.SidecarSetUpdateStrategy",
        _field("type", _STRING),
        _field("paused", _BOOLEAN),
        _field("selector", selector),
        _field("partition", _COUNT_OR_PERCENT),
        _field("maxUnavailable", _COUNT_OR_PERCENT),
        _field("priorityStrategy", _of(priority, pointer=True)),
        _field("scatterStrategy", _list(scatter)),
    )


# -------------------------------------------------------------------------------------- defaults

_KRUISE: Final[dict[str, dict[str, Any]]] = {
    _SPEC: {"revisionHistoryLimit": 10},
    f"{_SPEC} (v1alpha1)": {"revisionHistoryLimit": 10},
    "kruise/v1beta1.SidecarSetUpdateStrategy": {
        "type": "RollingUpdate",
        "partition": 0,
        "maxUnavailable": 1,
    },
    "kruise/v1beta1.SidecarSetInjectRevision": {"policy": "Always"},
    "kruise/v1beta1.SidecarSetPatchPodMetadata": {"patchPolicy": "Retain"},
    "kruise/v1beta1.SidecarContainerUpgradeStrategy": {"upgradeType": "ColdUpgrade"},
    "kruise/v1beta1.ShareVolumePolicy": {"type": "disabled"},
    _SIDECAR: {"podInjectPolicy": "BeforeAppContainer"},
    _INIT_SIDECAR: {"podInjectPolicy": "AfterAppContainer"},
}

_CORE_TYPES: Final = (
    "ContainerPort",
    "Probe",
    "HTTPGetAction",
    "ObjectFieldSelector",
    "SecretVolumeSource",
    "ConfigMapVolumeSource",
    "DownwardAPIVolumeSource",
    "ProjectedVolumeSource",
    "ServiceAccountTokenProjection",
    "HostPathVolumeSource",
)
"""The core types whose defaults the webhook fills in, besides containers and volumes themselves."""


class Plans(NamedTuple):
    """Round trips: as written, with Kruise's own defaults, and with those of core types, too."""

    written: Plan
    kruise: Plan
    whole: Plan


@cache
def plans() -> Plans:
    container = DEFAULTS["core/v1.Container"]
    core = {f"core/v1.{name}": DEFAULTS[f"core/v1.{name}"] for name in _CORE_TYPES}
    whole = {**_KRUISE, **core}
    for name in (_SIDECAR, _INIT_SIDECAR):
        whole[name] = {**_KRUISE[name], **container}
    rules: dict[str, Rule] = {
        _SIDECAR: pods.container,
        _INIT_SIDECAR: pods.container,
        "core/v1.Volume": pods.volume,
    }
    return Plans(Plan({}, {}), Plan(_KRUISE, {}), Plan(whole, rules, rounds=_is_resources))


def _is_resources(struct: Struct) -> bool:
    return struct.name == "core/v1.ResourceRequirements"


def in_order(value: Any, type_: Type) -> Any:
    """A value with its members in Go's order, maps sorted, as json.Marshal writes it."""
    if type_.value is Value.STRUCT and type(value) is dict:
        fields = type_.struct.fields
        return {name: in_order(value[name], fields[name].type) for name in fields if name in value}
    if type_.value is Value.LIST and type(value) is list and type_.element is not None:
        return [in_order(element, type_.element) for element in value]
    if type_.value is Value.MAP and type(value) is dict:
        return {key: value[key] for key in sorted(value)}
    return value


def container_in_order(container: Json, *, init: bool) -> Json:
    """A sidecar as json.Marshal writes it."""
    made = types(V1BETA1)
    struct = made.init_container if init else made.container
    ordered: Json = in_order(container, _of(struct))
    return ordered


@cache
def whitelist_types() -> Struct:
    """The type of the ConfigMap's JSON that says which annotations may be patched."""
    core = Schemas(KRUISE_KUBERNETES).struct
    rule = _struct(
        "configuration.SidecarSetPatchMetadataWhiteRule",
        _field("selector", _of(core("meta/v1.LabelSelector"), pointer=True)),
        _field("allowedAnnotationKeyExprs", _STRINGS, always=True),
    )
    name = "configuration.SidecarSetPatchMetadataWhiteList"
    return _struct(name, _field("rules", _list(rule), always=True))
