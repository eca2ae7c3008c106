"""Requests to a kube-apiserver and what its own plugins made of them: vectors/builtin/README.md.

Compared: the object after the mutating phase, warnings, and of a refusal its code, reason, message,
causes and the plugin. What the kind's validation refuses is not known here: such a case passes if
no plugin refuses it before.
"""

from __future__ import annotations

import json
import re
from collections.abc import Hashable, Iterable
from functools import lru_cache
from typing import Any, NamedTuple

import jsonpatch

from formats import Verdict
from krm_fn.admission import Cause, Cluster, Finding, Operation, Request
from krm_fn.admission.cluster import Identity
from krm_fn.config.options import COMPLETABLE
from krm_fn.dialects.builtin.amounts import Amounts, added, amounts
from krm_fn.dialects.builtin.catalog import plugins
from krm_fn.dialects.builtin.listers import Listers, name_of
from krm_fn.dialects.builtin.order import NAMES
from krm_fn.dialects.builtin.plugin import Denied
from krm_fn.dialects.builtin.quota.ledger import Account
from krm_fn.kube.schema import Schemas
from krm_fn.kube.served import Served
from krm_fn.values import Json, Path, get, with_at
from krm_fn.wire import Head

ALL = frozenset(COMPLETABLE)
"""A server knows all objects there are."""

_SYSTEM = ("creationTimestamp", "resourceVersion", "uid")


@lru_cache
def _served(release: str) -> Served:
    return Served(Schemas(release))


class Server:
    """A cluster with its objects, and the plugins that it runs."""

    def __init__(self, case: dict[str, Any]) -> None:
        numbers = case["kubernetes"].split(".")
        self.release = (int(numbers[0]), int(numbers[1]))
        self.served = _served(".".join(numbers[:2]))
        options = case.get("plugins") or {}
        on = {name for name, plugin in NAMES.items() if plugin.default}
        enabled = (on | set(options.get("enable") or ())) - set(options.get("disable") or ())
        self.ledger = StatusLedger()
        self.plugins = list(plugins(enabled, options.get("config") or {}, self.ledger))
        self.cluster = self._cluster(case["context"])
        self.listers = Listers(self.cluster, ALL, self.release)

    def _cluster(self, context: Iterable[Json]) -> Cluster:
        objects: dict[Identity, Any] = {}
        namespaces: dict[str, Json] = {}
        described = Cluster()
        for value in context:
            head = head_of(value)
            system = {key: value["metadata"][key] for key in _SYSTEM if key in value["metadata"]}
            stored = self.served.form(value, described.subject_of(head).namespace).object
            stored = {**stored, "metadata": {**stored["metadata"], **system}}
            identity = (head.group, head.kind, described.subject_of(head).namespace, head.name)
            objects[identity] = lambda stored=stored: stored
            if head.kind == "Namespace":
                namespaces[head.name] = stored
        return Cluster(objects, namespaces)

    def request(self, case: dict[str, Any]) -> Request:
        value = case["object"]
        head = head_of(value)
        namespace = self.cluster.subject_of(head).namespace
        request = Request(
            Operation(case.get("operation", "CREATE")),
            head,
            self.cluster.resource_for(head.group, head.kind),
            namespace,
            self.served.form(value, namespace).object,
            subresource=case.get("subresource", ""),
            written=value,
        )
        if "oldObject" not in case:
            return request
        old = self._created(case["oldObject"], request)
        if request.subresource == "ephemeralcontainers":
            # The body gives nothing else to the Pod.
            more = get(request.object, ("spec", "ephemeralContainers"))
            with_more = with_at(old, ("spec", "ephemeralContainers"), more)
            request = request._replace(object=with_more)
        return request._replace(old_object=old)

    def _created(self, value: Json, request: Request) -> Json:
        """An object that is in the cluster, with the status that it was given."""
        served = self.served.form(value, request.namespace).object
        created = request._replace(operation=Operation.CREATE, object=served, subresource="")
        made = self.mutate(created, None).object
        return {**made, "status": served["status"]} if "status" in served else made

    def mutate(self, request: Request, patch: Any) -> Answer:
        """The mutating phase, a second time where a webhook has changed the object."""
        answer = self._run("admit", request)
        if patch is None or answer.denied:
            return answer
        patched = jsonpatch.apply_patch(answer.object, patch)
        patched = self.served.form(patched, request.namespace).object
        again = self._run("admit", request._replace(object=patched, written=None))
        # The last webhook was shown the object before the second run has refused it.
        return again._replace(object=patched) if again.denied else again

    def validate(self, request: Request) -> Answer:
        stored = self.served.validating(request.object)
        return self._run("validate", request._replace(object=stored))

    def _run(self, phase: str, request: Request) -> Answer:
        findings: list[Finding] = []
        for plugin in self.plugins:
            if not plugin.looks_at(request):
                continue
            try:
                response = getattr(plugin, phase)(request, self.listers)
            except Denied as denied:
                return Answer(request.object, (*findings, plugin.denial(denied)))
            findings += response.findings
            if response.object is not None:
                request = request._replace(object=response.object)
        return Answer(request.object, tuple(findings))


