"""What Go says of texts that are no JSON."""

from __future__ import annotations

import pytest

from krm_fn.errors import LimitError
from krm_fn.lang.go.json.encode import float_text, marshal, quote, write
from krm_fn.lang.go.json.scanner import NotJsonError, parse
from krm_fn.lang.go.release import Release
from krm_fn.lang.go.values import GoError


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "unexpected end of JSON input"),
        (" {", "unexpected end of JSON input"),
        ('{"a"', "unexpected end of JSON input"),
        ('"a', "unexpected end of JSON input"),
        ("tru", "unexpected end of JSON input"),
        ("-", "unexpected end of JSON input"),
        ("rules", "invalid character 'r' looking for beginning of value"),
        ("[1,]", "invalid character ']' looking for beginning of value"),
        ('{"a":1,}', "invalid character '}' looking for beginning of object key string"),
        ("{'a':1}", r"invalid character '\'' looking for beginning of object key string"),
        ('{"a" 1}', "invalid character '1' after object key"),
        ('{"a":1 "b"}', "invalid character '\"' after object key:value pair"),
        ("[1 2]", "invalid character '2' after array element"),
        ("{}x", "invalid character 'x' after top-level value"),
        ("trap", "invalid character 'a' in literal true (expecting 'u')"),
        ('"\t"', r"invalid character '\t' in string literal"),
        (r'"\x"', "invalid character 'x' in string escape code"),
        (r'"\u12g4"', r"invalid character 'g' in \u hexadecimal character escape"),
        ("-a", "invalid character 'a' in numeric literal"),
        ("1.x", "invalid character 'x' after decimal point in numeric literal"),
        ("1e+x", "invalid character 'x' in exponent of numeric literal"),
        ("01", "invalid character '1' after top-level value"),
        ("é", "invalid character 'Ã' looking for beginning of value"),
    ],
)
def test_the_reason_is_gos(text: str, reason: str) -> None:
    with pytest.raises(NotJsonError) as caught:
        parse(text)
    assert caught.value.message == reason


def test_what_is_only_read_keeps_its_order_and_spelling() -> None:
    assert write(parse(' { "b" : 1.0 , "a" : [ "\\u0041" , null ] } ')) == (
        '{"b":1.0,"a":["\\u0041",null]}'
    )


def test_python_values_are_written_as_go_does() -> None:
    value = {"b": ["<&>", 1, True, None, 1e16, 1e21, 1e-7], "a": "\x01\b"}
    assert marshal(value) == (
        '{"a":"\\u0001\\b","b":["\\u003c\\u0026\\u003e",1,true,null,10000000000000000,1e+21,1e-7]}'
    )


def test_the_fields_of_a_struct_keep_their_order() -> None:
    assert marshal({"b": {"d": 1, "c": 2}, "a": 3}, sort=False) == '{"b":{"d":1,"c":2},"a":3}'


def test_older_releases_write_backspace_and_form_feed_as_numbers() -> None:
    assert quote("\b\f\n<", Release.GO_1_18) == '"\\u0008\\u000c\\n\\u003c"'
    assert quote("\b\f\n<", html=False) == '"\\b\\f\\n<"'


def test_what_is_no_character_is_written_as_a_replacement() -> None:
    assert quote("\ud800") == '"\\ufffd"'


def test_an_infinite_float_has_no_json() -> None:
    with pytest.raises(GoError, match=r"^json: unsupported value: \+Inf$"):
        float_text(float("inf"))


def test_nesting_is_bounded_before_it_is_read() -> None:
    with pytest.raises(LimitError, match="JSON nests deeper than 1,000"):
        parse("[" * 1_001)
    assert parse('"' + "[" * 1_001 + '"') == '"' + "[" * 1_001 + '"'
