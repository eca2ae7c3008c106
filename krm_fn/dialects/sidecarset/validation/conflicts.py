"""Whether a set gets in the way of another one that may match the same Pods.

Source: OpenKruise v1.9.0 pkg/webhook/sidecarset/validating validateSidecarConflict; the SidecarSet
specification, A15.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from krm_fn.dialects.sidecarset.metadata import OVERWRITE, RETAIN
from krm_fn.dialects.sidecarset.sets import SidecarSet
from krm_fn.dialects.sidecarset.validation.selectors import overlap
from krm_fn.kube.validation.fields import invalid
from krm_fn.values import Json, equal


def conflicts(one: SidecarSet, others: Iterable[SidecarSet]) -> Iterator[str]:
    """What a set may not have since other sets have it; of several that do, the last is named."""
    rivals = [other for other in others if other.name != one.name and _may_meet(one, other)]
    for kind in ("initContainers", "containers"):
        owners = {c["name"]: rival for rival in rivals for c in rival.whole.get(kind, ())}
        for container in one.whole.get(kind, ()):
            name = container["name"]
            if name in owners:
                message = f"container {name} already exist in {owners[name].name}"
                yield invalid("spec.containers", name, message)
    yield from _volumes(one, rivals)
    yield from _annotations(one, rivals)


def _may_meet(one: SidecarSet, other: SidecarSet) -> bool:
    spaces = [s.whole.get("namespaceSelector") for s in (one, other)]
    if spaces[0] is not None and spaces[1] is not None and not overlap(spaces[0], spaces[1]):
        return False
    return overlap(one.whole.get("selector", {}), other.whole.get("selector", {}))


def _volumes(one: SidecarSet, rivals: Iterable[SidecarSet]) -> Iterator[str]:
    owners = {v["name"]: (rival, v) for rival in rivals for v in _first_of_name(rival)}
    for volume in one.whole.get("volumes", ()):
        rival, other = owners.get(volume["name"], (one, volume))
        if not equal(volume, other):
            message = f"volume {volume['name']} is in conflict with sidecarset {rival.name}"
            yield invalid("spec.volumes", volume["name"], message)


def _first_of_name(one: SidecarSet) -> Iterable[Json]:
    first: dict[str, Json] = {}
    for volume in one.whole.get("volumes", ()):
        first.setdefault(volume["name"], volume)
    return first.values()


def _annotations(one: SidecarSet, rivals: Iterable[SidecarSet]) -> Iterator[str]:
    owners = {
        key: (rival, entry["patchPolicy"])
        for rival in rivals
        for entry in _entries(rival)
        for key in entry.get("annotations", {})
    }
    for entry in _entries(one):
        for key in entry.get("annotations", {}):
            if key not in owners:
                continue
            rival, policy = owners[key]
            if OVERWRITE in (policy, entry["patchPolicy"]):
                message = f"annotation {key} is in conflict with sidecarset {rival.name}"
                yield invalid("spec.patchPodMetadata", key, message)


def _entries(one: SidecarSet) -> list[Json]:
    """The entries that can conflict."""
    entries = one.whole.get("patchPodMetadata", ())
    return [{"patchPolicy": "", **e} for e in entries if e.get("patchPolicy") != RETAIN]
