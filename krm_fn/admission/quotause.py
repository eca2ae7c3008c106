"""What a run as a whole would use of the quotas of its namespaces.

One object alone may fit where all of them together do not: replicas are asked for by controllers
long after the workload was admitted. Knows figures, and no plugin.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple, Protocol, runtime_checkable

from krm_fn.admission.response import Cause, Finding
from krm_fn.admission.rule import RuleRef

_NAMED: Final = 8
"""How many objects a warning names."""


class QuotaShare(NamedTuple):
    """What one object of the run takes: `3` for `Deployment web (3 Pods)`."""

    amount: str
    who: str


class QuotaUse(NamedTuple):
    """What a run would use of one resource of a quota; amounts are quantities as texts.

    `used` is what the quota's status says, None where nobody knows. `left` is what the run leaves
    of the limit, less than nothing where it exceeds it. `per_node` is what each node would take
    besides: how many there are, no render knows.
    """

    namespace: str
    quota: str
    resource: str
    hard: str
    used: str | None
    wanted: str
    left: str
    is_exceeded: bool
    shares: tuple[QuotaShare, ...] = ()
    per_node: tuple[QuotaShare, ...] = ()

    def warning(self, rule: RuleRef) -> Finding:
        """The finding of a limit that the run exceeds."""
        takes = ", ".join(f"{share.who}: {share.amount}" for share in self.shares[:_NAMED])
        if len(self.shares) > _NAMED:
            takes += f" and {len(self.shares) - _NAMED} more"
        room = f"hard is {self.hard}"
        room += f", used {self.used}" if self.used is not None else ", what is used is not known"
        message = (
            f"ResourceQuota {self.namespace}/{self.quota}: together the objects want "
            f"{self.resource}={self.wanted} ({takes}), and {room}"
        )
        return Finding(Cause.WARNING, False, message, (rule,))


@runtime_checkable
class CountsQuotas(Protocol):
    """A plugin that adds up what the objects of a run use."""

    def quota_use(self) -> Sequence[QuotaUse]:
        """What all objects that were admitted would use, by namespace, quota and resource."""
        ...

    def quota_findings(self) -> Sequence[Finding]:
        """What there is to say of it."""
        ...
