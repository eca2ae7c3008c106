"""One object through all plugins, in the order in which the API server would ask them.

The server's own mutating plugins, mutating policies, mutating webhooks by name; where these changed
the object, the server's own once more, and those of the others that asked for it; then what
validates. Every plugin sees the object through the chain's views and its edits are carried back to
the raw object at once, but for those of the server's own plugins, which it makes again itself. A
denial does not stop the chain, so that everything is reported; what comes after it is marked. This
module knows the order, not what any plugin does.
Source: k8s.io/apiserver pkg/admission (chain.go, reinvocation), pkg/admission/plugin/webhook.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from krm_fn import limits, work
from krm_fn.admission.blame import Places, Writers
from krm_fn.admission.cluster import Cluster, Subject
from krm_fn.admission.objectview import view_of
from krm_fn.admission.plugin import Phase, Plugin
from krm_fn.admission.request import Operation, Request, User
from krm_fn.admission.response import Cause, Finding, Response, Step
from krm_fn.admission.rule import RuleRef
from krm_fn.admission.seen import SeenObject
from krm_fn.admission.trace import Trace
from krm_fn.errors import KrmFnError
from krm_fn.values import MISSING, Json, Path, compact, diff, equal, format_path, get
from krm_fn.wire import Head

if TYPE_CHECKING:
    from krm_fn.kube.served import Served

AFTER_DENIAL = "after a denial; the API server would not have come this far: "


class Change(NamedTuple):
    """One edit of the raw object and the rules that made it.

    `default` is what the rules saw in place of an `old` that is MISSING: the API server's default.
    """

    path: Path
    old: Any
    new: Any
    rules: tuple[RuleRef, ...]
    default: Any = MISSING


class Verdict(NamedTuple):
    """What became of one object: the raw object after all plugins, and what there is to say.

    `shown` is the object as the first rule saw it; `filled` is what built-in plugins had set by
    then, without writing it.
    """

    object: Json
    findings: tuple[Finding, ...]
    changes: tuple[Change, ...]
    shown: Json
    matched: frozenset[RuleRef] = frozenset()
    """The rules that met the object."""
    filled: tuple[Change, ...] = ()
    traces: tuple[Trace, ...] = ()
    """Why rules met it, where the chain explains; those of its templates' Pods follow."""
    left: Json | None = None
    """The object as rules would see it after all of them."""

    @property
    def denied(self) -> bool:
        return any(finding.denies for finding in self.findings)


class RequestAttributes(NamedTuple):
    """What an admission request holds besides the object: the same for all objects of a run."""

    operation: Operation = Operation.CREATE
    user: User = User()
    strict: bool = False
    """Whether unknown fields and wrong types are errors."""
    writes_defaults: bool = False
    """Whether what built-in plugins set is written, too."""


class Chain:
    """The plugins of a run. Stateless between objects, so that the order of objects is free.

    With `served`, plugins see objects as the API server shows them, without as they are written.
    """

    def __init__(
        self,
        plugins: Sequence[Plugin],
        attributes: RequestAttributes,
        served: Served | None = None,
        *,
        explains: bool = False,
    ) -> None:
        ordered = sorted(plugins, key=lambda p: (p.phase, p.order))
        self.built_in = [p for p in ordered if p.phase is Phase.MUTATING_BUILT_IN]
        self.mutating = [p for p in ordered if p.phase.mutates and not p.phase.is_built_in]
        self.validating = [p for p in ordered if not p.phase.mutates]
        self.attributes = attributes
        self.served = served
        self.explains = explains
        """Whether plugins record why rules match; then they are asked about every object."""

    def wants(self, head: Head, namespace: str) -> bool:
        """Whether any plugin must see an object with this head."""
        every = (*self.built_in, *self.mutating, *self.validating)
        return self.explains or any(_is_asked(plugin, head, namespace) for plugin in every)

    def admit(
        self,
        subject: Subject,
        value: Json,
        cluster: Cluster,
        old_object: Json | None = None,
        workload: Head | None = None,
    ) -> Verdict:
        """Admit one raw object; `workload` is the one that a Pod's template was taken from."""
        return _Admission(self, subject, value, cluster, old_object, workload).run()


