"""Label selectors: whether Kruise takes them, and whether two of them may find the same object.

Source: OpenKruise v1.9.0 pkg/util/selector.go.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from krm_fn.kube.validation import goprint
from krm_fn.kube.validation.fields import invalid
from krm_fn.kube.validation.selectors import label_selector
from krm_fn.values import Json


def selector(value: Json, path: str) -> Iterator[str]:
    """What is wrong with a selector, which must not be empty."""
    problems = list(label_selector(value, path))
    yield from problems
    if not value.get("matchLabels") and not value.get("matchExpressions"):
        shown = goprint.label_selector(value)
        yield invalid(path, shown, "empty selector is not valid for sidecarset.")
    if problems:
        yield invalid(f"{path}.selector", goprint.label_selector(value), "")


_ANY: Final = "ALL"
"""Kruise's own mark for a label that only has to exist; a label of this value counts as it."""


def overlap(a: Json, b: Json) -> bool:
    """Whether Kruise takes it that something may match both; it errs in both directions."""
    return not (_disjoint(a, b) or _disjoint(b, a))


def _disjoint(a: Json, b: Json) -> bool:
    wanted: dict[str, list[str]] = {k: [v] for k, v in a.get("matchLabels", {}).items()}
    for requirement in a.get("matchExpressions", ()):
        key = requirement["key"]
        if requirement["operator"] == "In":
            values = requirement.get("values", ())
            if values:
                wanted[key] = [*wanted.get(key, ()), *values]
        elif requirement["operator"] == "Exists":
            wanted[key] = [_ANY]
    for key, value in b.get("matchLabels", {}).items():
        known = wanted.get(key)
        if known is not None and _ANY not in known and value not in known:
            return True
    return any(_excludes(r, wanted.get(r["key"])) for r in b.get("matchExpressions", ()))


def _excludes(requirement: Json, known: list[str] | None) -> bool:
    values = requirement.get("values", ())
    match requirement["operator"]:
        case "In":
            return known is not None and _ANY not in known and not set(known) & set(values)
        case "NotIn":
            return known is not None and set(known) <= set(values)
        case "Exists":
            return known is None
        case "DoesNotExist":
            return known is not None
    return False
