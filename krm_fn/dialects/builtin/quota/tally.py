"""What all objects of a run use of the quotas, added up.

An object that is admitted once more counts once, with what it uses then.
Source: docs/spec/builtin-admission.md section (d).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from typing import NamedTuple

from krm_fn.admission.quotause import QuotaShare, QuotaUse
from krm_fn.dialects.builtin.amounts import Amounts, amounts
from krm_fn.dialects.builtin.listers import name_of
from krm_fn.dialects.builtin.quota.ledger import limits_of
from krm_fn.dialects.builtin.quota.workloads import PER_NODE
from krm_fn.kube.quantity import ZERO, Quantity
from krm_fn.values import Json, get

QuotaName = tuple[str, str]
"""Namespace and name of a quota."""


class Entry(NamedTuple):
    """What one object uses of a quota: `usage` so often, as `label` calls it."""

    usage: Amounts
    times: int
    label: str


class Tally:
    """The entries of a run, by quota and object."""

    def __init__(self) -> None:
        self._entries: dict[QuotaName, dict[Hashable, Entry]] = {}

    def add(self, quota: Json, who: Hashable, entry: Entry) -> None:
        """Note what an object uses of a quota; what it used before is forgotten."""
        self._entries.setdefault(_name(quota), {})[who] = entry

    def uses(self, quotas: Iterable[Json]) -> Iterator[QuotaUse]:
        """What is used of each resource of these quotas, by their names."""
        for quota in sorted(quotas, key=_name):
            name = _name(quota)
            entries = list(self._entries.get(name, {}).values())
            hard = amounts(limits_of(quota))
            used = get(quota, ("status", "used"))
            for resource in sorted(hard):
                yield _use(name, resource, hard[resource], amounts(used).get(resource), entries)


def _name(quota: Json) -> QuotaName:
    return str(get(quota, ("metadata", "namespace")) or ""), name_of(quota)


def _use(
    name: QuotaName,
    resource: str,
    hard: Quantity,
    used: Quantity | None,
    entries: list[Entry],
) -> QuotaUse:
    wanted = ZERO
    shares: list[QuotaShare] = []
    per_node: list[QuotaShare] = []
    for entry in entries:
        each = entry.usage.get(resource, ZERO)
        if not each.number or not entry.times:
            continue
        if entry.times == PER_NODE:
            per_node.append(QuotaShare(str(each), entry.label))
            continue
        total = each.times(entry.times)
        wanted = wanted.plus(total)
        shares.append(QuotaShare(str(total), entry.label))
    left = hard.minus(used or ZERO).minus(wanted)
    return QuotaUse(
        *name,
        resource,
        str(hard),
        None if used is None else str(used),
        str(wanted),
        str(left),
        left.number < 0 and bool(shares),
        tuple(shares),
        tuple(per_node),
    )
