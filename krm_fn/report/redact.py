"""Values of Secrets do not leave through what is said.

A result, a message or a diff may quote what a rule read or changed, and build logs are read by
many. A Secret is one by its group and kind, well-formed or not: everything in `data` and
`stringData` counts, in any letter case and of any type. What rules derive from it is told by its
pieces: upper and lower case, parts, base64 and base32, hexadecimal, quoted, reversed, hashed. The
manifests themselves are not touched here.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from krm_fn.errors import InputError
from krm_fn.values import MISSING, Json, Path, get, with_at
from krm_fn.wire import Head, Item
from krm_fn.wire.stream import head_of

REDACTED: Final = "(redacted)"
_MEMBERS: Final = frozenset(("data", "stringdata"))
_ANNOTATIONS: Final[Path] = ("metadata", "annotations")
_APPLIED: Final = "last-applied"
"""In the name of an annotation that holds the object once more."""


def is_secret(head: Head) -> bool:
    """Whether an object is a Secret of the core group."""
    return head.kind.lower() == "secret" and head.group == ""


def _is_member(key: Any) -> bool:
    return type(key) is str and key.lower() in _MEMBERS


# ------------------------------------------------------------------------------ values and objects


def redact_value(path: Path, value: Any) -> Any:
    """A value of a Secret at `path`, with everything in `data` and `stringData` hidden."""
    if value is MISSING:
        return value
    if path and _is_member(path[0]):
        return _hidden_member(value) if len(path) == 1 else REDACTED
    if path == _ANNOTATIONS and type(value) is dict:
        return {key: redact_value((*path, key), text) for key, text in value.items()}
    if path[:2] == _ANNOTATIONS and _APPLIED in str(path[-1]):
        return REDACTED
    return value


def redact_object(value: Json, other: Json | None = None, mark: str = "") -> Json:
    """A Secret with its values hidden; one that differs in `other` says `mark`."""
    result = dict(with_at(value, _ANNOTATIONS, redact_value(_ANNOTATIONS, _annotations(value))))
    for key, member in value.items():
        if _is_member(key):
            result[key] = _hidden_member(member, get(other, (key,), MISSING), mark)
    return result


def redact_any(value: Any) -> Any:
    """A value in which every Secret has its values hidden, a list's too."""
    if type(value) is not dict:
        return value
    if is_secret(head_of(value)):
        value = redact_object(value)
    if type(value.get("items")) is list:
        return {**value, "items": [redact_any(item) for item in value["items"]]}
    return value


def _annotations(value: Json) -> Any:
    return get(value, _ANNOTATIONS, MISSING)


def _hidden_member(member: Any, other: Any = MISSING, mark: str = "") -> Any:
    if type(member) is dict:
        return {
            key: _hidden(text, get(other, (key,), MISSING), mark) for key, text in member.items()
        }
    return None if member is None else _hidden(member, other, mark)


def _hidden(text: Any, other: Any, mark: str) -> str:
    return REDACTED if other is MISSING or other == text else f"(redacted, {mark})"


# ---------------------------------------------------------------------------------------- messages


class Redactor:
    """What hides the values of a run's Secrets in texts.

    `items` are the objects of the run, `objects` those that rules may refer to besides, and `rules`
    the rules' manifests: what a rule writes and does not compute stands in them.
    """

    def __init__(
        self,
        items: Sequence[Item] = (),
        objects: Sequence[Json] = (),
        rules: Sequence[Json] = (),
    ) -> None:
        self._items = items
        self._objects = objects
        self._rules = rules
        self._masks: dict[Item, _Pieces | None] = {}
        self._all: _Whole | None = None
        self._budget = _Budget()
        self._static: str | None = None

    def message(self, text: str, item: Item | None, *, asks: bool = False) -> str:
        """A message without values; `asks`: its rule may have looked at other objects than its own.

        `item` is what the message is about.
        """
        pieces = self._pieces(item) if item is not None else None
        if pieces is not None:
            text = pieces.mask(text)
        return self._everything().mask(text) if asks else text

    def value(self, path: Path, value: Any, item: Item, *, asks: bool = False) -> Any:
        """A value in an object, hidden where it is one of a Secret or derived from it.

        In a Secret, a text that no rule has written as it is, is left out, too: nobody can tell
        what it was made of.
        """
        if value is MISSING:
            return value
        if not is_secret(item.head):
            return self._whole(redact_any(value)) if asks else redact_any(value)
        value = redact_value(path, value)
        if value == get(item.original, path, MISSING) or self._is_static(value):
            return value
        return REDACTED

    def line(self, text: str) -> str:
        """A line of a file without the values of any Secret."""
        return self._everything().mask(text)

    def _whole(self, value: Any) -> Any:
        if type(value) is str:
            return self._everything().mask(value)
        if type(value) is list:
            return [self._whole(element) for element in value]
        if type(value) is dict:
            return {key: self._whole(member) for key, member in value.items()}
        return value

    def _is_static(self, value: Any) -> bool:
        if type(value) is dict:
            return all(map(self._is_static, value.values()))
        if type(value) is list:
            return all(map(self._is_static, value))
        if self._static is None:
            self._static = "\n".join(text for rule in self._rules for text in _leaves(rule))
        return type(value) is not str or value == REDACTED or value in self._static

    def _pieces(self, item: Item) -> _Pieces | None:
        if item not in self._masks:
            values = [text for secret in _secrets_of(item) for text in _texts(secret)]
            self._masks[item] = _Pieces(values, self._budget) if values else None
        return self._masks[item]

    def _everything(self) -> _Whole:
        if self._all is None:
            secrets = [s for item in self._items if is_secret(item.head) for s in _secrets_of(item)]
            secrets += [value for value in self._objects if is_secret(head_of(value))]
            self._all = _Whole((text for s in secrets for text in _texts(s)), self._budget)
        return self._all


