"""What Go says of texts that are no JSON."""

from __future__ import annotations

import pytest

from krm_fn.lang.go.json import NotJson, dump, parse, write


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
    with pytest.raises(NotJson) as caught:
        parse(text)
    assert caught.value.message == reason


def test_what_is_only_read_keeps_its_order_and_spelling() -> None:
    assert write(parse(' { "b" : 1.0 , "a" : [ "\\u0041" , null ] } ')) == (
        '{"b":1.0,"a":["\\u0041",null]}'
    )


def test_python_values_are_written_as_go_does() -> None:
    assert dump({"b": ["<&>", 1, True, None], "a": "\x01\b"}) == (
        '{"b":["\\u003c\\u0026\\u003e",1,true,null],"a":"\\u0001\\b"}'
    )
