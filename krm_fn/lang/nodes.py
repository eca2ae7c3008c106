"""What nodes of syntax trees, and other small values of languages, are made of: frozen classes.

They are not dataclasses, which would do, because two dozen of those take longer to make than a
package of ten objects takes to render; type checkers see them as such.
"""

from __future__ import annotations

from typing import Any, ClassVar, NoReturn, dataclass_transform


@dataclass_transform(frozen_default=True, eq_default=False)
class Frozen:
    """A base whose subclasses take their annotated fields in order; identity is equality.

    What is assigned to a field in the class is its default.
    """

    _fields: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls) -> None:
        cls._fields = (*cls._fields, *cls.__annotations__)

    def __init__(self, *values: Any) -> None:
        fields = self._fields
        if len(values) != len(fields):
            missing = fields[len(values) :]
            if not missing or not all(hasattr(type(self), name) for name in missing):
                raise TypeError(f"{type(self).__name__} takes {', '.join(fields)}")
        self.__dict__.update(zip(fields, values))  # noqa: B905 - `strict` costs more than the rest

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        raise AttributeError(f"{type(self).__name__} is frozen")

    def __repr__(self) -> str:
        values = ", ".join(repr(getattr(self, name)) for name in self._fields)
        return f"{type(self).__name__}({values})"
