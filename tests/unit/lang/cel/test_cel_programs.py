"""What a caller of `krm_fn.lang.cel` counts on: environments, programs, values, errors, limits.

What the language itself does is in tests/conformance/policies, expression by expression.
"""

from __future__ import annotations

from typing import Any

import pytest

from krm_fn import limits
from krm_fn.errors import CompileError, EvaluationError, LimitError
from krm_fn.lang.cel import (
    LISTS,
    OPTIONALS,
    STANDARD,
    STRINGS,
    Budget,
    Duration,
    Environment,
    Library,
    Timestamp,
    UInt,
    types,
)

ENV = Environment({"x": types.DYN, "n": types.INT}, [STANDARD, STRINGS, LISTS, OPTIONALS])


def value_of(text: str, **bindings: Any) -> Any:
    return ENV.compile(text).evaluate(bindings)


@pytest.mark.parametrize(
    ("text", "value", "kind"),
    [
        ("1 + 2", 3, "int"),
        ("1u + 2u", UInt(3), "uint"),
        ("1.0 + 2.0", 3.0, "double"),
        ("'a' + 'b'", "ab", "string"),
        ("b'a'", b"a", "bytes"),
        ("true && !false", True, "bool"),
        ("null", None, "null_type"),
        ("duration('1m') + duration('1ns')", Duration(60_000_000_001), "google.protobuf.Duration"),
        ("timestamp('1970-01-01T00:00:01Z')", Timestamp(10**9), "google.protobuf.Timestamp"),
        ("x.a", 7, "dyn"),
    ],
)
def test_values_are_those_of_python_where_these_will_do(text: str, value: Any, kind: str) -> None:
    program = ENV.compile(text)
    assert str(program.type) == kind
    found = program.evaluate({"x": {"a": 7}})
    assert found == value
    assert type(found) is type(value)


def test_a_program_names_the_variables_that_it_reads() -> None:
    assert ENV.compile("x.a == 1 || n == 2").variables == {"x", "n"}


def test_a_variable_of_a_macro_is_not_one_of_the_program() -> None:
    assert ENV.compile("[1].all(x, x > 0)").variables == frozenset()


def test_a_program_can_be_evaluated_on_any_number_of_bindings() -> None:
    program = ENV.compile("x.replicas > 1")
    assert [program.evaluate({"x": {"replicas": n}}) for n in (0, 1, 2)] == [False, False, True]


def test_a_value_is_read_in_place_and_never_changed() -> None:
    value = {"list": [3, 1, 2]}
    assert value_of("x.list.sort()[0] + x.list.size()", x=value) == 4
    assert value == {"list": [3, 1, 2]}


def test_a_part_that_is_not_needed_may_fail() -> None:
    assert value_of("true || x.nope", x={}) is True
    assert value_of("x.nope || true", x={}) is True
    assert value_of("false && 1 / 0 == 1") is False


def test_a_variable_that_is_not_bound_fails_only_where_it_is_read() -> None:
    program = ENV.compile("n > 1 || x.a")
    assert program.evaluate({"n": 2}) is True
    with pytest.raises(EvaluationError, match="no such attribute"):
        program.evaluate({"n": 1})


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("1 +", "Syntax error"),
        ("nope", "undeclared reference to 'nope'"),
        ("1 + 'a'", r"found no matching overload for '_\+_' applied to '\(int, string\)'"),
        ("[1, 'a']", "expected type 'int' but found 'string'"),
        ("'a'.nope()", "undeclared reference to 'nope'"),
        ("n.a", "type 'int' does not support field selection"),
        ("'a'.matches('(')", "invalid matches argument"),
        ("duration('soon')", "invalid duration argument"),
        ("'%d'.format(['a'])", "decimal clause can only be used on integers"),
    ],
)
def test_what_can_be_known_to_fail_is_an_error_of_compilation(text: str, says: str) -> None:
    with pytest.raises(CompileError, match=says):
        ENV.compile(text)


def test_an_error_of_compilation_points_to_the_place() -> None:
    with pytest.raises(CompileError) as caught:
        ENV.compile("true &&\n  nope")
    assert caught.value.message == (
        "compilation failed: ERROR: <input>:2:3: undeclared reference to 'nope'"
        " (in container '')\n |   nope\n | ..^"
    )


