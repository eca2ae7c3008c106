"""What a scalar's text means, as Go's YAML readers decide it, and how a value is written as text.

Two readers matter: go-yaml v3 (what kyaml and so kustomize and kpt use) and sigs.k8s.io/yaml
(kubectl, Helm, Argo CD, patch values in KubeMod). They agree on all plain scalars but y, yes, on
and their kin, which are texts to the first and booleans to the second: `resolve_go_yaml` gives a
`Word` for these, and whoever knows who reads next decides what it is. PyYAML's own resolver is YAML
1.1 and differs on yes/no, 1:30, dates, 1e3 and 0o755; it is not used.
Writing is on the safe side of every reader: a string is quoted whenever go-yaml, sigs.k8s.io/yaml
or a YAML 1.1 reader would take it for something else.
Sources: go-yaml v3 resolve.go, yaml.v2 resolve.go.
"""

from __future__ import annotations

import base64
import binascii
import math
import re
import struct
from collections.abc import Callable
from typing import Any, Final

Resolver = Callable[[str], Any]
"""From the text of a plain, untagged scalar to its value."""


class MergeKey(str):
    """The plain text `<<`: as a map key it merges, as a value it is a string."""

    __slots__ = ()


MERGE: Final = MergeKey("<<")


class Word(str):
    """A plain text that is a boolean to kubectl's reader and a text to kyaml's: yes, Off, n."""

    __slots__ = ()

    @property
    def boolean(self) -> bool:
        return _YAML_1_1_BOOLEANS[self]


_YAML_1_1_BOOLEANS: Final[dict[str, bool]] = {
    **dict.fromkeys(("y", "Y", "yes", "Yes", "YES", "on", "On", "ON"), True),
    **dict.fromkeys(("n", "N", "no", "No", "NO", "off", "Off", "OFF"), False),
}
WORDS: Final = frozenset(_YAML_1_1_BOOLEANS)
"""The texts of all `Word`s."""

_CORE: Final[dict[str, Any]] = {
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
    ".nan": math.nan,
    ".NaN": math.nan,
    ".NAN": math.nan,
    ".inf": math.inf,
    ".Inf": math.inf,
    ".INF": math.inf,
    "+.inf": math.inf,
    "+.Inf": math.inf,
    "+.INF": math.inf,
    "-.inf": -math.inf,
    "-.Inf": -math.inf,
    "-.INF": -math.inf,
    "<<": MERGE,
}
_GO_YAML: Final[dict[str, Any]] = {**_CORE, **{word: Word(word) for word in WORDS}}
_SIGS: Final[dict[str, Any]] = {**_CORE, **_YAML_1_1_BOOLEANS}

_MAYBE_SPECIAL: Final = frozenset("0123456789+-.~ntfNTF<yYoO")
_DECIMAL: Final = re.compile(r"[-+]?(?:0|[1-9][0-9]*)\Z")
_PREFIXED: Final = re.compile(r"([-+]?)0(?:[xX]([0-9a-fA-F]+)|[bB]([01]+)|[oO]?([0-7]+))\Z")
_FLOAT: Final = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?\Z")
_DOT_FLOAT: Final = re.compile(r"\.[0-9]+(?:[eE][-+]?[0-9]+)?\Z")
INT_MIN: Final = -(2**63)
INT_MAX: Final = 2**63 - 1
UINT_MAX: Final = 2**64 - 1


def resolve_go_yaml(text: str) -> Any:
    """A plain scalar's value for go-yaml v3: None, bool, int, float, str, `Word` or `MERGE`."""
    if not text:
        return None
    if text[0] not in _MAYBE_SPECIAL:
        return text
    if text in _GO_YAML:
        return _GO_YAML[text]
    return _number_or_text(text)


def resolve_sigs(text: str) -> Any:
    """The value of a plain scalar for sigs.k8s.io/yaml: as go-yaml v3, and y, yes, on are true."""
    if not text:
        return None
    if text[0] not in _MAYBE_SPECIAL:
        return text
    if text in _SIGS:
        return _SIGS[text]
    return _number_or_text(text)


