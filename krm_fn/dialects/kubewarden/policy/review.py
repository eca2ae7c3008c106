"""The request that a policy is shown: `request` of an AdmissionReview, as the API server sends it.

The same object makes the same request, its uid included, in every run.
"""

from __future__ import annotations

import hashlib
import uuid
from typing import Final

from krm_fn.admission import Operation, Request
from krm_fn.admission.matching import Matched, own_namespace
from krm_fn.dialects.kubewarden.codec import jsontext
from krm_fn.values import Json

_OPTIONS: Final = {
    Operation.CREATE: "CreateOptions",
    Operation.UPDATE: "UpdateOptions",
    Operation.DELETE: "DeleteOptions",
}


def review(request: Request, matched: Matched) -> Json:
    """The AdmissionRequest about an object; `matched` is what the policy's rules matched."""
    head = request.head
    user = request.user
    info: Json = {"username": user.username, "groups": list(user.groups)}
    if user.uid:
        info["uid"] = user.uid
    if user.extra:
        info["extra"] = {key: list(values) for key, values in user.extra.items()}
    version = head.api_version.rpartition("/")[2]
    shown: Json = {
        "uid": request.uid or _uid(request),
        "kind": {"group": matched.group, "version": matched.version, "kind": matched.kind},
        "requestKind": {"group": head.group, "version": version, "kind": head.kind},
        "resource": {
            "group": matched.group,
            "version": matched.version,
            "resource": matched.resource,
        },
        "requestResource": {
            "group": head.group,
            "version": version,
            "resource": request.resource.plural,
        },
        "operation": str(request.operation),
        "userInfo": info,
        "dryRun": False,
        "options": {"kind": _OPTIONS[request.operation], "apiVersion": "meta.k8s.io/v1"},
        "object": as_version(request.object, matched.api_version),
    }
    if head.name:
        shown["name"] = head.name
    namespace = own_namespace(head, request.namespace)
    if namespace:
        shown["namespace"] = namespace
    if request.old_object is not None:
        shown["oldObject"] = as_version(request.old_object, matched.api_version)
    return shown


def as_version(value: Json, api_version: str) -> Json:
    """An object in another version that differs in nothing but the name."""
    if value.get("apiVersion") == api_version:
        return value
    return {**value, "apiVersion": api_version}


def _uid(request: Request) -> str:
    digest = hashlib.sha256(jsontext.dumps(request.object).encode()).digest()
    return str(uuid.UUID(bytes=digest[:16], version=4))
