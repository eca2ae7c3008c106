from __future__ import annotations

import subprocess
import sys

import pytest

from krm_fn.errors import EvaluationError
from krm_fn.lang.gotemplate import parse, sprig


def render(text: str) -> str:
    return parse("{{ " + text + " }}", "x").render({})


def test_all_of_sprigs_names_but_two_are_known() -> None:
    assert len(sprig.NAMES) == 208
    assert not sprig.knows("env")
    assert not sprig.knows("expandenv")


def test_every_name_has_its_function() -> None:
    for name in sprig.NAMES:
        assert sprig.function(name).name == name


def test_no_family_and_no_regex_loads_before_it_is_used() -> None:
    program = (
        "import sys, krm_fn.lang.gotemplate as g; g.parse('{{ .a | default 1 }}', 'x');"
        "print([m for m in sys.modules if m.startswith('krm_fn.lang.gotemplate.sprig.')"
        " or m == 're2'])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert "defaults" in done.stdout
    for module in ("strings", "regexes", "lists", "re2"):
        assert module not in done.stdout


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ('title "o\'neil foo_bar a-b"', "O'Neil Foo_bar A-B"),
        ('upper "straße"', "STRAßE"),
        ('camelcase "HTTPServer"', "Httpserver"),
        ('snakecase "HTTPServer2xx"', "http_server_2xx"),
        ('kebabcase "FirstName"', "first-name"),
        ('nospace "añ o"', "aÃ±o"),
        ('trunc -3 "abcdef"', "def"),
        ('substr 0 2 "日本" | printf "%q"', '"\\xe6\\x97"'),
        ('abbrev 5 "hello world"', "he..."),
        ('abbrevboth 5 10 "1234 5678 9123"', "...5678..."),
        ('wrap 5 "one two three"', "one\ntwo\nthree"),
        ('quote 1 nil "a\\n"', '"1" "a\\n"'),
        ('cat "a" nil 1', "a 1"),
        ('split "." "a.b"', "map[_0:a _1:b]"),
        ('splitn "." 2 "a.b.c"', "map[_0:a _1:b.c]"),
        ('join "-" (list 1 nil "b")', "1-b"),
        ('sortAlpha (list "b" 10 "a" 9)', "[10 9 a b]"),
    ],
)
def test_texts(call: str, expected: str) -> None:
    assert render(call) == expected


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("first (list)", "<no value>"),
        ("rest (list 1 2)", "[2]"),
        ("rest (list) | toJson", "null"),
        ("without (list 1 2 1.0) 1", "[2 1]"),
        ("has 1.0 (list 1)", "false"),
        ("slice (list 1 2 3) 1 2", "[2]"),
        ("chunk 2 (list 1 2 3)", "[[1 2] [3]]"),
        ("chunk -1 (list 1 2)", "[]"),
        ("chunk -7 (list 1)", "[[1]]"),
        ("until -3", "[0 -1 -2]"),
        ("untilStep 10 0 -3", "[10 7 4 1]"),
        ("seq 5 -1 1", "5 4 3 2 1"),
        ("uniq (list 1 1.0 1)", "[1 1]"),
        ("typeOf (until 1)", "[]int"),
    ],
)
def test_lists(call: str, expected: str) -> None:
    assert render(call) == expected


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ('dict "a" 1 "b"', "map[a:1 b:]"),
        ('keys (dict "b" 1 "a" 2)', "[a b]"),
        ('dig "a" "b" 5 (dict "a" (dict))', "5"),
        ('merge (dict "a" 0 "b" 1) (dict "a" 2 "b" 3)', "map[a:2 b:1]"),
        ('mergeOverwrite (dict "a" 1 "b" 1) (dict "a" 0)', "map[a:0 b:1]"),
        ('mergeOverwrite (dict "a" 1) (dict "a" (dict "x" 1))', "map[a:1]"),
        ('merge nil (dict "a" 1)', "map[a:1]"),
        ('hasKey nil "a"', "false"),
        ('deepEqual (deepCopy (dict "a" (list 1))) (dict "a" (list 1))', "true"),
    ],
)
def test_maps(call: str, expected: str) -> None:
    assert render(call) == expected


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ('default 5 ""', "5"),
        ("coalesce 0 nil `x`", "x"),
        ("ternary 1 2 false", "2"),
        ('toJson (list 1 1e21 "<é>")', '[1,1e+21,"\\u003cé\\u003e"]'),
        ('toRawJson "<"', '"<"'),
        ('toPrettyJson (dict "a" (list))', '{\n  "a": []\n}'),
        ('fromJson "{\\"a\\": [1, null]}"', "map[a:[1 <nil>]]"),
        ('fromJson "NaN"', "<no value>"),
        ('fromJson "1e400"', "<no value>"),
        ('fromJson "\\"\\\\ud800\\"" | printf "%q"', '"\ufffd"'),
        ("toJson (divf 1 3)", "0.3333333333333333"),
    ],
)
def test_defaults_and_json(call: str, expected: str) -> None:
    assert render(call) == expected


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ('regexReplaceAll "a(x*)b" "-ab-axxb-" "${1}W"', "-W-xxW-"),
        ('regexReplaceAll "a(x*)b" "-ab-" "$1W"', "--"),
        ('regexReplaceAll "" "aé" "-"', "-a-é-"),
        ('regexReplaceAllLiteral "b" "abc" "$0"', "a$0c"),
        ('regexFindAll "a*" "baac" -1 | toJson', '["","aa",""]'),
        ('regexSplit "a" "banana" 2', "[b nana]"),
        ('regexMatch "(" "a"', "false"),
        ('regexQuoteMeta "a.b"', "a\\.b"),
    ],
)
def test_regular_expressions(call: str, expected: str) -> None:
    assert render(call) == expected


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ('int "0x1A"', "26"),
        ('int "08"', "0"),
        ("int 2.7", "2"),
        ("add 9223372036854775807 1", "-9223372036854775808"),
        ("div -7 2", "-3"),
        ("mod -7 2", "-1"),
        ("round 123.5555 3", "123.556"),
        ("round 5 400", "NaN"),
        ("subf 1 0.9", "0.1"),
        ("divf 2 7", "0.2857142857142857"),
        ('atoi "99999999999999999999"', "9223372036854775807"),
        ('toDecimal "0777"', "511"),
        ("typeOf (add 1 1)", "int64"),
        ("kindOf nil", "invalid"),
    ],
)
def test_numbers_and_types(call: str, expected: str) -> None:
    assert render(call) == expected


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ('b64enc "é"', "w6k="),
        ('b64dec "aGVsbG8="', "hello"),
        ('b64dec "aGVsbG8"', "illegal base64 data at input byte 4"),
        ('b64dec "aG=sbG8="', "illegal base64 data at input byte 2"),
        ('b32dec "nope1"', "illegal base32 data at input byte 0"),
        ('sha256sum "x" | trunc 8', "2d711642"),
        ('adler32sum ""', "1"),
    ],
)
def test_encodings(call: str, expected: str) -> None:
    assert render(call) == expected


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ('base "/a/b/"', "b"),
        ('base "//"', "/"),
        ('dir "/a/b.c"', "/a"),
        ('dir ""', "."),
        ('clean "//a/../b/./c/"', "/b/c"),
        ('ext "a.b/c.d.e"', ".e"),
        ('osIsAbs "a"', "false"),
    ],
)
def test_paths(call: str, expected: str) -> None:
    assert render(call) == expected


@pytest.mark.parametrize(
    "call",
    [
        "first 3",
        "append nil 1",
        "div 1 0",
        "divf 1 0",
        'regexFind "(" "a"',
        'substr 5 2 "abcdef"',
        "chunk 0 (list 1)",
        'repeat -1 "a"',
        'dig "a" "b"',
        'mustFromJson "{"',
        'set nil "a" 1',
        "deepCopy nil",
        "slice (list 1) 2",
    ],
)
def test_what_go_panics_on_is_an_error(call: str) -> None:
    with pytest.raises(EvaluationError, match="error calling"):
        render(call)
