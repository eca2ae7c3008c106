"""Custom kinds as their CustomResourceDefinition has the API server show them.

Compared as in `formats.served`; the definition is read from the case.
"""

from __future__ import annotations

from typing import Any

from formats import Verdict
from formats.served import read, same, unknown_fields, upstream_path
from krm_fn.errors import KrmFnError
from krm_fn.kube.schema import Schemas
from krm_fn.kube.served import Served


def check(case: dict[str, Any]) -> Verdict:
    expected = case["result"]
    actual = answer(case)
    return Verdict(fits(expected, actual), expected, actual)


def answer(case: dict[str, Any]) -> dict[str, Any]:
    crd = read(case["crd"])
    server = Served(Schemas(case["kubernetes"]), lambda group, kind: crd)
    value = read(case["object"])
    metadata = value.get("metadata") if type(value) is dict else None
    namespace = metadata.get("namespace") or "default" if type(metadata) is dict else None
    try:
        form = server.form(value, namespace if type(namespace) is str else "default")
    except KrmFnError as error:
        return {"error": error.message}
    return {
        "served": form.object,
        "validating": server.validating(form.object),
        "warnings": [upstream_path(finding.path) for finding in form.findings],
    }


def fits(expected: dict[str, Any], actual: dict[str, Any]) -> bool:
    if "error" in expected or "error" in actual:
        return "error" in expected and "error" in actual
    return (
        same(expected["served"], actual["served"])
        and same(expected["validating"], actual["validating"])
        and unknown_fields(expected) == sorted(actual["warnings"])
    )
