"""The object as KubeMod's rules see it: with `syntheticRefs`, without `managedFields`.

Neither change leaves KubeMod: what a rule writes below `syntheticRefs` cannot be put anywhere.
Source: KubeMod core/dragnet_webhook.go; the ModRule specification, section 4.1.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from krm_fn.admission import Cluster, Request
from krm_fn.kube.wellknown import LAST_APPLIED
from krm_fn.values import MISSING, Json, Path, equal, get, with_at

SYNTHETIC_REFS: Final = "syntheticRefs"
_MANAGED_FIELDS: Final = ("metadata", "managedFields")
_NODE_NAME: Final = "ref.kubemod.io/nodename"


class KubeModForm:
    """The view of one request; `references` is what stands below `syntheticRefs`."""

    def __init__(self, references: Json) -> None:
        self.references = references

    def get(self, value: Json) -> Json:
        """The object with the references in it. Not the same object even where there are none."""
        shown = with_at(value, _MANAGED_FIELDS, MISSING) if _has_managed(value) else value
        return {**shown, SYNTHETIC_REFS: self.references}

    def put(self, value: Json, admitted: Json) -> tuple[Json, tuple[Path, ...]]:
        """The admitted object with the original's own `syntheticRefs` and managed fields."""
        lost: tuple[Path, ...] = ()
        if not equal(admitted.get(SYNTHETIC_REFS, MISSING), self.references):
            lost = ((SYNTHETIC_REFS,),)
        if SYNTHETIC_REFS in value:
            result = {**admitted, SYNTHETIC_REFS: value[SYNTHETIC_REFS]}
        else:
            result = {key: member for key, member in admitted.items() if key != SYNTHETIC_REFS}
        if _has_managed(value):
            managed = get(value, _MANAGED_FIELDS)
            result = with_at(result, _MANAGED_FIELDS, managed)
        return (value if equal(result, value) else result), lost


def _has_managed(value: Json) -> bool:
    return get(value, _MANAGED_FIELDS, MISSING) is not MISSING


class References(NamedTuple):
    """What KubeMod puts below `syntheticRefs`.

    `unknown` says what of it a render cannot know, by the member.
    """

    value: Json
    unknown: tuple[tuple[str, str], ...] = ()


def references(request: Request, cluster: Cluster) -> References:
    """The namespace's manifest for what lives in one, and the node's for a Pod that names it.

    A Pod names its node in the annotation `ref.kubemod.io/nodename`.
    """
    found: Json = {}
    unknown: list[tuple[str, str]] = []
    if request.namespace:
        namespace = cluster.namespace(request.namespace)
        found["namespace"] = _without_bookkeeping(namespace.object)
        if not namespace.complete:
            why = (
                f"the namespace {request.namespace} is not among the items or in "
                "context.namespaces: only its name is known"
            )
            unknown.append(("namespace", why))
    name = get(request.object, ("metadata", "annotations", _NODE_NAME))
    if request.head.kind == "Pod" and type(name) is str and name:
        node = cluster.get("", "Node", "", name)
        if node is None:
            why = f"the node {name} is not among the items or in context.objects"
            unknown.append(("node", why))
        else:
            found["node"] = with_at(node, _MANAGED_FIELDS, MISSING) if _has_managed(node) else node
    return References(found, tuple(unknown))


def _without_bookkeeping(namespace: Json) -> Json:
    shown: Any = namespace
    if _has_managed(shown):
        shown = with_at(shown, _MANAGED_FIELDS, MISSING)
    annotation = ("metadata", "annotations", LAST_APPLIED)
    if get(shown, annotation, MISSING) is not MISSING:
        shown = with_at(shown, annotation, MISSING)
    result: Json = shown
    return result
