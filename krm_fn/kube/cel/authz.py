"""`authorizer`: declared as on the API server, answered by whoever evaluates.

Source: apiserver v0.37, pkg/cel/library/authz.go.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from krm_fn.errors import EvaluationError
from krm_fn.kube.validation.names import dns_label, dns_subdomain
from krm_fn.lang.cel import types as t
from krm_fn.lang.cel.environment import Library
from krm_fn.lang.cel.functions import Function, Overload
from krm_fn.lang.cel.types import Type
from krm_fn.lang.cel.values import Value

_PREFIX: Final = "kubernetes.authorization."
AUTHORIZER: Final = t.struct(f"{_PREFIX}Authorizer")
RESOURCE_CHECK: Final = t.struct(f"{_PREFIX}ResourceCheck")
_PATH_CHECK: Final = t.struct(f"{_PREFIX}PathCheck")
_GROUP_CHECK: Final = t.struct(f"{_PREFIX}GroupCheck")
_DECISION: Final = t.struct(f"{_PREFIX}Decision")


class Question(NamedTuple):
    """What an authorizer is asked: a path, or a resource of a group.

    `service_account` is (namespace, name) where it is asked for one, else None for the requester.
    """

    verb: str
    path: str = ""
    group: str = ""
    resource: str = ""
    subresource: str = ""
    namespace: str = ""
    name: str = ""
    field_selector: str = ""
    label_selector: str = ""
    service_account: tuple[str, str] | None = None


class Decision(NamedTuple):
    """An authorizer's answer; `error` is empty where there was none."""

    allowed: bool
    reason: str = ""
    error: str = ""


Authorize = Callable[[Question], Decision]
"""Answers a question; raises EvaluationError where it cannot be answered at all."""


class _Check(Value):
    """A question under construction, or its answer."""

    __slots__ = ("authorize", "decision", "question", "type")
    go_type = "library.authorizerVal"

    def __init__(
        self,
        kind: Type,
        authorize: Authorize,
        question: Question,
        decision: Decision | None = None,
    ) -> None:
        self.type = kind
        self.authorize = authorize
        self.question = question
        self.decision = decision

    def equal(self, other: Any) -> bool:
        return self is other

    def asking(self, kind: Type, **changes: Any) -> _Check:
        """The same with more of the question known."""
        return _Check(kind, self.authorize, self.question._replace(**changes))


def authorizer(authorize: Authorize) -> Value:
    """The value of the variable `authorizer`."""
    return _Check(AUTHORIZER, authorize, Question(""))


def request_resource(authorize: Authorize, question: Question) -> Value:
    """The value of the variable `authorizer.requestResource`."""
    return _Check(RESOURCE_CHECK, authorize, question)


def _path(check: _Check, path: str) -> _Check:
    if not path.strip():
        raise EvaluationError("path must not be empty")
    return check.asking(_PATH_CHECK, path=path)


def _resource(check: _Check, resource: str) -> _Check:
    if not resource.strip():
        raise EvaluationError("resource must not be empty")
    return check.asking(RESOURCE_CHECK, resource=resource)


def _service_account(check: _Check, namespace: str, name: str) -> _Check:
    if dns_subdomain(name):
        raise EvaluationError("Invalid service account name")
    if dns_label(namespace):
        raise EvaluationError("Invalid service account namespace")
    return check.asking(AUTHORIZER, service_account=(namespace, name))


def _ask(check: _Check, verb: str) -> _Check:
    question = check.question._replace(verb=verb)
    return _Check(_DECISION, check.authorize, question, check.authorize(question))


def _answer(read: Callable[[Decision], Any]) -> Callable[[_Check], Any]:
    def run(check: _Check) -> Any:
        assert check.decision is not None
        return read(check.decision)

    return run


def _detail(field: str) -> Callable[[_Check, str], _Check]:
    return lambda check, value: check.asking(RESOURCE_CHECK, **{field: value})


def _method(
    name: str, identity: str, target: Type, result: Type, impl: Any, args: int = 1
) -> Overload:
    return Overload(identity, (target, *[t.STRING] * args), result, impl, member=True)


def library() -> Library:
    """The functions on authorizers."""
    details = (
        ("subresource", "subresource"),
        ("namespace", "namespace"),
        ("name", "name"),
    )
    checks = [
        Overload(identity, (target, t.STRING), _DECISION, _ask, member=True)
        for identity, target in (
            ("pathcheck_check", _PATH_CHECK),
            ("resourcecheck_check", RESOURCE_CHECK),
        )
    ]
    account = Overload(
        "authorizer_serviceaccount",
        (AUTHORIZER, t.STRING, t.STRING),
        AUTHORIZER,
        _service_account,
        member=True,
    )
    answers: tuple[tuple[str, Type, Callable[[Decision], Any]], ...] = (
        ("errored", t.BOOL, lambda d: bool(d.error)),
        ("error", t.STRING, lambda d: d.error),
        ("allowed", t.BOOL, lambda d: d.allowed),
        ("reason", t.STRING, lambda d: d.reason),
    )
    return Library(
        [
            Function("path", [_method("path", "authorizer_path", AUTHORIZER, _PATH_CHECK, _path)]),
            Function(
                "group",
                [
                    _method(
                        "group",
                        "authorizer_group",
                        AUTHORIZER,
                        _GROUP_CHECK,
                        lambda check, group: check.asking(_GROUP_CHECK, group=group),
                    )
                ],
            ),
            Function("serviceAccount", [account]),
            Function(
                "resource",
                [
                    _method(
                        "resource", "groupcheck_resource", _GROUP_CHECK, RESOURCE_CHECK, _resource
                    )
                ],
            ),
            *[_detail_function(name, field, f"resourcecheck_{name}") for name, field in details],
            Function("check", checks),
            *[
                Function(
                    name,
                    [Overload(f"decision_{name}", (_DECISION,), kind, _answer(read), member=True)],
                )
                for name, kind, read in answers
            ],
        ]
    )


def _detail_function(name: str, field: str, identity: str) -> Function:
    return Function(name, [_method(name, identity, RESOURCE_CHECK, RESOURCE_CHECK, _detail(field))])


def selectors_library() -> Library:
    """fieldSelector and labelSelector."""
    return Library(
        [
            _detail_function("fieldSelector", "field_selector", "authorizer_fieldselector"),
            _detail_function("labelSelector", "label_selector", "authorizer_labelselector"),
        ]
    )
