"""Three-way merge of values: the changes that lead from one value to another, made in a third one.

What built-in plugins set is taken out of an object by it before rules' changes are written, and put
back for the next rule to see. Knows values, and no plugin.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from krm_fn.values import MISSING, align, equal


def merged(base: Any, theirs: Any, ours: Any) -> Any:
    """`ours` with what `theirs` changed of `base`; where both changed a value, ours stays.

    Any of them may be MISSING, which stands for a value that is not there; so may the result.
    Elements of lists are told apart as `values.align` does; one that theirs removed and ours
    changed stays whole. Untouched subtrees are the same objects.
    """
    if ours is base or equal(ours, base):
        return theirs
    if theirs is base or equal(theirs, base) or equal(theirs, ours):
        return ours
    kinds = {type(value) for value in (base, theirs, ours) if value is not MISSING}
    if ours is MISSING or len(kinds) != 1:
        return ours
    kind = kinds.pop()
    if kind is dict:
        return _members(_or(base, {}), _or(theirs, {}), ours) or _or_empty(theirs, ours)
    if kind is list:
        return _elements(_or(base, []), _or(theirs, []), ours) or _or_empty(theirs, ours)
    return ours


def _or(value: Any, empty: Any) -> Any:
    return empty if value is MISSING else value


def _or_empty(theirs: Any, ours: Any) -> Any:
    """What an empty result is where nothing was there before: nothing again."""
    return MISSING if theirs is MISSING else type(ours)()


def _members(base: dict[str, Any], theirs: dict[str, Any], ours: dict[str, Any]) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for key, value in ours.items():
        member = merged(base.get(key, MISSING), theirs.get(key, MISSING), value)
        if member is not MISSING:
            result[key] = member
    for key, value in theirs.items():
        if key not in ours and key not in base:
            result[key] = value
    return result


def _elements(base: Sequence[Any], theirs: Sequence[Any], ours: Sequence[Any]) -> list[Any]:
    partners = {i: j for i, j in align(base, theirs) if i is not None}
    added = _added(base, theirs)
    of_ours = {j: i for i, j in align(base, ours) if j is not None and i is not None}
    result: list[Any] = []
    taken = 0
    for j, element in enumerate(ours):
        i = of_ours.get(j)
        if i is None:
            result.append(element)
            continue
        while taken < len(added) and added[taken][0] < i:
            result.append(added[taken][1])
            taken += 1
        partner = partners.get(i)
        if partner is not None:
            result.append(merged(base[i], theirs[partner], element))
        elif not equal(base[i], element):
            result.append(element)
    return [*result, *(element for _, element in added[taken:])]


def _added(base: Sequence[Any], theirs: Sequence[Any]) -> list[tuple[int, Any]]:
    """The elements that only `theirs` has, each with the index in `base` that it stands behind."""
    found: list[tuple[int, Any]] = []
    behind = -1
    for i, j in align(base, theirs):
        if i is not None:
            behind = i
        elif j is not None:
            found.append((behind, theirs[j]))
    return found
