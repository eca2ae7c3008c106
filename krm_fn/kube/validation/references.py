"""References from variables and files into the Pod itself: the downward API.

Source: Kubernetes 1.32 pkg/apis/core/validation/validation.go validateObjectFieldSelector,
validateContainerResourceFieldSelector; pkg/apis/core/pods ConvertDownwardAPIFieldLabel.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from krm_fn.kube.validation.fields import each, invalid, not_supported, required
from krm_fn.kube.validation.names import qualified_name
from krm_fn.values import Json

VARIABLE_FIELDS: Final = (
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
    "spec.nodeName",
    "spec.serviceAccountName",
    "status.hostIP",
    "status.hostIPs",
    "status.podIP",
    "status.podIPs",
)
VOLUME_FIELDS: Final = (
    "metadata.annotations",
    "metadata.labels",
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
)
_POD_FIELDS: Final = frozenset(
    {
        *VARIABLE_FIELDS,
        *VOLUME_FIELDS,
        "spec.restartPolicy",
        "spec.schedulerName",
        "status.phase",
    }
)
_WITH_KEYS: Final = ("metadata.annotations", "metadata.labels")
_RESOURCES: Final = tuple(
    f"{kind}.{name}"
    for kind in ("limits", "requests")
    for name in ("cpu", "ephemeral-storage", "memory")
)


def subscripted(path: str) -> tuple[str, str]:
    """`metadata.labels['x']` as its two parts; a path without subscript has no first part.

    Source: Kubernetes pkg/fieldpath SplitMaybeSubscriptedPath.
    """
    if not path.endswith("']"):
        return "", path
    before, opening, key = path[:-2].partition("['")
    return (before, key) if opening and before else ("", path)


def field_reference(value: Json, fields: Sequence[str] | None, path: str) -> Iterator[str]:
    """What is wrong with a fieldRef that may name `fields`; None for none."""
    version, field = value.get("apiVersion", ""), value.get("fieldPath", "")
    if not version or not field:
        yield required(f"{path}.{'fieldPath' if version else 'apiVersion'}")
        return
    known = frozenset() if fields is None else _POD_FIELDS
    reason = _unconvertible(version, field, known)
    if reason:
        yield invalid(f"{path}.fieldPath", field, f"error converting fieldPath: {reason}")
        return
    owner, key = subscripted(field)
    if owner:
        checked = key.lower() if owner == "metadata.annotations" else key
        shown = checked if fields is not None else key
        yield from each(path, shown, qualified_name(checked))
        return
    field = "spec.nodeName" if field == "spec.host" else field
    if fields is not None and field not in fields:
        yield not_supported(f"{path}.fieldPath", field, fields)


def _unconvertible(version: str, field: str, known: frozenset[str]) -> str:
    if version != "v1":
        return f"unsupported pod version: {version}"
    owner, _ = subscripted(field)
    if owner:
        supported = owner in _WITH_KEYS
        return "" if supported else f"field label does not support subscript: {field}"
    if field in known or (known and field == "spec.host"):
        return ""
    return f"field label not supported: {field}"


def resource_reference(value: Json, path: str, *, in_volume: bool) -> Iterator[str]:
    """What is wrong with a resourceFieldRef."""
    resource = value.get("resource", "")
    huge = resource.startswith(("limits.hugepages-", "requests.hugepages-"))
    if in_volume and not value.get("containerName"):
        yield required(f"{path}.containerName")
    elif not resource:
        yield required(f"{path}.resource")
    elif resource not in _RESOURCES and not huge:
        yield not_supported(f"{path}.resource", resource, _RESOURCES)
    divisor = value.get("divisor", "0")
    if divisor == "0":
        return
    kind = "hugepages" if huge else resource.partition(".")[2]
    if kind in _DIVISORS and resource:
        allowed, message = _DIVISORS[kind]
        if divisor not in allowed:
            yield invalid(f"{path}.divisor", resource, f"only divisor's values {message}")


_SIZES: Final = ("1", *(f"1{unit}" for unit in (*"kMGTPE", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei")))
_DIVISORS: Final = {
    "cpu": (("1m", "1"), "1m and 1 are supported with the cpu resource"),
    **{
        kind: (_SIZES, f"{', '.join(_SIZES)} are supported with the {shown} resource")
        for kind, shown in (
            ("memory", "memory"),
            ("ephemeral-storage", "local ephemeral storage"),
            ("hugepages", "hugepages"),
        )
    },
}
