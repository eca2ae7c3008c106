"""Resource lists with their quantities read, and what a Pod asks for in total.

LimitRanger and ResourceQuota both add up Pods; they differ in what they take of the Pod's own
resources and of its overhead.
Source: k8s.io/component-helpers resource/helpers.go; plugin/pkg/admission/limitranger.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from krm_fn.dialects.builtin.pods import INIT, REGULAR, containers, is_sidecar
from krm_fn.kube.quantity import Quantity, parse
from krm_fn.values import Json

Amounts = Mapping[str, Quantity]
"""Quantities by the name of the resource."""

POD_LEVEL_RESOURCES: Final = (1, 34)
"""The release since which `spec.resources` of a Pod counts."""

HUGE_PAGES: Final = "hugepages-"

_POD_LEVEL: Final = frozenset({"cpu", "memory"})


def amounts(resources: Mapping[str, str] | None) -> dict[str, Quantity]:
    """A resource list of the served form."""
    return {name: parse(text) for name, text in (resources or {}).items()}


def added(one: Amounts, other: Amounts) -> dict[str, Quantity]:
    """The sum, of all resources that either has."""
    total = dict(one)
    for name, quantity in other.items():
        total[name] = total[name].plus(quantity) if name in total else quantity
    return total


def largest(one: Amounts, other: Amounts) -> dict[str, Quantity]:
    """The larger of both, of all resources that either has."""
    total = dict(one)
    for name, quantity in other.items():
        if name not in total or quantity.is_more_than(total[name]):
            total[name] = quantity
    return total


class PodLevel(NamedTuple):
    """What of a Pod's own resources takes the place of its containers' sums."""

    counts: bool = True
    huge_pages: bool = False

    def takes(self, name: str) -> bool:
        return name in _POD_LEVEL or (self.huge_pages and name.startswith(HUGE_PAGES))


def pod_amounts(spec: Json, which: str, level: PodLevel) -> dict[str, Quantity]:
    """The `requests` or `limits` (`which`) of a Pod as a whole, without its overhead.

    Containers are added up; an init container runs beside the sidecars before it alone, so that the
    largest of those counts where it is more.
    """
    total: dict[str, Quantity] = {}
    for container in containers(spec, (REGULAR,)):
        total = added(total, _of(container, which))
    total = _with_init(total, containers(spec, (INIT,)), which)
    own = spec.get("resources")
    if level.counts and own:
        replaced = amounts(own.get(which))
        total.update({name: one for name, one in replaced.items() if level.takes(name)})
    return total


def _with_init(total: dict[str, Quantity], init: Iterable[Json], which: str) -> dict[str, Quantity]:
    sidecars: dict[str, Quantity] = {}
    starting: dict[str, Quantity] = {}
    for container in init:
        own = _of(container, which)
        if is_sidecar(container):
            total = added(total, own)
            sidecars = own = added(sidecars, own)
        else:
            own = added(own, sidecars)
        starting = largest(starting, own)
    return largest(total, starting)


def _of(container: Json, which: str) -> dict[str, Quantity]:
    return amounts(container["resources"].get(which))
