"""JSONPath and JSON Patch over plain values, by jsonpath-ng and jsonpatch; loaded when used."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

import jsonpatch
from jsonpath_ng import Child, Fields, Index, Root, This
from jsonpath_ng.exceptions import JSONPathError
from jsonpath_ng.ext.parser import parse as parse_jsonpath
from jsonpath_ng.ext.string import DefintionInvalid

from krm_fn.errors import KrmFnError
from krm_fn.values import Json, Path


def find(jsonpath: str, value: Json) -> Iterator[tuple[Path, Any]]:
    """Yields the paths and values that a JSONPath selects in a mapping. Raises KrmFnError."""
    for match in _parsed(jsonpath).find(value):
        path = _path(match.full_path, value)
        if path is None:
            raise KrmFnError(
                f"the JSONPath {jsonpath} computes values that stand nowhere in the object"
            )
        yield path, match.value


@lru_cache(maxsize=128)
def _parsed(jsonpath: str) -> Any:
    try:
        return parse_jsonpath(jsonpath)
    except (JSONPathError, DefintionInvalid) as error:
        raise KrmFnError(f"the JSONPath {jsonpath} cannot be read: {error}") from None


def _path(found: Any, value: Any) -> Path | None:
    """The path that a match stands at, with indexes counted from the front; None for no place."""
    steps: list[str | int] = []
    pending = [found]
    while pending:
        step = pending.pop()
        match step:
            case Child():
                pending += (step.right, step.left)
            case Fields(fields=(str(name),)):
                steps.append(name)
            case Index(indices=(int(number),)):
                steps.append(number)
            case Root() | This():
                continue
            case _:
                return None
    for n, one in enumerate(steps):
        if type(value) is dict and type(one) is str and one in value:
            value = value[one]
        elif type(value) is list and type(one) is int and -len(value) <= one < len(value):
            steps[n] = one % len(value)
            value = value[one]
        else:
            return None
    return tuple(steps)


def patched(value: Json, operations: Sequence[Mapping[str, Any]]) -> Json:
    """Returns a mapping with a JSON Patch applied. Raises KrmFnError."""
    try:
        result = jsonpatch.JsonPatch(list(operations)).apply(value)
    except (jsonpatch.JsonPatchException, jsonpatch.JsonPointerException) as error:
        raise KrmFnError(f"the JSON patch cannot be applied: {error}") from None
    if type(result) is not dict:
        raise KrmFnError("the JSON patch leaves no mapping")
    return result
