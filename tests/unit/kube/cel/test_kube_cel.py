"""CEL in admission: what each release has, lazy variables, what expressions may cost together.

What the libraries do is in tests/conformance/policies, expression by expression.
"""

from __future__ import annotations

from typing import Any

import pytest

from krm_fn.errors import CompileError, EvaluationError, LimitError
from krm_fn.kube.cel import (
    STORED,
    Pool,
    PoolError,
    Variables,
    environment,
    evaluate,
    json_patch,
    object_patch,
    parse_version,
    version_of_new,
)
from krm_fn.lang.cel import types

SINCE = [
    ("[1].isSorted()", (1, 28)),
    ("quantity('1Gi').isGreaterThan(quantity('1Mi'))", (1, 28)),
    ("url('http://a').getHost()", (1, 28)),
    ("sets.contains([1], [1])", (1, 29)),
    ("'%d'.format([1])", (1, 29)),
    ("ip('10.0.0.1').family()", (1, 30)),
    ("cidr('10.0.0.0/8').containsIP('10.0.0.1')", (1, 30)),
    ("format.dns1123Label()", (1, 31)),
    ("{'a': 1}.all(k, v, v == 1)", (1, 32)),
    ("semver('1.2.3').major()", (1, 33)),
    ("lists.range(3)", (1, 34)),
    ("[1].includes(1)", (1, 37)),
]


def compiles(text: str, version: tuple[int, int]) -> bool:
    try:
        environment(version).compile(text)
    except CompileError:
        return False
    return True


@pytest.mark.parametrize(("text", "since"), SINCE)
def test_a_function_is_there_from_its_release_on(text: str, since: tuple[int, int]) -> None:
    minors = range(28, 38)
    assert [compiles(text, (1, minor)) for minor in minors] == [
        (1, minor) >= since for minor in minors
    ]
    assert compiles(text, STORED)


@pytest.mark.parametrize(
    ("text", "version"), [("1.33", (1, 33)), ("v1.33", (1, 33)), ("1.33.4", (1, 33))]
)
def test_a_version_is_read_without_its_patch(text: str, version: tuple[int, int]) -> None:
    assert parse_version(text) == version


def test_patches_are_made_in_mutations_only() -> None:
    with pytest.raises(CompileError, match="undeclared reference"):
        environment().compile("Object{spec: Object.spec{replicas: 1}}")
    environment(mutation=True).compile("Object{spec: Object.spec{replicas: 1}}")


def test_params_are_there_where_the_policy_has_a_kind_of_them() -> None:
    with pytest.raises(CompileError, match="undeclared reference to 'params'"):
        environment().compile("params.a")
    assert environment(params=True).compile("params.a").evaluate({"params": {"a": 1}}) == 1


def test_request_has_the_fields_of_a_request_and_no_others() -> None:
    environment().compile("request.operation == 'CREATE' && request.kind.group == 'apps'")
    with pytest.raises(CompileError, match="undefined field 'nope'"):
        environment().compile("request.nope")


# Variables


def bound(names: dict[str, str], value: Any = None) -> tuple[Variables, dict[str, Any]]:
    made = Variables(environment())
    for name, text in names.items():
        made.add(name, text)
    return made, dict(made.bind({"object": value}))


def value_of(text: str, names: dict[str, str], value: Any = None) -> Any:
    made, bindings = bound(names, value)
    return made.extend(environment()).compile(text).evaluate(bindings)


def test_a_variable_sees_those_before_it() -> None:
    names = {"a": "object.n + 1", "b": "variables.a * 2"}
    assert value_of("variables.b", names, {"n": 2}) == 6


def test_a_variable_that_nobody_reads_may_fail() -> None:
    assert value_of("variables.good", {"bad": "1 / object.n", "good": "7"}, {"n": 0}) == 7


def test_a_variable_that_fails_says_its_name_to_its_reader() -> None:
    with pytest.raises(EvaluationError, match='variable "bad" fails to evaluate: division by zero'):
        value_of("variables.bad", {"bad": "1 / object.n"}, {"n": 0})


def test_a_variable_that_does_not_compile_says_so_to_its_reader() -> None:
    with pytest.raises(EvaluationError, match='variable "bad" fails to compile'):
        value_of("variables.bad == 1", {"bad": "nope"})


def test_a_variable_is_evaluated_once() -> None:
    made = Variables(environment())
    made.add("sum", "object.list.map(x, x * 2)")
    pool = Pool(recordings=[])
    bindings = made.bind({"object": {"list": list(range(20))}}, pool)
    program = made.extend(environment()).compile("variables.sum == variables.sum")
    assert program.evaluate(bindings) is True
    assert [one.variable for one in pool.recordings or ()] == ["sum"]


def test_a_variable_keeps_its_type() -> None:
    made, _ = bound({"n": "object.list.size()"})
    with pytest.raises(CompileError, match="no matching overload"):
        made.extend(environment()).compile("variables.n + 'a'")


# What expressions may cost together


def test_expressions_of_a_policy_share_what_they_may_cost() -> None:
    program = environment().compile("object.list.all(x, x >= 0)", [types.BOOL])
    bindings = {"object": {"list": list(range(100))}}
    pool = Pool(1_000)
    assert evaluate(program, bindings, pool).value is True
    pool.spend(pool.left)
    with pytest.raises(PoolError, match="running out of cost budget"):
        evaluate(program, bindings, pool)