def _secrets_of(item: Item) -> Iterator[Json]:
    """The Secret that an item is, or those in the list that it is, as they came and as they are."""
    try:
        values = [item.original] if item.replaced is None else [item.original, item.value]
    except InputError:
        return
    for value in values:
        listed = value.get("items")
        for one in (value, *(listed if type(listed) is list else ())):
            if type(one) is dict and is_secret(head_of(one)):
                yield one


def _texts(secret: Json) -> Iterator[str]:
    """The values of a Secret as texts, whatever their types."""
    for key, member in secret.items():
        if _is_member(key):
            yield from _leaves(member)
    annotations = _annotations(secret)
    if type(annotations) is dict:
        for key, value in annotations.items():
            if _APPLIED in key:
                yield from _leaves(value)


def _leaves(value: Any) -> Iterator[str]:
    waiting = [value]
    while waiting:
        value = waiting.pop()
        if type(value) is dict:
            waiting += value.values()
        elif type(value) is list:
            waiting += value
        elif value is not None and type(value) is not bool:
            yield str(value)


# -------------------------------------------------------------------------- what is derived from it

_LONG: Final = 4096
"""Of a longer value only the value itself, its lines and what it encodes are looked for."""
_HASHES: Final = ("md5", "sha1", "sha224", "sha256", "sha384", "sha512")


_DEEPLY: Final = 10_000
"""Values of a run of which all that can be derived is looked for; of others, only encodings."""


class _Budget:
    """Counts the values that are still looked at deeply."""

    def __init__(self) -> None:
        self._left = _DEEPLY

    def take(self) -> bool:
        self._left -= 1
        return self._left >= 0


def _derived(text: str, *, deeply: bool) -> Iterator[tuple[str, int]]:
    """A value, what it encodes, and what known functions make of either, folded.

    Each with the length from which on a piece of it is no coincidence in a sentence.
    """
    for plain in dict.fromkeys((text, *_decoded(text))):
        data = plain.encode("utf-8", "surrogatepass")
        yield _folded(plain), _piece(len(plain))
        for encoded in _encoded(data):
            yield _folded(encoded), max(_piece(len(encoded)), _ENCODED)
        if deeply and len(plain) <= _LONG:
            for other in _rewritten(plain):
                yield _folded(other), _piece(len(other))
            for digits in _digits(data):
                yield _folded(digits), _DIGITS


_ENCODED: Final = 6
_DIGITS: Final = 8


def _piece(length: int) -> int:
    return 4 if length <= 64 else 6 if length <= 1024 else 10


def _decoded(text: str) -> Iterator[str]:
    import base64

    compact = re.sub(r"\s", "", text).rstrip("=")
    for altchars in (b"+/", b"-_"):
        with contextlib.suppress(ValueError):
            padded = compact + "=" * (-len(compact) % 4)
            yield base64.b64decode(padded, altchars, validate=True).decode()


def _encoded(data: bytes) -> Iterator[str]:
    import base64

    yield base64.b64encode(data).decode().rstrip("=")
    yield base64.urlsafe_b64encode(data).decode().rstrip("=")
    if len(data) <= _LONG:
        yield base64.b32encode(data).decode().rstrip("=")


def _rewritten(text: str) -> Iterator[str]:
    import html
    import json
    import urllib.parse

    yield text[::-1]
    yield json.dumps(text)[1:-1]
    yield json.dumps(text, ensure_ascii=False)[1:-1]
    yield html.escape(text)
    yield urllib.parse.quote(text, safe="", errors="replace")
    yield urllib.parse.quote_plus(text, errors="replace")


