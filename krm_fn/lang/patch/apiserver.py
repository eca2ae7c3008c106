"""JSON Patch as the API server's policies apply it, to the wording of its errors.

Not RFC 6902: replacing a key that is missing adds it, indexes may be negative, copying a missing
key copies null, and a test that fails leaves the document as it was. KubeMod's library differs so
much (`jsonpatch`) that they share only the reading of paths. Knows no Kubernetes.
Source: gopkg.in/evanphx/json-patch.v4 v4.13.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from krm_fn import limits, work
from krm_fn.errors import EvaluationError, LimitError
from krm_fn.lang.go.strconv import atoi, number_error, quote
from krm_fn.lang.patch.kubemod import decode_segment
from krm_fn.values import MISSING, parts_of

Operation = Mapping[str, Any]
"""op and path, `from` where there is one, `value` where it was given."""

_MISSING: Final = "missing value"


class _FailedError(Exception):
    """Why one operation does not apply, as the library says it."""


class _TestFailedError(Exception):
    """A `test` found another value."""


class _Null:
    """A null that an operation gave: unlike the document's own it is something."""


_NULL: Final = _Null()

_NIL_MAP: Final[dict[str, Any]] = {}
"""What such a null is to a walk: a map that takes no members, told by identity."""

Container = dict[str, Any] | list[Any]

_OPERATION: Final = 30
"""Steps of one operation, whatever it does."""

_COPIED_PER_STEP: Final = 10
_MOVED_PER_STEP: Final = 100
"""Members of a container that are copied, or moved, in one step."""


def apply_server(document: Any, operations: Iterable[Operation]) -> Any:
    """`document` after the operations; the document itself where a `test` failed.

    Never changes its inputs; what no operation touched is the same Python object in the result.
    Raises EvaluationError in the library's words.
    """
    draft = _Draft(document)
    try:
        for operation in operations:
            work.spend(_OPERATION)
            if operation["path"].count("/") > limits.NESTING:
                raise LimitError(f"the path has more than {limits.NESTING:,} segments")
            draft.apply(operation)
    except _TestFailedError:
        return document
    except _FailedError as failure:
        raise EvaluationError(str(failure)) from None
    return draft.finish()


