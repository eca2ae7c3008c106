"""`request` and `namespaceObject` as typed objects that CEL reads in place.

Their values are JSON as the Go structs would be encoded; the shapes are what errors call the parts.
For `object`, `oldObject` and `params` of built-in kinds, `lang.cel.view` does without names.
Source: apiserver v0.37, pkg/admission/plugin/cel/activation.go.
"""

from __future__ import annotations

from typing import Any, Final

from krm_fn.lang.cel.values import ObjectShape, view

_KIND: Final = ObjectShape("v1.GroupVersionKind")
_RESOURCE: Final = ObjectShape("v1.GroupVersionResource")

_REQUEST: Final = ObjectShape(
    "v1.AdmissionRequest",
    {
        "kind": _KIND,
        "resource": _RESOURCE,
        "requestKind": _KIND,
        "requestResource": _RESOURCE,
        "userInfo": ObjectShape("v1.UserInfo"),
        "options": ObjectShape("v1.CreateOptions"),
    },
)

_NAMESPACE: Final = ObjectShape(
    "v1.Namespace",
    {
        "metadata": ObjectShape("v1.ObjectMeta"),
        "spec": ObjectShape("v1.NamespaceSpec"),
        "status": ObjectShape(
            "v1.NamespaceStatus", {"conditions": ObjectShape("v1.NamespaceCondition")}
        ),
    },
)


def request(value: dict[str, Any] | None) -> Any:
    """The value of `request`."""
    return view(value, _REQUEST)


def namespace(value: dict[str, Any] | None) -> Any:
    """The value of `namespaceObject`; None where there is none."""
    return view(value, _NAMESPACE)
