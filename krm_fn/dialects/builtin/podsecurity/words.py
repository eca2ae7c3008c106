"""How PodSecurity's checks put what they found into words.

Values are joined and quoted without escaping, as the server does.
Source: k8s.io/pod-security-admission policy/helpers.go.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple


class Violation(NamedTuple):
    """What a check found: a reason, and the details of it."""

    reason: str
    detail: str

    def __str__(self) -> str:
        return f"{self.reason} ({self.detail})"


def quoted(items: Iterable[str]) -> str:
    """`"a", "b"`"""
    joined = '", "'.join(items)
    return f'"{joined}"'


def by_count(word: str, items: Sequence[str] | set[str]) -> str:
    """A noun for one, or its plural."""
    return word if len(items) == 1 else f"{word}s"


def uses(items: Sequence[str]) -> str:
    """The verb for one subject, or several."""
    return "uses" if len(items) == 1 else "use"


def these(word: str, items: Sequence[str]) -> str:
    """`container "a"`, `containers "a", "b"`"""
    return f"{by_count(word, items)} {quoted(items)}"


def setters(pod: bool, containers: Sequence[str]) -> list[str]:
    """Who sets something that is forbidden: `pod`, `containers "a", "b"`, or both."""
    found = ["pod"] if pod else []
    return [*found, these("container", containers)] if containers else found
