"""Sprig's map functions. `set`, `unset` and `merge` change their first argument, as in Go.

Go's maps have no order; `keys` and `values` are sorted here, so that a render is repeatable.
Source: Sprig's dict.go, github.com/imdario/mergo 0.3.11 (merge.go).
"""

from __future__ import annotations

from typing import Any, Final

from krm_fn.lang.budget import Budget
from krm_fn.lang.go.values import GoList, GoMap, is_nil, type_name
from krm_fn.lang.gotemplate.sprig.convert import is_empty, string_list, strval
from krm_fn.lang.gotemplate.values import Family, FunctionError, Pointer

FUNCTIONS: Final = Family()

Map = dict[str, Any]


@FUNCTIONS.function("dict", "...any", budget=True)
def dict_(budget: Budget, *values: Any) -> Map:
    """Keys and values in turn; a key without a value has an empty text."""
    return {
        strval(budget, values[n]): values[n + 1] if n + 1 < len(values) else ""
        for n in range(0, len(values), 2)
    }


@FUNCTIONS.function("get", "map string")
def get(mapping: Map, key: str) -> Any:
    return mapping.get(key, "")


@FUNCTIONS.function("set", "map string any", mutates=True)
def set_(mapping: Map, key: str, value: Any) -> Map:
    if is_nil(mapping):
        raise FunctionError("assignment to entry in nil map")
    mapping[key] = value
    return mapping


@FUNCTIONS.function("unset", "map string", mutates=True)
def unset(mapping: Map, key: str) -> Map:
    mapping.pop(key, None)
    return mapping


@FUNCTIONS.function("hasKey", "map string")
def has_key(mapping: Map, key: str) -> bool:
    return key in mapping


@FUNCTIONS.function("pluck", "string ...map")
def pluck(key: str, *mappings: Map) -> list[Any]:
    return [mapping[key] for mapping in mappings if key in mapping]


@FUNCTIONS.function("keys", "...map")
def keys(*mappings: Map) -> GoList:
    return string_list([key for mapping in mappings for key in sorted(mapping)])


@FUNCTIONS.function("values", "map")
def values(mapping: Map) -> list[Any]:
    return [mapping[key] for key in sorted(mapping)]


@FUNCTIONS.function("pick", "map ...string")
def pick(mapping: Map, *names: str) -> Map:
    return {name: mapping[name] for name in names if name in mapping}


@FUNCTIONS.function("omit", "map ...string")
def omit(mapping: Map, *names: str) -> Map:
    omitted = frozenset(names)
    return {key: value for key, value in mapping.items() if key not in omitted}


@FUNCTIONS.function("dig", "...any")
def dig(*path: Any) -> Any:
    """Keys, a default and a map: the value at the keys, or the default where one is missing."""
    if len(path) < 3:
        raise FunctionError("dig needs at least three arguments")
    *names, default, mapping = path
    at = _as_map(mapping)
    for name in names:
        if type(name) is not str:
            raise FunctionError(f"interface conversion: interface {{}} is {type_name(name)}")
    for name in names[:-1]:
        if name not in at:
            return default
        at = _as_map(at[name])
    return at.get(names[-1], default)


def _as_map(value: Any) -> Map:
    if isinstance(value, dict) and type_name(value) == "map[string]interface {}":
        return value
    got = "nil" if value is None else type_name(value)
    reason = f"interface conversion: interface {{}} is {got}, not map[string]interface {{}}"
    raise FunctionError(reason)


# Copies


@FUNCTIONS.function("deepCopy mustDeepCopy", "any", budget=True)
def deep_copy(budget: Budget, value: Any) -> Any:
    if value is None:
        raise FunctionError("reflect: call of reflect.Value.Type on zero Value")
    return _copy(budget, value)


def _copy(budget: Budget, value: Any) -> Any:
    budget.spend(1)
    if isinstance(value, list):
        copied = [_copy(budget, element) for element in value]
        return GoList(copied, value.go_type, value.is_nil) if isinstance(value, GoList) else copied
    if isinstance(value, dict):
        mapped = {key: _copy(budget, element) for key, element in value.items()}
        return GoMap(mapped, value.go_type, value.is_nil) if isinstance(value, GoMap) else mapped
    if type(value) is Pointer:
        return Pointer(_copy(budget, value.value))
    return value


# Merging


@FUNCTIONS.function("merge mustMerge", "map ...map", budget=True, mutates=True)
def merge(budget: Budget, target: Map, *sources: Map) -> Map:
    """Fill what is missing or empty in the first map from the others."""
    return _merged(budget, target, sources, overwrite=False)


@FUNCTIONS.function("mergeOverwrite mustMergeOverwrite", "map ...map", budget=True, mutates=True)
def merge_overwrite(budget: Budget, target: Map, *sources: Map) -> Map:
    """Put the members of the others into the first map, empty ones as well."""
    return _merged(budget, target, sources, overwrite=True)


def _merged(budget: Budget, target: Map, sources: tuple[Map, ...], overwrite: bool) -> Map:
    for source in sources:
        if is_nil(target) and not is_nil(source):
            target = {}
        _merge(budget, target, source, overwrite)
    return target


def _merge(budget: Budget, target: Map, source: Map, overwrite: bool) -> None:
    """One map into another. Source: mergo's deepMerge."""
    for key, value in list(source.items()):
        budget.spend(1)
        old = target.get(key)
        if value is None:
            if overwrite:
                target[key] = None
            continue
        if isinstance(value, dict):
            if isinstance(old, dict):
                _merge(budget, old, value, overwrite)
            # A map does not overwrite a text or a number either.
            if is_empty(old):
                _put(target, key, value)
        elif overwrite or is_empty(old):
            _put(target, key, value)


def _put(target: Map, key: str, value: Any) -> None:
    if type_name(target) == "map[string]string" and type(value) is not str:
        got = type_name(value)
        raise FunctionError(f"reflect.Value.SetMapIndex: {got} is not assignable to type string")
    target[key] = value
