"""The Secrets that a Pod refers to, wherever it does.

Source: k8s.io/kubernetes pkg/api/pod/util.go VisitPodSecretNames.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from krm_fn.dialects.builtin.pods import containers
from krm_fn.values import Json, Path, get

_IN_VOLUMES: Final[tuple[Path, ...]] = (
    ("azureFile", "secretName"),
    ("cephfs", "secretRef", "name"),
    ("cinder", "secretRef", "name"),
    ("flexVolume", "secretRef", "name"),
    ("rbd", "secretRef", "name"),
    ("secret", "secretName"),
    ("scaleIO", "secretRef", "name"),
    ("iscsi", "secretRef", "name"),
    ("storageos", "secretRef", "name"),
    ("csi", "nodePublishSecretRef", "name"),
)


def referenced_secrets(spec: Json) -> Iterator[str]:
    """The names of the Secrets of a Pod's specification; empty ones are none."""
    return filter(None, _names(spec))


def _names(spec: Json) -> Iterator[str]:
    for reference in spec.get("imagePullSecrets") or ():
        yield reference.get("name", "")
    for container in containers(spec):
        for source in container.get("envFrom") or ():
            yield get(source, ("secretRef", "name"), "")
        for variable in container.get("env") or ():
            yield get(variable, ("valueFrom", "secretKeyRef", "name"), "")
    for volume in spec.get("volumes") or ():
        for path in _IN_VOLUMES:
            yield get(volume, path, "")
        for source in get(volume, ("projected", "sources")) or ():
            yield get(source, ("secret", "name"), "")
