"""Templates of a rule: the texts in it, in whichever language, and what they see.

A text without actions is a constant, and no template language is even loaded for it.
Source: KubeMod core/modrulestore_item.go; the ModRule specification, sections 3.3 and 5.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Protocol

from krm_fn.dialects.modrule.keyparts import expand_key_parts
from krm_fn.dialects.modrule.spec import JINJA2

if TYPE_CHECKING:
    from krm_fn.lang.gotemplate import Sources
    from krm_fn.lang.gotemplate import Template as GoTemplate
    from krm_fn.lang.jinja import Template as JinjaTemplate

Draw = Callable[[], "Sources"]
"""Gives what there is of clock and chance, for a template that wants it."""


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


@dataclass(frozen=True, slots=True)
class _Constant:
    """A text without actions."""

    constant: str
    mutates: bool = False

    def render(self, variables: Mapping[str, Any], draw: Draw) -> str:
        return self.constant


@dataclass(frozen=True, slots=True, eq=False)
class _Go:
    """A Go template, in which numbers are floats and the object stands behind a pointer."""

    template: GoTemplate

    @property
    def constant(self) -> str | None:
        return self.template.constant

    @property
    def mutates(self) -> bool:
        return self.template.mutates

    def render(self, variables: Mapping[str, Any], draw: Draw) -> str:
        from krm_fn.lang.gotemplate import GoInt, Pointer, Struct

        fields = {
            "Namespace": variables["namespace"],
            "Target": Pointer(variables["target"]),
        }
        if "select_key_parts" in variables:
            fields["SelectKeyParts"] = [
                GoInt(part) if isinstance(part, int) else part
                for part in variables["select_key_parts"]
            ]
            fields["SelectedItem"] = variables["selected_item"]
        return self.template.render(Struct(fields), draw())


@dataclass(frozen=True, slots=True, eq=False)
class _Jinja:
    """A Jinja template, which sees plain values and has neither clock nor chance."""

    template: JinjaTemplate
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
    from krm_fn.lang import gotemplate

    return _Go(gotemplate.parse(text, name))


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
