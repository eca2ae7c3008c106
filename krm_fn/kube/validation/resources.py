"""Resource requirements, as the API server checks them.

Source: Kubernetes 1.32 pkg/apis/core/validation/validation.go validateResourceRequirements
and what it calls.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from krm_fn.kube.quantity import Quantity, QuantityError, parse
from krm_fn.kube.validation import goprint
from krm_fn.kube.validation.fields import (
    Printed,
    each,
    forbidden,
    invalid,
    not_found,
    required,
)
from krm_fn.kube.validation.names import qualified_name
from krm_fn.kube.validation.resourcenames import is_extended, is_native
from krm_fn.values import Json

_NATIVE: Final = ("cpu", "memory", "ephemeral-storage")
_HUGE: Final = "hugepages-"
_STANDARD: Final = frozenset(
    {
        *_NATIVE,
        *(f"{kind}.{name}" for kind in ("requests", "limits") for name in _NATIVE),
        "pods",
        "resourcequotas",
        "services",
        "replicationcontrollers",
        "secrets",
        "configmaps",
        "persistentvolumeclaims",
        "storage",
        "requests.storage",
        "services.nodeports",
        "services.loadbalancers",
    }
)
_MEASURED: Final = frozenset(
    {
        *_NATIVE,
        *(f"{kind}.{name}" for kind in ("requests", "limits") for name in _NATIVE),
        "storage",
        "requests.storage",
    }
)
"""Of the standard ones those that are measured; the others are counted."""


def requirements(value: Json, path: str) -> Iterator[str]:
    """What is wrong with limits, requests and claims."""
    limits = {name: parse(text) for name, text in value.get("limits", {}).items()}
    requests = {name: parse(text) for name, text in value.get("requests", {}).items()}
    for name, quantity in limits.items():
        yield from _one(name, quantity, f"{path}.limits[{name}]")
    for name, quantity in requests.items():
        yield from _one(name, quantity, f"{path}.requests[{name}]")
        yield from _within(name, quantity, limits.get(name), path)
    both = {*limits, *requests}
    if any(name.startswith(_HUGE) for name in both) and not both & {"cpu", "memory"}:
        yield forbidden(path, "HugePages require cpu or memory")
    for n, claim in enumerate(value.get("claims", ())):
        at = f"{path}.claims[{n}]"
        if not claim.get("name"):
            yield required(at)
        else:
            detail = "must be one of the names in pod.spec.resourceClaims which is empty"
            yield not_found(at, claim["name"], detail)


def _one(name: str, quantity: Quantity, path: str) -> Iterator[str]:
    yield from _name(name, path)
    if quantity.number < 0:
        yield invalid(path, str(quantity), "must be greater than or equal to 0")
    counted = name in _STANDARD - _MEASURED or is_extended(name)
    if counted and not _is_whole(quantity):
        yield invalid(path, goprint.quantity(quantity), "must be an integer")
    if name.startswith(_HUGE) and not _divides(name.removeprefix(_HUGE), quantity):
        message = f"{quantity} is not positive integer multiple of {name}"
        yield invalid(path, str(quantity), message)


def _is_whole(quantity: Quantity) -> bool:
    """Whether it is without a fraction once its thousandths are rounded."""
    rounded = quantity.rounded()
    return rounded.scale >= 0 or rounded.number % 10**-rounded.scale == 0


def _divides(size: str, quantity: Quantity) -> bool:
    """Whether huge pages of a size make up a quantity."""
    try:
        page = parse(size)
    except QuantityError:
        return False
    if page.number <= 0 or not _is_whole(page):
        return False
    scale = min(page.scale, quantity.scale)
    whole = quantity.number * 10 ** (quantity.scale - scale)
    return bool(whole % (page.number * 10 ** (page.scale - scale)) == 0)


def _name(name: str, path: str) -> Iterator[str]:
    shown = Printed(name)
    problems = each(path, shown, qualified_name(name))
    yield from problems
    if "/" not in name:
        standard = name in _STANDARD or name.startswith((_HUGE, f"requests.{_HUGE}"))
        if not problems and not standard:
            message = "must be a standard resource type or fully qualified"
            yield invalid(path, shown, message)
        if name not in _NATIVE and not name.startswith(_HUGE):
            yield invalid(path, shown, "must be a standard resource for containers")
    elif not is_native(name) and not is_extended(name):
        yield invalid(path, shown, "doesn't follow extended resource name standard")


def _within(name: str, quantity: Quantity, limit: Quantity | None, path: str) -> Iterator[str]:
    """A request is at most the limit, and of what cannot be shared it is the limit."""
    divisible = is_native(name) and not name.startswith(_HUGE)
    if limit is None:
        if not divisible:
            message = "Limit must be set for non overcommitable resources"
            yield required(f"{path}.limits", message)
        return
    more, less = quantity.is_more_than(limit), limit.is_more_than(quantity)
    if not divisible and (more or less):
        message = f"must be equal to {name} limit of {limit}"
        yield invalid(f"{path}.requests", str(quantity), message)
    elif more:
        message = f"must be less than or equal to {name} limit of {limit}"
        yield invalid(f"{path}.requests", str(quantity), message)
