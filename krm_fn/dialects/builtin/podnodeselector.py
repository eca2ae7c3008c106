"""PodNodeSelector: the namespace says on which nodes its Pods may run.

Source: plugin/pkg/admission/podnodeselector; apimachinery pkg/labels.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from krm_fn.admission import Operation, Request, Response
from krm_fn.dialects.builtin.listers import Listers, annotations_of
from krm_fn.dialects.builtin.plugin import PODS, BuiltIn, Denied, InternalError, qualified_resource
from krm_fn.dialects.builtin.pods import with_spec
from krm_fn.kube.validation import names
from krm_fn.lang.go.strconv import quote
from krm_fn.values import get

NODE_SELECTOR: Final = "scheduler.alpha.kubernetes.io/node-selector"

_CLUSTER_DEFAULT: Final = "clusterDefaultNodeSelector"
_FIELD: Final = ("spec", "nodeSelector")
_CONFLICT: Final = "pod node label selector conflicts with its namespace node label selector"
_NOT_ALLOWED: Final = "pod node label selector labels conflict with its namespace whitelist"


class PodNodeSelector(BuiltIn):
    """Merges the node selector of the namespace into that of the Pod.

    `selectors` is the plugin's configuration: selectors by the name of a namespace, which then
    allows no others, and that of namespaces that have none.
    """

    name = "PodNodeSelector"
    kinds = PODS

    def __init__(self, selectors: Mapping[str, str] | None = None) -> None:
        self._selectors = selectors or {}

    def admit(self, request: Request, listers: Listers) -> Response:
        if request.operation is not Operation.CREATE:
            return Response()
        wanted = self._selector(request, listers)
        own = request.object["spec"].get("nodeSelector") or {}
        _check_conflicts(request, wanted, own)
        merged = {**wanted, **own}
        self._check_allowed(request, merged)
        if merged == own:
            return Response()
        spec = {**request.object["spec"], "nodeSelector": merged}
        return self.changed(request, with_spec(request.object, spec))

    def validate(self, request: Request, listers: Listers) -> Response:
        if request.operation is not Operation.CREATE:
            return Response()
        own = request.object["spec"].get("nodeSelector") or {}
        _check_conflicts(request, self._selector(request, listers), own)
        self._check_allowed(request, own)
        return Response()

    def _selector(self, request: Request, listers: Listers) -> Mapping[str, str]:
        namespace = listers.namespace(request.namespace)
        annotations = annotations_of(namespace) if namespace is not None else {}
        if NODE_SELECTOR in annotations:
            return _labels(annotations[NODE_SELECTOR])
        return _labels(self._selectors.get(_CLUSTER_DEFAULT, ""))

    def _check_allowed(self, request: Request, selector: Mapping[str, str]) -> None:
        allowed = _labels(self._selectors.get(request.namespace, ""))
        if allowed and not selector.items() <= allowed.items():
            raise _forbidden(request, _NOT_ALLOWED)


def _check_conflicts(request: Request, wanted: Mapping[str, str], own: Mapping[str, str]) -> None:
    if any(own.get(key, text) != text for key, text in wanted.items()):
        raise _forbidden(request, _CONFLICT)


def _forbidden(request: Request, detail: str) -> Denied:
    """The refusal that names the Pod by its name alone, never by what it will begin with."""
    name = get(request.object, ("metadata", "name"))
    named = f" {quote(name)}" if name else ""
    return Denied(f"{qualified_resource(request)}{named} is forbidden: {detail}", field=_FIELD)


def _labels(text: str) -> dict[str, str]:
    """The labels of `a=b,c=d`. Raises Denied for another text."""
    found: dict[str, str] = {}
    for part in text.split(",") if text else ():
        pair = part.split("=")
        if len(pair) != 2:
            raise InternalError(f"invalid selector: [{' '.join(pair)}]")
        key, value = pair[0].strip(" \t\n\v\f\r\x85\xa0"), pair[1].strip(" \t\n\v\f\r\x85\xa0")
        _check("<nil>", names.qualified_name, key)
        _check(f"[{key}]", names.label_value, value)
        found[key] = value
    return found


def _check(field: str, check: Callable[[str, names.Wording], list[str]], text: str) -> None:
    reasons = check(text, names.KUBERNETES_1_37)
    if reasons:
        raise InternalError(f"{field}: Invalid value: {quote(text)}: {'; '.join(reasons)}")
