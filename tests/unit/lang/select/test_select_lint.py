from __future__ import annotations

import pytest

from krm_fn.lang.select import compile_fanout, compile_select
from krm_fn.lang.select.lint import lint


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("$.a[? @.b]", ["bare-filter"]),
        ("$.a != 1", ["undefined-differs"]),
        ("$.a[*] != 1", []),
        ("$.a == null", ["null-by-name"]),
        ("nil != $.a", ["null-by-name", "undefined-differs"]),
        ("null == nil", []),
        ('$.v == "1.10"', ["numeric-text"]),
        ('"x" == $.v', []),
        ("$.a[-1]", ["negative-index"]),
        ("$.a[-0]", []),
        ("$.a[0:-1]", ["empty-range"]),
        ("$.a[-1:]", []),
        ("$.a[-2:-1]", []),
        ("length($.a) in [3]", ["length-in-list"]),
        ("$.a =~ `[`", ["bad-regex"]),
        ("$.a =~ `x` && $.b !~ `(`", ["bad-regex"]),
        ("$.a =~ $.b", []),
        ("$.a[? @.b && @.c[? @.d]]", ["bare-filter"]),
    ],
)
def test_traps_are_found(text: str, codes: list[str]) -> None:
    found = lint(text, compile_select(text).node)
    assert [finding.code for finding in found] == codes


def test_a_finding_says_where_it_is() -> None:
    assert compile_select("$.a == 1 &&\n  $.b =~ `(`").warnings[0].startswith("2:7: error parsing")


def test_a_fan_out_has_warnings_too() -> None:
    (warning,) = compile_fanout("$.a[? @.b].c").warnings
    assert "isDefined" in warning
    assert warning.endswith("[bare-filter]")
