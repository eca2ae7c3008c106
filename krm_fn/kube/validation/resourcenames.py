"""Which names of resources are Kubernetes' own, and which are somebody's extension.

Source: k8s.io/kubernetes pkg/apis/core/helper (IsNativeResource, IsExtendedResourceName).
"""

from __future__ import annotations

from typing import Final

from krm_fn.kube.validation.names import qualified_name

_OWN: Final = "kubernetes.io/"
_REQUESTS: Final = "requests."


def is_native(name: str) -> bool:
    """Whether a resource is in the namespace of Kubernetes, as names without one are."""
    return "/" not in name or _OWN in name


def is_extended(name: str) -> bool:
    """Whether a resource is an extension: `example.com/gpu`."""
    if is_native(name) or name.startswith(_REQUESTS):
        return False
    return not qualified_name(_REQUESTS + name)
