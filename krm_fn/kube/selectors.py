"""Label selectors, as Kubernetes evaluates them, and as text (`app=web,tier in (a,b)`).

A selector asked about labels that are not known answers None: undecided.
Source: apimachinery pkg/labels.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from krm_fn.errors import ConfigError

Labels = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Requirement:
    """One condition on a label: operator In, NotIn, Exists or DoesNotExist."""

    key: str
    operator: str
    values: frozenset[str] = frozenset()

    def matches(self, labels: Labels) -> bool:
        if self.operator == "In":
            return labels.get(self.key) in self.values
        if self.operator == "NotIn":
            return labels.get(self.key) not in self.values
        return (self.key in labels) == (self.operator == "Exists")


@dataclass(frozen=True, slots=True)
class Selector:
    """All requirements must hold; without any, everything matches."""

    requirements: tuple[Requirement, ...] = ()

    def matches(self, labels: Labels) -> bool:
        return all(requirement.matches(labels) for requirement in self.requirements)


_KEY: Final = r"[A-Za-z0-9](?:[-A-Za-z0-9_./]*[A-Za-z0-9])?"
_TERM: Final = re.compile(
    rf"\s*(?:(?P<absent>!)\s*(?P<nokey>{_KEY})"
    rf"|(?P<key>{_KEY})\s*(?:(?P<op>==|=|!=)\s*(?P<value>[-A-Za-z0-9_.]*)"
    rf"|\s(?P<set>in|notin)\s*\((?P<values>[^()]*)\))?)\s*(?:,|$)"
)


def parse_selector(text: str) -> Selector:
    """A selector from its text form, as kubectl's --selector takes it. Raises ConfigError."""
    requirements: list[Requirement] = []
    at = 0
    while at < len(text):
        match = _TERM.match(text, at)
        if match is None or match.end() == at:
            raise ConfigError(
                f"not a label selector: {text!r} (like: app=web,tier!=front,env in (a,b),!old)"
            )
        requirements.append(_requirement(match))
        at = match.end()
    return Selector(tuple(requirements))


def _requirement(match: re.Match[str]) -> Requirement:
    if match["absent"]:
        return Requirement(match["nokey"], "DoesNotExist")
    if match["set"]:
        values = frozenset(value.strip() for value in match["values"].split(","))
        return Requirement(match["key"], "In" if match["set"] == "in" else "NotIn", values)
    if match["op"]:
        operator = "NotIn" if match["op"] == "!=" else "In"
        return Requirement(match["key"], operator, frozenset((match["value"],)))
    return Requirement(match["key"], "Exists")


def from_labels(labels: Labels) -> Selector:
    """The selector that wants exactly these labels (and allows others)."""
    return Selector(
        tuple(Requirement(key, "In", frozenset((value,))) for key, value in labels.items())
    )
