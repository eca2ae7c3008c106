"""Built-in kinds in the form in which the API server shows them: decoded, with defaults, prepared.

Compared are values (not the order of keys), unknown fields by their paths, errors by the field that
they name. Duplicate keys are an error of this project's reader where strict validation warns.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from formats import Verdict
from formats.conditions import Condition, decide
from krm_fn.errors import DecodeError, KrmFnError
from krm_fn.kube.schema import Schemas
from krm_fn.kube.served import Served
from krm_fn.values import Json, Path, equal
from krm_fn.wire.compose import Reader, compose
from krm_fn.wire.scalars import resolve_sigs

SIGS_YAML = Reader(resolve_sigs, duplicate_keys=True)
"""What the API server reads manifests with; strict validation is what tells duplicate keys."""

STAMPED = ("<uid>", "<creation time>", "<now>")


@cache
def served(version: str) -> Served:
    return Served(Schemas(version))


def read(text: str) -> Any:
    roots = compose(text.removeprefix("\ufeff"), SIGS_YAML).roots
    return roots[0].value if roots else None


def check(case: dict[str, Any]) -> Verdict:
    expected = case["result"]
    actual = answer(case)
    return decide(CONDITIONS, case, fits(expected, actual), expected, actual)


def answer(case: dict[str, Any]) -> dict[str, Any]:
    """What this project makes of the object; `error` with the field where it refuses it."""
    server = served(case["kubernetes"])
    try:
        value = read(case["object"])
        if type(value) is not dict:
            raise DecodeError("no map")
        typed = server.typed(value)
        form = server.form(value, request_namespace(case, typed))
        if not form.known:
            raise DecodeError("no kind of that name")
    except DecodeError as error:
        return {"error": error.message, "field": error.path}
    except KrmFnError as error:
        return {"error": error.message, "field": ()}
    return {
        "typed": typed,
        "served": form.object,
        "validating": server.validating(form.object),
        "warnings": [upstream_path(finding.path) for finding in form.findings],
    }


def request_namespace(case: dict[str, Any], typed: Json) -> str:
    metadata = typed.get("metadata") or {}
    return case.get("namespace") or metadata.get("namespace") or "default"


def upstream_path(path: Path) -> str:
    """A path as strict validation writes it."""
    text = "".join(f"[{step}]" if type(step) is int else f".{step}" for step in path)
    return text.removeprefix(".")


def fits(expected: dict[str, Any], actual: dict[str, Any]) -> bool:
    if "error" in expected or "error" in actual:
        return "error" in expected and "error" in actual and same_field(expected, actual)
    parts = [part for part in ("typed", "served") if part in expected]
    if not all(same(expected[part], actual[part]) for part in parts):
        return False
    if "validating" in expected:
        wanted, got = (comparable(one["validating"]) for one in (expected, actual))
        if not same(wanted, got):
            return False
    return unknown_fields(expected) == sorted(actual["warnings"])


def same_field(expected: dict[str, Any], actual: dict[str, Any]) -> bool:
    """Whether the error is about the field that the decoder names, where it names one.

    It does so as `Go struct field PodSpec.spec.containers.image`: the struct, then names without
    indexes, the names of embedded structs among them; keys of maps are left out.
    """
    if expected["stage"] == "namespace":
        return bool(actual["field"] == ("metadata", "namespace"))
    named = re.search(r"Go struct field (\S+) of type", expected["error"])
    if named is None:
        return True
    names = [name for name in named[1].split(".")[1:] if name[:1].islower()]
    got = [step for step in actual["field"] if type(step) is str]
    return got[: len(names)] == names


def unknown_fields(expected: dict[str, Any]) -> list[str]:
    found = [re.fullmatch(r'unknown field "(.*)"', text) for text in expected["warnings"]]
    return sorted(match[1] for match in found if match)


GATED = (
    ("Pod", "spec.resources"),
    ("Pod", "spec.resourceClaims"),
    ("Pod", "spec.securityContext.supplementalGroupsPolicy"),
    ("Pod", "spec.containers.#.resizePolicy"),
    ("Pod", "spec.containers.#.resources.claims"),
    ("Pod", "spec.containers.#.securityContext.procMount"),
    ("Pod", "spec.volumes"),  # those of images
    ("StatefulSet", "spec.updateStrategy.rollingUpdate.maxUnavailable"),
)
"""Fields of features that are off in 1.32, which its strategies drop and this project does not."""

GENERATED = (
    ("Job", "spec.selector"),  # by the uid
    ("Pod", "metadata.annotations"),  # of AppArmor from its fields, which later releases leave
)


def comparable(value: Json) -> Json:
    """Without what is stamped, generated or allocated at creation, and what features drop."""
    whole: Json = without_stamps(value)
    metadata = {k: v for k, v in whole["metadata"].items() if k != "creationTimestamp"}
    if metadata.get("generateName"):
        for name in ("name", "labels"):
            metadata.pop(name, None)
    for kind, path in GATED + GENERATED:
        if kind == whole["kind"]:
            whole = without(whole, path.split("."))
    metadata = {k: v for k, v in metadata.items() if k in whole["metadata"]}
    status = whole.get("status")
    if type(status) is dict and status.get("phase") == "Pending":
        # Pods that wait for their gates get a condition with the time.
        whole = {**whole, "status": {k: v for k, v in status.items() if k != "conditions"}}
    return {**whole, "metadata": metadata}


def without(value: Any, path: list[str]) -> Any:
    """A value without what stands at a path; `#` is every element of a list."""
    name, *rest = path
    if name == "#":
        return [without(member, rest) for member in value] if type(value) is list else value
    if type(value) is not dict or name not in value:
        return value
    if rest:
        return {**value, name: without(value[name], rest)}
    return {key: member for key, member in value.items() if key != name}


def without_stamps(value: Any) -> Any:
    if type(value) is dict:
        return {k: without_stamps(v) for k, v in value.items() if v not in STAMPED}
    return [without_stamps(member) for member in value] if type(value) is list else value


def same(expected: Any, actual: Any) -> bool:
    """Equal as JSON: the spelling of numbers that only a float64 holds does not matter."""
    if type(expected) is dict and type(actual) is dict:
        return expected.keys() == actual.keys() and all(
            same(member, actual[key]) for key, member in expected.items()
        )
    if type(expected) is list and type(actual) is list:
        return len(expected) == len(actual) and all(map(same, expected, actual))
    if float in (type(expected), type(actual)) and bool not in (type(expected), type(actual)):
        return isinstance(expected, int | float) and float(expected) == float(actual)
    return equal(expected, actual)


def is_certificate_request(case: dict[str, Any]) -> bool:
    return case["result"].get("served", {}).get("kind") == "CertificateSigningRequest"


def has_no_namespace(case: dict[str, Any], actual: Any) -> bool:
    expected = case["result"]
    metadata = {k: v for k, v in expected["served"]["metadata"].items() if k != "namespace"}
    served = {**expected["served"], "metadata": metadata}
    return fits({**expected, "served": served}, actual)


CONDITIONS: list[Condition] = [
    Condition(
        "a CertificateSigningRequest",
        "the kind lives in no namespace, so stage 6 clears it; what observed the vectors has no "
        "strategy for this kind and took it for a namespaced one",
        is_certificate_request,
        has_no_namespace,
    ),
]
