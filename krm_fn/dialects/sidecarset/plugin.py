"""Kruise's webhook for Pods as a plugin of the chain: one, however many SidecarSets there are.

It finds the sets that match a Pod, puts in what they bring, and tells what cannot be known at
render time. How a sidecar is made is not known here. Of the webhook's mutators this is the one for
SidecarSets.
Source: OpenKruise v1.9.0 pkg/webhook/pod/mutating; the SidecarSet specification, A3 to A7 and A18.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from krm_fn.admission import (
    Cause,
    Cluster,
    Finding,
    Operation,
    Phase,
    Prefilter,
    Request,
    Response,
    RuleRef,
    Selection,
    Step,
)
from krm_fn.admission.coverage import scope_of_pods
from krm_fn.admission.trace import RuleTrace, Trace
from krm_fn.dialects.sidecarset import bookkeeping
from krm_fn.dialects.sidecarset.build import Built, SetTemplate
from krm_fn.dialects.sidecarset.matching import LabelSelector, Matcher, in_order
from krm_fn.dialects.sidecarset.merge import merged, same_names
from krm_fn.dialects.sidecarset.metadata import fresh, patched
from krm_fn.dialects.sidecarset.options import Bookkeeping, Inject, Revision, SidecarSetOptions
from krm_fn.dialects.sidecarset.refused import InjectionRefusedError
from krm_fn.dialects.sidecarset.revisions import (
    RevisionNotFoundError,
    find_revision,
    injects_revision,
    restored,
    wanted_revision,
)
from krm_fn.dialects.sidecarset.sets import SidecarSet
from krm_fn.dialects.sidecarset.sharing import AppContainers
from krm_fn.dialects.sidecarset.types import kubernetes
from krm_fn.errors import DecodeError
from krm_fn.kube.wellknown import DEFAULT_NAMESPACE
from krm_fn.values import Json, equal, get, with_at

INVOCATION: Final = "mpod.kb.io"

_ANNOTATIONS: Final = ("metadata", "annotations")


class Kruise:
    """All SidecarSets of a run."""

    name = "kruise"
    phase = Phase.MUTATING_WEBHOOK
    order = ("kruise-mutating-webhook-configuration", INVOCATION)

    def __init__(self, sets: Sequence[SidecarSet], options: SidecarSetOptions) -> None:
        self.options = options
        self.matchers = [Matcher(one) for one in sets]
        self._templates = {id(one): SetTemplate(one) for one in sets}
        self._restored: dict[tuple[int, str], SetTemplate] = {}
        self._by_namespace: dict[str, list[Matcher]] = {}
        self._fresh: dict[tuple[SetTemplate, ...], dict[str, str]] = {}
        core, pods = frozenset({""}), frozenset({"Pod"})
        self.prefilter = Prefilter(
            Selection(core, pods, matcher.pinned) for matcher in self.matchers
        )
        self.scopes = [scope_of_pods(matcher.set.ref, matcher.pinned) for matcher in self.matchers]

    def admit(
        self,
        request: Request,
        cluster: Cluster,
        only: frozenset[str] | None = None,
    ) -> Response:
        """Admit one Pod. Kruise acts when Pods are created; no update changes them."""
        trace = request.trace
        if trace is not None and not self._explains(request, trace):
            return Response()
        if request.operation is not Operation.CREATE:
            return Response()
        try:
            decoded = kubernetes().typed(request.object)
        except DecodeError as error:
            message = f"no SidecarSet is applied to what cannot be read as a Pod: {error.message}"
            return Response(findings=(Finding(Cause.WARNING, False, message, (), error.path),))
        if not _is_active(decoded):
            return Response()
        run = _Run(self, request, decoded, cluster)
        try:
            return run.response()
        except InjectionRefusedError as refusal:
            finding = Finding(Cause.FAILED, True, str(refusal), refusal.rules, code=500)
            return Response(findings=(*run.findings, finding), matched=tuple(run.matched))

    def _explains(self, request: Request, trace: Trace) -> bool:
        """Record what the webhook is called for; returns whether it is called for this object."""
        from krm_fn.dialects.sidecarset.why import ask_pod

        created = request.operation is Operation.CREATE
        active = _is_active(request.object)
        asked = [
            ask_pod(trace.rule(one.set.ref), request, created=created, active=active)
            for one in self.matchers
        ]
        return any(asked)

    def candidates(self, namespace: str) -> list[Matcher]:
        """The sets that may match Pods of a namespace, in the order in which they apply."""
        known = self._by_namespace.get(namespace)
        if known is None:
            known = self._by_namespace[namespace] = in_order(self.matchers, namespace)
        return known

    def fresh(self, templates: tuple[SetTemplate, ...]) -> dict[str, str]:
        """What these sets make of no annotations."""
        known = self._fresh.get(templates)
        if known is None:
            known = self._fresh[templates] = fresh(one.set for one in templates)
        return known

    def template(self, sidecar_set: SidecarSet, revision: Json | None = None) -> SetTemplate:
        """A set with its containers prepared: the one at hand, or that of a revision."""
        if revision is None:
            return self._templates[id(sidecar_set)]
        key = (id(sidecar_set), get(revision, ("metadata", "name"), ""))
        if key not in self._restored:
            self._restored[key] = SetTemplate(restored(sidecar_set, revision))
        return self._restored[key]


def _is_active(pod: Json) -> bool:
    return (
        get(pod, ("status", "phase")) not in ("Succeeded", "Failed")
        and get(pod, ("metadata", "deletionTimestamp")) is None
    )


def _without(names: Sequence[str]) -> str:
    return (
        f"its resourcesPolicy reads {', '.join(names)}, which not all target containers have; in a "
        "cluster a LimitRange may give it to them before Kruise is asked"
    )


class _Run:
    """One Pod."""

    def __init__(self, plugin: Kruise, request: Request, decoded: Json, cluster: Cluster) -> None:
        """`decoded` is the Pod as Go reads it, which may be written in many ways."""
        self.plugin = plugin
        self.options = plugin.options
        self.request = request
        self.cluster = cluster
        self.pod = request.object
        self.decoded = decoded
        self.labels: dict[str, str] = get(decoded, ("metadata", "labels")) or {}
        self.annotations: dict[str, str] = get(decoded, _ANNOTATIONS) or {}
        self.findings: list[Finding] = []
        self.matched: list[RuleRef] = []

    def response(self) -> Response:
        templates = [self._version(matcher) for matcher in self._matching()]
        if not templates:
            return Response(findings=tuple(self.findings), matched=tuple(self.matched))
        steps: list[Step] = []
        pod = self._patch_metadata(templates, steps)
        if self.options.inject is Inject.ALL:
            pod = self._inject(pod, templates, steps)
        return Response(
            object=None if pod is self.pod else pod,
            steps=tuple(steps),
            findings=tuple(self.findings),
            matched=tuple(self.matched),
        )

    # ------------------------------------------------------------------------- which sets

    def _record(self, sidecar_set: SidecarSet) -> RuleTrace | None:
        """What takes the criteria of a set, where somebody asks."""
        return None if self.request.trace is None else self.request.trace.rule(sidecar_set.ref)

    def _candidates(self, namespace: str) -> Sequence[Matcher]:
        """The sets that may match; all of them where somebody asks why they do not."""
        candidates = self.plugin.candidates(namespace)
        if self.request.trace is None:
            return candidates
        others = [one for one in self.plugin.matchers if one not in candidates]
        return [*candidates, *others]

    def _matching(self) -> Iterator[Matcher]:
        namespace = self.request.namespace or DEFAULT_NAMESPACE
        if self.request.trace is not None:
            from krm_fn.dialects.sidecarset import why
        for matcher in self._candidates(namespace):
            record = self._record(matcher.set)
            if record is not None:
                field = ("spec", "injectionStrategy", "paused")
                saw = "paused" if matcher.paused else "not paused"
                record.ask("a set that is not paused", saw, not matcher.paused, field=field)
            if matcher.paused:
                continue
            there = matcher.matches_namespace(namespace, self.cluster)
            if record is not None:
                why.ask_namespace(record, matcher, namespace, self.cluster, there)
            if there is False:
                continue
            held = self._matches_labels(matcher)
            if record is not None:
                why.ask_labels(record, matcher, self.labels, held)
            if not held:
                continue
            if there is None:
                message = (
                    f"the labels of namespace {namespace} are not known, so that its "
                    "namespaceSelector cannot be decided and nothing is injected; add the "
                    "Namespace to the items or to context.namespaces"
                )
                self.findings.append(Finding(Cause.UNDECIDED, False, message, (matcher.set.ref,)))
                self.matched.append(matcher.set.ref)
                continue
            self.matched.append(matcher.set.ref)
            yield matcher

    def _matches_labels(self, matcher: Matcher) -> bool:
        pods = matcher.pods
        if pods is None:
            return False
        if pods.error:
            rule = matcher.set.ref
            raise InjectionRefusedError(pods.error, (rule,), f"SidecarSet {matcher.set.name}")
        if matcher.controller_keys and self.request.workload is not None:
            return self._matches_template(matcher, pods)
        return pods.matches(self.labels)

    def _matches_template(self, matcher: Matcher, selector: LabelSelector) -> bool:
        """A template has not all labels of its Pods; what hangs on those is told, and absent."""
        unknown = [key for key in matcher.controller_keys if key not in self.labels]
        known = [r for r in selector.requirements if r.key not in unknown]
        if not all(requirement.matches(self.labels) for requirement in known):
            return False
        if unknown:
            message = (
                f"selects Pods by a controller-added label ({', '.join(unknown)}), which no "
                "template has; it is taken for absent"
            )
            self.findings.append(Finding(Cause.WARNING, False, message, (matcher.set.ref,)))
        return selector.matches(self.labels)

    def _version(self, matcher: Matcher) -> SetTemplate:
        """The set as it injects into this Pod."""
        one = matcher.set
        latest = self.plugin.template(one)
        wanted = wanted_revision(one)
        if wanted is None:
            return latest
        pinned = self.options.revision
        try:
            revision = find_revision(one, wanted, self.cluster)
        except RevisionNotFoundError as missing:
            if pinned is Revision.REVISION:
                raise InjectionRefusedError(
                    str(missing), (one.ref,), f"SidecarSet {one.name}"
                ) from None
            if pinned is Revision.AS_CLUSTER:
                message = (
                    f"{missing} among the objects: its latest version is injected; add the "
                    "ControllerRevision, or set sidecarSets.revision to Latest"
                )
                self.findings.append(Finding(Cause.WARNING, False, message, (one.ref,)))
            return latest
        if not injects_revision(one, wanted, self.labels, pinned):
            return latest
        return self.plugin.template(one, revision)

    # -------------------------------------------------------------------------- what they do

    def _patch_metadata(self, templates: Sequence[SetTemplate], steps: list[Step]) -> Json:
        pod = self.pod
        annotations = self.annotations
        expected = self.plugin.fresh(tuple(templates))
        settled = {key for key, value in expected.items() if annotations.get(key) == value}
        for template in templates:
            changed = patched(annotations, template.set, settled)
            record = self._record(template.set)
            if record is not None:
                from krm_fn.dialects.sidecarset.why import tell_metadata

                tell_metadata(record, template.set, annotations, changed)
            if changed is not annotations:
                annotations = changed
                pod = with_at(pod, _ANNOTATIONS, annotations)
                steps.append(Step((template.set.ref,), pod))
        self.annotations = annotations
        return pod

    def _inject(self, pod: Json, templates: Sequence[SetTemplate], steps: list[Step]) -> Json:
        annotations = self.annotations
        sets = [template.set for template in templates]
        full = self.options.bookkeeping is Bookkeeping.FULL
        hashes = bookkeeping.Hashes(self.decoded, annotations, sets) if full else None
        app = AppContainers(self.decoded, frozenset().union(*(t.written for t in templates)))
        sidecars = frozenset().union(*(t.sidecars for t in templates))
        built = [t.build(self.decoded, annotations, app, sidecars) for t in templates]
        self.findings += (
            Finding(Cause.WARNING, False, _without(names), (one.set.ref,))
            for one in built
            if (names := one.without)
        )
        if not any(one.injects for one in built):
            self._tell_nothing(built, pod)
            return pod
        self._check_names(built, pod)
        added = bookkeeping.hot_annotations(built, annotations)
        if hashes is not None:
            added.update(hashes.written(built, self.options.timestamp))
        if self.options.bookkeeping is not Bookkeeping.NONE:
            names = [one.name for one in sets]
            added[bookkeeping.INJECTED_LIST] = bookkeeping.listed(annotations, names)
        before = pod
        for n, one in enumerate(built):
            injected = merged(pod, built[: n + 1], by_name=self.options.sort_by_name)
            if n == len(built) - 1 and added.items() - annotations.items():
                injected = with_at(injected, _ANNOTATIONS, {**annotations, **added})
            record = self._record(one.set)
            if record is not None:
                from krm_fn.dialects.sidecarset.why import tell_injection

                tell_injection(record, one.set, before, injected)
            if not equal(injected, before):
                steps.append(Step((one.set.ref,), injected))
                before = injected
        return before

    def _tell_nothing(self, built: Sequence[Built], pod: Json) -> None:
        if self.request.trace is not None:
            from krm_fn.dialects.sidecarset.why import tell_injection

            for one in built:
                tell_injection(self.request.trace.rule(one.set.ref), one.set, pod, pod)

    def _check_names(self, built: Sequence[Built], pod: Json) -> None:
        """Kruise adds all sidecars of one name, and the API server refuses the Pod for it."""
        for name, bringing in same_names(built, pod):
            refs = tuple(dict.fromkeys(one.set.ref for one in bringing))
            names = " and ".join(dict.fromkeys(one.set.name for one in bringing))
            message = f"container {name} comes from {names} twice: no Pod may have two of that name"
            if len(refs) > 1:
                raise InjectionRefusedError(message.replace(" twice", ""), refs)
            self.findings.append(Finding(Cause.WARNING, False, message, refs))
