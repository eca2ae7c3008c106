"""What a Jinja template can say, and how it says what it cannot."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from krm_fn.errors import CompileError, EvaluationError
from krm_fn.lang.jinja import parse

TARGET = {
    "metadata": {"name": "web", "labels": {"b": "2", "a": "1"}},
    "spec": {"replicas": 3, "items": [{"n": 2}, {"n": 1}], "none": None, "on": True, "half": 0.5},
}
VARIABLES: dict[str, Any] = {
    "namespace": "shop",
    "target": TARGET,
    "select_key_parts": [0, "k"],
    "selected_item": None,
}


def render(text: str) -> str:
    return parse(text, "/spec/x").render(VARIABLES)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{{ target.metadata.name | upper }}-{{ namespace }}", "WEB-shop"),
        ("{{ target.spec.replicas + 1 }}", "4"),
        ("{{ target['spec']['items'][1].n }}", "1"),
        ("{{ target.spec.items }}", '[{"n": 2}, {"n": 1}]'),
        ("{{ target.spec.none }} {{ target.spec.on }} {{ target.spec.half }}", "null true 0.5"),
        ("{{ select_key_parts[0] }}/{{ select_key_parts[1] }}", "0/k"),
        ("{{ 'a' ~ 1 ~ none }}", "a1null"),
        ("{{ 1 < 2 < 3 }} {{ 1 in [1] }} {{ 'a' not in 'abc' }}", "true true false"),
        ("{{ [1, 2, 3][1:] }} {{ 'abc'[::-1] }} {{ 'abc'[-1] }}", "[2, 3] cba c"),
        ("{{ 7 // 2 }} {{ 7 % 4 }} {{ 2 ** 10 }} {{ -3 | abs }} {{ 4 / 2 }}", "3 3 1024 3 2.0"),
        ("{{ 'ab' * 2 }} {{ [1] + [2] }}", "abab [1, 2]"),
        ("{{ '%05d' % 3 }} {{ '%s=%s' % ('a', 1) }} {{ '%s-%s' | format('a', 'b') }}",
         "00003 a=1 a-b"),
        ("{{ 'a,b'.split(',') }} {{ 'abc'.replace('b', 'x') }} {{ '-'.join(['a', 1]) }}",
         '["a", "b"] axc a-1'),
        ("{{ target.metadata.labels.get('z', 'none') }}", "none"),
        ("{% for k, v in target.metadata.labels.items() %}{{ k }}={{ v }};{% endfor %}",
         "b=2;a=1;"),
        ("{% for k, v in target.metadata.labels | dictsort %}{{ k }}={{ v }};{% endfor %}",
         "a=1;b=2;"),
        ("{% for i in target.spec.items if i.n > 1 %}{{ loop.index }}:{{ i.n }}{% endfor %}",
         "1:2"),
        ("{% for i in [] %}x{% else %}nothing{% endfor %}", "nothing"),
        ("{% for i in [1, [2, [3]]] recursive %}{{ loop(i) if i is not number else i }}"
         "{% endfor %}", "123"),
        ("{% for i in range(3) %}{{ loop.cycle('a', 'b') }}{% endfor %}", "aba"),
        ("{{ target.spec.items | map(attribute='n') | sort | join('<') }}", "1<2"),
        ("{{ target.spec.items | selectattr('n', 'gt', 1) | list }}", '[{"n": 2}]'),
        ("{{ target.spec.items | sum('n') }} {{ [1, 'a', 'A'] | unique | list }}", '3 [1, "a"]'),
        ("{{ (target.spec.items | groupby('n'))[0].grouper }}", "1"),
        ("{{ target.spec.nope | default('d') }} {{ target.spec.nope is defined }}", "d false"),
        ("{{ dict(a=1) | tojson }}", '{"a": 1}'),
        ("{% macro f(x) %}<{{ x }}{{ caller() }}>{% endmacro %}{% call f(1) %}in{% endcall %}",
         "<1in>"),
        ("{% filter upper %}a{{ 1 }}{% endfilter %}", "A1"),
        ("{% set x %}y{{ 2 }}{% endset %}{{ x }}", "y2"),
        ("{% with a = 1 %}{{ a }}{% endwith %}", "1"),
        ("{% raw %}{{ a }}{% endraw %}{# said #}", "{{ a }}"),
        ("a\r\n", "a\n"),
        ("{{ 1 if false }}", ""),
    ],
)  # fmt: skip
def test_a_template_renders(text: str, expected: str) -> None:
    assert render(text) == expected


def test_what_stands_behind_a_dot_is_data_and_what_is_called_is_a_method() -> None:
    text = "{{ target.items }} {{ target.items() }}"
    assert parse(text, "x").render({"target": {"items": 1}}) == '1 [["items", 1]]'


def test_namespace_is_the_text_and_called_it_is_jinjas_function() -> None:
    text = (
        "{% set sum = namespace(n=0) %}"
        "{% for i in target.spec.items %}{% set sum.n = sum.n + i.n %}{% endfor %}"
        "{{ sum.n }} in {{ namespace }}"
    )
    assert render(text) == "3 in shop"


def test_a_template_gives_the_same_text_again_and_changes_nothing() -> None:
    template = parse("{% set x = target %}{{ x.spec | dictsort }}", "x")
    before = copy.deepcopy(VARIABLES)
    assert template.render(VARIABLES) == template.render(VARIABLES)
    assert before == VARIABLES


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{{ nope }}", "'nope' is undefined"),
        ("{{ nope + 1 }}", "'nope' is undefined"),
        ("{{ [nope] }}", "'nope' is undefined"),
        ("{{ nope == 1 }}", "'nope' is undefined"),
        ("{{ target.nope }}", "'dict object' has no attribute 'nope'"),
        ("{{ target.spec.items[9] }}", "list object has no element 9"),
        ("{{ 'x' + 1 }}", "+ does not take a text and a number"),
        ("{{ 1 / 0 }}", "division by zero"),
        ("{{ target() }}", "a map cannot be called"),
        ("{{ 'x'.format(1) }}", "a text has no method format; there are"),
        ("{{ target.update(a=1) }}", "a map has no method update; there are"),
        ("{{ [range] }}", "a function cannot be used as a value"),
        ("{{ {[1]: 2} }}", "unhashable type: 'list'"),
        ("{{ '%' % 1 }}", "a text before % has a placeholder that is none, or has a * in it"),
        ("{% for i in 3 %}{% endfor %}", "a number has no elements"),
        ("{{ '\\ud800' }}", "it prints half a character"),
    ],
)
def test_what_fails_is_an_error_with_the_reason(text: str, reason: str) -> None:
    with pytest.raises(EvaluationError) as caught:
        render(text)
    assert reason in caught.value.message


def test_an_error_says_the_line() -> None:
    with pytest.raises(EvaluationError) as caught:
        render("a\nb\n{{ nope }}")
    assert caught.value.message == "template: /spec/x:3: 'nope' is undefined"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a\n{{ 1 +}}", "template: /spec/x:2: unexpected 'end of print statement'"),
        ("{% for %}", "template: /spec/x:1: Expected an expression"),
        ("{% nope %}", "template: /spec/x:1: Encountered unknown tag 'nope'."),
        ("\n{% if x %}", "template: /spec/x:2: Unexpected end of template."),
        ("{{ x | nope }}", "template: /spec/x:1: there is no filter nope; there are abs, "),
        ("{{ x | random }}", "template: /spec/x:1: there is no filter random; "),
        ("{% if x is nope %}{% endif %}", "template: /spec/x:1: there is no test nope; "),
        ("{% include 'x' %}", "template: /spec/x:1: include is not available: a template stands"),
        ("{% extends 'x' %}", "template: /spec/x:1: extends is not available"),
        ("{% import 'x' as y %}", "template: /spec/x:1: import is not available"),
        ("{% from 'x' import y %}", "template: /spec/x:1: import is not available"),
        ("{% block a %}{% endblock %}", "template: /spec/x:1: block is not available"),
        ("{% autoescape true %}{% endautoescape %}", "template: /spec/x:1: autoescape is not"),
        ("{% call x.y() %}{% endcall %}", "template: /spec/x:1: call takes a macro"),
    ],
)
def test_what_does_not_compile_says_why_with_the_line(text: str, reason: str) -> None:
    with pytest.raises(CompileError) as caught:
        parse(text, "/spec/x")
    assert caught.value.message.startswith(reason)
