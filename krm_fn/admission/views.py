"""What a plugin sees of an item, and how its edits come back.

An item carries what the API server would never show: annotations of the tools around us. And it
lacks what the API server would have filled in: the namespace, defaults. A view hides the one and
adds the other, and puts both back where they were. The law of every view: `put(v, get(v))` is
`(v, ())`, with the very same object.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple, Protocol

from krm_fn.kube.writeback import write_back
from krm_fn.values import MISSING, Json, Path, equal, with_at
from krm_fn.wire import wellknown


class Unwritable(NamedTuple):
    """An edit that could not be written back: where, why, and whether the object is refused."""

    path: Path
    why: str
    denies: bool = True


class View(Protocol):
    """What a plugin sees of a value."""

    def get(self, value: Json) -> Json:
        """The value as the plugin sees it."""
        ...

    def put(self, value: Json, admitted: Json) -> tuple[Json, tuple[Unwritable, ...]]:
        """`value` with what the plugin changed, and what could not be written back."""
        ...


_HIDDEN_PREFIXES: Final = (
    *wellknown.INTERNAL,
    "kustomize.config.k8s.io/",
    "postrenderer.helm.sh/",
)
_HIDDEN: Final = frozenset(
    {
        wellknown.PATH[1],
        wellknown.INDEX[1],
        wellknown.ID[1],
        wellknown.ORIGIN,
        wellknown.LOCAL_CONFIG,
        "config.kubernetes.io/function",
        "config.k8s.io/function",
        "alpha.config.kubernetes.io/transformations",
    }
)
_ANNOTATIONS: Final = ("metadata", "annotations")
_TOOLS: Final = "it belongs to the tool that runs this function"
_MOVED: Final = "an admission may not move an object to another namespace"


def is_hidden(key: str) -> bool:
    """Whether an annotation belongs to the tools around us, not to the object."""
    return key in _HIDDEN or key.startswith(_HIDDEN_PREFIXES)


class HiddenAnnotations:
    """Annotations of kustomize, kpt and Helm are not there for rules, and stay as they are."""

    def get(self, value: Json) -> Json:
        annotations = _annotations(value)
        if annotations is None or not any(map(is_hidden, annotations)):
            return value
        shown = {k: v for k, v in annotations.items() if not is_hidden(k)}
        return _with_annotations(value, shown or MISSING)

    def put(self, value: Json, admitted: Json) -> tuple[Json, tuple[Unwritable, ...]]:
        before = _annotations(value) or {}
        after = _annotations(admitted)
        hidden = {k: v for k, v in before.items() if is_hidden(k)}
        unwritable = tuple(
            Unwritable((*_ANNOTATIONS, key), _TOOLS) for key in after or () if is_hidden(key)
        )
        if not hidden:
            if not unwritable:
                return admitted, ()
            assert after is not None
            kept = {k: v for k, v in after.items() if not is_hidden(k)}
            return _with_annotations(admitted, kept or MISSING), unwritable
        if after is not None and not unwritable:
            shown = {k: v for k, v in before.items() if not is_hidden(k)}
            if equal(shown, after):
                return _with_annotations(admitted, before), ()
        merged = {
            key: hidden[key] if key in hidden else (after or {})[key]
            for key in before
            if key in hidden or key in (after or {})
        }
        for key, text in (after or {}).items():
            if key not in merged and not is_hidden(key):
                merged[key] = text
        if equal(merged, before):
            merged = before
        return _with_annotations(admitted, merged), unwritable


class DefaultNamespace:
    """A namespaced object without a namespace is seen in the namespace it would be created in."""

    def __init__(self, namespace: str) -> None:
        self.namespace = namespace

    def get(self, value: Json) -> Json:
        if not self.namespace or _namespace(value):
            return value
        metadata = value.get("metadata")
        metadata = metadata if type(metadata) is dict else {}
        shown: dict[str, Any] = {}
        for key, member in metadata.items():
            if key != "namespace":
                shown[key] = member
        shown["namespace"] = self.namespace
        return {**value, "metadata": shown}

    def put(self, value: Json, admitted: Json) -> tuple[Json, tuple[Unwritable, ...]]:
        """The API server refuses an admission that moves an object: that edit is unwritable."""
        before = _namespace(value)
        seen = before or self.namespace
        after = _namespace(admitted)
        unwritable = (Unwritable(("metadata", "namespace"), _MOVED),) if after != seen else ()
        metadata = admitted.get("metadata")
        if type(metadata) is not dict:
            return admitted, unwritable
        original = value.get("metadata")
        original = original if type(original) is dict else {}
        if "namespace" in original:
            if equal(metadata.get("namespace", MISSING), original["namespace"]):
                return admitted, unwritable
            restored: Any = {**metadata, "namespace": original["namespace"]}
        else:
            if "namespace" not in metadata:
                return admitted, unwritable
            restored = {k: v for k, v in metadata.items() if k != "namespace"}
        if equal(restored, original):
            if "metadata" not in value:
                return {k: v for k, v in admitted.items() if k != "metadata"}, unwritable
            # The very same object, or the null that stood there.
            restored = value["metadata"]
        return {**admitted, "metadata": restored}, unwritable


class ServedForm:
    """The object as the API server shows it: typed and with defaults.

    `show` makes that form of an object; it may refuse one that a rule changed, and what it raises
    goes through. What it makes of an object twice is the same, so that the last answer is kept;
    `last` is an object with what `show` has made of it before.
    """

    def __init__(self, show: Callable[[Json], Json], last: tuple[Json, Json] | None = None) -> None:
        self._show = show
        self._last = last

    def get(self, value: Json) -> Json:
        if self._last is None or not equal(self._last[0], value):
            self._last = value, self._show(value)
        return self._last[1]

    def put(self, value: Json, admitted: Json) -> tuple[Json, tuple[Unwritable, ...]]:
        """The least edit of the manifest that is shown as what the rules made."""
        result = write_back(value, self.get(value), admitted, self._show)
        self._last = result.written, result.shown
        return result.written, tuple(Unwritable(path, _NO_WAY_BACK, False) for path in result.lost)


_NO_WAY_BACK: Final = "there is nothing to write in the manifest that the API server shows so"


class Views:
    """Several views, the outermost first, as one."""

    def __init__(self, views: Sequence[View]) -> None:
        self.views = tuple(views)
        self._last: list[Json] = []

    def get(self, value: Json) -> Json:
        return self._through(value)[-1]

    def _through(self, value: Json) -> list[Json]:
        """The value as each view leaves it, itself first."""
        if not self._last or self._last[0] is not value:
            values = [value]
            for view in self.views:
                values.append(view.get(values[-1]))
            self._last = values
        return self._last

    def put(self, value: Json, admitted: Json) -> tuple[Json, tuple[Unwritable, ...]]:
        values = self._through(value)
        if admitted is values[-1] or equal(admitted, values[-1]):
            return value, ()
        unwritable: list[Unwritable] = []
        for view, seen in zip(reversed(self.views), reversed(values[:-1]), strict=True):
            admitted, left_over = view.put(seen, admitted)
            unwritable += left_over
        return (
            (value, tuple(unwritable)) if equal(admitted, value) else (admitted, tuple(unwritable))
        )


def _annotations(value: Json) -> dict[str, Any] | None:
    metadata = value.get("metadata")
    annotations = metadata.get("annotations") if type(metadata) is dict else None
    return annotations if type(annotations) is dict else None


def _with_annotations(value: Json, annotations: Any) -> Json:
    result: Json = with_at(value, _ANNOTATIONS, annotations)
    return result


def _namespace(value: Json) -> str:
    metadata = value.get("metadata")
    namespace = metadata.get("namespace") if type(metadata) is dict else None
    return namespace if type(namespace) is str else ""
