"""Field masks of Kubernetes reads: which fields of an object a policy asked for.

Source: policy-evaluator callback_handler/kubernetes/field_mask.rs, as observed;
vectors' README, 40.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from krm_fn.values import Json

Tree = dict[str, Any]
_ALWAYS: Final = ("apiVersion", "kind", "metadata")


def prune(value: Json, masks: Iterable[str]) -> Json:
    """The object with what the masks name; all of it without masks.

    A longer mask narrows a shorter one. Lists are passed through, scalars stay where a mask leads
    on through them. apiVersion, kind and metadata are always there.
    """
    tree: Tree = {}
    for mask in masks:
        at = tree
        for step in mask.split("."):
            at = at.setdefault(step, {})
    if not tree:
        return value
    kept = _pruned({k: v for k, v in value.items() if k not in _ALWAYS}, tree)
    return {**{k: value[k] for k in _ALWAYS if k in value}, **kept}


def _pruned(value: Any, tree: Tree) -> Any:
    if not tree:
        return value
    if type(value) is list:
        return [_pruned(member, tree) for member in value]
    if type(value) is dict:
        return {key: _pruned(value[key], below) for key, below in tree.items() if key in value}
    return value
