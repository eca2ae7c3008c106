"""What all parts of a syntax tree are: small frozen classes, made of their annotations.

They are not dataclasses, which would do, because two dozen of those take longer to make than a
package of ten objects takes to render; type checkers see them as such.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, NoReturn, dataclass_transform


@dataclass_transform(frozen_default=True)
class Frozen:
    """A base whose subclasses take their fields in order."""

    _fields: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls) -> None:
        cls._fields = (*cls._fields, *cls.__annotations__)

    def __init__(self, *values: Any) -> None:
        self.__dict__.update(zip(self._fields, values, strict=True))

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        raise AttributeError(f"{type(self).__name__} is frozen")

    def __repr__(self) -> str:
        values = ", ".join(repr(getattr(self, name)) for name in self._fields)
        return f"{type(self).__name__}({values})"


class Syntax(Frozen):
    """Any part of a tree; `start` is where its text begins, or an infix operator itself."""

    start: int


def walk(syntax: Syntax) -> Iterator[Syntax]:
    """A part of a tree and all parts below it, in the order of their fields."""
    pending: list[Any] = [syntax]
    while pending:
        part = pending.pop()
        if isinstance(part, tuple):
            pending.extend(reversed(part))
        elif isinstance(part, Syntax):
            yield part
            pending.extend(reversed(part.__dict__.values()))
