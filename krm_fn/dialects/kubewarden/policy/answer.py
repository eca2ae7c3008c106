"""What a policy answers, decoded from the forms that its mode has.

Source: kubewarden-policy-sdk response.rs, policy-evaluator admission_response.rs and runtimes;
vectors' README, 20 to 25 and 44 to 48.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from krm_fn.dialects.kubewarden.codec import jsontext
from krm_fn.dialects.kubewarden.codec.jsontext import (
    JsonError,
    boolean,
    list_of,
    map_of,
    optional,
    struct,
    text,
    value,
    whole,
)
from krm_fn.dialects.kubewarden.faults import Fault, FaultKind
from krm_fn.values import Json

INTERNAL: Final = "internal server error: "
_SERVER_ERROR: Final = 500


@dataclass(frozen=True, slots=True)
class SettingsAnswer:
    """Whether settings are valid, and what the policy says to that."""

    valid: bool
    message: str | None = None
    fault: Fault | None = None


@dataclass(frozen=True, slots=True)
class PolicyAnswer:
    """What a policy says to a request. None is absent.

    `mutated` is the whole object; `patch` a JSON patch, in base64, as Rego policies have it.
    """

    accepted: bool
    message: str | None = None
    code: int | None = None
    reason: str | None = None
    causes: tuple[Json, ...] | None = None
    mutated: Any = None
    patch: str | None = None
    warnings: tuple[str, ...] | None = None
    audit: dict[str, str] | None = None
    fault: Fault | None = None
    member_faults: Mapping[str, Fault] = field(default_factory=dict)
    """What went wrong in members of a group, by the field of the cause."""
    members: tuple[tuple[str, bool], ...] = ()
    """The members of a group that were asked, and whether each accepts."""


def failed(fault: Fault) -> PolicyAnswer:
    """The answer that stands for a fault: a rejection with the text of the policy server."""
    return PolicyAnswer(False, fault.said, _SERVER_ERROR, fault=fault)


_VALIDATION: Final = struct(
    "ValidationResponse",
    {
        "accepted": boolean,
        "message": optional(text),
        "code": optional(whole(65_535)),
        "mutated_object": optional(value),
        "audit_annotations": optional(map_of(text)),
        "warnings": optional(list_of(text)),
    },
    frozenset({"accepted"}),
)
_SETTINGS: Final = struct(
    "SettingsValidationResponse",
    {"valid": boolean, "message": optional(text)},
    frozenset({"valid"}),
)


def read_answer(data: bytes, prefix: str) -> PolicyAnswer:
    """A ValidationResponse. What is none is a fault, whose text has the prefix."""
    try:
        found = _VALIDATION(jsontext.loads(data))
    except JsonError as error:
        fault = Fault(FaultKind.BAD_RESPONSE, f"its answer is no ValidationResponse: {error}")
        fault.said = f"{INTERNAL}{prefix}{error}"
        return failed(fault)
    return PolicyAnswer(
        found["accepted"],
        found["message"],
        found["code"],
        mutated=found["mutated_object"],
        warnings=None if found["warnings"] is None else tuple(found["warnings"]),
        audit=found["audit_annotations"],
    )


def read_settings_answer(data: bytes, prefix: str) -> SettingsAnswer:
    """A SettingsValidationResponse. What is none is a fault, whose text has the prefix."""
    try:
        found = _SETTINGS(jsontext.loads(data))
    except JsonError as error:
        message = f"{prefix}{error}"
        return SettingsAnswer(False, message, Fault(FaultKind.BAD_RESPONSE, message))
    return SettingsAnswer(found["valid"], found["message"])


# ------------------------------------------------------------------------------------------- Rego

_REASONS: Final = frozenset(
    (
        "",
        "Unauthorized",
        "Forbidden",
        "NotFound",
        "AlreadyExists",
        "Conflict",
        "Gone",
        "Invalid",
        "ServerTimeout",
        "Timeout",
        "TooManyRequests",
        "BadRequest",
        "MethodNotAllowed",
        "NotAcceptable",
        "RequestEntityTooLarge",
        "UnsupportedMediaType",
        "InternalError",
        "Expired",
        "ServiceUnavailable",
    )
)


def _reason(found: Any) -> str:
    if text(found) not in _REASONS:
        raise JsonError(f"unknown variant `{found}`, expected one of the reasons of Kubernetes")
    return text(found)


def _patch_type(found: Any) -> str:
    if text(found) != "JSONPatch":
        raise JsonError(f"unknown variant `{found}`, expected `JSONPatch`")
    return text(found)


_TEXT: Final = optional(text)
_CAUSE: Final = struct(
    "StatusCause", {"field": _TEXT, "message": _TEXT, "reason": _TEXT}, frozenset()
)
_DETAILS: Final = struct(
    "StatusDetails",
    {
        "name": _TEXT,
        "group": _TEXT,
        "kind": _TEXT,
        "uid": _TEXT,
        "causes": optional(list_of(_CAUSE)),
        "retryAfterSeconds": optional(whole(2**31 - 1)),
    },
    frozenset(),
)
_STATUS: Final = struct(
    "AdmissionResponseStatus",
    {
        "status": _TEXT,
        "message": _TEXT,
        "reason": optional(_reason),
        "details": optional(_DETAILS),
        "code": optional(whole(65_535)),
    },
    frozenset(),
)
_RESPONSE: Final = struct(
    "AdmissionResponse",
    {
        "uid": text,
        "allowed": boolean,
        "patchType": optional(_patch_type),
        "patch": _TEXT,
        "status": optional(_STATUS),
        "auditAnnotations": optional(map_of(text)),
        "warnings": optional(list_of(text)),
    },
    frozenset({"uid", "allowed"}),
)
_VIOLATION: Final = struct("Violation", {"msg": _TEXT}, frozenset())


def _result(found: Any) -> Any:
    """The value of the first entry point; None where it is undefined."""
    first = found[0] if type(found) is list and found else None
    return first.get("result") if type(first) is dict else None


def read_opa(found: Any) -> PolicyAnswer:
    """The `response` of an AdmissionReview in a result set."""
    result = _result(found)
    if not isinstance(result, dict) or "response" not in result:
        return failed(_bad("cannot interpret OPA policy result"))
    try:
        response = _RESPONSE(result["response"])
    except JsonError as error:
        return failed(_bad(str(error)))
    status = response["status"] or {}
    details = status.get("details") or {}
    causes = details.get("causes")
    return PolicyAnswer(
        response["allowed"],
        status.get("message"),
        status.get("code"),
        status.get("reason"),
        None if causes is None else tuple(_present(cause) for cause in causes),
        patch=response["patch"],
        warnings=None if response["warnings"] is None else tuple(response["warnings"]),
        audit=response["auditAnnotations"],
    )


def _present(members: Json) -> Json:
    return {key: member for key, member in members.items() if member is not None}


def read_gatekeeper(found: Any) -> PolicyAnswer:
    """The violations in a result set: none accept.

    Anything else than a list of objects with texts is a fault. The policy server accepts then, so
    that a policy in the wrong mode lets everything through; here it denies.
    """
    result = _result(found)
    if result is None and not (type(found) is list and found):
        return PolicyAnswer(True)
    try:
        violations = list_of(_VIOLATION)(result)
    except JsonError as error:
        return failed(_bad(f"its result is no list of violations: {error}"))
    if not violations:
        return PolicyAnswer(True)
    return PolicyAnswer(
        False, ", ".join(one["msg"] for one in violations if one["msg"] is not None)
    )


def _bad(message: str) -> Fault:
    return Fault(FaultKind.BAD_RESPONSE, message, INTERNAL + message)
