"""A policy group: members that are asked as the group's expression needs them.

Source: policy-evaluator policy_group_evaluator; vectors' README, 52 to 54.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from krm_fn.dialects.kubewarden.faults import Fault
from krm_fn.dialects.kubewarden.host.policyhost import PolicyHost
from krm_fn.dialects.kubewarden.policy.answer import PolicyAnswer, failed
from krm_fn.dialects.kubewarden.policy.decision import Terms, attempts_mutation, decide
from krm_fn.dialects.kubewarden.policy.expression import Expression
from krm_fn.dialects.kubewarden.policy.policy import LoadedPolicy
from krm_fn.values import Json

_NO_MUTATION: Final = "mutation is not allowed inside of policy group"


@dataclass(frozen=True, slots=True)
class Member:
    """A member of a group: a policy with its settings, and what it may ask."""

    policy: LoadedPolicy
    settings: Json
    host: PolicyHost


def ask(
    members: Mapping[str, Member], expression: Expression, message: str, request: Any, subject: Any
) -> PolicyAnswer:
    """The group's answer: its message, and a cause for each member that was asked and said no.

    A member that fails, or that mutates, says no. Codes, warnings and audit annotations of members
    are not passed on.
    """
    causes: dict[str, Json] = {}
    faults: dict[str, Fault] = {}
    known: dict[str, bool] = {}

    def run(name: str) -> bool:
        if name not in known:
            member = members[name]
            answer = member.policy.validate(member.settings, request, member.host)
            mutates = subject is not None and attempts_mutation(answer, subject)
            decision = decide(answer, subject, Terms(name, mutating=True))
            known[name] = decision.allowed and not mutates
            if not known[name]:
                cause: Json = {"field": f"spec.policies.{name}"}
                message = _NO_MUTATION if mutates else decision.message
                if message is not None:
                    cause["message"] = message
                causes[name] = cause
                if decision.fault is not None and not mutates:
                    faults[cause["field"]] = decision.fault
        return known[name]

    try:
        accepted = expression.evaluate(run)
    except Fault as fault:
        return failed(fault)
    asked = tuple(sorted(known.items()))
    if accepted:
        return PolicyAnswer(True, members=asked)
    in_order = tuple(causes[name] for name in sorted(causes))
    return PolicyAnswer(False, message, causes=in_order, member_faults=faults, members=asked)
