"""The value of a patch: from the text that a template rendered to JSON, as KubeMod reads it.

KubeMod hands the text to sigs.k8s.io/yaml: the first document counts, `y` and `on` are booleans
(as keys, too), dates stay texts, the last of equal keys wins. The wire composes the text; what
becomes of keys and merges is decided here, since the older go-yaml below sigs.k8s.io/yaml has its
own ways with them. Knows nothing of rules.
Source: sigs.k8s.io/yaml YAMLToJSON over yaml.v2 v2.3.0; the ModRule specification, section 3.4.
"""

from __future__ import annotations

import math
import re
from typing import Any, Final

from krm_fn.errors import EvaluationError
from krm_fn.wire import YamlError
from krm_fn.wire.compose import MappingNode, Node, Reader, SequenceNode, compose_first
from krm_fn.wire.scalars import MergeKey, key_text, resolve_sigs

_SIGS: Final = Reader(resolve=resolve_sigs, duplicate_keys=True)


def read_value(text: str) -> Any:
    """The JSON value of a rendered text. Raises EvaluationError."""
    if _WORD.fullmatch(text) and text.lower() not in _SPECIAL_WORDS:
        return text
    try:
        node = compose_first(text, _SIGS)
    except YamlError as error:
        reason = error.message.removeprefix("not valid YAML: ")
        raise EvaluationError(f"the value is not valid YAML: {reason}") from None
    return None if node is None else _Converter().json(node)


_WORD: Final = re.compile(r"[A-Za-z][A-Za-z0-9_./-]*")
_SPECIAL_WORDS: Final = frozenset(("y", "n", "yes", "no", "on", "off", "true", "false", "null"))
"""Of single words, only these (in some spellings) are no texts; most values are single words."""

_BOOLEAN_WORD: Final = re.compile(r"\b(?:[yYnN]|[yY]es|YES|[nN]o|NO|[oO]n|ON|[oO]ff|OFF)\b")


def boolean_words(text: str) -> list[str]:
    """Words in a value that read as booleans and are texts for other YAML readers: y, on, No ..."""
    if not _BOOLEAN_WORD.search(text):
        return []
    try:
        node = compose_first(text, _SIGS)
    except YamlError:
        return []
    words: list[str] = []
    pending: list[Node] = [] if node is None else [node]
    while pending:
        node = pending.pop()
        if isinstance(node, MappingNode):
            for _, key, value in reversed(node.pairs):
                pending += (value, key)
        elif isinstance(node, SequenceNode):
            pending += reversed(node.items)
        elif type(node.value) is bool:
            word = text[node.start : node.end]
            if word.lower() not in ("true", "false"):
                words.append(word)
    return words


class _Converter:
    """Nodes to JSON. An alias gives the very value of its anchor, however often it stands there."""

    def __init__(self) -> None:
        # By the identity of the composed value, which a node and its aliases share.
        self._done: dict[int, Any] = {}

    def json(self, node: Node) -> Any:
        composed = node.value
        if type(composed) is not dict and type(composed) is not list:
            return _scalar(composed)
        if id(composed) not in self._done:
            self._done[id(composed)] = self._collection(node)
        return self._done[id(composed)]

    def _collection(self, node: Node) -> Any:
        if type(node) is SequenceNode:
            return [self.json(element) for element in node.items]
        assert type(node) is MappingNode
        made: dict[str, Any] = {}
        for _, key, member in node.pairs:
            value = self.json(member)
            if type(key.value) is MergeKey:
                # A merge overrides what stands before it, and of several sources the first wins.
                for source in reversed(value if type(value) is list else [value]):
                    made.update(source)
            else:
                made[_key(key.value)] = value
        return made


def _scalar(value: Any) -> Any:
    """Floats that JSON prints without a fraction become integers; NaN and infinity are errors."""
    if type(value) is MergeKey:
        return str(value)
    if type(value) is not float:
        return value
    if math.isnan(value) or math.isinf(value):
        raise EvaluationError("the value has a .nan or .inf, which JSON does not have")
    if value.is_integer() and abs(value) < 1e21 and not (value == 0 and str(value)[0] == "-"):
        return int(value)
    return value


def _key(value: Any) -> str:
    try:
        return key_text(value)
    except ValueError as error:
        raise EvaluationError(str(error)) from None
