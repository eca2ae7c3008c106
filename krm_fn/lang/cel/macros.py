"""The macros: calls that stand for comprehensions.

Each expands as in cel-go, since the checker's messages speak of the expansion. The shape that a
comprehension is given lets the compiler run it as the loop that was meant.
Source: cel-go v0.29, parser/macro.go, cel/library.go, ext/comprehensions.go, ext/lists.go.
"""

from __future__ import annotations

from typing import Final

from krm_fn import limits
from krm_fn.lang.cel.ast import (
    Call,
    Comprehension,
    Entry,
    Ident,
    ListExpr,
    Literal,
    MapExpr,
    Node,
    Select,
    StructExpr,
    walk,
)
from krm_fn.lang.cel.parser import Macro, MacroError

ACCUMULATOR: Final = "@result"
_OLD_ACCUMULATOR: Final = "__result__"
_UNUSED: Final = "#unused"
_SORT_INPUT: Final = "@__sortBy_input__"
MAP_INSERT: Final = "cel.@mapInsert"
SORT_BY_KEYS: Final = "@sortByAssociatedKeys"


def _target(call: Call) -> Node:
    assert call.target is not None
    return call.target


def _variable(node: Node, problem: str) -> str:
    """The name that an argument declares."""
    if not isinstance(node, Ident):
        raise MacroError(node, problem)
    if node.name in (ACCUMULATOR, _OLD_ACCUMULATOR):
        raise MacroError(node, "iteration variable overwrites accumulator variable")
    return node.name


def _has(call: Call) -> Node:
    argument = call.args[0]
    if not isinstance(argument, Select) or argument.test:
        raise MacroError(argument, "invalid argument to has() macro")
    return Select(call.pos, argument.operand, argument.field, True)


def _result(pos: int) -> Node:
    return Ident(pos, ACCUMULATOR)


def _fold(
    call: Call, names: tuple[str, str], shape: str, parts: tuple[Node, Node, Node, Node]
) -> Comprehension:
    init, cond, step, result = parts
    return Comprehension(
        call.pos, _target(call), names, ACCUMULATOR, init, cond, step, result, shape, call
    )


def _quantifier(shape: str, call: Call, names: tuple[str, str], predicate: Node) -> Node:
    pos = call.pos
    parts: tuple[Node, Node, Node, Node]
    if shape == "all":
        parts = (
            Literal(pos, True),
            Call(pos, "@not_strictly_false", (_result(pos),)),
            Call(pos, "_&&_", (_result(pos), predicate)),
            _result(pos),
        )
        return _fold(call, names, shape, parts)
    if shape == "exists":
        negated = Call(pos, "!_", (_result(pos),))
        parts = (
            Literal(pos, False),
            Call(pos, "@not_strictly_false", (negated,)),
            Call(pos, "_||_", (_result(pos), predicate)),
            _result(pos),
        )
        return _fold(call, names, shape, parts)
    more = Call(pos, "_+_", (_result(pos), Literal(pos, 1)))
    parts = (
        Literal(pos, 0),
        Literal(pos, True),
        Call(pos, "_?_:_", (predicate, more, _result(pos))),
        Call(pos, "_==_", (_result(pos), Literal(pos, 1))),
    )
    return _fold(call, names, "exists_one", parts)


def _one_variable(shape: str) -> Macro:
    def expand(call: Call) -> Node:
        name = _variable(call.args[0], "argument must be a simple name")
        return _quantifier(shape, call, (name, ""), call.args[1])

    return expand


def _collect(
    call: Call, names: tuple[str, str], predicate: Node | None, value: Node
) -> Comprehension:
    """The list of `value` for the elements of which `predicate` is true."""
    pos = call.pos
    step: Node = Call(pos, "_+_", (_result(pos), ListExpr(pos, (value,))))
    if predicate is not None:
        step = Call(pos, "_?_:_", (predicate, step, _result(pos)))
    parts = (ListExpr(pos, ()), Literal(pos, True), step, _result(pos))
    return _fold(call, names, "list", parts)


def _map(call: Call) -> Comprehension:
    name = _variable(call.args[0], "argument is not an identifier")
    predicate = call.args[1] if len(call.args) == 3 else None
    return _collect(call, (name, ""), predicate, call.args[-1])


def _filter(call: Call) -> Node:
    name = _variable(call.args[0], "argument is not an identifier")
    return _collect(call, (name, ""), call.args[1], call.args[0])


STANDARD: Final[dict[tuple[str, int, bool], Macro]] = {
    ("has", 1, False): _has,
    ("all", 2, True): _one_variable("all"),
    ("exists", 2, True): _one_variable("exists"),
    ("exists_one", 2, True): _one_variable("exists_one"),
    ("map", 2, True): _map,
    ("map", 3, True): _map,
    ("filter", 2, True): _filter,
}


# Two variables


def _two_names(call: Call) -> tuple[str, str]:
    first, second = call.args[:2]
    for node in (first, second):
        if not isinstance(node, Ident):
            raise MacroError(node, "argument must be a simple name")
    assert isinstance(first, Ident)
    assert isinstance(second, Ident)
    if first.name == second.name:
        raise MacroError(second, f"duplicate variable name: {first.name}")
    for node in (first, second):
        if node.name in (ACCUMULATOR, _OLD_ACCUMULATOR):
            raise MacroError(node, "iteration variable overwrites accumulator variable")
    return first.name, second.name


