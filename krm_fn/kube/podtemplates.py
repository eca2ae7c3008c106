"""Where kinds carry the templates that controllers make Pods of, and what they add to those.

A Pod exists in a cluster only once a controller has made it. A render can look at the template
instead; this module knows where it lies, by group and kind whatever the version, and what a
template cannot tell of its Pods. It knows neither rules nor admission.
Source: Kubernetes' API types; OpenKruise apps/v1beta1; Argo Rollouts v1alpha1; the controllers'
label constants (apps/v1 and batch/v1 well-known labels, Kruise's, Argo's).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from krm_fn.kube.wellknown import JOB_NAME
from krm_fn.values import MISSING, Json, Path, get

Places = Mapping[tuple[str, str], tuple[Path, ...]]
"""(group, kind) to the paths of its templates; the step `*` stands for all elements of a list."""

_TEMPLATE: Final[Path] = ("spec", "template")

BUILT_IN: Final[Places] = {
    ("apps", "Deployment"): (_TEMPLATE,),
    ("apps", "ReplicaSet"): (_TEMPLATE,),
    ("apps", "StatefulSet"): (_TEMPLATE,),
    ("apps", "DaemonSet"): (_TEMPLATE,),
    ("", "ReplicationController"): (_TEMPLATE,),
    ("batch", "Job"): (_TEMPLATE,),
    ("batch", "CronJob"): (("spec", "jobTemplate", "spec", "template"),),
    ("", "PodTemplate"): (("template",),),
    ("apps.kruise.io", "CloneSet"): (_TEMPLATE,),
    ("apps.kruise.io", "StatefulSet"): (_TEMPLATE,),
    ("apps.kruise.io", "DaemonSet"): (_TEMPLATE,),
    ("apps.kruise.io", "BroadcastJob"): (_TEMPLATE,),
    ("apps.kruise.io", "AdvancedCronJob"): tuple(
        ("spec", "template", name, "spec", "template")
        for name in ("jobTemplate", "broadcastJobTemplate")
    ),
    ("apps.kruise.io", "UnitedDeployment"): tuple(
        ("spec", "template", name, "spec", "template")
        for name in (
            "statefulSetTemplate",
            "advancedStatefulSetTemplate",
            "cloneSetTemplate",
            "deploymentTemplate",
        )
    ),
    ("argoproj.io", "Rollout"): (_TEMPLATE,),
}

CONTROLLER_LABELS: Final = frozenset(
    {
        "pod-template-hash",
        "controller-revision-hash",
        "pod-template-generation",
        "statefulset.kubernetes.io/pod-name",
        "apps.kubernetes.io/pod-index",
        "batch.kubernetes.io/controller-uid",
        "batch.kubernetes.io/job-completion-index",
        *JOB_NAME,
        "controller-uid",
        "apps.kruise.io/cloneset-instance-id",
        "rollouts-pod-template-hash",
    }
)
"""Labels that a Pod gets from its controller, so that a template cannot tell them."""


def controller_labels(keys: Iterable[str]) -> tuple[str, ...]:
    """Those of the label keys that only a controller could have set, sorted."""
    return tuple(sorted(CONTROLLER_LABELS.intersection(keys)))


def has_templates(group: str, kind: str, extra: Places) -> bool:
    """Whether objects of a kind can have Pod templates (a Pod is none)."""
    return (group, kind) in BUILT_IN or (group, kind) in extra


def template_paths(group: str, kind: str, value: Json, extra: Places) -> Iterator[Path]:
    """Where this object has Pod templates, each once. What is missing or no map is none."""
    patterns = (*BUILT_IN.get((group, kind), ()), *extra.get((group, kind), ()))
    for pattern in dict.fromkeys(patterns):
        yield from _found(value, pattern, ())


def _found(value: Any, pattern: Path, at: Path) -> Iterator[Path]:
    if not pattern:
        if type(value) is dict:
            yield at
        return
    step, rest = pattern[0], pattern[1:]
    if step == "*":
        for n, element in enumerate(value if type(value) is list else ()):
            yield from _found(element, rest, (*at, n))
    else:
        below = get(value, (step,), MISSING)
        if below is not MISSING:
            yield from _found(below, rest, (*at, step))
