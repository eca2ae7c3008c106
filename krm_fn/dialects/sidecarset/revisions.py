"""Which version of a set injects: the one at hand, or an older one from a ControllerRevision.

A cluster has the revisions and throws dice between both; a render has what its input holds.
Source: OpenKruise v1.9.0 pkg/webhook/pod/mutating/sidecarset.go getSuitableRevisionSidecarSet,
pkg/control/sidecarcontrol/history_control.go; the SidecarSet specification, A4.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from krm_fn import limits
from krm_fn.admission import Cluster
from krm_fn.dialects.sidecarset.matching import LabelSelector
from krm_fn.dialects.sidecarset.options import Revision
from krm_fn.dialects.sidecarset.refused import InjectionRefusedError
from krm_fn.dialects.sidecarset.sets import SidecarSet, hashes
from krm_fn.dialects.sidecarset.types import V1BETA1, plans, types
from krm_fn.kube.gotypes.mismatches import mismatch_error
from krm_fn.kube.served.mismatch import MismatchError
from krm_fn.lang.go.strconv import quote
from krm_fn.values import Json, get

KRUISE_NAMESPACE: Final = "kruise-system"

_SET_LABEL: Final = "kruise.io/sidecarset-name"
_VERSION_LABEL: Final = "apps.kruise.io/sidecarset-custom-version"


class RevisionNotFoundError(Exception):
    """The revision that a set asks for is not among the objects; the text is the API server's."""


def wanted_revision(sidecar_set: SidecarSet) -> Json | None:
    """The part of the spec that asks for a revision, or None."""
    revision: Json | None = sidecar_set.spec["injectionStrategy"].get("revision")
    if revision is None or not {"revisionName", "customVersion"} & revision.keys():
        return None
    return revision


def find_revision(sidecar_set: SidecarSet, wanted: Json, cluster: Cluster) -> Json:
    """The ControllerRevision that is asked for. Raises RevisionNotFoundError."""
    name = wanted.get("revisionName")
    if name is not None:
        found = cluster.get("apps", "ControllerRevision", KRUISE_NAMESPACE, name)
        if found is None:
            raise RevisionNotFoundError(f'controllerrevisions.apps "{name}" not found')
        return found
    labels = {_SET_LABEL: sidecar_set.name, _VERSION_LABEL: wanted["customVersion"]}
    revisions = [
        revision
        for revision in cluster.list("apps", "ControllerRevision", KRUISE_NAMESPACE)
        if all(get(revision, ("metadata", "labels", key)) == value for key, value in labels.items())
    ]
    if not revisions:
        raise RevisionNotFoundError(f'ControllerRevision.apps "{sidecar_set.name}" not found')
    return max(revisions, key=_age)


def _age(revision: Json) -> tuple[int, str]:
    number = revision.get("revision")
    name = get(revision, ("metadata", "name"), "")
    return number if type(number) is int else 0, str(name)


def restored(sidecar_set: SidecarSet, revision: Json) -> SidecarSet:
    """The set as a revision keeps it, without defaults. Raises InjectionRefusedError."""
    patch = get(revision, ("data", "spec")) or {}
    struct = types(V1BETA1).object
    merged = {
        "apiVersion": V1BETA1,
        "kind": "SidecarSet",
        "metadata": sidecar_set.metadata,
        "spec": _strategic(sidecar_set.spec, patch, ()),
    }
    name = get(revision, ("metadata", "name"), "")
    with limits.deep_stack():
        try:
            decoded: Json = plans().written.struct(struct)(merged)
        except MismatchError as mismatch:
            error = mismatch_error(mismatch, struct)
            where = f"ControllerRevision {name}"
            raise InjectionRefusedError(error.message, (sidecar_set.ref,), where) from None
    spec = decoded["spec"]
    kept = {
        key: str(get(revision, ("metadata", "annotations", key)) or computed)
        for key, computed in hashes(spec).items()
    }
    annotations = {**sidecar_set.annotations, **kept}
    metadata = {**sidecar_set.metadata, "annotations": annotations}
    return replace(sidecar_set, metadata=metadata, spec=spec, whole=spec, latest_revision=str(name))


