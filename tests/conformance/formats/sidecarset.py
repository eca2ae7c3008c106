"""SidecarSets on a Pod, as Kruise's webhooks answer: the sets' defaults, complaints, the Pod.

Sets are written one after the other and checked beside those before; then the Pod is created. It is
compared without nulls, empty maps and empty texts, with `bookkeeping: Full` and a fixed time. A
second run over the outcome must leave it as it is.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from formats import Verdict
from formats.conditions import Condition, decide
from formats.served import read, served
from krm_fn.admission import (
    Cause,
    Cluster,
    Operation,
    Request,
    Response,
    RuleRef,
)
from krm_fn.dialects.sidecarset.build import SetTemplate
from krm_fn.dialects.sidecarset.matching import LabelSelector
from krm_fn.dialects.sidecarset.metadata import MERGE, OVERWRITE, RETAIN, merged
from krm_fn.dialects.sidecarset.options import Bookkeeping, Revision, SidecarSetOptions
from krm_fn.dialects.sidecarset.plugin import Kruise
from krm_fn.dialects.sidecarset.sets import SidecarSet, decode
from krm_fn.dialects.sidecarset.types import KRUISE_KUBERNETES
from krm_fn.dialects.sidecarset.validation import problems
from krm_fn.errors import DecodeError, EvaluationError
from krm_fn.kube.wellknown import METADATA_NAME
from krm_fn.lang.patch.merge import merge_patch, same_json
from krm_fn.values import Json, get, with_at
from krm_fn.wire import Head

TIME = "2026-01-31T12:00:00Z"
ANNOTATIONS = ("metadata", "annotations")
Case = dict[str, Any]


@dataclass
class Answer:
    """What this project makes of a case; the parts have the names of the vectors' keys."""

    refused: str = ""
    invalid: tuple[str, ...] = ()
    defaulted: Any = None
    stored: Any = None
    error: str = ""
    pod: Any = None
    again: Any = None


def load(case: Case, text: str) -> SidecarSet:
    manifest = read(text)
    name = get(manifest, ("metadata", "name"), "")
    ref = RuleRef("sidecarset", "SidecarSet", "", name)
    return decode(ref, manifest, defaults=case.get("defaulting") != "none")


def cluster_of(case: Case) -> Cluster:
    texts = [*case.get("other", ()), *([case["configMap"]] if "configMap" in case else [])]
    objects = {}
    for value in map(read, texts):
        metadata = value["metadata"]
        group = value["apiVersion"].rpartition("/")[0]
        identity = (group, value["kind"], metadata.get("namespace", ""), metadata["name"])
        objects[identity] = lambda value=value: value
    namespaces = {}
    if "namespace" in case:
        namespace = read(case["namespace"])
        namespaces[namespace["metadata"]["name"]] = namespace
    return Cluster(objects, namespaces)


def namespace_of(case: Case) -> str:
    own = get(read(case["pod"]), ("metadata", "namespace"))
    return str(own or case.get("request", {}).get("namespace") or "default")


def gate(case: Case) -> bool:
    gates = case.get("featureGates") or {}
    return bool(
        gates.get("SidecarSetPatchPodMetadataDefaultsAllowed") and gates.get("PodWebhook", True)
    )


def run(case: Case) -> Answer:
    cluster = cluster_of(case)
    try:
        sets = [load(case, text) for text in case["sidecarSets"]]
    except DecodeError as error:
        return Answer(refused=error.message)
    invalid: list[str] = []
    for n, one in enumerate(sets):
        old = case.get("oldSidecarSets", {}).get(one.name)
        before = load(case, old) if old is not None else None
        found = problems(one, sets[:n], cluster, gate=gate(case), old=before)
        invalid += dict.fromkeys(found)
    answer = Answer(
        invalid=tuple(sorted(invalid)),
        defaulted=clean([one.defaulted for one in sets]),
        stored=clean([one.stored for one in sets]),
    )
    if "pod" in case and (not invalid or case.get("admit") == "anyway"):
        answer.error, answer.pod = inject(case, sets, cluster, read(case["pod"]))
        if answer.pod is not None:
            error, second = inject(case, sets, cluster, answer.pod)
            answer.again = {"error": error} if error else comparable(second)
            answer.pod = comparable(answer.pod)
            answer.again = "same" if answer.again == answer.pod else answer.again
    return answer


