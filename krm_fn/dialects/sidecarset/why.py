"""The criteria of a SidecarSet as an explanation tells them. Loaded where somebody asks why.

Source: docs/spec/explain.md section 2; OpenKruise v1.9.0 pkg/webhook/pod/mutating.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from krm_fn.admission import Cluster, Request
from krm_fn.admission.trace import RuleTrace
from krm_fn.admission.why import labels_text, selector_text
from krm_fn.dialects.sidecarset.matching import LabelSelector, Matcher
from krm_fn.dialects.sidecarset.metadata import RETAIN
from krm_fn.dialects.sidecarset.sets import SidecarSet
from krm_fn.kube.selectors import Selector
from krm_fn.values import Json, get

_LABELS = ("metadata", "labels")


def ask_pod(record: RuleTrace, request: Request, *, created: bool, active: bool) -> bool:
    """Record what Kruise's webhook is called for: Pods that are created, and not finished."""
    head = request.head
    is_pod = (head.group, head.kind) == ("", "Pod")
    hint = "" if is_pod else "podTemplates: Mutate (--pod-templates) admits templates as Pods"
    return (
        record.ask("a Pod", head.kind, is_pod, hint=hint)
        and record.ask("CREATE", str(request.operation), created)
        and record.ask("a Pod that is not finished or deleted", "it is", active)
    )


def ask_namespace(
    record: RuleTrace, matcher: Matcher, name: str, cluster: Cluster, there: bool | None
) -> None:
    """Record the namespaceSelector of a set."""
    selector = matcher.namespaces
    if selector is None:
        return
    namespace = cluster.namespace(name)
    labels = {key: text for key, text in namespace.labels.items() if type(text) is str}
    shown = _selector(selector)
    saw = selector.error or f"{name}: {labels_text(shown, labels)}"
    hint = "" if there is not None else "add the Namespace to the items or to context.namespaces"
    field = ("spec", "namespaceSelector")
    record.ask(f"namespace has {selector_text(shown)}", saw, there, field=field, hint=hint)


def ask_labels(record: RuleTrace, matcher: Matcher, labels: Mapping[str, str], held: bool) -> None:
    """Record the selector of a set, with the labels that it saw."""
    field = ("spec", "selector")
    if matcher.pods is None:
        record.ask("a selector", "none: the set matches no Pod", False, field=field)
        return
    shown = _selector(matcher.pods)
    wants = f"Pod has {selector_text(shown)}"
    record.ask(wants, labels_text(shown, labels), held, field=field, path=_LABELS)


def _selector(selector: LabelSelector) -> Selector:
    return Selector(selector.requirements)


def tell_metadata(
    record: RuleTrace, sidecar_set: SidecarSet, before: Mapping[str, str], after: Mapping[str, str]
) -> None:
    """Record what patchPodMetadata did to each annotation."""
    for n, entry in enumerate(sidecar_set.spec.get("patchPodMetadata", ())):
        policy = entry.get("patchPolicy", RETAIN)
        for key in entry.get("annotations", {}):
            old, new = before.get(key), after.get(key)
            if old == new:
                result = "not set" if new is None else f"stays {new!r}"
            else:
                result = f"{'none' if old is None else repr(old)} becomes {new!r}"
            field = ("spec", "patchPodMetadata", n)
            record.effect(f"annotation {key} ({policy})", result, field=field)


def tell_injection(record: RuleTrace, sidecar_set: SidecarSet, before: Json, after: Json) -> None:
    """Record each container and volume of a set: injected, or there already."""
    for kind in ("initContainers", "containers", "volumes"):
        had, has = _names(before, kind), _names(after, kind)
        for name in _named(sidecar_set.spec.get(kind) or ()):
            if name in had:
                result = "there already"
            elif name in has or any(one.startswith(f"{name}-") and one not in had for one in has):
                result = "injected"
            else:
                result = "not injected"
            record.effect(f"{kind.removesuffix('s')} {name}", result, field=("spec", kind))


def _names(pod: Json, kind: str) -> list[str]:
    return _named(get(pod, ("spec", kind)) or ())


def _named(elements: Sequence[Any]) -> list[str]:
    return [str(one["name"]) for one in elements if type(one) is dict and "name" in one]
