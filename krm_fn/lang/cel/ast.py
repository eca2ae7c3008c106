"""The nodes of a parsed expression.

A node knows where it stands in the text (`pos`, a code point) and its parts; what the checker finds
out about it is kept beside the tree (`checker.Checked`). Macros are expanded: a `Comprehension`
remembers the call that it was made from, for printing.
"""

from __future__ import annotations

from typing import Any

from krm_fn.lang.nodes import Frozen


class Node(Frozen):
    """Base of the nodes; identity is equality, so that nodes can be keys."""

    pos: int


class Literal(Node):
    """A constant; `value` as values.py has it."""

    value: Any


class Ident(Node):
    """A name; with a dot in front it is never a macro's variable."""

    name: str


class Select(Node):
    """`operand.field`, or `has(operand.field)` if `test`."""

    operand: Node
    field: str
    test: bool = False


class Call(Node):
    """A function or operator (`_+_`), with a target if it was written `target.name(...)`."""

    function: str
    args: tuple[Node, ...]
    target: Node | None = None
    macro: Call | None = None


class ListExpr(Node):
    """`[a, ?b]`; `optionals` are the indexes with a question mark."""

    elements: tuple[Node, ...]
    optionals: frozenset[int] = frozenset()


class Entry(Frozen):
    """One `key: value` of a map (key is a node) or of a struct (key is the field's name)."""

    pos: int
    key: Any
    value: Node
    optional: bool


class MapExpr(Node):
    """`{key: value}`."""

    entries: tuple[Entry, ...]


class StructExpr(Node):
    """`Type.name{field: value}`."""

    name: str
    entries: tuple[Entry, ...]


class Comprehension(Node):
    """A fold over a list or a map, as every macro but `has` makes one.

    `variables` are one name or two, the second empty where there is one. `macro` is the call as it
    was written.
    """

    range: Node
    variables: tuple[str, str]
    accu: str
    init: Node
    cond: Node
    step: Node
    result: Node
    shape: str
    macro: Call | None = None

    @property
    def var(self) -> str:
        """The first variable."""
        return self.variables[0]

    @property
    def var2(self) -> str:
        """The second variable; empty where there is none."""
        return self.variables[1]


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
