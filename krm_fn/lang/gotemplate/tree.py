"""What nodes, types and functions are made of: small frozen classes.

They are not dataclasses, which would do, because two dozen of those take longer to make than most
templates take to render; type checkers see them as such.
"""

from __future__ import annotations

from typing import Any, ClassVar, NoReturn, dataclass_transform


@dataclass_transform(frozen_default=True, eq_default=False)
class Frozen:
    """A base whose subclasses take their annotated fields in order.

    What is assigned to a field in the class is its default.
    """

    _fields: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls) -> None:
        cls._fields = (*cls._fields, *cls.__annotations__)

    def __init__(self, *values: Any) -> None:
        self.__dict__.update(zip(self._fields, values, strict=False))
        if len(values) != len(self._fields):
            missing = self._fields[len(values) :]
            if not missing or not all(hasattr(type(self), name) for name in missing):
                raise TypeError(f"{type(self).__name__} takes {', '.join(self._fields)}")

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        raise AttributeError(f"{type(self).__name__} is frozen")
