"""DefaultTolerationSeconds: how long a Pod stays on a node that is not ready or unreachable.

Source: plugin/pkg/admission/defaulttolerationseconds.
"""

from __future__ import annotations

from typing import Final

from krm_fn.admission import Operation, Request, Response
from krm_fn.dialects.builtin.listers import Listers
from krm_fn.dialects.builtin.plugin import PODS, BuiltIn
from krm_fn.dialects.builtin.pods import with_spec
from krm_fn.dialects.builtin.tolerations import EXISTS, NO_EXECUTE, Toleration
from krm_fn.kube.wellknown import NOT_READY

_SECONDS: Final = 300
_TAINTS: Final = (NOT_READY, "node.kubernetes.io/unreachable")


class DefaultTolerationSeconds(BuiltIn):
    """Pods that say nothing of these two taints tolerate each for 300 seconds."""

    name = "DefaultTolerationSeconds"
    kinds = PODS

    def admit(self, request: Request, listers: Listers) -> Response:
        if request.operation is Operation.DELETE:
            return Response()
        spec = request.object["spec"]
        present = [Toleration.of(one) for one in spec.get("tolerations") or ()]
        more = [
            Toleration(taint, EXISTS, "", NO_EXECUTE, _SECONDS).written()
            for taint in _TAINTS
            if not any(_is_about(one, taint) for one in present)
        ]
        if not more:
            return Response()
        tolerations = [*(spec.get("tolerations") or ()), *more]
        return self.changed(
            request, with_spec(request.object, {**spec, "tolerations": tolerations})
        )


def _is_about(one: Toleration, taint: str) -> bool:
    return one.key in ("", taint) and one.effect in ("", NO_EXECUTE)
