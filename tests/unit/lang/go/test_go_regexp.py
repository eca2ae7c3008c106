from __future__ import annotations

import pytest

from krm_fn.errors import CompileError
from krm_fn.lang.go.regexp import compile_regex


@pytest.mark.parametrize(
    "pattern",
    [r"\C", r"(?<n>a)", r"a(?:b|(?<n>c))", "(?P<é>a)", r"\Z", "(?=a)", "a**", "[z-a]", "a{1001}",
     r"(a)\1", "(?x)a", r"\e", "[[:nope:]]"],
)  # fmt: skip
def test_what_go_refuses_does_not_compile(pattern: str) -> None:
    with pytest.raises(CompileError, match="error parsing regexp"):
        compile_regex(pattern)


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (r"(?P<n>a)", "a"),
        (r"\\C", r"\C"),
        (r"\Q\C(?<n>\E", r"\C(?<n>"),
        (r"[(?<n>]+$", "(?<"),
        (r"[]\\C]", "C"),
        (r"[[:alpha:](?<]", "("),
        (r"\(\?<n>", "(?<n>"),
        (r"(?i)A\z", "a"),
        (r"\pL", "é"),
        ("", ""),
    ],
)
def test_what_go_takes_compiles_and_matches(pattern: str, text: str) -> None:
    assert compile_regex(pattern).search(text)
