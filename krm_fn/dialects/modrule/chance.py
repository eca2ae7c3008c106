"""Clock and chance for templates: none by default, or what the options give, the same every time.

A template that asks for the time or for something random would give another result at each render.
With `modRules.clock` the time is that one; with `modRules.seed` what is random depends on the seed,
the rule, the object and the place in the rule, and on nothing else.
Source: the ModRule specification, section 5.2.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from krm_fn.admission import RuleRef
from krm_fn.config.fields import Section
from krm_fn.values import Json, get

Draw = Callable[[], tuple[datetime | None, str]]
"""Gives what there is of clock and seed, for a template that wants it."""


@dataclass(frozen=True, slots=True)
class Chance:
    """The section's `clock` and `seed`; None and "" where they are not given."""

    clock: datetime | None = None
    seed: str = ""

    def draw(self, rule: RuleRef, target: Json, part: str) -> tuple[datetime | None, str]:
        """The clock, and the seed for a template at `part` of a rule on an object."""
        if not self.seed:
            return self.clock, ""
        names = [get(target, path) for path in _IDENTITY]
        return self.clock, "\0".join(map(str, (self.seed, rule, *names, part)))


_IDENTITY = (
    ("apiVersion",),
    ("kind",),
    ("metadata", "namespace"),
    ("metadata", "name"),
)


def read_chance(section: Section) -> Chance:
    """The members `clock` (RFC 3339) and `seed` of `modRules`. Raises ConfigError."""
    text = section.string("clock")
    clock: datetime | None = None
    if text:
        try:
            clock = datetime.fromisoformat(text)
        except ValueError:
            example = "2026-01-31T12:00:00Z"
            raise section.error("clock", f": {text!r} is no time like {example}") from None
        clock = clock if clock.tzinfo is not None else clock.replace(tzinfo=UTC)
    return Chance(clock, section.string("seed"))
