from __future__ import annotations

from typing import Any

import pytest

from krm_fn.lang.go.json.scanner import parse
from krm_fn.lang.go.json.unmarshal import kind_of, kind_of_node, type_error, value_of

KINDS = [
    ("null", "null"),
    ("true", "bool"),
    ('"null"', "string"),
    ("1e3", "number"),
    ("[]", "array"),
    ("{}", "object"),
]


@pytest.mark.parametrize(("text", "kind"), KINDS)
def test_go_has_a_word_for_each_kind_of_value(text: str, kind: str) -> None:
    node = parse(text)
    assert kind_of_node(node) == kind
    assert kind_of(value_of(node)) == kind


@pytest.mark.parametrize(
    ("text", "value"),
    [('{"a":1,"b":[true,null],"a":2.5}', {"a": 2.5, "b": [True, None]}), ('"\\u0041"', "A")],
)
def test_what_was_read_has_a_value(text: str, value: Any) -> None:
    assert value_of(parse(text)) == value


def test_a_number_of_many_digits_is_read_at_once() -> None:
    assert value_of(parse("9" * 100_000)) > 2**64


def test_the_error_names_the_field_if_there_is_one() -> None:
    assert type_error("number 1.5", "int32") == (
        "json: cannot unmarshal number 1.5 into Go value of type int32"
    )
    assert type_error("array", "string", "Container", ("spec", "image")) == (
        "json: cannot unmarshal array into Go struct field Container.spec.image of type string"
    )