def test_the_static_type_can_be_demanded() -> None:
    assert ENV.compile("n > 1", [types.BOOL]).type is types.BOOL
    with pytest.raises(CompileError, match="must evaluate to bool but got int"):
        ENV.compile("n", [types.BOOL])


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("x.b", "no such key: b"),
        ("x.list[5]", "index out of bounds: 5"),
        ("1 / (n - n)", "division by zero"),
        ("9223372036854775807 + n", "integer overflow"),
        ("uint(-n)", "unsigned integer overflow"),
        ("x.a < x.list", "no such overload"),
        ("x.a.matches('a')", "no such overload"),
        ("int(x.text)", "type conversion error from 'string' to 'int'"),
    ],
)
def test_a_failure_has_the_words_of_the_api_server(text: str, says: str) -> None:
    with pytest.raises(EvaluationError, match=says):
        value_of(text, x={"a": 1, "list": [1], "text": "many"}, n=1)


@pytest.mark.parametrize("name", ["__class__", "__dict__", "get", "items", "_fields"])
def test_what_python_objects_have_cannot_be_reached(name: str) -> None:
    with pytest.raises(EvaluationError, match="no such key"):
        value_of(f"x.{name}", x={})
    with pytest.raises(CompileError, match="undeclared reference"):
        ENV.compile(f"x.{name}()")


def test_true_is_no_number_and_one_is_no_key_of_true() -> None:
    assert value_of("x == 1", x=True) is False
    assert value_of("dyn({1: 'a'})[dyn(1u)]") == "a"
    with pytest.raises(EvaluationError, match="no such key"):
        value_of("dyn({1: 'a'})[dyn(true)]")


def test_a_library_that_is_not_given_is_not_there() -> None:
    bare = Environment({}, [STANDARD])
    with pytest.raises(CompileError, match="undeclared reference to 'lowerAscii'"):
        bare.compile("'A'.lowerAscii()")
    with_strings = bare.extend(libraries=[STRINGS])
    assert with_strings.compile("'A'.lowerAscii()").evaluate({}) == "a"


def test_an_environment_that_is_extended_stays_as_it_was() -> None:
    ENV.extend({"y": types.STRING})
    with pytest.raises(CompileError, match="undeclared reference to 'y'"):
        ENV.compile("y")


def test_an_environment_without_libraries_has_only_literals() -> None:
    assert Environment({}, [Library()]).compile("'a'").evaluate({}) == "a"


# Limits


def test_an_expression_may_cost_so_much_and_no_more() -> None:
    program = ENV.compile("x.all(a, x.all(b, a + b >= 0))")
    assert program.evaluate({"x": list(range(50))}) is True
    with pytest.raises(LimitError, match="actual cost limit exceeded"):
        program.evaluate({"x": list(range(1_000))})


def test_a_budget_is_shared_by_those_who_are_given_it() -> None:
    program = ENV.compile("x.all(a, a >= 0)")
    budget = Budget(1_000)
    program.evaluate({"x": list(range(50))}, budget)
    spent = budget.used
    assert 50 <= spent < 1_000
    budget.spend(budget.left)
    with pytest.raises(LimitError):
        program.evaluate({"x": list(range(50))}, budget)


def test_a_text_that_is_too_long_is_refused_before_it_is_read() -> None:
    with pytest.raises(CompileError, match="code point size exceeds limit") as caught:
        ENV.compile("(" * (limits.CEL_SOURCE + 1))
    assert len(caught.value.message) < 500


def test_brackets_may_nest_so_deep_and_no_deeper() -> None:
    assert value_of("(" * 80 + "1" + ")" * 80) == 1
    with pytest.raises(CompileError, match="recursion limit exceeded"):
        ENV.compile("(" * 300 + "1" + ")" * 300)


def test_a_value_deeper_than_the_stack_of_python_is_walked() -> None:
    deep: Any = "end"
    for _ in range(900):
        deep = {"a": deep}
    assert value_of("x == x", x=deep) is True
