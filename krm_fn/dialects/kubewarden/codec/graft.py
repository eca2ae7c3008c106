"""A changed object on the stock of the original: what is equal stays the same Python object.

Policies return whole objects, re-read from JSON and often with sorted keys. What they mean is the
difference: maps keep the order of their keys, lists their elements.
"""

from __future__ import annotations

from typing import Any

from krm_fn.values import align, equal


def graft(old: Any, new: Any) -> Any:
    """`new` as a value, with `old`'s own parts wherever they are equal, in `old`'s order."""
    if equal(old, new):
        return old
    if type(old) is dict and type(new) is dict:
        kept = {key: graft(member, new[key]) for key, member in old.items() if key in new}
        return kept | {key: member for key, member in new.items() if key not in old}
    if type(old) is list and type(new) is list:
        result = list(new)
        for i, j in align(old, new):
            if i is not None and j is not None:
                result[j] = graft(old[i], new[j])
        return result
    return new
