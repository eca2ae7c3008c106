"""Which fields of an object its type does not have: what strict decoding reports.

A second walk, made only where the round trip dropped something, so that it need not keep paths.
Source: the served form's specification, section (b); sigs.k8s.io/json.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any, NamedTuple

from krm_fn import limits
from krm_fn.errors import did_you_mean
from krm_fn.kube.schema import Struct, Type, Value
from krm_fn.values import Json, Path, format_path


class StrictFinding(NamedTuple):
    """Something that strict validation would refuse: where, and a sentence."""

    path: Path
    message: str


def unknown_fields(value: Json, struct: Struct) -> tuple[StrictFinding, ...]:
    """The fields that the type does not have, in the order of the object, up to a limit."""
    return tuple(islice(_of_struct(value, struct, ()), limits.STRICT_FINDINGS))


def unknown_field(path: Path, known: Iterator[str] | list[str]) -> StrictFinding:
    """The finding about one field beside the known ones."""
    hint = did_you_mean(str(path[-1]), known)
    return StrictFinding(path, f"unknown field {format_path(path)}{hint}")


def _of_struct(value: Any, struct: Struct, path: Path) -> Iterator[StrictFinding]:
    if type(value) is not dict:
        return
    for key, member in value.items():
        field = struct.fields.get(key)
        if field is None:
            yield unknown_field((*path, key), list(struct.fields))
        elif type(member) in (dict, list):
            yield from _of_type(member, field.type, (*path, key))


def _of_type(value: Any, type_: Type, path: Path) -> Iterator[StrictFinding]:
    if type_.value is Value.STRUCT:
        yield from _of_struct(value, type_.struct, path)
    elif type_.value is Value.LIST and type(value) is list:
        assert type_.element is not None
        for n, member in enumerate(value):
            yield from _of_type(member, type_.element, (*path, n))
    elif type_.value is Value.MAP and type(value) is dict:
        assert type_.element is not None
        for key, member in value.items():
            yield from _of_type(member, type_.element, (*path, key))
