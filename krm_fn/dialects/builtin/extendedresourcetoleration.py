"""ExtendedResourceToleration: Pods that ask for a device tolerate the taint of nodes with it.

Source: plugin/pkg/admission/extendedresourcetoleration.
"""

from __future__ import annotations

from krm_fn.admission import Operation, Request, Response
from krm_fn.dialects.builtin.listers import Listers
from krm_fn.dialects.builtin.plugin import PODS, BuiltIn
from krm_fn.dialects.builtin.pods import INIT, REGULAR, containers, with_spec
from krm_fn.dialects.builtin.tolerations import EXISTS, NO_SCHEDULE, Toleration
from krm_fn.kube.validation.resourcenames import is_extended
from krm_fn.values import Json


class ExtendedResourceToleration(BuiltIn):
    """One toleration for each extended resource that containers request."""

    name = "ExtendedResourceToleration"
    kinds = PODS

    def admit(self, request: Request, listers: Listers) -> Response:
        if request.operation is Operation.DELETE:
            return Response()
        spec = request.object["spec"]
        names = {
            name
            for container in containers(spec, (REGULAR, INIT))
            for name in container["resources"].get("requests") or ()
            if is_extended(name)
        }
        tolerations = spec.get("tolerations") or []
        for name in sorted(names):
            wanted = Toleration(name, EXISTS, "", NO_SCHEDULE)
            tolerations = _with(tolerations, wanted)
        if tolerations == (spec.get("tolerations") or []):
            return Response()
        tolerated = with_spec(request.object, {**spec, "tolerations": tolerations})
        return self.changed(request, tolerated)


def _with(tolerations: list[Json], wanted: Toleration) -> list[Json]:
    """The list with a toleration: in the place of one that differs in its seconds, or behind."""
    read = [Toleration.of(one) for one in tolerations]
    if wanted in read:
        return tolerations
    same = [one._replace(seconds=None) == wanted for one in read]
    if not any(same):
        return [*tolerations, wanted.written()]
    return [
        wanted.written() if is_same else one for one, is_same in zip(tolerations, same, strict=True)
    ]
