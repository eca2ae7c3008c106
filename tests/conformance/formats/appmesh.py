"""SuperGloo's webhook on a Pod: whole requests with their Meshes and ConfigMaps.

The Pod is compared without empty `resources`, which SuperGloo writes and this project does not; an
error up to the first text that one of Go's libraries made. The answer of either Go version passes.
What breaks the webhook off refuses a Pod here.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from formats import Verdict
from formats.conditions import Condition, decide
from formats.served import read
from krm_fn.admission import Cause, Cluster, Operation, Request, Rule, RuleRef
from krm_fn.dialects.appmesh.dialect import DIALECT
from krm_fn.dialects.appmesh.faults import LIST_MESHES, READ_POD, RENDER
from krm_fn.dialects.appmesh.meshes import SUPERGLOO
from krm_fn.dialects.appmesh.options import AppMeshOptions, OnDuplicate
from krm_fn.dialects.appmesh.plugin import Injector
from krm_fn.errors import RuleError
from krm_fn.values import Json, get
from krm_fn.wire import Head
from tests.compiling import compile_with

Case = dict[str, Any]

LIBRARIES = (
    READ_POD,
    LIST_MESHES,
    *(
        f"{RENDER}failed to {what}: "
        for what in (
            "parse sidecar patch template",
            "execute sidecar patch template",
            "deserialize sidecar patch to PodSpec",
        )
    ),
)
"""What stands before the texts of Go's libraries."""


@dataclass(frozen=True)
class Answer:
    """What this project makes of a case: the Pod, which may be unchanged, or an error.

    `unreadable` marks a Mesh that cannot be read, which is told before there is a Pod.
    """

    pod: Any = None
    error: str = ""
    unreadable: bool = False


def namespace_of(case: Case) -> str:
    return str(case.get("request", {}).get("namespace", case["namespace"]) or "")


def operation_of(case: Case) -> Operation:
    """The operation of the request; one that no API server names is as good as any."""
    named = case.get("request", {}).get("operation")
    return Operation(named) if named in list(Operation) else Operation.CREATE


def cluster_of(case: Case) -> Cluster:
    objects = {}
    for text in (*case["configMaps"], *case.get("deployments", ())):
        value = read(text)
        metadata = value["metadata"]
        group = value["apiVersion"].rpartition("/")[0]
        identity = (group, value["kind"], metadata.get("namespace", ""), metadata["name"])
        objects[identity] = lambda value=value: value
    return Cluster(objects)


def object_of(case: Case) -> Any:
    """The object of the request; None without one."""
    if "body" in case:
        return get(json.loads(case["body"]), ("request", "object"))
    request = case.get("request", {})
    if "object" in request:
        return request["object"]
    return json.loads(case["object"]) if "object" in case else read(case["pod"])


def run(case: Case) -> Answer:
    cluster = cluster_of(case)
    rules = []
    for text in case["meshes"]:
        value = read(text)
        metadata = value["metadata"]
        ref = RuleRef("appmesh", "Mesh", metadata.get("namespace", ""), metadata["name"])
        rules.append(Rule(ref, value))
    try:
        compiled = compile_with(DIALECT, rules, cluster)
    except RuleError as error:
        return Answer(error=error.message.partition(": ")[2], unreadable=True)
    pod = object_of(case)
    options = AppMeshOptions(
        case.get("env", {}).get("POD_NAMESPACE", ""), on_duplicate=OnDuplicate.APPEND
    )
    for plugin in compiled.plugins:
        assert isinstance(plugin, Injector)
        namespace = namespace_of(case)
        asked = Request(
            operation_of(case),
            Head("v1", "Pod", namespace, ""),
            cluster.resource_for("", "Pod"),
            namespace,
            pod,
        )
        response = Injector(plugin.meshes, options).admit(asked, cluster)
        for finding in response.findings:
            if finding.denies:
                assert finding.cause is Cause.FAILED
                return Answer(error=finding.message)
        pod = response.object if response.object is not None else pod
    return Answer(pod)


def without_empty_resources(pod: Any) -> Any:
    """A Pod whose containers have no empty `resources`."""
    spec = get(pod, ("spec",))
    if type(spec) is not dict:
        return pod
    made = dict(spec)
    for field in ("containers", "initContainers"):
        if type(spec.get(field)) is list:
            made[field] = [
                {k: v for k, v in c.items() if k != "resources" or v} if type(c) is dict else c
                for c in spec[field]
            ]
    return {**pod, "spec": made}


def fits(case: Case, answer: Answer) -> bool:
    results = [case[key] for key in ("result", "resultGo1_26") if key in case]
    return any(fits_result(result, case, answer) for result in results)


def fits_result(result: Json, case: Case, answer: Answer) -> bool:
    if "crash" in result or "noReply" in result or "applyError" in result:
        return bool(answer.error)
    if "error" in result:
        return says(answer.error, result["error"])
    wanted = result["pod"] if "pod" in result else object_of(case)
    pod = without_empty_resources(answer.pod)
    return not answer.error and pod == without_empty_resources(wanted)


def says(error: str, wanted: str) -> bool:
    """Whether an error is the wanted one, and perhaps what to do about it behind a semicolon."""
    for prefix in LIBRARIES:
        if wanted.startswith(prefix):
            return error.startswith(prefix)
    return error == wanted or error.startswith(f"{wanted}; ")


# ------------------------------------------------------------------------------------- conditions


def has_no_counterpart(case: Case) -> bool:
    """A content type, or a resource whose name does not go with the Pod in the request."""
    return "contentType" in case or "resource" in case.get("request", {})


def reads_pods_first(case: Case) -> bool:
    return case["result"].get("error", "").startswith(READ_POD)


CONDITIONS = (
    Condition(
        "a content type, or a resource that is not that of Pods",
        "a render has neither: what is a Pod is admitted as one",
        has_no_counterpart,
        lambda case, answer: (
            fits(case, answer) or (not answer.error and answer.pod != object_of(case))
        ),
    ),
    Condition(
        "an operation other than CREATE",
        "SuperGloo's registration asks for no other, so that a cluster would not call it",
        lambda case: operation_of(case) is not Operation.CREATE,
        lambda case, answer: answer == Answer(object_of(case)),
    ),
    Condition(
        "SuperGloo's namespace is not known",
        f"a render does not see all Deployments: it is {SUPERGLOO}, and a note says so",
        lambda case: case["result"].get("error", "").endswith("determine supergloo namespace"),
        lambda case, answer: (
            answer == run({**case, "env": {"POD_NAMESPACE": SUPERGLOO}})
            and "determine supergloo namespace" not in answer.error
        ),
    ),
    Condition(
        "a Pod that cannot be read, beside a Mesh that cannot",
        "rules are read before any object; without Meshes nobody asks",
        reads_pods_first,
        lambda case, answer: (
            fits(case, answer) or answer.unreadable or (not case["meshes"] and not answer.error)
        ),
    ),
)


def check(case: Case) -> Verdict:
    answer = run(case)
    return decide(CONDITIONS, case, fits(case, answer), case["result"], answer)
