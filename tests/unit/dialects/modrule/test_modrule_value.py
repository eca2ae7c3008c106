from __future__ import annotations

from typing import Any

import pytest

from krm_fn.dialects.modrule.value import read_value
from krm_fn.errors import EvaluationError


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", None),
        ("# only a comment", None),
        ("~", None),
        ("hello", "hello"),
        ("8080", 8080),
        ('"8080"', "8080"),
        ("1.50", 1.5),
        ("2.0", 2),
        ("1e3", 1000),
        ("010", 8),
        ("08", 8),
        ("0x1F", 31),
        ("1_000", 1000),
        ("1:30", "1:30"),
        ("nginx:1.14", "nginx:1.14"),
        ("2020-01-01", "2020-01-01"),
        ("yes", True),
        ("off", False),
        ("nO", "nO"),
        ('"false"', "false"),
        ("9007199254740993", 9007199254740993),
        ("!!merge <<", "<<"),
    ],
)
def test_a_scalar_is_what_the_yaml_reader_of_the_api_server_makes_of_it(
    text: str, value: Any
) -> None:
    read = read_value(text)
    assert read == value
    assert type(read) is type(value)


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("y: 1", "true"),
        ("off: 1", "false"),
        ("0x10: 1", "16"),
        ("1.5: 1", "1.5"),
        ("1e6: 1", "1e+06"),
        ("0.1: 1", "0.1"),
        ("3.14159265358979: 1", "3.1415927"),
        ("1e100: 1", ".inf"),
        ("-.inf: 1", "-.inf"),
        (".nan: 1", ".nan"),
        ("9223372036854775807: 1", "9223372036854775807"),
    ],
)
def test_a_key_that_is_no_text_is_printed_as_one(text: str, key: str) -> None:
    assert read_value(text) == {key: 1}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{{ .x }}", "a map key is a map or a list"),
        ("~: 1", "a map key is null"),
        ("9223372036854775808: 1", "quote it"),
        ("a: b: c", "not valid YAML"),
        ("\ta: 1", "spaces"),
        ("*nobody", "unknown anchor"),
        (".inf", ".nan or .inf"),
        ("[.nan]", ".nan or .inf"),
        ("!!int x", "cannot decode"),
    ],
)
def test_a_text_that_has_no_json_says_why(text: str, reason: str) -> None:
    with pytest.raises(EvaluationError) as caught:
        read_value(text)
    assert reason in caught.value.message
    assert caught.value.message.count("not valid YAML") <= 1


def test_only_the_first_document_counts() -> None:
    assert read_value("---\na: 1\n---\nb: [") == {"a": 1}


def test_the_last_of_equal_keys_wins() -> None:
    assert read_value("{a: 1, b: 2, a: 3}") == {"a": 3, "b": 2}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("{<<: {a: 1}, a: 9}", {"a": 9}),
        ("{a: 9, <<: {a: 1}}", {"a": 1}),
        ("{<<: [{a: 1}, {a: 2, b: 2}]}", {"a": 1, "b": 2}),
    ],
)
def test_a_merge_overrides_what_stands_before_it(text: str, value: Any) -> None:
    assert read_value(text) == value


def test_an_alias_is_the_value_of_its_anchor() -> None:
    read = read_value("a: &x {y: 2.0, l: [&s text]}\nb: *x\nc: [*s]")
    assert read == {"a": {"true": 2, "l": ["text"]}, "b": {"true": 2, "l": ["text"]}, "c": ["text"]}
    assert read["b"] is read["a"]


@pytest.mark.parametrize(
    "word",
    ["web-1", "a.b/c_d", "nO", "No", "yES", "Yes", "tRue", "True", "N", "Null", "NULL", "nUll",
     "Off", "oN", "e1", "E5", "inf", "nan", "x1e6", "b0101", "y.", "on-"],
)  # fmt: skip
def test_a_single_word_is_read_as_among_other_words(word: str) -> None:
    alone, (among,) = read_value(word), read_value(f"[{word}]")
    assert (type(alone), alone) == (type(among), among)
