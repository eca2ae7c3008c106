"""A policy's expressions, compiled, and what they see of a request.

Source: apiserver v0.37, pkg/admission/plugin/policy/{mutating/compilation,validating/plugin}.go.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from krm_fn.admission import Cluster, Request, RuleRef
from krm_fn.admission.activation import (
    Authorizer,
    authorizer_bindings,
    namespace_value,
    request_value,
    struct_view,
    typed_view,
)
from krm_fn.admission.conditions import MatchConditions
from krm_fn.admission.matching import Matched
from krm_fn.admission.trace import RuleTrace
from krm_fn.dialects.policies.dispatch import Invocation, Param
from krm_fn.dialects.policies.spec import FAIL, IGNORE, Policy
from krm_fn.errors import CompileError, DecodeError
from krm_fn.kube.cel import Variables, environment
from krm_fn.kube.schema import Schemas
from krm_fn.kube.served import Served
from krm_fn.lang.cel import Environment
from krm_fn.values import Json, Path


class Applies(NamedTuple):
    """Whether a policy's conditions hold.

    With `error` the request must be refused; `ignored` is an error that failurePolicy covers.
    """

    holds: bool
    error: str = ""
    ignored: str = ""


class CompiledPolicy:
    """What both kinds of policies have: variables and conditions, and the environment of others."""

    def __init__(self, policy: Policy, version: tuple[int, int]) -> None:
        self.policy = policy
        self._version = version
        self.variables = Variables(self._environment())
        self._variables = [
            self.variables.add(variable.name, variable.expression) for variable in policy.variables
        ]
        sources = [condition.expression for condition in policy.conditions]
        self.conditions = MatchConditions(sources, self.extended(), self.variables)
        self.reads_namespace = any(map(_NAMESPACE.search, self._sources()))
        sources = [*sources, *self._sources()]
        self.reads_authorizer = any(map(_AUTHORIZER.search, sources))
        self.reads_unknown = any(map(_reads_unknown, self._sources()))

    def _environment(self, *, authorizer: bool = True, mutation: bool = False) -> Environment:
        return environment(
            self._version,
            params=self.policy.param_kind is not None,
            authorizer=authorizer,
            mutation=mutation,
        )

    def extended(self, *, authorizer: bool = True, mutation: bool = False) -> Environment:
        """An environment with the policy's variables."""
        made = self._environment(authorizer=authorizer, mutation=mutation)
        return self.variables.extend(made)

    def decide(self, bindings: dict[str, Any], record: RuleTrace | None = None) -> Applies:
        """Whether the conditions hold, by failurePolicy where nobody can tell."""
        decision = self.conditions.decide(bindings, record)
        if not decision.error:
            return Applies(decision.holds)
        if self.policy.failure_policy == FAIL:
            return Applies(False, error=decision.error)
        # What is neither Fail nor Ignore, which validation refuses, falls through upstream.
        ignores = self.policy.failure_policy == IGNORE
        return Applies(not ignores, ignored=decision.error if ignores else "")

    def compile_errors(self) -> Iterator[tuple[RuleRef, Path, str]]:
        """Variables and conditions that do not compile: the policy, where, and why."""
        ref = self.policy.ref
        for n, program in enumerate(self._variables):
            if isinstance(program, CompileError):
                yield ref, ("spec", "variables", n, "expression"), program.message
        for n, expression in enumerate(self.conditions.expressions):
            path: Path = ("spec", "matchConditions", n, "expression")
            if isinstance(expression.program, CompileError):
                yield ref, path, expression.program.message
            elif "variables" in expression.program.variables:
                message = "must not use variables: an API server refuses that when it is created"
                yield ref, path, message

    def _sources(self) -> Iterator[str]:
        policy = self.policy
        for named in (*policy.variables, *policy.audit_annotations):
            yield named.expression
        for mutation in policy.mutations:
            yield mutation.expression or ""
        for validation in policy.validations:
            yield validation.expression
            yield validation.message_expression


_AUTHORIZER: Final = re.compile(r"\bauthorizer\b")
_NAMESPACE: Final = re.compile(r"\bnamespaceObject\b")
_KNOWN: Final = re.compile(
    r"""namespaceObject\.metadata\.(?:name\b
    |labels\[(?:"kubernetes\.io/metadata\.name"|'kubernetes\.io/metadata\.name')\])""",
    re.VERBOSE,
)


def _reads_unknown(source: str) -> bool:
    """Whether an expression reads more of a namespace than its name."""
    return _NAMESPACE.search(_KNOWN.sub("", source)) is not None


