"""`format`: clauses in a string, filled from a list.

The same reader serves the check of constant formats at compile time and the formatting itself.
Source: cel-go v0.29, ext/formatting.go.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

from krm_fn.errors import EvaluationError
from krm_fn.lang.cel import times
from krm_fn.lang.cel import types as t
from krm_fn.lang.cel import values as v
from krm_fn.lang.cel.ast import Call, ListExpr, Literal, MapExpr, Node
from krm_fn.lang.cel.checker import Checked
from krm_fn.lang.cel.source import Issues
from krm_fn.lang.cel.types import Type
from krm_fn.lang.cel.values import Duration, Timestamp, UInt
from krm_fn.lang.go import strconv
from krm_fn.lang.go.strconv import format_float, number_error, quote

_PRECISION: Final = 6
_DIGITS: Final = frozenset("0123456789")

_STRING_TEXT: Final = (
    "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, "
    "durations, and timestamps, was given "
)
_REFUSALS: Final = {
    "b": "only integers and bools can be formatted as binary, was given ",
    "d": "decimal clause can only be used on integers, was given ",
    "e": "scientific clause can only be used on doubles, was given ",
    "f": "fixed-point clause can only be used on doubles, was given ",
    "o": "octal clause can only be used on integers, was given ",
    "s": _STRING_TEXT,
    "x": "only integers, byte buffers, and strings can be formatted as hex, was given ",
}


class _Clause:
    """`%` with its precision and verb."""

    __slots__ = ("precision", "verb")

    def __init__(self, verb: str, precision: int | None) -> None:
        self.verb = verb
        self.precision = precision


def _parts(template: str, count: int, constant: bool = False) -> list[str | _Clause]:
    """Texts and clauses; raises EvaluationError for bad ones and for more than `count`.

    `constant`: a missing argument is told after a missing verb, as the check at compile time does.
    """
    parts: list[str | _Clause] = []
    at = 0
    used = 0
    while at < len(template):
        percent = template.find("%", at)
        if percent < 0:
            parts.append(template[at:])
            break
        parts.append(template[at:percent])
        at = percent + 1
        if template[at : at + 1] == "%":
            parts.append("%")
            at += 1
            continue
        if used >= count and not constant:
            raise EvaluationError(f"index {used} out of range")
        if at >= len(template):
            raise EvaluationError("unexpected end of string")
        if used >= count:
            raise EvaluationError(f"index {used} out of range")
        clause, at = _clause(template, at)
        parts.append(clause)
        used += 1
    return parts


def _clause(template: str, at: int) -> tuple[_Clause, int]:
    failed = "could not parse formatting clause: "
    precision: int | None = None
    if template[at] == ".":
        failed_precision = f"{failed}error while parsing precision: "
        end = at + 1
        while end < len(template) and template[end] in _DIGITS:
            end += 1
        if end >= len(template):
            raise EvaluationError(f"{failed_precision}could not find end of precision specifier")
        digits = template[at + 1 : end]
        if not digits or len(digits) > 18:
            raise EvaluationError(
                f"{failed_precision}error while converting precision to integer: "
                f"{number_error('Atoi', digits)}"
            )
        precision = int(digits)
        at = end
    verb = template[at]
    if verb not in "sdfebxXo":
        # Go looks at one byte.
        shown = chr(verb.encode("utf-8", "surrogatepass")[0])
        raise EvaluationError(f'{failed}unrecognized formatting clause "{shown}"')
    return _Clause(verb, precision), at + 1


def format_text(template: str, arguments: Any) -> str:
    """Fill a template; raises EvaluationError."""
    values = list(arguments)
    parts = []
    used = 0
    for part in _parts(template, len(values)):
        if isinstance(part, str):
            parts.append(part)
            continue
        try:
            parts.append(_format(part, values[used]))
        except EvaluationError as error:
            raise EvaluationError(f"error during formatting: {error}") from None
        used += 1
    return "".join(parts)


_HUGE: Final = 10**9


def format_work(template: str, arguments: Any) -> int:
    """The steps of formatting: by the template, the arguments, and the digits asked for."""
    total = len(template)
    for chunk in template.split("%.")[1:]:
        width = 0
        while width < len(chunk) and chunk[width] in _DIGITS:
            width += 1
        total += min(int(chunk[: min(width, 18)] or "0"), _HUGE)
    for argument in arguments:
        total += _printed(argument)
    return total // 2 + 5


def _printed(value: Any) -> int:
    """About how many characters a value is when it is printed."""
    total = 0
    pending = [value]
    while pending:
        current = pending.pop()
        total += 8
        if type(current) is str or type(current) is bytes:
            total += len(current)
        elif v.is_list(current):
            pending.extend(current)
        elif v.is_map(current):
            for key in v.map_keys(current):
                total += _size(key)
                pending.append(v.map_find(current, key)[0])
    return total


def _size(key: Any) -> int:
    return len(key) if type(key) is str else 8


def _format(clause: _Clause, value: Any) -> str:
    verb = clause.verb
    if verb == "s":
        return _string(value)
    if verb in "fe":
        return _real(verb, clause.precision, value)
    if verb == "d":
        return _integer(value, "d", "d")
    if verb == "b":
        if type(value) is bool:
            return "1" if value else "0"
        return _integer(value, "b", "b")
    if verb == "o":
        return _integer(value, "o", "o")
    if type(value) is str or type(value) is bytes:
        data = value.encode() if isinstance(value, str) else value
        return data.hex() if verb == "x" else data.hex().upper()
    return _integer(value, verb, "x")


def _refused(verb: str, value: Any) -> EvaluationError:
    return EvaluationError(_REFUSALS[verb] + v.type_of(value).name)


def _integer(value: Any, style: str, verb: str) -> str:
    if type(value) is UInt:
        return format(value.value, style)
    if type(value) is not int:
        raise _refused(verb, value)
    return format(value, style)


def _string(value: Any) -> str:
    kind = type(value)
    if kind is str:
        return str(value)
    if kind is bytes:
        try:
            return str(value.decode("utf-8"))
        except UnicodeDecodeError:
            message = "invalid UTF-8 in bytes, cannot convert to string"
            raise EvaluationError(f'could not convert argument "{message}" to string') from None
    if value is None:
        return "null"
    if kind is bool:
        return "true" if value else "false"
    if kind is int:
        return str(value)
    if kind is UInt:
        return str(value.value)
    if kind is float:
        return strconv.format_float(value)
    if kind is Timestamp:
        return times.format_timestamp(value)
    if kind is Duration:
        return times.format_duration(value.nanos)
    if kind is Type:
        return str(value.name)
    if v.is_list(value):
        return _list(value)
    if v.is_map(value):
        return _map(value)
    raise _refused("s", value)


def _nested(value: Any) -> str:
    """A value within a list or a map: as a literal of the language."""
    kind = type(value)
    if kind is str:
        return quote(value)
    if kind is bytes:
        return f"b{quote(_string(value))}"
    if kind is float:
        shown = format_float(value, "f", _PRECISION)
        return shown if math.isfinite(value) else quote(shown)
    if kind is Timestamp:
        return f"timestamp({quote(times.format_timestamp(value))})"
    if kind is Duration:
        return f"duration({quote(times.format_duration(value.nanos))})"
    if kind in _PRINTED or v.is_list(value) or v.is_map(value):
        return _string(value)
    raise EvaluationError(f"no formatting function for {v.type_of(value).name}")


_PRINTED: Final = frozenset({type(None), bool, int, UInt, Type})


def _list(value: Any) -> str:
    shown = []
    for element in value:
        shown.append(_nested(element))
    return f"[{', '.join(shown)}]"


def _map(value: Any) -> str:
    shown = []
    for key in v.map_keys(value):
        if type(key) not in _KEYS:
            raise EvaluationError(
                f"no formatting function for map key of type {v.type_of(key).name}"
            )
        shown.append((_nested(key), _nested(v.map_find(value, key)[0])))
    shown.sort(key=lambda entry: entry[0])
    return "{" + ", ".join([f"{key}:{entry}" for key, entry in shown]) + "}"


_KEYS: Final = frozenset({str, bool, int, UInt})

_SUPERSCRIPT: Final = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def _real(verb: str, precision: int | None, value: Any) -> str:
    if type(value) is str and value in ("NaN", "Infinity", "-Infinity"):
        value = float(value)
    if type(value) is not float:
        raise _refused(verb, value)
    # As upstream, the precision of %e is taken for a width.
    width = 0 if verb == "f" else _PRECISION if precision is None else precision
    return _number(verb, precision, value).rjust(width)


def _number(verb: str, precision: int | None, value: float) -> str:
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    value = value or 0.0
    if verb == "f":
        return _grouped(_fixed(value, _PRECISION if precision is None else precision))
    mantissa, _, exponent = format_float(value, verb, _PRECISION).partition("e")
    return f"{mantissa}×10{_power(exponent)}"


def _fixed(value: float, precision: int) -> str:
    """So many digits; upstream keeps only the low eight bits of how many zeros it may leave."""
    shown = format_float(value, "f", precision)
    if precision < 256:
        return shown
    whole, _, fraction = shown.partition(".")
    fraction = fraction.rstrip("0").ljust(precision % 256, "0")
    return f"{whole}.{fraction}" if fraction else whole


def _power(exponent: str) -> str:
    sign = "-" if exponent[0] == "-" else ""
    return f"{sign}{exponent[1:].zfill(2)}".translate(_SUPERSCRIPT)


def _grouped(shown: str) -> str:
    """Thousands with commas, as the locale en_US has them."""
    whole, point, fraction = shown.partition(".")
    sign = "-" if whole[0] == "-" else ""
    return f"{sign}{int(whole.lstrip('-')):,}{point}{fraction}"


# The check at compile time


def check_formats(tree: Sequence[Node], checked: Checked, issues: Issues) -> None:
    """Report constant formats that do not fit the types of a literal list of arguments."""
    for node in tree:
        if not _constant_format(node, checked):
            continue
        assert isinstance(node, Call)
        assert isinstance(node.target, Literal)
        arguments = node.args[0]
        assert isinstance(arguments, ListExpr)
        _check(node, node.target.value, arguments.elements, checked, issues)


def _constant_format(node: Node, checked: Checked) -> bool:
    if not isinstance(node, Call) or node.function != "format" or len(node.args) != 1:
        return False
    return (
        node in checked.refs
        and isinstance(node.target, Literal)
        and type(node.target.value) is str
        and isinstance(node.args[0], ListExpr)
    )


def exempt(tree: Sequence[Node], checked: Checked) -> frozenset[Node]:
    """Nodes within calls of `format`, whose literals may be mixed."""
    from krm_fn.lang.cel.ast import walk

    inside: set[Node] = set()
    for node in tree:
        if isinstance(node, Call) and node.function == "format" and node not in inside:
            inside.update(walk(node))
            inside.discard(node)
    return frozenset(inside)


def _check(
    node: Call, template: str, arguments: Sequence[Node], checked: Checked, issues: Issues
) -> None:
    try:
        parts = _parts(template, len(arguments), constant=True)
    except EvaluationError as error:
        # Clauses before the bad one are checked first.
        if _check_clauses(_before(template, len(arguments)), arguments, checked, issues):
            issues.report(node.pos, error.message)
        return
    if not _check_clauses(parts, arguments, checked, issues):
        return
    used = sum(isinstance(part, _Clause) for part in parts)
    if used < len(arguments):
        issues.report(
            node.pos,
            f"too many arguments supplied to string.format (expected {used}, got {len(arguments)})",
        )


def _before(template: str, count: int) -> list[str | _Clause]:
    """The parts before the first that cannot be read."""
    best: list[str | _Clause] = []
    at = template.find("%")
    while at >= 0:
        try:
            best = _parts(template[:at], count)
        except EvaluationError:
            break
        at = template.find("%", at + 1)
    return best


def _check_clauses(
    parts: Sequence[str | _Clause], arguments: Sequence[Node], checked: Checked, issues: Issues
) -> bool:
    clauses = [part for part in parts if isinstance(part, _Clause)]
    for clause, argument in zip(clauses, arguments, strict=False):
        bad = _bad_argument(clause, argument, checked)
        if bad is not None:
            verb = "x" if clause.verb == "X" else clause.verb
            kind = checked.types[bad]
            issues.report(bad.pos, f"error during formatting: {_REFUSALS[verb]}{kind.name}")
            return False
    return True


_FITTING: Final = {
    "b": frozenset({t.INT_KIND, t.UINT_KIND, t.BOOL_KIND}),
    "d": frozenset({t.INT_KIND, t.UINT_KIND}),
    "o": frozenset({t.INT_KIND, t.UINT_KIND}),
    "x": frozenset({t.INT_KIND, t.UINT_KIND, t.STRING_KIND, t.BYTES_KIND}),
    "s": frozenset(
        {t.LIST, t.MAP, t.INT_KIND, t.UINT_KIND, t.DOUBLE_KIND, t.BOOL_KIND, t.STRING_KIND}
        | {t.TIMESTAMP_KIND, t.BYTES_KIND, t.DURATION_KIND, t.TYPE_KIND, t.NULL_KIND}
    ),
    # A text may be NaN or Infinity, which is seen when it is formatted.
    "f": frozenset({t.DOUBLE_KIND, t.STRING_KIND}),
    "e": frozenset({t.DOUBLE_KIND, t.STRING_KIND}),
}


def _bad_argument(clause: _Clause, argument: Node, checked: Checked) -> Node | None:
    verb = "x" if clause.verb == "X" else clause.verb
    if verb == "s":
        return _unprintable(argument, checked)
    kind = checked.types[argument]
    if kind.is_dyn or kind.kind in _FITTING[verb]:
        return None
    return argument


def _unprintable(node: Node, checked: Checked) -> Node | None:
    kind = checked.types[node]
    if not kind.is_dyn and kind.kind not in _FITTING["s"]:
        return node
    parts: list[Node] = []
    if isinstance(node, ListExpr):
        parts = list(node.elements)
    elif isinstance(node, MapExpr):
        parts = [part for entry in node.entries for part in (entry.key, entry.value)]
    for part in parts:
        bad = _unprintable(part, checked)
        if bad is not None:
            return bad
    return None
