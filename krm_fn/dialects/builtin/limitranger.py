"""LimitRanger: fills in and checks what containers ask for, by the LimitRanges of the namespace.

Source: plugin/pkg/admission/limitranger; docs/spec/builtin-admission.md section (b).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from krm_fn import work
from krm_fn.admission import Operation, Request, Response
from krm_fn.dialects.builtin.amounts import (
    POD_LEVEL_RESOURCES,
    Amounts,
    PodLevel,
    amounts,
    pod_amounts,
)
from krm_fn.dialects.builtin.listers import Listers
from krm_fn.dialects.builtin.plugin import POD, BuiltIn, Forbidden
from krm_fn.dialects.builtin.pods import INIT, REGULAR, containers, with_containers, with_spec
from krm_fn.kube.quantity import ZERO, Quantity
from krm_fn.values import Json, get, with_at

LIMIT_RANGE: Final = ("", "LimitRange")
ANNOTATION: Final = ("metadata", "annotations", "kubernetes.io/limit-ranger")

_CLAIM: Final = ("", "PersistentVolumeClaim")
_KINDS_OF_CONTAINERS: Final = ((REGULAR, "container"), (INIT, "init container"))


class LimitRanger(BuiltIn):
    """Containers without requests or limits get those of the LimitRanges, then all are compared."""

    name = "LimitRanger"
    kinds = frozenset({POD, _CLAIM})
    subresources = frozenset({"", "resize"})

    def admit(self, request: Request, listers: Listers) -> Response:
        if _kind(request) != POD or not _is_asked(request):
            return Response()
        namespace = request.namespace
        value = request.object
        for defaults in listers.once((_defaults, namespace), lambda: _defaults(listers, namespace)):
            value = _completed(value, defaults)
        return self.changed(request, value)

    def validate(self, request: Request, listers: Listers) -> Response:
        if not _is_asked(request):
            return Response()
        level = PodLevel(listers.release >= POD_LEVEL_RESOURCES)
        for limit_range in listers.list(LIMIT_RANGE, request.namespace):
            problems = sorted(set(_problems(request, limit_range, level)))
            if problems:
                detail = problems[0] if len(problems) == 1 else f"[{', '.join(problems)}]"
                raise Forbidden(request, detail)
        return Response()


def _kind(request: Request) -> tuple[str, str]:
    return request.head.group, request.head.kind


def _is_asked(request: Request) -> bool:
    """Whether LimitRanges are about the request: only a resize changes what Pods ask for."""
    if request.operation is Operation.UPDATE:
        deleted = get(request.old_object, ("metadata", "deletionTimestamp")) is not None
        return (_kind(request) != POD or request.subresource == "resize") and not deleted
    return request.operation is Operation.CREATE


def _items(limit_range: Json, of_type: str) -> Iterator[Json]:
    for item in limit_range["spec"]["limits"] or ():
        if item["type"] == of_type:
            yield item


# ---------------------------------------------------------------------------------- what is set


class _Defaults(NamedTuple):
    """What one LimitRange gives to containers that lack it, by resource."""

    requests: Mapping[str, str]
    limits: Mapping[str, str]


def _defaults(listers: Listers, namespace: str) -> Sequence[_Defaults]:
    """The defaults of a namespace's LimitRanges, without what an earlier one gives already."""
    found: list[_Defaults] = []
    given: tuple[set[str], set[str]] = set(), set()
    for limit_range in listers.list(LIMIT_RANGE, namespace):
        both: tuple[dict[str, str], dict[str, str]] = {}, {}
        for item in _items(limit_range, "Container"):
            both[0].update(item.get("defaultRequest") or {})
            both[1].update(item.get("default") or {})
        for defaults, before in zip(both, given, strict=True):
            for name in before.intersection(defaults):
                del defaults[name]
            before.update(defaults)
        if any(both):
            found.append(_Defaults(*both))
    return found


def _completed(pod: Json, defaults: _Defaults) -> Json:
    """The Pod with the defaults of one LimitRange, and the annotation that names them."""
    said: list[str] = []
    spec = pod["spec"]
    for name, words in _KINDS_OF_CONTAINERS:

        def complete(container: Json, words: str = words) -> Json:
            return _with_defaults(container, defaults, words, said)

        spec = with_containers(spec, complete, (name,))
    if not said:
        return pod
    text = f"LimitRanger plugin set: {'; '.join(said)}"
    completed: Json = with_at(with_spec(pod, spec), ANNOTATION, text)
    return completed


