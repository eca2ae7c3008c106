"""Which rules saw or matched no object of a run, and why: one implementation for all dialects.

A dialect says of each rule which objects it could be asked about (`RuleScope`), a plugin which
rules matched an object (`Response.matched`). What follows is told once a rule, however many objects
there are: a warning where the reason is likely a mistake of its author, else a note.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence, Set
from functools import partial
from typing import Final, NamedTuple

from krm_fn.admission.cluster import Subject
from krm_fn.admission.request import Operation
from krm_fn.admission.response import Cause, Finding
from krm_fn.admission.rule import RuleRef
from krm_fn.wire import Head


class RuleScope(NamedTuple):
    """The objects that a rule could be asked about, told from heads."""

    ref: RuleRef
    covers: Callable[[Head], bool]
    """Whether it is about objects of this kind and name, wherever they are."""
    sees: Callable[[Head, str], bool]
    """Whether it is asked about objects in this namespace."""
    unseen: Callable[[Sequence[Subject]], str]
    """Why it sees none of these objects, all of which it covers, and what to do."""
    why: str
    """Why it does not cover the other objects: `it is about Pods`."""
    kinds: frozenset[str] | None = None
    """The kinds that it is about, where these are pinned."""
    operations: frozenset[str] = frozenset()
    """The operations that it applies on; empty is any."""
    remedy: Callable[[Sequence[Subject]], str] | None = None
    """What lets it see some of these objects, of kinds that it does not cover; "" for nothing."""
    suspicious: bool = False
    """Whether a run in which all rules are about other kinds is likely a mistake: resource rules,
    in which groups, versions and plurals must fit."""

    @property
    def pods_only(self) -> bool:
        return self.kinds == _PODS


_PODS: Final = frozenset({"Pod"})
_MADE_BY_CONTROLLERS: Final = frozenset({"Pod", "ReplicaSet", "Job"})
_NAMED: Final = 3


class Templates(NamedTuple):
    """Workloads whose templates are not admitted as Pods, each with the Pod that it asks for."""

    workloads: Sequence[tuple[Head, Subject]]
    remedy: str
    """How the caller has them admitted: `podTemplates: Mutate`."""


def coverage(
    scopes: Iterable[RuleScope],
    subjects: Sequence[Subject],
    matched: Set[RuleRef],
    operations: Set[Operation],
    templates: Templates,
) -> list[Finding]:
    """What there is to say of rules that matched none of the objects, if there are any.

    A finding for each rule, but one for all rules of which the same warning is told. `operations`
    are those that objects were admitted as.
    """
    if not subjects:
        return []
    scopes = list(scopes)
    idle = not matched and not any(map(partial(_sees_any, subjects), scopes))
    found = [
        _finding(scope, subjects, operations, templates, idle=idle)
        for scope in scopes
        if scope.ref not in matched
    ]
    return _together(found)


def _together(findings: Iterable[Finding]) -> list[Finding]:
    """The findings with one warning for all rules that it is about."""
    kept: list[Finding] = []
    warnings: dict[str, int] = {}
    for finding in findings:
        n = warnings.setdefault(finding.message, len(kept))
        if finding.cause is Cause.WARNING and n < len(kept):
            kept[n] = kept[n]._replace(rules=(*kept[n].rules, *finding.rules))
        else:
            kept.append(finding)
    return kept


def _sees_any(subjects: Sequence[Subject], scope: RuleScope) -> bool:
    return any(
        scope.covers(subject.head) and scope.sees(subject.head, subject.namespace)
        for subject in subjects
    )


def _finding(
    scope: RuleScope,
    subjects: Sequence[Subject],
    operations: Set[Operation],
    templates: Templates,
    *,
    idle: bool,
) -> Finding:
    covered = [subject for subject in subjects if scope.covers(subject.head)]
    if not covered:
        return _not_about(scope, subjects, templates, idle=idle)
    if not any(scope.sees(subject.head, subject.namespace) for subject in covered):
        return _about(scope, Cause.WARNING, scope.unseen(covered))
    if scope.operations and operations and scope.operations.isdisjoint(operations):
        message = (
            f"applies on {' and '.join(sorted(scope.operations))} only, and the objects are "
            f"admitted as {' and '.join(sorted(operations))} (context.operation)"
        )
        return _about(scope, Cause.WARNING, message)
    asked = sum(scope.sees(subject.head, subject.namespace) for subject in covered)
    none = "did not match the object" if asked == 1 else f"matched none of the {asked} objects"
    message = f"{none} that it was asked about; krm-fn explain --rule {scope.ref.name} says why"
    return _about(scope, Cause.NOTE, message)


def _not_about(
    scope: RuleScope, subjects: Sequence[Subject], templates: Templates, *, idle: bool
) -> Finding:
    kinds = list(dict.fromkeys(sorted(subject.head.kind for subject in subjects)))
    if scope.pods_only:
        left = [
            workload
            for workload, pod in templates.workloads
            if scope.covers(pod.head) and scope.sees(pod.head, pod.namespace)
        ]
        if left:
            named = ", ".join(f"{head.kind} {head.name}" for head in left[:_NAMED])
            named += ", ..." if len(left) > _NAMED else ""
            message = (
                f"matches Pods only, and templates of Pods stay as they are ({len(left)}: "
                f"{named}); {templates.remedy} admits them as Pods"
            )
            return _about(scope, Cause.WARNING, message)
    if scope.kinds and scope.kinds <= _MADE_BY_CONTROLLERS:
        message = (
            f"takes effect only in the cluster: {' and '.join(sorted(scope.kinds))} objects are "
            "made by controllers there, and none is among the objects here"
        )
        return _about(scope, Cause.NOTE, message)
    named = ", ".join(kinds[:5]) + (", ..." if len(kinds) > 5 else "")
    none = f"concerns none of the {len(subjects)} objects"
    one = "does not concern the object"
    message = f"{one if len(subjects) == 1 else none} here ({named}): {scope.why}"
    remedy = scope.remedy(subjects) if scope.remedy is not None else ""
    if remedy:
        return _about(scope, Cause.WARNING, f"{message}; {remedy}")
    return _about(scope, Cause.WARNING if idle and scope.suspicious else Cause.NOTE, message)


def _about(scope: RuleScope, cause: Cause, message: str) -> Finding:
    return Finding(cause, False, message, (scope.ref,))


def there(subjects: Sequence[Subject]) -> str:
    """`it is in web`, `they are in shop, web`; "" for cluster-scoped objects."""
    namespaces = sorted({subject.namespace for subject in subjects} - {""})
    if not namespaces:
        return ""
    named = ", ".join(namespaces[:5]) + (", ..." if len(namespaces) > 5 else "")
    return f"{'it is' if len(subjects) == 1 else 'they are'} in {named}"


def everywhere(head: Head, namespace: str) -> bool:
    """Of rules that no namespace keeps from an object."""
    return True


def never_unseen(subjects: Sequence[Subject]) -> str:
    """Of rules that see every object that they cover."""
    raise AssertionError("a rule that sees everything has no reason not to")


def scope_of_pods(ref: RuleRef, namespaces: Collection[str] | None) -> RuleScope:
    """The scope of a rule for Pods: in these namespaces, None for all."""

    def unseen(subjects: Sequence[Subject]) -> str:
        named = " or ".join(sorted(namespaces or ())) or "no namespace"
        return f"is for {named} only, and no Pod here is created there"

    return RuleScope(
        ref,
        lambda head: (head.group, head.kind) == ("", "Pod"),
        lambda head, namespace: namespaces is None or namespace in namespaces,
        unseen,
        "it is for Pods",
        _PODS,
    )