_CHANGE: Final = 50
"""Steps that it takes to say who made a change, and where."""

_FINDING: Final = 50
"""Steps that it takes to tell a finding, besides one for each character."""

_CALL: Final = 50
"""Steps that it takes to call a plugin, whatever it does."""


_OWN: Final = "admissionregistration.k8s.io"
_WEBHOOKS: Final = (Phase.MUTATING_WEBHOOK, Phase.VALIDATING_WEBHOOK)


def _is_own(plugin: Plugin, head: Head) -> bool:
    """Whether a plugin is never asked about an object, since that configures admission itself."""
    return head.group == _OWN and plugin.phase in _WEBHOOKS


def _is_asked(plugin: Plugin, head: Head, namespace: str) -> bool:
    """Whether a plugin is asked about an object; webhooks never are about admission itself."""
    if _is_own(plugin, head):
        return False
    return plugin.prefilter.wants(head, namespace)


class _Admission:
    """The state of one object on its way through the chain."""

    def __init__(
        self,
        chain: Chain,
        subject: Subject,
        value: Json,
        cluster: Cluster,
        old_object: Json | None,
        workload: Head | None,
    ) -> None:
        self.chain = chain
        self.cluster = cluster
        namespace = subject.namespace
        self.view = view_of(value, namespace, chain.served, strict=chain.attributes.strict)
        self.seen = SeenObject(self.view, value)
        self.is_decoded = self.view.is_decoded
        operation = chain.attributes.operation
        if operation is Operation.UPDATE and old_object is None:
            operation = Operation.CREATE
        old: Json | None = None
        if old_object is not None:
            old_view = view_of(old_object, namespace, chain.served)
            old = old_view.served(old_object)
            self.is_decoded = self.is_decoded and old_view.is_decoded
        self.request = Request(
            operation,
            subject.head,
            subject.resource,
            namespace,
            {},
            old,
            chain.attributes.user,
            trace=Trace() if chain.explains else None,
            workload=workload,
        )
        self.findings: list[Finding] = list(self.view.findings)
        self.told: set[Finding] = set()
        self.changes: list[Change] = []
        self.writers = Writers()
        self.filled: list[Change] = []
        self.is_changed_by_rules = False
        self.denied = self.view.denied
        self.matched: set[RuleRef] = set()

    def run(self) -> Verdict:
        self._fill()
        shown, filled = self.seen.shown, tuple(self.filled)
        left: list[tuple[Plugin, Response, Json]] = []
        for plugin in self.chain.mutating:
            response = self._call(plugin, None)
            if response is not None:
                left.append((plugin, response, self.seen.shown))
        if self.chain.built_in and not equal(self.seen.shown, shown):
            self._fill()
        refilled = self.seen.shown
        for plugin, response, value in left:
            if response.reinvocable and (response.dirty or not equal(self.seen.shown, value)):
                if self.request.trace is not None:
                    self.request.trace.next_pass()
                self._call(plugin, response.reinvocable)
        if len(self.filled) > len(filled) and equal(self.seen.shown, refilled):
            self._tell_restored(filled)
        for plugin in self.chain.validating:
            self._call(plugin, None)
        return Verdict(
            self.seen.value,
            tuple(self.findings),
            tuple(self.changes),
            shown,
            frozenset(self.matched),
            filled,
            () if self.request.trace is None else (self.request.trace,),
            self.seen.shown,
        )

    def _fill(self) -> None:
        """Let the server's own plugins set what they set."""
        for plugin in self.chain.built_in:
            self._call(plugin, None)

    def _call(self, plugin: Plugin, only: frozenset[str] | None) -> Response | None:
        request = self.request
        is_asked = _is_asked(plugin, request.head, request.namespace)
        if not is_asked and not (request.trace is not None and self._explains(plugin)):
            return None
        if plugin.phase.is_built_in and not self.is_decoded:
            return None
        work.spend(_CALL)
        shown = self.seen.shown
        if not plugin.phase.mutates:
            shown = self.view.stored(shown)
        written = None if self.is_changed_by_rules else self.seen.value
        request = self.request._replace(object=shown, written=written, is_denied=self.denied)
        response = plugin.admit(request, self.cluster, only)
        self.matched.update(response.matched)
        # What one plugin says together is one answer of the server.
        earlier = self.denied
        for finding in response.findings:
            if not plugin.phase.is_built_in:
                finding = self._with_default(finding, shown)
            self._tell(finding, earlier)
        if response.object is not None and plugin.phase.mutates:
            if plugin.phase.is_built_in and not self.chain.attributes.writes_defaults:
                self.seen.fill(response.object)
                self.filled += _blame(shown, response.steps)
            else:
                self.is_changed_by_rules |= not plugin.phase.is_built_in
                self._write_back(shown, response.object, response.steps)
        return response

    def _tell_restored(self, first: Sequence[Change]) -> None:
        """A note for what rules changed and built-in plugins have set once more."""
        before = {setting for change in first for setting in _settings(change)}
        for change in self.filled[len(first) :]:
            rules = self.writers.rules_of(change.path)
            if rules and not before.isdisjoint(_settings(change)):
                message = (
                    f"changing {format_path(change.path)} has no effect: {change.rules[0].name} "
                    "sets it again after the rules, as the API server does"
                )
                self._tell(Finding(Cause.NOTE, False, message, rules, change.path))

    def _explains(self, plugin: Plugin) -> bool:
        """Whether a plugin says of an object that it does not want why its rules do not match."""
        return bool(plugin.scopes) and not _is_own(plugin, self.request.head)

    def _tell(self, finding: Finding, after_denial: bool | None = None) -> None:
        if finding.denies and (self.denied if after_denial is None else after_denial):
            finding = finding._replace(message=AFTER_DENIAL + finding.message)
        if finding in self.told:
            # A second pass finds what the first one found.
            return
        work.spend(_FINDING + len(finding.message))
        self.told.add(finding)
        self.findings.append(finding)
        self.denied = self.denied or finding.denies

    def _with_default(self, finding: Finding, shown: Json) -> Finding:
        """A finding about a value that is not in the file says so: `spec.replicas: 1 (default)`."""
        if not finding.field or get(self.seen.value, finding.field, MISSING) is not MISSING:
            return finding
        value = get(shown, finding.field, MISSING)
        if value is MISSING or isinstance(value, (dict, list)):
            return finding
        by = next((one.rules[0].name for one in self.filled if one.path == finding.field), "")
        said = f"{format_path(finding.field)}: {compact(value)} ({by or 'default'})"
        return finding._replace(message=f"{finding.message}; {said}")

    def _write_back(self, shown: Json, admitted: Json, steps: Sequence[Step]) -> None:
        changes = _blame(shown, steps)
        work.spend(_CHANGE * len(changes))
        everyone = tuple(dict.fromkeys(rule for step in steps for rule in step.rules))
        everyone = everyone[-limits.WRITERS :]
        before = self.seen.value
        try:
            unwritable = self.seen.write(admitted)
        except KrmFnError as error:
            message = f"the API server refuses the changed object: {error}"
            self._tell(Finding(Cause.FAILED, True, message, everyone))
            return
        places = Places(one.path for one in unwritable)
        whose: dict[Path, dict[RuleRef, None]] = {one.path: {} for one in unwritable}
        kept = []
        for change in changes:
            above = places.above(change.path)
            for path in above:
                whose[path].update(dict.fromkeys(change.rules))
            if not above:
                kept.append(change)
        for one in unwritable:
            cause = Cause.FAILED if one.denies else Cause.WARNING
            rules = tuple(whose[one.path]) or everyone
            message = f"{format_path(one.path)} cannot be changed by a rule: {one.why}"
            self._tell(Finding(cause, one.denies, message, rules, one.path))
        now = self.seen.shown
        if not equal(now, admitted):
            for finding in _without_effect(net_changes(shown, admitted, changes), now, places):
                self._tell(finding)
        for change in kept:
            self._note(change)
        for edit in diff(before, self.seen.value):
            # What the API server had derived from what a rule then changed.
            if not self.writers.touched(edit.path):
                self._note(Change(edit.path, edit.old, edit.new, everyone))

    def _note(self, change: Change) -> None:
        self.changes.append(change)
        self.writers.add(change.path, change.rules)


