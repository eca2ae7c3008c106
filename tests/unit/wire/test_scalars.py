from __future__ import annotations

import ast
import json
import math
from typing import Any

import pytest
import yaml

from krm_fn.wire.compose import Reader, compose
from krm_fn.wire.scalars import (
    MERGE,
    TagError,
    Word,
    key_text,
    needs_quotes,
    resolve_go_yaml,
    resolve_sigs,
    resolve_tagged,
    write_double_quoted,
    write_scalar,
)


def table(text: str) -> list[tuple[str, Any]]:
    """Rows of a text and, behind a bar, its value as Python writes it."""
    rows = [row.rsplit(" | ", 1) for row in text.strip("\n").splitlines()]
    return [(scalar.strip(), ast.literal_eval(value)) for scalar, value in rows]


def words(text: str) -> list[str]:
    return text.split()


SAME = words("""yess oN tRUE nULL 0o8 0b2 0x 0xg 1e 1:30 22:22 190:20:30 2001-12-14
2001-12-14T21:59:43Z 1e999 inf NaN = - + . _ 1.2.3 a nginx:1.25 100m 1Gi v1""")
OTHER = table("""
 | None
~ | None
null | None
Null | None
NULL | None
true | True
True | True
TRUE | True
false | False
False | False
FALSE | False
0 | 0
-0 | 0
+1 | 1
-12 | -12
1_000 | 1000
1__0_ | 10
0755 | 493
0o755 | 493
-0o17 | -15
0x1F | 31
0X1f | 31
0b101 | 5
089 | 89.0
09 | 9.0
1e3 | 1000.0
1E+3 | 1000.0
1234e5 | 123400000.0
1.5 | 1.5
1. | 1.0
.5 | 0.5
+.5 | 0.5
-1.5e-3 | -0.0015
9223372036854775807 | 9223372036854775807
9223372036854775808 | 9223372036854775808
18446744073709551615 | 18446744073709551615
18446744073709551616 | 18446744073709551616.0
-9223372036854775808 | -9223372036854775808
-9223372036854775809 | -9223372036854775809.0
.inf | 1e999
+.INF | 1e999
-.Inf | -1e999
""")
RESOLVED = [*[(text, text) for text in SAME], *OTHER]


@pytest.mark.parametrize(("text", "value"), RESOLVED)
def test_plain_scalars_mean_what_go_yaml_says(text: str, value: Any) -> None:
    actual = resolve_go_yaml(text)
    assert actual == value
    assert type(actual) is type(value)


@pytest.mark.parametrize("text", words("y Y yes Yes YES on On ON n N no No NO off Off OFF"))
def test_a_word_is_a_text_that_knows_which_boolean_it_is_to_kubectl(text: str) -> None:
    actual = resolve_go_yaml(text)
    assert type(actual) is Word
    assert actual == text
    assert actual.boolean is resolve_sigs(text)


def test_not_a_number_is_a_number() -> None:
    assert math.isnan(resolve_go_yaml(".nan"))
    assert resolve_go_yaml("NaN") == "NaN"


def test_the_merge_key_is_told_from_the_text() -> None:
    assert resolve_go_yaml("<<") is MERGE


SIGS = table("""
yes | True
No | False
on | True
OFF | False
y | True
N | False
yess | 'yess'
1:30 | '1:30'
0755 | 493
089 | 89.0
1e3 | 1000.0
~ | None
""")


@pytest.mark.parametrize(("text", "value"), SIGS)
def test_plain_scalars_mean_what_sigs_yaml_says(text: str, value: Any) -> None:
    assert resolve_sigs(text) == value
    assert type(resolve_sigs(text)) is type(value)


def test_a_million_digits_are_no_work() -> None:
    assert resolve_go_yaml("1" * 1_000_000) == "1" * 1_000_000


LONG = "tag:yaml.org,2002:"


@pytest.mark.parametrize(
    ("tag", "text", "value"),
    [
        ("!", "5", "5"),
        ("!foo", "5", "5"),
        (LONG + "str", "5", "5"),
        (LONG + "int", "5", 5),
        (LONG + "float", "5", 5.0),
        (LONG + "bool", "true", True),
        (LONG + "null", "", None),
        (LONG + "timestamp", "2001-12-14", "2001-12-14"),
        (LONG + "binary", "UG9k", "Pod"),
        (LONG + "bool", "yes", Word("yes")),
        (LONG + "merge", "<<", MERGE),
        (LONG + "merge", "x", "x"),
        ("!", "<<", MERGE),
        (LONG + "set", "x", "x"),
    ],
)
def test_tags_decide(tag: str, text: str, value: Any) -> None:
    actual = resolve_tagged(tag, text, resolve_go_yaml)
    assert actual == value
    assert type(actual) is type(value)


