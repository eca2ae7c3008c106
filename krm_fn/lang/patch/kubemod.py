"""JSON Patch as the systems around Kubernetes really apply it.

RFC 6902 leaves out what their libraries add (negative indexes, missing parents) and their libraries
leave out what the RFC asks for, so each system is a `Profile` of one applier. This module knows
values and paths; it does not know where a patch comes from or what it is applied to.

Source: evanphx/json-patch v5 with the three options that KubeMod sets; the ModRule specification,
section 3.5.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable
from typing import Any, Final, NamedTuple

from krm_fn import limits, work
from krm_fn.errors import EvaluationError, LimitError
from krm_fn.lang.go.strconv import atoi
from krm_fn.values import MISSING, equal


class PatchOperation(NamedTuple):
    """One operation: `op` is add, replace, remove or test; `path` is a JSON pointer.

    A value that is MISSING counts as null.
    """

    op: str
    path: str
    value: Any = MISSING


class Profile(NamedTuple):
    """What a system's library allows beyond the RFC."""

    remove_missing: bool
    """Removing what is not there is no error."""
    negative_indexes: bool
    """-1 is the last element, and for `add` the place after it."""
    ensure_path: bool
    """`add` makes the parents that are missing or null."""


KUBEMOD: Final = Profile(remove_missing=True, negative_indexes=True, ensure_path=True)


def apply_kubemod(document: Any, operations: Iterable[PatchOperation]) -> Any:
    """`document` after `operations` as KubeMod applies them; the first failure fails them all.

    Never changes its inputs; what no operation touched is the same Python object in the result.
    Raises EvaluationError with a sentence that names the operation and its path.
    """
    return _apply(KUBEMOD, document, operations)


def _apply(profile: Profile, document: Any, operations: Iterable[PatchOperation]) -> Any:
    draft = _Draft(profile, document)
    for operation in operations:
        work.spend(_OPERATION)
        try:
            if operation.path.count("/") > limits.NESTING:
                raise _TooMuchError(f"the path has more than {limits.NESTING:,} segments")
            draft.apply(operation)
        except _RefusedError as refusal:
            text = f"cannot {operation.op} {operation.path[:200]!r}: {refusal}"
            raise refusal.error(text) from None
    return draft.finish()


_PADDING: Final = 2
"""Steps of one null that fills a list."""

_OPERATION: Final = 30
"""Steps of one operation, whatever it does."""

_COPIED_PER_STEP: Final = 10
_MOVED_PER_STEP: Final = 100
"""Members of a container that are copied, or moved, in one step."""


class _RefusedError(Exception):
    """Why one operation does not apply."""

    error: type[EvaluationError] = EvaluationError


class _TooMuchError(_RefusedError):
    """One operation would make a document of an unreasonable size."""

    error = LimitError


class _Null:
    """A null that this patch made, which the library holds differently from the document's own."""

    __slots__ = ("enterable",)

    def __init__(self, enterable: bool) -> None:
        self.enterable = enterable


_SET_NULL: Final = _Null(enterable=False)
"""A null given by an operation: the library crashes when a later path leads through it."""

_PAD_NULL: Final = _Null(enterable=True)
"""A null that fills a list up to an index: a map without members in which nothing can be put."""

_Chain = list[tuple[Any, Any]]
"""From the root: each container with the key or index by which the walk left it."""


