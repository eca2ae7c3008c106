"""resourcesPolicy: a sidecar's resources, computed from those of the Pod's own containers.

Source: OpenKruise v1.9.0 pkg/webhook/pod/mutating/sidecarset_resources.go; the SidecarSet
specification, A13 and A18.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from krm_fn.dialects.sidecarset.calculator import as_quantity, evaluate
from krm_fn.dialects.sidecarset.sets import is_native
from krm_fn.errors import CompileError, EvaluationError
from krm_fn.kube.quantity import DECIMAL, Quantity, QuantityError, parse
from krm_fn.lang.go.regexp import compile_regex
from krm_fn.lang.go.release import Release
from krm_fn.lang.go.strconv import quote
from krm_fn.values import Json, get

_NAMES: Final = ("cpu", "memory")
_ZERO: Final = Quantity(0, 0, DECIMAL)


def computed(policy: Json, pod: Json, sidecars: frozenset[str]) -> tuple[Json, list[str]]:
    """The resources of a sidecar, and which of those that they hang on some target does not have.

    `sidecars` are the names of containers that are no targets.

    Raises EvaluationError with Kruise's text, for which the Pod is refused.
    """
    targets = _targets(policy.get("targetContainersNameRegex", ""), pod, sidecars)
    mode = policy.get("targetContainersMode", "")
    limits, requests = _together(targets, mode)
    expressions = policy["resourcesExpr"]
    resources: Json = {}
    without: list[str] = []
    for kind, totals in (("limits", limits), ("requests", requests)):
        wanted = expressions.get(kind)
        if wanted is None:
            continue
        values: dict[str, str] = {}
        for name in _NAMES:
            text = wanted.get(name, "")
            if not text:
                continue
            if any(get(one, ("resources", kind, name)) is None for one in targets):
                without.append(f"{kind}.{name}")
            if kind == "limits" and name not in totals:
                continue
            total = totals.get(name, _ZERO)
            shown = "CPU" if name == "cpu" else name
            values[name] = _value(text, total, f"failed to evaluate {shown} {kind} expression")
        if values:
            resources[kind] = values
    return resources, without


def _targets(pattern: str, pod: Json, sidecars: frozenset[str]) -> list[Json]:
    try:
        regex = compile_regex(pattern, Release.GO_1_26)
    except CompileError as error:
        reason = f"invalid regex pattern {quote(pattern)}: {error.message}"
        raise EvaluationError(f"failed to get target containers: {reason}") from None
    native = [c for c in get(pod, ("spec", "initContainers")) or () if is_native(c)]
    found = [
        container
        for container in (*native, *(get(pod, ("spec", "containers")) or ()))
        if container.get("name") not in sidecars and regex.search(container.get("name", ""))
    ]
    if not found:
        raise EvaluationError(f"no containers match the regex pattern {quote(pattern)}")
    return found


Totals = dict[str, Quantity]


def _together(targets: Sequence[Json], mode: str) -> tuple[Totals, Totals]:
    """Limits and requests of all; without one container's limit there is none for all."""
    combine = {"sum": _sum, "max": _largest}.get(mode)
    limits: Totals = {}
    requests: Totals = {}
    if combine is None:
        return limits, requests
    for name in _NAMES:
        found = [_quantity(container, "limits", name) for container in targets]
        present = [quantity for quantity in found if quantity is not None]
        if len(present) == len(found):
            limits[name] = combine(present)
        asked = [_quantity(container, "requests", name) for container in targets]
        wanted = [quantity for quantity in asked if quantity is not None]
        if wanted:
            requests[name] = combine(wanted)
    return limits, requests


def _quantity(container: Json, kind: str, name: str) -> Quantity | None:
    value = get(container, ("resources", kind, name))
    if value is None:
        return None
    try:
        return parse(str(value))
    except QuantityError as error:
        where = f"container {container.get('name')}: resources.{kind}.{name}"
        raise EvaluationError(f"{where} is {value!r}: {error}") from None


def _sum(quantities: Iterable[Quantity]) -> Quantity:
    total = _ZERO
    for quantity in quantities:
        total = total.plus(quantity)
    return total


def _largest(quantities: Sequence[Quantity]) -> Quantity:
    largest = quantities[0]
    for quantity in quantities[1:]:
        if quantity.is_more_than(largest):
            largest = quantity
    return largest


def _value(text: str, total: Quantity, failure: str) -> str:
    variable = "memory" if re.search(r"\bmemory\b", text, re.ASCII) else "cpu"
    try:
        return str(as_quantity(evaluate(text, variable, total)))
    except EvaluationError as error:
        reason = f"failed to parse expression {quote(text)}: {error.message}"
        raise EvaluationError(f"{failure}: {reason}") from None
