from __future__ import annotations

import pytest

from krm_fn.errors import CompileError
from krm_fn.lang.go.regexp import compile_regex
from krm_fn.lang.go.release import Release


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
        ("a(?<!x)", "invalid named capture: `(?<!x)`"),
        ("(?<!x>)", "invalid named capture: `(?<!x>`"),
        ("(?<é>a)", "invalid named capture: `(?<é>`"),
        (r"a\1", r"invalid escape sequence: `\1`"),
        (r"\C", r"invalid escape sequence: `\C`"),
        ("a{1001}", "invalid repeat count: `{1001}`"),
        ("x\\", "trailing backslash at end of expression: ``"),
    ],
)
def test_the_reason_is_told_in_the_words_of_go(pattern: str, reason: str) -> None:
    with pytest.raises(CompileError) as caught:
        compile_regex(pattern, Release.GO_1_26)
    assert caught.value.message == f"error parsing regexp: {reason}"


@pytest.mark.parametrize("pattern", ["(?<n>a)", "(?<!a)", "(?<n", "(?<é>a)"])
def test_groups_without_p_are_unknown_to_older_releases(pattern: str) -> None:
    with pytest.raises(CompileError, match=r"invalid or unsupported Perl syntax: `\(\?<`"):
        compile_regex(pattern, Release.GO_1_18)
    if pattern == "(?<n>a)":
        assert compile_regex(pattern, Release.GO_1_26).search("a")
