"""The environments of admission: which libraries a release has, which variables a place has.

`environment(kind, version)` is what conditions, variables, validations, mutations and messages are
compiled in. Made once a kind and version.
Source: apiserver v0.37, pkg/cel/environment/base.go and pkg/admission/plugin/cel/compile.go.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Final

from krm_fn.kube.cel import authz, costs, formats, lists, net, objects, quantity, semver, urls
from krm_fn.lang.cel import (
    LISTS,
    OPTIONALS,
    SETS,
    STANDARD,
    STRINGS,
    STRINGS_0,
    TWO_VARIABLES,
    Environment,
    Library,
    TypeProvider,
)
from krm_fn.lang.cel import types as t
from krm_fn.lang.cel.types import Type

STORED: Final = (1, 1_000)
"""The version under which stored policies are evaluated: everything that there is."""


READ_IN_PLACE_SINCE: Final = (1, 37)
"""The release since which CEL reads Go's types in place, with stricter rules than JSON's."""


def version_of_new(release: tuple[int, int]) -> tuple[int, int]:
    """The version whose libraries an expression may use when a server of a release creates it.

    That is the server's minimum compatibility version, so that the release before still can read
    what is stored. Source: apiserver v0.37, pkg/cel/environment/base.go.
    """
    major, minor = release
    return major, minor - 1


def parse_version(text: str) -> tuple[int, int]:
    """`1.33` as numbers; a patch or a `v` in front is ignored. Raises ValueError."""
    major, _, minor = text.removeprefix("v").partition(".")
    return int(major), int(minor.partition(".")[0])


_GVK: Final = "kubernetes.GroupVersionKind"
_GVR: Final = "kubernetes.GroupVersionResource"
_USER: Final = "kubernetes.UserInfo"
_REQUEST: Final = "kubernetes.AdmissionRequest"
_NAMESPACE: Final = "kubernetes.Namespace"
_NAMESPACE_SPEC: Final = "kubernetes.NamespaceSpec"
_NAMESPACE_STATUS: Final = "kubernetes.NamespaceStatus"
_NAMESPACE_CONDITION: Final = "kubernetes.NamespaceCondition"
_NAMESPACE_METADATA: Final = "kubernetes.NamespaceMetadata"
_VARIABLES: Final = "kubernetes.variables"

_TEXTS: Final = t.list_of(t.STRING)
_TEXT_MAP: Final = t.map_of(t.STRING, t.STRING)

_DECLARED: Final[Mapping[str, Mapping[str, Type]]] = {
    _GVK: {"group": t.STRING, "version": t.STRING, "kind": t.STRING},
    _GVR: {"group": t.STRING, "version": t.STRING, "resource": t.STRING},
    _USER: {
        "username": t.STRING,
        "uid": t.STRING,
        "groups": _TEXTS,
        "extra": t.map_of(t.STRING, _TEXTS),
    },
    _REQUEST: {
        "kind": t.struct(_GVK),
        "resource": t.struct(_GVR),
        "subResource": t.STRING,
        "requestKind": t.struct(_GVK),
        "requestResource": t.struct(_GVR),
        "requestSubResource": t.STRING,
        "name": t.STRING,
        "namespace": t.STRING,
        "operation": t.STRING,
        "userInfo": t.struct(_USER),
        "dryRun": t.BOOL,
        "options": t.DYN,
    },
    _NAMESPACE: {
        "metadata": t.struct(_NAMESPACE_METADATA),
        "spec": t.struct(_NAMESPACE_SPEC),
        "status": t.struct(_NAMESPACE_STATUS),
    },
    _NAMESPACE_SPEC: {"finalizers": _TEXTS},
    _NAMESPACE_STATUS: {"conditions": t.list_of(t.struct(_NAMESPACE_CONDITION)), "phase": t.STRING},
    _NAMESPACE_CONDITION: {
        "status": t.STRING,
        "type": t.STRING,
        "lastTransitionTime": t.TIMESTAMP,
        "message": t.STRING,
        "reason": t.STRING,
    },
    _NAMESPACE_METADATA: {
        "name": t.STRING,
        "generateName": t.STRING,
        "namespace": t.STRING,
        "labels": _TEXT_MAP,
        "annotations": _TEXT_MAP,
        "UID": t.STRING,
        "creationTimestamp": t.TIMESTAMP,
        "deletionGracePeriodSeconds": t.INT,
        "deletionTimestamp": t.TIMESTAMP,
        "generation": t.INT,
        "resourceVersion": t.STRING,
        "finalizers": _TEXTS,
    },
}
"""The types of `request` and `namespaceObject`, which have no other fields."""

_ALIASES: Final = {
    **{kind.name: kind for kind in (t.BOOL, t.BYTES, t.DOUBLE, t.INT, t.STRING, t.UINT)},
    "timestamp": t.TIMESTAMP,
    "duration": t.DURATION,
}
"""Names that upstream declares as types by accident; nothing can be made of them."""


class _Declared(TypeProvider):
    """Types with declared fields, which values do not know about."""

    def __init__(self, fields: Mapping[str, Mapping[str, Type]]) -> None:
        self._fields = fields

    def struct(self, name: str) -> Type | None:
        return t.struct(name) if name in self._fields else _ALIASES.get(name)

    def field(self, name: str, field: str) -> Type | None:
        return self._fields.get(name, {}).get(field)


def _libraries(version: tuple[int, int]) -> list[Library]:
    found = [
        STANDARD,
        urls.library(),
        lists.regex_library(),
        lists.library(includes=version >= (1, 37)),
        authz.library(),
        OPTIONALS,
        quantity.library(),
        STRINGS if version >= (1, 29) else STRINGS_0,
    ]
    since: tuple[tuple[int, tuple[Library, ...]], ...] = (
        (29, (SETS,)),
        (30, (net.ip_library(), net.cidr_library())),
        (31, (formats.library(), authz.selectors_library())),
        (32, (TWO_VARIABLES,)),
        (33, (semver.library(),)),
        (34, (LISTS,)),
    )
    for minor, libraries in since:
        if version >= (1, minor):
            found.extend(libraries)
    return found


@functools.cache
def base(version: tuple[int, int] = STORED) -> Environment:
    """The libraries of a release, without variables."""
    return Environment(
        {}, _libraries(version), validate=version >= (1, 29), estimator=costs.ESTIMATOR
    )


@functools.cache
def environment(
    version: tuple[int, int] = STORED,
    *,
    params: bool = False,
    authorizer: bool = True,
    mutation: bool = False,
) -> Environment:
    """What expressions of a policy are compiled in, but for `variables`.

    `params`: the policy has a paramKind. `authorizer`: not in messages. `mutation`: `Object{}`,
    `JSONPatch{}` and `jsonpatch.escapeKey` are there, as in mutations only.
    """
    variables = {
        "object": t.DYN,
        "oldObject": t.DYN,
        "namespaceObject": t.struct(_NAMESPACE),
        "request": t.struct(_REQUEST),
    }
    if params:
        variables["params"] = t.DYN
    if authorizer:
        variables["authorizer"] = authz.AUTHORIZER
        variables["authorizer.requestResource"] = authz.RESOURCE_CHECK
    made = base(version).extend(variables, providers=[_Declared(_DECLARED)])
    if mutation:
        made = made.extend(libraries=[objects.library()], providers=[objects.MutationTypes()])
    return made


def with_variables(known: Environment, fields: Mapping[str, Type]) -> Environment:
    """The environment with `variables`, whose fields have the given types.

    `fields` is asked while an expression is compiled, so that it may grow from one to the next.
    """
    declared = _Declared({_VARIABLES: fields})
    return known.extend({"variables": t.struct(_VARIABLES)}, providers=[declared])


_KEPT: Final = frozenset(
    {t.BOOL, t.BYTES, t.DOUBLE, t.DURATION, t.INT, t.NULL, t.STRING, t.TIMESTAMP, t.UINT}
)


def variable_type(kind: Type) -> Type:
    """The static type that `variables.x` has where the expression of x has this type."""
    if kind in _KEPT:
        return kind
    if kind.kind in (t.LIST, t.MAP):
        return Type(kind.kind, kind.name, tuple([variable_type(p) for p in kind.params]))
    return t.DYN
