"""Static types, from the leaves up.

What the API server refuses when a policy is loaded is found here: names that are not declared,
calls that fit no overload, literals whose elements differ in type. Type parameters are solved by
unification as in cel-go, with a trail instead of copies, so that long expressions stay linear.
Source: cel-go v0.29, checker/checker.go and checker/types.go.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Protocol

from krm_fn.lang.cel import types as t
from krm_fn.lang.cel.ast import (
    Call,
    Comprehension,
    Ident,
    ListExpr,
    Literal,
    MapExpr,
    Node,
    Select,
    StructExpr,
)
from krm_fn.lang.cel.functions import Function, Overload
from krm_fn.lang.cel.source import Issues
from krm_fn.lang.cel.types import Type
from krm_fn.lang.cel.values import type_of


class Types(Protocol):
    """The types with names that expressions may use."""

    def ident(self, name: str) -> Type | None:
        """The type that an identifier names as a value, as in `type(x) == int`."""
        ...

    def struct(self, name: str) -> Type | None:
        """The type that `name{...}` makes, or that declares fields."""
        ...

    def field(self, name: str, field: str) -> Type | None:
        """The type of a field of a struct type; None if there is no such field."""
        ...


class Reference:
    """What a node turned out to mean: a variable or type by name, or a function's overloads."""

    __slots__ = ("function", "name", "overloads", "static", "target")

    def __init__(
        self,
        name: str,
        function: Function | None = None,
        overloads: tuple[str, ...] = (),
        target: Node | None = None,
        static: bool = False,
    ) -> None:
        self.name = name
        self.function = function
        self.overloads = overloads
        self.target = target
        self.static = static


class Checked:
    """What the checker found out: each node's type, and what names and calls refer to."""

    __slots__ = ("refs", "types")

    def __init__(self, types: dict[Node, Type], refs: dict[Node, Reference]) -> None:
        self.types = types
        self.refs = refs


def check(
    tree: Node,
    variables: Mapping[str, Type],
    functions: Mapping[str, Function],
    provider: Types,
    issues: Issues,
    *,
    cross_numeric: bool = True,
) -> Checked:
    """Check a tree; what is wrong is added to `issues`."""
    checker = _Checker(variables, functions, provider, issues, cross_numeric)
    checker.check(tree)
    solved = {node: checker.solve(kind, True) for node, kind in checker.types.items()}
    return Checked(solved, checker.refs)


CROSS_NUMERIC: Final = frozenset(
    f"{name}_{a}_{b}"
    for name in ("less", "less_equals", "greater", "greater_equals")
    for a, b in (
        ("int64", "double"),
        ("int64", "uint64"),
        ("uint64", "double"),
        ("uint64", "int64"),
        ("double", "int64"),
        ("double", "uint64"),
    )
)
"""Overloads that compare numbers of different types."""

_VALUE_KINDS: Final = frozenset(
    {t.BOOL_KIND, t.BYTES_KIND, t.DOUBLE_KIND, t.INT_KIND, t.STRING_KIND, t.UINT_KIND, t.ANY}
    | {t.DURATION_KIND, t.TIMESTAMP_KIND, t.STRUCT}
)
_NULLABLE: Final = frozenset({t.OPAQUE, t.STRUCT, t.ANY, t.DURATION_KIND, t.TIMESTAMP_KIND})
_COMPOUND: Final = frozenset({t.OPAQUE, t.LIST, t.MAP})
_GENERIC: Final = frozenset({t.OPAQUE, t.LIST, t.MAP, t.TYPE_KIND})


