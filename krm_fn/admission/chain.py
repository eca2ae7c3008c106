"""One object through all plugins, in the order in which the API server would ask them.

Mutating policies, mutating webhooks by name, a second pass for those that asked for it, then what
validates. Every plugin sees the object through the chain's views and its edits are carried back to
the raw object at once. A denial does not stop the chain, so that everything is reported; what comes
after it is marked. This module knows the order, not what any plugin does.
Source: k8s.io/apiserver pkg/admission (chain.go, reinvocation), pkg/admission/plugin/webhook.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from krm_fn.admission.cluster import Cluster
from krm_fn.admission.model import (
    Cause,
    Finding,
    Operation,
    Plugin,
    Request,
    Response,
    RuleRef,
    Trace,
    User,
)
from krm_fn.admission.views import DefaultNamespace, HiddenAnnotations, Views
from krm_fn.values import Json, Path, diff, equal, format_path
from krm_fn.wire import Head

AFTER_DENIAL = "after a denial; the API server would not have come this far: "


@dataclass(frozen=True, slots=True)
class Change:
    """One edit of the raw object and the rules that made it."""

    path: Path
    old: Any
    new: Any
    rules: tuple[RuleRef, ...]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of one object: the raw object after all plugins, and what there is to say."""

    object: Json
    findings: tuple[Finding, ...]
    changes: tuple[Change, ...]

    @property
    def denied(self) -> bool:
        return any(finding.denies for finding in self.findings)


@dataclass(frozen=True, slots=True)
class Circumstances:
    """What an admission request holds besides the object: the same for all objects of a run."""

    operation: Operation = Operation.CREATE
    user: User = field(default_factory=User)


class Chain:
    """The plugins of a run. Stateless between objects, so that the order of objects is free."""

    def __init__(
        self, plugins: Sequence[Plugin], circumstances: Circumstances, trace: Trace
    ) -> None:
        ordered = sorted(plugins, key=lambda p: (p.phase, p.order))
        self.mutating = [p for p in ordered if p.phase.mutates]
        self.validating = [p for p in ordered if not p.phase.mutates]
        self.circumstances = circumstances
        self.trace = trace

    def wants(self, head: Head, namespace: str) -> bool:
        """Whether any plugin must see an object with this head."""
        return any(
            plugin.prefilter.wants(head, namespace) for plugin in (*self.mutating, *self.validating)
        )

    def admit(
        self, head: Head, value: Json, cluster: Cluster, old_object: Json | None = None
    ) -> Verdict:
        """Admit one raw object."""
        return _Admission(self, head, value, cluster, old_object).run()


class _Admission:
    """The state of one object on its way through the chain."""

    def __init__(
        self, chain: Chain, head: Head, value: Json, cluster: Cluster, old_object: Json | None
    ) -> None:
        self.chain = chain
        self.cluster = cluster
        self.value = value
        namespace = cluster.namespace_of(head)
        self.views = Views((HiddenAnnotations(), DefaultNamespace(namespace)))
        operation = chain.circumstances.operation
        if operation is Operation.UPDATE and old_object is None:
            operation = Operation.CREATE
        self.request = Request(
            operation,
            head,
            cluster.resource_for(head.group, head.kind),
            namespace,
            {},
            self.views.get(old_object) if old_object is not None else None,
            chain.circumstances.user,
        )
        self.findings: list[Finding] = []
        self.changes: list[Change] = []
        self.denied = False

    def run(self) -> Verdict:
        left: list[tuple[Plugin, Response, Json]] = []
        for plugin in self.chain.mutating:
            response = self._call(plugin, None)
            if response is not None:
                left.append((plugin, response, self.value))
        for plugin, response, value in left:
            if response.reinvocable and (response.dirty or not equal(self.value, value)):
                self._call(plugin, response.reinvocable)
        for plugin in self.chain.validating:
            self._call(plugin, None)
        return Verdict(self.value, tuple(self.findings), tuple(self.changes))

    def _call(self, plugin: Plugin, only: frozenset[str] | None) -> Response | None:
        if not plugin.prefilter.wants(self.request.head, self.request.namespace):
            return None
        shown = self.views.get(self.value)
        request = replace(self.request, object=shown)
        response = plugin.admit(request, self.cluster, self.chain.trace, only)
        if response.object is not None and plugin.phase.mutates:
            self._carry_back(shown, response)
        before = self.denied
        for finding in response.findings:
            if before and finding.denies:
                finding = replace(finding, message=AFTER_DENIAL + finding.message)
            self.findings.append(finding)
            self.denied = self.denied or finding.denies
        return response

    def _carry_back(self, shown: Json, response: Response) -> None:
        assert response.object is not None
        self.value, lost = self.views.put(self.value, response.object)
        changes = list(_blame(shown, response))
        for path in lost:
            rules = tuple(
                rule
                for change in changes
                if change.path[: len(path)] == path
                for rule in change.rules
            )
            self.findings.append(
                Finding(
                    Cause.FAILED,
                    True,
                    f"{format_path(path)} cannot be changed by a rule: "
                    + (
                        "an admission may not move an object to another namespace"
                        if path == ("metadata", "namespace")
                        else "it belongs to the tool that runs this function"
                    ),
                    rules or response.steps[-1].rules,
                    path,
                )
            )
            self.denied = True
        self.changes += [
            replace(change, path=self.views.field(change.path))
            for change in changes
            if not any(change.path[: len(path)] == path for path in lost)
        ]


def _blame(shown: Json, response: Response) -> Iterator[Change]:
    """The edits of each step with the rules that made it."""
    before = shown
    for step in response.steps:
        for edit in diff(before, step.object):
            yield Change(edit.path, edit.old, edit.new, step.rules)
        before = step.object


def net_changes(old: Json, new: Json, changes: Sequence[Change]) -> list[Change]:
    """The edits between two objects, each with the rules that last wrote there or below."""
    net: list[Change] = []
    for edit in diff(old, new):
        rules: dict[RuleRef, None] = {}
        for change in changes:
            if _related(change.path, edit.path):
                rules.update(dict.fromkeys(change.rules))
        net.append(Change(edit.path, edit.old, edit.new, tuple(rules)))
    return net


def _related(a: Path, b: Path) -> bool:
    """Whether one path leads to the other; list indexes are not compared, since they shift."""
    return all(
        x == y or (isinstance(x, int) and isinstance(y, int)) for x, y in zip(a, b, strict=False)
    )
