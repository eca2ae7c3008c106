"""JSON as the policy server reads and writes it: serde_json's rules, on both sides of the ABI.

Written text is compact with keys sorted at every level. Reading is strict where serde is (no NaN,
no control characters, no half surrogate pairs, nesting up to 128 in what is used) and lenient where
it is (unknown members are skipped, however odd). Knows no policy.
Source: serde_json 1.0 (de.rs, read.rs), ryu (pretty), as observed; vectors' README, 20 to 25, 33.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from krm_fn import limits

_DEEPEST: Final = 127
_INT_MIN: Final = -(2**63)
_UINT_MAX: Final = 2**64 - 1
_BRACKETS: Final = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{}]', re.DOTALL)
_EXPONENT: Final = re.compile(r"e([+-])0*(\d+)$")


class JsonError(Exception):
    """A text is no JSON, or not the JSON that is wanted."""


# ---------------------------------------------------------------------------------------- writing


def dumps(value: Any) -> str:
    """A value as compact JSON, keys sorted, numbers spelled as Rust spells them."""
    if _plain(value):
        return _ENCODER.encode(value)
    parts: list[str] = []
    _write(value, parts)
    return "".join(parts)


_ENCODER: Final = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def _plain(value: Any) -> bool:
    """Whether Python's own writer spells everything in a value the same way."""
    kind = type(value)
    if kind is dict:
        for member in value.values():  # noqa: SIM110
            if not _plain(member):
                return False
        return True
    if kind is list:
        for member in value:  # noqa: SIM110
            if not _plain(member):
                return False
        return True
    if kind is int:
        return bool(_INT_MIN <= value <= _UINT_MAX)
    return kind is not float


def _write(value: Any, parts: list[str]) -> None:
    kind = type(value)
    if kind is dict:
        parts.append("{")
        for n, key in enumerate(sorted(value)):
            parts.append(("," if n else "") + _ENCODER.encode(key) + ":")
            _write(value[key], parts)
        parts.append("}")
    elif kind is list:
        parts.append("[")
        for n, member in enumerate(value):
            if n:
                parts.append(",")
            _write(member, parts)
        parts.append("]")
    elif kind is float or (kind is int and not _INT_MIN <= value <= _UINT_MAX):
        parts.append(_float(_nearest(value)))
    else:
        parts.append(_ENCODER.encode(value))


def _nearest(number: float) -> float:
    try:
        return float(number)
    except OverflowError:
        return math.inf


def _float(number: float) -> str:
    """Exponents from 1e16 and below 1e-5, without padding; what is no number is null."""
    if not math.isfinite(number):
        return "null"
    text = repr(number)
    match = _EXPONENT.search(text)
    if match is None:
        return text
    if match[1] == "-" and int(match[2]) == 5:
        digits = text[: match.start()].lstrip("-").replace(".", "")
        return ("-" if number < 0 else "") + "0.0000" + digits
    return f"{text[: match.start()]}e{match[1]}{match[2]}"


# ---------------------------------------------------------------------------------------- reading


class _Members(dict[str, Any]):
    """An object in which a key stands twice; the last one counts where that is allowed."""

    twice: frozenset[str]


def loads(data: bytes | str) -> Any:
    """Decode a JSON text; what is wrong only inside of unused members is not found here.

    Raises JsonError.
    """
    try:
        text = data.decode() if isinstance(data, bytes) else data
    except UnicodeDecodeError:
        raise JsonError("invalid unicode code point") from None
    try:
        if not _check_nesting(text):
            return _DECODER.decode(text)
        with limits.deep_stack():
            return _DECODER.decode(text)
    except json.JSONDecodeError as error:
        reason = error.msg[:1].lower() + error.msg[1:]
        raise JsonError(f"{reason} at line {error.lineno} column {error.colno}") from None


_SHALLOW: Final = 200


