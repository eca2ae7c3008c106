"""Plain values as objects of annotated classes: a function's configuration, or any mapping.

A class is a dataclass, or has annotations and is made without arguments; what it gives a value is
optional. Its `dry_run` is filled from `dry_run` or `dryRun`.
"""

from __future__ import annotations

import dataclasses
import enum
import re
import types
import typing
from collections.abc import Mapping
from typing import Any, Final, TypeVar

from krm_fn.errors import did_you_mean
from krm_fn.sdk.subobject import FieldTypeError
from krm_fn.values import Path, format_path
from krm_fn.wire import YamlError
from krm_fn.wire.compose import compose

Decoded = TypeVar("Decoded")

_NONE: Final = type(None)


def decode(
    cls: type[Decoded],
    value: Mapping[str, Any],
    where: str,
    path: Path = (),
    *,
    texts: bool = False,
    strict: bool = False,
) -> Decoded:
    """Returns an object of `cls` filled from a mapping.

    With `texts`, members are strings as in a ConfigMap: what is to be of another type is read as
    YAML. With `strict`, members that the class does not have are errors. Raises FieldTypeError with
    the path of the member; `where` is the place that it names, `path` what the path begins with.
    """
    decoder = _Decoder(where, texts, strict)
    decoded: Decoded = decoder.members(cls, value, path)
    return decoded


class _Decoder:
    def __init__(self, where: str, texts: bool, strict: bool) -> None:
        self._where = where
        self._texts = texts
        self._strict = strict

    def members(self, cls: Any, value: Mapping[str, Any], path: Path) -> Any:
        hints = {n: h for n, h in typing.get_type_hints(cls).items() if not n.startswith("_")}
        names = {key: name for name in hints for key in (_camel(name), name)}
        given: dict[str, Any] = {}
        for key, member in value.items():
            name = names.get(key)
            if name is None:
                if self._strict:
                    known = dict.fromkeys(map(_camel, hints))
                    self._fail((*path, key), f"is not known{did_you_mean(key, known)}")
            elif name in given:
                self._fail((*path, key), f"is there twice, as {name} and {_camel(name)}")
            else:
                given[name] = self._member(hints[name], member, (*path, key))
        for name in hints:
            if name not in given and not _has_default(cls, name):
                self._fail((*path, _camel(name)), "is missing")
        make: Any = cls
        if dataclasses.is_dataclass(cls):
            return make(**given)
        made = make()
        for name, member in given.items():
            setattr(made, name, member)
        return made

    def _member(self, hint: Any, member: Any, path: Path) -> Any:
        if self._texts and type(member) is str and not _takes_text(hint):
            try:
                roots = compose(member).roots
            except YamlError:
                self._fail(path, f"is no YAML; it must be {_name(hint)}")
            member = roots[0].value if roots else None
        return self.value(hint, member, path)

    def value(self, hint: Any, value: Any, path: Path) -> Any:
        origin, arguments = typing.get_origin(hint), typing.get_args(hint)
        if hint is Any:
            return value
        if origin in (typing.Union, types.UnionType):
            return self._first_of(hint, arguments, value, path)
        if origin is typing.Literal:
            if any(type(value) is type(one) and value == one for one in arguments):
                return value
        elif (origin or hint) is list and type(value) is list:
            element = arguments[0] if arguments else Any
            return [self.value(element, one, (*path, n)) for n, one in enumerate(value)]
        elif (origin or hint) is dict and type(value) is dict:
            member = arguments[1] if arguments else Any
            return {key: self.value(member, one, (*path, key)) for key, one in value.items()}
        elif hint is float and type(value) is int:
            return float(value)
        elif hint in (str, int, float, bool, _NONE):
            if type(value) is hint:
                return value
        elif isinstance(hint, type) and issubclass(hint, enum.Enum):
            if any(one.value == value for one in hint):
                return hint(value)
        elif isinstance(hint, type) and isinstance(value, dict):
            nested = _Decoder(self._where, False, self._strict)
            return nested.members(hint, value, path)
        return self._fail(path, f"is {_what(value)}; it must be {_name(hint)}")

    def _first_of(self, hint: Any, arguments: tuple[Any, ...], value: Any, path: Path) -> Any:
        for one in arguments:
            try:
                return self.value(one, value, path)
            except FieldTypeError as error:
                if len([a for a in arguments if a is not _NONE]) == 1 and one is not _NONE:
                    raise error from None
        return self._fail(path, f"is {_what(value)}; it must be {_name(hint)}")

    def _fail(self, path: Path, message: str) -> typing.NoReturn:
        raise FieldTypeError(f"{format_path(path)} {message}", self._where)


def _camel(name: str) -> str:
    return re.sub(r"_([a-z0-9])", lambda match: match[1].upper(), name)


def _has_default(cls: Any, name: str) -> bool:
    if dataclasses.is_dataclass(cls):
        one = next(f for f in dataclasses.fields(cls) if f.name == name)
        missing = dataclasses.MISSING
        return one.default is not missing or one.default_factory is not missing
    return hasattr(cls, name)


def _takes_text(hint: Any) -> bool:
    """Whether a text needs no reading for it: strings, and choices of strings."""
    arguments = typing.get_args(hint)
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        return str in arguments
    if typing.get_origin(hint) is typing.Literal:
        return all(type(one) is str for one in arguments)
    if isinstance(hint, type) and issubclass(hint, enum.Enum):
        return all(type(one.value) is str for one in hint)
    return hint is str or hint is Any


_NAMES: Final = {
    str: "a string",
    int: "an integer",
    float: "a number",
    bool: "true or false",
    list: "a list",
    dict: "a mapping",
    _NONE: "null",
}


def _name(hint: Any) -> str:
    """What a type is to the author of a configuration."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        return " or ".join(_name(one) for one in arguments if one is not _NONE)
    if origin is typing.Literal:
        return " or ".join(map(str, arguments))
    if isinstance(hint, type) and issubclass(hint, enum.Enum):
        return " or ".join(str(one.value) for one in hint)
    return _NAMES.get(origin or hint, "a mapping")


def _what(value: Any) -> str:
    if type(value) in (bool, int, float, str):
        kind = "boolean" if type(value) is bool else "string" if type(value) is str else "number"
        return f"a {kind}"
    return _NAMES.get(type(value), "a value")
