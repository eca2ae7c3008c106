"""Sprig's list functions. None of them changes its list.

Source: Sprig's list.go and numeric.go (until, seq).
"""

from __future__ import annotations

import math
from typing import Any, Final

from krm_fn.lang.budget import Budget
from krm_fn.lang.go.values import GoInt, GoList, type_name
from krm_fn.lang.gotemplate.sprig.compare import deep_equal
from krm_fn.lang.gotemplate.sprig.convert import elements, is_empty, to_int64, wrap_int64
from krm_fn.lang.gotemplate.values import Family, FunctionError, nil_list

FUNCTIONS: Final = Family()


@FUNCTIONS.function("list tuple", "...any")
def list_(*values: Any) -> list[Any]:
    return list(values)


@FUNCTIONS.function("append push mustAppend mustPush", "any any")
def append(values: Any, value: Any) -> list[Any]:
    return [*elements(values, "push on"), value]


@FUNCTIONS.function("prepend mustPrepend", "any any")
def prepend(values: Any, value: Any) -> list[Any]:
    return [value, *elements(values, "prepend on")]


@FUNCTIONS.function("concat", "...any")
def concat(*lists: Any) -> list[Any]:
    result: list[Any] = []
    for values in lists:
        result += elements(values, "concat")
    return result or nil_list()


@FUNCTIONS.function("first mustFirst", "any")
def first(values: Any) -> Any:
    found = elements(values, "find first on")
    return found[0] if found else None


@FUNCTIONS.function("last mustLast", "any")
def last(values: Any) -> Any:
    found = elements(values, "find last on")
    return found[-1] if found else None


@FUNCTIONS.function("rest mustRest", "any")
def rest(values: Any) -> list[Any]:
    found = elements(values, "find rest on")
    return list(found[1:]) if found else nil_list()


@FUNCTIONS.function("initial mustInitial", "any")
def initial(values: Any) -> list[Any]:
    found = elements(values, "find initial on")
    return list(found[:-1]) if found else nil_list()


@FUNCTIONS.function("reverse mustReverse", "any")
def reverse(values: Any) -> list[Any]:
    return list(elements(values, "find reverse on")[::-1])


@FUNCTIONS.function("compact mustCompact", "any")
def compact(values: Any) -> list[Any]:
    return [value for value in elements(values, "compact on") if not is_empty(value)]


@FUNCTIONS.function("uniq mustUniq", "any", budget=True)
def uniq(budget: Budget, values: Any) -> list[Any]:
    kept: list[Any] = []
    for value in elements(values, "find uniq on"):
        if not _contains(budget, kept, value):
            kept.append(value)
    return kept


@FUNCTIONS.function("without mustWithout", "any ...any", budget=True)
def without(budget: Budget, values: Any, *omitted: Any) -> list[Any]:
    found = elements(values, "find without on")
    return [value for value in found if not _contains(budget, list(omitted), value)]


@FUNCTIONS.function("has mustHas", "any any", budget=True)
def has(budget: Budget, needle: Any, haystack: Any) -> bool:
    if haystack is None:
        return False
    return _contains(budget, elements(haystack, "find has on"), needle)


def _contains(budget: Budget, values: list[Any], needle: Any) -> bool:
    return any(deep_equal(budget, needle, value) for value in values)


@FUNCTIONS.function("slice mustSlice", "any ...any")
def slice_(values: Any, *bounds: Any) -> Any:
    """A part of a list, of the list's own type; of an empty list nothing."""
    if values is not None and not isinstance(values, list):
        raise FunctionError(f"list should be type of slice or array but {type_name(values)}")
    found = elements(values, "slice")
    if not found:
        return None
    start = to_int64(bounds[0]) if bounds else 0
    end = to_int64(bounds[1]) if len(bounds) > 1 else len(found)
    if not 0 <= start <= end <= len(found):
        raise FunctionError("reflect.Value.Slice: slice index out of bounds")
    part = found[start:end]
    return GoList(part, go_type=found.go_type) if isinstance(found, GoList) else part


@FUNCTIONS.function("chunk mustChunk", "int any")
def chunk(size: int, values: Any) -> list[Any]:
    """Lists of `size` elements, the last of what is left."""
    found = elements(values, "chunk")
    length = len(found)
    if size <= 0:
        # Go divides by the size as a float and takes what comes out as a count of lists.
        if length == 1 and size < -1:
            return GoList([list(found)], go_type="[][]interface {}")
        if size == 0 or math.floor((length - 1) / size) != -1:
            raise FunctionError("runtime error: makeslice: len out of range")
        return GoList([], go_type="[][]interface {}")
    parts = [list(found[n : n + size]) for n in range(0, length, size)]
    return GoList(parts, go_type="[][]interface {}")


# Numbers in a row


def _row(budget: Budget, start: int, stop: int, step: int) -> GoList:
    """From start up or down to but without stop. Source: untilStep."""
    if stop < start:
        count = 0 if step >= 0 else -((start - stop) // step)
    else:
        count = 0 if step <= 0 else -((start - stop) // step)
    count = max(count, 0)
    # Each number is an object of its own.
    budget.spend(count)
    numbers = (GoInt(start + n * step) for n in range(count))
    return GoList(numbers, go_type="[]int")


@FUNCTIONS.function("until", "int", budget=True)
def until(budget: Budget, count: int) -> GoList:
    return _row(budget, 0, count, -1 if count < 0 else 1)


@FUNCTIONS.function("untilStep", "int int int", budget=True)
def until_step(budget: Budget, start: int, stop: int, step: int) -> GoList:
    return _row(budget, start, stop, step)


@FUNCTIONS.function("seq", "...int", budget=True)
def seq(budget: Budget, *bounds: int) -> str:
    """The numbers of one, two or three bounds, the last included, with spaces between them."""
    if not 1 <= len(bounds) <= 3:
        return ""
    start = bounds[0] if len(bounds) > 1 else 1
    end = bounds[-1]
    down = end < start
    edge = -1 if down else 1
    step = bounds[1] if len(bounds) == 3 else edge
    if down and step > 0:
        return ""
    numbers = _row(budget, int(start), wrap_int64(end + edge), int(step))
    budget.text(sum(len(str(number)) + 1 for number in numbers))
    return " ".join(map(str, numbers))
