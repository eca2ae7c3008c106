"""What the API server would call: one webhook or one built-in, however many rules it serves.

A prefilter tells from heads which objects a plugin must see at all, before they are parsed.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from enum import IntEnum
from typing import NamedTuple, Protocol

from krm_fn.admission.cluster import Cluster
from krm_fn.admission.coverage import RuleScope
from krm_fn.admission.request import Request
from krm_fn.admission.response import Response
from krm_fn.wire import Head


class Phase(IntEnum):
    """When the API server calls a plugin; lower comes first."""

    MUTATING_BUILT_IN = 0
    MUTATING_POLICY = 1
    MUTATING_WEBHOOK = 2
    VALIDATING_BUILT_IN = 3
    VALIDATING_POLICY = 4
    VALIDATING_WEBHOOK = 5
    QUOTA = 6
    """The one built-in plugin that is asked after everybody else has admitted the object."""

    @property
    def mutates(self) -> bool:
        return self < Phase.VALIDATING_BUILT_IN

    @property
    def is_built_in(self) -> bool:
        """Whether the server itself brings the plugin, which is no rule."""
        return self in (Phase.MUTATING_BUILT_IN, Phase.VALIDATING_BUILT_IN, Phase.QUOTA)


class Selection(NamedTuple):
    """Objects by what their head says; None means any."""

    groups: frozenset[str] | None = None
    kinds: frozenset[str] | None = None
    namespaces: Container[str] | None = None
    names: frozenset[str] | None = None

    def wants(self, head: Head, namespace: str) -> bool:
        return (
            (self.kinds is None or head.kind in self.kinds)
            and (self.namespaces is None or namespace in self.namespaces)
            and (self.names is None or head.name in self.names)
            and (self.groups is None or head.group in self.groups)
        )


class Prefilter:
    """Which objects a plugin could match at all, told from heads. Never by labels.

    It may want too much, never too little: what it does not want is not even parsed.
    """

    __slots__ = ("_any_kind", "_by_kind")

    def __init__(self, selections: Iterable[Selection]) -> None:
        self._any_kind: list[Selection] = []
        self._by_kind: dict[str, list[Selection]] = {}
        for selection in selections:
            if selection.kinds is None:
                self._any_kind.append(selection)
            else:
                for kind in selection.kinds:
                    self._by_kind.setdefault(kind, []).append(selection)

    def wants(self, head: Head, namespace: str) -> bool:
        """Whether the plugin must be asked about an object; `namespace` is "" without one."""
        for selection in self._by_kind.get(head.kind, ()):
            if selection.wants(head, namespace):
                return True
        return any(selection.wants(head, namespace) for selection in self._any_kind)


class Plugin(Protocol):
    """What the API server would call."""

    name: str
    phase: Phase
    order: tuple[str, str]
    """(configuration name, webhook name), compared as the server does."""
    prefilter: Prefilter

    @property
    def scopes(self) -> Sequence[RuleScope]:
        """What each of its rules could be asked about."""
        ...

    def admit(
        self,
        request: Request,
        cluster: Cluster,
        only: frozenset[str] | None = None,
    ) -> Response:
        """Admit one object; with `only`, just the invocations of these keys, once more."""
        ...
