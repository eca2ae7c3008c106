"""The CustomResourceDefinitions that a render knows."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from typing import Final

from krm_fn.admission import Cause, Finding
from krm_fn.errors import ConfigError
from krm_fn.kube.resources import built_in_groups, from_crd
from krm_fn.run.target import overruled, without_marks
from krm_fn.values import Json, equal, get
from krm_fn.wire import Item


class Definitions(Mapping[tuple[str, str], Json]):
    """The CustomResourceDefinitions by (group, kind) of what they define.

    They are read when somebody asks for a kind that Kubernetes itself does not have.
    """

    def __init__(
        self, items: Sequence[Item], given: Sequence[Json], leaving: Callable[[Item], bool]
    ) -> None:
        self.findings: list[Finding] = []
        self._items = [item for item in items if item.head.kind == _CRD]
        self._given = [value for value in given if value.get("kind") == _CRD]
        self._leaving = leaving
        self._by_kind: dict[tuple[str, str], Json] | None = None

    def __getitem__(self, key: tuple[str, str]) -> Json:
        return self._read()[key]

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return iter(self._read())

    def __len__(self) -> int:
        return len(self._read())

    def _read(self) -> dict[tuple[str, str], Json]:
        if self._by_kind is None:
            self._by_kind = {}
            for value in self._given:
                described = from_crd(value)
                if described is None:
                    continue
                if described[0][0] in built_in_groups():
                    name = get(value, ("metadata", "name"))
                    raise ConfigError(f"{_CRD} {name}: {_own_group(described[0][0])}; remove it")
                self._by_kind.setdefault(described[0], value)
            told = frozenset(self._by_kind)
            for item in filter(self._leaving, self._items):
                self._take(item, told)
        return self._by_kind

    def _take(self, item: Item, told: Container[tuple[str, str]]) -> None:
        assert self._by_kind is not None
        described = from_crd(item.value)
        if described is None:
            return
        if described[0][0] in built_in_groups():
            message = f"{_CRD} {item.head.name} ({item.origin}): {_own_group(described[0][0])}"
            self.findings.append(Finding(Cause.FAILED, True, message))
        elif described[0] not in told:
            self._by_kind[described[0]] = without_marks(item.value)
        elif not equal(item.value.get("spec"), self._by_kind[described[0]].get("spec")):
            self.findings.append(overruled(item, "spec differs"))


_CRD: Final = "CustomResourceDefinition"


def _own_group(group: str) -> str:
    return f"the group {group or 'core'!r} is Kubernetes' own, and the API server refuses it"
