"""Whole policy cases: vectors/policies/README.md.

Compared: the final object (or the one that was refused), warnings, audit annotations, whether there
was a second pass, and of an error its text, reason, code, causes and stage.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from typing import Any

from formats import Verdict
from formats.conditions import Condition, decide
from krm_fn.admission import Cluster, Operation, Request, Rule, RuleRef, User
from krm_fn.admission.cluster import crds_by_kind
from krm_fn.admission.matching import own_namespace
from krm_fn.dialects.policies.common import TypesOnly
from krm_fn.dialects.policies.denial import Denial
from krm_fn.dialects.policies.dialect import Policies
from krm_fn.dialects.policies.mutating import MutatingPolicies
from krm_fn.kube.schema import Schemas
from krm_fn.kube.served import Served
from krm_fn.kube.wellknown import METADATA_NAME
from krm_fn.values import Json, get
from krm_fn.wire import Head, read_stream
from tests.compiling import compile_with


def _read(text: str) -> Json:
    return next(iter(read_stream(text.encode()).items)).value


@cache
def _read_once(text: str) -> Json:
    return _read(text)


def _head(value: Json) -> Head:
    metadata = value.get("metadata") or {}
    return Head(
        value["apiVersion"],
        value["kind"],
        metadata.get("namespace", ""),
        metadata.get("name", ""),
    )


def _cluster(case: dict[str, Any]) -> Cluster:
    namespaces = {}
    for text in (*case["params"], *case["namespaces"]):
        value = _read_once(text)
        if value["kind"] == "Namespace":
            namespaces[value["metadata"]["name"]] = value
    crds = [_read_once(text) for text in case.get("crds", ())]
    known = [] if case.get("noSchema") else crds
    described = Cluster(crds=crds_by_kind(known))
    objects = {}
    for value in map(_read_once, (*case["params"], *case["namespaces"])):
        head = _head(value)
        key = (head.group, head.kind, described.subject_of(head).namespace, head.name)
        objects[key] = _constant(value)
    return Cluster(objects, namespaces, crds_by_kind(known))


def _constant(value: Json) -> Any:
    return lambda: value


def _rules(texts: list[str]) -> Iterator[Rule]:
    for text in texts:
        value = _read(text)
        name = get(value, ("metadata", "name"), "")
        yield Rule(RuleRef("policies", value["kind"], "", name), value)


def _request(case: dict[str, Any], cluster: Cluster) -> Request:
    value = case["typedInput"]
    head = _head(value)
    info = case.get("userInfo")
    user = User()
    if info is not None:
        extra = {key: tuple(values) for key, values in (info.get("extra") or {}).items()}
        user = User(
            info.get("username", ""), info.get("uid", ""), tuple(info.get("groups") or ()), extra
        )
    return Request(
        Operation(case["operation"]),
        head,
        cluster.resource_for(head.group, head.kind),
        cluster.subject_of(head).namespace,
        value,
        case.get("typedOldObject"),
        user,
        case.get("dryRun", False),
    )


def _error(denial: Denial, stage: str, text: str) -> dict[str, Any]:
    error: dict[str, Any] = {"text": text, "reason": denial.reason, "code": denial.code}
    if denial.causes:
        error["causes"] = [{"message": because.message} for because in denial.causes]
    return {**error, "stage": stage}


def _forbidden(request: Request, denial: Denial) -> str:
    """The text of a validating denial: what is forbidden, and why."""
    head = request.head
    resource = request.resource.plural + (f".{head.group}" if head.group else "")
    return f'{resource} "{head.name}" is forbidden: {denial.message}'


def run(case: dict[str, Any]) -> dict[str, Any]:
    """What this project answers, in the form of the vectors."""
    cluster = _cluster(case)
    authorizer = {"allow": "Allow", "deny": "Deny"}[case.get("authorizer", "allow")]
    plugins = compile_with(
        Policies(validate=False),
        list(_rules(case["policies"])),
        cluster,
        {"authorizer": authorizer},
        bindings=list(_rules(case["bindings"])),
        served=TypesOnly(Served(Schemas(), cluster.crd)),
    ).plugins
    request = _request(case, cluster)
    answer: dict[str, Any] = {"warnings": []}
    value = request.object
    for plugin in plugins:
        if isinstance(plugin, MutatingPolicies):
            outcome = plugin.evaluate(request, cluster)
            if outcome.denial is None and outcome.dirty:
                answer["reinvoked"] = True
                again = _with_object(request, outcome.object)
                outcome = plugin.evaluate(again, cluster, frozenset(outcome.reinvocable))
            if outcome.denial is not None:
                denial = outcome.denial
                return {**answer, "error": _error(denial, "mutating", denial.message)}
            value = outcome.object
            continue
        judged = plugin.evaluate(_with_object(request, value), cluster)  # type: ignore[attr-defined]
        answer["warnings"] = [message for message, _ in judged.warnings]
        if judged.annotations:
            answer["auditAnnotations"] = judged.annotations
        if judged.denial is not None:
            text = _forbidden(request, judged.denial)
            error = _error(judged.denial, "validating", text)
            return {**answer, "error": error, "mutatedObject": value}
    return {**answer, "object": value, "unchanged": _text(value) == _text(case["typedInput"])}


def _with_object(request: Request, value: Json) -> Request:
    return request._replace(object=value)


def _text(value: Any) -> str:
    """JSON as text, in which 1 is not true and 1.0 not 1."""
    return json.dumps(value, sort_keys=True)


def _same_scheme(value: Any) -> Any:
    """An answer with one name for the API server's table of types."""
    return json.loads(re.sub(r'in scheme \\"[^"]*\\"', 'in scheme \\\\"S\\\\"', json.dumps(value)))


