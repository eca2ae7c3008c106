"""A policy group: members that are asked as the group's expression needs them.

Source: policy-evaluator policy_group_evaluator; vectors' README, 52 to 54.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from krm_fn.dialects.kubewarden.faults import Fault
from krm_fn.dialects.kubewarden.host.policyhost import PolicyHost
from krm_fn.dialects.kubewarden.policy.answer import Answer, failed
from krm_fn.dialects.kubewarden.policy.decision import Terms, attempts_mutation, decide
from krm_fn.dialects.kubewarden.policy.expression import Expression
from krm_fn.dialects.kubewarden.policy.policy import Policy
from krm_fn.values import Json

_NO_MUTATION: Final = "mutation is not allowed inside of policy group"


@dataclass(frozen=True, slots=True)
class Member:
    """A member of a group: a policy with its settings, and what it may ask."""

    policy: Policy
    settings: Json
    host: PolicyHost


def ask(
    members: Mapping[str, Member], expression: Expression, message: str, request: Any, subject: Any
) -> Answer:
    """The group's answer: its message, and a cause for each member that was asked and said no.

    A member that fails, or that mutates, says no. Codes, warnings and audit annotations of members
    are not passed on.
    """
    said: dict[str, str] = {}
    known: dict[str, bool] = {}

    def run(name: str) -> bool:
        if name not in known:
            member = members[name]
            answer = member.policy.validate(member.settings, request, member.host)
            decision = decide(answer, subject, Terms(name, mutating=True))
            known[name] = decision.allowed
            if subject is not None and attempts_mutation(answer, subject):
                known[name], said[name] = False, _NO_MUTATION
            elif not decision.allowed:
                said[name] = decision.message or (decision.fault.message if decision.fault else "")
        return known[name]

    try:
        accepted = expression.evaluate(run)
    except Fault as fault:
        return failed(fault)
    if accepted:
        return Answer(True)
    causes = tuple(
        {"field": f"spec.policies.{name}", "message": said[name]} for name in sorted(said)
    )
    return Answer(False, message, causes=causes)
