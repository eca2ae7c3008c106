"""Put an apply configuration into a live object: check both, guard what is atomic, merge.

What the patch does not name stays as it is, as the same Python objects. Lists come out in the order
of a walk over both (`_merged_lists`); nothing is ever removed.
Source: apiserver v0.37 pkg/admission/plugin/policy/mutating/patch/smd.go; structured-merge-diff
v6.4 typed/merge.go.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable
from typing import Any

from krm_fn.errors import EvaluationError
from krm_fn.kube.merge.atoms import Atom, ListAtom, MapAtom
from krm_fn.kube.merge.check import (
    Identity,
    MergeRefusal,
    atomics,
    identity_of,
    is_list,
    members,
    narrowed,
    refusals,
)
from krm_fn.values import MISSING, Json


class MergeError(EvaluationError):
    """A patch cannot be applied; the message is the API server's."""


def apply_configuration(
    atom: Atom, live: Json, patch: Json, *, guard: bool = True, typed: bool = False
) -> Json:
    """The live object with the patch merged in: JSON, and `NIL_LIST` where the patch had that.

    `guard`: refuse to set what merges as one value, as the API server does. `typed`: the live
    object is of a Go type, and need not be checked. Raises MergeError.
    """
    _check("patch", refusals(atom, patch))
    if guard:
        found = ", ".join(atomics(atom, patch))
        if found:
            raise MergeError(
                "invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: "
                + found
            )
    if not typed:
        _check("original", refusals(atom, live, duplicates=True))
    merged: Json = _merged(atom, live, patch)
    return merged


def _check(which: str, wrong: Iterable[MergeRefusal]) -> None:
    found = list(map(str, wrong))
    if found:
        text = found[0] if len(found) == 1 else "\n  ".join(["errors:", *found])
        raise MergeError(f"failed to convert {which} object to typed object: {text}")


def _merged(atom: Atom, live: Any, patch: Any) -> Any:
    """Both values merged; either may be MISSING."""
    if patch is MISSING:
        return live
    if live is MISSING or live is None:
        return patch
    form = narrowed(atom, patch)
    if form.map is not None and type(live) is dict and not form.map.atomic:
        return _merged_maps(form.map, live, patch or {}) if live or patch else patch
    if form.list is not None and not form.scalar and is_list(live) and form.list.associative:
        # An empty list beside an empty one is taken from the patch.
        either = members(live) or members(patch)
        return _merged_lists(form.list, members(live), members(patch)) if either else patch
    return patch


def _merged_maps(atom: MapAtom, live: Json, patch: Json) -> Json:
    changed: Json = {}
    for key, value in patch.items():
        ref = atom.fields.get(key) or atom.element
        assert ref is not None
        before = live.get(key, MISSING)
        after = _merged(ref(), before, value)
        if after is not before:
            changed[key] = after
    return {**live, **changed} if changed else live


def _merged_lists(atom: ListAtom, live: list[Any], patch: list[Any]) -> list[Any]:
    """A walk over both lists: equal heads merge; what only the live list has is taken at once.

    A live element that the patch names, too, but not as the next of those that both have, is left
    out until the patch comes to it. Otherwise the head of the patch is taken, so that new elements
    stand in front of the next one that both have.
    """
    if not patch:
        return live
    of_live = [identity_of(atom, member)[0] for member in live]
    of_patch = [identity_of(atom, member)[0] for member in patch]
    times = Counter(of_live)
    # Of a duplicate nothing but what the patch says remains.
    once = {
        name: member if times[name] == 1 else MISSING
        for name, member in zip(of_live, live, strict=True)
    }
    named = set(of_patch)
    shared = deque(name for name in of_patch if name in once)
    taken: set[Identity] = set()
    merged: list[Any] = []
    heads = deque(zip(of_live, live, strict=True))
    patches = deque(zip(of_patch, patch, strict=True))

    def take() -> None:
        name, value = patches.popleft()
        taken.add(name)
        merged.append(_merged(atom.element(), once.get(name, MISSING), value))
        if shared and shared[0] == name:
            shared.popleft()

    while heads or patches:
        if heads and patches:
            name = heads[0][0]
            if name == patches[0][0]:
                heads.popleft()
                take()
                continue
            if name in named and shared and shared[0] != name:
                heads.popleft()
                continue
        if heads:
            name, member = heads[0]
            if name not in named:
                merged.append(member)
                heads.popleft()
                continue
            if name in taken:
                heads.popleft()
        if patches:
            take()
    return merged
