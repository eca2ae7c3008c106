"""Checks of an admission as a whole: would admitting the result change it again?

A cluster admits every update of an object; a rule that appends to a list without asking first grows
it each time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from krm_fn.admission.chain import Verdict, net_changes
from krm_fn.admission.response import Cause, Finding
from krm_fn.values import Json, format_path

NOT_IDEMPOTENT: Final = "not idempotent"
"""How the message of the finding begins."""


def idempotence(admit: Callable[[Json], Verdict], verdict: Verdict, denies: bool) -> Finding | None:
    """A finding if admitting the admitted object changes it once more.

    What changed nothing in the first place is not asked again; an edit that the API server undoes
    or drops is none.
    """
    if not verdict.changes or verdict.denied:
        return None
    again = admit(verdict.object)
    changes = net_changes(verdict.object, again.object, again.changes)
    if not changes:
        return None
    first = changes[0]
    rules = tuple(dict.fromkeys(rule for change in changes for rule in change.rules))
    return Finding(
        Cause.FAILED if denies else Cause.WARNING,
        denies,
        f"{NOT_IDEMPOTENT}: admitting the result once more changes {format_path(first.path)} "
        "again, as every later update in the cluster would; let the rule's match leave out objects "
        "that it has already changed",
        rules,
        first.path,
    )
