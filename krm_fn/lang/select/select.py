"""Compiled expressions as others hold them: a string, and what it yields on a document.

Source: ModRule specification, section 1.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from krm_fn.errors import LimitError
from krm_fn.lang.select.nodes import Array, Node, Object
from krm_fn.lang.select.parser import parse_expression
from krm_fn.lang.select.paths import Path, member
from krm_fn.lang.select.run import Run
from krm_fn.lang.select.tree import Syntax, walk
from krm_fn.limits import deep_stack

Result = TypeVar("Result")


class Select:
    """A compiled expression."""

    __slots__ = ("_builds", "_evaluate", "literal_path", "node", "text")

    def __init__(self, text: str, node: Node) -> None:
        self.text = text
        self.node = node
        self.literal_path = node.names if isinstance(node, Path) and node.of_root else None
        """The member names if the expression is nothing but `$.a.b["c"]`, else None."""
        self._evaluate = node.compile()
        self._builds = builds_values(node)

    def evaluate(self, doc: Any) -> Any:
        """The value on a document, or UNDEFINED; raises EvaluationError.

        The document is a JSON-like value and stays as it is; the result may share parts of it.
        Numbers are int or float as in the document, float if computed, `GoInt` for a length.
        """
        if self.literal_path is not None:
            return member(doc, self.literal_path)
        return on_any_stack(lambda: self._value(doc))

    @property
    def warnings(self) -> tuple[str, ...]:
        """What compiles and is surely not meant, each with its line:column and its code."""
        from krm_fn.lang.select.lint import lint  # loaded where somebody asks

        return tuple(map(str, lint(self.text, self.node)))

    def _value(self, doc: Any) -> Any:
        run = Run(doc)
        try:
            value = self._evaluate(run, None)
            if self._builds:
                run.spend_value(value)
        finally:
            run.pay()
        return value

    def __repr__(self) -> str:
        return f"Select({self.text!r})"


def compile_select(text: str) -> Select:
    """Compile an expression; raises CompileError with line:column and the reason."""
    with deep_stack():
        return Select(text, parse_expression(text))


def builds_values(syntax: Syntax) -> bool:
    """Whether a result may be larger than the document: nested so deep, or holding one list so many
    times, that nobody could print it."""
    return any(isinstance(part, Array | Object) for part in walk(syntax))


def on_any_stack(evaluate: Callable[[], Result]) -> Result:
    """The result of an evaluation, which is tried again on a deeper stack if it needs one."""
    try:
        return evaluate()
    except RecursionError:
        pass
    try:
        with deep_stack():
            return evaluate()
    except RecursionError:
        raise LimitError("the select expression nests too deep for this document") from None