class Answer(NamedTuple):
    """What a phase makes of a request."""

    object: Json
    findings: tuple[Finding, ...] = ()

    @property
    def denied(self) -> dict[str, Any] | None:
        for finding in self.findings:
            if finding.denies:
                denied = {
                    "code": finding.code,
                    "reason": finding.reason or None,
                    "message": finding.message,
                    "by": finding.rules[0].name,
                }
                causes = [_cause(one) for one in finding.details]
                return {**denied, "causes": causes} if causes else denied
        return None

    @property
    def warnings(self) -> list[str]:
        return [one.message for one in self.findings if one.cause is Cause.WARNING]


def _cause(finding: Finding) -> dict[str, str]:
    field = finding.field or ()
    return {"reason": finding.reason, "message": finding.message, "field": go_path(field)}


def go_path(path: Path) -> str:
    """A path as Go prints one to a label: its key in brackets."""
    text = ""
    for step in path:
        plain = isinstance(step, str) and re.fullmatch(r"\w+", step)
        text += f".{step}" if plain and text else step if plain else f"[{step}]"
    return text


def head_of(value: Json) -> Head:
    metadata = value.get("metadata") or {}
    namespace = metadata.get("namespace") or ""
    return Head(value["apiVersion"], value["kind"], namespace, metadata.get("name") or "")


class StatusLedger:
    """Usage as a server counts it, in the status of quotas; a quota without one limits nothing."""

    def __init__(self) -> None:
        self.used: dict[str, Amounts] = {}

    def account(self, quota: Json, who: Hashable) -> Account:
        status = quota.get("status") or {}
        used = self.used.get(name_of(quota), amounts(status.get("used")))
        return Account(amounts(status.get("hard")), used)

    def charge(self, quota: Json, who: Hashable, usage: Amounts) -> None:
        self.used[name_of(quota)] = added(self.account(quota, who).used, usage)


# ------------------------------------------------------------------------------------- the cases


def run(server: Server, case: dict[str, Any]) -> dict[str, Any]:
    """The answer to one request, in the form of the vectors; `early`: the first phase refuses."""
    request = server.request(case)
    mutated = server.mutate(request, case.get("webhookPatch"))
    answer: dict[str, Any] = {"warnings": mutated.warnings, "early": False}
    answer["object"] = mutated.object
    if mutated.denied:
        return {**answer, "denied": mutated.denied, "early": True}
    written = None if case.get("webhookPatch") else request.written
    validated = server.validate(request._replace(object=mutated.object, written=written))
    answer["warnings"] += validated.warnings
    if validated.denied:
        answer["denied"] = validated.denied
    return answer


_SUFFIX = re.compile(r"kube-api-access-[bcdfghjklmnpqrstvwxz2456789]{5}\b")


def without_chance(value: Any) -> Any:
    return json.loads(_SUFFIX.sub("kube-api-access-xxxxx", json.dumps(value)))


def _expected(case: dict[str, Any], expect: dict[str, Any], actual: dict[str, Any]) -> Any:
    """What is expected, without what is not known here."""
    expected = {key: expect[key] for key in ("object", "warnings", "denied") if key in expect}
    denied = expected.get("denied")
    if denied and denied["by"] == "validation":
        # The kind's own validation comes between the phases, and what comes then was never asked.
        del expected["denied"], expected["warnings"]
        for key in ("denied", "warnings") if not actual["early"] else ("warnings",):
            actual.pop(key, None)
    elif denied:
        expected["denied"] = {key: denied[key] for key in denied if key != "parts"}
        name = case["object"]["metadata"].get("generateName")
        if name and "name" not in case["object"]["metadata"]:
            message = denied["message"].replace(f'"{name}xxxxx"', f'"{name}"')
            expected["denied"]["message"] = message
    if "object" not in expected:
        actual.pop("object", None)
    del actual["early"]
    return expected


def _verdict(case: dict[str, Any], expect: dict[str, Any], actual: dict[str, Any]) -> Verdict:
    actual = without_chance(actual)
    return Verdict.compare(_expected(case, expect, actual), actual)


def _stream(case: dict[str, Any]) -> Verdict:
    """Objects that are created one after the other, and what quotas have counted in the end."""
    server = Server(case)
    for one in case["stream"]:
        verdict = _verdict(one, one["expect"], run(server, one))
        if not verdict.ok:
            return verdict
    used = {name: _listed(server.ledger, name, case) for name in case["usedAfter"]}
    return Verdict.compare(case["usedAfter"], used)


def _listed(ledger: StatusLedger, name: str, case: dict[str, Any]) -> dict[str, str]:
    quota = next(one for one in case["context"] if name_of(one) == name and "hard" in one["spec"])
    return {key: str(quantity) for key, quantity in ledger.account(quota, None).used.items()}


def check(case: dict[str, Any]) -> Verdict:
    if "stream" in case:
        return _stream(case)
    return _verdict(case, case["expect"], run(Server(case), case))
