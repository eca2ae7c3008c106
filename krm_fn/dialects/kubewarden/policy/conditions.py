"""matchConditions of a policy: CEL, as the API server evaluates it before it calls a webhook.

Imported only where a policy has some.
Source: apiserver v0.37, pkg/admission/plugin/webhook/matchconditions.
"""

from __future__ import annotations

from collections.abc import Sequence

from krm_fn.admission import Request
from krm_fn.admission.activation import Authorizer, authorizer_bindings, request_value
from krm_fn.admission.conditions import MatchConditions
from krm_fn.admission.matching import Matched
from krm_fn.admission.trace import RuleTrace
from krm_fn.dialects.kubewarden.policy.review import as_version
from krm_fn.errors import CompileError, ConfigError
from krm_fn.kube.cel import Variables, environment, parse_version, version_of_new
from krm_fn.kube.schema import Schemas


class CelConditions:
    """The conditions of one policy. Raises ConfigError for one that does not compile."""

    def __init__(self, sources: Sequence[str], kubernetes_version: str) -> None:
        release = parse_version(kubernetes_version) if kubernetes_version else Schemas().version
        known = environment(version_of_new(release))
        variables = Variables(known)
        self._conditions = MatchConditions(sources, variables.extend(known), variables)
        for n, expression in enumerate(self._conditions.expressions):
            if isinstance(expression.program, CompileError):
                field = f"spec.matchConditions[{n}].expression"
                raise ConfigError(f"{field}: {expression.program.message}")

    def hold(
        self, request: Request, matched: Matched, record: RuleTrace | None = None
    ) -> tuple[bool, str]:
        """Whether all hold; the text is why nobody can tell. `record` takes each condition."""
        old = request.old_object
        decision = self._conditions.decide(
            {
                "object": as_version(request.object, matched.api_version),
                "oldObject": None if old is None else as_version(old, matched.api_version),
                "namespaceObject": None,
                "request": request_value(request, matched),
                **authorizer_bindings(Authorizer.ERROR, request),
            },
            record,
        )
        return decision.holds, decision.error
