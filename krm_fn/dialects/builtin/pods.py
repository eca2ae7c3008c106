"""The parts of Pods that several plugins go through.

Source: k8s.io/kubernetes pkg/api/pod/util.go.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from krm_fn.values import Json, Path

INIT: Final = "initContainers"
REGULAR: Final = "containers"
EPHEMERAL: Final = "ephemeralContainers"

ALL: Final = (INIT, REGULAR, EPHEMERAL)
"""The lists of containers in the order in which the server visits them."""


def containers(spec: Json, lists: tuple[str, ...] = ALL) -> list[Json]:
    """The containers of a Pod's specification, of the given lists."""
    return [container for name in lists for container in spec.get(name) or ()]


def located(spec: Json, lists: tuple[str, ...] = ALL) -> Iterator[tuple[Path, Json]]:
    """The containers, each with its path in the Pod."""
    for name in lists:
        for n, container in enumerate(spec.get(name) or ()):
            yield ("spec", name, n), container


def with_containers(
    spec: Json, change: Callable[[Json], Json], lists: tuple[str, ...] = ALL
) -> Json:
    """A Pod's specification with changed containers; itself where none changes."""
    out = spec
    for name in lists:
        before = spec.get(name) or []
        after = [change(container) for container in before]
        if any(new is not old for new, old in zip(after, before, strict=True)):
            out = {**out, name: after}
    return out


def with_spec(pod: Json, spec: Json) -> Json:
    """A Pod with another specification; itself where that is its own."""
    return pod if spec is pod["spec"] else {**pod, "spec": spec}


def is_sidecar(container: Json) -> bool:
    """Whether an init container goes on beside the others."""
    return container.get("restartPolicy") == "Always"
