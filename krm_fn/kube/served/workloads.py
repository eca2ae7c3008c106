"""Defaults of workloads, where they depend on other fields.

Each rule takes a struct's written value and what it was read from; see `plan.Rule`.
Source: the served form's specification, section (c); defaults.go and conversion.go of
pkg/apis/{apps,batch,core}/v1.
"""

from __future__ import annotations

from typing import Any, Final

from krm_fn.kube.served.mismatch import MismatchError
from krm_fn.values import Json

_ROLLING: Final = "RollingUpdate"
_INT64: Final = range(-(2**63), 2**63)


def _with_missing(out: Json, defaults: dict[str, Any]) -> Json:
    return {**defaults, **out} if any(key not in out for key in defaults) else out


def _rolling_update(out: Json, defaults: dict[str, Any]) -> Json:
    """The parameters of a rolling update; left under another type, what is missing becomes 0."""
    written = out.get("rollingUpdate")
    if out["type"] == _ROLLING:
        filled = _with_missing(written or {}, defaults)
    elif written is None:
        return out
    else:
        filled = _with_missing(written, dict.fromkeys(defaults, 0))
    return out if filled is written else {**out, "rollingUpdate": filled}


def deployment_strategy(out: Json, _: Json) -> Json:
    return _rolling_update(out, {"maxUnavailable": "25%", "maxSurge": "25%"})


def daemon_set_strategy(out: Json, _: Json) -> Json:
    return _rolling_update(out, {"maxUnavailable": 1, "maxSurge": 0})


def stateful_set_strategy(out: Json, given: Json) -> Json:
    """Only where no type is written an empty rollingUpdate is created."""
    return _stateful_set_strategy(out, given, {"partition": 0})


def stateful_set_strategy_unavailable(out: Json, given: Json) -> Json:
    """As `stateful_set_strategy`, with the field that later releases know."""
    return _stateful_set_strategy(out, given, {"partition": 0, "maxUnavailable": 1})


def _stateful_set_strategy(out: Json, given: Json, defaults: dict[str, Any]) -> Json:
    written = out.get("rollingUpdate")
    if written is None and given.get("type"):
        return out
    if out["type"] != _ROLLING:
        defaults = {"partition": 0}
    filled = _with_missing(written or {}, defaults)
    return out if filled is written else {**out, "rollingUpdate": filled}


def stateful_set_spec(out: Json, _: Json) -> Json:
    templates = out.get("volumeClaimTemplates")
    if not templates:
        return out
    claim = {"apiVersion": "v1", "kind": "PersistentVolumeClaim"}
    if all(claim.items() <= {k: one.get(k) for k in claim}.items() for one in templates):
        return out
    return {**out, "volumeClaimTemplates": [{**one, **claim} for one in templates]}


def deployment(out: Json, _: Json) -> Json:
    return _with_number(out, "deprecated.deployment.rollback.to", None)


def daemon_set(out: Json, _: Json) -> Json:
    return _with_number(out, "deprecated.daemonset.template.generation", "0")


def _with_number(out: Json, key: str, default: str | None) -> Json:
    """An annotation that stands for an old field of a number: read and written again."""
    metadata = out["metadata"]
    annotations = metadata.get("annotations", {})
    text = annotations.get(key)
    unset = text is None or (default is None and text == "")
    number = default if unset else _whole(text, key)
    if text == number:
        return out
    kept = {k: v for k, v in annotations.items() if k != key}
    if number is not None:
        kept[key] = number
    rest = {k: v for k, v in metadata.items() if k != "annotations"}
    return {**out, "metadata": {**rest, "annotations": kept} if kept else rest}


def _whole(text: str, key: str) -> str:
    digits = text[1:] if text[:1] in ("+", "-") else text
    if digits.isascii() and digits.isdecimal() and len(digits) < 100 and int(text) in _INT64:
        return str(int(text))
    mismatch = MismatchError("a whole number", text)
    mismatch.steps += [key, "annotations", "metadata"]
    raise mismatch


def replication_controller(out: Json, _: Json) -> Json:
    """Selector and labels are taken from the template."""
    spec = out["spec"]
    template = spec.get("template")
    labels = template["metadata"].get("labels") if template else None
    if not labels:
        return out
    if "selector" not in spec:
        out = {**out, "spec": {**spec, "selector": labels}}
    return _with_labels(out, labels)


def _with_labels(out: Json, labels: Json) -> Json:
    if "labels" in out["metadata"]:
        return out
    return {**out, "metadata": {**out["metadata"], "labels": labels}}


def job(out: Json, _: Json) -> Json:
    spec = out["spec"]
    failing = "podFailurePolicy" in spec
    defaults: dict[str, Any] = {
        "parallelism": 1,
        "backoffLimit": 2**31 - 1 if "backoffLimitPerIndex" in spec else 6,
        "completionMode": "NonIndexed",
        "suspend": False,
        "podReplacementPolicy": "Failed" if failing else "TerminatingOrFailed",
        "manualSelector": False,
    }
    if "parallelism" not in spec:
        defaults["completions"] = 1
    filled = _with_missing(spec, defaults)
    if failing:
        filled = _with_pod_conditions(filled)
    if filled is not spec:
        out = {**out, "spec": filled}
    labels = spec["template"]["metadata"].get("labels")
    return _with_labels(out, labels) if labels else out


def _with_pod_conditions(spec: Json) -> Json:
    """What a rule about a Pod's condition expects is True where it does not say."""
    policy = spec["podFailurePolicy"]
    rules = policy.get("rules") or ()
    patterns = [pattern for rule in rules for pattern in rule.get("onPodConditions") or ()]
    if all(pattern.get("status") for pattern in patterns):
        return spec
    filled = [
        {
            **rule,
            "onPodConditions": [
                pattern if pattern.get("status") else {**pattern, "status": "True"}
                for pattern in rule["onPodConditions"]
            ],
        }
        if rule.get("onPodConditions")
        else rule
        for rule in rules
    ]
    return {**spec, "podFailurePolicy": {**policy, "rules": filled}}
