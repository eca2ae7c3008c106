"""The schemas of one Kubernetes release, read from its table as they are asked for."""

from __future__ import annotations

from functools import cache, partial
from typing import TYPE_CHECKING, Any, Final

from krm_fn.errors import ConfigError
from krm_fn.kube.schema.model import (
    RESOURCE_LIST,
    Field,
    KindSchema,
    Struct,
    Type,
    Value,
)

if TYPE_CHECKING:
    from krm_fn.kube.schema.table import Table

RELEASES: Final = ("1.32", "1.33", "1.34", "1.35", "1.36", "1.37")
"""The releases that there are tables of, oldest first."""

OLDEST: Final = RELEASES[0]
NEWEST: Final = RELEASES[-1]

_VALUES: Final = {value.value: value for value in Value}

_UNIONS: Final = (Value.SCHEMA_OR_BOOLEAN, Value.SCHEMA_OR_LIST, Value.SCHEMA_OR_STRINGS)


class Schemas:
    """What Kubernetes says of its kinds in a release.

    `version` is `kubernetesVersion` of the configuration: "1.34", "v1.34.2"; "" is the newest
    release that there is a table of. Another one is answered by the nearest at or below it.
    Raises ConfigError for a version that is none, or older than `OLDEST`. Reads nothing yet.
    """

    def __init__(self, version: str = "") -> None:
        self.release = _nearest(version)
        self.version = _numbers(self.release)
        self._table: Table | None = None
        self._chunks: dict[str, Any] = {}
        self._structs: dict[str, Struct] = {}
        self._types: dict[tuple[str, str], Type] = {}
        self._kinds: dict[tuple[str, str], KindSchema | None] = {}
        self._versions: dict[tuple[str, str], list[str]] = {}

    def kind(self, api_version: str, kind: str) -> KindSchema | None:
        """A kind of the release, with apiVersion as objects write it; None for all others."""
        key = (api_version, kind)
        if key not in self._kinds:
            self._kinds[key] = self._read_kind(api_version, kind)
        return self._kinds[key]

    def versions(self, group: str, kind: str) -> list[KindSchema]:
        """A kind in all versions of its group, in the order of their names."""
        if not self._versions:
            for name in sorted(self._open().kinds):
                api_version, _, last = name.rpartition("/")
                key = (api_version.rpartition("/")[0], last)
                self._versions.setdefault(key, []).append(api_version)
        found = [self.kind(v, kind) for v in self._versions.get((group, kind), ())]
        return [schema for schema in found if schema is not None]

    def groups(self) -> frozenset[str]:
        """The API groups of the release; "" is the core group."""
        names = (name.rpartition("/")[0] for name in self._open().kinds)
        return frozenset(api_version.rpartition("/")[0] for api_version in names)

    def struct(self, name: str) -> Struct:
        """A struct type by its name in the table: `core/v1.Container`. Raises KeyError."""
        struct = self._structs.get(name)
        if struct is None:
            struct = self._structs[name] = self._read_struct(name)
        return struct

    def field_names(self) -> frozenset[str]:
        """The names of all fields of all kinds."""
        from krm_fn.kube.schema.table import NAMES

        return frozenset(self._open().chunk(NAMES))

    def _open(self) -> Table:
        if self._table is None:
            from krm_fn.kube.schema.table import Table

            self._table = Table(self.release)
        return self._table

    def _read_kind(self, api_version: str, kind: str) -> KindSchema | None:
        entry = self._open().kinds.get(f"{api_version}/{kind}")
        if entry is None:
            return None
        name, _, resource = entry.partition(" ")
        plural, _, namespaced = resource.partition(" ")
        group, _, version = api_version.rpartition("/")
        return KindSchema(
            group, version, kind, plural, namespaced == "true", partial(self.struct, name)
        )

    def _read_struct(self, name: str) -> Struct:
        folder, _, last = name.rpartition(".")
        chunk = self._chunks.get(folder)
        if chunk is None:
            chunk = self._chunks[folder] = self._open().chunk(folder)
        fields = {}
        said = chunk.get("go", {}).get(last, {})
        for text in chunk["types"][last]:
            field = self._field(text, folder, said)
            fields[field.name] = field
        return Struct(name, fields, last in chunk.get("atomic", ()))

    def _field(self, text: str, folder: str, said: dict[str, str]) -> Field:
        name, _, rest = text.partition(" ")
        code, _, rest = rest.partition(" ")
        flags, _, merge = rest.partition(" ")
        value = self._types.get((code, folder)) or self._type(code, folder)
        relation, keys, defaults = _merging(merge, value)
        via, _, go_name = said.get(name, "-").partition(" ")
        embedded = () if via == "-" else tuple(via.split("."))
        return Field(
            name, value, "e" in flags, "z" in flags, relation, keys, defaults, embedded, go_name
        )

    def _type(self, code: str, folder: str) -> Type:
        """The type of a code; most codes occur again and again, and types are immutable."""
        made = self._types[code, folder] = self._read_type(code, folder)
        return made

    def _read_type(self, code: str, folder: str) -> Type:
        pointer = code.startswith("*")
        if pointer:
            code = code[1:]
        first, rest = code[0], code[1:]
        if first == RESOURCE_LIST:
            return Type(Value.MAP, pointer, Type(Value.QUANTITY), rounded=True)
        if first == Value.STRUCT:
            name = rest if "." in rest else f"{folder}.{rest}"
            return Type(Value.STRUCT, pointer, struct=partial(self.struct, name))
        if first in _UNIONS:
            rest = f"#{folder}.JSONSchemaProps"
        element = self._type(rest, folder) if rest else None
        return Type(_VALUES[first], pointer, element)


_UNSAID: Final = {Value.LIST: "atomic", Value.STRUCT: ""}
"""How values merge of which nothing is said; a struct as its type says."""


def _merging(merge: str, value: Type) -> tuple[str, tuple[str, ...], dict[str, str | int]]:
    """A field's relation, keys and the keys' defaults."""
    if merge in ("atomic", "set"):
        return merge, (), {}
    if not merge:
        return _UNSAID.get(value.value, "granular"), (), {}
    if merge == "separable":
        return "granular", (), {}
    keys = []
    defaults: dict[str, str | int] = {}
    for part in merge.split(","):
        key, given, default = part.partition("=")
        keys.append(key)
        if given:
            defaults[key] = int(default) if default.isdecimal() else default
    return "map", tuple(keys), defaults


def _nearest(version: str) -> str:
    if not version:
        return NEWEST
    wanted = _numbers(version.removeprefix("v"))
    at_or_below = [release for release in RELEASES if _numbers(release) <= wanted]
    if not at_or_below:
        raise ConfigError(f"Kubernetes {version} is not known here; the oldest is {OLDEST}")
    return at_or_below[-1]


def _numbers(version: str) -> tuple[int, int]:
    """Major and minor of "1.34" or "1.34.2-gke.1"."""
    parts = version.split(".")
    if len(parts) < 2 or not all(part.isdecimal() and len(part) < 5 for part in parts[:2]):
        raise ConfigError(f"{version!r} is not a Kubernetes version; write it as 1.37")
    return int(parts[0]), int(parts[1])


@cache
def field_names() -> frozenset[str]:
    """The names of all fields of the newest release, to tell a misspelt one from one of a CRD."""
    return Schemas().field_names()
