from __future__ import annotations

from typing import Any

import pytest

from krm_fn.wire.compose import (
    MappingNode,
    Node,
    Reader,
    ScalarNode,
    SequenceNode,
    YamlError,
    compose,
    compose_first,
)
from tests.steps import calls


def value(text: str) -> Any:
    return compose(text).roots[0].value


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a: 1\nb: [x, {c: d}]\n", {"a": 1, "b": ["x", {"c": "d"}]}),
        ("a:\n- b: 1\n  c: 2\n-\n- - 1\n", {"a": [{"b": 1, "c": 2}, None, [1]]}),
        ("a:\n  b:\n", {"a": {"b": None}}),
        ("1: a\ntrue: b\n1.5: c\n", {"1": "a", "true": "b", "1.5": "c"}),
        ("? a\n: b\n", {"a": "b"}),
        ("a: !!str 5\nb: !x 5\n", {"a": "5", "b": "5"}),
        ("a: yes\nb: 1e3\nc: '1'\n", {"a": "yes", "b": 1000.0, "c": "1"}),
        ("{a: 1, b}", {"a": 1, "b": None}),
        ("[a: 1]", [{"a": 1}]),
        ("a: <<\n", {"a": "<<"}),
        ("- <<\n", ["<<"]),
        ("'<<': 1\n", {"<<": 1}),
    ],
)
def test_texts_become_values(text: str, expected: Any) -> None:
    assert value(text) == expected


@pytest.mark.parametrize(
    ("header", "body", "expected"),
    [
        ("|", "x\n y\n\n\n", "x\n y\n"),
        ("|-", "x\n y\n\n\n", "x\n y"),
        ("|+", "x\n y\n\n\n", "x\n y\n\n\n"),
        ("|2", " x\n", " x\n"),
        (">", "x\ny\n\nz\n", "x y\nz\n"),
        (">-", "x\ny\n", "x y"),
        (">+", "x\ny\n\n", "x y\n\n"),
    ],
)
def test_block_scalars_are_chomped_as_they_say(header: str, body: str, expected: str) -> None:
    lines = "".join(f"  {line}" if line.strip() else line for line in body.splitlines(True))
    assert value(f"a: {header}\n{lines}b: 1\n") == {"a": expected, "b": 1}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a: &x {b: 1}\nc: *x\n", {"a": {"b": 1}, "c": {"b": 1}}),
        ("x: &x {a: 1, b: 2}\ny: {<<: *x, b: 3}\n", {"x": {"a": 1, "b": 2}, "y": {"b": 3, "a": 1}}),
        (
            "x: &x {a: 1}\nz: &z {a: 2, c: 3}\ny:\n  <<: [*x, *z]\n",
            {"x": {"a": 1}, "z": {"a": 2, "c": 3}, "y": {"a": 1, "c": 3}},
        ),
        ("<<: {a: 1}\na: 2\n", {"a": 2}),
        ("a: &x 1\nb: &x 2\nc: *x\n", {"a": 1, "b": 2, "c": 2}),
        ("&k a: 1\nb: *k\n", {"a": 1, "b": "a"}),
        ("&m <<: {a: 1}\nx: *m\n", {"x": "<<", "a": 1}),
    ],
)
def test_aliases_and_merge_keys_are_resolved(text: str, expected: Any) -> None:
    assert value(text) == expected


def test_an_alias_of_a_merge_key_is_an_ordinary_text() -> None:
    assert type(value("&m <<: {a: 1}\nx: *m\n")["x"]) is str


