"""Recorded expressions as parts of an explanation. Loaded only where somebody asks why."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from krm_fn.admission.trace import Part
from krm_fn.kube.cel.evaluation import Recording
from krm_fn.lang.cel import values as v
from krm_fn.lang.cel.recording import SubExpression
from krm_fn.values import MISSING, Path


def parts_of(recordings: Sequence[Recording]) -> tuple[Part, ...]:
    """The expression that was evaluated last, as its parts; variables stand where they are read.

    `recordings` are those of one expression: its variables first, as they are read.
    """
    variables = {one.variable: one for one in recordings if one.variable}
    expression = next((one for one in reversed(recordings) if not one.variable), None)
    if expression is None:
        return ()
    tree = expression.recorder.parts(expression.program.tree)
    return (_part(tree, variables, frozenset()),)


def _part(sub: SubExpression, variables: dict[str, Recording], within: frozenset[str]) -> Part:
    value: Any = MISSING
    error = ""
    note = "" if sub.record is not None else "not evaluated"
    if sub.record is not None:
        error = sub.record.error
        value = MISSING if error else plain(sub.record.value)
    if sub.looked_at is not None and sub.record is not None:
        number = "1 element" if sub.looked_at == 1 else f"{sub.looked_at} elements"
        note = f"{number} looked at"
    below = [_part(one, variables, within) for one in sub.parts]
    root = sub.root
    path: Path | None = None
    if root is not None and root[0] == "object":
        path = root[1:]
    elif root is not None and root[0] == "variables" and len(root) > 1:
        name = str(root[1])
        if name in variables and name not in within:
            variable = variables[name]
            tree = variable.recorder.parts(variable.program.tree)
            below.append(_part(tree, variables, within | {name}))
    return Part(sub.text, value, path, note, error, tuple(below))


_ELEMENTS: Final = 20
_DEPTH: Final = 8


def plain(value: Any, depth: int = _DEPTH) -> Any:
    """A value of CEL's as JSON has it, cut where it is long; other types as CEL prints them."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if depth == 0:
        return "..."
    if v.is_map(value):
        keys = list(v.map_keys(value))
        return {
            str(v.key_value(key) if isinstance(key, v.Key) else key): plain(
                v.map_find(value, key)[0], depth - 1
            )
            for key in keys[:_ELEMENTS]
        }
    if v.is_list(value):
        return [plain(one, depth - 1) for one in list(v.elements(value))[:_ELEMENTS]]
    if isinstance(value, v.Optional):
        return plain(value.value, depth - 1) if value.present else None
    return v.show(value)