def injects_revision(
    sidecar_set: SidecarSet, wanted: Json, labels: Mapping[str, str], pinned: Revision
) -> bool:
    """Whether the older version injects into a Pod with these labels.

    Raises InjectionRefusedError.
    """
    strategy = sidecar_set.spec["updateStrategy"]
    if strategy.get("paused") or wanted.get("policy") != "Partial":
        return True
    if "selector" in strategy:
        selector = LabelSelector(strategy["selector"])
        if selector.error:
            raise InjectionRefusedError(
                selector.error, (sidecar_set.ref,), f"SidecarSet {sidecar_set.name}"
            )
        if not selector.matches(labels):
            return True
    partition = strategy.get("partition")
    if type(partition) is not str:
        return False
    share = _percentage(partition, sidecar_set)
    if 0 < share < 1:
        if pinned is Revision.AS_CLUSTER:
            message = (
                f"policy Partial with partition {partition} leaves to chance which revision is "
                "injected; set sidecarSets.revision to Latest or Revision"
            )
            raise InjectionRefusedError(
                message, (sidecar_set.ref,), f"SidecarSet {sidecar_set.name}"
            )
        return pinned is Revision.REVISION
    return share >= 1


def _percentage(text: str, sidecar_set: SidecarSet) -> float:
    digits = text.replace("%", "")
    try:
        return float(digits) / 100
    except ValueError:
        message = f"strconv.ParseFloat: parsing {quote(digits)}: invalid syntax"
        where = f"SidecarSet {sidecar_set.name}"
        raise InjectionRefusedError(message, (sidecar_set.ref,), where) from None


_MERGE_KEYS: Final = {
    "initContainers": "name",
    "containers": "name",
    "volumes": "name",
    "imagePullSecrets": "name",
    "env": "name",
    "volumeMounts": "mountPath",
    "volumeDevices": "devicePath",
    "ports": "containerPort",
}


def _strategic(value: Any, patch: Any, path: tuple[str, ...]) -> Any:
    """Strategic merge patch, as far as revisions use it: keyed lists, nulls and `$patch`."""
    if type(patch) is dict:
        directive = patch.get("$patch")
        members = {key: member for key, member in patch.items() if key != "$patch"}
        base = {} if type(value) is not dict or directive == "replace" else value
        result = dict(base)
        for key, member in members.items():
            if member is None:
                result.pop(key, None)
            else:
                result[key] = _strategic(base.get(key), member, (*path, key))
        return result
    key = _MERGE_KEYS.get(path[-1]) if path else None
    if type(patch) is not list or key is None or type(value) is not list:
        return patch
    return _keyed(value, patch, key, path)


def _keyed(value: list[Any], patch: list[Any], key: str, path: tuple[str, ...]) -> list[Any]:
    """The elements of both lists, those of the patch in its order.

    An element that only `value` has comes before the first of the patch that follows it there.
    """
    if any(get(element, ("$patch",)) == "replace" for element in patch):
        return [element for element in patch if get(element, ("$patch",)) is None]
    names = [get(element, (key,)) for element in value]
    gone = [get(e, (key,)) for e in patch if get(e, ("$patch",)) == "delete"]
    patch = [e for e in patch if get(e, ("$patch",)) is None]
    wanted = [get(element, (key,)) for element in patch]
    own = [n for n, name in enumerate(names) if name not in wanted and name not in gone]
    result: list[Any] = []
    for name, element in zip(wanted, patch, strict=True):
        place = names.index(name) if name in names else -1
        while own and own[0] < place:
            result.append(value[own.pop(0)])
        before = value[place] if place >= 0 else None
        result.append(_strategic(before, element, path[:-1]))
    return result + [value[n] for n in own]