class Copy:
    """The object of a request in the version of a kind that some policies matched.

    CEL reads an object of a built-in kind as its Go type, in place, once conditions or validations
    were evaluated on it, and as plain JSON before that; what it has read stays as it was read until
    the object changes.
    """

    def __init__(self, matched: Matched, request: Request, schemas: Schemas, *, lazy: bool) -> None:
        self.matched = matched
        self._schemas = schemas
        self._lazy = lazy
        self.value = self.lean = self._in_version(request.object)
        old = request.old_object
        self.old = None if old is None else self._in_version(old)
        self.dirty = False
        self._shown: dict[str, Any] = {}

    def _in_version(self, value: Json) -> Json:
        if value.get("apiVersion") == self.matched.api_version:
            return value
        return {**value, "apiVersion": self.matched.api_version}

    def read_in_place(self) -> None:
        """From now on CEL reads typed objects in place."""
        self._lazy = True

    def set(self, value: Json, lean: Json) -> None:
        """Take what a mutation made of the object; `lean` is that without new defaults."""
        self.value = value
        self.lean = lean
        self.dirty = True
        self._shown.pop("object", None)

    def bindings(self) -> dict[str, Any]:
        """`object` and `oldObject`."""
        for name, value in (("object", self.value), ("oldObject", self.old)):
            if name not in self._shown:
                self._shown[name] = typed_view(value, self._schemas) if self._lazy else value
        return dict(self._shown)


class EvaluationContext:
    """What all policies see of one request besides the object."""

    def __init__(
        self,
        request: Request,
        cluster: Cluster,
        served: Served,
        authorizer: Authorizer,
        *,
        in_place: bool,
    ) -> None:
        self.request = request
        self._cluster = cluster
        self._served = served
        self._answers = authorizer
        self._in_place = in_place
        self._requests: dict[tuple[Matched, Matched], Any] = {}
        head = request.head
        version = head.api_version.rpartition("/")[2]
        self._own = Matched(head.group, version, head.kind, request.resource.plural)
        self._namespace: Any = None
        self._has_namespace = False

    def known_namespace(self) -> bool:
        """Whether the render knows the request's namespace, if it is in one."""
        request = self.request
        return not request.namespace or self._cluster.namespace(request.namespace).complete

    def bindings(
        self, invocation: Invocation, compiled: CompiledPolicy, schemas: Schemas
    ) -> dict[str, Any]:
        """What an expression sees, without `object`. Conditions see no namespaceObject."""
        namespace = self.namespace() if compiled.reads_namespace else None
        return {
            "request": self._request_value(invocation.matched, invocation.matched),
            "namespaceObject": namespace,
            "params": self._params(invocation, schemas),
            **self._authorizer(compiled),
        }

    def condition_bindings(
        self, invocation: Invocation, compiled: CompiledPolicy, schemas: Schemas
    ) -> dict[str, Any]:
        """What conditions see, without `object`."""
        return {
            "request": self._request_value(invocation.matched, self._own),
            "namespaceObject": None,
            "params": self._params(invocation, schemas),
            **self._authorizer(compiled),
        }

    def _authorizer(self, compiled: CompiledPolicy) -> dict[str, Any]:
        if not compiled.reads_authorizer:
            return {}
        return authorizer_bindings(self._answers, self.request)

    def _request_value(self, matched: Matched, resource: Matched) -> Any:
        key = matched, resource
        if key not in self._requests:
            self._requests[key] = request_value(
                self.request, matched, resource, in_place=self._in_place
            )
        return self._requests[key]

    def namespace(self) -> Any:
        """The value of namespaceObject."""
        if not self._has_namespace:
            self._has_namespace = True
            if self.request.namespace:
                value = self._cluster.namespace(self.request.namespace).object
                try:
                    value = self._served.typed(value)
                except DecodeError:
                    value = {"metadata": {"name": self.request.namespace}}
                self._namespace = namespace_value(value, in_place=self._in_place)
        return self._namespace

    def _params(self, invocation: Invocation, schemas: Schemas) -> Any:
        """The value of `params`."""
        param: Param | None = invocation.param
        if param is None:
            return None
        kind = invocation.policy.param_kind
        schema = schemas.kind(kind.api_version, kind.kind) if kind is not None else None
        value = param.value
        if schema is None:
            return value
        if invocation.policy.mutations:
            value = {key: part for key, part in value.items() if key not in ("apiVersion", "kind")}
        return struct_view(value, schema.struct) if self._in_place else value
