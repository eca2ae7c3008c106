"""Why Go does not compile an expression; each sentence is what Go 1.26 prints."""

from __future__ import annotations

import pytest

from krm_fn.dialects.sidecarset.regexes import compiled
from krm_fn.errors import CompileError


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("a(", "missing closing ): `a(`"),
        ("a)b", "unexpected ): `a)b`"),
        ("a[b-", "missing closing ]: `[b-`"),
        ("[z-a]", "invalid character class range: `z-a`"),
        ("+a", "missing argument to repetition operator: `+`"),
        ("a++b", "invalid nested repetition operator: `++`"),
        ("x(?=y)", "invalid or unsupported Perl syntax: `(?=`"),
        ("(?<!x)", "invalid named capture: `(?<!x)`"),
        (r"a\1", r"invalid escape sequence: `\1`"),
        (r"\C", r"invalid escape sequence: `\C`"),
        ("a{1001}", "invalid repeat count: `{1001}`"),
        ("x\\", "trailing backslash at end of expression: ``"),
    ],
)
def test_the_reason_is_gos(pattern: str, reason: str) -> None:
    with pytest.raises(CompileError) as caught:
        compiled(pattern)
    assert caught.value.message == f"error parsing regexp: {reason}"
