"""What a plugin answers: findings, the steps of its changes, the changed object.

Values are immutable: untouched subtrees of a changed object are the same Python objects.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from krm_fn.admission.rule import RuleRef
from krm_fn.values import Json, Path


class Cause(StrEnum):
    """What a finding is about."""

    REJECTED = "rejected"
    """A rule refuses the object."""
    FAILED = "failed"
    """A rule could not be evaluated or applied."""
    UNDECIDED = "undecided"
    """What a rule needs to know is not known at render time."""
    WARNING = "warning"
    AUDIT = "audit"
    NOTE = "note"


class Finding(NamedTuple):
    """Something to tell the user about one object (or about the whole run).

    `denies`: in a cluster, or by the options, the object would not get in because of this.
    `code` and `reason` are those of the API server's answer, 0 and "" where it gives none.
    """

    cause: Cause
    denies: bool
    message: str
    rules: tuple[RuleRef, ...] = ()
    field: Path | None = None
    code: int = 0
    reason: str = ""
    details: tuple[Finding, ...] = ()


class Step(NamedTuple):
    """The whole object as it is after the given rules, in the form that the plugin sees."""

    rules: tuple[RuleRef, ...]
    object: Json


class Response(NamedTuple):
    """What a plugin answers.

    `object` is None where nothing changed. `reinvocable` are the keys of the invocations that may
    run once more; `dirty` says that one of them must, since another of this plugin changed the
    object after it. `matched` are the rules that met the object, whatever came of it.
    """

    object: Json | None = None
    steps: tuple[Step, ...] = ()
    findings: tuple[Finding, ...] = ()
    reinvocable: frozenset[str] = frozenset()
    dirty: bool = False
    matched: tuple[RuleRef, ...] = ()
