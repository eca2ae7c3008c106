"""Templates of a rule: the texts in it, in whichever language, and what they see.

A text without actions is a constant, and no template language is even loaded for it.
Source: KubeMod core/modrulestore_item.go; the ModRule specification, sections 3.3 and 5.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

from krm_fn.dialects.modrule.chance import Draw
from krm_fn.dialects.modrule.keyparts import expand_key_parts
from krm_fn.dialects.modrule.spec import JINJA2

if TYPE_CHECKING:
    from krm_fn.lang.jinja import Template


class Text(Protocol):
    """Something that renders to a text."""

    @property
    def constant(self) -> str | None:
        """The text where it is always the same."""
        ...

    @property
    def mutates(self) -> bool:
        """Whether rendering may change what the template sees."""
        ...

    def render(self, variables: Mapping[str, Any], draw: Draw) -> str:
        """The text for `value_variables` or `message_variables`. Raises EvaluationError."""
        ...


class _Constant(NamedTuple):
    """A text without actions."""

    constant: str
    mutates: bool = False

    def render(self, variables: Mapping[str, Any], draw: Draw) -> str:
        return self.constant


@dataclass(frozen=True, slots=True, eq=False)
class _Jinja:
    """A Jinja template, which sees plain values and has neither clock nor chance."""

    template: Template
    constant: None = None
    mutates: bool = False

    def render(self, variables: Mapping[str, Any], draw: Draw) -> str:
        return self.template.render(variables)


_JINJA_ACTIONS: Final = ("{{", "{%", "{#")


def compile_value(text: str, name: str, engine: str) -> Text:
    """Compile the value of a patch; `name` is what errors call it. Raises CompileError."""
    return compile_text(text if engine == JINJA2 else expand_key_parts(text), name, engine)


def compile_text(text: str, name: str, engine: str) -> Text:
    """Compile a template; `name` is what errors call it. Raises CompileError."""
    if engine == JINJA2:
        if not any(action in text for action in _JINJA_ACTIONS):
            return _Constant(text)
        from krm_fn.lang import jinja

        return _Jinja(jinja.parse(text, name))
    if "{{" not in text:
        return _Constant(text)
    from krm_fn.dialects.modrule.gotext import GoText

    return GoText(text, name)


def value_variables(
    namespace: str, target: Any, key_parts: Sequence[int | str] = (), item: Any = None
) -> Mapping[str, Any]:
    """What the value of a patch sees. `target` is the document as it is before the rule."""
    return {
        "namespace": namespace,
        "target": target,
        "select_key_parts": list(key_parts),
        "selected_item": item,
    }


def message_variables(namespace: str, target: Any) -> Mapping[str, Any]:
    """What a reject message sees."""
    return {"namespace": namespace, "target": target}