def _without_tokens(value: Any) -> Any:
    """An answer in which a syntax error does not list the parser's tokens."""
    text = re.sub(r"(Syntax error: )(?:(?!\\n).)*", r"\1", json.dumps(value))
    return json.loads(text)


def _normal(value: dict[str, Any]) -> str:
    value = {key: part for key, part in value.items() if part not in (None, {})}
    return _text(_without_tokens(_same_scheme(value)))


# Where this project decides otherwise


def _missing_namespace(case: dict[str, Any]) -> bool:
    known = {_read_once(text)["metadata"]["name"] for text in case["namespaces"]}
    head = _head(case["typedInput"])
    cluster = _cluster(case)
    namespace = own_namespace(head, cluster.subject_of(head).namespace)
    return bool(namespace) and head.kind != "Namespace" and namespace not in known


def _made_up(case: dict[str, Any], actual: Any) -> bool:
    """The answer is that of the same case with a namespace that has a name and nothing else."""
    head = _head(case["typedInput"])
    made = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": head.namespace}}
    known = {**case, "namespaces": [*case["namespaces"], json.dumps(made)]}
    return "NotFound" not in str(actual) and (
        _text(actual) == _text(run(known)) or bool(actual.get("unchanged"))
    )


def _unnamed_namespace(case: dict[str, Any]) -> bool:
    return any(
        METADATA_NAME not in (get(_read_once(text), ("metadata", "labels")) or {})
        for text in case["namespaces"]
    )


def _but_for_the_name_label(case: dict[str, Any], actual: Any) -> bool:
    def plain(answer: dict[str, Any]) -> str:
        value = json.loads(_normal(answer))
        for name in ("object", "mutatedObject"):
            for part in ("labels", "annotations"):
                (get(value, (name, "metadata", part)) or {}).pop(METADATA_NAME, None)
        return _text(value)

    return any(plain(o) == plain(actual) for o in case.get("outcomes") or [case["result"]])


def _defaulted(case: dict[str, Any], actual: Any) -> bool:
    return "error" not in actual and "hit" in (actual["object"]["metadata"].get("labels") or {})


CONDITIONS = [
    Condition(
        when="a namespace is not known",
        why="it is made up here, and what needs its labels is undecided",
        applies=_missing_namespace,
        holds=_made_up,
    ),
    Condition(
        when="a namespace has no label with its name",
        why="the API server gives it to every namespace, and so it is given here",
        applies=_unnamed_namespace,
        holds=_but_for_the_name_label,
    ),
    Condition(
        when="a policy has no selectors, and nothing filled them in",
        why="manifests are never defaulted on disk, so that they always are here",
        applies=lambda case: bool(case.get("noDefaults")),
        holds=_defaulted,
    ),
]


def check(case: dict[str, Any]) -> Verdict:
    outcomes = case.get("outcomes") or [case["result"]]
    actual = run(case)
    fits = any(_normal(outcome) == _normal(actual) for outcome in outcomes)
    return decide(CONDITIONS, case, fits, outcomes[0], actual)
