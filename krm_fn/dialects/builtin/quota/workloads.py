"""How many Pods and claims a workload asks for.

Source: the controllers of Kubernetes' workloads, as of 1.36.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from krm_fn.values import Json, get
from krm_fn.wire import Head

PER_NODE: Final = -1
"""The number of Pods of what runs one on each node."""

_PER_NODE: Final = frozenset({("apps", "DaemonSet"), ("apps.kruise.io", "DaemonSet")})
_NOTHING: Final = frozenset({("", "PodTemplate")})


class Replicas(NamedTuple):
    """How many Pods of a template there would be at once; PER_NODE for one on each node."""

    pods: int
    words: str


UNKNOWN: Final = Replicas(1, "1 Pod or more")
"""The Pods of a kind that nobody knows here but whoever configured where its template is."""


def replicas_of(head: Head, value: Json) -> Replicas:
    """The Pods that a workload asks for at once."""
    kind = head.group, head.kind
    if kind in _NOTHING:
        return Replicas(0, "no Pod")
    if kind in _PER_NODE:
        return Replicas(PER_NODE, "a Pod for each node")
    if kind == ("batch", "Job"):
        return _pods(_of_job(value.get("spec") or {}))
    if kind == ("batch", "CronJob"):
        pods = _pods(_of_job(get(value, ("spec", "jobTemplate", "spec")) or {}))
        return pods._replace(words=f"{pods.words} for each run")
    return _pods(_number(get(value, ("spec", "replicas")), 1))


def _pods(number: int) -> Replicas:
    return Replicas(number, "1 Pod" if number == 1 else f"{number} Pods")


def _of_job(spec: Json) -> int:
    """Pods at once: the parallelism, but no more than there is to complete."""
    parallelism = _number(spec.get("parallelism"), 1)
    completions = spec.get("completions")
    return parallelism if completions is None else min(parallelism, _number(completions, 1))


def _number(value: Any, default: int) -> int:
    return value if type(value) is int and value >= 0 else default


def claims_of(head: Head, value: Json) -> Iterator[Json]:
    """The claims that a StatefulSet asks for, one for each of its Pods."""
    if head.kind == "StatefulSet":
        for claim in get(value, ("spec", "volumeClaimTemplates")) or ():
            yield {"apiVersion": "v1", "kind": "PersistentVolumeClaim", **claim}
