"""Jinja2 templates from people who may be hostile, in Jinja's sandbox and within limits.

Jinja's sandbox keeps a template away from the machine; it does not keep it from running for years
or filling the memory. Here every loop, call, filter and operator is paid for from one budget: the
tree of a template is rewritten so that nothing goes around it (`tree`), and what the sandbox offers
is what is known to stay within bounds (`environment`, `filters`, `methods`, `arithmetic`). Loading
another template, autoescaping, the clock and chance are not there. Strings are printed as
they are, everything else as JSON. The package knows strings and values; it knows no rules.

    template = parse("{{ namespace | upper }}", "/spec/x")
    template.render({"namespace": "shop"})    # "SHOP"
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import jinja2

from krm_fn import limits
from krm_fn.errors import CompileError, EvaluationError, LimitError
from krm_fn.lang.jinja.environment import Environment, budget_of
from krm_fn.lang.jinja.filters import FILTERS, TESTS
from krm_fn.lang.jinja.tree import TemplateRefusedError, guarded

__all__ = ["Template", "parse"]

_ENVIRONMENT: Final = Environment()
_ENVIRONMENT.filters = dict(FILTERS)
_ENVIRONMENT.tests = dict(TESTS)
_LONGEST_REASON: Final = 500


class Template:
    """A compiled template; immutable, and rendered any number of times."""

    __slots__ = ("_template", "name")

    def __init__(self, template: jinja2.Template, name: str) -> None:
        self._template = template
        self.name = name
        """What errors call it."""

    def render(self, variables: Mapping[str, Any]) -> str:
        """The text of the template over JSON values by name, which are never changed.

        Raises EvaluationError with a string shaped `template: NAME:LINE: reason`, and LimitError.
        """
        context = self._template.new_context(dict(variables))
        budget = budget_of(context)
        parts: list[str] = []
        size = 0
        try:
            with limits.deep_stack():
                for part in self._template.root_render_func(context):
                    size += len(part)
                    budget.text(size)
                    parts.append(part)
            text = "".join(parts)
            text.encode()
        except LimitError as error:
            raise LimitError(self._said(error, error.message)) from None
        except RecursionError as error:
            reason = "a value or the template nests too deeply"
            raise LimitError(self._said(error, reason)) from None
        except UnicodeEncodeError as error:
            raise EvaluationError(self._said(error, "it prints half a character")) from None
        except Exception as error:
            # Generated code on values of any type: Python has no end of errors for that.
            raise EvaluationError(self._said(error, _reason(error))) from None
        finally:
            budget.pay()
        return text

    def _said(self, error: Exception, reason: str) -> str:
        """The text of an error, with the line of the template that raised it."""
        line = 0
        step = error.__traceback__
        while step is not None:
            if step.tb_frame.f_globals.get("__jinja_template__") is self._template:
                line = self._template.get_corresponding_lineno(step.tb_lineno)
            step = step.tb_next
        return f"template: {self.name}:{line}: {reason}" if line else _placed(self.name, reason)


def parse(text: str, name: str) -> Template:
    """Compile a template; `name` is what errors call it.

    Raises CompileError with a string shaped `template: NAME:LINE: reason`.
    """
    if len(text) > limits.TEMPLATE_TEXT:
        raise CompileError(_placed(name, f"it is longer than {limits.TEMPLATE_TEXT:,} characters"))
    try:
        with limits.deep_stack():
            template = _ENVIRONMENT.from_string(guarded(_ENVIRONMENT.parse(text)))
    except jinja2.TemplateSyntaxError as error:
        raise CompileError(f"template: {name}:{error.lineno}: {_reason(error)}") from None
    except TemplateRefusedError as error:
        raise CompileError(f"template: {name}:{error.line}: {error.reason}") from None
    except (RecursionError, MemoryError, SyntaxError):
        # What Jinja generates is Python, whose compiler knows a hundred levels of each kind.
        raise CompileError(_placed(name, "it nests too deeply")) from None
    except ValueError:
        raise CompileError(_placed(name, "a number has too many digits to be read")) from None
    return Template(template, name)


def _placed(name: str, reason: str) -> str:
    return f"template: {name}: {reason}"


def _reason(error: Exception) -> str:
    """One line that says what went wrong."""
    text = getattr(error, "message", None) or str(error) or type(error).__name__
    text = " ".join(str(text).split())
    return text if len(text) <= _LONGEST_REASON else text[:_LONGEST_REASON] + "..."
