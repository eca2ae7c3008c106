"""Label selectors and labels, as the API server checks them.

Source: apimachinery pkg/apis/meta/v1/validation.
"""

from __future__ import annotations

from collections.abc import Iterator

from krm_fn.kube.validation.fields import each, forbidden, invalid, required
from krm_fn.kube.validation.names import label_value, qualified_name
from krm_fn.values import Json


def label_selector(value: Json, path: str) -> Iterator[str]:
    """What the API server says of a selector."""
    yield from labels(value.get("matchLabels", {}), f"{path}.matchLabels")
    for n, requirement in enumerate(value.get("matchExpressions", ())):
        yield from _requirement(requirement, f"{path}.matchExpressions[{n}]")


def labels(values: dict[str, str], path: str) -> Iterator[str]:
    """What is wrong with labels."""
    for key, value in values.items():
        yield from each(path, key, qualified_name(key))
        yield from each(path, value, label_value(value))


def _requirement(requirement: Json, path: str) -> Iterator[str]:
    operator, values = requirement["operator"], requirement.get("values", ())
    if operator in ("In", "NotIn"):
        if not values:
            yield required(f"{path}.values", "must be specified when `operator` is 'In' or 'NotIn'")
    elif operator in ("Exists", "DoesNotExist"):
        if values:
            message = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
            yield forbidden(f"{path}.values", message)
    else:
        yield invalid(f"{path}.operator", operator, "not a valid selector operator")
    yield from each(f"{path}.key", requirement["key"], qualified_name(requirement["key"]))
    for n, value in enumerate(values):
        yield from each(f"{path}.values[{n}]", value, label_value(value))
