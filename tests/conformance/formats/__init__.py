"""One module a vector format, each with `check(case) -> Verdict`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Verdict:
    """What came of one case. `skip` says why it could not be run."""

    ok: bool
    expected: Any = None
    actual: Any = None
    skip: str = ""

    @classmethod
    def passed(cls) -> Verdict:
        return cls(True)

    @classmethod
    def failed(cls, expected: Any, actual: Any) -> Verdict:
        return cls(False, expected, actual)

    @classmethod
    def compare(cls, expected: Any, actual: Any) -> Verdict:
        """Passed if both are equal."""
        return cls(expected == actual, expected, actual)
