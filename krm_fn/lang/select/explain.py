"""What a select selected, with the paths of the values, and where a path that selects nothing ends.

Loaded where somebody asks why. Everything is evaluated by the closures that decide: a prefix of a
path is a path, and the condition of a filter is compiled as the filter compiles it.
Source: docs/spec/explain.md section 2, "Near misses".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

from krm_fn.errors import EvaluationError, did_you_mean
from krm_fn.lang.select.captures import Trail
from krm_fn.lang.select.nodes import Constant, Node
from krm_fn.lang.select.paths import (
    AmbiguousSelector,
    Child,
    Descend,
    Filter,
    Path,
    Selector,
    Wildcard,
)
from krm_fn.lang.select.run import Run
from krm_fn.lang.select.tree import Syntax, walk
from krm_fn.lang.select.values import UNDEFINED, to_bool

_ELEMENTS: Final = 5
_KEYS: Final = 8

Keys = tuple[str | int, ...]


class Found(NamedTuple):
    """A value that a path selected; `path` is where it is, None where that cannot be told."""

    path: Keys | None
    value: Any


class Element(NamedTuple):
    """An element that a filter was asked about, and the values that its condition read."""

    path: Keys | None
    held: bool
    error: str
    values: tuple[tuple[str, Any], ...]


class PathTrace(NamedTuple):
    """What a path of an expression selected, and why not more."""

    text: str
    found: tuple[Found, ...]
    hint: str
    elements: tuple[Element, ...]


def trace_paths(node: Node, document: Any) -> tuple[PathTrace, ...]:
    """What each path of an expression selects in a document, in the order of the source."""
    return tuple(_trace(path, document) for path in _outermost_paths(node))


def _outermost_paths(node: Syntax) -> Iterator[Path]:
    inside: set[int] = set()
    for part in walk(node):
        if isinstance(part, Path):
            if id(part) not in inside and part.of_root:
                yield part
            inside.update(id(one) for one in walk(part))


def _trace(path: Path, document: Any) -> PathTrace:
    found = _values(path, document)
    elements: tuple[Element, ...] = ()
    hint = ""
    if not found:
        reached = next(
            size for size in range(len(path.selectors), -1, -1) if _reaches(path, size, document)
        )
        hint, elements = _near_miss(path, reached, document)
    return PathTrace(path_text(path), tuple(found), hint, elements)


def _prefix(path: Path, size: int) -> Path:
    return Path(path.start, path.of_root, path.selectors[:size])


def _reaches(path: Path, size: int, document: Any) -> bool:
    return size == 0 or bool(_values(_prefix(path, size), document))


def _values(path: Path, document: Any) -> list[Found]:
    """The values that a path selects, with where each is."""
    try:
        matches = path.compile_matches()(Run(document), None)
    except EvaluationError:
        return []
    return [
        Found(_place(path.selectors, captured), value)
        for captured, value in matches
        if value is not UNDEFINED
    ]


def _place(selectors: Sequence[Selector], captured: Sequence[Any]) -> Keys | None:
    """Where a value is, from the names in the path and the keys that it captured."""
    keys = iter(captured)
    place: list[str | int] = []
    for selector in selectors:
        if isinstance(selector, AmbiguousSelector):
            key = next(keys)
            place += key.keys() if isinstance(key, Trail) else [key]
        elif isinstance(selector, Child) and isinstance(selector.key, Constant):
            value = selector.key.value
            place.append(value if isinstance(value, str) else int(value))
        else:
            return None
    return tuple(int(key) if isinstance(key, int) else key for key in place)


def _near_miss(path: Path, reached: int, document: Any) -> tuple[str, tuple[Element, ...]]:
    """What is where the path ends, and the elements that its filter did not let pass."""
    if reached == len(path.selectors):
        return "", ()
    selector = path.selectors[reached]
    here = _values(_prefix(path, reached), document) if reached else [Found((), document)]
    where = path_text(_prefix(path, reached))
    value = here[0].value
    if isinstance(selector, Filter):
        elements = tuple(element for one in here for element in _filtered(selector, one, document))
        number = f"{len(elements)} elements" if len(elements) != 1 else "1 element"
        if not elements:
            return f"{where} is {_kind(value)}", ()
        return f"none of {number} of {where} passes the filter", elements[:_ELEMENTS]
    if isinstance(selector, Child) and selector.name is not None:
        return _missing(where, selector.name, value), ()
    return f"{where} is {_kind(value)}", ()


def _missing(where: str, name: str, value: Any) -> str:
    if type(value) is dict:
        keys = sorted(value, key=lambda key: (not did_you_mean(name, [key]), key))
        shown = ", ".join(keys[:_KEYS]) + (", ..." if len(keys) > _KEYS else "")
        near = did_you_mean(name, value)
        return f"{where} has no {name}, but {shown or 'nothing'}{near}"
    if type(value) is list:
        return f"{where} is {_kind(value)}; select its elements with [*]"
    return f"{where} is {_kind(value)}"


def _filtered(selector: Filter, outer: Found, document: Any) -> Iterator[Element]:
    """Each element that a filter was asked about."""
    everything = Wildcard(selector.start).branch()
    condition = selector.condition.compile()
    paths = [part for part in walk(selector.condition) if isinstance(part, Path)]
    run = Run(document)
    for key, value in everything(run, outer.value):
        held, error = False, ""
        try:
            held = to_bool(condition(run, value)) is True
        except EvaluationError as failure:
            error = failure.message
        seen = tuple((path_text(path), _value(path, run, value)) for path in paths)
        place = None if outer.path is None or isinstance(key, Trail) else (*outer.path, key)
        yield Element(place, held, error, seen)


def _value(path: Path, run: Run, current: Any) -> Any:
    try:
        return path.compile()(run, current)
    except EvaluationError:
        return UNDEFINED


def _kind(value: Any) -> str:
    """What a value is: `a list of 3`, `a map`, `the string "x"`."""
    if type(value) is list:
        return f"a list of {len(value)}"
    if type(value) is dict:
        return "a map" if value else "an empty map"
    if type(value) is str:
        return f'the string "{value}"' if len(value) <= 40 else "a string"
    if value is None:
        return "null"
    if type(value) is bool:
        return f"the boolean {str(value).lower()}"
    return f"the number {value}"


def path_text(path: Path) -> str:
    """A path as text: `$.spec.containers[*].image`; conditions and scripts are left out."""
    text = "$" if path.of_root else "@"
    for n, selector in enumerate(path.selectors):
        if isinstance(selector, Child) and selector.name is not None:
            after_descend = n > 0 and isinstance(path.selectors[n - 1], Descend)
            text += selector.name if after_descend else f".{selector.name}"
        elif isinstance(selector, Child) and isinstance(selector.key, Constant):
            text += f"[{selector.key.value:g}]"
        elif isinstance(selector, Wildcard):
            text += "[*]"
        elif isinstance(selector, Descend):
            text += ".."
        elif isinstance(selector, Filter):
            text += "[? ...]"
        else:
            text += "[...]"
    return text