@pytest.mark.parametrize(
    ("tag", "text"),
    [("int", "x"), ("bool", "1"), ("float", "a"), ("null", "0"), ("binary", "?"), ("int", "yes")],
)
def test_a_tag_that_does_not_fit_is_an_error(tag: str, text: str) -> None:
    with pytest.raises(TagError):
        resolve_tagged(LONG + tag, text, resolve_go_yaml)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        *((1, "1"), (True, "true"), (False, "false"), (1.5, "1.5"), (2.0, "2"), ("a", "a")),
        # As sigs.k8s.io/yaml 1.6.0 prints them, by the digits of a 32-bit float.
        *((-0.0, "-0"), (1e3, "1000"), (123456.0, "123456"), (1e6, "1e+06"), (1e30, "1e+30")),
        *((12345678.0, "1.2345678e+07"), (16777217.0, "1.6777216e+07"), (100000000.5, "1e+08")),
        *((0.1, "0.1"), (0.0001, "0.0001"), (1e-7, "1e-07"), (-2.5, "-2.5"), (120.5, "120.5")),
        *((math.inf, ".inf"), (-math.inf, "-.inf"), (3.4028236e38, ".inf"), (math.nan, ".nan")),
    ],
)
def test_keys_that_are_no_strings_become_the_text_that_json_has(value: Any, text: str) -> None:
    assert key_text(value) == text


def test_a_key_larger_than_any_integer_of_go_is_refused() -> None:
    with pytest.raises(ValueError, match="quote it"):
        key_text(2**63)


QUOTED = [text for text, _ in OTHER]
QUOTED += words("yes No on y n 1:30 2001-12-14 = << 0o7 1_0 .1_ +12e03 -0b1 --- ... - a: | >")
QUOTED += words("[a] {a} *a &a !a %a @a `a 'a \"a #a")
QUOTED += ["- a", "? a", ": a", "a: b", "a #b", " a", "a ", "--- a", "a\nb", "a\tb"]
QUOTED += ["\u2028", "a\x85", "\ufeff", "\x07"]
PLAIN = words("a a:b a#b nginx:1.25 -a ?a :a a,b a] 100m v1 é 中文 😀 /bin/sh --flag $(VAR) a=b")
PLAIN += ["a b", "it's", 'a"b', "1.2.3", "tRUE", "1e", "0b", "http://x.y/z?a=b&c"]


@pytest.mark.parametrize("text", QUOTED)
def test_texts_that_some_reader_takes_for_something_else_need_quotes(text: str) -> None:
    assert needs_quotes(text)


@pytest.mark.parametrize("text", PLAIN)
def test_other_texts_stay_plain(text: str) -> None:
    assert write_scalar(text) == text


@pytest.mark.parametrize("text", QUOTED + PLAIN)
@pytest.mark.parametrize("style", ["", "'", '"'])
@pytest.mark.parametrize("flow", [False, True])
def test_every_reader_reads_back_what_is_written(text: str, style: str, flow: bool) -> None:
    written = write_scalar(text, style, flow=flow)
    document = f"[{written}, 1]" if flow else f"- {written}\n- 1\n"
    assert compose(document).roots[0].value == [text, 1]
    sigs = compose(document, Reader(resolve=resolve_sigs))
    assert sigs.roots[0].value == [text, 1]
    assert yaml.load(document, Loader=yaml.CSafeLoader) == [text, 1]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "null"),
        (True, "true"),
        (False, "false"),
        (0, "0"),
        (-5, "-5"),
        (2**64 - 1, "18446744073709551615"),
        (1.5, "1.5"),
        (3.0, "3.0"),
        (math.inf, ".inf"),
        (-math.inf, "-.inf"),
        (math.nan, ".nan"),
    ],
)
def test_other_scalars_are_written_as_go_reads_them(value: Any, text: str) -> None:
    assert write_scalar(value) == text
    back = resolve_go_yaml(text)
    assert type(back) is type(value)
    assert back == value or math.isnan(value)


@pytest.mark.parametrize("value", [1e100, 1e-7, 1e16, 123456789012345680.0, 5e-324, -1.5e300])
def test_floats_read_back_as_floats(value: float) -> None:
    back = resolve_go_yaml(write_scalar(value))
    assert back == value
    assert type(back) is float


@pytest.mark.parametrize(
    ("value", "style", "text"),
    [
        ("new", "'", "'new'"),
        ("new", '"', '"new"'),
        ("it's", "'", "'it''s'"),
        ("a\nb", "'", '"a\\nb"'),
        ("yes", "", '"yes"'),
        ('say "hi": x', "", "'say \"hi\": x'"),
        (5, "'", "5"),
        (None, '"', "null"),
    ],
)
def test_quotes_that_stood_there_are_kept_where_they_can_hold_the_text(
    value: Any, style: str, text: str
) -> None:
    assert write_scalar(value, style) == text


def test_escapes_are_such_that_libyaml_and_go_yaml_read_them() -> None:
    text = '\0\x07\t\n\r"/\\\x7f\x85\xa0\u2028\u2029\ufeff\ufffe😀'
    written = write_double_quoted(text)
    assert "😀" in written
    assert "\\/" not in written
    assert compose(written).roots[0].value == text


def test_json_reads_ordinary_double_quoted_texts_alike() -> None:
    text = 'a "b" \\ \n \t é'
    assert json.loads(write_double_quoted(text)) == text
