"""PodTolerationRestriction: what Pods of a namespace tolerate, and what they may.

Source: plugin/pkg/admission/podtolerationrestriction.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from krm_fn.admission import Operation, Request, Response
from krm_fn.dialects.builtin.listers import Listers, annotations_of
from krm_fn.dialects.builtin.plugin import PODS, BuiltIn, InternalError
from krm_fn.dialects.builtin.pods import with_spec
from krm_fn.dialects.builtin.tolerations import EXISTS, NO_SCHEDULE, Toleration, allowed, merged
from krm_fn.dialects.builtin.tolerationsjson import tolerations_of
from krm_fn.kube.served.qos import quality_of
from krm_fn.values import Json

DEFAULT_TOLERATIONS: Final = "scheduler.alpha.kubernetes.io/defaultTolerations"
TOLERATIONS_WHITELIST: Final = "scheduler.alpha.kubernetes.io/tolerationsWhitelist"

_FIELD: Final = ("spec", "tolerations")
_MEMORY_PRESSURE: Final = Toleration(
    "node.kubernetes.io/memory-pressure", EXISTS, "", NO_SCHEDULE
).written()


class PodTolerationRestriction(BuiltIn):
    """Merges the tolerations of the namespace into those of the Pod, and compares with its list.

    `default` and `whitelist` are the plugin's configuration, for namespaces without annotations.
    """

    name = "PodTolerationRestriction"
    kinds = PODS

    def __init__(self, default: Sequence[Json] = (), whitelist: Sequence[Json] = ()) -> None:
        self._default = default
        self._whitelist = whitelist

    def admit(self, request: Request, listers: Listers) -> Response:
        if request.operation is Operation.DELETE:
            return Response()
        spec = request.object["spec"]
        more: list[Json] = []
        if request.operation is Operation.CREATE:
            annotated = _annotated(request, listers, DEFAULT_TOLERATIONS)
            more += self._default if annotated is None else annotated
        if quality_of(request.object, listers.release) != "BestEffort":
            more.append(_MEMORY_PRESSURE)
        own = spec.get("tolerations") or []
        together = merged(own, more) if more else own
        self._check(request, together, listers)
        if together == own:
            return Response()
        return self.changed(request, with_spec(request.object, {**spec, "tolerations": together}))

    def validate(self, request: Request, listers: Listers) -> Response:
        if request.operation is not Operation.DELETE:
            self._check(request, request.object["spec"].get("tolerations") or [], listers)
        return Response()

    def _check(self, request: Request, tolerations: Sequence[Json], listers: Listers) -> None:
        if not tolerations:
            return
        annotated = _annotated(request, listers, TOLERATIONS_WHITELIST)
        whitelist = self._whitelist if annotated is None else annotated
        scope = "cluster" if annotated is None else "namespace"
        if not allowed(tolerations, whitelist):
            raise InternalError(
                "pod tolerations (possibly merged with namespace default tolerations) conflict "
                f"with its {scope} whitelist",
                _FIELD,
            )


def _annotated(request: Request, listers: Listers, key: str) -> Sequence[Json] | None:
    """The tolerations of an annotation of the namespace; None without it. Raises Denied."""
    namespace = listers.namespace(request.namespace)
    text = annotations_of(namespace).get(key) if namespace is not None else None
    return None if text is None else tolerations_of(text)
