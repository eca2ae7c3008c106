"""An expression with the values of its parts, as power assertions of test frameworks show them.

A recording program is compiled on demand from the same checked tree by the same compiler, whose
code it wraps: an ordinary evaluation knows nothing of it. What a short circuit left out has no
value. Of a comprehension the parts of the body are those of the element that decided it: the first
false of `all`, the first true of `exists`.
Source: docs/spec/explain.md section 3.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from krm_fn.errors import EvaluationError
from krm_fn.lang.cel.ast import Call, Comprehension, Ident, Literal, Node, Select, children, walk
from krm_fn.lang.cel.attributes import Frame, Run
from krm_fn.lang.cel.compile import Attribute, Choice, Code, Compiler, Constant
from krm_fn.lang.cel.unparse import unparse

Root = tuple[str | int, ...]
"""A path that starts with the name of a variable: `("object", "spec", "replicas")`."""


class Record(NamedTuple):
    """The value of a node, or its error."""

    value: Any
    error: str = ""


class SubExpression(NamedTuple):
    """A part of an expression. `record` is None where it was not evaluated."""

    text: str
    record: Record | None
    root: Root | None
    """Where its value is, if it is a variable's or below one."""
    parts: tuple[SubExpression, ...]
    looked_at: int | None = None
    """Of a comprehension: how many elements were looked at."""


class Recorder:
    """Takes the values of nodes while an expression is evaluated."""

    __slots__ = ("_records", "_turns")

    def __init__(self) -> None:
        self._records: dict[Node, Record] = {}
        self._turns: dict[Node, int] = {}

    def add(self, node: Node, record: Record) -> None:
        self._records[node] = record

    def turn(self, body: Node, nodes: list[Node]) -> None:
        """A comprehension begins with its next element; what its body was before is forgotten."""
        self._turns[body] = self._turns.get(body, 0) + 1
        for node in nodes:
            self._records.pop(node, None)
            self._turns.pop(node, None) if node is not body else None

    def parts(self, tree: Node) -> SubExpression:
        """An expression that was evaluated, with its parts in the order of the source."""
        return self._part(tree, {})

    def _part(self, node: Node, names: dict[str, Root]) -> SubExpression:
        record = self._records.get(node)
        root = _root(node, names)
        looked_at: int | None = None
        below: list[SubExpression] = []
        if isinstance(node, Comprehension) and record is not None:
            below, looked_at = self._of_comprehension(node, names)
        elif root is None and record is not None and not _is_test(node):
            below = [self._part(one, names) for one in children(node) if _tells(one)]
        return SubExpression(unparse(node), record, root, tuple(below), looked_at)

    def _of_comprehension(
        self, node: Comprehension, names: dict[str, Root]
    ) -> tuple[list[SubExpression], int | None]:
        if node.shape == "let":
            return [self._part(one, names) for one in (node.init, node.result)], None
        below = [self._part(node.range, names)] if _tells(node.range) else []
        body = body_of(node)
        turns = self._turns.get(body, 0)
        record = self._records.get(node)
        decides = {"all": False, "exists": True}.get(node.shape)
        if turns and record is not None and (record.error or record.value is decides):
            inner = dict(names)
            place = _root(node.range, names)
            if place is not None and not node.var2:
                inner[node.var] = (*place, turns - 1)
            below.append(self._part(body, inner))
        return below, turns


def body_of(node: Comprehension) -> Node:
    """What a comprehension evaluates for each element: its predicate, or what it makes."""
    step = node.step
    if not isinstance(step, Call):
        return step
    if node.shape in ("all", "exists"):
        return step.args[1]
    return step.args[0]


def _is_test(node: Node) -> bool:
    return isinstance(node, Select) and node.test


def _tells(node: Node) -> bool:
    """Whether a reader wants to know the value of a node: no constant, no whole variable."""
    if isinstance(node, Literal):
        return False
    return not isinstance(node, Ident) or node.name.lstrip(".") not in _VARIABLES


_VARIABLES: Final = frozenset(
    ("object", "oldObject", "request", "params", "namespaceObject", "variables", "authorizer")
)


def _root(node: Node, names: dict[str, Root]) -> Root | None:
    """The path of a node that only selects from a variable; None for any other."""
    steps: list[str | int] = []
    while True:
        if isinstance(node, Select):
            if node.test:
                return None
            steps.append(node.field)
            node = node.operand
        elif isinstance(node, Call) and node.function == "_[_]" and _is_key(node.args[1]):
            key = node.args[1]
            assert isinstance(key, Literal)
            steps.append(key.value)
            node = node.args[0]
        elif isinstance(node, Ident):
            first = names.get(node.name, (node.name.lstrip("."),))
            return (*first, *reversed(steps))
        else:
            return None


def _is_key(node: Node) -> bool:
    return isinstance(node, Literal) and type(node.value) in (str, int)


class RecordingCompiler(Compiler):
    """Compiles to code that tells the recorder of the budget the value of each node."""

    def compile(self, node: Node) -> Code:
        if isinstance(node, Comprehension) and node.shape != "let":
            self._bodies[body_of(node)] = walk(body_of(node))
        code = super().compile(node)
        if isinstance(code, Constant):
            return code
        nodes = self._bodies.get(node)
        if isinstance(code, Attribute):
            return _RecordedAttribute(code, node, nodes)
        if isinstance(code, Choice):
            return _RecordedChoice(code, node, nodes)
        return Code(_recorded(code.build(), node, nodes), code.cost)

    @property
    def _bodies(self) -> dict[Node, list[Node]]:
        known: dict[Node, list[Node]] = self.__dict__.setdefault("bodies", {})
        return known


class _RecordedAttribute(Attribute):
    """An attribute whose value is recorded where it is read as it stands."""

    __slots__ = ("_node", "_nodes")

    def __init__(self, code: Attribute, node: Node, nodes: list[Node] | None) -> None:
        super().__init__(code.base, code.slot, code.steps, code.inner)
        self._node = node
        self._nodes = nodes

    def build(self) -> Run:
        return _recorded(super().build(), self._node, self._nodes)


class _RecordedChoice(Choice):
    """A choice whose value is recorded where it is read as it stands."""

    __slots__ = ("_node", "_nodes")

    def __init__(self, code: Choice, node: Node, nodes: list[Node] | None) -> None:
        super().__init__(code.when, code.yes, code.no)
        self._node = node
        self._nodes = nodes

    def build(self) -> Run:
        return _recorded(super().build(), self._node, self._nodes)


def _recorded(run: Run, node: Node, nodes: list[Node] | None) -> Run:
    def recorded(frame: Frame) -> Any:
        recorder: Recorder = frame[0].recorder
        if nodes is not None:
            recorder.turn(node, nodes)
        try:
            value = run(frame)
        except EvaluationError as error:
            recorder.add(node, Record(None, str(error)))
            raise
        recorder.add(node, Record(value))
        return value

    return recorded
