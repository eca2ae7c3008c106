"""What a value is expected to be: itself, or what a matcher says of it.

`3` expects the value 3, and `{matches: "^a"}` a text that the expression finds. A mapping whose
keys are all names of matchers is one; `equals` takes a mapping that only looks like one.
Source: docs/spec/test.md section 2.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from krm_fn.errors import CompileError, ConfigError, did_you_mean
from krm_fn.lang.go.regexp import compile_regex
from krm_fn.values import MISSING, compact, equal

Check = Callable[[Any], bool]


class Matcher(NamedTuple):
    """What is expected of a value; MISSING stands for none."""

    expected: Any
    """As it is written in the suite."""
    check: Check

    def __str__(self) -> str:
        return compact(self.expected)


def matcher(expected: Any) -> Matcher:
    """The matcher that a suite's value stands for. Raises ConfigError without a place."""
    return Matcher(expected, _check(expected))


def _check(expected: Any) -> Check:
    if type(expected) is not dict or not expected:
        return lambda value: value is not MISSING and equal(value, expected)
    known = [key for key in expected if key in _MATCHERS]
    if not known:
        return lambda value: value is not MISSING and equal(value, expected)
    if len(known) < len(expected):
        (other, *_) = (key for key in expected if key not in _MATCHERS)
        hint = did_you_mean(str(other), _MATCHERS) or f"; matchers are {', '.join(_MATCHERS)}"
        raise ConfigError(
            f"{other}: unknown matcher{hint}; a mapping with the key {known[0]} is expected by "
            "equals"
        )
    checks = [_MATCHERS[name](argument) for name, argument in expected.items()]
    return lambda value: all(check(value) for check in checks)


def _equals(argument: Any) -> Check:
    return lambda value: value is not MISSING and equal(value, argument)


def _matches(argument: Any) -> Check:
    if type(argument) is not str:
        raise ConfigError("matches takes a regular expression")
    try:
        regex = compile_regex(argument)
    except CompileError as error:
        raise ConfigError(f"matches: {error.message}") from None
    return lambda value: type(value) is str and regex.search(value)


def _contains(argument: Any) -> Check:
    def check(value: Any) -> bool:
        if type(value) is str:
            return type(argument) is str and argument in value
        if type(value) is list:
            return any(_is_part(argument, element) for element in value)
        return type(value) is dict and _is_part(argument, value)

    return check


def _is_part(part: Any, value: Any) -> bool:
    """Whether a value has all members of a mapping, and those theirs; other values are equal."""
    if type(part) is dict and type(value) is dict:
        return all(key in value and _is_part(inner, value[key]) for key, inner in part.items())
    return equal(part, value)


def _absent(argument: Any) -> Check:
    wanted = _boolean(argument, "absent")
    return lambda value: (value is MISSING or value == []) is wanted


def _present(argument: Any) -> Check:
    wanted = _boolean(argument, "present")
    return lambda value: (value is not MISSING) is wanted


def _all(argument: Any) -> Check:
    each = _check(argument)
    return lambda value: type(value) is list and bool(value) and all(map(each, value))


def _any(argument: Any) -> Check:
    each = _check(argument)
    return lambda value: type(value) is list and any(map(each, value))


def _not(argument: Any) -> Check:
    inner = _check(argument)
    return lambda value: not inner(value)


def _one_of(argument: Any) -> Check:
    if type(argument) is not list or not argument:
        raise ConfigError("oneOf takes a list of values or matchers")
    checks = [_check(one) for one in argument]
    return lambda value: any(check(value) for check in checks)


def _length(argument: Any) -> Check:
    if type(argument) is int:
        return lambda value: type(value) in _SIZED and len(value) == argument
    inner = _check(argument)
    return lambda value: type(value) in _SIZED and inner(len(value))


_SIZED: Final = (str, list, dict)


def _boolean(argument: Any, name: str) -> bool:
    if type(argument) is not bool:
        raise ConfigError(f"{name} is true or false")
    return bool(argument)


_MATCHERS: Final[Mapping[str, Callable[[Any], Check]]] = {
    "equals": _equals,
    "matches": _matches,
    "contains": _contains,
    "absent": _absent,
    "present": _present,
    "all": _all,
    "any": _any,
    "not": _not,
    "oneOf": _one_of,
    "length": _length,
}


def selected(values: Sequence[Any], jsonpath: str) -> Any:
    """What a matcher is asked about: the value of a path to one place, else the list of all."""
    if any(sign in jsonpath for sign in ("*", "..", "?", "|", ":", ",")):
        return list(values)
    return values[0] if values else MISSING
