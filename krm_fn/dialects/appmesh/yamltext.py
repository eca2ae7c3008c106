"""YAML as SuperGloo's libraries read it: the first document, with the scalars of yaml.v2.

Only the spelling of scalars is told here; composing belongs to `wire`. This module knows no types.
Source: yaml.v2 v2.2.1 resolve.go; ghodss/yaml v1.0.0; the App Mesh vectors' README, 26 and 27.
"""

from __future__ import annotations

import math
import re
from typing import Any, Final

from krm_fn.errors import EvaluationError
from krm_fn.lang.go.strconv import format_float32
from krm_fn.wire.compose import Reader, YamlError, compose_first
from krm_fn.wire.scalars import MERGE


def _spellings(*words: str) -> list[str]:
    return [spelt for word in words for spelt in (word, word.capitalize(), word.upper())]


_WORDS: Final[dict[str, Any]] = {
    **dict.fromkeys(["y", "Y", *_spellings("yes", "true", "on")], True),
    **dict.fromkeys(["n", "N", *_spellings("no", "false", "off")], False),
    **dict.fromkeys(["", "~", *_spellings("null")]),
    **dict.fromkeys([".nan", ".NaN", ".NAN"], math.nan),
    **dict.fromkeys(
        [sign + word for sign in ("", "+") for word in (".inf", ".Inf", ".INF")], math.inf
    ),
    **dict.fromkeys(["-.inf", "-.Inf", "-.INF"], -math.inf),
    "<<": MERGE,
}
_INTEGER: Final = re.compile(r"([-+]?)(?:0[xX]([0-9a-fA-F]+)|(0[0-7]*)|([1-9][0-9]*))")
_BINARY: Final = re.compile(r"(-?)0b([-+]?[01]+)")
_FLOAT: Final = re.compile(r"[-+]?[0-9]*\.?[0-9]+(?:[eE][-+][0-9]+)?")
_POINT_FLOAT: Final = re.compile(r"\.[0-9]+(?:[eE][-+]?[0-9]+)?")
_LONGEST: Final = 80
"""Digits of which no 64-bit number has so many."""


def read_yaml(text: str) -> Any:
    """The value of a text's first document, with floats that may not be finite; None without one.

    Raises EvaluationError.
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        raise EvaluationError("yaml: invalid UTF-8") from None
    try:
        node = compose_first(text.removeprefix("\ufeff"), _READER)
    except YamlError as error:
        raise EvaluationError(f"yaml: {error}") from None
    return None if node is None else node.value


def resolve(text: str) -> Any:
    """What a plain scalar stands for."""
    if text in _WORDS:
        return _WORDS[text]
    first = text[0]
    if first == ".":
        return _float(text, text) if _POINT_FLOAT.fullmatch(text) else text
    if first not in "+-0123456789":
        return text
    plain = text.replace("_", "")
    number = _integer(plain)
    if number is not None:
        return number
    if _FLOAT.fullmatch(plain):
        return _float(plain, text)
    found = _BINARY.fullmatch(plain)
    # Go puts the minus before what follows 0b, where a second sign is none.
    if found and len(plain) <= _LONGEST and not (found[1] and found[2][0] in "+-"):
        number = int(found[1] + found[2], 2)
        if -(2**63) <= number < 2**64:
            return number
    return text


_READER: Final = Reader(resolve, duplicate_keys=True)


def _integer(plain: str) -> int | None:
    found = _INTEGER.fullmatch(plain) if len(plain) <= _LONGEST else None
    if not found:
        return None
    sign, hexadecimal, octal, decimal = found.groups()
    base = 16 if hexadecimal else 8 if octal else 10
    number = int(sign + (hexadecimal or octal or decimal), base)
    # Go reads a number with a sign by its signed parser only.
    largest = 2**63 if sign else 2**64
    return number if -(2**63) <= number < largest else None


def _float(plain: str, text: str) -> Any:
    number = float(plain)
    return text if math.isinf(number) else number


def as_text(value: Any) -> str:
    """What becomes of a number or boolean in a field that wants a text. Source: ghodss/yaml."""
    if type(value) is bool:
        return "true" if value else "false"
    return format_float32(value) if type(value) is float else str(value)
