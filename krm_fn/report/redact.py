"""Values of Secrets do not leave through reports.

A result, a message or a diff may quote what a rule changed; build logs are read by many. The
manifests themselves are not touched here.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator
from typing import Any, Final

from krm_fn.values import MISSING, Json, Path, get, with_at
from krm_fn.wire import Head

REDACTED: Final = "(redacted)"
_SHORTEST: Final = 4
"""Texts shorter than this are not looked for in messages: they would be everywhere."""
_MEMBERS: Final = ("data", "stringData")


def is_secret(head: Head) -> bool:
    """Whether an object is a Secret of the core group."""
    return head.kind == "Secret" and head.group == ""


def redact_value(path: Path, value: Any) -> Any:
    """A value of a Secret at `path` with everything below `data` and `stringData` hidden."""
    if path and path[0] in _MEMBERS:
        if value is MISSING:
            return value
        if len(path) == 1 and type(value) is dict:
            return dict.fromkeys(value, REDACTED)
        return REDACTED
    if path == ("metadata", "annotations") and type(value) is dict:
        return {key: redact_value((*path, key), text) for key, text in value.items()}
    if path[:2] == ("metadata", "annotations") and "last-applied" in str(path[-1]):
        return REDACTED
    return value


def redact_object(value: Json, other: Json | None = None, mark: str = "") -> Json:
    """A Secret with its values hidden; one that differs in `other` says `mark`."""
    annotations = ("metadata", "annotations")
    written = get(value, annotations, MISSING)
    result = dict(with_at(value, annotations, redact_value(annotations, written)))
    for member in _MEMBERS:
        texts = value.get(member)
        if type(texts) is dict:
            result[member] = {
                key: _hidden(text, get(other, (member, key), MISSING), mark)
                for key, text in texts.items()
            }
    return result


def _hidden(text: Any, other: Any, mark: str) -> str:
    return REDACTED if other is MISSING or other == text else f"(redacted, {mark})"


def redact_message(message: str, secret: Json) -> str:
    """A message without the values of a Secret, plain and in base64."""
    for text in sorted(_texts(secret), key=len, reverse=True):
        message = message.replace(text, REDACTED)
    return message


def _texts(secret: Json) -> Iterator[str]:
    for member in _MEMBERS:
        texts = secret.get(member)
        for text in texts.values() if type(texts) is dict else ():
            if type(text) is not str or len(text) < _SHORTEST:
                continue
            yield text
            if member == "data":
                try:
                    plain = base64.b64decode(text, validate=True).decode()
                except (binascii.Error, ValueError):
                    continue
                if len(plain) >= _SHORTEST:
                    yield plain
            else:
                yield base64.b64encode(text.encode()).decode()
