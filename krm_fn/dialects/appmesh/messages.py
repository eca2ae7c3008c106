"""Read a Mesh's spec as SuperGloo does: as the JSON of a protobuf message.

Names are read in camelCase and as the messages spell them, the former wins; null is as if absent,
but for the choice in a oneof; a field that is unknown is an error. This module knows the messages'
fields, not what they mean.
Source: SuperGloo v0.3.22 api/v1/mesh.proto and selector.proto; solo-kit v0.9.6 api/v1;
gogo/protobuf v1.2.0 jsonpb.
"""

from __future__ import annotations

from typing import Any, Final

from krm_fn.errors import DecodeError
from krm_fn.lang.go.json.unmarshal import kind_of, type_error
from krm_fn.lang.go.strconv import quote
from krm_fn.values import Json, Path

_STRING: Final = "string"
_BOOLEAN: Final = "bool"
_STATE: Final = "core.Status_State"
_LIST: Final = "[]"
_MAP: Final = "map[string]"

_MESSAGES: Final[dict[str, dict[str, str]]] = {
    "v1.Mesh": {
        "status": "core.Status",
        "metadata": "core.Metadata",
        "mtls_config": "v1.MtlsConfig",
        "monitoring_config": "v1.MonitoringConfig",
        "discovery_metadata": "v1.DiscoveryMetadata",
        "smi_enabled": _BOOLEAN,
    },
    "v1.IstioMesh": {"installation_namespace": _STRING, "version": _STRING},
    "v1.LinkerdMesh": {"installation_namespace": _STRING, "version": _STRING},
    "v1.AwsAppMesh": {
        "aws_secret": "core.ResourceRef",
        "region": _STRING,
        "enable_auto_inject": _BOOLEAN,
        "injection_selector": "v1.PodSelector",
        "virtual_node_label": _STRING,
        "sidecar_patch_config_map": "core.ResourceRef",
    },
    "v1.MtlsConfig": {"mtls_enabled": _BOOLEAN, "root_certificate": "core.ResourceRef"},
    "v1.MonitoringConfig": {"prometheus_configmaps": "[]core.ResourceRef"},
    "v1.DiscoveryMetadata": {
        "injected_namespace_label": _STRING,
        "enable_auto_inject": _BOOLEAN,
        "mesh_version": _STRING,
        "installation_namespace": _STRING,
        "upstreams": "[]core.ResourceRef",
        "mtls_config": "v1.MtlsConfig",
    },
    "v1.PodSelector": {},
    "v1.PodSelector_LabelSelector": {"labels_to_match": "map[string]string"},
    "v1.PodSelector_UpstreamSelector": {"upstreams": "[]core.ResourceRef"},
    "v1.PodSelector_ServiceSelector": {"services": "[]core.ResourceRef"},
    "v1.PodSelector_NamespaceSelector": {"namespaces": "[]string"},
    "core.ResourceRef": {"name": _STRING, "namespace": _STRING},
    "core.Status": {
        "state": _STATE,
        "reason": _STRING,
        "reported_by": _STRING,
        "subresource_statuses": "map[string]core.Status",
    },
    "core.Metadata": {
        "name": _STRING,
        "namespace": _STRING,
        "cluster": _STRING,
        "resource_version": _STRING,
        "labels": "map[string]string",
        "annotations": "map[string]string",
    },
}
"""Each message's fields and their types, in Go's order."""

_ONE_OF: Final[dict[str, dict[str, str]]] = {
    "v1.Mesh": {
        "istio": "v1.IstioMesh",
        "aws_app_mesh": "v1.AwsAppMesh",
        "linkerd": "v1.LinkerdMesh",
    },
    "v1.PodSelector": {
        "label_selector": "v1.PodSelector_LabelSelector",
        "upstream_selector": "v1.PodSelector_UpstreamSelector",
        "service_selector": "v1.PodSelector_ServiceSelector",
        "namespace_selector": "v1.PodSelector_NamespaceSelector",
    },
}
"""The fields of which a message has one, null or not."""


class TwoChoicesError(DecodeError):
    """A message has two fields of which it may have one: SuperGloo takes either, by chance."""


_STATES: Final = ("Pending", "Accepted", "Rejected")


def read_spec(spec: Any) -> Json:
    """A Mesh's spec with the fields in camelCase, nulls left out but where one is a choice.

    Raises DecodeError with the reason that SuperGloo gives and the path in the Mesh, or
    TwoChoicesError.
    """
    return {} if spec is None else _message(spec, "v1.Mesh", ("spec",))


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def _message(value: Any, message: str, path: Path) -> Json:
    if type(value) is not dict:
        raise _mismatch(value, "map[string]json.RawMessage", path)
    left = dict(value)
    made: Json = {}
    for name, kind in _MESSAGES[message].items():
        key = _consumed(left, name)
        if key and value[key] is not None:
            made[_camel(name)] = _value(value[key], kind, (*path, key))
    chosen: list[str] = []
    for name, kind in _ONE_OF.get(message, {}).items():
        key = _consumed(left, name)
        if key:
            chosen.append(key)
            member = value[key]
            made[_camel(name)] = None if member is None else _value(member, kind, (*path, key))
    if left:
        name = min(left)
        raise DecodeError(f"unknown field {quote(name)} in {message}", (*path, name))
    if len(chosen) > 1:
        reason = f"it has {' and '.join(chosen)}, of which SuperGloo takes one by chance"
        raise TwoChoicesError(reason, path)
    return made


def _consumed(left: Json, name: str) -> str:
    """The key under which a field is there, "" if it is not; both spellings are used up."""
    found = ""
    for key in (name, _camel(name)):
        if key in left:
            del left[key]
            found = key
    return found


def _value(value: Any, kind: str, path: Path) -> Any:
    if kind.startswith(_LIST):
        if type(value) is not list:
            raise _mismatch(value, "[]json.RawMessage", path)
        element = kind.removeprefix(_LIST)
        return [_member(member, element, (*path, n)) for n, member in enumerate(value)]
    if kind.startswith(_MAP):
        if type(value) is not dict:
            raise _mismatch(value, "map[string]json.RawMessage", path)
        element = kind.removeprefix(_MAP)
        return {key: _member(value[key], element, (*path, key)) for key in value}
    if kind == _STATE:
        return _state(value, path)
    if kind in (_STRING, _BOOLEAN):
        if type(value) is not (str if kind == _STRING else bool):
            raise _mismatch(value, kind, path)
        return value
    return _message(value, kind, path)


def _member(value: Any, kind: str, path: Path) -> Any:
    """An element, of which null is the empty one."""
    if value is None:
        return "" if kind == _STRING else {}
    return _value(value, kind, path)


def _state(value: Any, path: Path) -> Any:
    if type(value) is str and value not in _STATES and not value.isdecimal():
        raise DecodeError(f"unknown value {quote(value)} for enum core.solo.io.Status_State", path)
    if type(value) not in (str, int):
        raise _mismatch(value, _STATE, path)
    return value


def _mismatch(value: Any, kind: str, path: Path) -> DecodeError:
    return DecodeError(type_error(kind_of(value), kind), path)
