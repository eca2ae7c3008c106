"""When the API server's own admission plugins take part in a run, and whose word that is.

They do where something that they read is known, or where they are asked for. Without either nobody
loads them. This module knows which objects speak of them, and no plugin.
Source: docs/spec/builtin-admission.md section (d); docs/trust.md, "Context" and "Stages".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from krm_fn.config.dialects import BUILT_IN
from krm_fn.config.fields import Section
from krm_fn.config.sources import Stage
from krm_fn.kube.selectors import texts
from krm_fn.values import Json, get
from krm_fn.wire import Head
from krm_fn.wire.stream import head_of

POD_SECURITY: Final = "pod-security.kubernetes.io/"
"""What the labels begin with by which a Namespace asks for the Pod Security Standards."""

_SPEAKING: Final = frozenset(
    {
        ("", "LimitRange"),
        ("", "ResourceQuota"),
        ("networking.k8s.io", "IngressClass"),
        ("node.k8s.io", "RuntimeClass"),
        ("scheduling.k8s.io", "PriorityClass"),
        ("storage.k8s.io", "StorageClass"),
    }
)
"""Kinds whose objects are there for these plugins alone.

ServiceAccounts and Nodes are not among them: they are in most packages for other reasons.
"""


def may_speak(head: Head) -> bool:
    """Whether an object could say something to these plugins, by its head."""
    return (head.group, head.kind) in _SPEAKING or _is_namespace(head)


def speaks(head: Head, value: Json) -> bool:
    """Whether an object says something to these plugins."""
    if not _is_namespace(head):
        return may_speak(head)
    labels = texts(get(value, ("metadata", "labels")))
    return any(label.startswith(POD_SECURITY) for label in labels)


def _is_namespace(head: Head) -> bool:
    return (head.group, head.kind) == ("", "Namespace")


def section_of(stages: Sequence[Stage], items_speak: bool) -> Section | None:
    """How the plugins are configured; None where they take no part.

    The most trusted stage decides that has a word to say: in its options, or by what its context
    tells of the cluster, which asks for the defaults. `stages` are the one that runs and those
    after it, `items_speak` tells whether the items say something.
    """
    for stage in reversed(stages):
        own = stage.options.sections.get(BUILT_IN)
        if own is not None:
            section: Section = own.replaced({})
            return section
        context = stage.options.context
        told = (*context.namespaces, *context.objects, *stage.rules.objects)
        if any(speaks(head_of(value), value) for value in told):
            return Section({}, BUILT_IN)
    return Section({}, BUILT_IN) if items_speak else None
