"""Write values as YAML text: the small block emitter for what a rule has put in.

It writes what every Go reader and every YAML 1.1 reader reads back as the same value, in the
indentation found around it. Nothing is ever written as an alias: a value that stands in two places
is written twice.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from krm_fn.wire.scalars import can_be_literal, write_double_quoted, write_scalar


@dataclass(frozen=True, slots=True)
class Layout:
    """How the text around an edit is laid out."""

    step: int = 2
    """Columns that a nested map is indented by."""
    wide: bool = False
    """Whether the dashes of a list are indented below its key."""
    newline: str = "\n"
    literals: bool = True
    """Whether texts of several lines are written as literal block scalars."""


def emit_block(value: Any, column: int, layout: Layout) -> str:
    """The lines of a value in block style: the first without its indentation, no last line break.

    `column` is where the value starts, that is, what all following lines are indented by.
    """
    lines: list[str] = []
    _block(value, column, layout, lines, "")
    return layout.newline.join(lines)


def emit_value(value: Any, column: int, layout: Layout) -> str:
    """The text after `key:` of a value whose key stands at `column`: " text", or lines below it."""
    lines: list[str] = []
    _after_key(value, column, layout, lines, "")
    return layout.newline.join(lines)


def _block(value: Any, column: int, layout: Layout, lines: list[str], lead: str) -> None:
    """Append a value's lines; `lead` (a dash and a space, say) stands before the first."""
    pad = " " * column
    if type(value) is dict and value:
        for key, member in value.items():
            _after_key(member, column, layout, lines, lead + write_key(key) + ":")
            lead = pad
    elif type(value) is list and value:
        for element in value:
            # The element of a list starts behind its dash: two columns on.
            if layout.literals and type(element) is str and can_be_literal(element):
                _literal(element, column, 2, lines, lead + "- ")
            else:
                _block(element, column + 2, layout, lines, lead + "- ")
            lead = pad
    else:
        lines.append(lead + _inline(value))


def _after_key(value: Any, column: int, layout: Layout, lines: list[str], lead: str) -> None:
    if type(value) is dict and value:
        lines.append(lead)
        _block(value, column + layout.step, layout, lines, " " * (column + layout.step))
    elif type(value) is list and value:
        lines.append(lead)
        inner = column + (layout.step if layout.wide else 0)
        _block(value, inner, layout, lines, " " * inner)
    elif layout.literals and type(value) is str and can_be_literal(value):
        _literal(value, column, layout.step, lines, lead + " ")
    else:
        lines.append(lead + " " + _inline(value))


def _inline(value: Any) -> str:
    if type(value) is dict:
        return "{}"
    if type(value) is list:
        return "[]"
    return write_scalar(value)


def _literal(text: str, column: int, step: int, lines: list[str], lead: str) -> None:
    header, body = literal_lines(text, column, step)
    lines.append(lead + header)
    lines.extend(body)


def literal_lines(text: str, column: int, step: int) -> tuple[str, list[str]]:
    """The header (`|`, `|-`, `|+`, with an indentation indicator where needed) and the lines.

    `column` is where the key or the dash stands, and the lines are indented by `step` more.
    """
    content = text.rstrip("\n")
    breaks = len(text) - len(content)
    chomp = "-" if breaks == 0 else "" if breaks == 1 else "+"
    rows = content.split("\n")
    first = next((row for row in rows if row), "")
    indicator = str(step) if first[:1] in (" ", "\t") or not rows[0] else ""
    pad = " " * (column + step)
    body = [pad + row if row else "" for row in rows] + [""] * (breaks - 1)
    return f"|{indicator}{chomp}", body


def write_key(key: str) -> str:
    """A map key's text."""
    return write_scalar(key)


def emit_flow(value: Any, quoted_keys: bool = False) -> str:
    """A value in flow style on one line; with `quoted_keys` every key is double-quoted, as JSON."""
    key_of: Callable[[str], str] = write_double_quoted if quoted_keys else _flow_key
    return _flow(value, key_of)


def _flow(value: Any, key_of: Callable[[str], str]) -> str:
    if type(value) is dict:
        # Lists, not generators: these would take C stack, of which deep values need too much.
        members = [f"{key_of(k)}: {_flow(v, key_of)}" for k, v in value.items()]
        return "{" + ", ".join(members) + "}"
    if type(value) is list:
        return "[" + ", ".join([_flow(v, key_of) for v in value]) + "]"
    if type(value) is str and key_of is write_double_quoted:
        return write_double_quoted(value)
    return write_scalar(value, flow=True)


def _flow_key(key: str) -> str:
    return write_scalar(key, flow=True)
