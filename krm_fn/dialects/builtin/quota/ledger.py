"""What of a quota is used already.

A cluster counts in the status of the quota. A render may be given that status; without it, what it
knows is what it has admitted itself.
Source: docs/spec/builtin-admission.md sections (b) and (d).
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import NamedTuple, Protocol

from krm_fn.dialects.builtin.amounts import Amounts, added, amounts
from krm_fn.dialects.builtin.listers import name_of
from krm_fn.kube.quantity import ZERO, Quantity
from krm_fn.values import Json, get


class Account(NamedTuple):
    """A quota's limits, and what is used of them.

    `known` is False where the quota's status does not say what is used, so that it is what this run
    has admitted.
    """

    hard: Amounts
    used: Amounts
    known: bool = True


class Ledger(Protocol):
    """Accounts of quotas, which grow with what is admitted."""

    def account(self, quota: Json, who: Hashable) -> Account:
        """The account of a quota, without what `who` uses of it."""
        ...

    def charge(self, quota: Json, who: Hashable, usage: Amounts) -> None:
        """Note what an object uses of a quota; what it used before is forgotten."""
        ...


def limits_of(quota: Json) -> Mapping[str, str]:
    """What a quota limits: as its status has it, else as it is asked for."""
    limits: Mapping[str, str] | None = get(quota, ("status", "hard")) or get(
        quota, ("spec", "hard")
    )
    return limits or {}


class RunLedger:
    """The ledger of a render: the status of a quota, else the sum of what the run has admitted."""

    def __init__(self) -> None:
        self._totals: dict[tuple[str, str], dict[str, Quantity]] = {}
        self._shares: dict[tuple[str, str], dict[Hashable, Amounts]] = {}

    def account(self, quota: Json, who: Hashable) -> Account:
        status = quota.get("status") or {}
        hard = amounts(limits_of(quota))
        if status.get("used"):
            return Account(hard, amounts(status["used"]))
        key = _key(quota)
        own = self._shares.get(key, {}).get(who, {})
        total = self._totals.get(key, {})
        used = {name: total.get(name, ZERO).minus(own.get(name, ZERO)) for name in hard}
        return Account(hard, used, known=False)

    def charge(self, quota: Json, who: Hashable, usage: Amounts) -> None:
        key = _key(quota)
        shares = self._shares.setdefault(key, {})
        before = shares.get(who, {})
        total = self._totals.setdefault(key, {})
        for name, quantity in before.items():
            total[name] = total[name].minus(quantity)
        self._totals[key] = added(total, usage)
        shares[who] = usage


def _key(quota: Json) -> tuple[str, str]:
    return str(get(quota, ("metadata", "namespace")) or ""), name_of(quota)
