"""TaintNodesByCondition: a new Node takes no Pods until it is ready.

Source: plugin/pkg/admission/nodetaint.
"""

from __future__ import annotations

from typing import Final

from krm_fn.admission import Operation, Request, Response
from krm_fn.dialects.builtin.listers import Listers
from krm_fn.dialects.builtin.plugin import BuiltIn
from krm_fn.dialects.builtin.pods import with_spec
from krm_fn.kube.wellknown import NOT_READY
from krm_fn.values import Json

_TAINT: Final[Json] = {"key": NOT_READY, "effect": "NoSchedule"}


class TaintNodesByCondition(BuiltIn):
    """Nodes get the taint of one that is not ready."""

    name = "TaintNodesByCondition"
    kinds = frozenset({("", "Node")})

    def admit(self, request: Request, listers: Listers) -> Response:
        if request.operation is not Operation.CREATE:
            return Response()
        spec = request.object["spec"]
        taints = spec.get("taints") or []
        if any(all(one.get(name) == text for name, text in _TAINT.items()) for one in taints):
            return Response()
        tainted = with_spec(request.object, {**spec, "taints": [*taints, _TAINT]})
        return self.changed(request, tainted)
