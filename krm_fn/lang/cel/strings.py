"""The strings extension: positions count code points, letters change case in ASCII only.

Source: cel-go v0.29, ext/strings.go.
"""

from __future__ import annotations

from typing import Any, Final

from krm_fn.errors import EvaluationError
from krm_fn.lang.cel import types as t
from krm_fn.lang.cel import values as v
from krm_fn.lang.cel.formatting import format_text, format_work
from krm_fn.lang.cel.functions import Function, Impl, Overload, Work, steps
from krm_fn.lang.cel.types import Type

_TEXTS: Final = t.list_of(t.STRING)
_UPPER: Final = {ord(c): c.upper() for c in "abcdefghijklmnopqrstuvwxyz"}
_LOWER: Final = {ord(c): c.lower() for c in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"}

_SPACE: Final = "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007" + (
    "\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
)
"""What Go's unicode.IsSpace takes for white space."""


def _out_of_range(index: int) -> EvaluationError:
    return EvaluationError(f"index out of range: {index}")


def _char_at(value: str, index: int) -> str:
    if not 0 <= index <= len(value):
        raise _out_of_range(index)
    return value[index : index + 1]


def _index_of(value: str, part: str, offset: int = 0) -> int:
    if offset < 0:
        raise _out_of_range(offset)
    if not part:
        return min(offset, len(value))
    return value.find(part, offset)


def _last_index_of(value: str, part: str) -> int:
    return value.rfind(part)


def _last_index_of_from(value: str, part: str, offset: int) -> int:
    if offset < 0:
        raise _out_of_range(offset)
    if not part:
        return min(offset, len(value))
    if offset >= len(value):
        return -1
    return value.rfind(part, 0, offset + len(part))


def _replace(value: str, old: str, new: str, count: int = -1) -> str:
    return value.replace(old, new, max(count, -1))


def _replace_work(value: Any, old: Any, new: Any, count: Any = -1) -> int:
    """The text that is made, which the cost does not count."""
    times = len(value) + 1 if not old else value.count(old)
    if count >= 0:
        times = min(times, count)
    return 8 + (len(value) + times * len(new)) // 4


def _split(value: str, separator: str, limit: int = -1) -> list[str]:
    if limit == 0:
        return []
    if not separator:
        if limit < 0 or limit >= len(value):
            return list(value)
        return [*value[: limit - 1], value[limit - 1 :]]
    return value.split(separator, limit - 1 if limit > 0 else -1)


def _substring(value: str, start: int) -> str:
    if not 0 <= start <= len(value):
        raise _out_of_range(start)
    return value[start:]


def _substring_range(value: str, start: int, end: int) -> str:
    if start > end:
        raise EvaluationError(f"invalid substring range. start: {start}, end: {end}")
    for index in (start, end):
        if not 0 <= index <= len(value):
            raise _out_of_range(index)
    return value[start:end]


def _join(values: Any, separator: str = "") -> str:
    for value in values:
        if type(value) is not str:
            raise EvaluationError(f"join: invalid input: {v.show(value)}")
    return separator.join(values)


def _join_work(values: Any, separator: Any = "") -> int:
    return len(values) + _joined_size(values, separator) // 4


def _joined_size(values: Any, separator: Any) -> int:
    total = sum(len(value) for value in values if type(value) is str)
    return total + len(separator) * max(len(values) - 1, 0)


_QUOTED: Final = {
    ord(char): text
    for char, text in {
        "\a": "\\a", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t",
        "\v": "\\v", "\\": "\\\\", '"': '\\"',
    }.items()
}  # fmt: skip


def _quote(value: str) -> str:
    return f'"{value.translate(_QUOTED)}"'


def _search_work(value: Any, part: Any, *_: Any) -> int:
    # Python's search is linear but for odd patterns; those are paid for by both sizes.
    return 2 + len(value) + len(part) // 10


def _split_work(value: Any, *_: Any) -> int:
    return 5 + len(value)


def _member(
    name: str, suffix: str, args: tuple[Type, ...], result: Type, impl: Impl, work: Work | None
) -> Overload:
    return Overload(f"string_{name}{suffix}", args, result, impl, member=True, work=work)


def functions(version: int) -> list[Function]:
    """The functions of a version of the library (0 to 2)."""
    s, i = t.STRING, t.INT
    made = [
        Function("charAt", [_member("char_at", "_int", (s, i), s, _char_at, None)]),
        Function(
            "indexOf",
            [
                _member("index_of", "_string", (s, s), i, _index_of, _search_work),
                _member("index_of", "_string_int", (s, s, i), i, _index_of, _search_work),
            ],
        ),
        Function(
            "lastIndexOf",
            [
                _member("last_index_of", "_string", (s, s), i, _last_index_of, _search_work),
                _member(
                    "last_index_of", "_string_int", (s, s, i), i, _last_index_of_from, _search_work
                ),
            ],
        ),
        Function("lowerAscii", [_member("lower_ascii", "", (s,), s, _lower, steps(5))]),
        Function("upperAscii", [_member("upper_ascii", "", (s,), s, _upper, steps(5))]),
        Function(
            "replace",
            [
                _member("replace", "_string_string", (s, s, s), s, _replace, _replace_work),
                _member("replace", "_string_string_int", (s, s, s, i), s, _replace, _replace_work),
            ],
        ),
        Function(
            "split",
            [
                _member("split", "_string", (s, s), _TEXTS, _split, _split_work),
                _member("split", "_string_int", (s, s, i), _TEXTS, _split, _split_work),
            ],
        ),
        Function(
            "substring",
            [
                _member("substring", "_int", (s, i), s, _substring, steps(5)),
                _member("substring", "_int_int", (s, i, i), s, _substring_range, steps(5)),
            ],
        ),
        Function("trim", [_member("trim", "", (s,), s, _trim, steps(5))]),
        Function(
            "join",
            [
                Overload("list_join", (_TEXTS,), s, _join, member=True, work=_join_work),
                Overload("list_join_string", (_TEXTS, s), s, _join, member=True, work=_join_work),
            ],
        ),
    ]
    if version >= 1:
        args = (s, t.list_of(t.DYN))
        formatted = Overload("string_format", args, s, format_text, member=True, work=format_work)
        made.append(Function("format", [formatted]))
        made.append(
            Function("strings.quote", [Overload("strings_quote", (s,), s, _quote, work=steps(5))])
        )
    return made


def _lower(value: str) -> str:
    return value.translate(_LOWER)


def _upper(value: str) -> str:
    return value.translate(_UPPER)


def _trim(value: str) -> str:
    return value.strip(_SPACE)
