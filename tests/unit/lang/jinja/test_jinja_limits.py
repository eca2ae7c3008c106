"""Templates that mean harm end soon, with an error that says which limit they met."""

from __future__ import annotations

import pytest

from krm_fn.errors import CompileError, EvaluationError, LimitError
from krm_fn.lang.jinja import parse
from tests.steps import calls

"""Seconds, far above what any of these takes and far below what they would take unchecked."""


@pytest.mark.parametrize(
    "text",
    [
        "{{ ''.__class__ }}",
        "{{ target['__class__'] }}",
        "{{ target.__class__.__mro__ }}",
        "{{ range.__globals__ }}",
        "{{ self.__init__ }}",
        "{% macro f() %}{% endmacro %}{{ f.__call__ }}",
        "{% macro f() %}{% endmacro %}{{ f.name }}",
        "{% for x in [1] %}{{ loop._iterator }}{% endfor %}",
        "{% set n = namespace() %}{{ n._Namespace__attrs }}",
        "{{ '{0.__class__}'.format(1) }}",
        "{{ [1] | map(attribute='__class__') | list }}",
        "{{ [''] | groupby('__class__') }}",
        "{{ [1] | map('attr', '__class__') | list }}",
        "{{ ['x'] | map('(paid)', -1000000) | list }}",
        "{{ [].append(1) }}",
        "{{ target.pop('a') }}",
        "{{ lipsum() }}",
        "{{ cycler('a') }}",
        "{{ joiner() }}",
    ],
)
def test_nothing_of_python_is_within_reach(text: str) -> None:
    with pytest.raises(EvaluationError):
        parse(text, "x").render({"target": {"a": 1}})


@pytest.mark.parametrize(
    "text",
    [
        "{{ range(1000000000) }}",
        "{% for i in range(1000) %}{% for j in range(1000) %}{{ i }}{% endfor %}{% endfor %}",
        "{% for i in range(1000) %}{% for j in range(1000) %}{% endfor %}{% endfor %}",
        "{% for i in range(999) %}{% for j in range(999) if j < 0 %}{% endfor %}{% endfor %}",
        "{{ 9 ** 9 ** 99 }}",
        "{% set n = namespace(x=3) %}{% for i in range(99) %}{% set n.x = n.x * n.x %}"
        "{% endfor %}",
        "{{ 'a' * 1000000000 }}",
        "{{ 1000000000 * [1] }}",
        "{{ '%999999999d' % 1 }}",
        "{{ '%.999999999f' | format(1) }}",
        "{{ ('%9d' * 200000) % {} }}",
        "{{ 'a' | indent(999999999) }}",
        "{{ ('a\n' * 1000) | indent('b' * 10000) }}",
        "{{ ['a'] | map('indent', 999999999) | list }}",
        "{{ 'a'.zfill(999999999) }}",
        "{{ 'a'.ljust(999999999) }}",
        "{{ ('a' * 1000000) | replace('a', 'b' * 1000000) }}",
        "{{ ('a' * 1000000).replace('', 'b' * 1000) }}",
        "{{ ('b' * 1000).join('a' * 1000000) }}",
        "{{ (['b' * 1000000] * 1000) | join }}",
        "{{ ('a' * 1000000).rfind('b' ~ 'a' * 500000) }}",
        "{{ ('a' * 1000000).strip('b' * 1000000 ~ 'a') }}",
        "{{ ('a' * 1000000) | trim('b' * 1000000 ~ 'a') }}",
        "{{ ('1' * 1000000) | int(0, 16) }}",
        "{% set n = namespace(x='a') %}{% for i in range(99) %}{% set n.x = n.x ~ n.x %}"
        "{% endfor %}",
        "{% set n = namespace(x=[1]) %}{% for i in range(99) %}{% set n.x = n.x + n.x %}"
        "{% endfor %}",
        "{% set n = namespace(x=[1]) %}{% for i in range(99) %}{% set n.x = [n.x, n.x] %}"
        "{% endfor %}{{ n.x }}",
        "{% set n = namespace(x=[1], y=[1]) %}{% for i in range(99) %}{% set n.x = [n.x, n.x] %}"
        "{% set n.y = [n.y, n.y] %}{% endfor %}{{ n.x == n.y }}",
        "{% set n = namespace(x=[1]) %}{% for i in range(9999) %}{% set n.x = [n.x] %}"
        "{% endfor %}{{ n.x }}",
        "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}",
        "{% macro f(n) %}{% if n %}{{ f(n - 1) }}{{ f(n - 1) }}{% endif %}{% endmacro %}"
        "{{ f(40) }}",
        "{% macro g() %}{{ caller() }}{% endmacro %}"
        "{% macro f() %}{% call g() %}{{ f() }}{% endcall %}{% endmacro %}{{ f() }}",
        "{% for x in [1] recursive %}{{ loop([1]) }}{% endfor %}",
        "{% for x in [1, 2] recursive %}{{ loop([1, 2]) if loop.depth < 40 }}{% endfor %}",
        "{% for i in range(20000) %}" + "x" * 10000 + "{% endfor %}",
        "{% macro f() %}" + "x" * 10000 + "{% endmacro %}"
        "{% for i in range(20000) %}{% set x = f() %}{% endfor %}",
        "{% set n = namespace(x='a' * 1000000) %}"
        "{% for i in range(9999) %}{% set x = n.x == n.x %}{% endfor %}",
    ],
)  # fmt: skip
def test_what_would_run_away_is_stopped(text: str) -> None:
    def render() -> None:
        with pytest.raises(LimitError):
            parse(text, "x").render({})

    calls(render, at_most=20_000_000)


