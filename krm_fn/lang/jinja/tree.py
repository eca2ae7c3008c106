"""The tree of a template: refuse what is not there, and rewrite what would go around the budget.

Jinja compiles comparisons, `~`, slices, loops and plain text to Python as they are; here each
becomes a filter that pays. A loop's body and a macro's pay for as many steps as they have parts,
each time. Methods are called by filter, too, so that a name behind a dot is always data, and
`namespace` can be both the text that a rule sees and Jinja's function.
This module evaluates nothing. Source: jinja2/nodes.py, jinja2/compiler.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from jinja2 import nodes

from krm_fn import limits
from krm_fn.lang.jinja.environment import HIDDEN
from krm_fn.lang.jinja.filters import (
    COMPARED,
    CONCATENATED,
    FILTERS,
    METHOD,
    NAMESPACE,
    PAID,
    SLICED,
    TESTS,
    TURNS,
)


class TemplateRefusedError(Exception):
    """A template has something that is not available; `line` counts from 1."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(reason)
        self.line = line
        self.reason = reason


def guarded(template: nodes.Template) -> nodes.Template:
    """The template, rewritten. Raises TemplateRefusedError."""
    _check(template)
    rewritten: nodes.Template = _rewritten(template)
    return rewritten


_REFUSED: Final[dict[type[nodes.Node], str]] = {
    nodes.Block: "block",
    nodes.Extends: "extends",
    nodes.FromImport: "import",
    nodes.Import: "import",
    nodes.Include: "include",
    nodes.ScopedEvalContextModifier: "autoescape",
}


def _check(template: nodes.Template) -> None:
    """Refuse what is not available, what nests too deeply and what is too large."""
    layer: list[nodes.Node] = [template]
    count = 0
    for _ in range(limits.EXPRESSION_NESTING):
        count += len(layer)
        if count > limits.TEMPLATE_PARTS:
            raise TemplateRefusedError(
                layer[0].lineno, f"it has more than {limits.TEMPLATE_PARTS:,} parts"
            )
        for node in layer:
            _check_one(node)
        layer = [child for node in layer for child in node.iter_child_nodes()]
        if not layer:
            return
    raise TemplateRefusedError(layer[0].lineno, f"it nests deeper than {limits.EXPRESSION_NESTING}")


def _check_one(node: nodes.Node) -> None:
    line = node.lineno
    if type(node) in _REFUSED:
        raise TemplateRefusedError(
            line, f"{_REFUSED[type(node)]} is not available: a template stands alone"
        )
    if isinstance(node, nodes.Filter):
        _check_name(line, "filter", node.name, FILTERS)
    elif isinstance(node, nodes.Test):
        _check_name(line, "test", node.name, TESTS)
    elif isinstance(node, nodes.Const):
        value = node.value
        if (type(value) is int and value.bit_length() > limits.NUMBER_BITS) or (
            type(value) is float and math.isinf(value)
        ):
            raise TemplateRefusedError(line, "a number is too large")


def _check_name(line: int, kind: str, name: str, known: Iterable[str]) -> None:
    if name not in known:
        there = ", ".join(each for each in known if not each.startswith(HIDDEN))
        raise TemplateRefusedError(line, f"there is no {kind} {name}; there are {there}")


def _rewritten(node: nodes.Node) -> Any:
    for name, value in node.iter_fields():
        if isinstance(value, nodes.Node):
            setattr(node, name, _rewritten(value))
        elif isinstance(value, list):
            setattr(node, name, [_rewritten_member(each) for each in value])
    rewrite = _REWRITES.get(type(node))
    return node if rewrite is None else rewrite(node)


def _rewritten_member(value: Any) -> Any:
    return _rewritten(value) if isinstance(value, nodes.Node) else value


def _text(node: nodes.TemplateData) -> nodes.Node:
    return nodes.Const(node.data, lineno=node.lineno)


def _loop(node: nodes.For) -> nodes.Node:
    cost = _size(node)
    node.iter = _filter(node.iter, TURNS)
    if node.test is not None:
        node.test = _filter(node.test, PAID, nodes.Const(cost))
    node.body.insert(0, _payment(node, cost))
    return node


def _macro(node: nodes.Macro | nodes.CallBlock) -> nodes.Node:
    node.body.insert(0, _payment(node, _size(node)))
    return node


def _call_block(node: nodes.CallBlock) -> nodes.Node:
    if not isinstance(node.call, nodes.Call):
        raise TemplateRefusedError(node.lineno, "call takes a macro")
    return _macro(node)


def _call(node: nodes.Call) -> nodes.Node:
    called = node.node
    if isinstance(called, nodes.Getattr):
        name = nodes.Const(called.attr, lineno=node.lineno)
        return _called(node, called.node, METHOD, [name])
    if isinstance(called, nodes.Name) and called.name == "namespace":
        return _called(node, nodes.Const(None, lineno=node.lineno), NAMESPACE, [])
    return node


def _compare(node: nodes.Compare) -> nodes.Node:
    rest: list[nodes.Expr] = []
    for operand in node.ops:
        rest += (nodes.Const(operand.op), operand.expr)
    return _filter(node.expr, COMPARED, *rest)


def _concat(node: nodes.Concat) -> nodes.Node:
    return _filter(node.nodes[0], CONCATENATED, *node.nodes[1:])


def _getitem(node: nodes.Getitem) -> nodes.Node:
    if not isinstance(node.arg, nodes.Slice):
        return node
    bounds = (node.arg.start, node.arg.stop, node.arg.step)
    return _filter(node.node, SLICED, *(each or nodes.Const(None) for each in bounds))


_REWRITES: Final[Mapping[type[nodes.Node], Callable[[Any], nodes.Node]]] = {
    nodes.Call: _call,
    nodes.CallBlock: _call_block,
    nodes.Compare: _compare,
    nodes.Concat: _concat,
    nodes.For: _loop,
    nodes.Getitem: _getitem,
    nodes.Macro: _macro,
    nodes.TemplateData: _text,
}


def _size(node: nodes.Node) -> int:
    """How many parts a node has."""
    count = 0
    pending = [node]
    while pending:
        count += 1
        pending.extend(pending.pop().iter_child_nodes())
    return count


def _filter(node: Any, name: str, *arguments: nodes.Expr) -> nodes.Filter:
    return nodes.Filter(node, name, list(arguments), [], None, None, lineno=node.lineno)


def _called(
    call: nodes.Call, receiver: nodes.Expr, name: str, before: list[nodes.Expr]
) -> nodes.Filter:
    return nodes.Filter(
        receiver,
        name,
        [*before, *call.args],
        call.kwargs,
        call.dyn_args,
        call.dyn_kwargs,
        lineno=call.lineno,
    )


def _payment(node: nodes.Node, steps: int) -> nodes.Output:
    """A part that prints nothing and pays."""
    nothing = nodes.Const("", lineno=node.lineno)
    return nodes.Output([_filter(nothing, PAID, nodes.Const(steps))], lineno=node.lineno)