def _digits(data: bytes) -> Iterator[str]:
    import base64
    import hashlib
    import zlib

    yield data.hex()
    for name in _HASHES:
        digest = hashlib.new(name, data, usedforsecurity=False)
        yield digest.hexdigest()
        yield base64.b64encode(digest.digest()).decode().rstrip("=")
    yield f"{zlib.adler32(data):08}"
    yield f"{zlib.crc32(data):08}"


_LOWER: Final = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}


def _folded(text: str) -> str:
    """A text without upper case, character by character, so that places stay."""
    return text.translate(_LOWER)


_SETS: Final = 1 << 12
"""From so many characters on pieces are looked up in a set; before, searching is quicker."""

_FRAGMENTS: Final = 1 << 20
"""Pieces of one Secret that are looked for; of a Secret with more only the first ones."""


class _Pieces:
    """Hides, in what is said of a Secret, every piece of its values that could tell something."""

    def __init__(self, values: Iterable[str], budget: _Budget) -> None:
        texts: dict[int, list[str]] = {}
        short: set[str] = set()
        for value in dict.fromkeys(values):
            for text, size in dict.fromkeys(_derived(value, deeply=budget.take())):
                if len(text) < size:
                    short.add(text.strip())
                else:
                    texts.setdefault(size, []).append(text)
        self._pieces = {size: _searchable(found, size) for size, found in texts.items()}
        self._short = _words(short - {""})

    def mask(self, text: str) -> str:
        """The text with `(redacted)` in the place of such pieces."""
        folded = _folded(text)
        marks = bytearray(len(text))
        for size, pieces in self._pieces.items():
            for at in range(len(folded) - size + 1):
                if folded[at : at + size] in pieces:
                    marks[at : at + size] = b"\1" * size
        if self._short is not None:
            for match in self._short.finditer(folded):
                marks[match.start() : match.end()] = b"\1" * (match.end() - match.start())
        for at in range(1, len(text)):
            if text[at] == "=" and marks[at - 1]:  # what pads base64
                marks[at] = 1
        return _without(text, marks)


def _searchable(texts: list[str], size: int) -> str | set[str]:
    """What holds every piece of that size of the texts."""
    joined = "\0".join(texts)
    if len(joined) < _SETS:
        return joined
    pieces: set[str] = set()
    room = _FRAGMENTS
    for text in texts:
        end = min(len(text) - size + 1, room)
        pieces.update(text[at : at + size] for at in range(end))
        room -= end
    return pieces


def _words(short: set[str]) -> re.Pattern[str] | None:
    """Finds short values where they stand alone; single characters only in quotes."""
    patterns = [
        f"(?<=[\"'`]){re.escape(text)}(?=[\"'`])"
        if len(text) == 1
        else rf"(?<![^\W_]){re.escape(text)}(?![^\W_])"
        for text in sorted(short, key=lambda text: (-len(text), text))
    ]
    return re.compile("|".join(patterns)) if patterns else None


_COMPARISONS: Final = 5_000_000
"""Comparisons of one run with values that start alike; texts behind that are left out."""


class _Whole:
    """Hides whole values, whatever they are found in; short ones could be anything there."""

    _KEY: Final = 6

    def __init__(self, values: Iterable[str], budget: _Budget) -> None:
        self._comparisons = 0
        self._by_start: dict[str, dict[int, set[str]]] = {}
        for value in dict.fromkeys(values):
            for text, _ in dict.fromkeys(_derived(value, deeply=budget.take())):
                for line in {text, *text.splitlines()}:
                    if len(line) >= self._KEY:
                        at = self._by_start.setdefault(line[: self._KEY], {})
                        at.setdefault(len(line), set()).add(line)

    def mask(self, text: str) -> str:
        """The text with `(redacted)` in the place of values that stand alone in it."""
        if not self._by_start:
            return text
        folded = _folded(text)
        marks = bytearray(len(text))
        for at in range(len(folded) - self._KEY + 1):
            sizes = self._by_start.get(folded[at : at + self._KEY], {})
            self._comparisons += len(sizes)
            if self._comparisons > _COMPARISONS:
                return REDACTED
            for size, values in sizes.items():
                if folded[at : at + size] in values and _stands_alone(folded, at, at + size):
                    marks[at : at + size] = b"\1" * size
        return _without(text, marks)


def _stands_alone(text: str, start: int, end: int) -> bool:
    return not (text[start - 1 : start].isalnum() or text[end : end + 1].isalnum())


def _without(text: str, marks: bytearray) -> str:
    """A text with one mark for each run of characters that are to be hidden."""
    if 1 not in marks:
        return text
    parts: list[str] = []
    at = 0
    while at < len(text):
        hidden = marks[at]
        end = marks.find(0 if hidden else 1, at)
        end = len(text) if end < 0 else end
        parts.append(REDACTED if hidden else text[at:end])
        at = end
    return "".join(parts)
