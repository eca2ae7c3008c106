"""Defaults of autoscalers.

The first version of the kind keeps in annotations what it has no fields for; they are read and
written again like everything else, and dropped where they cannot be read.
Source: the served form's specification, section (c); pkg/apis/autoscaling/v2/defaults.go,
pkg/apis/autoscaling/v1/conversion.go.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final

from krm_fn import limits
from krm_fn.kube.quantity import QuantityError, parse
from krm_fn.kube.schema import Struct, Type, Value
from krm_fn.kube.served.mismatch import MismatchError
from krm_fn.kube.served.plan import Plan, Rule
from krm_fn.values import Json

_SCALE_UP: Final[dict[str, Any]] = {
    "stabilizationWindowSeconds": 0,
    "selectPolicy": "Max",
    "policies": [
        {"type": "Pods", "value": 4, "periodSeconds": 15},
        {"type": "Percent", "value": 100, "periodSeconds": 15},
    ],
}
_SCALE_DOWN: Final[dict[str, Any]] = {
    "selectPolicy": "Max",
    "policies": [{"type": "Percent", "value": 100, "periodSeconds": 15}],
}


def behavior(out: Json, given: Json) -> Json:
    """Rules for both directions as soon as there is a behavior, be it empty.

    Policies that are given, if empty, are kept (and not written).
    """
    filled = out
    for direction, defaults in (("scaleUp", _SCALE_UP), ("scaleDown", _SCALE_DOWN)):
        written = out.get(direction)
        wanted = defaults
        if written is not None and given[direction].get("policies") is not None:
            wanted = {key: value for key, value in defaults.items() if key != "policies"}
        if written is None or any(key not in written for key in wanted):
            filled = {**filled, direction: {**wanted, **(written or {})}}
    return filled


# -------------------------------------------------------------------------------- the first version

_ALPHA: Final = "autoscaling.alpha.kubernetes.io/"
_METRICS: Final = f"{_ALPHA}metrics"
_BEHAVIOR: Final = f"{_ALPHA}behavior"
_CURRENT: Final = f"{_ALPHA}current-metrics"
_CONDITIONS: Final = f"{_ALPHA}conditions"

_TARGET: Final = "targetCPUUtilizationPercentage"
_USED: Final = "currentCPUUtilizationPercentage"
_DEFAULT_TARGET: Final = 80

FindStruct = Callable[[str], Struct]


def first_version(typed: Plan, find_struct: FindStruct) -> Rule:
    """The rule of an autoscaler of the first version; `typed` decodes what annotations hold."""

    def elements(text: str | None, name: str) -> list[Json] | None:
        """A list of a struct type, None where the text is none."""
        value = _json(text, list)
        if value is None:
            return None
        struct = find_struct(f"autoscaling/v1.{name}")
        try:
            return [_in_order(_read(typed, element, struct), struct) for element in value]
        except MismatchError:
            return None

    with_tolerance = "tolerance" in find_struct("autoscaling/v2.HPAScalingRules").fields

    def rule(out: Json, _: Json) -> Json:
        annotations = out["metadata"].get("annotations", {})
        fresh = {key: text for key, text in annotations.items() if key not in _OURS}
        spec = _with_target(out["spec"], elements(annotations.get(_METRICS), "MetricSpec"), fresh)
        read = elements(annotations.get(_CURRENT), "MetricStatus")
        status = _with_usage(out["status"], read, fresh)
        rules = _behavior(annotations.get(_BEHAVIOR), with_tolerance)
        if rules is not None:
            fresh[_BEHAVIOR] = _text(rules)
        conditions = elements(annotations.get(_CONDITIONS), "HorizontalPodAutoscalerCondition")
        if conditions:
            fresh[_CONDITIONS] = _text(conditions)
        if spec is not out["spec"] or status is not out["status"]:
            out = {**out, "spec": spec, "status": status}
        if fresh == annotations:
            return out
        rest = {key: value for key, value in out["metadata"].items() if key != "annotations"}
        return {**out, "metadata": {**rest, "annotations": fresh} if fresh else rest}

    return rule


IN_STATUS: Final = (_CURRENT, _CONDITIONS)
"""Annotations that hold parts of the status."""

_OURS: Final = (_METRICS, _BEHAVIOR, *IN_STATUS)


def _with_target(spec: Json, metrics: list[Json] | None, annotations: Json) -> Json:
    """The first target for the CPU is the field's, every other metric stays in the annotation.

    Where there is no metric at all, the CPU has a default.
    """
    others = []
    targets = []
    for metric in metrics or ():
        resource = metric.get("resource", {}) if metric["type"] == "Resource" else {}
        if resource.get("name") == "cpu" and "targetAverageUtilization" in resource:
            targets.append(resource["targetAverageUtilization"])
        else:
            others.append(metric)
    if _TARGET in spec:
        targets.append(spec[_TARGET])
    if others:
        annotations[_METRICS] = _text(others)
    elif not targets:
        targets = [_DEFAULT_TARGET]
    return _with(spec, _TARGET, targets[0] if targets else None)


def _with_usage(status: Json, read: list[Json] | None, annotations: Json) -> Json:
    """What the annotation says of the current metrics counts; without it, what the field says."""
    metrics = read
    if metrics is None:
        used = status.get(_USED)
        metrics = [] if used is None else [_usage(used)]
    if metrics:
        annotations[_CURRENT] = _text(metrics)
    used = None
    for metric in metrics:
        resource = metric.get("resource", {}) if metric["type"] == "Resource" else {}
        if resource.get("name") == "cpu":
            used = resource.get("currentAverageUtilization", used)
    return _with(status, _USED, used)


def _usage(used: int) -> Json:
    resource = {"name": "cpu", "currentAverageUtilization": used, "currentAverageValue": "0"}
    return {"type": "Resource", "resource": resource}


def _with(out: Json, key: str, value: Any) -> Json:
    if out.get(key) == value:
        return out
    rest = {name: member for name, member in out.items() if name != key}
    return rest if value is None else {**rest, key: value}


def _behavior(text: str | None, with_tolerance: bool) -> Json | None:
    """The behavior in the notation of the internal type: capital letters, nothing left out.

    Rules have a tolerance where the release's type has one.
    """
    value = _json(text, dict)
    if value is None:
        return None
    try:
        rules = {
            key: _scaling(_member(value, key), with_tolerance) for key in ("ScaleUp", "ScaleDown")
        }
    except (TypeError, AttributeError, QuantityError):
        return None
    return rules if any(rules.values()) else None


def _scaling(rules: Any, with_tolerance: bool) -> Json | None:
    if rules is None:
        return None
    policies = _member(rules, "Policies")
    tolerance = _member(rules, "Tolerance")
    more = {"Tolerance": None if tolerance is None else str(parse(str(tolerance)))}
    return {
        "StabilizationWindowSeconds": _member(rules, "StabilizationWindowSeconds"),
        "SelectPolicy": _member(rules, "SelectPolicy"),
        "Policies": None if policies is None else [_policy(policy) for policy in policies],
        **(more if with_tolerance else {}),
    }


def _policy(policy: Any) -> Json:
    return {
        "Type": _member(policy, "Type") or "",
        "Value": _member(policy, "Value") or 0,
        "PeriodSeconds": _member(policy, "PeriodSeconds") or 0,
    }


def _member(value: Json, name: str) -> Any:
    """A member by its name in any case."""
    for key, member in value.items():
        if key.lower() == name.lower():
            return member
    return None


def _json(text: str | None, wanted: type) -> Any:
    """The JSON of a string, None where it is none of that type; null is an empty one."""
    if text is None or limits.json_too_deep(text) is not None:
        return None
    try:
        value = json.loads(text)
    except ValueError:
        return None
    if value is None:
        return wanted()
    return value if type(value) is wanted else None


def _read(typed: Plan, value: Any, struct: Struct) -> Json:
    written: Json = typed.struct(struct)({} if value is None else value)
    return written


def _in_order(value: Any, struct: Struct) -> Any:
    """A written value with its fields in Go's order, as its JSON has them."""
    return {
        name: _ordered(value[name], field.type)
        for name, field in struct.fields.items()
        if name in value
    }


def _ordered(value: Any, type_: Type) -> Any:
    if type_.value is Value.STRUCT and type(value) is dict:
        return _in_order(value, type_.struct)
    if type_.value is Value.LIST and type(value) is list:
        assert type_.element is not None
        return [_ordered(member, type_.element) for member in value]
    if type_.value is Value.MAP and type(value) is dict:
        return {key: value[key] for key in sorted(value)}
    return value


def _text(value: Any) -> str:
    """JSON as Go's encoder writes a struct."""
    from krm_fn.lang.go.json.encode import marshal  # few objects have such annotations

    return marshal(value, sort=False)
