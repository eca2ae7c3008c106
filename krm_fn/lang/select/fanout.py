"""Fan-outs: the select of a patch operation, and the path templates that name what it captured.

One operation of a patch with a select becomes one operation for each match. KubeMod visits the
matches in random order; here the order is that of the document, so that the same input always gives
the same output.
Source: ModRule specification, sections 1.10 and 3.2.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from krm_fn.errors import EvaluationError
from krm_fn.lang.go.fmt import format_value
from krm_fn.lang.select.captures import Trail, key_parts, key_text
from krm_fn.lang.select.parser import parse_path
from krm_fn.lang.select.paths import Path
from krm_fn.lang.select.run import Run
from krm_fn.lang.select.select import builds_values, on_any_stack
from krm_fn.limits import deep_stack


class Selected(NamedTuple):
    """One match: its key as KubeMod writes it, what it reads back from that, and the value."""

    key: str
    key_parts: tuple[int | str, ...]
    item: Any

    @property
    def is_exact(self) -> bool:
        """Whether the key parts are the very keys that were captured.

        KubeMod loses keys with brackets or quotes, keeps Go's escapes of others and takes what
        reads as a number for one: `007` becomes 7.
        """
        parts = "".join(f'["{part}"]' for part in self.key_parts)
        return self.key == f"${parts}" and "\\" not in self.key


class FanOut:
    """A compiled path with captures."""

    __slots__ = ("_builds", "_matches", "path", "text")

    def __init__(self, text: str, path: Path) -> None:
        self.text = text
        self.path = path
        self._matches = path.compile_matches()
        self._builds = builds_values(path)

    def entries(self, doc: Any) -> list[Selected]:
        """The matches in ascending order of their key parts, numbers before texts.

        Of matches with the same key the last one that is visited stays. Raises LimitError; any
        other error within the path leaves matches out.
        """
        return on_any_stack(lambda: self._entries(doc))

    @property
    def warnings(self) -> tuple[str, ...]:
        """What compiles and is surely not meant, each with its line:column and its code."""
        from krm_fn.lang.select.lint import lint  # loaded where somebody asks

        return tuple(map(str, lint(self.text, self.path)))

    def _entries(self, doc: Any) -> list[Selected]:
        run = Run(doc)
        try:
            named: dict[str, Any] = {}
            for captured, item in self._matches(run, None):
                run.spend(sum(key.walked if type(key) is Trail else 1 for key in captured))
                named[key_text(captured)] = item
            entries = [Selected(key, key_parts(key), item) for key, item in named.items()]
            if self._builds:
                for entry in entries:
                    run.spend_value(entry.item)
        finally:
            run.pay()
        return sorted(entries, key=_order)

    def __repr__(self) -> str:
        return f"FanOut({self.text!r})"


def _order(entry: Selected) -> list[tuple[bool, int, str]]:
    return [
        (True, 0, part) if isinstance(part, str) else (False, part, "") for part in entry.key_parts
    ]


def compile_fanout(text: str) -> FanOut:
    """Compile the select of a patch operation; raises CompileError.

    KubeMod compiles the text between `{#: ` and `}`. What compiles only thanks to that, such as
    several selects separated by commas, is refused.
    """
    with deep_stack():
        return FanOut(text, parse_path(text))


_PLACEHOLDER: Final = re.compile(r"#([0-9]+)")
_BAD_INDEX: Final = "(BADINDEX)"


def expand_path(template: str, parts: Sequence[int | str]) -> str:
    """A path template with `#0`, `#1` ... replaced by the key parts, as they are, unescaped.

    Raises EvaluationError for a number without a key part and for a template with `%`, which
    KubeMod would take for a format.
    """
    if "%" in template:
        raise EvaluationError(f"the path {template} has a %, which KubeMod takes for a format")

    def part(match: re.Match[str]) -> str:
        digits = match[1].lstrip("0") or "0"
        if len(digits) > 9 or int(digits) >= len(parts):
            return f"#{_BAD_INDEX}"
        return format_value(parts[int(digits)])

    path = _PLACEHOLDER.sub(part, template)
    if _BAD_INDEX in path:
        raise EvaluationError(f"the path {template} names a key that was not captured: {path}")
    return path
