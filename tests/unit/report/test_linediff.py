"""Differences by lines: right for all texts, as difflib's for small ones, linear for large ones."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from krm_fn.report.linediff import blocks, unified

LINES = st.lists(st.sampled_from("abcdefgh"), max_size=40)


def patched(old: Sequence[str], lines: Sequence[str]) -> list[str]:
    """The old lines with a unified diff applied, which must say of them what is true."""
    made: list[str] = []
    at = 0
    for line in lines[2:]:
        if line.startswith("@@"):
            start, _, size = line.split()[1][1:].partition(",")
            begin = int(start) - (size != "0")
            made += old[at:begin]
            at = begin
        elif line.startswith("+"):
            made.append(line[1:])
        else:
            assert old[at] == line[1:]
            at += 1
            made += [] if line.startswith("-") else [line[1:]]
    return [*made, *old[at:]]


@given(LINES, LINES)
def test_a_diff_turns_one_text_into_the_other(old: list[str], new: list[str]) -> None:
    assert patched(old, list(unified(old, new, "a", "b"))) == new


@given(st.lists(st.integers(0, 5), max_size=600), st.lists(st.integers(0, 3), max_size=600))
def test_so_does_one_of_large_texts_with_few_different_lines(
    old: list[int], new: list[int]
) -> None:
    before, after = list(map(str, old)), list(map(str, new))
    assert patched(before, list(unified(before, after, "a", "b"))) == after


@given(LINES, LINES)
def test_blocks_ascend_and_are_equal(old: list[str], new: list[str]) -> None:
    end = other_end = 0
    for start, other, size in blocks(old, new):
        assert start >= end
        assert other >= other_end
        assert old[start : start + size] == new[other : other + size]
        end, other_end = start + size, other + size


def test_a_small_diff_is_that_of_difflib() -> None:
    old = [f"line {n}" for n in range(40)]
    new = [*old[:5], "changed", *old[6:20], *old[22:], "added"]
    expected = list(difflib.unified_diff(old, new, "a/x", "b/x", lineterm=""))
    assert list(unified(old, new, "a/x", "b/x")) == expected


@given(st.lists(st.tuples(st.integers(0, 60), st.booleans()), max_size=12))
def test_hunks_are_those_of_difflib(edits: list[tuple[int, bool]]) -> None:
    old = [f"line {n}" for n in range(61)]
    new = list(old)
    for at, removed in edits:
        new[at] = "" if removed else f"changed {at}"
    new = [line for line in new if line]
    expected = list(difflib.unified_diff(old, new, "a", "b", lineterm=""))
    assert list(unified(old, new, "a", "b")) == expected


def test_equal_texts_have_no_diff() -> None:
    assert list(unified(["a"], ["a"], "a", "b")) == []
    assert list(unified([], [], "a", "b")) == []


def test_a_text_that_was_empty_is_added() -> None:
    assert list(unified([], ["x"], "a", "b")) == ["--- a", "+++ b", "@@ -0,0 +1 @@", "+x"]
