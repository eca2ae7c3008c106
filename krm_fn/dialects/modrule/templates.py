"""Templates of a rule: the texts in it, and what they see.

A text without `{{` is a constant, and the template language is not even loaded for it.
Source: KubeMod core/modrulestore_item.go; the ModRule specification, section 3.3.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from krm_fn.lang.gotemplate import Sources


class Text(Protocol):
    """Something that renders to a text."""

    @property
    def constant(self) -> str | None:
        """The text where it is always the same."""
        ...

    @property
    def mutates(self) -> bool:
        """Whether rendering may change the context."""
        ...

    def render(self, context: Any, sources: Sources) -> str:
        """The text for a context, with what there is of clock and chance.

        Raises EvaluationError.
        """
        ...


@dataclass(frozen=True, slots=True)
class Constant:
    """A text without actions."""

    constant: str
    mutates: bool = False

    def render(self, context: Any, sources: Sources) -> str:
        return self.constant


def compile_text(text: str, name: str) -> Text:
    """Compile a template; `name` is what its errors call it. Raises CompileError."""
    if "{{" not in text:
        return Constant(text)
    from krm_fn.lang.gotemplate import parse

    return parse(text, name)


def value_context(
    namespace: str, target: Any, key_parts: Sequence[int | str] = (), item: Any = None
) -> Any:
    """What the value of a patch sees. `target` is the document as it is before the rule."""
    from krm_fn.lang.gotemplate import GoInt, Pointer, Struct

    parts = [GoInt(part) if isinstance(part, int) else part for part in key_parts]
    return Struct(
        {
            "Namespace": namespace,
            "Target": Pointer(target),
            "SelectKeyParts": parts,
            "SelectedItem": item,
        }
    )


def message_context(namespace: str, target: Any) -> Any:
    """What a reject message sees."""
    from krm_fn.lang.gotemplate import Pointer, Struct

    return Struct({"Namespace": namespace, "Target": Pointer(target)})
