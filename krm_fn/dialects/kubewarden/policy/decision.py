"""What follows from a policy's answer: allowed or not, with which texts, with which change.

The order is the policy server's: a mutation where nothing can be mutated, the policy's mode,
whether it may mutate, its own message. Knows answers, not where they come from.
Source: policy-server admission_response_handler.rs; vectors' README, 22, 26 to 30.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from krm_fn.dialects.kubewarden.codec import jsontext, patching
from krm_fn.dialects.kubewarden.codec.graft import graft
from krm_fn.dialects.kubewarden.faults import Fault, FaultKind
from krm_fn.dialects.kubewarden.policy.answer import INTERNAL, PolicyAnswer
from krm_fn.values import MISSING, Json, equal, get

_NO_OBJECT: Final = (
    "Incoming object is null, which happens only with DELETE operations, but the policy is "
    "attempting a mutation. This is not allowed"
)
_IDENTITY: Final = (
    ("apiVersion",),
    ("kind",),
    ("metadata", "name"),
    ("metadata", "namespace"),
)


@dataclass(frozen=True, slots=True)
class Terms:
    """What a policy's resource says of its answers."""

    name: str
    mutating: bool = False
    monitor: bool = False
    message: str | None = None
    """Replaces the policy's own; "" replaces it, too."""


@dataclass(frozen=True, slots=True)
class PolicyDecision:
    """What the API server is told. None is absent; `object` is MISSING where nothing changes."""

    allowed: bool
    message: str | None = None
    code: int | None = None
    reason: str | None = None
    causes: tuple[Json, ...] | None = None
    object: Any = MISSING
    warnings: tuple[str, ...] | None = None
    audit: dict[str, str] | None = None
    fault: Fault | None = None
    member_faults: Mapping[str, Fault] = field(default_factory=dict)
    would_reject: str | None = None
    """In mode monitor, what the policy said when it rejected."""


def decide(
    answer: PolicyAnswer, subject: Any, terms: Terms, *, raw: bool = False
) -> PolicyDecision:
    """The decision on an answer; `subject` is the object, None where there is none (DELETE).

    A raw request is its own subject, and has no identity that must stay.
    """
    decision = PolicyDecision(
        answer.accepted,
        answer.message,
        answer.code,
        answer.reason,
        answer.causes,
        warnings=answer.warnings,
        audit=answer.audit,
        fault=answer.fault,
        member_faults=answer.member_faults,
    )
    if answer.mutated is not None and subject is None:
        decision = PolicyDecision(False, _NO_OBJECT)
    mutates = subject is not None and attempts_mutation(answer, subject)
    if terms.monitor:
        said = None if decision.allowed else explanation(decision.message, decision.reason)
        return PolicyDecision(
            True,
            warnings=decision.warnings,
            audit=decision.audit,
            fault=decision.fault,
            would_reject=said,
        )
    if mutates and not terms.mutating:
        message = (
            f"Request rejected by policy {terms.name}. The policy attempted to mutate the request, "
            "but it is currently configured to not allow mutations."
        )
        decision = PolicyDecision(False, message, warnings=decision.warnings, audit=decision.audit)
    elif mutates and decision.allowed:
        decision = _mutated(decision, answer, subject, raw)
    if not decision.allowed and terms.message is not None:
        cause: Json = {"message": decision.message or ""}
        causes = (*(decision.causes or ()), cause)
        decision = replace(decision, message=terms.message, causes=causes)
    return decision


def explanation(message: str | None, reason: str | None) -> str:
    """Why a request is denied, as the API server words it.

    Source: k8s.io/apiserver pkg/admission/plugin/webhook/errors/statuserror.go.
    """
    return message or reason or "denied the request without explanation"


def attempts_mutation(answer: PolicyAnswer, subject: Any) -> bool:
    """Whether an answer changes the object; a patch counts, whatever is in it."""
    if answer.patch is not None:
        return True
    return answer.mutated is not None and not equal(subject, answer.mutated)


def _mutated(
    decision: PolicyDecision, answer: PolicyAnswer, subject: Any, raw: bool
) -> PolicyDecision:
    try:
        changed = answer.mutated if answer.patch is None else _patched(subject, answer.patch)
        if not raw:
            _check_identity(subject, changed)
    except Fault as fault:
        return PolicyDecision(
            False, fault.said, 500, warnings=decision.warnings, audit=decision.audit, fault=fault
        )
    return replace(decision, object=graft(subject, changed))


def _patched(subject: Any, encoded: str) -> Any:
    try:
        operations = jsontext.value(jsontext.loads(base64.b64decode(encoded, validate=True)))
        return patching.apply(subject, operations)
    except (binascii.Error, ValueError, jsontext.JsonError, patching.PatchError) as error:
        message = f"its patch cannot be applied: {error}"
        raise Fault(FaultKind.BAD_RESPONSE, message, INTERNAL + message) from None


def _check_identity(subject: Any, changed: Any) -> None:
    if type(changed) is not dict:
        what = jsontext.describe(changed)
        message = f"it replaces the whole object by {what}"
        raise Fault(FaultKind.BAD_RESPONSE, message, INTERNAL + message)
    for path in _IDENTITY:
        if not equal(get(subject, path), get(changed, path)):
            message = f"it changes {'.'.join(path)}, which makes another object of this one"
            raise Fault(FaultKind.BAD_RESPONSE, message, INTERNAL + message)
