"""RuntimeClass: what a Pod's runtime costs and where it runs, from the class that the Pod names.

Source: plugin/pkg/admission/runtimeclass; docs/spec/builtin-admission.md section (b).
"""

from __future__ import annotations

from typing import Final

from krm_fn.admission import Operation, Request, Response
from krm_fn.dialects.builtin.amounts import amounts
from krm_fn.dialects.builtin.listers import RUNTIME_CLASS, Listers
from krm_fn.dialects.builtin.plugin import PODS, BuiltIn, Forbidden
from krm_fn.dialects.builtin.pods import with_spec
from krm_fn.dialects.builtin.tolerations import merged
from krm_fn.lang.go.strconv import quote
from krm_fn.values import Json, get

_OTHER_OVERHEAD: Final = (
    "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead"
)
_OWN_OVERHEAD: Final = (
    "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead"
)
_NAME: Final = ("spec", "runtimeClassName")
_OVERHEAD: Final = ("spec", "overhead")


class RuntimeClass(BuiltIn):
    """Pods get the overhead, node selector and tolerations of their RuntimeClass."""

    name = "RuntimeClass"
    kinds = PODS

    def admit(self, request: Request, listers: Listers) -> Response:
        if request.operation is not Operation.CREATE:
            return Response()
        spec = request.object["spec"]
        name = spec.get("runtimeClassName")
        runtime_class = _class(request, listers)
        if runtime_class is None:
            if name is None:
                return Response()
            return Response(findings=(self.undecided(_unknown(name), _NAME),))
        spec = _with_overhead(request, spec, runtime_class)
        spec = _with_scheduling(request, spec, runtime_class)
        return self.changed(request, with_spec(request.object, spec))

    def validate(self, request: Request, listers: Listers) -> Response:
        if request.operation is not Operation.CREATE:
            return Response()
        spec = request.object["spec"]
        runtime_class = _class(request, listers)
        if runtime_class is not None and "overhead" in runtime_class:
            if not _equal(spec.get("overhead"), get(runtime_class, ("overhead", "podFixed"))):
                raise Forbidden(request, _OTHER_OVERHEAD, field=_OVERHEAD)
        elif _has_overhead(request) and (runtime_class is not None or spec.get(_NAME[-1]) is None):
            raise Forbidden(request, _OWN_OVERHEAD, field=_OVERHEAD)
        return Response()


def _has_overhead(request: Request) -> bool:
    """Whether a Pod gives an overhead; the served form does not show an empty one."""
    return bool(get(request.object, _OVERHEAD)) or get(request.written, _OVERHEAD) == {}


def _class(request: Request, listers: Listers) -> Json | None:
    """The class that a Pod names; None where it names none, or one that is not known."""
    name = request.object["spec"].get("runtimeClassName")
    if name is None:
        return None
    found = listers.get(RUNTIME_CLASS, name)
    if found is None and listers.has_all("RuntimeClass"):
        detail = f"pod rejected: RuntimeClass {quote(name)} not found"
        raise Forbidden(request, detail, field=_NAME)
    return found


def _unknown(name: str) -> str:
    return (
        f"what RuntimeClass {name} says is not known, so that the Pod has no overhead, node "
        "selector and tolerations of it here; add it to the items or to context.objects"
    )


def _equal(one: Json | None, other: Json | None) -> bool:
    """Whether two resource lists are equal as quantities; no list is an empty one."""
    first, second = amounts(one), amounts(other)
    return first.keys() == second.keys() and all(
        first[name].minus(second[name]).number == 0 for name in first
    )


def _with_overhead(request: Request, spec: Json, runtime_class: Json) -> Json:
    if "overhead" not in runtime_class:
        return spec
    fixed = runtime_class["overhead"].get("podFixed")
    own = spec.get("overhead")
    if own and not _equal(own, fixed):
        raise Forbidden(request, _OTHER_OVERHEAD, field=_OVERHEAD)
    return {**spec, "overhead": fixed} if fixed and fixed != own else spec


def _with_scheduling(request: Request, spec: Json, runtime_class: Json) -> Json:
    scheduling = runtime_class.get("scheduling")
    if scheduling is None:
        return spec
    selector = spec.get("nodeSelector") or {}
    wanted = scheduling.get("nodeSelector") or {}
    for key in sorted(wanted):
        if key in selector and selector[key] != wanted[key]:
            raise Forbidden(
                request,
                f"conflict: runtimeClass.scheduling.nodeSelector[{key}] = {wanted[key]}; "
                f"pod.spec.nodeSelector[{key}] = {selector[key]}",
                field=("spec", "nodeSelector", key),
            )
    if any(key not in selector for key in wanted):
        spec = {**spec, "nodeSelector": {**selector, **wanted}}
    own = spec.get("tolerations") or []
    tolerations = merged(own, scheduling.get("tolerations") or ())
    return spec if tolerations == own else {**spec, "tolerations": tolerations}