class _Draft:
    """The document while a patch is applied: containers are copied when first written to."""

    def __init__(self, profile: Profile, document: Any) -> None:
        if document is not None and type(document) not in (dict, list):
            raise EvaluationError(f"cannot patch {_article(document)}: only a map or a list can be")
        self.profile = profile
        # The library reads a null document into a map that takes no members.
        self.root: Any = _PAD_NULL if document is None else document
        # By identity, with the container itself so that no other object can take its identity.
        self.owned: dict[int, Any] = {}
        self.padded = 0

    def apply(self, operation: PatchOperation) -> None:
        match operation.op:
            case "add":
                self.add(operation.path, _given(operation.value))
            case "replace":
                self.replace(operation.path, _given(operation.value))
            case "remove":
                self.remove(operation.path)
            case "test":
                self.test(operation.path, operation.value)
            case _:
                raise _RefusedError("there is no such operation (add, replace, remove)")

    def finish(self) -> Any:
        """The patched document, with the nulls of this patch as plain nulls."""
        for container in self.owned.values():
            items = container.items() if type(container) is dict else enumerate(container)
            for key in [k for k, value in items if type(value) is _Null]:
                container[key] = None
        return None if type(self.root) is _Null else self.root

    # Operations

    def add(self, path: str, value: Any) -> None:
        if self.profile.ensure_path:
            self.ensure(path)
        found = self.find(path)
        if found is None:
            raise _RefusedError("there is no map or list at the parent of this path")
        chain, container, key = found
        self.insert(chain, container, key, value)

    def replace(self, path: str, value: Any) -> None:
        chain, container, key = self.existing(path)
        self.own(chain, container)[key] = value

    def remove(self, path: str) -> None:
        found = self.find(path)
        if found is None:
            if self.profile.remove_missing:
                return
            raise _RefusedError("there is no map or list at the parent of this path")
        chain, container, key = found
        if type(container) is list and atoi(key) is None:
            raise _RefusedError(f"{key!r} is not an index of a list")
        step = self.locate(container, key)
        if step is None:
            if self.profile.remove_missing:
                return
            raise _RefusedError("there is nothing at this path")
        del self.own(chain, container)[step]

    def test(self, path: str, value: Any) -> None:
        _, container, key = self.existing(path)
        actual = container[key]
        if not equal(
            None if type(actual) is _Null else actual, None if value is MISSING else value
        ):
            raise _RefusedError("the value there is another one")

    # Walking

    def find(self, path: str) -> tuple[_Chain, Any, str] | None:
        """The container that a path ends in, and the last segment; None where there is none.

        The text before the first slash is not looked at.
        """
        segments = path.split("/")
        if len(segments) < 2:
            return None
        chain: _Chain = []
        container = self.root
        for segment in segments[1:-1]:
            step = self.locate(container, decode_segment(segment))
            if step is None:
                return None
            chain.append((container, step))
            container = container[step]
            if type(container) is _Null:
                _enter(container)
            elif type(container) not in (dict, list):
                return None
        return chain, container, decode_segment(segments[-1])

    def existing(self, path: str) -> tuple[_Chain, Any, Any]:
        found = self.find(path)
        if found is None:
            raise _RefusedError("there is nothing at this path")
        chain, container, key = found
        step = self.locate(container, key)
        if step is None:
            raise _RefusedError("there is nothing at this path")
        return chain, container, step

    def locate(self, container: Any, key: str) -> Any:
        """The key or index of an existing member, or None."""
        if type(container) is dict:
            return key if key in container else None
        if type(container) is _Null:
            return None
        index = atoi(key)
        if index is None:
            return None
        if index < 0:
            if not self.profile.negative_indexes:
                return None
            index += len(container)
        return index if 0 <= index < len(container) else None

    # Writing

    def own(self, chain: _Chain, container: Any) -> Any:
        """`container`, or the copy of it that may be written to, linked into the document.

        The chain is updated to the copies.
        """
        for n, (above, step) in enumerate([*chain, (container, None)]):
            if id(above) in self.owned:
                copy = above
            else:
                work.spend(len(above) // _COPIED_PER_STEP)
                copy = self.made(above.copy())
            if n == 0:
                self.root = copy
            else:
                parent, key = chain[n - 1]
                parent[key] = copy
            if n < len(chain):
                chain[n] = (copy, step)
        return copy

    def made(self, container: Any) -> Any:
        """Note that `container` is new in this patch; the same container."""
        self.owned[id(container)] = container
        return container

    def insert(self, chain: _Chain, container: Any, key: str, value: Any) -> tuple[Any, Any]:
        """Put a member in; return the container that was written to and the member's key."""
        if type(container) is _Null:
            raise _RefusedError("the path leads into a null")
        if type(container) is dict:
            target = self.own(chain, container)
            target[key] = value
            return target, key
        size = len(container)
        index = size if key == "-" else atoi(key)
        if index is None:
            raise _RefusedError(f"{key!r} is not an index of a list")
        if index < 0 and self.profile.negative_indexes:
            index += size + 1
        if not 0 <= index <= size:
            raise _RefusedError(f"{key} is out of range for a list of {size}")
        work.spend(size // _MOVED_PER_STEP)
        target = self.own(chain, container)
        target.insert(index, value)
        return target, index

    def ensure(self, path: str) -> None:
        """Make the parents that are missing or null.

        The library puts a segment that it creates in as it is written, escapes and all, and then
        does not find it again; `add` fails afterwards.
        """
        segments = path.split("/")[1:]
        chain: _Chain = []
        container = self.root
        for segment, following in itertools.pairwise(segments):
            step = self.locate(container, decode_segment(segment))
            value = None if step is None else container[step]
            if value is None:
                container, step, value = self.create(chain, container, segment, following)
            elif type(value) is _Null:
                _enter(value)
            elif type(value) not in (dict, list):
                raise _RefusedError(f"{segment!r} is {_article(value)}, not a map or a list")
            chain.append((container, step))
            container = value

    def pad(self, count: int) -> None:
        """Raise _TooMuch where nulls that fill lists would make the document unreasonably large."""
        self.padded += count
        for number, most in (
            (count, limits.LIST_PADDING),
            (self.padded, limits.PATCH_PADDING),
        ):
            if number > most:
                bound = f"the limit is {most:,}"
                raise _TooMuchError(f"it would fill a list with {number:,} nulls; {bound}")
        work.spend(_PADDING * count)

    def create(
        self, chain: _Chain, container: Any, segment: str, following: str
    ) -> tuple[Any, Any, Any]:
        """Put a new container at `segment`, a list if an index follows."""
        index = atoi(segment)
        if type(container) is list and index is not None and index > len(container):
            self.pad(index - len(container))
            container = self.own(chain, container)
            container.extend([_PAD_NULL] * (index - len(container)))
        value: Any = {}
        ahead = atoi(following)
        if ahead is not None:
            if ahead < -1 or (ahead < 0 and not self.profile.negative_indexes):
                raise _RefusedError(f"a new list has no index {ahead}")
            self.pad(ahead)
            value = [_PAD_NULL] * ahead
        target, step = self.insert(chain, container, segment, self.made(value))
        return target, step, value


def _given(value: Any) -> Any:
    if value is MISSING:
        return None
    return _SET_NULL if value is None else value


def _enter(null: _Null) -> None:
    if not null.enterable:
        raise _RefusedError("the path leads through a null that an earlier operation put there")


def decode_segment(segment: str) -> str:
    """`~1` is a slash and `~0` a tilde, read once from the left."""
    if "~" not in segment:
        return segment
    return re.sub("~[01]", lambda match: "/" if match[0] == "~1" else "~", segment)


def _article(value: Any) -> str:
    match value:
        case bool():
            return "a boolean"
        case str():
            return "a text"
        case None:
            return "a null"
        case _:
            return "a number"
