"""PodTopologyLabels: a Pod that is bound to a Node gets that Node's zone and region.

Source: plugin/pkg/admission/podtopologylabels.
"""

from __future__ import annotations

from typing import Final

from krm_fn.admission import Operation, Request, Response
from krm_fn.dialects.builtin.listers import Listers, labels_of
from krm_fn.dialects.builtin.plugin import PODS, BuiltIn
from krm_fn.values import with_at

NODE: Final = ("", "Node")

_LABELS: Final = ("topology.kubernetes.io/zone", "topology.kubernetes.io/region")
_SINCE: Final = (1, 35)
"""The release since which the gate PodTopologyLabelsAdmission is on."""


class PodTopologyLabels(BuiltIn):
    """Zone and region of the Node take the place of the Pod's own."""

    name = "PodTopologyLabels"
    kinds = PODS

    def admit(self, request: Request, listers: Listers) -> Response:
        name = request.object["spec"].get("nodeName")
        if not name or request.operation is not Operation.CREATE or listers.release < _SINCE:
            return Response()
        node = listers.get(NODE, name)
        if node is None:
            return Response()
        present = labels_of(request.object)
        topology = {key: text for key, text in labels_of(node).items() if key in _LABELS}
        if all(present.get(key) == text for key, text in topology.items()):
            return Response()
        labelled = with_at(request.object, ("metadata", "labels"), {**present, **topology})
        return self.changed(request, labelled)
