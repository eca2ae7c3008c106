"""How an environment learns of struct types: types with named fields, which literals make.

Source: cel-go v0.29, common/types/provider.go.
"""

from __future__ import annotations

from typing import Any

from krm_fn.errors import EvaluationError
from krm_fn.lang.cel.attributes import FieldAccess
from krm_fn.lang.cel.types import Type


class TypeProvider:
    """Struct types; this one knows none. Libraries subclass it, and override all methods."""

    def struct(self, name: str) -> Type | None:
        """The type that `name{...}` makes or that has declared fields."""
        return None

    def field(self, name: str, field: str) -> Type | None:
        """The type of a field; None if the type has no such field."""
        return None

    def make(self, name: str, fields: dict[str, Any]) -> Any:
        """A value of the type; raises EvaluationError."""
        raise EvaluationError(f"unknown type '{name}'")

    def access(self, name: str) -> FieldAccess | None:
        """How fields are read where the type is known statically; None: as the value does."""
        return None
