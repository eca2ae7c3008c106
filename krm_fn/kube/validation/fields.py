"""Complaints about fields, as the API server words them. Knows no field.

Source: apimachinery pkg/util/validation/field/errors.go.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from krm_fn.lang.go.strconv import format_float, quote


class Printed(str):
    """A value that is shown as it stands: Go's syntax of a struct."""

    __slots__ = ()


def _said(path: str, what: str, detail: str) -> str:
    return f"{path}: {what}: {detail}" if detail else f"{path}: {what}"


def required(path: str, detail: str = "") -> str:
    return _said(path, "Required value", detail)


def forbidden(path: str, detail: str) -> str:
    return _said(path, "Forbidden", detail)


def invalid(path: str, value: Any, detail: str) -> str:
    return _said(path, f"Invalid value: {shown(value)}", detail)


def duplicate(path: str, value: Any) -> str:
    return f"{path}: Duplicate value: {shown(value)}"


def not_found(path: str, value: Any, detail: str = "") -> str:
    return _said(path, f"Not found: {shown(value)}", detail)


def not_supported(path: str, value: Any, supported: Iterable[str]) -> str:
    values = ", ".join(quote(one) for one in supported)
    return f"{path}: Unsupported value: {shown(value)}: supported values: {values}"


def too_long(path: str, most: int) -> str:
    return f"{path}: Too long: may not be more than {most} bytes"


def shown(value: Any) -> str:
    """A value: texts with quotes."""
    if isinstance(value, Printed):
        return str(value)
    if isinstance(value, str):
        return quote(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    return format_float(value) if isinstance(value, float) else str(value)


def each(path: str, value: Any, complaints: Iterable[str]) -> list[str]:
    """A complaint about one value for each text."""
    return [invalid(path, value, complaint) for complaint in complaints]
