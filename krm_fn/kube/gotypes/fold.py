"""JSON into Go types as encoding/json decodes it: names match in any case.

Where two keys name one field, the second is decoded into what the first left there. Unknown names
are dropped. Single values are passed on as they are: who writes them (`served`) checks them, and
what is wrong is the same `MismatchError`.
Source: Go's encoding/json (decode.go, fold.go).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, Final

from krm_fn.errors import EvaluationError
from krm_fn.kube.schema import Field, Struct, Type, Value
from krm_fn.kube.served.mismatch import MismatchError
from krm_fn.kube.served.plan import Plan
from krm_fn.lang.go.json.encode import float_text
from krm_fn.values import Json

_FOLDS: Final = str.maketrans({"\u017f": "s", "\u212a": "k"})
_READ_BY_THEMSELVES: Final = frozenset((Value.QUANTITY, Value.INT_OR_STRING, Value.TIME))
"""Types that make something of null, too."""
_WHOLE: Final = frozenset((Value.INT32, Value.INT64, Value.INT_OR_STRING))
_NIL: Final = frozenset((Value.LIST, Value.MAP))


def folded(name: str) -> str:
    """A name as it is compared: ASCII in lower case, and the two characters that fold to it."""
    return name.translate(_FOLDS).lower()


def all_fields(struct: Struct) -> Mapping[str, Field]:
    """The fields of a type in Go's order."""
    return struct.fields


class Folding:
    """A decoder for some types.

    `fields` gives those that a type has. `as_text` makes a string of a number or a boolean where a
    field wants one, as readers of YAML do, but not below the fields for which `is_plain` holds.
    """

    def __init__(
        self,
        plan: Plan,
        fields: Callable[[Struct], Mapping[str, Field]] = all_fields,
        as_text: Callable[[Any], str] | None = None,
        is_plain: Callable[[Struct, Field], bool] = lambda struct, field: False,
    ) -> None:
        self._plan = plan
        self._fields = fields
        self._as_text = as_text
        self._is_plain = is_plain
        self._plain = self if as_text is None else Folding(plan, fields)
        self._known: dict[str, tuple[Mapping[str, Field], dict[str, Field]]] = {}

    def read(self, value: Any, struct: Struct) -> Json:
        """A value as its type reads and writes it. Raises MismatchError, EvaluationError."""
        written: Json = self._plan.struct(struct)(self._struct(value, struct, {}))
        return written

    def _names(self, struct: Struct) -> tuple[Mapping[str, Field], dict[str, Field]]:
        """A type's fields by their names, and by their folded names."""
        names = self._known.get(struct.name)
        if names is None:
            exact = self._fields(struct)
            lower: dict[str, Field] = {}
            for name, field in exact.items():
                lower.setdefault(folded(name), field)
            names = self._known[struct.name] = exact, lower
        return names

    def _struct(self, value: Any, struct: Struct, there: Json) -> Json:
        """`value` decoded into what is there already, with the members in Go's order."""
        if type(value) is not dict:
            raise MismatchError("a map", value)
        exact, lower = self._names(struct)
        result = dict(there)
        # Keys come in the order in which a map's JSON has them.
        for key in sorted(value):
            member = value[key]
            field = exact.get(key) or lower.get(folded(key))
            if field is None:
                _check_json(member, key)
                continue
            if member is None:
                if field.type.pointer or field.type.value in _NIL or _reads_null(field.type):
                    result.pop(field.name, None)
                continue
            if field.name in result:
                # What is wrong with the first of two stays wrong.
                self._plan.struct(struct)({field.name: result[field.name]})
            decoder = self._plain if self._is_plain(struct, field) else self
            try:
                result[field.name] = decoder._value(member, field.type, result.get(field.name))
            except MismatchError as mismatch:
                mismatch.steps.append(key)
                raise
        return {name: result[name] for name in exact if name in result}

    def _value(self, value: Any, kind: Type, there: Any) -> Any:
        """A value that is not null."""
        if kind.value is Value.STRUCT:
            return self._struct(value, kind.struct, there or {})
        if kind.value is Value.LIST:
            return self._list(value, kind, there or [])
        if kind.value is Value.MAP:
            return self._map(value, kind, there or {})
        if self._as_text is not None and kind.value is Value.STRING:
            return self._as_text(value) if type(value) in (bool, int, float) else value
        if kind.value in _WHOLE and type(value) is float and value.is_integer():
            # What JSON has of a float are its shortest digits, and zeros.
            digits = float_text(value)
            return value if "e" in digits else int(digits)
        return value

    def _list(self, value: Any, kind: Type, there: list[Any]) -> list[Any]:
        if type(value) is not list:
            raise MismatchError("a list", value)
        assert kind.element is not None
        result = []
        for n, member in enumerate(value):
            old = there[n] if n < len(there) else None
            if member is None:
                result.append(None if _reads_null(kind.element) else old)
                continue
            try:
                result.append(self._value(member, kind.element, old))
            except MismatchError as mismatch:
                mismatch.steps.append(n)
                raise
        return result

    def _map(self, value: Any, kind: Type, there: Json) -> Json:
        if type(value) is not dict:
            raise MismatchError("a map", value)
        assert kind.element is not None
        result = dict(there)
        for key in sorted(value):
            try:
                member = value[key]
                result[key] = None if member is None else self._value(member, kind.element, None)
            except MismatchError as mismatch:
                mismatch.steps.append(key)
                raise
        return result


def _reads_null(kind: Type) -> bool:
    return kind.value in _READ_BY_THEMSELVES


def _check_json(value: Any, key: str) -> None:
    """JSON has no infinite numbers, whether anybody wants them or not."""
    left = [value]
    while left:
        member = left.pop()
        if type(member) is dict:
            left += member.values()
        elif type(member) is list:
            left += member
        elif type(member) is float and not math.isfinite(member):
            raise EvaluationError(f"json: unsupported value: {member} in {key}")