_Setting = tuple[Path, str]
"""Where something was set, and what; the place in a list that is appended to does not count."""


def _settings(change: Change) -> Iterator[_Setting]:
    """What a change has set, each member of maps and each element of lists by itself."""
    pending: list[tuple[Path, Any]] = [(change.path, change.new)]
    while pending:
        path, value = pending.pop()
        if type(value) is list:
            pending += [((*path, n), element) for n, element in enumerate(value)]
        elif type(value) is dict and not isinstance(path[-1], int):
            pending += [((*path, key), member) for key, member in value.items()]
        elif value is not MISSING:
            yield path[:-1] if isinstance(path[-1], int) else path, compact(value)


def _without_effect(changes: Sequence[Change], now: Json, unwritable: Places) -> Iterator[Finding]:
    """What the API server fills in again, or drops, of what rules changed; `now` is what stays."""
    for change in changes:
        if isinstance(change.path[-1], int) or unwritable.above(change.path):
            continue
        stays = get(now, change.path, MISSING)
        if change.new is MISSING:
            if stays is not MISSING:
                message = (
                    f"removing {format_path(change.path)} has no effect: the API server fills "
                    f"in {compact(stays)} again"
                )
                yield Finding(Cause.NOTE, False, message, change.rules, change.path)
            continue
        for path in _dropped(change.new, stays, change.path):
            message = f"{format_path(path)} has no effect: the API server drops it"
            yield Finding(Cause.WARNING, False, message, change.rules, path)


