"""What both plugins are given, and what both have to say of policies.

Nothing here knows how a policy is evaluated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Final

from krm_fn.admission import Cause, Cluster, Finding, Request, RuleRef
from krm_fn.admission.activation import Authorizer
from krm_fn.admission.coverage import RuleScope, everywhere, never_unseen
from krm_fn.admission.matching import may_match, only_pods, operations_of
from krm_fn.admission.views import ServedForm
from krm_fn.dialects.policies.spec import Policy
from krm_fn.errors import DecodeError
from krm_fn.kube.schema import Schemas
from krm_fn.kube.served import Form, Served
from krm_fn.values import Json


@dataclass(frozen=True, slots=True)
class Shown:
    """A request as policies see it, and how what they made of its object comes back."""

    request: Request
    put: Callable[[Json], Json]


class TypesOnly:
    """Makes typed objects without the API server's defaults, where `Served` makes served ones."""

    def __init__(self, served: Served) -> None:
        self._served = served

    def form(self, value: Json, namespace: str = "") -> Form:
        """The typed object. Raises DecodeError."""
        return Form(self._served.typed(value))


@dataclass(frozen=True, slots=True)
class Settings:
    """What a run knows. `version` is that of the libraries of expressions: (1, 36).

    `in_place`: expressions read Go's types in place, as since Kubernetes 1.37.
    `typed` makes typed objects without defaults. `stored` gives params as the API server stores
    them. `as_written`: objects come as they are written, and policies see their types only.
    `lint`: policies are evaluated in the reverse order, too.
    """

    schemas: Schemas
    version: tuple[int, int]
    in_place: bool
    typed: Served
    cluster: Cluster
    authorizer: Authorizer
    stored: Callable[[Json], Json]
    as_written: bool = False
    lint: bool = False

    def shown(self, request: Request) -> Shown:
        """A request as policies see it."""
        if not self.as_written:
            return Shown(request, lambda value: value)
        view = ServedForm(self.typed.typed)
        try:
            typed = view.get(request.object)
            old = None if request.old_object is None else self.typed.typed(request.old_object)
        except DecodeError:
            return Shown(request, lambda value: value)
        shown = request._replace(object=typed, old_object=old)
        return Shown(shown, lambda value: view.put(request.object, value)[0])


def ignored_error(message: str, *rules: RuleRef) -> Finding:
    """An error that failurePolicy: Ignore covers."""
    text = f"ignored (failurePolicy: Ignore): {message}"
    return Finding(Cause.NOTE, False, text, rules)


def undecided_namespace(policy: Policy, request: Request) -> Finding:
    """A policy reads what nobody knows of a namespace."""
    message = (
        f"reads namespaceObject, and of namespace {request.namespace} only the name is known; add "
        "the Namespace to the items or to context.namespaces"
    )
    return Finding(Cause.UNDECIDED, False, message, (policy.ref,))


def scopes_of(policies: Iterable[Policy], cluster: Cluster) -> list[RuleScope]:
    """What policies could be asked about; those without constraints never are."""
    return [
        RuleScope(
            policy.ref,
            partial(may_match, policy.constraints, cluster=cluster),
            everywhere,
            never_unseen,
            "its matchConstraints name other resources",
            _PODS if only_pods(policy.constraints) else None,
            operations_of(policy.constraints),
            suspicious=True,
        )
        for policy in policies
        if policy.constraints is not None
    ]


_PODS: Final = frozenset({"Pod"})
