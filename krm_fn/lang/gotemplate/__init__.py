"""Go's text/template with Sprig, as an engine of its own.

KubeMod renders a rule's values with Go 1.18.0's text/template and Sprig v3.2.2. What Python has for
templates differs where it matters: in types, in null and missing, and in which mistakes are errors.
The folder is one language: `lexer`, `parser`, `nodes` (each compiles itself to a closure), `values`
and `functions` (Go's own), `sprig/` (a module a family, loaded when a template uses it). It knows
values and texts; it knows no rules and no Kubernetes.

    template = parse("{{ .Namespace | upper }}", "/spec/x")
    template.render({"Namespace": "shop"})    # "SHOP"
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from krm_fn import limits
from krm_fn.errors import LimitError
from krm_fn.lang.budget import Budget
from krm_fn.lang.go.values import GoInt, from_bytes, to_bytes
from krm_fn.lang.gotemplate.functions import BUILTINS
from krm_fn.lang.gotemplate.nodes import Program, Text
from krm_fn.lang.gotemplate.parser import parse_program
from krm_fn.lang.gotemplate.sources import RenderSources
from krm_fn.lang.gotemplate.state import State
from krm_fn.lang.gotemplate.values import Function, Pointer, Struct

__all__ = [
    "GoInt",
    "Pointer",
    "RenderSources",
    "Struct",
    "Template",
    "parse",
]

Functions = Callable[[str], Function]
"""A function by its name; raises KeyError with the reason as its text where there is none."""

_NO_SOURCES: Final = RenderSources()

_HELM_ONLY: Final = {
    "toYaml": "write toJson, which is YAML too",
    "fromYaml": "write fromJson",
    "include": "write template",
    "tpl": "",
    "required": "write fail inside an if",
    "lookup": "",
}


def default_functions(name: str) -> Function:
    """Sprig's functions without env and expandenv, and Go's own."""
    # Sprig loads no family before one of its functions is asked for.
    from krm_fn.lang.gotemplate import sprig

    if sprig.knows(name):
        return sprig.function(name)
    if name in BUILTINS:
        return BUILTINS[name]
    reason = f'function "{name}" not defined'
    if name in _HELM_ONLY:
        hint = f"; {_HELM_ONLY[name]}" if _HELM_ONLY[name] else ""
        reason += f" (only Helm has it{hint})"
    raise KeyError(reason)


class Template:
    """A parsed template; immutable, and rendered any number of times."""

    __slots__ = ("_program", "_text", "constant", "mutates", "name")

    def __init__(
        self, text: str, name: str, program: Program, used: Mapping[str, Function]
    ) -> None:
        self._text = text
        self._program = program
        self.name = name
        """What errors call it."""
        self.mutates: bool = any(function.mutates for function in used.values())
        """Whether it uses a function that changes its arguments: hand in a private deep copy."""
        self.constant: str | None = self._constant()
        """What it renders to if it has no actions; None otherwise."""

    def _constant(self) -> str | None:
        parts = []
        for statement in self._program.blocks[self.name].statements:
            if not isinstance(statement, Text):
                return None
            parts.append(statement.text)
        return "".join(parts)

    def render(
        self, context: Struct | Mapping[str, Any], sources: RenderSources = _NO_SOURCES
    ) -> str:
        """The text of the template over a context, whose fields are the only ones there are.

        `sources` is where clock and chance come from; without one of them, a function that needs it
        is an error. Equal sources and contexts give equal texts.

        Never changes the context, unless the template `mutates`. Raises EvaluationError with a text
        shaped `template: NAME:LINE:COL: executing "NAME" at <NODE>: reason`, and LimitError.
        """
        if self.constant is not None:
            return self.constant
        struct = context if isinstance(context, Struct) else Struct(context)
        budget = Budget()
        state = State(self.name, self._text, budget, sources)
        state.vars.append(["$", struct])
        try:
            with limits.deep_stack():
                body = self._program.body(self.name)
                assert body is not None
                body(state, struct)
        except RecursionError:
            reason = f"template: {self.name}: a value or the template nests too deeply"
            raise LimitError(reason) from None
        finally:
            budget.pay()
        text = "".join(state.out)
        # Bytes of one character may have been printed apart from each other.
        return text if text.isascii() else from_bytes(to_bytes(text))


def parse(text: str, name: str, functions: Functions = default_functions) -> Template:
    """Parse a template; `name` is what errors call it.

    Raises CompileError with a string shaped `template: NAME:LINE: reason`.
    """
    with limits.deep_stack():
        program, used = parse_program(text, name, functions)
    return Template(text, name, program, used)
