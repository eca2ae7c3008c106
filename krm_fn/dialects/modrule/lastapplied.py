"""The annotation of `kubectl apply` that holds the object as last applied: it is patched along.

KubeMod's patch library parses only what it must, so whatever no operation reached keeps the order
of its keys and the spelling of its numbers, and what one reached is written with sorted keys. Here
that is told by identity: what a patch leaves alone is the same Python object afterwards. (Not kept:
escapes in texts that need none, and key order below a path whose removal removed nothing.)
Knows nothing of rules and their failures.
Source: KubeMod core/modrulestore.go; the ModRule specification, section 3.8.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, Final, NoReturn

from krm_fn import limits
from krm_fn.errors import EvaluationError
from krm_fn.kube.wellknown import LAST_APPLIED
from krm_fn.lang.patch.kubemod import PatchOperation, apply_kubemod
from krm_fn.values import Json, get, with_at

_ANNOTATIONS: Final = ("metadata", "annotations")


class CrashError(EvaluationError):
    """KubeMod crashes here; the API server then lets the object pass as it is."""


class LastApplied:
    """The annotation of one object on its way through the rules."""

    def __init__(self, document: Json) -> None:
        text = get(document, (*_ANNOTATIONS, LAST_APPLIED))
        self._text: str | None = text if type(text) is str else None
        self._broken = False
        self._applied = False

    @property
    def present(self) -> bool:
        return self._text is not None

    def apply(self, operations: Sequence[PatchOperation]) -> str:
        """Patch the annotation as its object was; "" or the reason why it is left alone from now.

        Raises CrashError where KubeMod does.
        """
        if self._text is None:
            return ""
        if not self._text:
            raise CrashError(f"the annotation {LAST_APPLIED} is empty, on which KubeMod crashes")
        self._applied = True
        if self._broken:
            return ""
        try:
            document = _decode(self._text)
            patched = _apply(document, operations)
        except CrashError:
            raise
        except EvaluationError as error:
            self._broken = True
            return error.message
        with limits.deep_stack():
            self._text = encode(patched, as_written=document)
        return ""

    def write(self, document: Json) -> Json:
        """The document with the annotation as it now is; a rule cannot remove it."""
        if self._text is None or self._broken or not self._applied:
            return document
        annotations = get(document, _ANNOTATIONS)
        if type(annotations) is not dict:
            raise CrashError(
                f"the rules remove the annotations although {LAST_APPLIED} was among them, on "
                "which KubeMod crashes"
            )
        if annotations.get(LAST_APPLIED) == self._text:
            return document
        result: Json = with_at(document, (*_ANNOTATIONS, LAST_APPLIED), self._text)
        return result


def _apply(document: Any, operations: Sequence[PatchOperation]) -> Any:
    """Returns the patched annotation. Raises EvaluationError, and CrashError where KubeMod does."""
    if document is not None:
        return apply_kubemod(document, operations)
    for operation in operations:
        if operation.op == "add":
            raise CrashError(f"the annotation {LAST_APPLIED} is null, on which KubeMod crashes")
        if operation.op == "replace":
            raise EvaluationError("the annotation is null, where nothing can be replaced")
    return None  # removing nothing from nothing is fine


class _Number(float):
    """A number that knows how it was written."""

    __slots__ = ("text",)
    text: str

    def __new__(cls, text: str) -> _Number:
        number = super().__new__(cls, text)
        number.text = text
        return number


def _decode(text: str) -> Any:
    if limits.json_too_deep(text) is not None:
        raise EvaluationError("the annotation holds no JSON")
    try:
        with limits.deep_stack():
            value = json.loads(
                text, parse_int=_Number, parse_float=_Number, parse_constant=_no_constant
            )
    except ValueError:
        raise EvaluationError("the annotation holds no JSON") from None
    # KubeMod's library tells a list by the first byte, and takes everything else for an object.
    if value is not None and type(value) is not (list if text.startswith("[") else dict):
        raise EvaluationError("the annotation holds no JSON object")
    return value


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


def encode(value: Any, as_written: Any = None) -> str:
    """A value as Go's encoding/json writes it: sorted keys, no spaces, <, > and & escaped.

    Maps that are objects of `as_written` keep the order of their keys.
    """
    kept = {id(container) for container in _containers(as_written)}
    return "".join(_tokens(value, kept))


def _containers(value: Any) -> Iterator[Any]:
    if type(value) is dict or type(value) is list:
        yield value
        for member in value.values() if type(value) is dict else value:
            yield from _containers(member)


def _tokens(value: Any, kept: set[int]) -> Iterator[str]:
    kind = type(value)
    if kind is dict:
        yield "{"
        for n, key in enumerate(value if id(value) in kept else sorted(value)):
            yield f"{',' if n else ''}{_string(key)}:"
            yield from _tokens(value[key], kept)
        yield "}"
    elif kind is list:
        yield "["
        for n, member in enumerate(value):
            yield "," if n else ""
            yield from _tokens(member, kept)
        yield "]"
    elif kind is str:
        yield _string(value)
    elif kind is float:
        from krm_fn.lang.go.json.encode import float_text  # few rules write the annotation

        yield float_text(value)
    else:
        yield value.text if kind is _Number else json.dumps(value)


_HTML: Final = str.maketrans(
    {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
)


def _string(text: str) -> str:
    # Half of a surrogate pair has no UTF-8: it stays the escape that it was.
    halves = any("\ud800" <= character <= "\udfff" for character in text)
    return json.dumps(text, ensure_ascii=halves).translate(_HTML)