def _number_or_text(text: str) -> Any:
    first = text[0]
    if first == ".":
        return _to_float(text, text) if _DOT_FLOAT.match(text) else text
    if first not in "0123456789+-":
        return text
    plain = text.replace("_", "") if "_" in text else text
    number: int | None = None
    if _DECIMAL.match(plain):
        number = _small_int(plain, 10)
    else:
        prefixed = _PREFIXED.match(plain)
        if prefixed:
            sign, hexadecimal, binary, octal = prefixed.groups()
            if hexadecimal:
                number = _small_int(sign + hexadecimal, 16)
            elif binary:
                number = _small_int(sign + binary, 2)
            else:
                number = _small_int(sign + octal, 8)
    # Go reads a leading plus with its signed parser only.
    largest = UINT_MAX if plain[0] != "+" else INT_MAX
    if number is not None and INT_MIN <= number <= largest:
        return number
    if _FLOAT.match(plain):
        return _to_float(plain, text)
    return text


def _small_int(digits: str, base: int) -> int | None:
    """int(), but not for texts that no 64-bit number has (Python would need quadratic time)."""
    return int(digits, base) if len(digits) <= 80 else None


def _to_float(plain: str, text: str) -> Any:
    value = float(plain)
    return text if math.isinf(value) else value


class TagError(ValueError):
    """A tag that does not fit its scalar. The scalar is not in the message: it may be a secret."""


_LONG: Final = "tag:yaml.org,2002:"
_TIMESTAMP: Final = re.compile(r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:[Tt ].*)?\Z")


def resolve_tagged(tag: str, text: str, resolver: Resolver) -> Any:
    """The value of a scalar with an explicit tag.

    `tag` is as the parser gives it (`!`, `!foo`, `tag:yaml.org,2002:int`). An unknown tag makes a
    string. Raises TagError where Go's reader fails.
    """
    if not tag.startswith(_LONG):
        return MERGE if tag == "!" and text == "<<" else text
    short = tag[len(_LONG) :]
    if short == "str":
        return text
    if short == "binary":
        return _binary(text)
    if short not in ("int", "float", "bool", "null", "timestamp", "merge"):
        return text
    if short == "merge":
        return MERGE if text == "<<" else text
    if short == "timestamp" and _TIMESTAMP.match(text):
        return text
    value = resolver(text)
    if short == "bool" and type(value) is Word:
        return value
    if short == "float" and type(value) is int:
        return float(value)
    kinds = {"int": int, "float": float, "bool": bool, "null": type(None)}
    if type(value) is not kinds.get(short):
        raise TagError(f"cannot decode the value as a !!{short}")
    return value


def _binary(text: str) -> str:
    try:
        return base64.b64decode(re.sub(r"[\r\n]", "", text), validate=True).decode(
            "utf-8", "replace"
        )
    except (binascii.Error, ValueError):
        raise TagError("!!binary value contains invalid base64 data") from None


def key_text(value: Any) -> str:
    """The text of a map key that is not a string, as kubectl's reader puts it into JSON.

    1: a is {"1": "a"}, and 1e7: a is {"1e+07": "a"}. Raises ValueError for a whole number that
    it refuses. Source: sigs.k8s.io/yaml convertToJSONableObject.
    """
    if value is True:
        return "true"
    if value is False:
        return "false"
    if type(value) is float:
        return _float_key(value)
    if type(value) is int and value > INT_MAX:
        raise ValueError(f"the map key {value} is larger than any that YAML has; quote it")
    return str(value)


def _float_key(value: float) -> str:
    """A number with the few digits that tell it among 32-bit floats, as Go prints it."""
    single = _as_single(value)
    if math.isnan(single):
        return ".nan"
    if math.isinf(single):
        return ".inf" if single > 0 else "-.inf"
    shortest = next(
        text for digits in range(9) if _as_single(float(text := f"{single:.{digits}e}")) == single
    )
    mantissa, _, exponent = shortest.partition("e")
    if not -4 <= int(exponent) < _GO_EXPONENT:
        return f"{mantissa}e{exponent}"
    decimals = len(mantissa.partition(".")[2]) - int(exponent)
    return f"{float(shortest):.{max(decimals, 0)}f}"


