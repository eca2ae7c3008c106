"""What a sidecar gets from the Pod's own containers: mounts, devices and environment variables.

Works on the containers as they were before any sidecar of this run was put in.
Source: OpenKruise v1.9.0 pkg/control/sidecarcontrol/util.go, util_volume.go; the SidecarSet
specification, A9.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Final

from krm_fn import limits
from krm_fn.errors import LimitError
from krm_fn.kube.validation.names import qualified_name
from krm_fn.kube.validation.references import subscripted
from krm_fn.values import Json, get

INJECTED: Final = "IS_INJECTED"

_VARIABLE: Final = r"\$\(([-._a-zA-Z][-._a-zA-Z0-9]*)\)"


class AppContainers:
    """The containers of a Pod that sidecars take from."""

    def __init__(self, pod: Json, written: frozenset[str]) -> None:
        """`written` are the containers that this run replaces: nothing is taken from those."""
        self._left = limits.SIDECAR_PARTS
        containers = get(pod, ("spec", "containers")) or ()
        self._pod = pod
        self._all = [one for one in containers if one.get("name") not in written]
        self._mine = [one for one in self._all if not _is_injected(one)]

    def take(self, parts: Iterable[Json]) -> Iterator[Json]:
        """What one sidecar gets, counted. Raises LimitError where all together get too much."""
        for part in parts:
            self._left -= 1
            if self._left < 0:
                bound = f"{limits.SIDECAR_PARTS:,} mounts, devices and variables"
                raise LimitError(f"the sidecars of a Pod get more than {bound} of its containers")
            yield part

    @cached_property
    def mounts(self) -> list[Json]:
        """The mounts of all containers that no SidecarSet ever injected."""
        return [mount for one in self._mine for mount in one.get("volumeMounts") or ()]

    @cached_property
    def devices(self) -> list[Json]:
        """The devices of these containers."""
        return [device for one in self._mine for device in one.get("volumeDevices") or ()]

    @cached_property
    def path_variables(self) -> list[Json]:
        """The variables that the mounts' subPathExpr name, the first that its container has."""
        found: list[Json] = []
        for container in self._mine:
            first: dict[str, Json] = {}
            for variable in container.get("env") or ():
                first.setdefault(variable["name"], variable)
            for mount in container.get("volumeMounts") or ():
                names = re.findall(_VARIABLE, mount.get("subPathExpr") or "")
                found += (first[name] for name in names if name in first)
        return found

    def transferred(self, entries: Iterable[Json], annotations: dict[str, str]) -> Iterator[Json]:
        """The variables that transferEnv asks for; what is not there is left out."""
        for entry in entries:
            source = self._source(entry, annotations)
            wanted = {*entry.get("envNames", ()), entry.get("envName", "")}
            keys = [] if source is None else [f"{source}/{name}" for name in sorted(wanted)]
            yield from (self._variables[key] for key in keys if key in self._variables)

    @cached_property
    def _variables(self) -> dict[str, Json]:
        """All variables, by container and name; the last of a name counts."""
        return {
            f"{container.get('name')}/{variable.get('name')}": variable
            for container in self._all
            for variable in container.get("env") or ()
        }

    def _source(self, entry: Json, annotations: dict[str, str]) -> str | None:
        """The name of the container to take from; None where it cannot be read."""
        reference = get(entry, ("sourceContainerNameFrom", "fieldRef"))
        if reference is None:
            return str(entry.get("sourceContainerName", ""))
        path, key = subscripted(reference.get("fieldPath", ""))
        if path == "metadata.annotations" and not qualified_name(key.lower()):
            return annotations.get(key, "")
        if path == "metadata.labels" and not qualified_name(key):
            labels = get(self._pod, ("metadata", "labels")) or {}
            return str(labels.get(key, ""))
        return None


def _is_injected(container: Json) -> bool:
    for variable in container.get("env") or ():
        if variable.get("name") == INJECTED:
            return bool(variable.get("value") == "true")
    return False


def with_variables(own: Sequence[Json], more: Iterable[Json]) -> list[Json]:
    """Environment variables, without those of which the name is there already."""
    return _joined(own, more, "name")


def with_mounts(own: Sequence[Json], devices: Iterable[Json], more: Iterable[Json]) -> list[Json]:
    """Mounts, without those on a path that an own mount or device has."""
    taken = {device.get("devicePath") for device in devices}
    free = (mount for mount in more if mount.get("mountPath") not in taken)
    return _joined(own, free, "mountPath")


def with_devices(own: Sequence[Json], mounts: Iterable[Json], more: Iterable[Json]) -> list[Json]:
    """Devices, without those on a path that a mount or another device has."""
    taken = {mount.get("mountPath") for mount in mounts}
    free = (device for device in more if device.get("devicePath") not in taken)
    return _joined(own, free, "devicePath")


def _joined(own: Sequence[Json], more: Iterable[Json], key: str) -> list[Json]:
    joined = list(own)
    seen = {one.get(key) for one in own}
    for one in more:
        if one.get(key) not in seen:
            seen.add(one.get(key))
            joined.append(one)
    return joined
