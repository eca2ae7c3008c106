"""The functions of Rego that a compiled policy leaves to its host: those of the policy server.

They answer as its own do, where those are not plainly wrong: `sprintf` is Go's, `regex.split`
gives a list, times stand still.
Source: burrego 0.3 builtins; vectors' README, 49 to 51.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable
from typing import Any, Final
from urllib.parse import quote, unquote_plus

from krm_fn import limits
from krm_fn.dialects.kubewarden.codec import jsontext, patching, yamltext
from krm_fn.dialects.kubewarden.runtime.wasi import EPOCH
from krm_fn.errors import KrmFnError
from krm_fn.lang.go.printf import UnprintableError, sprintf
from krm_fn.lang.go.regexp import compile_regex
from krm_fn.lang.go.values import GoInt


class BuiltinError(Exception):
    """A function cannot answer: the evaluation fails."""


def _text(value: Any, what: str = "an argument") -> str:
    if type(value) is not str:
        raise BuiltinError(f"{what} is not a string")
    return value


def _sprintf(template: Any, values: Any) -> str:
    if type(values) is not list:
        raise BuiltinError("2nd parameter is not an array")
    try:
        return sprintf(_text(template), [_go(value) for value in values], limits.TEMPLATE_OUTPUT)
    except (KrmFnError, UnprintableError) as error:
        raise BuiltinError(str(error)) from None


def _go(value: Any) -> Any:
    """A value as Go would hold it: whole numbers are ints."""
    if type(value) is int:
        return GoInt(value)
    if type(value) is list:
        return [_go(member) for member in value]
    if isinstance(value, dict):
        return {key: _go(member) for key, member in value.items()}
    return value


def _base64url(value: Any) -> str:
    return base64.urlsafe_b64encode(_text(value).encode()).decode().rstrip("=")


_QUERY_SAFE: Final = "!$%&()*+,-./:;=?@[\\]^_`{|}~"


def _query(text: str) -> str:
    """A text as the query of a URL has it."""
    return quote(re.sub("[\t\n\r]", "", text), safe=_QUERY_SAFE)


def _pairs(query: str) -> list[tuple[str, str]]:
    pairs = (part.partition("=") for part in _query(query).split("&") if part)
    return [(unquote_plus(key), unquote_plus(value)) for key, _, value in pairs]


def _urlquery_decode(value: Any) -> str:
    return _pairs("input=" + _text(value))[0][1]


def _urlquery_encode_object(value: Any) -> str:
    if not isinstance(value, dict):
        raise BuiltinError("1st parameter is not an object")
    for key, member in value.items():
        _text(member, f"the value of key {key}")
    return _query("&".join(f"{key}={value[key]}" for key in sorted(value)))


def _json_is_valid(value: Any) -> bool:
    if type(value) is not str:
        return False
    try:
        jsontext.value(jsontext.loads(value))
    except jsontext.JsonError:
        return False
    return True


def _yaml_unmarshal(value: Any) -> Any:
    try:
        return yamltext.loads(_text(value))
    except yamltext.YamlTextError as error:
        raise BuiltinError(f"cannot convert input object to json - {error}") from None


def _yaml_is_valid(value: Any) -> bool:
    if type(value) is not str:
        return False
    try:
        yamltext.loads(value, unique=True)
    except yamltext.YamlTextError:
        return False
    return True


def _hex_decode(value: Any) -> str:
    try:
        return binascii.unhexlify(_text(value)).decode()
    except ValueError as error:
        raise BuiltinError(f"cannot parse input - {error}") from None


def _quote_meta(value: Any) -> str:
    return re.sub(r"[*?\\\[\]{}]", r"\\\g<0>", _text(value))


def _json_patch(value: Any, patch: Any) -> Any:
    try:
        return patching.apply(value, patch)
    except patching.PatchError as error:
        raise BuiltinError(f"cannot apply patch: {error}") from None


def _regex(pattern: Any) -> Any:
    try:
        return compile_regex(_text(pattern)).compiled
    except KrmFnError as error:
        raise BuiltinError(
            f"cannot build regex from the given pattern string '{pattern}': {error}"
        ) from None


def _regex_split(pattern: Any, value: Any) -> list[str]:
    pieces: list[str] = []
    at = 0
    text = _text(value)
    for match in _regex(pattern).finditer(text):
        if match.end() == 0 or match.start() == match.end() == len(text):
            continue
        pieces.append(text[at : match.start()])
        at = match.end()
    return [*pieces, text[at:]]


def _find_n(pattern: Any, value: Any, count: Any) -> list[str]:
    if type(count) is not int:
        raise BuiltinError("3rd parameter is not a number")
    found = [match.group() for match in _regex(pattern).finditer(_text(value))]
    return found if count < 0 else found[:count]


def _template_match(template: Any, value: Any, start: Any, end: Any) -> bool:
    """A template whose parts between the delimiters are patterns, the others texts."""
    start, end = _text(start), _text(end)
    if len(start.encode()) != 1 or len(end.encode()) != 1:
        raise BuiltinError("a delimiter has to be exactly one character long")
    parts: list[str] = []
    part = ""
    depth = 0
    for char in _text(template):
        if char == start:
            depth += 1
            if depth == 1:
                parts.append(re.escape(part))
                part = ""
        elif char == end:
            depth -= 1
            if depth == 0:
                parts.append(part)
                part = ""
        else:
            part += char
    parts.append(part if depth > 0 else re.escape(part))
    return _regex("".join(parts)).search(_text(value)) is not None


_SEMVER: Final = re.compile(
    r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)"
    r"(?:-((?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(?:\.(?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*))?"
    r"(?:\+([0-9a-zA-Z-]+(?:\.[0-9a-zA-Z-]+)*))?",
    re.ASCII,
)
_U64: Final = 2**64


def _version(text: str) -> tuple[Any, ...] | None:
    """A version as something to compare, build metadata included; None where it is none."""
    match = _SEMVER.fullmatch(text) if len(text) < 1_000 else None
    if match is None or any(int(part) >= _U64 for part in match.group(1, 2, 3)):
        return None
    numbers = tuple(int(part) for part in match.group(1, 2, 3))
    return (
        *numbers,
        match[4] is None,
        [_prerelease(part) for part in (match[4] or "").split(".")],
        [_build(part) for part in match[5].split(".")] if match[5] else [],
    )


def _prerelease(part: str) -> tuple[int, int, str]:
    return (0, int(part), "") if part.isdigit() else (1, 0, part)


def _build(part: str) -> tuple[int, int, str, int]:
    """Numbers before texts; of equal numbers the one with fewer leading zeros is first."""
    return (0, int(part), "", len(part)) if part.isdigit() else (1, 0, part, 0)


def _semver_compare(first: Any, second: Any) -> int:
    a, b = _version(_text(first)), _version(_text(second))
    if a is None or b is None:
        which = "first" if a is None else "second"
        raise BuiltinError(f"{which} argument is not a valid semantic version")
    return (a > b) - (a < b)


def _semver_is_valid(value: Any) -> bool:
    return _version(_text(value)) is not None


def _trace(value: Any) -> bool:
    _text(value)
    return True


BUILTINS: Final[dict[str, tuple[int, Callable[..., Any]]]] = {
    "trace": (1, _trace),
    "base64url.encode_no_pad": (1, _base64url),
    "urlquery.encode": (1, lambda value: _query(_text(value))),
    "urlquery.decode": (1, _urlquery_decode),
    "urlquery.encode_object": (1, _urlquery_encode_object),
    "urlquery.decode_object": (1, lambda value: dict(_pairs(_text(value)))),
    "json.is_valid": (1, _json_is_valid),
    "yaml.marshal": (1, yamltext.dumps),
    "yaml.unmarshal": (1, _yaml_unmarshal),
    "yaml.is_valid": (1, _yaml_is_valid),
    "hex.encode": (1, lambda value: _text(value).encode().hex()),
    "hex.decode": (1, _hex_decode),
    "glob.quote_meta": (1, _quote_meta),
    "json.patch": (2, _json_patch),
    "regex.split": (2, _regex_split),
    "regex.template_match": (4, _template_match),
    "regex.find_n": (3, _find_n),
    "semver.is_valid": (1, _semver_is_valid),
    "semver.compare": (2, _semver_compare),
    "sprintf": (2, _sprintf),
    "time.now_ns": (0, lambda: EPOCH),
}
"""By name: how many arguments, and the function. It raises BuiltinError."""
