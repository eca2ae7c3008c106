"""The forms in which rules see objects: served, and as a cluster has stored them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Final

from krm_fn.admission import Cluster
from krm_fn.admission.objectview import view_of
from krm_fn.config.options import ObjectForm, Options
from krm_fn.run.definitions import Definitions
from krm_fn.run.target import without_marks
from krm_fn.values import Json, Path
from krm_fn.wire import Item
from krm_fn.wire.stream import head_of
from krm_fn.wire.words import Expect

if TYPE_CHECKING:
    from krm_fn.kube.schema import Schemas
    from krm_fn.kube.served import Served


class StoredForm:
    """Objects as a cluster holds them: served, in the namespace that they are admitted in.

    Each is made when somebody asks for it, once.
    """

    def __init__(self, served: Served | None, described: Cluster) -> None:
        self._served = served
        self._described = described
        self.read: set[Item] = set()
        """The items that rules have read, beside the object that they were asked about."""
        self.passed_over: dict[Item, None] = {}
        """The items that rules have asked for and that do not reach the cluster."""

    def of_context(self, value: Json) -> Callable[[], Json | None]:
        """What makes an object of the context, which is in the cluster already."""

        @cache
        def make() -> Json:
            made = self._made(value, created=False)
            metadata = value.get("metadata")
            kept = metadata if type(metadata) is dict else {}
            system = {key: kept[key] for key in _SYSTEM if key in kept}
            return {**made, "metadata": {**made["metadata"], **system}} if system else made

        return make

    def of_item(self, item: Item, leaving: Callable[[Item], bool]) -> Callable[[], Json | None]:
        """What makes the object of an item, None where it does not reach the cluster."""
        before = item.replaced  # as this stage finds it, whatever becomes of it

        @cache
        def make() -> Json | None:
            if not leaving(item):
                self.passed_over[item] = None
                return None
            self.read.add(item)
            return self._made(without_marks(before or item.original), created=True)

        return make

    def namespace(self, value: Json) -> Json:
        """A Namespace as it is, once it was created."""
        return self._made(value, created=True)

    def _made(self, value: Json, *, created: bool) -> Json:
        namespace = self._described.subject_of(head_of(value)).namespace
        view = view_of(value, namespace, self._served)
        shown = view.served(value)
        return view.stored(shown) if created else shown


_SYSTEM: Final = ("creationTimestamp", "deletionTimestamp", "generation", "resourceVersion", "uid")


@lru_cache(maxsize=8)
def _schemas(version: str) -> Schemas:
    """The schemas of a release, read once for all runs of the process."""
    from krm_fn.kube.schema import Schemas

    return Schemas(version)


def served_form(options: Options, crds: Mapping[tuple[str, str], Json]) -> Served | None:
    """What makes the form in which rules see objects; None for the one in which they are written.

    Imported here, since nothing of it is needed where no object is admitted.
    """
    if options.object_form is ObjectForm.AS_WRITTEN:
        return None
    from krm_fn.kube.served import Served

    def find_crd(group: str, kind: str) -> Json | None:
        return crds.get((group, kind))

    user = options.context.user
    info = {
        "username": user.username,
        "uid": user.uid,
        "groups": list(user.groups),
        "extra": {name: list(values) for name, values in user.extra.items()},
    }
    return Served(_schemas(options.context.kubernetes_version), find_crd, info)


def expected_types(options: Options, definitions: Definitions) -> Expect:
    """The types of fields, for words such as `yes`; loaded when the first of these is met."""
    expected: Expect | None = None

    def expect(api_version: str, kind: str, path: Path) -> type | None:
        nonlocal expected
        if expected is None:
            from krm_fn.kube.expected import Expected

            schemas = _schemas(options.context.kubernetes_version)
            expected = Expected(schemas, lambda group, kind: definitions.get((group, kind)))
        return expected(api_version, kind, path)

    return expect
