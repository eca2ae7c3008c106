"""A text of a rule as a Go template; loaded when a rule has one with actions.

What templates see has Go's names and types here. Knows nothing of rules.
Source: KubeMod core/modrulestore_item.go; the ModRule specification, section 3.3.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from krm_fn.dialects.modrule.chance import Draw
from krm_fn.lang import gotemplate
from krm_fn.lang.gotemplate import GoInt, Pointer, RenderSources, Struct

_HINTS = ("set modRules.clock", "set modRules.seed")


class GoText:
    """A Go template, in which numbers are floats and the object stands behind a pointer."""

    __slots__ = ("_template", "constant", "mutates")

    def __init__(self, text: str, name: str) -> None:
        self._template = gotemplate.parse(text, name)
        self.constant = self._template.constant
        self.mutates = self._template.mutates

    def render(self, variables: Mapping[str, Any], draw: Draw) -> str:
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
        return self._template.render(Struct(fields), RenderSources(*draw(), *_HINTS))
