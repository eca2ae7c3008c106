"""Go's html/template: a mode of the engine in which what is printed is made safe where it stands.

The templates are Go's, without Sprig; a parsed program is rewritten before it first runs, as Go
does it. `contexts` are places in a page, `transitions` lead from one to the next, `escapers` make
values safe, `escape` puts these together. It knows no Kubernetes.
Source: Go 1.26's html/template; the templates' own language is that of `krm_fn.lang.gotemplate`.

    template = parse("<a title={{.Name}}>", "x")
    template.render({"Name": "a b"})    # "<a title=a&#32;b>"
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from krm_fn import limits
from krm_fn.errors import EvaluationError
from krm_fn.lang.gotemplate import Struct, Template
from krm_fn.lang.gotemplate.functions import BUILTINS
from krm_fn.lang.gotemplate.html.contexts import EscapeError
from krm_fn.lang.gotemplate.html.escape import escaped
from krm_fn.lang.gotemplate.parser import parse_program
from krm_fn.lang.gotemplate.state import place
from krm_fn.lang.gotemplate.values import Function

__all__ = ["HtmlTemplate", "parse"]


def _function(name: str) -> Function:
    if name not in BUILTINS:
        raise KeyError(f'function "{name}" not defined')
    return BUILTINS[name]


class HtmlTemplate:
    """A parsed template; immutable, and rendered any number of times.

    `refused` says why it cannot be made safe, so that every render fails; "" where it can.
    """

    __slots__ = ("_template", "refused")

    def __init__(self, template: Template | None, refused: str = "") -> None:
        self._template = template
        self.refused = refused

    def render(self, context: Struct | Mapping[str, Any]) -> str:
        """The text of the template over a context, whose fields are the only ones there are.

        Raises EvaluationError, shaped `html/template:NAME:LINE:COL: reason` where the template is
        refused and `template: NAME:LINE:COL: executing ...` elsewhere, and LimitError.
        """
        if self._template is None:
            raise EvaluationError(self.refused)
        return self._template.render(context)


def parse(text: str, name: str) -> HtmlTemplate:
    """Parse a template; `name` is what errors call it.

    Raises CompileError with a string shaped `template: NAME:LINE: reason`, also past a limit.
    """
    with limits.deep_stack():
        program, used = parse_program(text, name, _function)
        try:
            program = escaped(program, name)
        except EscapeError as error:
            where = name if error.pos is None else f"{name}:{place(text, error.pos)}"
            return HtmlTemplate(None, f"html/template:{where}: {error}")
    return HtmlTemplate(Template(text, name, program, used))