def _dropped(wrote: Any, stays: Any, path: Path) -> Iterator[Path]:
    """Where something was written, and not just an empty value, of which nothing stays."""
    if wrote in _EMPTY:
        return
    if stays is MISSING:
        yield path
    elif type(wrote) is dict and type(stays) is dict:
        for key, value in wrote.items():
            yield from _dropped(value, stays.get(key, MISSING), (*path, key))
    elif type(wrote) is list and type(stays) is list and len(wrote) == len(stays):
        for n, (value, other) in enumerate(zip(wrote, stays, strict=True)):
            yield from _dropped(value, other, (*path, n))


_EMPTY: Final[tuple[Any, ...]] = (None, "", 0, False, [], {})


def _blame(shown: Json, steps: Sequence[Step]) -> list[Change]:
    """The edits of each step with the rules that made it."""
    changes: list[Change] = []
    before = shown
    for step in steps:
        for edit in diff(before, step.object):
            changes.append(Change(edit.path, edit.old, edit.new, step.rules))
        before = step.object
    return changes


def net_changes(
    old: Json, new: Json, changes: Sequence[Change], shown: Json | None = None
) -> list[Change]:
    """The edits between two objects, each with the rules that last wrote there or below.

    `shown` is the old object as the rules saw it.
    """
    writers = Writers()
    for change in changes:
        writers.add(change.path, change.rules)
    net: list[Change] = []
    for edit in diff(old, new):
        seen = get(shown, edit.path, MISSING) if edit.old is MISSING else MISSING
        rules = writers.rules_of(edit.path)
        net.append(Change(edit.path, edit.old, edit.new, rules, seen))
    return net
