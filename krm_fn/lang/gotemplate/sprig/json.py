"""The values of templates as JSON, and JSON as values of templates, within a budget.

Source: Go 1.18's encoding/json (encode.go, decode.go, indent.go).
"""

from __future__ import annotations

import json
import math
import re
from typing import Any

from krm_fn.lang.budget import Budget
from krm_fn.lang.go.json.encode import float_text, quote
from krm_fn.lang.go.json.scanner import check_nesting, syntax_error
from krm_fn.lang.go.release import Release
from krm_fn.lang.go.values import GoInt, GoObject, is_nil, to_float
from krm_fn.lang.gotemplate.values import FunctionError, Struct


def encode(budget: Budget, value: Any, indent: bool = False, escape: bool = True) -> str:
    """A value as JSON; raises FunctionError where JSON has no such value, and LimitError."""
    writer = _Writer(budget, indent, escape)
    writer.value(value, 0)
    text = "".join(writer.parts)
    budget.spend(len(text) // 2)
    return text


class _Writer:
    def __init__(self, budget: Budget, indent: bool, escape: bool) -> None:
        self.budget = budget
        self.indent = indent
        self.escape = escape
        self.parts: list[str] = []
        self.size = 0

    def put(self, text: str) -> None:
        self.parts.append(text)
        self.size += len(text)
        if self.size > self.budget.output:
            self.budget.text(self.size)

    def value(self, value: Any, depth: int) -> None:
        kind = type(value)
        if value is None or is_nil(value):
            self.put("null")
        elif kind is str:
            self.put(self.string(value))
        elif kind is bool:
            self.put("true" if value else "false")
        elif isinstance(value, GoInt):
            self.put(str(int(value)))
        elif kind is int or kind is float:
            self.put(_number(value))
        elif isinstance(value, dict):
            self.map(value, sorted(value), depth)
        elif isinstance(value, list):
            self.list(value, depth)
        elif isinstance(value, Struct):
            self.map(value.fields, list(value.fields), depth)
        elif isinstance(value, GoObject):
            self.budget.spend(8)
            self.value(value.go_json(), depth + 1)
        else:
            raise FunctionError("json: unsupported type: complex128")

    def line(self, depth: int) -> None:
        if self.indent:
            self.put("\n" + "  " * depth)

    def map(self, members: dict[str, Any], names: list[str], depth: int) -> None:
        self.put("{")
        for n, name in enumerate(names):
            if n:
                self.put(",")
            self.line(depth + 1)
            self.put(self.string(name) + (": " if self.indent else ":"))
            self.value(members[name], depth + 1)
        if names:
            self.line(depth)
        self.put("}")

    def list(self, elements: list[Any], depth: int) -> None:
        self.put("[")
        for n, element in enumerate(elements):
            if n:
                self.put(",")
            self.line(depth + 1)
            self.value(element, depth + 1)
        if elements:
            self.line(depth)
        self.put("]")

    def string(self, text: str) -> str:
        return quote(text, Release.GO_1_18, self.escape)


def _number(value: float) -> str:
    return float_text(to_float(value))


class JsonDecodeError(Exception):
    """Why a string is no JSON, and what could be read of it nevertheless."""

    def __init__(self, reason: str, value: Any = None) -> None:
        super().__init__(reason)
        self.value = value


def decode(text: str) -> Any:
    """The value of a JSON text. Raises JsonDecodeError, and LimitError for deep nesting."""
    check_nesting(text)
    too_large: list[str] = []

    def number(digits: str) -> float | None:
        value = float(digits)
        if math.isinf(value):
            too_large.append(digits)
            return None
        return int(digits) if digits.lstrip("-").isdigit() and digits != "-0" else value

    def refuse(constant: str) -> None:
        raise ValueError(f"invalid character in {constant}")

    whole = re.sub("[\ud800-\udfff]", "\ufffd", text)
    try:
        value = json.loads(whole, parse_int=number, parse_float=number, parse_constant=refuse)
    except ValueError:
        raise JsonDecodeError(syntax_error(whole)) from None
    if "\\u" in whole:
        value = _without_surrogates(value)
    if too_large:
        shown = too_large[0][:50]
        raise JsonDecodeError(
            f"json: cannot unmarshal number {shown} into Go value of type float64", value
        )
    return value


def _without_surrogates(value: Any) -> Any:
    """Lone surrogates, which only escapes can write, are U+FFFD."""
    if type(value) is str:
        return re.sub("[\ud800-\udfff]", "\ufffd", value)
    if type(value) is list:
        return [_without_surrogates(element) for element in value]
    if type(value) is dict:
        return {_without_surrogates(k): _without_surrogates(v) for k, v in value.items()}
    return value
