"""JSON-like values as this program holds them: typed equality, differences, paths.

A value is None, bool, int, float, str, list or dict with str keys. Values are immutable by
convention: whoever changes one returns a new value in which untouched subtrees are the *same*
Python objects, so that identity is the first and cheapest test for "nothing happened here".
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from krm_fn import limits, work
from krm_fn.errors import LimitError

Json = dict[str, Any]
"""An object as decoded from YAML or JSON."""

Path = tuple[str | int, ...]
"""Where a value sits: map keys and list indexes from the root."""


class _Missing:
    """The type of `MISSING`."""

    _instance: _Missing | None = None

    def __repr__(self) -> str:
        return "MISSING"

    def __bool__(self) -> bool:
        return False


MISSING: Final = _Missing()
"""Stands for "no value here", where None would mean JSON's null."""


def equal(a: Any, b: Any) -> bool:
    """Typed deep equality: True, 1 and 1.0 all differ; the order of map keys does not matter."""
    if a is b:
        return True
    kind = type(a)
    if kind is not type(b):
        return False
    if kind is dict:
        if len(a) != len(b):
            return False
        # Loops, since all(...) would take C stack, of which deep values need too much. Identity is
        # asked before the call, since most members of what a rule changed are the same objects.
        for key, value in a.items():
            other = b.get(key, MISSING)
            if value is not other and not equal(value, other):
                return False
        return True
    if kind is list:
        if len(a) != len(b):
            return False
        for x, y in zip(a, b, strict=True):  # noqa: SIM110
            if x is not y and not equal(x, y):
                return False
        return True
    return bool(a == b)


def parts_of(value: Any, most: int) -> int:
    """How many values it consists of, itself included; some number over `most` if it is more.

    What is in it twice counts twice, as when it is written.
    """
    pending = [value]
    count = 0
    while pending and count <= most:
        count += 1
        one = pending.pop()
        if type(one) is dict:
            pending.extend(one.values())
        elif type(one) is list:
            pending.extend(one)
    return count


def check_size(value: Any) -> None:
    """Raise LimitError for an object that a rule has made unreasonably large."""
    size = parts_of(value, limits.OBJECT_PARTS)
    work.spend(_PART * size)
    if size > limits.OBJECT_PARTS:
        raise LimitError(f"the object would consist of more than {limits.OBJECT_PARTS:,} values")


_PART: Final = 10
"""Steps of one value of an object that a rule has changed: it is decoded, compared, written."""


class Edit(NamedTuple):
    """One difference between two values.

    `old` is MISSING for an insertion, `new` is MISSING for a removal. List indexes in `path` count
    in the new list, but the last index of a removal counts in the old one.
    """

    path: Path
    old: Any
    new: Any


_LIST_KEYS: Final = ("name", "key", "mountPath", "containerPort", "port", "ip", "type", "uid")
"""Members by which elements of Kubernetes lists are usually told apart, most telling first."""


def identity_key(elements: Sequence[Any]) -> str | None:
    """The member that tells all elements apart, or None: all maps, all with it, all different."""
    if not elements or not all(type(e) is dict for e in elements):
        return None
    for key in _LIST_KEYS:
        seen = set()
        for element in elements:
            value = element.get(key, MISSING)
            if type(value) not in (str, int) or value in seen:
                break
            seen.add(value)
        else:
            return key
    return None


def align(old: Sequence[Any], new: Sequence[Any]) -> list[tuple[int | None, int | None]]:
    """Pair the elements of two lists, in order: (old index, new index), None where one is missing.

    Elements pair by the list's key (`identity_key`), without one by equality; between two pairs,
    what is left pairs by position, with a key only where little else changed. The result is sorted
    so that both columns ascend; an element that moved is a removal and an insertion.
    """
    start = 0
    stop_old, stop_new = len(old), len(new)
    while start < stop_old and start < stop_new and equal(old[start], new[start]):
        start += 1
    while stop_old > start and stop_new > start and equal(old[stop_old - 1], new[stop_new - 1]):
        stop_old -= 1
        stop_new -= 1
    pairs: list[tuple[int | None, int | None]] = [(i, i) for i in range(start)]
    pairs += _align_middle(old, new, range(start, stop_old), range(start, stop_new))
    pairs += [(i, stop_new + i - stop_old) for i in range(stop_old, len(old))]
    return pairs


def _align_middle(
    old: Sequence[Any], new: Sequence[Any], rows: range, columns: range
) -> list[tuple[int | None, int | None]]:
    if not rows:
        return [(None, j) for j in columns]
    if not columns:
        return [(i, None) for i in rows]
    key = identity_key([old[i] for i in rows])
    if key is not None and identity_key([new[j] for j in columns]) != key:
        key = None
    pairs: list[tuple[int | None, int | None]] = []
    i, j = rows.start, columns.start
    for mi, mj in [*_anchors(old, new, rows, columns, key), (rows.stop, columns.stop)]:
        gap = min(mi - i, mj - j)
        if key is not None and mi - i != mj - j:
            gap = 0
        for n in range(gap):
            if key is None or _akin(old[i + n], new[j + n]):
                pairs.append((i + n, j + n))
            else:
                pairs += [(i + n, None), (None, j + n)]
        pairs += [(n, None) for n in range(i + gap, mi)]
        pairs += [(None, n) for n in range(j + gap, mj)]
        if mi < rows.stop:
            pairs.append((mi, mj))
        i, j = mi + 1, mj + 1
    return pairs


def _akin(a: Json, b: Json) -> bool:
    """Whether two maps are the same thing renamed: all members are equal but one, or most are."""
    shared = sum(1 for key, value in a.items() if key in b and equal(value, b[key]))
    size = max(len(a), len(b))
    return shared + 1 >= size or 2 * shared >= size


