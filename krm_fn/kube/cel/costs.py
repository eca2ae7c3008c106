"""What calls of Kubernetes' functions cost, by their names: one name is one cost for all overloads.

Source: apiserver v0.37, pkg/cel/library/cost.go (CallCost).
"""

from __future__ import annotations

from typing import Any, Final

from krm_fn.kube.cel.formats import Format
from krm_fn.kube.cel.net import Address, Network
from krm_fn.lang.cel import values as v
from krm_fn.lang.cel.costs import Cost, Estimator, regex_cost, walk

_CHECK: Final = 350_000
"""Two checks of the authorizer fit into an expression."""

_REQUIREMENT: Final = 50
"""A requirement of a selector: a struct and a list; two characters are the shortest."""

_LIST: Final = 10


def _one(*_: Any) -> int:
    return 1


def _first(value: Any, *_: Any) -> int:
    return walk(v.size_of(value))


def _twice(value: Any, *_: Any) -> int:
    return walk(2 * v.size_of(value))


def _joined(values: Any, separator: Any = "") -> int:
    total = sum(len(value) for value in values if type(value) is str)
    return walk(2 * (total + v.size_of(separator) * max(v.size_of(values) - 1, 0)))


def _selector(check: Any, text: Any) -> int:
    size = v.size_of(text)
    return _LIST + walk(size) + _REQUIREMENT * ((size + 1) // 2)


def _traversal(value: Any, *_: Any) -> int:
    """All parts of a value: texts by a tenth of their bytes, rounded down each, others 1."""
    total = 0
    pending = [value]
    while pending:
        one = pending.pop()
        kind = type(one)
        if kind is str:
            total += len(one if one.isascii() else one.encode("utf-8", "surrogatepass")) // 10
        elif kind is bytes:
            total += len(one) // 10
        elif v.is_list(one):
            pending.extend(one)
        elif v.is_map(one):
            for key in v.map_keys(one):
                pending.append(key)
                pending.append(v.map_find(one, key)[0])
        else:
            total += 1
    return total


def _bytes(value: Any) -> int:
    """The bytes of an address, or of a network's prefix."""
    if isinstance(value, Address):
        return (value.bits + 7) // 8
    if isinstance(value, Network):
        return (value.length + 7) // 8
    return v.size_of(value)


def _contains(network: Any, other: Any) -> int:
    return walk(2 * _bytes(network))


def _contains_network(network: Any, other: Any) -> int:
    return walk(2 * _bytes(network)) + walk(_bytes(network)) + 1


def _and_text(cost: Cost) -> Cost:
    """The second argument is a string, which is read first."""
    return lambda first, text: cost(first, text) + walk(v.size_of(text))


def _format(known: Any, text: Any) -> int:
    size = known.size if isinstance(known, Format) else 1
    return walk(v.size_of(text) + 1) * ((size + 3) // 4)


_BY_COST: Final[dict[Cost, str]] = {
    lambda *_: _CHECK: "check",
    _one: (
        "serviceAccount path group resource subresource namespace name allowed reason error "
        "errored masked prefixLength family isUnspecified isLoopback isLinkLocalMulticast "
        "isLinkLocalUnicast isGlobalUnicast format.named sign asInteger isInteger "
        "asApproximateFloat isGreaterThan isLessThan compareTo add sub major minor patch "
        "getScheme getHostname getHost getPort getEscapedPath getQuery cidr_ip"
    ),
    _selector: "fieldSelector labelSelector",
    _traversal: "isSorted sum max min indexOf lastIndexOf includes",
    _first: (
        "url lowerAscii upperAscii substring trim jsonpatch.escapeKey cidr isIP isCIDR quantity "
        "isQuantity semver isSemver ip"
    ),
    _twice: "replace split ip.isCanonical",
    _joined: "join",
    regex_cost: "find findAll",
    _contains: "containsIP",
    _contains_network: "containsCIDR",
    _and_text(_contains): "cidr_contains_ip_string",
    _and_text(_contains_network): "cidr_contains_cidr_string",
    _format: "validate",
}

ESTIMATOR: Final[Estimator] = {
    name: cost for cost, names in _BY_COST.items() for name in names.split()
}
"""The costs of functions by name."""
