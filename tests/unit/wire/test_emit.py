from __future__ import annotations

from typing import Any

import pytest
import yaml

from krm_fn.wire.compose import compose
from krm_fn.wire.emit import Layout, emit_block, emit_flow, emit_value

VALUE = {"a": {"b": [1, {"c": "x", "d": []}, [2]], "e": {}}, "f": "yes"}


@pytest.mark.parametrize(
    ("layout", "text"),
    [
        (
            Layout(),
            'a:\n  b:\n  - 1\n  - c: x\n    d: []\n  - - 2\n  e: {}\nf: "yes"',
        ),
        (
            Layout(step=4, wide=True),
            "a:\n    b:\n        - 1\n        - c: x\n          d: []\n        - - 2\n    e: {}\n"
            'f: "yes"',
        ),
        (
            Layout(newline="\r\n"),
            'a:\r\n  b:\r\n  - 1\r\n  - c: x\r\n    d: []\r\n  - - 2\r\n  e: {}\r\nf: "yes"',
        ),
    ],
    ids=["compact", "wide", "crlf"],
)
def test_a_value_is_written_in_the_layout_around_it(layout: Layout, text: str) -> None:
    assert emit_block(VALUE, 0, layout) == text
    assert compose(text).roots[0].value == VALUE


def test_all_lines_but_the_first_are_indented_by_the_column() -> None:
    assert (
        emit_block({"a": [1], "b": "x\ny"}, 4, Layout())
        == "a:\n    - 1\n    b: |-\n      x\n      y"
    )


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1, " 1"),
        ("x", " x"),
        ({}, " {}"),
        ([], " []"),
        ({"b": 1}, "\n    b: 1"),
        ([1], "\n  - 1"),
        ("x\ny\n", " |\n    x\n    y"),
    ],
)
def test_a_value_behind_a_key_stays_on_its_line_or_goes_below(value: Any, text: str) -> None:
    assert emit_value(value, 2, Layout()) == text


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("a\nb", "|-\n  a\n  b"),
        ("a\nb\n", "|\n  a\n  b"),
        ("a\nb\n\n", "|+\n  a\n  b\n"),
        (" a\nb", "|2-\n   a\n  b"),
        ("\na\n", "|2\n\n  a"),
        ("a\n\n b\n", "|\n  a\n\n   b"),
        ("\ta\nb\n", "|2\n  \ta\n  b"),
        ("a\nb ", "|-\n  a\n  b "),
        ("\n", '"\\n"'),
        (" \n ", '" \\n "'),
        ("a\r\nb", '"a\\r\\nb"'),
        ("a\nb\x07", '"a\\nb\\x07"'),
    ],
)
def test_texts_of_several_lines_are_literals_where_these_can_hold_them(
    text: str, written: str
) -> None:
    lines = emit_block({"k": text}, 0, Layout())
    assert lines == f"k: {written}"
    assert compose(lines + "\nz: 1\n").roots[0].value == {"k": text, "z": 1}


def test_literals_can_be_done_without() -> None:
    layout = Layout(literals=False)
    assert emit_block(["a\nb", {"c": "d\ne"}], 0, layout) == '- "a\\nb"\n- c: "d\\ne"'


@pytest.mark.parametrize(
    ("value", "quoted", "text"),
    [
        (VALUE, False, '{a: {b: [1, {c: x, d: []}, [2]], e: {}}, f: "yes"}'),
        (VALUE, True, '{"a": {"b": [1, {"c": "x", "d": []}, [2]], "e": {}}, "f": "yes"}'),
        (["a,b", "?x", "x\ny"], False, '["a,b", "?x", "x\\ny"]'),
        ({}, False, "{}"),
    ],
)
def test_flow_style_is_one_line(value: Any, quoted: bool, text: str) -> None:
    assert emit_flow(value, quoted) == text
    assert compose(text).roots[0].value == value


def test_a_value_in_two_places_is_written_twice() -> None:
    shared = {"x": [1]}
    text = emit_block({"a": shared, "b": shared}, 0, Layout())
    assert "&" not in text
    assert yaml.load(text, Loader=yaml.CSafeLoader) == {"a": shared, "b": shared}


@pytest.mark.parametrize(
    "key", ["yes", "1", "null", "", "a: b", "- a", "# a", "a\nb", "<<", "é", "a.b/c"]
)
def test_keys_are_quoted_like_values(key: str) -> None:
    for text in (emit_block({key: 1}, 0, Layout()), emit_flow({key: 1}), emit_flow({key: 1}, True)):
        assert compose(text).roots[0].value == {key: 1}