class _Unifier:
    """Type parameters and what they stand for."""

    def __init__(self) -> None:
        self._bound: dict[str, Type] = {}
        self._trail: list[tuple[str, Type | None]] = []
        self._fresh = 0

    def fresh(self) -> Type:
        """A type parameter that stands for nothing yet."""
        self._fresh += 1
        return t.param(f"_var{self._fresh - 1}")

    def solve(self, kind: Type, to_dyn: bool = False) -> Type:
        """The type with all known parameters replaced; the unknown by dyn, if so asked."""
        if kind.kind == t.PARAM:
            bound = self._bound.get(kind.name)
            if bound is not None:
                return self.solve(bound, to_dyn)
            return t.DYN if to_dyn else kind
        if kind.params and kind.kind in _GENERIC:
            inner = tuple([self.solve(p, to_dyn) for p in kind.params])
            return kind if inner == kind.params else Type(kind.kind, kind.name, inner)
        return kind

    def assignable(self, targets: Sequence[Type], sources: Sequence[Type]) -> bool:
        """Unify pairwise; what was learnt is forgotten if one pair does not fit."""
        mark = len(self._trail)
        if len(targets) == len(sources) and all(
            self._assignable(a, b) for a, b in zip(targets, sources, strict=True)
        ):
            return True
        while len(self._trail) > mark:
            name, before = self._trail.pop()
            if before is None:
                del self._bound[name]
            else:
                self._bound[name] = before
        return False

    def _bind(self, name: str, kind: Type) -> None:
        self._trail.append((name, self._bound.get(name)))
        self._bound[name] = kind

    def _assignable(self, a: Type, b: Type) -> bool:
        if b.kind == t.PARAM:
            valid, known = self._substitutes(a, b)
            if valid:
                return True
            if known:
                return False
        if a.kind == t.PARAM:
            return self._substitutes(b, a)[0]
        if a.is_dyn or b.is_dyn or a.kind == t.ERROR_KIND or b.kind == t.ERROR_KIND:
            return True
        if a.kind == t.NULL_KIND:
            return _takes_null(b)
        if b.kind == t.NULL_KIND:
            return _takes_null(a)
        if a.kind in _VALUE_KINDS or a.kind == t.WRAPPER:
            return a.name == b.name and (a.kind == b.kind or t.WRAPPER in (a.kind, b.kind))
        if a.kind == t.TYPE_KIND:
            return b.kind == t.TYPE_KIND
        if a.kind in _COMPOUND:
            if a.kind != b.kind or a.name != b.name or len(a.params) != len(b.params):
                return False
            pairs = zip(a.params, b.params, strict=True)
            return all(self._assignable(x, y) for x, y in pairs)
        return False

    def _substitutes(self, a: Type, variable: Type) -> tuple[bool, bool]:
        """Whether `variable` may stand for `a`, and whether it already stands for something."""
        if a == variable:
            return True, True
        bound = self._bound.get(variable.name)
        if bound is not None:
            if a == bound:
                return True, True
            if not self._assignable(a, bound):
                return False, True
            wider = most_general(a, bound)
            if self._free_of(variable, wider):
                self._bind(variable.name, wider)
            return True, True
        if self._free_of(variable, a):
            self._bind(variable.name, a)
            return True, False
        return False, False

    def _free_of(self, variable: Type, within: Type) -> bool:
        if variable == within:
            return False
        if within.kind == t.PARAM:
            bound = self._bound.get(within.name)
            return bound is None or self._free_of(variable, bound)
        if within.kind in _GENERIC:
            for inner in within.params:
                if not self._free_of(variable, inner):
                    return False
        return True


def _takes_null(kind: Type) -> bool:
    return kind.kind in _NULLABLE or kind.kind in (t.NULL_KIND, t.WRAPPER)


def most_general(a: Type, b: Type) -> Type:
    """The wider of two types that fit each other."""
    return a if _wider(a, b) else b


def _wider(a: Type, b: Type) -> bool:
    if a.is_dyn or a.kind == t.PARAM:
        return True
    if b.is_dyn or b.kind == t.PARAM or a.kind != b.kind:
        return False
    if a.kind in _COMPOUND:
        if a.name != b.name or len(a.params) != len(b.params):
            return False
        return all(map(_wider, a.params, b.params))
    return a.kind == t.TYPE_KIND or a == b


