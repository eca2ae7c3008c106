"""Whatever text comes in, the select language answers, or fails as it says it does, and soon."""

from __future__ import annotations

import json
from typing import Any

from fuzz_support import bounded, vectors
from hypothesis import given
from hypothesis import strategies as st

from krm_fn.errors import CompileError, EvaluationError
from krm_fn.lang.go.fmt import format_value
from krm_fn.lang.select import compile_fanout, compile_select, expand_path

CASES = list(vectors("select"))
TEXTS = [case["expr"] for case in CASES]
DOCUMENTS = [case["doc"] for case in CASES[::40]]

PIECES = st.sampled_from(
    ["$", "@", ".", "..", "*", "[", "]", "(", ")", "{", "}", "?", ":", ",", "#", "#0", "a", "in",
     "==", "=~", "&&", "??", "+", "-", "!", "~", "1", '"a"', "`(`", "'x'", "length", "date", "//",
     "/*", "*/", "\\", '"', " ", "\n", "kind", "null", "**", "<<", "1e400", "\udc80", "\x00"]
)  # fmt: skip
GLUED = st.lists(PIECES, max_size=30).map("".join)


@st.composite
def spliced(draw: st.DrawFn) -> str:
    """The beginning of one expression, some junk, the end of another."""
    first, last = draw(st.sampled_from(TEXTS)), draw(st.sampled_from(TEXTS))
    junk = draw(st.one_of(st.just(""), PIECES, st.text(max_size=3)))
    cut, start = draw(st.integers(0, len(first))), draw(st.integers(0, len(last)))
    return first[:cut] + junk + last[start:]


ANY_TEXT = st.one_of(st.text(max_size=60), GLUED, spliced())


@bounded(400)
@given(ANY_TEXT, st.sampled_from(DOCUMENTS))
def test_an_expression_answers_or_fails_as_documented(text: str, document: Any) -> None:
    before = json.dumps(document)
    try:
        select = compile_select(text)
        select.warnings  # noqa: B018
        format_value(select.evaluate(document))
    except (CompileError, EvaluationError):
        pass
    assert json.dumps(document) == before


@bounded(400)
@given(ANY_TEXT, st.sampled_from(DOCUMENTS), st.text(max_size=20))
def test_a_fan_out_answers_or_fails_as_documented(text: str, document: Any, path: str) -> None:
    try:
        fanout = compile_fanout(text)
    except CompileError:
        return
    compile_select(text)  # what fans out is an expression, too
    try:
        for entry in fanout.entries(document):
            expand_path(path, entry.key_parts)
    except EvaluationError:
        pass


@bounded(400)
@given(ANY_TEXT, st.sampled_from(DOCUMENTS))
def test_the_same_input_has_the_same_answer(text: str, document: Any) -> None:
    def answer() -> str:
        try:
            return format_value(compile_select(text).evaluate(document))
        except (CompileError, EvaluationError) as error:
            return str(error)

    assert answer() == answer()
