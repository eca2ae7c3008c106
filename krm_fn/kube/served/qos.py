"""A Pod's class of service: BestEffort, Burstable or Guaranteed.

Source: k8s.io/kubernetes pkg/apis/core/helper/qos.
"""

from __future__ import annotations

from typing import Any, Final

from krm_fn.kube.quantity import parse
from krm_fn.values import Json, get


def quality_of(pod: Json, release: tuple[int, int]) -> str:
    """The class of service of a served Pod in a release: the one of its status, if it has one."""
    return get(pod, ("status", "qosClass")) or _computed(pod["spec"], release)


def _computed(spec: Json, release: tuple[int, int]) -> str:
    whole = spec.get("resources") if release >= _POD_RESOURCES else None
    if whole:
        parts = [{"resources": whole}]
    else:
        parts = [*(spec.get("containers") or ()), *(spec.get("initContainers") or ())]
    guaranteed = True
    total: dict[str, set[str]] = {"requests": set(), "limits": set()}
    for part in parts:
        given = {which: _positive(part["resources"].get(which) or {}) for which in total}
        for which, names in total.items():
            names.update(given[which])
        if part["resources"].get("limits") or not whole:
            guaranteed = guaranteed and len(given["limits"]) == len(_COMPUTE)
    if not total["requests"] and not total["limits"]:
        return "BestEffort"
    return "Guaranteed" if guaranteed and _sums_are_equal(parts) else "Burstable"


_POD_RESOURCES: Final = (1, 34)
"""Since when the gate PodLevelResources is on."""

_COMPUTE: Final = ("cpu", "memory")


def _positive(quantities: dict[str, Any]) -> list[str]:
    return [name for name in _COMPUTE if name in quantities and parse(quantities[name]).number > 0]


def _sums_are_equal(containers: list[Json]) -> bool:
    """Whether the containers together request of everything what they are limited to."""
    for name in _COMPUTE:
        sums = []
        for which in ("requests", "limits"):
            texts = [one["resources"].get(which, {}).get(name) for one in containers]
            quantities = [parse(text) for text in texts if text is not None]
            total = parse("0")
            for quantity in quantities:
                total = total.plus(quantity)
            sums.append(total)
        if sums[0].is_more_than(sums[1]) or sums[1].is_more_than(sums[0]):
            return False
    return True