def test_a_text_with_anchors_is_not_plain() -> None:
    assert compose("a: 1\n").plain
    for text in ("a: &x 1\n", "a: &x 1\nb: *x\n", "<<: {a: 1}\n"):
        assert not compose(text).plain


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a: 1\na: 2\n", "line 2: the key 'a' is there twice in one map"),
        ("a:\n  1: x\n  '1': y\n", "line 3: the key '1' is there twice in one map"),
        ("~: 1\n", "line 1: a map key is null; quote it"),
        ("{{ x }}: 1\n", "line 1: a map key is a map or a list, which JSON does not have"),
        ("a: *x\n", "line 1: unknown anchor referenced"),
        ("a: &x [*x]\n", "line 1: anchor 'x' value contains itself"),
        ("<<: 1\n", "line 1: map merge requires map or sequence of maps as the value"),
        ("<<: [[]]\n", "line 1: map merge requires map or sequence of maps as the value"),
        ("a:\n\tb: 1\n", "line 2: not valid YAML: found character that cannot start any token"),
        ("a: !!int x\n", "line 1: cannot decode the value as a !!int"),
        ('a: "\\/"\n', "line 1: not valid YAML: found unknown escape character '/'"),
        ('a: "\\ud83d\\ude00"\n', "line 1: not valid YAML: found invalid Unicode character escape"),
        ("%YAML 1.2\n---\na: 1\n", "line 1: not valid YAML: found incompatible YAML document"),
        ("a: [1\n", "line 2: not valid YAML"),
        ("a: 'x\n", "line 2: not valid YAML"),
        ("a: b: c\n", "line 1: not valid YAML: mapping values are not allowed in this context"),
        (f"{'k' * 1025}: 1\n", "line 1: not valid YAML: mapping values are not allowed"),
        ("a\0b", "line 1: not valid YAML: control characters are not allowed"),
    ],
)
def test_what_go_refuses_is_refused_with_line_and_reason(text: str, reason: str) -> None:
    with pytest.raises(YamlError) as caught:
        compose(text)
    assert str(caught.value).startswith(reason)
    assert "\n" not in str(caught.value)


def test_a_tab_that_indents_gets_a_hint() -> None:
    with pytest.raises(YamlError, match="indent with spaces"):
        compose("a:\n\tb: 1\n")


@pytest.mark.parametrize(
    "text", ["a:\t1\n", "a: 1\t\n", "a: 1 \t# c\n", "a: [\t1,\t2]\n", "a: |\n  x\n  \ty\n"]
)
def test_tabs_that_do_not_indent_are_fine(text: str) -> None:
    assert "a" in value(text)


def test_a_key_of_1024_characters_is_fine() -> None:
    key = "k" * 1022
    assert value(f"{key}: 1\n") == {key: 1}


def test_the_last_of_equal_keys_wins_where_the_reader_says_so() -> None:
    assert compose("a: 1\na: 2\n", Reader(duplicate_keys=True)).roots[0].value == {"a": 2}


def test_lines_are_counted_from_the_offset() -> None:
    with pytest.raises(YamlError, match="line 12: "):
        compose("a: 1\na: 2\n", line_offset=10)


DEEP = 10_000
LAUGHS = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{name}: &{name} [{','.join([f'*{before}'] * 9)}]\n"
    for before, name in zip("abcdefghi", "bcdefghij", strict=True)
)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[" * DEEP + "]" * DEEP, "nested deeper than 1000 levels"),
        ("[" * 1_000_000, "nested deeper than 1000 levels"),
        ("{a: " * DEEP + "}" * DEEP, "nested deeper than 1000 levels"),
        ("? " * DEEP + "a", "nested deeper than 1000 levels"),
        ("\n".join(" " * n + "a:" for n in range(2000)), "nested deeper than 1000 levels"),
        (LAUGHS, "aliases expand to far more than what is written here"),
        (
            "a: &a {"
            + ", ".join(f"k{n}: 1" for n in range(2000))
            + "}\nb: {<<: ["
            + "*a, " * 2000
            + "]}",
            "aliases expand to far more than what is written here",
        ),
    ],
    ids=["lists", "open", "maps", "keys", "block", "laughs", "merges"],
)
def test_bombs_are_refused_quickly(text: str, reason: str) -> None:
    def read() -> None:
        with pytest.raises(YamlError, match=reason):
            compose(text)

    calls(read, at_most=2_000_000)