class _Checker:
    """One instance an expression."""

    def __init__(
        self,
        variables: Mapping[str, Type],
        functions: Mapping[str, Function],
        provider: Types,
        issues: Issues,
        cross_numeric: bool,
    ) -> None:
        self.types: dict[Node, Type] = {}
        self.refs: dict[Node, Reference] = {}
        self._globals = variables
        self._functions = functions
        self._provider = provider
        self._issues = issues
        self._cross_numeric = cross_numeric
        self._locals: list[dict[str, Type]] = []
        self._unifier = _Unifier()
        self.solve = self._unifier.solve

    # Names

    def _local(self, name: str) -> Type | None:
        for scope in reversed(self._locals):
            if name in scope:
                return scope[name]
        return None

    def _global(self, name: str) -> Type | None:
        if name in self._globals:
            return self._globals[name]
        named = self._provider.ident(name) or self._provider.struct(name)
        return None if named is None else t.type_of(named)

    def _find_ident(self, name: str) -> tuple[str, Type] | None:
        """The name to look up (a dot in front: not a macro's variable) and its type."""
        bare = name.removeprefix(".")
        local = self._local(bare)
        if local is not None and bare == name:
            return name, local
        found = self._global(bare)
        if found is None:
            return None
        return (f".{bare}" if local is not None else bare), found

    # Nodes

    def check(self, node: Node) -> None:
        """Find the type of a node and of all below it."""
        if isinstance(node, Literal):
            kind = type_of(node.value)
        elif isinstance(node, Ident):
            kind = self._ident(node)
        elif isinstance(node, Select):
            kind = self._select(node)
        elif isinstance(node, Call):
            kind = self._call(node)
        elif isinstance(node, ListExpr):
            kind = self._list(node)
        elif isinstance(node, MapExpr):
            kind = self._map(node)
        elif isinstance(node, StructExpr):
            kind = self._struct(node)
        else:
            assert isinstance(node, Comprehension)
            kind = self._comprehension(node)
        self.types[node] = kind

    def _undeclared(self, node: Node, name: str) -> Type:
        self._issues.report(node.pos, f"undeclared reference to '{name}' (in container '')")
        return t.ERROR

    def _mismatch(self, node: Node, expected: Type, actual: Type) -> None:
        self._issues.report(
            node.pos, f"expected type '{expected.display()}' but found '{actual.display()}'"
        )

    def _ident(self, node: Ident) -> Type:
        found = self._find_ident(node.name)
        if found is None:
            return self._undeclared(node, node.name)
        self.refs[node] = Reference(found[0])
        return found[1]

    def _select(self, node: Select) -> Type:
        names = _qualified(node)
        if names is not None:
            found = self._find_qualified(names)
            if found is not None:
                self.refs[node] = Reference(found[0])
                return found[1]
        kind = self._field(node, node.operand, node.field, False)
        return t.BOOL if node.test else self.solve(kind)

    def _find_qualified(self, names: list[str]) -> tuple[str, Type] | None:
        first = names[0].removeprefix(".")
        local = self._local(first)
        if local is not None and first == names[0]:
            return None
        name = ".".join(names).removeprefix(".")
        found = self._global(name)
        if found is None:
            return None
        return (f".{name}" if local is not None else name), found

    def _field(self, node: Node, operand: Node, field: str, optional: bool) -> Type:
        """The type of `operand.field`."""
        self.check(operand)
        inner, wrapped = t.unwrap_optional(self.solve(self.types[operand]))
        if inner.kind == t.MAP:
            kind = inner.params[1]
        elif inner.kind == t.STRUCT:
            kind = self._declared_field(node.pos, inner.name, field) or t.ERROR
        elif inner.kind == t.PARAM:
            self._unifier.assignable((t.DYN,), (inner,))
            kind = t.DYN
        else:
            if not inner.is_dyn and inner.kind != t.ERROR_KIND:
                self._issues.report(
                    node.pos, f"type '{inner.display()}' does not support field selection"
                )
            kind = t.DYN
        return t.optional_of(kind) if wrapped or optional else kind

    def _declared_field(self, pos: int, name: str, field: str) -> Type | None:
        if self._provider.struct(name) is None:
            self._issues.report(pos, f"unexpected failed resolution of '{name}'")
            return None
        kind = self._provider.field(name, field)
        if kind is None:
            self._issues.report(pos, f"undefined field '{field}'")
        return kind

    def _optional_select(self, node: Call) -> Type:
        operand, field = node.args
        assert isinstance(field, Literal)
        kind = self.solve(self._field(node, operand, field.value, True))
        self.types[field] = t.STRING
        self.refs[node] = Reference("_?._", self._functions.get("_?._"), ("select_optional_field",))
        return kind

    # Calls

    def _call(self, node: Call) -> Type:
        if node.function == "_?._":
            return self._optional_select(node)
        for argument in node.args:
            self.check(argument)
        if node.target is None:
            function = self._functions.get(node.function.removeprefix("."))
            if function is None:
                return self._undeclared(node, node.function)
            return self._resolve(node, function, None)
        names = _qualified(node.target)
        if names is not None:
            qualified = ".".join([*names, node.function]).removeprefix(".")
            function = self._functions.get(qualified)
            if function is not None:
                return self._resolve(node, function, None)
        self.check(node.target)
        function = self._functions.get(node.function)
        if function is None:
            return self._undeclared(node, node.function)
        return self._resolve(node, function, node.target)

    def _resolve(self, node: Call, function: Function, target: Node | None) -> Type:
        """Find the overloads that fit, and the type that comes out."""
        given = list(node.args) if target is None else [target, *node.args]
        kinds = [self.types[argument] for argument in given]
        if function.name in ("_&&_", "_||_"):
            return self._logic(node, function, kinds)
        result: Type | None = None
        fitting: list[str] = []
        for overload in function.overloads.values():
            if overload.member != (target is not None) or self._disabled(overload):
                continue
            out, args = self._instance(overload)
            if not self._unifier.assignable(kinds, args):
                continue
            fitting.append(overload.id)
            kind = self.solve(out)
            if result is None:
                result = kind
            elif not result.is_dyn and kind != result:
                result = t.DYN
        if result is None:
            shown = [self.solve(kind, True).display() for kind in kinds]
            receiver = f"{shown.pop(0)}." if target is not None else ""
            self._issues.report(
                node.pos,
                f"found no matching overload for '{function.name}' applied to "
                f"'{receiver}({', '.join(shown)})'",
            )
            return t.ERROR
        self.refs[node] = Reference(function.name, function, tuple(fitting), target)
        return result

    def _disabled(self, overload: Overload) -> bool:
        # As upstream, the scope of a macro forgets that they are disabled.
        return not self._cross_numeric and not self._locals and overload.id in CROSS_NUMERIC

    def _instance(self, overload: Overload) -> tuple[Type, tuple[Type, ...]]:
        """An overload's result and arguments with parameters of their own."""
        if not overload.params:
            return overload.result, overload.args
        fresh = {name: self._unifier.fresh() for name in overload.params}
        return _renamed(overload.result, fresh), tuple([_renamed(a, fresh) for a in overload.args])

    def _logic(self, node: Call, function: Function, kinds: list[Type]) -> Type:
        fine = True
        for argument, kind in zip(node.args, kinds, strict=True):
            if not self._unifier.assignable((kind,), (t.BOOL,)):
                self._mismatch(argument, t.BOOL, kind)
                fine = False
        if not fine:
            return t.ERROR
        self.refs[node] = Reference(function.name, function, tuple(function.overloads))
        return t.BOOL

    # Literals with parts

    def _join(self, node: Node, before: Type | None, kind: Type) -> Type:
        if before is None:
            return kind
        if self._unifier.assignable((before,), (kind,)):
            return most_general(before, kind)
        # Which elements differ is told by the check for homogeneous literals.
        return t.DYN

    def _unwrapped(self, node: Node, kind: Type) -> Type:
        inner, wrapped = t.unwrap_optional(kind)
        if not wrapped and not kind.is_dyn:
            self._mismatch(node, t.optional_of(kind), kind)
        return inner

    def _list(self, node: ListExpr) -> Type:
        joined: Type | None = None
        for index, element in enumerate(node.elements):
            self.check(element)
            kind = self.types[element]
            if index in node.optionals:
                kind = self._unwrapped(element, kind)
            joined = self._join(element, joined, kind)
        return t.list_of(self._unifier.fresh() if joined is None else joined)

    def _map(self, node: MapExpr) -> Type:
        keys: Type | None = None
        values: Type | None = None
        for entry in node.entries:
            self.check(entry.key)
            keys = self._join(entry.key, keys, self.types[entry.key])
            self.check(entry.value)
            kind = self.types[entry.value]
            if entry.optional:
                kind = self._unwrapped(entry.value, kind)
            values = self._join(entry.value, values, kind)
        if keys is None or values is None:
            keys, values = self._unifier.fresh(), self._unifier.fresh()
        return t.map_of(keys, values)

    def _struct(self, node: StructExpr) -> Type:
        name = node.name.removeprefix(".")
        ident = self._provider.ident(name)
        made = ident or self._provider.struct(name)
        if made is None:
            return self._undeclared(node, node.name)
        self.refs[node] = Reference(name)
        if made.kind not in _MADE and made != t.map_of(t.STRING, t.DYN):
            self._issues.report(node.pos, f"'{made.name}' is not a message type")
            made = t.ERROR
        for entry in node.entries:
            self.check(entry.value)
            wanted = self._declared_field(entry.pos, name, entry.key) or t.ERROR
            kind = self.types[entry.value]
            if entry.optional:
                kind = self._unwrapped(entry.value, kind)
            if not self._unifier.assignable((wanted,), (kind,)):
                shown = "" if wanted is UNKNOWN_FIELD else wanted.display()
                self._issues.report(
                    entry.pos,
                    f"expected type of field '{entry.key}' is '{shown}' but provided type is "
                    f"'{kind.display()}'",
                )
        return made

    # Comprehensions

    def _comprehension(self, node: Comprehension) -> Type:
        self.check(node.range)
        self.check(node.init)
        over = self.solve(self.types[node.range])
        accumulated = self.types[node.init]
        self._locals.append({node.accu: accumulated})
        self._locals.append(self._loop_variables(node, over))
        self.check(node.cond)
        self._expect(node.cond, t.BOOL)
        self.check(node.step)
        self._expect(node.step, accumulated)
        self._locals.pop()
        self.check(node.result)
        self._locals.pop()
        return self.solve(self.types[node.result])

    def _loop_variables(self, node: Comprehension, over: Type) -> dict[str, Type]:
        if over.kind == t.LIST:
            first, second = over.params[0], over.params[0]
            if node.var2:
                first = t.INT
        elif over.kind == t.MAP:
            first, second = over.params
        elif over.is_dyn or over.kind in (t.ERROR_KIND, t.PARAM):
            self._unifier.assignable((t.DYN,), (over,))
            first = second = t.DYN
        else:
            self._issues.report(
                node.range.pos,
                f"expression of type '{over.display()}' cannot be range of a comprehension "
                "(must be list, map, or dynamic)",
            )
            first = second = t.ERROR
        scope = {node.var: first}
        if node.var2:
            scope[node.var2] = second
        return scope

    def _expect(self, node: Node, wanted: Type) -> None:
        kind = self.types[node]
        if not self._unifier.assignable((wanted,), (kind,)):
            self._mismatch(node, wanted, kind)


