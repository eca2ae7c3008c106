"""The standard library: operators' signatures, conversions, text, time.

Source: cel-go v0.29, common/stdlib/standard.go and common/types.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

from krm_fn.errors import EvaluationError
from krm_fn.lang.cel import operators, times
from krm_fn.lang.cel import types as t
from krm_fn.lang.cel import values as v
from krm_fn.lang.cel.functions import Function, Overload, Work, steps
from krm_fn.lang.cel.regexes import compile_pattern
from krm_fn.lang.cel.types import Type
from krm_fn.lang.cel.values import Duration, Timestamp, UInt
from krm_fn.lang.go import strconv
from krm_fn.lang.go.time.duration import DurationError, parse_duration

_A: Final = t.param("A")
_B: Final = t.param("B")
_LIST: Final = t.list_of(_A)
_MAP: Final = t.map_of(_A, _B)

_SHORT: Final = {
    "bool": t.BOOL,
    "bytes": t.BYTES,
    "double": t.DOUBLE,
    "duration": t.DURATION,
    "int64": t.INT,
    "list": _LIST,
    "string": t.STRING,
    "timestamp": t.TIMESTAMP,
    "uint64": t.UINT,
}


def _signatures(stem: str, pairs: str, result: Type | None = None) -> list[Overload]:
    """Overloads of a binary operator, from `int64,double` pairs separated by spaces."""
    found = []
    for pair in pairs.split():
        names = pair.split(",")
        first, second = names[0], names[1] if len(names) > 1 else names[0]
        args = (_SHORT[first], _SHORT[second])
        identity = f"{stem}_{first}" if first == second else f"{stem}_{first}_{second}"
        out = result or (_SHORT[names[2]] if len(names) > 2 else args[0])
        found.append(Overload(identity, args, out))
    return found


_COMPARED: Final = (
    "bool int64 int64,double int64,uint64 uint64 uint64,double uint64,int64 "
    "double double,int64 double,uint64 string bytes timestamp duration"
)


def _operators() -> list[Function]:
    compared = [
        Function(f"_{symbol}_", _signatures(stem, _COMPARED, t.BOOL))
        for symbol, stem in (
            ("<", "less"),
            ("<=", "less_equals"),
            (">", "greater"),
            (">=", "greater_equals"),
        )
    ]
    added = "bytes double duration duration,timestamp,timestamp timestamp,duration int64 list"
    subtracted = "double duration int64 timestamp,duration timestamp,timestamp,duration uint64"
    return [
        *compared,
        Function("_?_:_", [Overload("conditional", (t.BOOL, _A, _A), _A)]),
        Function("_&&_", [Overload("logical_and", (t.BOOL, t.BOOL), t.BOOL)]),
        Function("_||_", [Overload("logical_or", (t.BOOL, t.BOOL), t.BOOL)]),
        Function("!_", [Overload("logical_not", (t.BOOL,), t.BOOL)]),
        Function("@not_strictly_false", [Overload("not_strictly_false", (t.BOOL,), t.BOOL)]),
        Function("_==_", [Overload("equals", (_A, _A), t.BOOL)]),
        Function("_!=_", [Overload("not_equals", (_A, _A), t.BOOL)]),
        Function("_+_", _signatures("add", f"{added} string uint64")),
        Function("_-_", _signatures("subtract", subtracted)),
        Function("_*_", _signatures("multiply", "double int64 uint64")),
        Function("_/_", _signatures("divide", "double int64 uint64")),
        Function("_%_", _signatures("modulo", "int64 uint64")),
        Function(
            "-_",
            [
                Overload("negate_double", (t.DOUBLE,), t.DOUBLE),
                Overload("negate_int64", (t.INT,), t.INT),
            ],
        ),
        Function(
            "_[_]",
            [
                Overload("index_list", (_LIST, t.INT), _A),
                Overload("index_map", (_MAP, _A), _B),
            ],
        ),
        Function(
            "@in",
            [
                Overload("in_list", (_A, _LIST), t.BOOL),
                Overload("in_map", (_A, _MAP), t.BOOL),
            ],
        ),
    ]


# Conversions


def _refused(value: Any, wanted: Type) -> EvaluationError:
    return EvaluationError(f"type conversion error from '{v.type_of(value)}' to '{wanted}'")


def _text_to_int(value: str) -> int:
    number = strconv.parse_int(value)
    if number is None:
        raise _refused(value, t.INT)
    return number


def _text_to_uint(value: str) -> UInt:
    number = strconv.parse_uint(value)
    if number is None:
        raise _refused(value, t.UINT)
    return UInt(number)


def _text_to_double(value: str) -> float:
    number = strconv.parse_float(value)
    if number is None:
        raise _refused(value, t.DOUBLE)
    return number


def _text_to_bool(value: str) -> bool:
    truth = strconv.parse_bool(value)
    if truth is None:
        raise _refused(value, t.BOOL)
    return truth


def _text_to_duration(value: str) -> Duration:
    try:
        return Duration(int(parse_duration(value)))
    except DurationError:
        raise _refused(value, t.DURATION) from None


def _text_to_timestamp(value: str) -> Timestamp:
    found = times.parse_timestamp(value)
    if found is None:
        raise _refused(value, t.TIMESTAMP)
    return found


def _bytes_to_text(value: bytes) -> str:
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        raise EvaluationError("invalid UTF-8 in bytes, cannot convert to string") from None


def _double_to_int(value: float) -> int:
    if not math.isfinite(value) or not -(2.0**63) < value < 2.0**63:
        raise EvaluationError("integer overflow")
    return int(value)


def _double_to_uint(value: float) -> UInt:
    if not math.isfinite(value) or not 0 <= value < 2.0**64:
        raise EvaluationError("unsigned integer overflow")
    return UInt(int(value))


def _int_to_timestamp(value: int) -> Timestamp:
    return operators.checked_timestamp(value * 1_000_000_000, None)


def _type(value: Any) -> Type:
    return value.type_value if isinstance(value, v.Value) else v.type_of(value)


def _identity(value: Any) -> Any:
    return value


_TO_TEXT: Final[list[tuple[str, Type, Callable[[Any], str]]]] = [
    ("bool_to_string", t.BOOL, lambda value: "true" if value else "false"),
    ("bytes_to_string", t.BYTES, _bytes_to_text),
    ("double_to_string", t.DOUBLE, strconv.format_float),
    ("duration_to_string", t.DURATION, lambda value: times.format_duration(value.nanos)),
    ("int64_to_string", t.INT, str),
    ("timestamp_to_string", t.TIMESTAMP, times.format_timestamp),
    ("uint64_to_string", t.UINT, lambda value: str(value.value)),
]


def _conversion(
    name: str, result: Type, sources: list[tuple[str, Type, Callable[[Any], Any]]]
) -> Function:
    same = Overload(f"{name}_to_{name}", (result,), result, _identity)
    works = [_CONVERSION_STEPS.get(identity, 3) for identity, _, _ in sources]
    return Function(
        name,
        [
            same,
            *(
                Overload(identity, (kind,), result, convert, work=_constant(work))
                for (identity, kind, convert), work in zip(sources, works, strict=True)
            ),
        ],
    )


def _constant(number: int) -> Work:
    return lambda _: number


_CONVERSION_STEPS: Final = {
    "string_to_timestamp": 60,
    "timestamp_to_string": 40,
    "string_to_duration": 20,
    "duration_to_string": 20,
    "double_to_string": 20,
}
"""The steps of conversions that take more than the others."""


def _conversions() -> list[Function]:
    return [
        Function("type", [Overload("type", (_A,), t.type_of(_A))], _type),
        Function("dyn", [Overload("to_dyn", (_A,), t.DYN)], _identity),
        _conversion("bool", t.BOOL, [("string_to_bool", t.STRING, _text_to_bool)]),
        Function(
            "bytes",
            [
                Overload("bytes_to_bytes", (t.BYTES,), t.BYTES, _identity),
                Overload("string_to_bytes", (t.STRING,), t.BYTES, _encode, work=steps(0)),
            ],
        ),
        _conversion(
            "double",
            t.DOUBLE,
            [
                ("int64_to_double", t.INT, float),
                ("string_to_double", t.STRING, _text_to_double),
                ("uint64_to_double", t.UINT, lambda value: float(value.value)),
            ],
        ),
        _conversion("duration", t.DURATION, [("string_to_duration", t.STRING, _text_to_duration)]),
        _conversion(
            "int",
            t.INT,
            [
                ("double_to_int64", t.DOUBLE, _double_to_int),
                ("duration_to_int64", t.DURATION, lambda value: value.nanos),
                ("string_to_int64", t.STRING, _text_to_int),
                ("timestamp_to_int64", t.TIMESTAMP, lambda value: value.nanos // 1_000_000_000),
                ("uint64_to_int64", t.UINT, lambda value: operators.checked_int(value.value)),
            ],
        ),
        _conversion("string", t.STRING, _TO_TEXT),
        _conversion(
            "timestamp",
            t.TIMESTAMP,
            [
                ("int64_to_timestamp", t.INT, _int_to_timestamp),
                ("string_to_timestamp", t.STRING, _text_to_timestamp),
            ],
        ),
        _conversion(
            "uint",
            t.UINT,
            [
                ("double_to_uint64", t.DOUBLE, _double_to_uint),
                ("int64_to_uint64", t.INT, operators.checked_uint),
                ("string_to_uint64", t.STRING, _text_to_uint),
            ],
        ),
    ]


def _encode(value: str) -> bytes:
    return value.encode("utf-8", "surrogatepass")


# Text


_SIZED: Final = frozenset({str, bytes, list, dict, v.ListView, v.MapView})


def _sizes() -> Function:
    kinds = (("bytes", t.BYTES), ("list", _LIST), ("map", _MAP), ("string", t.STRING))
    return Function(
        "size",
        [
            overload
            for name, kind in kinds
            for overload in (
                Overload(f"size_{name}", (kind,), t.INT),
                Overload(f"{name}_size", (kind,), t.INT, member=True),
            )
        ],
        len,
        takes=_SIZED,
    )


def _on_texts(test: Callable[[str, str], bool]) -> Callable[[Any, Any], bool]:
    def run(value: Any, part: Any) -> bool:
        if type(value) is str and type(part) is str:
            return test(value, part)
        raise v.no_overload()

    return run


def _text_function(name: str, test: Callable[[str, str], bool]) -> Function:
    overload = Overload(
        f"{name}_string", (t.STRING, t.STRING), t.BOOL, _on_texts(test), member=True
    )
    return Function(name, [overload], unguarded=True)


def _matches(value: str, pattern: str) -> bool:
    return compile_pattern(pattern).search(value)


def regex_work(value: Any, pattern: Any, *_: Any) -> int:
    """Compiling a pattern that is not constant, and walking over the text once."""
    return 25 + (len(value) + len(pattern)) // 10


def _texts() -> list[Function]:
    return [
        _sizes(),
        _text_function("contains", lambda value, part: part in value),
        _text_function("endsWith", str.endswith),
        _text_function("startsWith", str.startswith),
        Function(
            "matches",
            [
                Overload("matches", (t.STRING, t.STRING), t.BOOL),
                Overload("matches_string", (t.STRING, t.STRING), t.BOOL, member=True),
            ],
            _on_texts(_matches),
            takes=frozenset({str}),
            work=regex_work,
        ),
    ]


# Time


def _instant_field(name: str) -> list[Overload]:
    return [
        Overload(
            f"timestamp_to_{name}",
            (t.TIMESTAMP,),
            t.INT,
            lambda value: times.field(name, value),
            member=True,
        ),
        Overload(
            f"timestamp_to_{name}_with_tz",
            (t.TIMESTAMP, t.STRING),
            t.INT,
            lambda value, zone: times.field(name, value, zone),
            member=True,
        ),
    ]


def _span_field(name: str, unit: int) -> Overload:
    def run(value: Duration) -> int:
        whole = abs(value.nanos) // unit
        return -whole if value.nanos < 0 else whole

    return Overload(f"duration_to_{name}", (t.DURATION,), t.INT, run, member=True)


_SPANS: Final = {
    "getHours": 3_600_000_000_000,
    "getMinutes": 60_000_000_000,
    "getSeconds": 1_000_000_000,
    "getMilliseconds": 1_000_000,
}


def _fields() -> list[Function]:
    made = []
    for name in times.FIELDS:
        overloads = _instant_field(name)
        if name in _SPANS:
            overloads.append(_span_field(name, _SPANS[name]))
        made.append(Function(name, overloads))
    return made


def functions() -> list[Function]:
    """All functions of the standard library."""
    return [*_operators(), *_conversions(), *_texts(), *_fields()]
