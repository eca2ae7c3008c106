"""The nodes of a parsed expression.

A node knows where it stands in the text (`pos`, a code point) and its parts; what the checker finds
out about it is kept beside the tree (`checker.Checked`). Macros are expanded: a `Comprehension`
remembers the call that it was made from, for printing.
"""

from __future__ import annotations

from typing import Any


class Node:
    """Base of the nodes; identity is equality, so that nodes can be keys."""

    __slots__ = ("pos",)

    def __init__(self, pos: int) -> None:
        self.pos = pos


class Literal(Node):
    """A constant; `value` as values.py has it."""

    __slots__ = ("value",)

    def __init__(self, pos: int, value: Any) -> None:
        self.pos = pos
        self.value = value


class Ident(Node):
    """A name; with a dot in front it is never a macro's variable."""

    __slots__ = ("name",)

    def __init__(self, pos: int, name: str) -> None:
        self.pos = pos
        self.name = name


class Select(Node):
    """`operand.field`, or `has(operand.field)` if `test`."""

    __slots__ = ("field", "operand", "test")

    def __init__(self, pos: int, operand: Node, field: str, test: bool = False) -> None:
        self.pos = pos
        self.operand = operand
        self.field = field
        self.test = test


class Call(Node):
    """A function or operator (`_+_`), with a target if it was written `target.name(...)`."""

    __slots__ = ("args", "function", "macro", "target")

    def __init__(
        self,
        pos: int,
        function: str,
        args: tuple[Node, ...],
        target: Node | None = None,
        macro: Call | None = None,
    ) -> None:
        self.pos = pos
        self.function = function
        self.args = args
        self.target = target
        self.macro = macro


class ListExpr(Node):
    """`[a, ?b]`; `optionals` are the indexes with a question mark."""

    __slots__ = ("elements", "optionals")

    def __init__(
        self, pos: int, elements: tuple[Node, ...], optionals: frozenset[int] = frozenset()
    ) -> None:
        self.pos = pos
        self.elements = elements
        self.optionals = optionals


class Entry:
    """One `key: value` of a map (key is a node) or of a struct (key is the field's name)."""

    __slots__ = ("key", "optional", "pos", "value")

    def __init__(self, pos: int, key: Any, value: Node, optional: bool) -> None:
        self.pos = pos
        self.key = key
        self.value = value
        self.optional = optional


class MapExpr(Node):
    """`{key: value}`."""

    __slots__ = ("entries",)

    def __init__(self, pos: int, entries: tuple[Entry, ...]) -> None:
        self.pos = pos
        self.entries = entries


class StructExpr(Node):
    """`Type.name{field: value}`."""

    __slots__ = ("entries", "name")

    def __init__(self, pos: int, name: str, entries: tuple[Entry, ...]) -> None:
        self.pos = pos
        self.name = name
        self.entries = entries


class Comprehension(Node):
    """A fold over a list or a map, as every macro but `has` makes one.

    `var2` is empty where there is one variable. `macro` is the call as it was written.
    """

    __slots__ = (
        "accu", "cond", "init", "macro", "range", "result", "shape", "step", "var", "var2",
    )  # fmt: skip

    def __init__(
        self,
        pos: int,
        range_: Node,
        variables: tuple[str, str],
        accu: str,
        init: Node,
        cond: Node,
        step: Node,
        result: Node,
        shape: str,
        macro: Call | None = None,
    ) -> None:
        self.pos = pos
        self.range = range_
        self.var, self.var2 = variables
        self.accu = accu
        self.init = init
        self.cond = cond
        self.step = step
        self.result = result
        self.shape = shape
        self.macro = macro


def children(node: Node) -> list[Node]:
    """The direct parts of a node, in the order in which they are checked."""
    if isinstance(node, Select):
        return [node.operand]
    if isinstance(node, Call):
        return [*([node.target] if node.target is not None else []), *node.args]
    if isinstance(node, ListExpr):
        return list(node.elements)
    if isinstance(node, MapExpr):
        return [part for entry in node.entries for part in (entry.key, entry.value)]
    if isinstance(node, StructExpr):
        return [entry.value for entry in node.entries]
    if isinstance(node, Comprehension):
        return [node.range, node.init, node.cond, node.step, node.result]
    return []


def walk(node: Node) -> list[Node]:
    """A node and all below it, parents first, as cel-go's matchers meet them."""
    found: list[Node] = []
    pending = [node]
    while pending:
        current = pending.pop()
        found.append(current)
        pending.extend(reversed(children(current)))
    return found
