"""What one policy said of one resource, in Kyverno's words, against what was expected."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from krm_fn.admission import Cause
from krm_fn.report.model import ObjectReport
from krm_fn.testing.compare import Admitted, Failure, differences
from krm_fn.testing.kyverno import is_unscored
from krm_fn.testing.suite import ExpectedVerdict
from krm_fn.values import equal
from krm_fn.wire import read_stream

_UNMET: Final = frozenset({Cause.REJECTED, Cause.WARNING, Cause.AUDIT})


def compare_verdict(wanted: ExpectedVerdict, admitted: Admitted) -> Iterator[Failure]:
    """The differences, for each resource that is meant."""
    entries = [entry for entry in admitted.entries() if _is_meant(wanted, entry)]
    if not entries:
        came = (f"-{wanted.kind}/{wanted.resource}", "+(no such resource)")
        yield Failure((), f"{wanted.result}: {wanted.policy}", came)
        return
    for entry in entries:
        verdict = verdict_of(wanted, entry, admitted)
        refs = tuple(rule.ref for rule in admitted.rules if _is_policy(wanted, rule.ref))
        if verdict != wanted.result:
            name = f"{entry.head.kind}/{entry.head.name}"
            said = [f.message for f in entry.findings if set(f.rules) & set(refs)]
            shown = [admitted.report.redactor.message(m, entry.item, asks=True) for m in said]
            lines = (f" {' '.join(message.split())}" for message in shown)
            diff = (f"-{wanted.result}", f"+{verdict}", *lines)
            yield Failure(
                (), f"{wanted.policy}: {wanted.result} of {name}", diff, refs, head=entry.head
            )
        elif wanted.patched is not None:
            yield from _compare_patched(wanted, entry, admitted)


def verdict_of(wanted: ExpectedVerdict, entry: ObjectReport, admitted: Admitted) -> str:
    """`pass`, `fail`, `skip`, `warn` or `error`."""
    own = [f for f in entry.findings if any(_is_policy(wanted, ref) for ref in f.rules)]
    causes = {finding.cause for finding in own}
    if causes & {Cause.FAILED, Cause.UNDECIDED}:
        return "error"
    if causes & _UNMET:
        policies = [rule for rule in admitted.rules if _is_policy(wanted, rule.ref)]
        return "warn" if any(is_unscored(rule.value) for rule in policies) else "fail"
    return "pass" if any(_is_policy(wanted, ref) for ref in entry.matched) else "skip"


def _is_policy(wanted: ExpectedVerdict, ref: object) -> bool:
    return (getattr(ref, "kind", ""), getattr(ref, "name", "")) == (
        wanted.policy_kind,
        wanted.policy.rpartition("/")[2],
    )


def _is_meant(wanted: ExpectedVerdict, entry: ObjectReport) -> bool:
    namespace, _, name = wanted.resource.rpartition("/")
    return (
        entry.head.kind == (wanted.kind or entry.head.kind)
        and entry.head.name == (name or entry.head.name)
        and entry.namespace == (namespace or entry.namespace)
    )


def _compare_patched(
    wanted: ExpectedVerdict, entry: ObjectReport, admitted: Admitted
) -> Iterator[Failure]:
    assert wanted.patched is not None
    name = f"{entry.head.kind}/{entry.head.name}"
    items = read_stream(wanted.patched.data, wanted.patched.name).items
    for item in items:
        same = (item.head.kind, item.head.name) == (entry.head.kind, entry.head.name)
        if not same or item.head.namespace not in ("", entry.namespace):
            continue
        if not equal(item.value, entry.object):
            names = f"{name} (expected)", f"{name} (came)"
            came = differences(item.value, entry.object, names, entry, admitted.report)
            rules = tuple(dict.fromkeys(ref for c in entry.changes for ref in c.rules))
            yield Failure(("patchedResources",), f"{name} as in {wanted.patched.name}", came, rules)
        return
    text = f"{name} in {wanted.patched.name}"
    yield Failure(("patchedResources",), text, ("+(it is not there)",))
