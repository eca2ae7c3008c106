"""LimitPodHardAntiAffinityTopology: required anti-affinity is between nodes only.

Source: plugin/pkg/admission/antiaffinity.
"""

from __future__ import annotations

from typing import Final

from krm_fn.admission import Operation, Request, Response
from krm_fn.dialects.builtin.listers import Listers
from krm_fn.dialects.builtin.plugin import PODS, BuiltIn, Forbidden
from krm_fn.values import get

_TERMS: Final = (
    "spec",
    "affinity",
    "podAntiAffinity",
    "requiredDuringSchedulingIgnoredDuringExecution",
)
_HOST: Final = "kubernetes.io/hostname"


class LimitPodHardAntiAffinityTopology(BuiltIn):
    """Refuses other topology keys than that of nodes."""

    name = "LimitPodHardAntiAffinityTopology"
    kinds = PODS

    def validate(self, request: Request, listers: Listers) -> Response:
        if request.operation is Operation.DELETE:
            return Response()
        for n, term in enumerate(get(request.object, _TERMS) or ()):
            key = term["topologyKey"]
            if key != _HOST:
                raise Forbidden(
                    request,
                    "affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey "
                    f"{key} but only key {_HOST} is allowed",
                    field=(*_TERMS, n, "topologyKey"),
                )
        return Response()