UNKNOWN_FIELD: Final = Type("unspecified", "")
"""The type of a field that a struct type takes but does not know; nothing can be put there."""

_MADE: Final = frozenset(
    {t.STRUCT, t.WRAPPER, t.TIMESTAMP_KIND, t.DURATION_KIND, t.DYN_KIND, t.ANY, t.NULL_KIND}
    | {t.LIST}
)


def _renamed(kind: Type, names: Mapping[str, Type]) -> Type:
    if kind.kind == t.PARAM:
        return names[kind.name]
    if not kind.params:
        return kind
    return Type(kind.kind, kind.name, tuple([_renamed(p, names) for p in kind.params]))


def _qualified(node: Node) -> list[str] | None:
    """The names of `a.b.c`; None for anything else."""
    names: list[str] = []
    while isinstance(node, Select) and not node.test:
        names.append(node.field)
        node = node.operand
    if not isinstance(node, Ident):
        return None
    names.append(node.name)
    names.reverse()
    return names


def check_homogeneous(
    tree: Sequence[Node], checked: Checked, exempt: frozenset[Node], issues: Issues
) -> None:
    """Report list and map literals whose elements, keys or values differ in type.

    dyn goes only with dyn; literals within `exempt` may be mixed.
    Source: cel-go v0.29, cel/validator.go.
    """
    for node in tree:
        if node in exempt:
            continue
        if isinstance(node, ListExpr):
            _homogeneous_list(node, checked, issues)
        elif isinstance(node, MapExpr):
            _homogeneous_map(node, checked, issues)