def inject(
    case: Case, sets: list[SidecarSet], cluster: Cluster, pod: Json
) -> tuple[str, Json | None]:
    """The error for which the Pod is refused, or the Pod."""
    request = case.get("request", {})
    if request.get("subResource"):
        # The chain admits whole objects only, and so never asks for one.
        return "", pod
    gates = case.get("featureGates") or {}
    options = SidecarSetOptions(
        bookkeeping=Bookkeeping.FULL,
        timestamp=TIME,
        sort_by_name=gates.get("EnableSortSidecarContainerByName", False),
        revision=Revision.REVISION,
    )
    namespace = namespace_of(case)
    asked = Request(
        Operation(request.get("operation", "CREATE")),
        Head("v1", "Pod", namespace, ""),
        cluster.resource_for("", "Pod"),
        namespace,
        pod,
    )
    response: Response = Kruise(sets, options).admit(asked, cluster)
    for finding in response.findings:
        if finding.cause is Cause.FAILED:
            return finding.message, None
    return "", response.object if response.object is not None else pod


def comparable(pod: Json | None) -> Any:
    """As Go would write it: typed, with the time of the run masked."""
    typed = served(KRUISE_KUBERNETES).typed(pod or {})
    return clean(json.loads(json.dumps(typed).replace(TIME, "<time>")))


def clean(value: Any) -> Any:
    if type(value) is dict:
        members = {key: clean(member) for key, member in value.items()}
        return {key: member for key, member in members.items() if member not in (None, "", {})}
    return [clean(member) for member in value] if type(value) is list else value


def wanted_pod(case: Case) -> Any:
    result = case["result"]
    return clean(result.get("plain", result.get("pod")))


def fits(case: Case, answer: Answer) -> bool:
    return fits_first_run(case, answer) and (
        case["result"].get("again", answer.again) == answer.again
    )


def fits_first_run(case: Case, answer: Answer) -> bool:
    result = case["result"]
    if "refusedBy" in result or answer.refused:
        return "refusedBy" in result and result["invalid"] == [answer.refused]
    return (
        tuple(result.get("invalid", ())) == answer.invalid
        and all(
            clean(result[k]) == getattr(answer, k) for k in ("defaulted", "stored") if k in result
        )
        and fits_pod(case, answer)
    )


def fits_pod(case: Case, answer: Answer) -> bool:
    """An error of ours begins with the set and the place, which Kruise writes to its log."""
    error = case["result"].get("error")
    if error is None or not answer.error:
        return error is None and not answer.error and answer.pod == wanted_pod(case)
    return answer.error.endswith(error) or error.startswith("panic: ")


# ------------------------------------------------------------------------------------- conditions


def sets_of(case: Case) -> list[SidecarSet]:
    try:
        return [load(case, text) for text in case["sidecarSets"]]
    except DecodeError:
        return []


def names_twice(case: Case) -> set[str]:
    """Containers in the Pod that is wanted which two different sets bring."""
    names = [c["name"] for c in get(wanted_pod(case), ("spec", "containers")) or ()]
    bringing = [SetTemplate(one).written for one in sets_of(case)]
    return {
        name
        for name in names
        if names.count(name) > 1 and sum(name in written for written in bringing) > 1
    }


def upstream_annotations(case: Case) -> dict[str, str] | None:
    """The Pod's annotations after all patches by Kruise's rules; None where one is an error."""
    return patched_by(case, lambda existing, patch: merge_patch(existing, patch))


def patched_by(case: Case, merge: Any) -> dict[str, str] | None:
    values = dict(get(read(case["pod"]), ANNOTATIONS) or {})
    for one in sorted(sets_of(case), key=lambda one: one.name):
        for entry in one.spec.get("patchPodMetadata", ()):
            for key, value in entry.get("annotations", {}).items():
                policy, existing = entry["patchPolicy"], values.get(key)
                try:
                    if policy == MERGE:
                        values[key] = merge(existing, value) if existing else value
                    elif policy == OVERWRITE or (policy == RETAIN and existing is None):
                        values[key] = value
                except EvaluationError:
                    return None
    return values


def merges_otherwise(case: Case) -> bool:
    return "pod" in case and upstream_annotations(case) != patched_by(case, merged)


def says_the_same(case: Case, answer: Answer) -> bool:
    """Each annotation means what is wanted; where Kruise refuses, it is the patch, and stays."""
    if answer.error or answer.again != "same":
        return False
    if "error" in case["result"]:
        before = get(read(case["pod"]), ANNOTATIONS) or {}
        return all(answer.pod["metadata"]["annotations"][key] == before[key] for key in before)
    wanted = wanted_pod(case)
    expected, actual = get(wanted, ANNOTATIONS), get(answer.pod, ANNOTATIONS)
    same = expected.keys() == actual.keys() and all(
        actual[key] == value or same_json(actual[key], value) for key, value in expected.items()
    )
    return same and with_at(wanted, ANNOTATIONS, {}) == with_at(answer.pod, ANNOTATIONS, {})


