"""Where this project decides otherwise than the reference, as conditions on a case. No format.

A case under a condition passes only with the answer that the condition gives, never because its
reference answer is out of reach.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from formats import Verdict


@dataclass(frozen=True)
class Condition:
    """When it applies, why, and whether an actual answer is the one that is given instead."""

    when: str
    why: str
    applies: Callable[[dict[str, Any]], bool]
    holds: Callable[[dict[str, Any], Any], bool]


def decide(
    conditions: Iterable[Condition], case: dict[str, Any], fits: bool, expected: Any, actual: Any
) -> Verdict:
    """The verdict on a case: by the first condition that applies, else by the reference."""
    for condition in conditions:
        if condition.applies(case):
            wanted = f"(decided here: {condition.why}) instead of {expected}"
            return Verdict(condition.holds(case, actual), wanted, actual)
    return Verdict(fits, expected, actual)
