"""A rule: one manifest of a dialect, as written, with its name and its place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from krm_fn.system.paths import WORKING_DIRECTORY, Base
from krm_fn.values import Json, Path
from krm_fn.wire import Origin


@dataclass(frozen=True, slots=True)
class RuleRef:
    """Which rule something is about; `part` names a piece of it (`spec.patch[1]`)."""

    dialect: str
    kind: str
    namespace: str
    name: str
    part: str = ""
    origin: Origin | None = field(default=None, compare=False)

    def __str__(self) -> str:
        name = f"{self.namespace}/{self.name}" if self.namespace else self.name
        return f"{self.kind} {name}"


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule's manifest, as written, with its name."""

    ref: RuleRef
    value: Json
    line: Callable[[Path], int] | None = field(default=None, compare=False, repr=False)
    """The line of a field, counted as that of `ref.origin` is."""
    base: Base = field(default=WORKING_DIRECTORY, compare=False)
    """Where relative paths in the manifest start."""
    from_items: bool = field(default=False, compare=False)
    """Whether the author of the items wrote it: a binding then binds such rules only."""
    static: bool = field(default=False, compare=False)
    """Whether the API server reads it from a file when it starts."""

    def place(self, path: Path = ()) -> str:
        """Where the user wrote a field: `rules.yaml:17`; "" where nobody knows."""
        origin = self.ref.origin
        if origin is None:
            return ""
        if self.line is not None and origin.line is not None:
            origin = replace(origin, line=self.line(path))
        return str(origin)
