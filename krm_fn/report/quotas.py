"""What a run would use of quotas, as a table for people and as values for programs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from krm_fn.admission.quotause import QuotaUse
from krm_fn.printable import one_line

COLUMNS: Final = ("NAMESPACE", "QUOTA", "RESOURCE", "HARD", "USED", "WANTED", "LEFT", "")
NONE: Final = "no ResourceQuota is known; add one to the manifests or to context.objects"

Row = tuple[str, str, str, str, str, str, str, str]


def rows(uses: Sequence[QuotaUse]) -> Iterator[Row]:
    """A row for each resource of a quota, and below it one for each object that takes of it."""
    for use in uses:
        names = (one_line(use.namespace), one_line(use.quota), one_line(use.resource))
        used = "-" if use.used is None else use.used
        mark = "exceeded" if use.is_exceeded else ""
        yield (*names, use.hard, used, use.wanted, use.left, mark)
        for share in use.shares:
            yield _of(share.amount, share.who)
        for share in use.per_node:
            yield _of(f"{share.amount} each", share.who)


def _of(amount: str, who: str) -> Row:
    return "", "", "", "", "", amount, "", one_line(who)


def values(uses: Sequence[QuotaUse]) -> list[dict[str, Any]]:
    """The same for programs."""
    return [
        {
            "namespace": use.namespace,
            "quota": use.quota,
            "resource": use.resource,
            "hard": use.hard,
            "used": use.used,
            "wanted": use.wanted,
            "left": use.left,
            "exceeded": use.is_exceeded,
            "by": [share._asdict() for share in use.shares],
            "perNode": [share._asdict() for share in use.per_node],
        }
        for use in uses
    ]