def _anchors(
    old: Sequence[Any], new: Sequence[Any], rows: range, columns: range, key: str | None
) -> list[tuple[int, int]]:
    """Pairs that certainly belong together, as the longest run that ascends in both columns."""
    waiting: dict[Any, list[int]] = {}
    for j in reversed(columns):
        waiting.setdefault(_token(new[j], key), []).append(j)
    found: list[tuple[int, int]] = []
    for i in rows:
        candidates = waiting.get(_token(old[i], key))
        if candidates:
            found.append((i, candidates.pop()))
    return longest_ascending(found)


def _token(element: Any, key: str | None) -> Any:
    """What two elements that belong together have in common, as something to look up."""
    return _frozen(element) if key is None else element[key]


def _frozen(value: Any) -> Any:
    """A hashable twin: two twins are equal exactly where the values are (see `equal`)."""
    if type(value) is dict:
        return frozenset([(key, _frozen(member)) for key, member in value.items()])
    if type(value) is list:
        return tuple([_frozen(element) for element in value])
    return (type(value), value)


def longest_ascending(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The longest subsequence whose second members ascend (patience sorting, O(n log n))."""
    tails: list[int] = []
    ends: list[int] = []
    back: list[int | None] = []
    for n, (_, j) in enumerate(pairs):
        slot = bisect_left(tails, j)
        back.append(ends[slot - 1] if slot else None)
        if slot == len(tails):
            tails.append(j)
            ends.append(n)
        else:
            tails[slot] = j
            ends[slot] = n
    result: list[tuple[int, int]] = []
    at = ends[-1] if ends else None
    while at is not None:
        result.append(pairs[at])
        at = back[at]
    return result[::-1]


def diff(old: Any, new: Any, path: Path = ()) -> list[Edit]:
    """The edits that turn `old` into `new`, outermost first, in document order."""
    edits: list[Edit] = []
    if old is not new:
        _diff(old, new, path, edits)
    return edits


def _diff(old: Any, new: Any, path: Path, edits: list[Edit]) -> None:
    """Append the edits between two values that are not the same object."""
    if type(old) is dict and type(new) is dict:
        work.spend(len(old) + len(new))
        for key, value in old.items():
            other = new.get(key, MISSING)
            if other is MISSING:
                edits.append(Edit((*path, key), value, MISSING))
            elif other is not value:
                _diff(value, other, (*path, key), edits)
        for key, value in new.items():
            if key not in old:
                edits.append(Edit((*path, key), MISSING, value))
    elif type(old) is list and type(new) is list:
        work.spend(_ALIGN * (len(old) + len(new)))
        for i, j in align(old, new):
            if j is None:
                assert i is not None
                edits.append(Edit((*path, i), old[i], MISSING))
            elif i is None:
                edits.append(Edit((*path, j), MISSING, new[j]))
            elif old[i] is not new[j]:
                _diff(old[i], new[j], (*path, j), edits)
    elif not equal(old, new):
        edits.append(Edit(path, old, new))


_ALIGN: Final = 5
"""Steps that an element takes to find the one that it was."""

_PLAIN_NAME: Final = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")


def format_path(path: Path) -> str:
    """`spec.containers[0].image`; keys that are not plain names as `["a.b/c"]`."""
    parts: list[str] = []
    for step in path:
        if isinstance(step, int):
            parts.append(f"[{step}]")
        elif step and _PLAIN_NAME.issuperset(step):
            parts.append(f".{step}" if parts else step)
        else:
            quoted = step.replace("\\", "\\\\").replace('"', '\\"')
            parts.append(f'["{quoted}"]')
    return "".join(parts)


def parse_path(text: str) -> Path:
    """The path that `format_path` writes so; `[*]` becomes the step `*`. Raises ValueError."""
    step_pattern = re.compile(r'\.?([^.\[\]"]+)|\[(\d+)\]|\[(\*)\]|\["((?:[^"\\]|\\.)*)"\]')
    steps: list[str | int] = []
    at = 0
    while at < len(text):
        match = step_pattern.match(text, at)
        if match is None:
            raise ValueError(f"is no path such as spec.containers[0].image, at character {at + 1}")
        name, index, every, quoted = match.groups()
        if index is not None:
            steps.append(int(index))
        elif quoted is not None:
            steps.append(re.sub(r"\\(.)", r"\1", quoted))
        else:
            steps.append(name or every)
        at = match.end()
    return tuple(steps)


def compact(value: Any) -> str:
    """A JSON value as one line, for messages."""
    return json.dumps(value, ensure_ascii=False, separators=(", ", ": "))


def get(value: Any, path: Path, default: Any = None) -> Any:
    """The value at `path`, or `default` where the path leads nowhere."""
    for step in path:
        if isinstance(step, int):
            if type(value) is not list or not -len(value) <= step < len(value):
                return default
            value = value[step]
        else:
            if type(value) is not dict or step not in value:
                return default
            value = value[step]
    return value


def with_at(value: Any, path: Path, new: Any) -> Any:
    """`value` with `new` at `path` (missing maps are made; MISSING removes), sharing the rest."""
    if not path:
        return new
    step, rest = path[0], path[1:]
    if isinstance(step, int):
        copy_list = list(value)
        if new is MISSING and not rest:
            del copy_list[step]
        else:
            copy_list[step] = with_at(copy_list[step], rest, new)
        return copy_list
    copy = dict(value) if type(value) is dict else {}
    if not rest and new is MISSING:
        copy.pop(step, None)
    elif new is not MISSING or step in copy:
        copy[step] = with_at(copy.get(step), rest, new)
    return copy