FIRST = {"a": "a", '"a" b': "a", '"a\\\n b" c': "ab", "'a\nb' x: y": "a b", "a\n--- b": "a"}
NOT_FIRST = ["a\nb: c", '"a\\\n b": c', '"a\nb": c', '"a" x: y', '"a" @x', '"a\\\n b" %']


@pytest.mark.parametrize(("text", "value"), FIRST.items())
def test_the_first_document_is_what_gos_unmarshal_takes(text: str, value: str) -> None:
    node = compose_first(text)
    assert node is not None
    assert node.value == value


@pytest.mark.parametrize("text", NOT_FIRST)
def test_the_token_behind_the_first_document_is_scanned_as_go_does(text: str) -> None:
    with pytest.raises(YamlError):
        compose_first(text)


def test_many_aliases_of_something_small_are_fine() -> None:
    text = "a: &a {x: 1}\nl:\n" + "- *a\n" * 2000
    assert len(value(text)["l"]) == 2000


def spans(text: str) -> dict[str, str]:
    """Each path in a text with the piece of text that its node spans."""
    found: dict[str, str] = {}

    def walk(node: Node, path: str) -> None:
        found[path] = text[node.start : node.end]
        if isinstance(node, MappingNode):
            for key, _, member in node.pairs:
                walk(member, f"{path}.{key}")
        elif isinstance(node, SequenceNode):
            for n, element in enumerate(node.items):
                walk(element, f"{path}[{n}]")

    walk(compose(text).roots[0], "")
    return found


def test_nodes_span_their_text_without_trailing_comments_and_blank_lines() -> None:
    text = "a:  'x'  # c\nb:\n  - 1\n  - c: |\n      x\n\n# end\nd:\ne: {f: [1, 2] }\n\n# end\n"
    assert spans(text) == {
        "": text[: text.rindex("\n\n# end")],
        ".a": "'x'",
        ".b": "- 1\n  - c: |\n      x",
        ".b[0]": "1",
        ".b[1]": "c: |\n      x",
        ".b[1].c": "|\n      x",
        ".d": "",
        ".e": "{f: [1, 2] }",
        ".e.f": "[1, 2]",
        ".e.f[0]": "1",
        ".e.f[1]": "2",
    }


@pytest.mark.parametrize(
    ("scalar", "span"),
    [
        ("|\n  x\n\n\n", "|\n  x"),
        ("|+\n  x\n\n\n", "|+\n  x\n\n\n"),
        ("|2+\n  x\n\n", "|2+\n  x\n\n"),
        ("|-\n  x\n   \n\n", "|-\n  x\n   "),
        ("|-\n  x\n  \n\n", "|-\n  x"),
        ("|2-\n   x\n   \n", "|2-\n   x\n   "),
        ("|2-\n\n   \n\n", "|2-\n\n   "),
        ("| # a + b\n  x\n\n", "| # a + b\n  x"),
        ("!a+ |\n  x\n\n", "!a+ |\n  x"),
        ("|\n\n\n", "|"),
        (">-\n  x\n  y\n\n", ">-\n  x\n  y"),
    ],
)
def test_a_block_scalar_ends_with_its_last_content(scalar: str, span: str) -> None:
    assert spans(f"a: {scalar}b: 1\n")[".a"] == span


def test_scalars_know_their_style() -> None:
    root = compose("- a\n- 'a'\n- \"a\"\n- |\n  a\n- >\n  a\n").roots[0]
    assert isinstance(root, SequenceNode)
    styles = [node.style for node in root.items if isinstance(node, ScalarNode)]
    assert styles == ["", "'", '"', "|", ">"]


def test_a_text_may_hold_several_documents_or_none() -> None:
    assert [root.value for root in compose("a\n---\nb\n...\n---\n").roots] == ["a", "b", None]
    assert compose("# nothing\n").roots == []


def test_anchors_end_with_their_document() -> None:
    with pytest.raises(YamlError, match="unknown anchor referenced"):
        compose("a: &x 1\n---\nb: *x\n")


def test_the_first_document_alone_is_read_without_the_rest() -> None:
    first = compose_first('"a" b')
    assert first is not None
    assert first.value == "a"
    assert compose_first("") is None