class _Draft:
    """The document while it is patched: containers are copied when they are first written to."""

    def __init__(self, document: Any) -> None:
        self.root = document
        self.copied = 0
        # The identities of containers that may be written to; `made` keeps them alive.
        self.owned: set[int] = set()
        self.made: list[Any] = []

    def apply(self, operation: Operation) -> None:
        op = operation["op"]
        kind = "unknown" if _undecodable(op) else op
        apply = _OPERATIONS.get(kind)
        if apply is None:
            raise _FailedError(f"Unexpected kind: {kind}")
        apply(self, operation)

    def finish(self) -> Any:
        for container in self.made:
            items = container.items() if type(container) is dict else enumerate(container)
            for key in [key for key, value in items if value is _NULL]:
                container[key] = None
        return None if self.root is _NULL else self.root

    # Operations

    def add(self, operation: Operation) -> None:
        path = operation["path"]
        if _undecodable(path):
            raise _FailedError(f"add operation failed to decode path: {_MISSING}")
        found = self.find(path)
        if found is None:
            text = f'add operation does not apply: doc is missing path: "{path}"'
            raise _FailedError(f"{text}: {_MISSING}")
        self.count(operation.get("value"))
        with _Within(f"error in add for path: '{path}'"):
            self.insert(*found, _given(operation))

    def remove(self, operation: Operation) -> None:
        path = operation["path"]
        if _undecodable(path):
            raise _FailedError(f"remove operation failed to decode path: {_MISSING}")
        found = self.find(path)
        if found is None:
            text = f'remove operation does not apply: doc is missing path: "{path}"'
            raise _FailedError(f"{text}: {_MISSING}")
        with _Within(f"error in remove for path: '{path}'"):
            self.delete(*found)

    def replace(self, operation: Operation) -> None:
        path = _path(operation, "replace")
        value = _given(operation)
        self.count(operation.get("value"))
        if not path:
            if type(value) not in (dict, list) and value is not _NULL:
                text = "replace operation value must be object or array: %!w(<nil>)"
                raise _FailedError(text)
            self.root = value
            return
        found = self.find(path)
        text = "replace operation does not apply: doc is missing"
        if found is None:
            raise _FailedError(f"{text} path: {path}: {_MISSING}")
        chain, container, key = found
        if type(container) is list:
            try:
                at = _index(container, key)
            except _FailedError:
                raise _FailedError(f"{text} key: {path}: {_MISSING}") from None
            self.own(chain)[at] = value
        else:
            self.own(chain)[key] = value

    def move(self, operation: Operation) -> None:
        source = _from(operation, "move")
        found = self.find(source)
        if found is None:
            text = f"move operation does not apply: doc is missing from path: {source}"
            raise _FailedError(f"{text}: {_MISSING}")
        _, container, key = found
        with _Within(f"error in move for path: '{key}'"):
            value = _member(container, key)
            self.delete(*found)
        path = _path(operation, "move")
        found = self.find(path)
        if found is None:
            text = f"move operation does not apply: doc is missing destination path: {path}"
            raise _FailedError(f"{text}: {_MISSING}")
        with _Within(f"error in move for path: '{path}'"):
            self.insert(*found, value)

    def copy(self, operation: Operation) -> None:
        source = _from(operation, "copy")
        found = self.find(source)
        if found is None:
            text = f"copy operation does not apply: doc is missing from path: {source}"
            raise _FailedError(f"{text}: {_MISSING}")
        with _Within(f"error in copy for from: '{source}'"):
            value = _member(found[1], found[2])
        path = operation["path"]
        if _undecodable(path):
            raise _FailedError(f"copy operation failed to decode path: {_MISSING}")
        found = self.find(path)
        if found is None:
            text = f"copy operation does not apply: doc is missing destination path: {path}"
            raise _FailedError(f"{text}: {_MISSING}")
        self.count(value)
        # What was copied is in two places now, and must be copied again before it is written to.
        self.owned.clear()
        with _Within("error while adding value during copy"):
            self.insert(*found, value)

    def test(self, operation: Operation) -> None:
        path = _path(operation, "test")
        if path:
            found = self.find(path)
            if found is None:
                text = f"test operation does not apply: is missing path: {path}"
                raise _FailedError(f"{text}: {_MISSING}")
            with _Within(f"error in test for path: '{path}'"):
                actual = _member(found[1], found[2])
        else:
            actual = self.root
        if "value" not in operation:
            same = actual is None
        else:
            same = actual is not None and _same(actual, _given(operation))
        if not same:
            raise _TestFailedError

    # Walking

    def find(self, path: str) -> tuple[_Chain, Container, str] | None:
        """The way to the container that a path ends in, that, and the last segment."""
        segments = path.split("/")
        if len(segments) < 2:
            return None
        chain: _Chain = []
        container = _NIL_MAP if self.root is _NULL else self.root
        for segment in segments[1:-1]:
            if type(container) is dict:
                step: Any = decode_segment(segment)
                below = container.get(step)
            else:
                try:
                    step = _index(container, decode_segment(segment))
                except _FailedError:
                    return None
                below = container[step]
            if below is _NULL:
                below = _NIL_MAP
            if type(below) is not dict and type(below) is not list:
                return None
            chain.append((container, step))
            container = below
        chain.append((container, None))
        return chain, container, decode_segment(segments[-1])

    # Writing

    def own(self, chain: _Chain) -> Any:
        """The last container of a way as one that may be written to, linked into the document."""
        if chain[-1][0] is _NIL_MAP:
            # The library crashes, and the API server with it for this request.
            raise _FailedError("assignment to entry in nil map")
        above: Any = None
        for n, (container, _) in enumerate(chain):
            mine = container
            if id(container) not in self.owned:
                work.spend(len(container) // _COPIED_PER_STEP)
                mine = container.copy()
                self.owned.add(id(mine))
                self.made.append(mine)
            if n == 0:
                self.root = mine
            else:
                above[chain[n - 1][1]] = mine
            above = mine
        return above

    def count(self, value: Any) -> None:
        """Raise LimitError where what is put in would make the document unreasonably large."""
        left = limits.PATCH_COPIES - self.copied
        size = parts_of(value, left)
        if size > left:
            raise LimitError(f"it puts in more than {limits.PATCH_COPIES:,} values")
        self.copied += size
        work.spend(size)

    def insert(self, chain: _Chain, container: Container, key: str, value: Any) -> None:
        if type(container) is dict:
            self.own(chain)[key] = value
            return
        size = len(container)
        if key == "-":
            at = size
        else:
            number = atoi(key)
            if number is None:
                raise _FailedError(
                    f"value was not a proper array index: '{key}': {number_error('Atoi', key)}"
                )
            if not -(size + 1) <= number <= size:
                raise _FailedError(_invalid(number))
            at = number + size + 1 if number < 0 else number
        work.spend(size // _MOVED_PER_STEP)
        self.own(chain).insert(at, value)

    def delete(self, chain: _Chain, container: Container, key: str) -> None:
        if type(container) is dict:
            if key not in container:
                raise _FailedError(f"Unable to remove nonexistent key: {key}: {_MISSING}")
            del self.own(chain)[key]
        else:
            at = _index(container, key)
            del self.own(chain)[at]


_Chain = list[tuple[Any, Any]]
"""From the root: each container with the key or index by which the walk left it."""

_OPERATIONS: Final[dict[str, Callable[[_Draft, Operation], None]]] = {
    "add": _Draft.add,
    "remove": _Draft.remove,
    "replace": _Draft.replace,
    "move": _Draft.move,
    "copy": _Draft.copy,
    "test": _Draft.test,
}


class _Within:
    """Says in front of a failure what was being done."""

    def __init__(self, doing: str) -> None:
        self.doing = doing

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, _FailedError):
            raise _FailedError(f"{self.doing}: {error}") from None


def _given(operation: Operation) -> Any:
    value = operation.get("value", MISSING)
    if value is MISSING:
        return None
    return _NULL if value is None else value


def _path(operation: Operation, name: str) -> str:
    path: str = operation["path"]
    wrong = _undecodable(path)
    if wrong:
        raise _FailedError(f"{name} operation failed to decode path: {wrong}")
    return path


def _from(operation: Operation, name: str) -> str:
    source: str = operation.get("from", "")
    text = f"{name} operation failed to decode from"
    if not source:
        raise _FailedError(f"{text}: operation, missing from field: {_MISSING}")
    wrong = _undecodable(source)
    if wrong:
        raise _FailedError(f"{text}: {wrong}")
    return source


def _undecodable(text: str) -> str:
    """What JSON says of a string that Go quoted, where Go's escapes are none of JSON's."""
    if text.isprintable():
        return ""
    quoted = quote(text)
    at = quoted.find("\\")
    while at >= 0:
        if quoted[at + 1] not in '"\\/bfnrtu':
            return f"invalid character '{quoted[at + 1]}' in string escape code"
        at = quoted.find("\\", at + 2)
    return ""


def _member(container: Container, key: str) -> Any:
    """A member; None where a map has none of that key."""
    if isinstance(container, dict):
        return container.get(key)
    return container[_index(container, key)]


def _index(container: Any, key: str) -> int:
    """The index of an element that is there. Raises _FailedError."""
    number = atoi(key)
    if number is None:
        raise _FailedError(number_error("Atoi", key))
    size = len(container)
    if not -size <= number < size:
        raise _FailedError(_invalid(number))
    return number + size if number < 0 else number


def _invalid(number: int) -> str:
    return f"Unable to access invalid index: {number}: invalid index referenced"


def _same(a: Any, b: Any) -> bool:
    """Whether two values are equal to the library.

    To it a null that an operation gave is also an empty map or an empty list.
    """
    if a is _NULL or b is _NULL:
        return all(one is _NULL or one in ({}, []) for one in (a, b))
    kind = type(a)
    if kind is dict:
        if type(b) is not dict or len(a) != len(b):
            return False
        work.spend(len(a))
        if a.keys() != b.keys():
            return False
        return all(_same(value, b[key]) for key, value in a.items())
    if kind is list:
        if type(b) is not list or len(a) != len(b):
            return False
        work.spend(len(a))
        return all(map(_same, a, b))
    if kind is int or kind is float:
        return type(b) in (int, float) and bool(a == b)
    return kind is type(b) and bool(a == b)
