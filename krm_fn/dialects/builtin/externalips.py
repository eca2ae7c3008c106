"""DenyServiceExternalIPs: Services take no external addresses that they did not have.

Source: plugin/pkg/admission/network/denyserviceexternalips.
"""

from __future__ import annotations

from typing import Final

from krm_fn.admission import Operation, Request, Response
from krm_fn.dialects.builtin.listers import Listers
from krm_fn.dialects.builtin.plugin import BuiltIn, Forbidden
from krm_fn.values import get

_PATH: Final = ("spec", "externalIPs")


class DenyServiceExternalIPs(BuiltIn):
    """Refuses external addresses."""

    name = "DenyServiceExternalIPs"
    kinds = frozenset({("", "Service")})

    def validate(self, request: Request, listers: Listers) -> Response:
        if request.operation is Operation.DELETE:
            return Response()
        addresses = get(request.object, _PATH) or []
        old = get(request.old_object, _PATH) or []
        if set(addresses).issubset(old):
            return Response()
        detail = "Use of external IPs is denied by admission control"
        raise Forbidden(request, detail, field=_PATH)
