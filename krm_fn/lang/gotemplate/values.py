"""What a template's values are beyond JSON's: the context, pointers, objects, functions and types.

Go's reflection tells three kinds of "nothing" apart, and so must this engine, since whether a rule
is skipped depends on it: MISSING (no value at all: a missing map key, printed `<no value>`), None
(null: a member that is there and empty, whose fields are an error) and a nil list or map (`GoList`,
`GoMap`). This module knows nothing of templates' syntax.
Source: Go's text/template (exec.go, funcs.go).
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar

from krm_fn.lang.go.values import GoError, GoInt, GoList, GoMap, GoObject, to_float, type_name
from krm_fn.lang.nodes import Frozen
from krm_fn.values import MISSING


class FunctionError(GoError):
    """Why a function refuses its arguments; becomes `error calling NAME: reason`."""


class RefusedError(FunctionError):
    """Why this program has no answer where Go has one; to be read behind the function's name."""


class TypeMismatchError(Exception):
    """Why a value is no argument of a parameter's type."""


class Object(GoObject):
    """A value whose fields and methods a template reaches by its own `member`."""

    __slots__ = ()

    def member(self, name: str) -> Any:
        """A field's value, or a method as a `Function`; raises KeyError where there is none."""
        raise KeyError(name)


class Pointer(Object):
    """A pointer to an interface value: what `.Target` is.

    Fields, `index`, `range`, `with` and `len` see through it; functions that take a map refuse it,
    and its text would be a memory address.
    """

    __slots__ = ("value",)
    go_type = "*interface {}"
    go_kind = "ptr"

    def __init__(self, value: Any) -> None:
        self.value = value

    def go_json(self) -> Any:
        return self.value


class Struct(Object):
    """A template's context: exactly the given fields, in this order; others are errors."""

    __slots__ = ("fields", "go_type")
    go_type: str  # type: ignore[misc]

    def __init__(self, fields: Mapping[str, Any], go_type: str = "*core.Context") -> None:
        self.fields = dict(fields)
        self.go_type = go_type

    @property
    def go_kind(self) -> str:  # type: ignore[override]
        """A pointer's type name starts with an asterisk."""
        return "ptr" if self.go_type.startswith("*") else "struct"

    def member(self, name: str) -> Any:
        return self.fields[name]

    def go_fields(self) -> dict[str, Any] | None:
        return None if self.go_type.startswith("*") else self.fields

    def go_json(self) -> Any:
        return self.fields


def indirect(value: Any) -> Any:
    """The value that a pointer points to."""
    return value.value if type(value) is Pointer else value


def truth(value: Any) -> bool:
    """What `if` makes of a value. Source: text/template isTrue."""
    if value is None or value is MISSING:
        return False
    if type(value) is Pointer:
        return True
    if isinstance(value, GoObject):
        return True
    return bool(value)


def nil_map() -> GoMap:
    """Go's nil map: empty, and nothing can be put in."""
    return GoMap(is_nil=True)


def nil_list(go_type: str = "[]interface {}") -> GoList:
    """Go's nil slice: empty, and JSON's null."""
    return GoList(go_type=go_type, is_nil=True)


_F = TypeVar("_F", bound=Callable[..., Any])


class Type(Frozen):
    """The type of a parameter: which values it accepts, and what nil is in it."""

    name: str
    accepts: Callable[[Any], bool]
    nil: Callable[[], Any] | None = None
    convert: Callable[[Any], Any] | None = None
    literal: str = ""
    """For integers other than int: `int` or `uint`, whichever a literal is that is converted."""

    def check(self, value: Any) -> Any:
        """`value` as this type; raises TypeMismatchError. Source: exec.go validateType."""
        if value is MISSING:
            if self.nil is None:
                raise TypeMismatchError(f"invalid value; expected {self.name}")
            return self.nil()
        if not self.accepts(value):
            got = "interface {}" if value is None else type_name(value)
            raise TypeMismatchError(f"wrong type for value; expected {self.name}; got {got}")
        return value if self.convert is None else self.convert(value)


def _nothing() -> None:
    return None


STRING: Final = Type("string", lambda v: type(v) is str)
BOOL: Final = Type("bool", lambda v: type(v) is bool)
INT: Final = Type("int", lambda v: type(v) is GoInt)
FLOAT: Final = Type("float64", lambda v: type(v) in (int, float), None, to_float)
ANY: Final = Type("interface {}", lambda _: True, _nothing)
VALUE: Final = Type("reflect.Value", lambda _: True, _nothing)
MAP: Final = Type(
    "map[string]interface {}",
    lambda v: isinstance(v, dict) and type_name(v) == "map[string]interface {}",
    nil_map,
)
LIST: Final = Type(
    "[]interface {}",
    lambda v: isinstance(v, list) and type_name(v) == "[]interface {}",
    nil_list,
)

TYPES: Final = {
    "string": STRING,
    "bool": BOOL,
    "int": INT,
    "float": FLOAT,
    "any": ANY,
    "value": VALUE,
    "map": MAP,
    "list": LIST,
}


class Function(Frozen):
    """A function of templates with its signature.

    `call` takes the parameters in order, the last one any number of times if `variadic`; before
    them it takes the render's `Budget` where `budget` is set, and then its `Draws` (the clock and
    the dice) where `draws` is set.
    """

    name: str
    call: Callable[..., Any]
    parameters: tuple[Type, ...]
    variadic: Type | None = None
    budget: bool = False
    mutates: bool = False
    draws: bool = False


class Family(dict[str, Function]):
    """Functions by name, filled by its own decorator."""

    def function(
        self,
        names: str,
        signature: str = "",
        *,
        types: Mapping[str, Type] = TYPES,
        budget: bool = False,
        mutates: bool = False,
        draws: bool = False,
    ) -> Callable[[_F], _F]:
        """Register a function under its names; `string int ...any` is a signature."""
        parameters: list[Type] = []
        variadic = None
        for word in signature.split():
            if word.startswith("..."):
                variadic = types[word[3:]]
            else:
                parameters.append(types[word])

        def register(call: _F) -> _F:
            for name in names.split():
                self[name] = Function(
                    name, call, tuple(parameters), variadic, budget, mutates, draws
                )
            return call

        return register


class Methods(Family):
    """The methods of a type by name: functions that take their receiver before all else."""

    def add(
        self,
        name: str,
        signature: str,
        call: Callable[..., Any],
        types: Mapping[str, Type] = TYPES,
    ) -> None:
        """Register a method, as `function` does."""
        self.function(name, signature, types=types)(call)

    def bound(self, name: str, receiver: Any) -> Function:
        """A method of one value; raises KeyError where the type has no such method."""
        method = self[name]
        call = functools.partial(method.call, receiver)
        return Function(name, call, method.parameters, method.variadic, method.budget)