def names_the_namespace(case: Case) -> bool:
    """A namespaceSelector hangs on the namespace's name alone, which no object here tells."""
    if "pod" not in case:
        return False
    labels = get(read(case.get("namespace", "{}")), ("metadata", "labels")) or {}
    selectors = [one.spec.get("namespaceSelector") for one in sets_of(case)]
    keys = [LabelSelector(s).keys for s in selectors if s is not None]
    return bool(keys) and all(k <= {METADATA_NAME} for k in keys) and METADATA_NAME not in labels


def knows_its_name(case: Case, answer: Answer) -> bool:
    """As if there were the Namespace, with the label that the API server gives every one."""
    name = namespace_of(case)
    labels = {METADATA_NAME: name}
    selectors = [one.spec.get("namespaceSelector") for one in sets_of(case)]
    if all(s is None or LabelSelector(s).matches(labels) for s in selectors):
        named = {"metadata": {"name": name, "labels": labels}}
        return answer == run({**case, "namespace": json.dumps(named)})
    return fits(case, answer)


BARRIER = "KRUISE_CONTAINER_BARRIER"
PRIORITY = "KRUISE_CONTAINER_PRIORITY"


def without_other_mutators(pod: Json) -> Json:
    """A Pod without what Kruise's mutators for readiness and launch order add."""
    spec = {key: value for key, value in pod["spec"].items() if key != "readinessGates"}
    spec["containers"] = [
        clean({**c, "env": [e for e in c.get("env", ()) if e["name"] != BARRIER] or None})
        for c in spec.get("containers", ())
    ]
    metadata = {key: value for key, value in pod["metadata"].items() if value != "<name>"}
    return clean({**pod, "metadata": metadata, "spec": spec})


def meets_other_mutators(case: Case) -> bool:
    if case["result"].get("error", "").startswith("strconv.Atoi: "):
        return any(PRIORITY in text for text in (case["pod"], *case["sidecarSets"]))
    return wanted_pod(case) is not None and wanted_pod(case) != without_other_mutators(
        wanted_pod(case)
    )


def is_of_sets_alone(case: Case, answer: Answer) -> bool:
    if "error" in case["result"]:
        return not answer.error and answer.again == "same"
    return answer.pod == without_other_mutators(wanted_pod(case)) and answer.again == "same"


TAKEN = ("env", "volumeMounts", "volumeDevices", "resources")


def replaced(case: Case) -> set[str]:
    """Containers of the Pod, as it is given, that the sets write anew."""
    if "pod" not in case:
        return set()
    written = frozenset().union(*(SetTemplate(one).written for one in sets_of(case)))
    containers = get(read(case["pod"]), ("spec", "containers")) or ()
    return {c["name"] for c in containers if c["name"] in written}


def takes_nothing_from_them(case: Case, answer: Answer) -> bool:
    """As Kruise does, or as if those containers had nothing to take and were no targets."""
    if fits(case, answer):
        return True
    pod = read(case["pod"])
    bare = [
        {k: v for k, v in c.items() if c["name"] not in replaced(case) or k not in TAKEN}
        for c in pod["spec"]["containers"]
    ]
    stripped = {**case, "pod": json.dumps(with_at(pod, ("spec", "containers"), bare))}
    return answer.again == "same" and answer.pod == run(stripped).pod


def changes_again(case: Case) -> bool:
    return case["result"].get("again", "same") != "same"


CONDITIONS = (
    Condition(
        "a container that two sets bring",
        "Kruise adds both, and the API server refuses the Pod: an error names the container and "
        "the sets",
        lambda case: bool(names_twice(case)),
        lambda case, answer: any(f"container {n} comes" in answer.error for n in names_twice(case)),
    ),
    Condition(
        "an annotation that says already what a merge patch makes of it, or is the patch itself",
        "a render runs many times and Kruise once: such a value stays as it is spelled",
        merges_otherwise,
        says_the_same,
    ),
    Condition(
        "a namespaceSelector by name, without a Namespace that has the label of its name",
        "in a cluster every Pod's namespace exists and has that label",
        names_the_namespace,
        knows_its_name,
    ),
    Condition(
        "what Kruise's mutators for readiness gates and launch order do to a Pod",
        "they are no part of SidecarSets",
        meets_other_mutators,
        is_of_sets_alone,
    ),
    Condition(
        "a Pod with containers that its sets write",
        "a render runs over its own output: nothing is taken from what is replaced",
        lambda case: bool(replaced(case)),
        takes_nothing_from_them,
    ),
    Condition(
        "a Pod that Kruise changes, or refuses, in a second run over its own output",
        "a render runs many times, and the second run changes nothing",
        changes_again,
        lambda case, answer: fits_first_run(case, answer) and answer.again == "same",
    ),
)


def check(case: Case) -> Verdict:
    answer = run(case)
    return decide(CONDITIONS, case, fits(case, answer), case["result"], answer)
