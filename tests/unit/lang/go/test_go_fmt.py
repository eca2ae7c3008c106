from __future__ import annotations

from typing import Any

import pytest

from krm_fn.errors import LimitError
from krm_fn.lang.go.fmt import format_value
from krm_fn.lang.go.printf import UnprintableError, sprint, sprintf, sprintln
from krm_fn.lang.go.values import (
    GoInt,
    GoList,
    GoMap,
)


def test_typed_lists_and_maps_print_as_plain_ones() -> None:
    assert format_value(GoList([GoInt(1000000)], "[]int")) == "[1000000]"
    assert format_value(GoMap({"b": "y", "a": "x"})) == "map[a:x b:y]"


@pytest.mark.parametrize(
    ("template", "values", "expected"),
    [
        ("%d", [8080], "%!d(float64=8080)"),
        ("%d", [GoInt(8080)], "8080"),
        ("%5d|%-5d|%05d", [GoInt(42)] * 3, "   42|42   |00042"),
        ("%+d % d %x %X %#x %o %#o %O %b", [GoInt(10)] * 9, "+10  10 a A 0xa 12 012 0o12 1010"),
        ("%s", [None], "%!s(<nil>)"),
        ("%s %d", ["a"], "a %!d(MISSING)"),
        ("%s", ["a", GoInt(1)], "a%!(EXTRA int=1)"),
        ("%[2]s %[1]s", ["a", "b"], "b a"),
        ("%[3]s", ["a"], "%!s(BADINDEX)"),
        ("%*d|", [GoInt(4), GoInt(7)], "   7|"),
        ("%*d|", ["x", GoInt(7)], "%!(BADWIDTH)7|"),
        ("%.*f|", [GoInt(1), 2.55], "2.5|"),
        ("%!", [], "%!!(MISSING)"),
        ("100%", [], "100%!(NOVERB)"),
        ("%%", [], "%"),
        ("%6.2f|%e|%g|%G", [3.14159, 1e6, 1e20, 1e-7], "  3.14|1.000000e+06|1e+20|1E-07"),
        ("%x", [1.0], "0x1p+00"),
        ("%.1x", [1.99], "0x1.0p+01"),
        ("%b", [1.0], "4503599627370496p-52"),
        ("%#g", [1.0], "1.00000"),
        ("%x|% x|%#x|%X", ["hi"] * 4, "6869|68 69|0x6869|6869"),
        ("%q %#q %+q", ["a`b", "ab", "é"], '"a`b" `ab` "\\u00e9"'),
        ("%c%c%q%U", [GoInt(72), GoInt(105), GoInt(120), GoInt(233)], "Hi'x'U+00E9"),
        ("%t %v", [True, False], "true false"),
        ("%v", [[GoInt(1), None, "a"]], "[1 <nil> a]"),
        ("%#v", [{"a": [GoInt(1), "x"]}], 'map[string]interface {}{"a":[]interface {}{1, "x"}}'),
        ("%T", [GoList([], "[]string")], "[]string"),
        ("%.2s|%5s|%-5s|", ["abc", "é", "é"], "ab|    é|é    |"),
        ("%v", [complex(1, -2)], "(1-2i)"),
        ("%z", [GoInt(1)], "%!z(int=1)"),
        ("%v %v", [float("inf"), float("nan")], "+Inf NaN"),
    ],
)
def test_sprintf_prints_as_go_does(template: str, values: list[Any], expected: str) -> None:
    assert sprintf(template, values, 10_000) == expected


def test_sprint_puts_spaces_only_between_values_that_are_no_texts() -> None:
    assert sprint(["a", GoInt(1), GoInt(2), "b"], 100) == "a1 2b"
    assert sprintln(["a", GoInt(1)], 100) == "a 1\n"


def test_a_width_cannot_make_a_text_without_bound() -> None:
    with pytest.raises(LimitError):
        sprintf("%999999d", [GoInt(1)], 1000)
    with pytest.raises(LimitError):
        sprintf("%.999999f", [1.0], 1000)


def test_an_address_is_not_printed() -> None:
    with pytest.raises(UnprintableError, match="memory address"):
        sprintf("%p", [[]], 1000)
