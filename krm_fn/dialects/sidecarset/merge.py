"""Sidecars, volumes and pull secrets into a Pod.

Source: OpenKruise v1.9.0 pkg/webhook/pod/mutating/sidecarset.go mergeSidecarContainers,
pkg/util MergeVolumes; the SidecarSet specification, A7 and A10.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from krm_fn.dialects.sidecarset.build import Built, Sidecar
from krm_fn.dialects.sidecarset.types import kubernetes
from krm_fn.errors import DecodeError
from krm_fn.values import Json, equal, get


def merged(pod: Json, built: Sequence[Built], *, by_name: bool) -> Json:
    """A Pod with what the sets bring, the same object where it has all that.

    With `by_name` containers come sorted. Init containers always do, those of all sets together.
    """
    spec = pod.get("spec") or {}
    inits = sorted((s for one in built for s in one.init_containers), key=lambda s: s.name)
    containers = [s for one in built for s in one.containers]
    if by_name:
        containers.sort(key=lambda s: s.name)
    volumes = [volume for one in built for volume in one.volumes]
    secrets = [secret for one in built for secret in one.set.spec.get("imagePullSecrets", ())]
    lists = {
        "initContainers": _with_sidecars(spec.get("initContainers"), inits),
        "containers": _with_sidecars(spec.get("containers"), containers),
        "volumes": _with_new(spec.get("volumes"), volumes),
        "imagePullSecrets": _distinct([*(spec.get("imagePullSecrets") or ()), *secrets]),
    }
    # What stays as it was stays the same object, and an absent list stays absent.
    changed = {name: new for name, new in lists.items() if not equal(new, spec.get(name) or [])}
    return {**pod, "spec": {**spec, **changed}} if changed else pod


def _with_sidecars(own: Any, sidecars: Iterable[Sidecar]) -> list[Json]:
    """A sidecar replaces the container of its name; others come before or after."""
    containers: list[Json] = list(own or ())
    places = {name(container): n for n, container in enumerate(containers)}
    before: list[Json] = []
    after: list[Json] = []
    for sidecar in sidecars:
        place = places.get(sidecar.name)
        if place is not None:
            if not _same(containers[place], sidecar.container):
                containers[place] = sidecar.container
        else:
            (before if sidecar.before else after).append(sidecar.container)
    return [*before, *containers, *after]


def name(element: Any) -> str:
    """The name of an element of a Pod's list, which may be null where the Pod is as written."""
    return str(get(element, ("name",)) or "")


def _same(there: Json, container: Json) -> bool:
    """Whether the API server would show both as one, since it fills in the same defaults.

    A sidecar of an earlier run comes back with them, and stays as it is.
    """
    if equal(there, container):
        return True
    if not (there.keys() >= container.keys() and there.get("image") == container.get("image")):
        return False
    try:
        return equal(_shown(there), _shown(container))
    except DecodeError:
        return False


def _shown(container: Json) -> Any:
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {}, "spec": {"containers": [container]}}
    return kubernetes().form(pod).object["spec"]["containers"][0]


def _with_new(own: Any, volumes: Iterable[Json]) -> list[Json]:
    """The Pod's own volumes win, silently."""
    result: list[Json] = list(own or ())
    names = {name(volume) for volume in result}
    for volume in volumes:
        if volume["name"] not in names:
            names.add(volume["name"])
            result.append(volume)
    return result


def _distinct(secrets: Iterable[Json]) -> list[Json]:
    found: dict[Any, Json] = {}
    for secret in secrets:
        found.setdefault(name(secret), secret)
    return list(found.values())


def same_names(built: Sequence[Built], pod: Json) -> list[tuple[str, list[Built]]]:
    """Containers that several sidecars would become, with the sets that bring them."""
    clashes: list[tuple[str, list[Built]]] = []
    for kind in ("initContainers", "containers"):
        there = {name(container) for container in get(pod, ("spec", kind)) or ()}
        bringing: dict[str, list[Built]] = {}
        for one in built:
            for sidecar in one.init_containers if kind == "initContainers" else one.containers:
                bringing.setdefault(sidecar.name, []).append(one)
        clashes += (
            (name, sets) for name, sets in bringing.items() if len(sets) > 1 and name not in there
        )
    return clashes
