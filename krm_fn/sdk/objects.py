"""Several objects: selecting, updating, reading them.

Source: kpt's Go SDK `go/fn` objects.go and object_io.go.
"""

from __future__ import annotations

from collections.abc import Callable

from krm_fn.errors import KrmFnError
from krm_fn.sdk.object import KubeObject
from krm_fn.sdk.scopes import DefinedScopes
from krm_fn.wire import read_stream

Predicate = Callable[[KubeObject], bool]


class KubeObjects(list[KubeObject]):
    """Objects in order, with selections."""

    def where(self, predicate: Predicate) -> KubeObjects:
        """Returns those for which the predicate holds."""
        return KubeObjects(obj for obj in self if predicate(obj))

    def where_not(self, predicate: Predicate) -> KubeObjects:
        """Returns those for which it does not."""
        return KubeObjects(obj for obj in self if not predicate(obj))

    def split(self, predicate: Predicate) -> tuple[KubeObjects, KubeObjects]:
        """Returns those for which the predicate holds, and the others."""
        sides = KubeObjects(), KubeObjects()
        for obj in self:
            sides[not predicate(obj)].append(obj)
        return sides

    def single(self) -> KubeObject:
        """Returns the only object. Raises KrmFnError where there are none or several."""
        if len(self) != 1:
            raise KrmFnError(f"{len(self)} objects found, but exactly 1 is expected")
        return self[0]

    def upsert(self, obj: KubeObject) -> KubeObject:
        """Returns the object of the same identity with the value of `obj`, or `obj`, appended.

        The text of an object that is there already stays where the values are the same.
        """
        for other in self:
            if other.has_same_id(obj):
                if other is not obj:
                    other.item.replace(obj.value)
                return other
        self.append(obj)
        return obj

    def set_annotation(self, key: str, value: str) -> None:
        """Set an annotation of all objects."""
        for obj in self:
            obj.set_annotation(key, value)

    def get_root_kptfile(self) -> KubeObject | None:
        """Returns the Kptfile of the package itself: the one with the shortest path."""
        kptfiles = self.where(lambda obj: obj.is_group_kind("kpt.dev", "Kptfile"))
        return min(kptfiles, key=lambda obj: obj.path_annotation.count("/"), default=None)


def parse_kube_objects(data: str | bytes) -> KubeObjects:
    """Returns the objects of a text: YAML documents, JSON, a List. Raises InputError."""
    stream = read_stream(data.encode() if isinstance(data, str) else data)
    scopes = DefinedScopes(stream)
    return KubeObjects(KubeObject(item, scopes) for item in stream.items)