def _check_nesting(text: str) -> bool:
    """Whether a text may nest so deep that Python's usual stack is too small."""
    if text.count("[") + text.count("{") <= _SHALLOW:
        return False
    depth = deepest = 0
    for match in _BRACKETS.finditer(text):
        bracket = match.group()
        if bracket in "[{":
            depth += 1
            deepest = max(deepest, depth)
            if depth > limits.WASM_NESTING:
                raise JsonError(f"nested deeper than {limits.WASM_NESTING} levels")
        elif bracket in "]}":
            depth -= 1
    return deepest > _SHALLOW


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) == len(pairs):
        return members
    seen: set[str] = set()
    odd = _Members(members)
    odd.twice = frozenset(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
    return odd


def _constant(name: str) -> Any:
    raise JsonError(f"expected value, found {name}")


def _integer(text: str) -> int | float:
    if len(text) <= 20 and text != "-0":
        number = int(text)
        if _INT_MIN <= number <= _UINT_MAX:
            return number
    return float(text)


_DECODER: Final = json.JSONDecoder(
    object_pairs_hook=_object, parse_int=_integer, parse_constant=_constant, strict=True
)

Reader = Callable[[Any], Any]
"""Takes a decoded value and answers what it stands for; raises JsonError."""


def value(found: Any) -> Any:
    """Any value that is used: numbers in range, texts whole, not too deep."""
    return _checked(found, 1)


def _checked(found: Any, depth: int) -> Any:
    kind = type(found)
    if kind is float and math.isinf(found):
        raise JsonError("number out of range")
    if kind is str:
        return text(found)
    if kind is dict or kind is list or kind is _Members:
        if depth >= _DEEPEST:
            raise JsonError("recursion limit exceeded")
        if kind is list:
            return [_checked(member, depth + 1) for member in found]
        return {text(key): _checked(member, depth + 1) for key, member in found.items()}
    return found


def text(found: Any) -> str:
    """A text that UTF-8 can hold."""
    if type(found) is not str:
        raise JsonError(f"invalid type: {describe(found)}, expected a string")
    try:
        found.encode()
    except UnicodeEncodeError:
        raise JsonError("unexpected end of hex escape (half of a surrogate pair)") from None
    return found


def boolean(found: Any) -> bool:
    if type(found) is not bool:
        raise JsonError(f"invalid type: {describe(found)}, expected a boolean")
    return found


def whole(limit: int) -> Reader:
    """A whole number from 0 to `limit` that is written as one."""

    def read(found: Any) -> int:
        if type(found) is not int:
            raise JsonError(f"invalid type: {describe(found)}, expected a whole number")
        if not 0 <= found <= limit:
            raise JsonError(f"invalid value: integer `{found}`, expected 0 to {limit}")
        return found

    return read


def optional(reader: Reader) -> Reader:
    """What the reader takes, or null for None."""
    return lambda found: None if found is None else reader(found)


def list_of(reader: Reader) -> Reader:
    def read(found: Any) -> list[Any]:
        if type(found) is not list:
            raise JsonError(f"invalid type: {describe(found)}, expected a sequence")
        return [reader(member) for member in found]

    return read


def map_of(reader: Reader) -> Reader:
    def read(found: Any) -> dict[str, Any]:
        if not isinstance(found, dict):
            raise JsonError(f"invalid type: {describe(found)}, expected a map")
        return {text(key): reader(member) for key, member in found.items()}

    return read


def struct(name: str, fields: Mapping[str, Reader], required: frozenset[str]) -> Reader:
    """An object with these members, or a list of them in order, as serde takes both.

    Unknown members are skipped; one of these twice is an error; a missing one that is not
    required is None.
    """

    def read(found: Any) -> dict[str, Any]:
        if type(found) is list:
            if len(found) < len(fields):
                raise JsonError(
                    f"invalid length {len(found)}, expected struct {name} with {len(fields)} "
                    "elements"
                )
            if len(found) > len(fields):
                raise JsonError("trailing characters")
            return {key: read(member) for (key, read), member in zip(fields.items(), found)}  # noqa: B905
        if not isinstance(found, dict):
            raise JsonError(f"invalid type: {describe(found)}, expected struct {name}")
        twice = found.twice if isinstance(found, _Members) else frozenset()
        result: dict[str, Any] = {}
        for key, reader in fields.items():
            if key in twice:
                raise JsonError(f"duplicate field `{key}`")
            if key in found:
                result[key] = reader(found[key])
            elif key in required:
                raise JsonError(f"missing field `{key}`")
            else:
                result[key] = None
        return result

    return read


def describe(found: Any) -> str:
    """What a value is, in serde's words."""
    match found:
        case None:
            return "null"
        case bool():
            return f"boolean `{str(found).lower()}`"
        case int():
            return f"integer `{found}`"
        case float():
            return f"floating point `{_float(found)}`"
        case str():
            return f"string {_ENCODER.encode(found[:80])}"
        case list():
            return "sequence"
        case _:
            return "map"
