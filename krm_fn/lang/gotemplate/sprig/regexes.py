"""Sprig's regular expressions: Go's rules for repeated matches over RE2's matches.

Positions are in bytes, as RE2 and Go count them. The functions with and without `must` fail alike,
since without it Go panics, and a template turns that into an error too; `regexMatch` alone answers
false for a pattern that does not compile.
Source: Sprig's regex.go; Go's regexp package.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from krm_fn.errors import CompileError
from krm_fn.lang.budget import Budget
from krm_fn.lang.go.regexp import compile_regex
from krm_fn.lang.go.values import GoList, from_bytes, to_bytes
from krm_fn.lang.gotemplate.sprig.convert import string_list
from krm_fn.lang.gotemplate.values import Family, FunctionError, nil_list

FUNCTIONS: Final = Family()


def _compiled(budget: Budget, pattern: str) -> Any:
    # To compile a pattern costs much more than to read it.
    budget.spend(20 + 3 * len(pattern))
    if any("\ud800" <= c <= "\udfff" for c in pattern):
        raise FunctionError("error parsing regexp: invalid UTF-8")
    try:
        return compile_regex(pattern).compiled
    except CompileError as error:
        raise FunctionError(error.message) from None


def _search(budget: Budget, regex: Any, data: bytes, at: int) -> Any:
    # Each search may read all of the text that is left.
    budget.spend(1 + (len(data) - at) // 1024)
    return regex.search(data, at)


def _width(data: bytes, at: int) -> int:
    """How many bytes the character at a position has; 0 at the end."""
    if at >= len(data):
        return 0
    first = data[at]
    width = 1 if first < 0xC0 else 2 if first < 0xE0 else 3 if first < 0xF0 else 4
    return min(width, len(data) - at)


def _find_all(budget: Budget, regex: Any, data: bytes, count: int) -> Iterator[tuple[int, int]]:
    """Matches from left to right; an empty one right behind another does not count."""
    at, before, found = 0, -1, 0
    while at <= len(data) and (count < 0 or found < count):
        match = _search(budget, regex, data, at)
        if match is None:
            return
        start, end = match.span()
        if end == at:
            # An empty match: go on behind the next character.
            accepted = start != before
            at += _width(data, at) or 1
        else:
            accepted = True
            at = end
        before = end
        if accepted:
            found += 1
            yield start, end


@FUNCTIONS.function("regexMatch", "string string", budget=True)
def regex_match(budget: Budget, pattern: str, text: str) -> bool:
    try:
        regex = _compiled(budget, pattern)
    except FunctionError:
        return False
    return regex.search(to_bytes(text)) is not None


@FUNCTIONS.function("mustRegexMatch", "string string", budget=True)
def must_regex_match(budget: Budget, pattern: str, text: str) -> bool:
    return _compiled(budget, pattern).search(to_bytes(text)) is not None


@FUNCTIONS.function("regexFind mustRegexFind", "string string", budget=True)
def regex_find(budget: Budget, pattern: str, text: str) -> str:
    match = _compiled(budget, pattern).search(to_bytes(text))
    return "" if match is None else from_bytes(match.group())


@FUNCTIONS.function("regexFindAll mustRegexFindAll", "string string int", budget=True)
def regex_find_all(budget: Budget, pattern: str, text: str, count: int) -> GoList:
    """The first `count` matches, all of them if it is negative."""
    data = to_bytes(text)
    spans = _find_all(budget, _compiled(budget, pattern), data, count)
    found = [from_bytes(data[start:end]) for start, end in spans]
    return string_list(found) if found else nil_list("[]string")


@FUNCTIONS.function("regexSplit mustRegexSplit", "string string int", budget=True)
def regex_split(budget: Budget, pattern: str, text: str, count: int) -> GoList:
    """The texts between matches; at most `count` of them if that is positive."""
    regex = _compiled(budget, pattern)
    if count == 0:
        return nil_list("[]string")
    data = to_bytes(text)
    if pattern and not data:
        return string_list([""])
    parts: list[str] = []
    begin = end = 0
    for start, stop in _find_all(budget, regex, data, count):
        if 0 < count == len(parts) + 1:
            break
        end = start
        if stop:
            parts.append(from_bytes(data[begin:end]))
        begin = stop
    if end != len(data):
        parts.append(from_bytes(data[begin:]))
    return string_list(parts)


@FUNCTIONS.function("regexReplaceAll mustRegexReplaceAll", "string string string", budget=True)
def regex_replace_all(budget: Budget, pattern: str, text: str, new: str) -> str:
    """Matches replaced; `$1`, `${1}` and `${name}` stand for groups, `$$` for a dollar."""
    regex = _compiled(budget, pattern)
    parts = _expansion(new, regex)

    def expand(match: Any) -> bytes:
        return b"".join(
            part if isinstance(part, bytes) else (match.group(part) or b"") for part in parts
        )

    return _replaced(budget, regex, to_bytes(text), expand)


@FUNCTIONS.function(
    "regexReplaceAllLiteral mustRegexReplaceAllLiteral", "string string string", budget=True
)
def regex_replace_all_literal(budget: Budget, pattern: str, text: str, new: str) -> str:
    data = to_bytes(new)
    return _replaced(budget, _compiled(budget, pattern), to_bytes(text), lambda _: data)


def _replaced(budget: Budget, regex: Any, data: bytes, expand: Callable[[Any], bytes]) -> str:
    """Source: regexp.replaceAll."""
    out: list[bytes] = []
    size = done = at = 0
    while at <= len(data):
        match = _search(budget, regex, data, at)
        if match is None:
            break
        start, end = match.span()
        out.append(data[done:start])
        # No empty match right behind another one.
        if end > done or start == 0:
            out.append(expand(match))
            size += len(out[-1])
            if size > budget.output:
                budget.text(size)
        done = end
        width = _width(data, at)
        at = max(at + max(width, 1), end) if at + width > end or at + 1 > end else end
    out.append(data[done:])
    return from_bytes(b"".join(out))


def _expansion(new: str, regex: Any) -> list[bytes | int]:
    """A replacement as strings and group numbers. Source: regexp.expand."""
    parts: list[bytes | int] = []
    rest = new
    while "$" in rest:
        before, _, rest = rest.partition("$")
        parts.append(to_bytes(before))
        if rest.startswith("$"):
            parts.append(b"$")
            rest = rest[1:]
            continue
        name, after = _group_name(rest)
        if name is None:
            # A dollar that starts nothing stays.
            parts.append(b"$")
            continue
        rest = after
        if name.isascii() and name.isdigit() and int(name[:9]) < 100_000_000:
            if int(name) <= regex.groups:
                parts.append(int(name))
        elif name in regex.groupindex:
            parts.append(regex.groupindex[name])
    parts.append(to_bytes(rest))
    return parts


def _group_name(text: str) -> tuple[str | None, str]:
    """The longest name at the start of a string, in braces or not, and what follows."""
    braces = text.startswith("{")
    end = start = int(braces)
    while end < len(text) and (text[end] == "_" or text[end].isalpha() or text[end].isdecimal()):
        end += 1
    if end == start:
        return None, text
    if not braces:
        return text[:end], text[end:]
    if text[end : end + 1] != "}":
        return None, text
    return text[1:end], text[end + 1 :]


@FUNCTIONS.function("regexQuoteMeta", "string")
def regex_quote_meta(text: str) -> str:
    return "".join("\\" + c if c in "\\.+*?()|[]{}^$" else c for c in text)