@pytest.mark.parametrize(
    "text",
    [
        "{{ '%999999999d' is odd }}",
        "{{ '%999999999d' is divisibleby 3 }}",
        "{{ '%999999999d' | round(3, 'ceil') }}",
        "{{ 1 | round(99999999, 'ceil') }}",
        "{{ [[1], [2]] | sum(start=[]) }}",
        "{{ '%*d' % (999999999, 1) }}",
        "{{ '%(a(b)c)999999999d' % {'a(b)c': 1} }}",
        "{{ [1] | tojson(999999999) }}",
    ],
)
def test_what_takes_a_text_for_a_number_is_refused(text: str) -> None:
    with pytest.raises(EvaluationError):
        parse(text, "x").render({})


DEEP = 20_000


@pytest.mark.parametrize(
    "text",
    [
        "{{ " + "(" * DEEP + "1" + ")" * DEEP + " }}",
        "{{ " + "[" * 199 + "]" * 199 + " }}",
        "{{ " + "not " * DEEP + "1 }}",
        "{{ " + "1 + " * DEEP + "1 }}",
        "{{ x" + ".a" * DEEP + " }}",
        "{{ x" + "|upper" * DEEP + " }}",
        "{% if 1 %}" * 5000 + "{% endif %}" * 5000,
        "{% for i in [1] %}" * 30 + "{% endfor %}" * 30,
        "{{ 1 }}" * 9999,
        "a" * 1_000_000 + "{{ 1 }}",
        "{{ " + "9" * 5000 + " }}",
        "{{ 0x" + "9" * 5000 + " }}",
        "{{ 1e999 }}",
        "{{" * DEEP,
        "{% raw %}" * DEEP,
    ],
)
def test_what_is_too_deep_or_too_large_does_not_compile(text: str) -> None:
    def read() -> None:
        with pytest.raises(CompileError) as caught:
            parse(text, "x")
        assert caught.value.message.startswith("template: x:")

    calls(read, at_most=5_000_000)


def test_a_number_of_any_size_in_the_object_can_be_printed() -> None:
    assert parse("{{ n }}", "x").render({"n": 10**400}) == str(10**400)
