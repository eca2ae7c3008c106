"""Arbitrary templates end in a text or a documented error, soon."""

from __future__ import annotations

import contextlib
from datetime import datetime

from fuzz_support import bounded
from hypothesis import given
from hypothesis import strategies as st

from krm_fn.errors import CompileError, EvaluationError
from krm_fn.lang.go.values import GoInt
from krm_fn.lang.gotemplate import Pointer, RenderSources, parse, sprig
from krm_fn.lang.gotemplate.functions import BUILTINS

CONTEXT = {
    "Namespace": "shop",
    "Target": Pointer({"a": [1, "x", None, {"k": 2.5}], "b": None, "c": {"d": "é\udc80"}}),
    "SelectKeyParts": [GoInt(1), "web"],
    "SelectedItem": None,
}

WORDS = """
    {{ }} {{- -}} ( ) | := = , . $ $x $x.a .Target .Target.a .Target.c .Namespace .Nope nil true
    0 1 -1 2.5 1e9 0x1F 'c' "" "a" "%v%5.1f%q" `r` if else end range with define template block
    {{break}} {{continue}} {{end}} {{else}} {{/*c*/}} "t" index len printf print eq lt and or not
    text
"""
ARGUMENTS = """
    .Target .Target.a .Target.b .Target.c .Nope nil true 0 1 3 -1 2.5 1e9 'c' `` `a` `a-b_c` `[`
    `x*` `%d|%q` (list) (list`b`1nil) (dict) (dict`a`1) (until(3)) (split`-``a-b`) 1i
    `2006-01-02` `Jan_MST-07:00` `2024-02-30` `Asia/Tokyo` `1h2.5s` `>=1.2||~1` `v1.2.3-rc.1+b`
    `https://u@h:1/%41?q#f` `-----BEGIN` `AAAA` (now) (semver`1.2`).IncMajor (now).Month
    (toDate`2006``2024`) (int64(9)) (now).Nope
"""
SOURCES = (RenderSources(), RenderSources(datetime(2024, 5, 6), "seed"))
PIECES = st.sampled_from(WORDS.split())
ATOMS = st.sampled_from(ARGUMENTS.split())
NAMES = st.sampled_from(sorted(sprig.NAMES | set(BUILTINS)))
CALLS = st.builds(
    lambda name, args: "{{ " + " ".join([name, *args]) + " }}",
    NAMES,
    st.lists(ATOMS, max_size=4),
)
TEMPLATES = st.one_of(
    st.text(max_size=60),
    st.lists(PIECES, max_size=25).map(" ".join),
    st.lists(PIECES, max_size=12).map("".join).map(lambda inner: "{{" + inner + "}}"),
    CALLS,
    st.lists(CALLS, max_size=3).map("".join),
)


@bounded(600)
@given(TEMPLATES, st.sampled_from(SOURCES))
def test_no_template_raises_anything_but_the_documented_errors(
    text: str, sources: RenderSources
) -> None:
    with contextlib.suppress(CompileError, EvaluationError):
        assert isinstance(parse(text, "fuzz").render(CONTEXT, sources), str)


@bounded(300)
@given(CALLS)
def test_a_template_renders_to_the_same_text_again(text: str) -> None:
    with contextlib.suppress(CompileError, EvaluationError):
        template = parse(text, "fuzz")
        assert template.render(CONTEXT, SOURCES[1]) == template.render(CONTEXT, SOURCES[1])
