"""What a top-level `items` makes of an object: which objects later readers take out of it.

To kubectl an object of any kind with `items` is a list, and not an object at all; to kyaml it is
the object, unless its kind ends in List. So both are admitted: the elements, and the outer one,
where there is a reader to whom it is one. Knows heads only, no text.
Source: apimachinery pkg/apis/meta/v1/unstructured/helpers.go (decodeToList); cli-runtime
pkg/resource/visitor.go (FlattenListVisitor); kustomize api/resource/factory.go.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from krm_fn.wire.scan import Head

_LIST: Final = "List"


def is_itself(outer: Head) -> bool:
    """Whether some reader takes an object that has `items` for an object of its own.

    What is called a list is one to all of them, unless it has a name as an object needs one.
    """
    if not outer.kind.endswith(_LIST):
        return True
    return bool(outer.name) and not is_plain(outer)


def is_plain(outer: Head) -> bool:
    """Whether an object is the List of objects of any kind."""
    return outer.kind == _LIST


def inherited(outer: Head, head: Head) -> dict[str, str]:
    """What kubectl adds to an element: the outer apiVersion and kind, a final List left out, where
    it has neither."""
    if head.kind or head.api_version:
        return {}
    return {"apiVersion": outer.api_version, "kind": outer.kind.removesuffix(_LIST)}


def counts(outer: Head, head: Head, has_metadata: Callable[[], bool]) -> bool:
    """Whether an element in a ResourceList is an object to some later reader.

    One with a kind is. One without is where the outer kind ends in List, as kubectl completes it
    once it is a file again; without metadata it has no name, and no server takes it: such are the
    results that kpt leaves behind (a FunctionResultList), or the entries of a custom AllowList.
    In a plain List nothing but objects may stand.
    """
    if head.kind or is_plain(outer):
        return True
    return outer.kind.endswith(_LIST) and has_metadata()