def _differs(issues: Issues, node: Node, expected: Type, actual: Type) -> None:
    issues.report(node.pos, f"expected type '{expected.display()}' but found '{actual.display()}'")


def _inside(node: Node, kind: Type, issues: Issues) -> Type:
    """The type within an optional element's; upstream crashes where it is not known."""
    inner, wrapped = t.unwrap_optional(kind)
    if not wrapped:
        issues.report(node.pos, "an optional element must be of a known optional type")
    return inner


def _homogeneous_list(node: ListExpr, checked: Checked, issues: Issues) -> None:
    first: Type | None = None
    for index, element in enumerate(node.elements):
        kind = checked.types[element]
        if index in node.optionals:
            kind = _inside(element, kind, issues)
        if first is None:
            first = kind
        elif not t.equivalent(first, kind):
            _differs(issues, element, first, kind)
            return


def _homogeneous_map(node: MapExpr, checked: Checked, issues: Issues) -> None:
    keys: Type | None = None
    values: Type | None = None
    for entry in node.entries:
        key, value = checked.types[entry.key], checked.types[entry.value]
        if entry.optional:
            value = _inside(entry.value, value, issues)
        if keys is None or values is None:
            keys, values = key, value
            continue
        if not t.equivalent(keys, key):
            _differs(issues, entry.key, keys, key)
        if not t.equivalent(values, value):
            _differs(issues, entry.value, values, value)
