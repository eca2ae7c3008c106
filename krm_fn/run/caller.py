"""Who starts the program, and which objects therefore reach the cluster.

kpt and kustomize drop objects with the annotation local-config before they apply; nobody else does.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from krm_fn.values import Json, get
from krm_fn.wire import Item
from krm_fn.wire.wellknown import LOCAL_CONFIG


class Caller(StrEnum):
    """Who starts the program: kpt and kustomize, which drop local-config, or anybody else."""

    FUNCTION = "function"
    COMMAND = "command"

    def spelling(self, field: str, flag: str) -> str:
        """How the caller sets an option: as a field of the functionConfig, or as a flag."""
        return field if self is Caller.FUNCTION else flag


def is_local(value: Json) -> bool:
    """Whether an object is marked as one that kpt and kustomize do not apply."""
    return bool(get(value, ("metadata", "annotations", LOCAL_CONFIG)) == "true")


class ReachesCluster:
    """Whether an object reaches the cluster by this program's output."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def __call__(self, item: Item) -> bool:
        if item.dropped:
            return False
        annotations = get(item.value, ("metadata", "annotations"))
        if type(annotations) is not dict:
            return True
        hooks = annotations.get(_HOOK)
        if type(hooks) is str and "Skip" in (hook.strip() for hook in hooks.split(",")):
            return False
        return self._caller is not Caller.FUNCTION or not is_local(item.value)


_HOOK: Final = "argocd.argoproj.io/hook"
