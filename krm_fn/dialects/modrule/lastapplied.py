"""The annotation of `kubectl apply` that holds the object as last applied: it is patched along.

Source: KubeMod core/modrulestore.go; the ModRule specification, section 3.8.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

from krm_fn.dialects.modrule.form import LAST_APPLIED
from krm_fn.errors import EvaluationError
from krm_fn.lang.gofmt import format_json_float
from krm_fn.lang.jsonpatch import Operation, apply_kubemod
from krm_fn.values import Json, get, with_at

_ANNOTATIONS: Final = ("metadata", "annotations")


class Crash(EvaluationError):
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

    def apply(self, operations: Sequence[Operation]) -> str:
        """Patch the annotation as its object was; "" or the reason why it keeps its text.

        Raises Crash where KubeMod does.
        """
        if self._text is None:
            return ""
        if self._text in ("", "null"):
            raise Crash(f"the annotation {LAST_APPLIED} is empty, on which KubeMod crashes")
        self._applied = True
        if self._broken:
            return ""
        try:
            patched = apply_kubemod(_decode(self._text), operations)
        except EvaluationError as error:
            self._broken = True
            return error.message
        self._text = encode(patched)
        return ""

    def write(self, document: Json) -> Json:
        """The document with the annotation as it now is; a rule cannot remove it."""
        if self._text is None or not self._applied:
            return document
        annotations = get(document, _ANNOTATIONS)
        if type(annotations) is not dict:
            if self._broken:
                return document
            raise Crash(
                f"the rules remove the annotations although {LAST_APPLIED} was among them, on "
                "which KubeMod crashes"
            )
        result: Json = with_at(document, (*_ANNOTATIONS, LAST_APPLIED), self._text)
        return document if annotations.get(LAST_APPLIED) == self._text else result


def _decode(text: str) -> Any:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        raise EvaluationError("the annotation holds no JSON") from None
    if type(value) not in (dict, list):
        raise EvaluationError("the annotation holds no JSON object")
    return value


def encode(value: Any) -> str:
    """A value as Go's encoding/json writes it: sorted keys, no spaces, <, > and & escaped."""
    parts: list[str] = []
    _encode(value, parts)
    return "".join(parts)


def _encode(value: Any, parts: list[str]) -> None:
    if type(value) is dict:
        lead = "{"
        for key in sorted(value):
            parts += (lead, _string(key), ":")
            _encode(value[key], parts)
            lead = ","
        parts.append("}" if value else "{}")
    elif type(value) is list:
        lead = "["
        for member in value:
            parts.append(lead)
            _encode(member, parts)
            lead = ","
        parts.append("]" if value else "[]")
    elif type(value) is str:
        parts.append(_string(value))
    elif type(value) is float:
        parts.append(format_json_float(value))
    else:
        parts.append(json.dumps(value))


_HTML: Final = str.maketrans(
    {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
)


def _string(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).translate(_HTML)
