"""The Pods of templates, put among the objects to be looked at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from krm_fn.admission.pods import cut_name, is_preview
from krm_fn.values import Json
from krm_fn.wire import Head, Item, Stream
from krm_fn.wire.stream import head_of


def put_previews(streams: Sequence[Stream], previews: Mapping[Item, Sequence[Json]]) -> None:
    """Add the Pods of templates to the streams; those of an earlier run are replaced or go.

    Pods of objects that have one name are numbered, in the order of the objects.
    """
    taken: dict[Head, int] = {}
    for stream in streams:
        pods = (pod for item in stream.items for pod in previews.get(item, ()))
        wanted = {head_of(pod): pod for pod in (_with_own_name(pod, taken) for pod in pods)}
        for item in stream.items:
            if item.head.kind == "Pod" and is_preview(item.value):
                pod = wanted.pop(item.head, None)
                if pod is None:
                    item.dropped = True
                else:
                    item.replace(pod)
        stream.drop_added(is_preview)
        for pod in wanted.values():
            stream.add(pod)


def _with_own_name(pod: Json, taken: dict[Head, int]) -> Json:
    """A preview under a name that no other one has; `taken` counts those of each name."""
    first, name = head_of(pod), pod["metadata"]["name"]
    while head_of(pod) in taken:
        taken[first] += 1
        pod = {**pod, "metadata": {**pod["metadata"], "name": cut_name(f"{name}-{taken[first]}")}}
    taken[head_of(pod)] = 1
    return pod
