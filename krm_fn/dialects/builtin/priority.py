"""Priority: makes a number of the name of a Pod's PriorityClass, or of the default one.

Source: plugin/pkg/admission/priority; docs/spec/builtin-admission.md section (b).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from krm_fn.admission import Operation, Request, Response
from krm_fn.dialects.builtin.listers import PRIORITY_CLASS, Listers, name_of
from krm_fn.dialects.builtin.plugin import POD, BuiltIn, Forbidden
from krm_fn.dialects.builtin.pods import with_spec
from krm_fn.values import Json, get

_PREEMPT: Final = "PreemptLowerPriority"


class _Class(NamedTuple):
    """What a PriorityClass says of Pods."""

    name: str
    value: int
    policy: str


_SYSTEM: Final = {
    name: _Class(name, value, _PREEMPT)
    for name, value in (
        ("system-node-critical", 2_000_001_000),
        ("system-cluster-critical", 2_000_000_000),
    )
}
"""The classes that every cluster has."""

_NONE: Final = _Class("", 0, _PREEMPT)
"""What holds where there is no default class."""


class Priority(BuiltIn):
    """A Pod's priority comes from its class; of default classes there is one."""

    name = "Priority"
    kinds = frozenset({POD, PRIORITY_CLASS})

    def admit(self, request: Request, listers: Listers) -> Response:
        if request.head.kind != "Pod":
            return Response()
        if request.operation is Operation.UPDATE:
            return self.changed(request, _kept(request.object, request.old_object or {}))
        if request.operation is not Operation.CREATE:
            return Response()
        spec = request.object["spec"]
        wanted = spec.get("priorityClassName", "")
        found = _named(wanted, listers) if wanted else _default(listers)
        if found is None:
            if listers.has_all("PriorityClass"):
                raise Forbidden(
                    request,
                    f"no PriorityClass with name {wanted} was found",
                    field=("spec", "priorityClassName"),
                )
            return Response(findings=(self.undecided(_unknown(wanted), _NAME),))
        _check(request, spec, found)
        return self.changed(request, with_spec(request.object, _with_priority(spec, found)))

    def validate(self, request: Request, listers: Listers) -> Response:
        if request.head.kind != "PriorityClass" or not request.object.get("globalDefault"):
            return Response()
        default = _other_default(request, listers)
        if default is not None:
            raise Forbidden(
                request,
                f"PriorityClass {name_of(default)} is already marked as default. Only one default "
                "can exist",
                field=("globalDefault",),
            )
        return Response()


_NAME: Final = ("spec", "priorityClassName")


def _unknown(name: str) -> str:
    return (
        f"whether there is a PriorityClass {name} is not known, so that the Pod has no priority "
        "here; add it to the items or to context.objects"
    )


def _kept(pod: Json, old: Json) -> Json:
    """The Pod with the priority that it was created with, where an update leaves it out."""
    spec = pod["spec"]
    for name in ("priority", "preemptionPolicy"):
        before = get(old, ("spec", name))
        if spec.get(name) is None and before is not None:
            spec = {**spec, name: before}
    return with_spec(pod, spec)


def _named(name: str, listers: Listers) -> _Class | None:
    found = listers.get(PRIORITY_CLASS, name)
    return _class(found) if found is not None else _SYSTEM.get(name)


def _class(value: Json) -> _Class:
    return _Class(name_of(value), value["value"], value.get("preemptionPolicy") or _PREEMPT)


def _default(listers: Listers) -> _Class:
    found = listers.once(_default, lambda: _lowest(_defaults(listers)))
    return _class(found) if found is not None else _NONE


def _defaults(listers: Listers) -> list[Json]:
    return [one for one in listers.in_order(PRIORITY_CLASS) if one.get("globalDefault")]


def _lowest(defaults: Sequence[Json]) -> Json | None:
    """The class with the lowest value, of equal ones the first by name."""
    return min(defaults, key=lambda one: (one["value"], name_of(one)), default=None)


def _other_default(request: Request, listers: Listers) -> Json | None:
    """The default class that is there before the one of the request.

    Items are known before they are admitted; of two that are created, the first one is admitted.
    """
    defaults = listers.once(_defaults, lambda: _defaults(listers))
    own = name_of(request.object)
    if request.operation is Operation.UPDATE:
        found = _lowest(defaults)
        return found if found is not None and name_of(found) != own else None
    names = [name_of(one) for one in defaults]
    return _lowest(defaults[: names.index(own)] if own in names else defaults)


def _check(request: Request, spec: Json, found: _Class) -> None:
    """Raise Denied for a Pod that says itself what its class says otherwise."""
    given = spec.get("priority")
    if given is not None and given != found.value:
        raise Forbidden(
            request,
            f"the integer value of priority ({given}) must not be provided in pod spec; priority "
            f"admission controller computed {found.value} from the given PriorityClass name",
            field=("spec", "priority"),
        )
    policy = spec.get("preemptionPolicy")
    if policy is not None and policy != found.policy:
        raise Forbidden(
            request,
            f"the string value of PreemptionPolicy ({policy}) must not be provided in pod spec; "
            f"priority admission controller computed {found.policy} from the given PriorityClass "
            "name",
            field=("spec", "preemptionPolicy"),
        )


def _with_priority(spec: Json, found: _Class) -> Json:
    wanted = {
        "priorityClassName": found.name,
        "priority": found.value,
        "preemptionPolicy": found.policy,
    }
    missing = {name: one for name, one in wanted.items() if one != "" and spec.get(name) != one}
    return {**spec, **missing} if missing else spec
