"""What `yes`, `Off`, `n` and their kin are: booleans or texts, by who reads next.

kubectl, Helm and Argo CD take a plain one for a boolean, kyaml (kpt, kustomize) for a text. A
stream of manifests goes to the former and is read so. A ResourceList comes from kyaml and may go to
either: there the type of the field decides, so that all who do not refuse the object read the same;
where no type is known it is a boolean, which a later reader may well take it for, and a `Doubt`.
What type a field has is told by whoever knows schemas (`Expect`); this module knows only what every
object has.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from krm_fn.values import Path
from krm_fn.wire.compose import MappingNode, Node, SequenceNode
from krm_fn.wire.scalars import Word, key_text

Expect = Callable[[str, str, Path], type | None]
"""The type of the value at a path in an apiVersion's kind: str, bool, or None: nobody knows."""


class Doubt(NamedTuple):
    """A word that readers take differently, and of which no type is known."""

    path: Path
    word: str
    is_key: bool = False


class Reading(NamedTuple):
    """What a word is as the value at a path, and as the key that ends one."""

    value: Callable[[Path, Word], bool | str]
    key: Callable[[Path, Word], str]


KUBECTL: Final = Reading(lambda path, word: word.boolean, lambda path, word: as_key(word))
"""As sigs.k8s.io/yaml reads."""

TEXTS: Final = Reading(lambda path, word: str(word), lambda path, word: str(word))
"""As kyaml reads."""

UNDECIDED: Final = Reading(lambda path, word: word, lambda path, word: word)
"""Left as `Word`s, for whoever asks for each value with its type."""


def as_key(word: Word) -> str:
    """The key that a word is to kubectl."""
    return key_text(word.boolean)


def by_type(api_version: str, kind: str, expect: Expect | None, doubts: list[Doubt]) -> Reading:
    """As a ResourceList means it; adds to `doubts` what no type decides."""

    def value(path: Path, word: Word) -> bool | str:
        wanted = _everywhere(path)
        if wanted is None and expect is not None:
            wanted = expect(api_version, kind, path)
        if wanted is str:
            return str(word)
        if wanted is None:
            doubts.append(Doubt(path, str(word)))
        return word.boolean

    def key(path: Path, word: Word) -> str:
        doubts.append(Doubt(path, str(word), True))
        return str(word)

    return Reading(value, key)


_TEXTS: Final[frozenset[Path]] = frozenset(
    (("apiVersion",), ("kind",), ("metadata", "name"), ("metadata", "namespace"))
)
_TEXT_MAPS: Final[frozenset[Path]] = frozenset(
    (("metadata", "labels"), ("metadata", "annotations"))
)


def _everywhere(path: Path) -> type | None:
    """The type of what all objects have."""
    return str if path in _TEXTS or (len(path) == 3 and path[:2] in _TEXT_MAPS) else None


def settle(root: Node, plain: bool, reading: Reading) -> None:
    """Decide the words in an object: in its nodes where it is `plain`, else in its value alone.

    An alias makes one node stand in several places, in which its words need not be the same.
    """
    if plain:
        _settle_node(root, (), reading)
    else:
        root.value = settled(root.value, reading)


def settled(value: Any, reading: Reading) -> Any:
    """A composed value with its words decided; what has none is the same Python object."""
    return _settled(value, (), reading, set())


def _settle_node(node: Node, path: Path, reading: Reading) -> None:
    if type(node) is MappingNode:
        pairs = []
        for name, key, child in node.pairs:
            settled = name
            if type(name) is Word:
                settled = reading.key((*path, str(name)), name)
            _settle_node(child, (*path, settled), reading)
            pairs.append((settled, key, child))
        node.pairs = pairs
        node.value = {name: child.value for name, _, child in pairs}
    elif type(node) is SequenceNode:
        for n, child in enumerate(node.items):
            _settle_node(child, (*path, n), reading)
        node.value = [child.value for child in node.items]
    elif type(node.value) is Word:
        node.value = reading.value(path, node.value)


def _settled(value: Any, path: Path, reading: Reading, without: set[int]) -> Any:
    """A value with its words decided; `without` are the collections that have none."""
    kind = type(value)
    if kind is Word:
        return reading.value(path, value)
    if (kind is not dict and kind is not list) or id(value) in without:
        return value
    changed = False
    if kind is dict:
        made: dict[str, Any] = {}
        for name, member in value.items():
            settled = name
            if type(name) is Word:
                settled = reading.key((*path, str(name)), name)
                changed = True
            made[settled] = _settled(member, (*path, settled), reading, without)
            changed |= made[settled] is not member
        if changed:
            return made
    else:
        elements = [_settled(e, (*path, n), reading, without) for n, e in enumerate(value)]
        if any(new is not old for new, old in zip(elements, value, strict=True)):
            return elements
    without.add(id(value))
    return value


def agrees(value: Any, settled: Any) -> bool:
    """Whether a composed value is a settled one, whichever way its words were decided."""
    kind = type(value)
    if kind is Word:
        return settled is value.boolean or (type(settled) is str and settled == value)
    if kind is not type(settled):
        return False
    if kind is dict:
        if len(value) != len(settled):
            return False
        for name, member in value.items():
            if name not in settled and type(name) is Word:
                name = as_key(name)
            if name not in settled or not agrees(member, settled[name]):
                return False
        return True
    if kind is list:
        if len(value) != len(settled):
            return False
        for x, y in zip(value, settled, strict=True):  # noqa: SIM110
            if not agrees(x, y):
                return False
        return True
    return bool(value == settled)