def _two_variables(shape: str) -> Macro:
    def expand(call: Call) -> Node:
        return _quantifier(shape, call, _two_names(call), call.args[2])

    return expand


def _transform_list(call: Call) -> Node:
    names = _two_names(call)
    predicate = call.args[2] if len(call.args) == 4 else None
    return _collect(call, names, predicate, call.args[-1])


def _insert(call: Call, names: tuple[str, str], arguments: tuple[Node, ...]) -> Node:
    pos = call.pos
    step: Node = Call(pos, MAP_INSERT, (_result(pos), *arguments))
    if len(call.args) == 4:
        step = Call(pos, "_?_:_", (call.args[2], step, _result(pos)))
    parts = (MapExpr(pos, ()), Literal(pos, True), step, _result(pos))
    return _fold(call, names, "map", parts)


def _transform_map(call: Call) -> Node:
    names = _two_names(call)
    return _insert(call, names, (Ident(call.pos, names[0]), call.args[-1]))


def _transform_map_entry(call: Call) -> Node:
    return _insert(call, _two_names(call), (call.args[-1],))


TWO_VARIABLES: Final[dict[tuple[str, int, bool], Macro]] = {
    ("all", 3, True): _two_variables("all"),
    ("exists", 3, True): _two_variables("exists"),
    ("existsOne", 3, True): _two_variables("exists_one"),
    ("exists_one", 3, True): _two_variables("exists_one"),
    ("transformList", 3, True): _transform_list,
    ("transformList", 4, True): _transform_list,
    ("transformMap", 3, True): _transform_map,
    ("transformMap", 4, True): _transform_map,
    ("transformMapEntry", 3, True): _transform_map_entry,
    ("transformMapEntry", 4, True): _transform_map_entry,
}


# Optionals and lists


def _let(call: Call, name: str, value: Node, body: Node) -> Comprehension:
    """`body` with `name` standing for `value`: a fold over nothing."""
    pos = call.pos
    nothing = ListExpr(pos, ())
    variable = Ident(pos, name)
    return Comprehension(
        pos, nothing, (_UNUSED, ""), name, value, Literal(pos, False), variable, body, "let", call
    )


def _optional(wrap: bool) -> Macro:
    def expand(call: Call) -> Node:
        target, (variable, body) = _target(call), call.args
        pos = call.pos
        if not isinstance(variable, Ident):
            raise MacroError(
                variable, f"{call.function}() variable name must be a simple identifier"
            )
        if len(walk(target)) > limits.CEL_COPIES:
            # Each call doubles what it is called on, so a chain of them would grow without bound.
            raise MacroError(target, f"the expression before {call.function}() is too large")
        value = Call(pos, "value", (), copy(target))
        bound: Node = _let(call, variable.name, value, body)
        if wrap:
            bound = Call(pos, "optional.of", (bound,))
        present = Call(pos, "hasValue", (), target)
        return Call(pos, "_?_:_", (present, bound, Call(pos, "optional.none", ())), None, call)

    return expand


OPTIONALS: Final[dict[tuple[str, int, bool], Macro]] = {
    ("optMap", 2, True): _optional(True),
    ("optFlatMap", 2, True): _optional(False),
}


def _sort_by(call: Call) -> Node:
    target = _target(call)
    if isinstance(target, (Literal, MapExpr, StructExpr)):
        raise MacroError(
            target,
            "sortBy can only be applied to a list, identifier, comprehension, call or select "
            "expression",
        )
    pos = call.pos
    keys = _map(Call(pos, "map", call.args, Ident(pos, _SORT_INPUT)))
    sort = Call(pos, SORT_BY_KEYS, (keys,), Ident(pos, _SORT_INPUT))
    return _let(call, _SORT_INPUT, target, sort)


LISTS: Final[dict[tuple[str, int, bool], Macro]] = {("sortBy", 2, True): _sort_by}


def copy(node: Node) -> Node:
    """A tree of new nodes, since each use of an expression is checked for itself."""
    pos = node.pos
    if isinstance(node, Literal):
        return Literal(pos, node.value)
    if isinstance(node, Ident):
        return Ident(pos, node.name)
    if isinstance(node, Select):
        return Select(pos, copy(node.operand), node.field, node.test)
    if isinstance(node, Call):
        target = None if node.target is None else copy(node.target)
        return Call(pos, node.function, tuple([copy(a) for a in node.args]), target, node.macro)
    if isinstance(node, ListExpr):
        return ListExpr(pos, tuple([copy(e) for e in node.elements]), node.optionals)
    if isinstance(node, MapExpr):
        return MapExpr(
            pos, tuple([Entry(e.pos, copy(e.key), copy(e.value), e.optional) for e in node.entries])
        )
    if isinstance(node, StructExpr):
        entries = [Entry(e.pos, e.key, copy(e.value), e.optional) for e in node.entries]
        return StructExpr(pos, node.name, tuple(entries))
    assert isinstance(node, Comprehension)
    return Comprehension(
        pos,
        copy(node.range),
        (node.var, node.var2),
        node.accu,
        copy(node.init),
        copy(node.cond),
        copy(node.step),
        copy(node.result),
        node.shape,
        node.macro,
    )
