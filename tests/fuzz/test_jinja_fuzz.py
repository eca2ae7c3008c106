"""Arbitrary Jinja templates end in a text or a documented error, soon."""

from __future__ import annotations

import copy
from typing import Any

from fuzz_support import bounded
from hypothesis import given
from hypothesis import strategies as st

from krm_fn.errors import CompileError, EvaluationError
from krm_fn.lang.jinja import parse
from krm_fn.lang.jinja.filters import FILTERS, TESTS

VARIABLES: dict[str, Any] = {
    "namespace": "shop",
    "target": {"a": [1, "x", None, {"k": 2.5}], "b": None, "c": {"d": "é", "items": []}, "n": 8080},
    "select_key_parts": [1, "web"],
    "selected_item": None,
}

PIECES = st.sampled_from(
    """
    {{ }} {{- -}} {% %} {%- -%} {# #} ( ) [ ] { } | . , : = ~ + - * / // % ** == != < >= not and or
    in is if else elif endif for endfor recursive loop loop.index loop.cycle macro endmacro call
    endcall caller() set endset with endwith filter endfilter raw endraw block include import from
    extends autoescape target target.a target.c.d namespace namespace() select_key_parts
    selected_item nope range dict self varargs kwargs x f f(x) x.y _ none true 0 1 -1 2.5 1e9 1e999
    0xFF "" 'a' "%9d" "%s" "\\ud800" "a"*9 [] {} [1] {"a":1} __class__ .items() text
    """.split()  # noqa: SIM905
)
ATOMS = st.sampled_from(
    """
    target target.a target.c target.n target.b target.nope nope none true 0 1 -1 3 2.5 1e300 10**9
    'a' '' 'ab,c' '%5d' '%s' "k" [] [1,2] ['b','a'] {'a':1} (1,) range(3) range(99999) namespace
    'a'*999 [1]*999 namespace(a=1) dict(a=1) 'upper' 'map' '(paid)' "join" 'eq'
    """.split()  # noqa: SIM905
)
PUBLIC_FILTERS = st.sampled_from([name for name in FILTERS if name.isidentifier()])
PUBLIC_TESTS = st.sampled_from([name for name in TESTS if name.isidentifier()])
METHODS = st.sampled_from(
    ["split", "replace", "join", "zfill", "rfind", "strip", "get", "items", "index", "count",
     "format", "append", "pop", "__len__", "cycle"]
)  # fmt: skip
OPERATORS = st.sampled_from(
    ["+", "-", "*", "/", "//", "%", "**", "~", "==", "<", "in", "not in", "and", "or", "is eq"]
)


def _expressions(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    arguments = st.lists(inner, max_size=3).map(", ".join)
    return st.one_of(
        st.builds("({} {} {})".format, inner, OPERATORS, inner),
        st.builds("({} | {}({}))".format, inner, PUBLIC_FILTERS, arguments),
        st.builds("({} is {}({}))".format, inner, PUBLIC_TESTS, inner),
        st.builds("({}).{}({})".format, inner, METHODS, arguments),
        st.builds("({})[{}]".format, inner, inner),
        st.builds("({})[{}:{}]".format, inner, inner, inner),
        st.builds("[{}]".format, arguments),
        st.builds("({} if {} else {})".format, inner, inner, inner),
        st.builds("f({})".format, arguments),
    )


EXPRESSIONS = st.recursive(ATOMS, _expressions, max_leaves=8)


def _statements(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.builds("{{% for x in {} %}}{}{{% endfor %}}".format, EXPRESSIONS, inner),
        st.builds("{{% for x in {} recursive %}}{}{{{{ loop(x) }}}}{{% endfor %}}".format,
                  EXPRESSIONS, inner),
        st.builds("{{% if {} %}}{}{{% endif %}}".format, EXPRESSIONS, inner),
        st.builds("{{% set x = {} %}}{}".format, EXPRESSIONS, inner),
        st.builds("{{% macro f(x) %}}{}{{% endmacro %}}{{{{ f(1) }}}}".format, inner),
        st.builds("{{% filter {} %}}{}{{% endfilter %}}".format, PUBLIC_FILTERS, inner),
        st.builds("{}{}".format, inner, inner),
    )  # fmt: skip


STATEMENTS = st.recursive(
    st.one_of(st.just("text"), EXPRESSIONS.map("{{{{ {} }}}}".format)), _statements, max_leaves=6
)
TEMPLATES = st.one_of(
    st.text(max_size=60),
    st.lists(PIECES, max_size=25).map(" ".join),
    st.lists(PIECES, max_size=12).map(lambda inner: "{{ " + " ".join(inner) + " }}"),
    STATEMENTS,
)


def outcome(text: str) -> str:
    try:
        return "text " + parse(text, "fuzz").render(VARIABLES)
    except (CompileError, EvaluationError) as error:
        return f"{type(error).__name__} {error.message}"


@bounded(300)
@given(TEMPLATES)
def test_a_jinja_template_renders_or_fails_as_documented_and_changes_nothing(text: str) -> None:
    before = copy.deepcopy(VARIABLES)
    outcome(text).encode("utf-8", "surrogatepass")
    assert before == VARIABLES


@bounded(300)
@given(STATEMENTS)
def test_a_jinja_template_has_the_same_outcome_again(text: str) -> None:
    said = outcome(text)
    assert said == outcome(text)
    assert " at 0x" not in said
