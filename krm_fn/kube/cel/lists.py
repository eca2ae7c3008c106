"""Kubernetes' functions on lists, and its regular expressions.

Source: apiserver v0.37, pkg/cel/library/lists.go and regex.go.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from krm_fn.errors import EvaluationError
from krm_fn.lang.cel import operators
from krm_fn.lang.cel import types as t
from krm_fn.lang.cel import values as v
from krm_fn.lang.cel.environment import Library
from krm_fn.lang.cel.functions import Function, Overload
from krm_fn.lang.cel.lists import COMPARABLE
from krm_fn.lang.cel.regexes import compile_pattern
from krm_fn.lang.cel.stdlib import regex_work

_A: Final = t.param("A")
_LIST: Final = t.list_of(_A)

_SUMMABLE: Final = (
    ("int", t.INT, 0),
    ("uint", t.UINT, v.UInt(0)),
    ("double", t.DOUBLE, 0.0),
    ("duration", t.DURATION, v.Duration(0)),
)


def _ordered(value: Any) -> None:
    if type(value) not in v.COMPARABLE:
        raise v.no_overload()


def _compare(a: Any, b: Any) -> int | None:
    """-1, 0, 1, or None where upstream's comparison is an error that is not looked at."""
    try:
        return v.compare(a, b, "")
    except EvaluationError:
        return None


def _is_sorted(values: Any) -> bool:
    before: list[Any] = []
    for value in values:
        _ordered(value)
        if before and _compare(before[-1], value) == 1:
            return False
        before = [value]
    return True


def _extreme(name: str, prefer: int) -> Callable[[Any], Any]:
    def run(values: Any) -> Any:
        best: list[Any] = []
        for value in values:
            _ordered(value)
            if not best or _compare(best[0], value) == prefer:
                best = [value]
        if not best:
            raise EvaluationError(f"{name} called on empty list")
        return best[0]

    return run


def _sum(zero: Any) -> Callable[[Any], Any]:
    def run(values: Any) -> Any:
        total = zero
        for value in values:
            total = operators.add(total, value)
        return total

    return run


def _same(a: Any, b: Any) -> bool:
    try:
        return v.equals(a, b)
    except EvaluationError:
        return False


def _index_of(values: Any, wanted: Any) -> int:
    for index, value in enumerate(values):
        if _same(value, wanted):
            return index
    return -1


def _last_index_of(values: Any, wanted: Any) -> int:
    found = -1
    for index, value in enumerate(values):
        if _same(value, wanted):
            found = index
    return found


def _includes(target: Any, wanted: Any) -> bool:
    if v.is_list(target):
        return _index_of(target, wanted) >= 0
    return _same(target, wanted)


def _walk_work(values: Any, *_: Any) -> int:
    """Of short texts the cost counts nothing."""
    return 2 * operators.weight(values)


def _search_work(values: Any, wanted: Any) -> int:
    if v.is_list(wanted) or v.is_map(wanted):
        return v.size_of(values) * operators.weight(wanted)
    return 2 * v.size_of(values)


def library(includes: bool) -> Library:
    """The functions on lists; `includes()` is new in 1.37."""
    member = [
        Function(
            name,
            [
                Overload(f"list_a_{identity}_int", (_LIST, _A), t.INT, impl,
                         member=True, work=_search_work)
            ],
        )
        for name, identity, impl in (
            ("indexOf", "index_of", _index_of),
            ("lastIndexOf", "last_index_of", _last_index_of),
        )
    ]  # fmt: skip
    compared: list[tuple[str, str, Callable[[Any], Any], bool]] = [
        ("isSorted", "is_sorted_bool", _is_sorted, True),
        ("max", "max_{}", _extreme("max", -1), False),
        ("min", "min_{}", _extreme("min", 1), False),
    ]
    for name, suffix, impl, tests in compared:
        member.append(
            Function(
                name,
                [
                    Overload(
                        f"list_{short}_{suffix.format(short)}",
                        (t.list_of(kind),),
                        t.BOOL if tests else kind,
                        impl,
                        member=True,
                        work=_walk_work,
                    )
                    for short, kind in COMPARABLE
                ],
            )
        )
    member.append(
        Function(
            "sum",
            [
                Overload(
                    f"list_{short}_sum_{short}",
                    (t.list_of(kind),),
                    kind,
                    _sum(zero),
                    member=True,
                    work=_walk_work,
                )
                for short, kind, zero in _SUMMABLE
            ],
        )
    )
    if includes:
        member.append(
            Function(
                "includes",
                [
                    Overload(
                        "list_includes_dyn_dyn", (t.DYN, t.DYN), t.BOOL, _includes,
                        member=True, work=_search_work,
                    )
                ],
            )
        )  # fmt: skip
    return Library(member)


def _illegal(text: str, pattern: str) -> Any:
    try:
        return compile_pattern(pattern).compiled
    except EvaluationError as error:
        raise EvaluationError(f"Illegal regex: {error.message}") from None


def _find(text: str, pattern: str) -> str:
    found = _illegal(text, pattern).search(text)
    return "" if found is None else str(found.group())


def _find_all(text: str, pattern: str, limit: int = -1) -> list[str]:
    compiled = _illegal(text, pattern)
    found: list[str] = []
    end = -1
    for match in compiled.finditer(text):
        if 0 <= limit <= len(found):
            break
        # Go takes no empty match right behind the one before.
        if match.start() == match.end() == end:
            continue
        found.append(str(match.group()))
        end = match.end()
    return found


def regex_library() -> Library:
    """find and findAll."""
    s, texts = t.STRING, t.list_of(t.STRING)
    return Library(
        [
            Function(
                "find",
                [Overload("string_find_string", (s, s), s, _find, member=True, work=regex_work)],
            ),
            Function(
                "findAll",
                [
                    Overload(
                        "string_find_all_string", (s, s), texts, _find_all,
                        member=True, work=regex_work,
                    ),
                    Overload(
                        "string_find_all_string_int", (s, s, t.INT), texts, _find_all,
                        member=True, work=regex_work,
                    ),
                ],
            ),
        ]
    )  # fmt: skip
