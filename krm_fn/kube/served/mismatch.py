"""How a decoder says that a value does not fit, and how the place is found."""

from __future__ import annotations

from typing import Any

from krm_fn.errors import DecodeError
from krm_fn.values import format_path


class MismatchError(Exception):
    """A value that its type cannot hold.

    Raised where the value is, without knowing where that is: whoever passes it on appends a step.
    """

    def __init__(self, wanted: str, value: Any) -> None:
        super().__init__(wanted)
        self.wanted = wanted
        self.value = value
        self.steps: list[str | int] = []

    def error(self) -> DecodeError:
        """The error, with the path from the object's root."""
        path = tuple(reversed(self.steps))
        where = format_path(path) or "the object"
        return DecodeError(f"{where} is {_describe(self.value)}; it must be {self.wanted}", path)


def _describe(value: Any) -> str:
    if value is None:
        return "null"
    if type(value) is bool:
        return f"the boolean {str(value).lower()}"
    if type(value) is int and abs(value) < 10**30:
        return f"the number {value}"
    if type(value) in (int, float):
        return f"the number {value:.6g}" if type(value) is float else "a number"
    if type(value) is str:
        return f"the text {value!r}" if len(value) <= 60 else "a text"
    return "a list" if type(value) is list else "a map"
