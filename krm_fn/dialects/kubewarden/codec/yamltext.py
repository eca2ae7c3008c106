"""YAML 1.2 as the policy server's library reads and writes it, for Rego's `yaml.*`.

Only true and false are booleans, 0o17 is octal and 017 a text, merge keys mean nothing, the last of
two equal keys counts. Reads events, never recurses, and bounds what aliases may expand to.
Source: serde_yaml 0.9 (de.rs, ser.rs), as observed; vectors' README, 51.
"""

from __future__ import annotations

import math
import re
from typing import Any, Final

import yaml

from krm_fn import limits
from krm_fn.dialects.kubewarden.codec import jsontext


class YamlTextError(Exception):
    """The text is no YAML, or more than one document."""


_INTEGER: Final = re.compile(r"[-+]?(?:0|[1-9][0-9]*)")
_OTHER_BASE: Final = re.compile(r"([-+]?)0(?:x([0-9a-fA-F]+)|o([0-7]+)|b([01]+))")
_FLOAT: Final = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_WORDS: Final[dict[str, Any]] = {
    "": None,
    "~": None,
    "null": None,
    "Null": None,
    "NULL": None,
    "true": True,
    "True": True,
    "TRUE": True,
    "false": False,
    "False": False,
    "FALSE": False,
    ".inf": math.inf,
    "+.inf": math.inf,
    "-.inf": -math.inf,
    ".nan": math.nan,
}
_OLD_WORDS: Final = frozenset(
    word
    for name in ("y", "yes", "n", "no", "on", "off", "true", "false", "null")
    for word in (name, name.capitalize(), name.upper())
)


def _scalar(text: str) -> Any:
    """What a plain scalar stands for."""
    if text in _WORDS:
        return _WORDS[text]
    if len(text) > 400:
        return text
    if _INTEGER.fullmatch(text):
        number = int(text)
        return number if -(2**63) <= number < 2**64 else float(number)
    match = _OTHER_BASE.fullmatch(text)
    if match:
        sign, *digits = match.groups()
        base, found = next((b, d) for b, d in zip((16, 8, 2), digits, strict=True) if d)
        return int(sign + found, base)
    unsigned = text.lstrip("+-")
    leading_zero = len(unsigned) > 1 and unsigned[0] == "0" and unsigned[1].isdigit()
    if not leading_zero and _FLOAT.fullmatch(text):
        return float(text)
    return text


def loads(text: str, *, unique: bool = False) -> Any:
    """The value of a text; with `unique`, a key that is there twice is an error.

    Raises YamlTextError.
    """
    try:
        documents = _build(yaml.parse(text, Loader=yaml.CSafeLoader), unique)
    except yaml.YAMLError as error:
        raise YamlTextError(" ".join(str(error).split())) from None
    if len(documents) > 1:
        raise YamlTextError(
            "deserializing from YAML containing more than one document is not supported"
        )
    return documents[0] if documents else None


class _Open:
    """A collection while it is read; a key waits for its value."""

    __slots__ = ("anchor", "key", "start", "value", "waiting")

    def __init__(self, value: Any, anchor: str | None, start: int) -> None:
        self.value = value
        self.anchor = anchor
        self.start = start
        self.key: Any = None
        self.waiting = False


def _build(events: Any, unique: bool) -> list[Any]:
    documents: list[Any] = []
    stack: list[_Open] = []
    anchors: dict[str, tuple[Any, int]] = {}
    total = 0

    def put(value: Any) -> None:
        if not stack:
            documents.append(value)
            return
        at = stack[-1]
        if type(at.value) is list:
            at.value.append(value)
        elif not at.waiting:
            at.key, at.waiting = _key(value), True
        else:
            if unique and at.key in at.value:
                raise YamlTextError(f"duplicate entry with key {at.key!r}")
            at.value[at.key] = value
            at.waiting = False

    for event in events:
        total += 1
        if total > limits.ALIAS_NODES:
            raise YamlTextError(f"more than {limits.ALIAS_NODES:,} nodes")
        kind = type(event)
        if kind is yaml.ScalarEvent:
            plain = event.implicit[0] and not event.style
            value = _scalar(event.value) if plain else event.value
            if event.anchor:
                anchors[event.anchor] = value, 1
            put(value)
        elif kind is yaml.AliasEvent:
            if event.anchor not in anchors:
                raise YamlTextError(f"unknown anchor {event.anchor}")
            value, size = anchors[event.anchor]
            total += size
            put(value)
        elif kind in (yaml.MappingStartEvent, yaml.SequenceStartEvent):
            if len(stack) >= limits.EXPRESSION_NESTING:
                raise YamlTextError("recursion limit exceeded")
            empty: Any = {} if kind is yaml.MappingStartEvent else []
            stack.append(_Open(empty, event.anchor, total))
        elif kind in (yaml.MappingEndEvent, yaml.SequenceEndEvent):
            done = stack.pop()
            if done.anchor:
                anchors[done.anchor] = done.value, total - done.start
            put(done.value)
        elif kind is yaml.DocumentStartEvent:
            anchors.clear()
    return documents


def _key(value: Any) -> str:
    """A key as JSON has it."""
    if type(value) is str:
        return value
    if isinstance(value, dict | list):
        raise YamlTextError("a key that is no scalar")
    return jsontext.dumps(value)


# ---------------------------------------------------------------------------------------- writing


class _Dumper(yaml.CSafeDumper):  # type: ignore[misc]
    """Block style, keys sorted, no aliases."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _text(dumper: Any, text: str) -> Any:
    style = None
    if text in _OLD_WORDS or type(_scalar(text)) is not str or text[:1].isdigit():
        ambiguous = text in _OLD_WORDS or not text or not isinstance(_scalar(text), str)
        style = "'" if ambiguous or re.fullmatch(r"[0-9]+", text) else None
    elif "\n" in text:
        style = "|"
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


def _float(dumper: Any, number: float) -> Any:
    text = jsontext.dumps(number) if math.isfinite(number) else f"{number}"
    return dumper.represent_scalar("tag:yaml.org,2002:float", text.replace("e+", "e"))


_Dumper.add_representer(str, _text)
_Dumper.add_representer(float, _float)


def dumps(value: Any) -> str:
    """A value as a YAML document."""
    text: str = yaml.dump(
        value,
        Dumper=_Dumper,
        default_flow_style=False,
        allow_unicode=True,
        sort_keys=True,
        width=2**31 - 1,
    )
    return text.removesuffix("...\n")
