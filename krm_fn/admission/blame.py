"""Who wrote where: the rules that an edit of an object comes from.

An index by path, so that neither many rules nor many edits multiply. List indexes are not compared,
since they shift: all elements of a list are one.
"""

from __future__ import annotations

from collections.abc import Iterable
from heapq import nlargest
from typing import Final

from krm_fn import limits
from krm_fn.admission.rule import RuleRef
from krm_fn.values import Path

_Entry = tuple[int, tuple[RuleRef, ...]]
"""The number of a write, and whose it is."""


class _Node:
    """One step of paths: what was written here, and below."""

    __slots__ = ("beyond", "children", "latest", "own", "within")

    def __init__(self) -> None:
        self.children: dict[str | int, _Node] = {}
        self.own: dict[tuple[RuleRef, ...], int] = {}
        self.latest: list[_Entry] | None = None
        """The latest writes here and below, once somebody asked."""
        self.within: tuple[RuleRef, ...] | None = None
        """The rules of an edit that ends here, once somebody asked."""
        self.beyond: tuple[RuleRef, ...] | None = None
        """The rules of an edit below that nobody made below."""

    def written(self) -> Iterable[_Entry]:
        return ((number, rules) for rules, number in self.own.items())


class Writers:
    """What rules wrote in an object, and in which order.

    Of the rules that wrote at one place the last `limits.WRITERS` are known.
    """

    def __init__(self) -> None:
        self._root = _Node()
        self._writes = 0

    def add(self, path: Path, rules: tuple[RuleRef, ...]) -> None:
        """Rules wrote a value; all writes are added before anybody asks `rules_of`."""
        node = self._root
        for step in path:
            below = node.children.get(_step(step))
            if below is None:
                below = node.children[_step(step)] = _Node()
            node = below
        self._writes += 1
        node.own.setdefault(rules, self._writes)

    def touched(self, path: Path) -> bool:
        """Whether a rule wrote there, below, or a value that this is a part of."""
        node = self._root
        for step in path:
            if node.own:
                return True
            below = node.children.get(_step(step))
            if below is None:
                return False
            node = below
        return bool(node.own or node.children)

    def rules_of(self, path: Path) -> tuple[RuleRef, ...]:
        """The rules that wrote there, below, or a value that this is a part of."""
        above: list[_Entry] = []
        node = self._root
        for step in path:
            below = node.children.get(_step(step))
            if below is None:
                if node.beyond is None:
                    node.beyond = _rules([*above, *node.written()])
                return node.beyond
            if node.own:
                above = nlargest(limits.WRITERS, [*above, *node.written()], key=_number)
            node = below
        if node.within is None:
            node.within = _rules([*above, *_latest(node)])
        return node.within


_ELEMENT: Final = 0


def _step(step: str | int) -> str | int:
    return step if isinstance(step, str) else _ELEMENT


def _latest(node: _Node) -> list[_Entry]:
    if node.latest is None:
        below = (entry for child in node.children.values() for entry in _latest(child))
        node.latest = nlargest(limits.WRITERS, [*node.written(), *below], key=_number)
    return node.latest


def _rules(entries: Iterable[_Entry]) -> tuple[RuleRef, ...]:
    """The rules of the latest writes, in the order in which they wrote."""
    kept = sorted(nlargest(limits.WRITERS, entries, key=_number), key=_number)
    return tuple(dict.fromkeys(rule for _, rules in kept for rule in rules))


def _number(entry: _Entry) -> int:
    return entry[0]


class Places:
    """Paths to be found again by what lies below them; here list indexes count."""

    def __init__(self, paths: Iterable[Path]) -> None:
        self._paths = frozenset(paths)

    def above(self, path: Path) -> list[Path]:
        """Those that a path leads to or through."""
        if not self._paths:
            return []
        prefixes = (path[:size] for size in range(len(path) + 1))
        return [prefix for prefix in prefixes if prefix in self._paths]
