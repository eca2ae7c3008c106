"""A tree to text that parses to the same tree; macros are printed as they were written.

Source: cel-go v0.29, parser/unparser.go.
"""

from __future__ import annotations

from typing import Final

from krm_fn import limits
from krm_fn.lang.cel.ast import (
    Call,
    Comprehension,
    Entry,
    Ident,
    ListExpr,
    Literal,
    MapExpr,
    Node,
    Select,
    StructExpr,
)
from krm_fn.lang.cel.values import UInt
from krm_fn.lang.go.strconv import format_float

_BINARY: Final = {
    "_||_": ("||", 1),
    "_&&_": ("&&", 2),
    **{f"_{op}_": (op, 3) for op in ("<", "<=", ">", ">=", "==", "!=")},
    "@in": ("in", 3),
    "_+_": ("+", 4),
    "_-_": ("-", 4),
    "_*_": ("*", 5),
    "_/_": ("/", 5),
    "_%_": ("%", 5),
}
_UNARY: Final = 6
_MEMBER: Final = 7


def unparse(tree: Node) -> str:
    """The text of an expression."""
    with limits.deep_stack():
        return _text(tree, 0)


def _text(node: Node, least: int) -> str:
    """The text, in parentheses if it binds less than `least`."""
    text, binds = _printed(node)
    return text if binds >= least else f"({text})"


def _printed(node: Node) -> tuple[str, int]:
    """The text of a node and how strongly it binds."""
    if isinstance(node, Literal):
        return _literal(node.value)
    if isinstance(node, Ident):
        return node.name, _MEMBER
    if isinstance(node, Select):
        selected = f"{_text(node.operand, _MEMBER)}.{_field(node.field)}"
        return (f"has({selected})" if node.test else selected), _MEMBER
    if isinstance(node, ListExpr):
        shown = [
            ("?" if i in node.optionals else "") + _text(e, 0) for i, e in enumerate(node.elements)
        ]
        return f"[{', '.join(shown)}]", _MEMBER
    if isinstance(node, MapExpr):
        return f"{{{', '.join([_entry(e, _text(e.key, 0)) for e in node.entries])}}}", _MEMBER
    if isinstance(node, StructExpr):
        inside = ", ".join([_entry(e, _field(e.key)) for e in node.entries])
        return f"{node.name}{{{inside}}}", _MEMBER
    if isinstance(node, Comprehension):
        assert node.macro is not None
        return _printed(node.macro)
    assert isinstance(node, Call)
    return _call(node.macro or node)


def _call(node: Call) -> tuple[str, int]:
    name, args = node.function, node.args
    if name in _BINARY:
        symbol, binds = _BINARY[name]
        # Chains of && and || are balanced trees: a nested one keeps its parentheses.
        left = binds + 1 if name in ("_||_", "_&&_") else binds
        return f"{_text(args[0], left)} {symbol} {_text(args[1], binds + 1)}", binds
    if name == "_?_:_":
        return f"{_text(args[0], 1)} ? {_text(args[1], 1)} : {_text(args[2], 0)}", 0
    if name in ("!_", "-_"):
        inner = _text(args[0], _MEMBER)
        if name == "-_" and inner[:1] in "0123456789.":
            inner = f"({inner})"
        return f"{name[0]}{inner}", _UNARY
    if name in ("_[_]", "_[?_]"):
        mark = "?" if name == "_[?_]" else ""
        return f"{_text(args[0], _MEMBER)}[{mark}{_text(args[1], 0)}]", _MEMBER
    if name == "_?._":
        field = args[1]
        assert isinstance(field, Literal)
        return f"{_text(args[0], _MEMBER)}.?{_field(field.value)}", _MEMBER
    inside = ", ".join([_text(argument, 0) for argument in args])
    receiver = "" if node.target is None else f"{_text(node.target, _MEMBER)}."
    return f"{receiver}{name}({inside})", _MEMBER


def _entry(entry: Entry, key: str) -> str:
    return f"{'?' if entry.optional else ''}{key}: {_text(entry.value, 0)}"


_PLAIN: Final = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")
_KEYWORDS: Final = frozenset({"in", "true", "false", "null"})


def _field(name: str) -> str:
    plain = name not in _KEYWORDS and not name[:1].isdigit() and _PLAIN.issuperset(name)
    return name if plain and name else f"`{name}`"


def _literal(value: object) -> tuple[str, int]:
    if value is None:
        return "null", _MEMBER
    if isinstance(value, bool):
        return ("true" if value else "false"), _MEMBER
    if isinstance(value, str):
        return _quoted(value), _MEMBER
    if isinstance(value, bytes):
        return 'b"' + "".join([f"\\x{byte:02x}" for byte in value]) + '"', _MEMBER
    if isinstance(value, UInt):
        return f"{value.value}u", _MEMBER
    if isinstance(value, float):
        text = format_float(value)
        return (text if set(text) & set(".e") else f"{text}.0"), _MEMBER
    return str(value), _MEMBER


_ESCAPES: Final = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def _quoted(value: str) -> str:
    return '"' + "".join([_ESCAPES.get(char, char) for char in value]) + '"'