def _with_defaults(container: Json, defaults: _Defaults, words: str, said: list[str]) -> Json:
    """The container with what it lacks; `said` gets what was set, as the annotation has it."""
    resources: Json = container["resources"]
    for which, given in (("requests", defaults.requests), ("limits", defaults.limits)):
        present = resources.get(which) or {}
        missing = sorted(name for name in given if name not in present)
        work.spend(_DEFAULT * len(given))
        if missing:
            more = {name: given[name] for name in missing}
            resources = {**resources, which: {**present, **more}}
            kind = which.removesuffix("s")
            said.append(f"{', '.join(missing)} {kind} for {words} {container['name']}")
    if resources is container["resources"]:
        return container
    return {**container, "resources": resources}


_DEFAULT: Final = 20
"""Steps of one default for one container."""


# ------------------------------------------------------------------------------ what is compared


def _problems(request: Request, limit_range: Json, level: PodLevel) -> Iterator[str]:
    spec: Any = request.object["spec"]
    if _kind(request) == _CLAIM:
        requests = amounts(spec["resources"].get("requests"))
        for item in _items(limit_range, "PersistentVolumeClaim"):
            yield from _claim_problems(item, requests)
        return
    for item in _items(limit_range, "Container"):
        for container in containers(spec, (REGULAR, INIT)):
            work.spend(_CONTAINER)
            resources = container["resources"]
            requests, limits = amounts(resources.get("requests")), amounts(resources.get("limits"))
            yield from _pod_problems(item, requests, limits)
    for item in _items(limit_range, "Pod"):
        requests, limits = (pod_amounts(spec, name, level) for name in ("requests", "limits"))
        yield from _pod_problems(item, requests, limits)


def _pod_problems(item: Json, requests: Amounts, limits: Amounts) -> Iterator[str]:
    subject = item["type"]
    for name, bound in amounts(item.get("min")).items():
        yield from _below(name, subject, bound, requests.get(name), limits.get(name))
    for name, bound in amounts(item.get("max")).items():
        yield from _above(name, subject, bound, requests.get(name), limits.get(name))
    for name, bound in amounts(item.get("maxLimitRequestRatio")).items():
        yield from _out_of_ratio(name, subject, bound, requests.get(name), limits.get(name))


def _claim_problems(item: Json, requests: Amounts) -> Iterator[str]:
    subject = item["type"]
    for name, bound in amounts(item.get("min")).items():
        yield from _below(name, subject, bound, requests.get(name), None)
    for name, bound in amounts(item.get("max")).items():
        wanted = requests.get(name)
        said = f"maximum {name} usage per {subject} is {bound}"
        if wanted is None:
            yield f"{said}.  No request is specified"
        else:
            request, _, most = _comparable(wanted, None, bound)
            if request > most:
                yield f"{said}, but request is {wanted}"


def _below(
    name: str, subject: str, bound: Quantity, wanted: Quantity | None, limited: Quantity | None
) -> Iterator[str]:
    said = f"minimum {name} usage per {subject} is {bound}"
    request, limit, least = _comparable(wanted, limited, bound)
    if wanted is None:
        yield f"{said}.  No request is specified"
    elif request < least:
        yield f"{said}, but request is {wanted}"
    elif limited is not None and limit < least:
        yield f"{said}, but limit is {limited}"


def _above(
    name: str, subject: str, bound: Quantity, wanted: Quantity | None, limited: Quantity | None
) -> Iterator[str]:
    said = f"maximum {name} usage per {subject} is {bound}"
    request, limit, most = _comparable(wanted, limited, bound)
    if limited is None:
        yield f"{said}.  No limit is specified"
    elif limit > most:
        yield f"{said}, but limit is {limited}"
    elif wanted is not None and request > most:
        yield f"{said}, but request is {wanted}"


def _out_of_ratio(
    name: str, subject: str, bound: Quantity, wanted: Quantity | None, limited: Quantity | None
) -> Iterator[str]:
    said = f"{name} max limit to request ratio per {subject} is {bound}"
    request, limit, _ = _comparable(wanted, limited, bound)
    if wanted is None or request == 0:
        yield f"{said}, but no request is specified or request is 0"
    elif limited is None or limit == 0:
        yield f"{said}, but no limit is specified or limit is 0"
    else:
        ratio = limit / request
        most = bound.scaled(0)
        fits = ratio * 1000 <= bound.scaled(-3) if most <= _MAX_MILLI else ratio <= most
        if not fits:
            yield f"{said}, but provided ratio is {ratio:f}"


_CONTAINER: Final = 200
"""Steps of comparing one container with one LimitRange."""

_MAX_MILLI: Final = (2**63 - 1) // 1000


def _comparable(
    wanted: Quantity | None, limited: Quantity | None, bound: Quantity
) -> tuple[int, int, int]:
    """The three as thousandths, as whole numbers where one is too large for that, rounded up."""
    three = wanted or ZERO, limited or ZERO, bound
    if any(one.scaled(0) > _MAX_MILLI for one in three):
        return three[0].scaled(0), three[1].scaled(0), three[2].scaled(0)
    return three[0].scaled(-3), three[1].scaled(-3), three[2].scaled(-3)