def test_one_expression_that_costs_too_much_is_its_own_error() -> None:
    program = environment().compile("object.list.all(a, object.list.all(b, a + b >= 0))")
    with pytest.raises(LimitError, match="actual cost limit exceeded") as caught:
        evaluate(program, {"object": {"list": list(range(1_000))}}, Pool())
    assert not isinstance(caught.value, PoolError)


# Patches


def test_an_object_is_the_json_to_merge() -> None:
    program = environment(mutation=True).compile(
        "Object{spec: Object.spec{replicas: 3, names: ['a'], empty: Object.spec.empty{}}}"
    )
    made = evaluate(program, {}, Pool())
    assert object_patch(made.value, (), made.joined) == {
        "spec": {"replicas": 3, "names": ["a"], "empty": {}}
    }


def test_a_list_of_patches_is_a_json_patch() -> None:
    program = environment(mutation=True).compile(
        "[JSONPatch{op: 'add', path: '/metadata/labels/' + jsonpatch.escapeKey('a/b'), value: 'c'}]"
    )
    (operation,) = json_patch(evaluate(program, {}, Pool()).value)
    assert operation == {"op": "add", "path": "/metadata/labels/a~1b", "value": "c"}


@pytest.mark.parametrize(
    ("expression", "first"),
    [
        ("cidr('10.0.0.0/8').prefixLength() == 8", (1, 31)),
        ("semver('1.2.3').major() == 1", (1, 34)),
        ("lists.range(2).size() == 2", (1, 35)),
        ("[1].includes(1)", (1, 38)),
    ],
)
def test_a_new_expression_may_use_a_library_a_release_after_it_came(
    expression: str, first: tuple[int, int]
) -> None:
    environment(version_of_new(first)).compile(expression)
    with pytest.raises(CompileError, match="undeclared reference"):
        environment(version_of_new((1, first[1] - 1))).compile(expression)


def doubled(start: str, times: int) -> str:
    """An expression for the size of what is doubled so many times."""
    made = f"[{start}]"
    for n in range(times):
        made = f"[{made}.map(x{n}, x{n} + x{n})[0]]"
    return f"{made[1:-1]}.size()"


@pytest.mark.parametrize(
    ("expression", "size"),
    [
        (doubled("[1, 1, 1, 1, 1, 1, 1, 1, 1, 1]", 20), 10_485_760),
        ("'abcdefghij'" + ".replace('a', 'aaaaaaaaaa')" * 7 + ".size()", 10_000_009),
    ],
)
def test_what_an_api_server_makes_within_its_budget_is_made(expression: str, size: int) -> None:
    assert environment().compile(expression).evaluate({}) == size


@pytest.mark.parametrize(
    "expression",
    [
        doubled("[1, 1, 1, 1, 1, 1, 1, 1, 1, 1]", 21),
        doubled("dyn('x')", 40),
        "'a'" + ".replace('a', 'aaaaaaaaaa')" * 8 + ".size()",
        "'%.100000000f'.format([1.5])",
        "[object.list].map(x, dyn(x)).map(x, [x, x, x, x, x, x, x, x, x, x].flatten())",
    ],
)
def test_what_costs_little_but_grows_without_end_is_refused(expression: str) -> None:
    program = environment().compile(expression)
    with pytest.raises(LimitError):
        program.evaluate({"object": {"list": list(range(3_000_000))}})


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("google.protobuf.FloatValue{value: 0.1}", 0.10000000149011612),
        ("google.protobuf.FloatValue{value: 1e40}", float("inf")),
        ("google.protobuf.FloatValue{value: -1e-50}", -0.0),
        ("google.protobuf.FloatValue{value: 16777217.0}", 16777216.0),
        ("quantity('1').sub(-9223372036854775808).asInteger()", -9223372036854775807),
        ("quantity('0').sub(-9223372036854775808).asInteger()", -9223372036854775808),
        ("quantity('-1').sub(-9223372036854775808).isInteger()", False),
        ("quantity('0.5').sub(-9223372036854775808).isInteger()", False),
        ("quantity('1').sub(quantity('0.000')).isInteger()", True),
    ],
)
def test_numbers_are_those_of_go(expression: str, value: Any) -> None:
    computed = environment().compile(expression).evaluate({})
    assert (computed, str(computed)) == (value, str(value))


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("object.least % -1", "integer overflow"),
        ("object.least / -1", "integer overflow"),
        ("-object.least", "integer overflow"),
        ("google.protobuf.Any{}", "unsupported conversion to ref.Val: (*dynamicpb.Message)"),
        (
            "google.protobuf.Int32Value{value: 2147483648}",
            "field type conversion error for google.protobuf.Int32Value.value value type: integer "
            "overflow",
        ),
    ],
)
def test_errors_are_those_of_go(expression: str, message: str) -> None:
    program = environment().compile(expression)
    with pytest.raises(EvaluationError) as caught:
        program.evaluate({"object": {"least": -(2**63)}})
    assert caught.value.message == message