_GO_EXPONENT: Final = 6
"""From 1e+06 on, Go's shortest form has an exponent; Python's, too, writes two digits of it."""


def _as_single(value: float) -> float:
    try:
        single: float = struct.unpack("<f", struct.pack("<f", value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)
    return single


# ---------------------------------------------------------------------------------------- writing

_SEXAGESIMAL: Final = r"[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?"
_NUMBERS_1_1: Final = (
    r"[-+]?0[xX][0-9a-fA-F_]+|[-+]?0[bB][01_]+|[-+]?0[oO][0-7_]+|[-+]?[0-9][0-9_]*"
    r"|[-+]?(?:[0-9][0-9_]*)?\.[0-9_]*(?:[eE][-+]?[0-9]+)?|[-+]?[0-9][0-9_]*[eE][-+]?[0-9]+"
)
_NOT_A_STRING: Final = re.compile(f"(?:{_SEXAGESIMAL}|{_NUMBERS_1_1})\\Z")
_RESERVED: Final = frozenset(_SIGS) | {"=", "---", "..."}
_PLAIN: Final = re.compile(
    # The first character is no indicator, or a dash or question mark or colon before text.
    r"(?:[^\s\-?:,\[\]{}#&*!|>'\"%@`=<]|[\-?:](?=[^\s,\[\]{}]))"
    # Then anything printable, but no ": ", no " #", and no space or colon at the end.
    r"(?:[^\s:#]|:(?=\S)|(?<=\S)#| +(?=[^\s#]))*\Z"
)
_FLOW_INDICATORS: Final = frozenset(",[]{}")
UNPRINTABLE: Final = re.compile(
    "[^\t\n\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]"
)
_ESCAPES: Final = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r", "\0": "\\0"}
_ESCAPED: Final = re.compile('["\\\\\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]')


def needs_quotes(text: str, *, flow: bool = False) -> bool:
    """Whether some reader would not give back `text` from the plain scalar `text`."""
    if text in _RESERVED or not _PLAIN.match(text):
        return True
    if _NOT_A_STRING.match(text) or _TIMESTAMP.match(text):
        return True
    if text.startswith(("--- ", "...")) or UNPRINTABLE.search(text):
        return True
    return flow and (text[0] in "?:" or not _FLOW_INDICATORS.isdisjoint(text))


def write_scalar(value: Any, style: str = "", *, flow: bool = False) -> str:
    """The one-line text of a scalar; `style` is the quote that stood there before ('', ', ").

    A quote is kept where it can hold the text; none is dropped.
    """
    if type(value) is not str:
        return _write_other(value)
    if style == "'" and "\n" not in value and not UNPRINTABLE.search(value):
        return "'" + value.replace("'", "''") + "'"
    if style == '"':
        return write_double_quoted(value)
    if not needs_quotes(value, flow=flow):
        return value
    if (
        ('"' in value or "\\" in value)
        and "'" not in value
        and "\n" not in value
        and not UNPRINTABLE.search(value)
    ):
        return "'" + value + "'"
    return write_double_quoted(value)


def write_double_quoted(text: str) -> str:
    """The text as a double-quoted scalar, with escapes that libyaml and go-yaml both read."""
    return '"' + _ESCAPED.sub(_escape, text) + '"'


def _escape(match: re.Match[str]) -> str:
    character = match.group()
    if character in _ESCAPES:
        return _ESCAPES[character]
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def _write_other(value: Any) -> str:
    if value is None:
        return "null"
    if value is True:
        return "true"
    if value is False:
        return "false"
    if type(value) is float:
        if math.isnan(value):
            return ".nan"
        if math.isinf(value):
            return ".inf" if value > 0 else "-.inf"
        return repr(value)
    if isinstance(value, int):
        return int.__repr__(value)
    raise TypeError(f"not a scalar: {type(value).__name__}")


def can_be_literal(text: str) -> bool:
    """Whether a block scalar (`|`) can hold the text: several lines, printable, not only breaks."""
    return "\n" in text and not UNPRINTABLE.search(text) and text.strip("\n \t") != ""
