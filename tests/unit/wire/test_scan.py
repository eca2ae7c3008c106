from __future__ import annotations

from typing import Any

import pytest

from krm_fn.wire.compose import YamlError
from krm_fn.wire.scan import Head, Outline, scan


def root(text: str) -> Outline:
    documents = scan(text)
    assert len(documents) == 1
    return documents[0].root


POD = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n  namespace: b\n"


@pytest.mark.parametrize(
    ("text", "head"),
    [
        (POD, Head("v1", "Pod", "b", "a")),
        ("\"kind\": \"Pod\"\n'apiVersion': 'v1'\n", Head("v1", "Pod")),
        ("kind: 5\napiVersion: true\nmetadata: {name: 1, namespace: ~}\n", Head()),
        ("kind: '5'\nmetadata: x\n", Head("", "5")),
        ("spec:\n  kind: X\n  metadata: {name: y}\n", Head()),
        ("? kind\n: Pod\n", Head("", "Pod")),
        ("{apiVersion: v1, kind: Pod, metadata: {name: a}}", Head("v1", "Pod", "", "a")),
        ("metadata:\n  labels: {name: x}\n  name: a\n", Head("", "", "", "a")),
        ("kind: |\n  Pod\n", Head("", "Pod\n")),
    ],
)
def test_the_head_is_read_at_its_place(text: str, head: Head) -> None:
    assert root(text).head == head


def test_a_head_knows_group_and_version() -> None:
    head = Head("apps/v1", "Deployment", "d", "web")
    assert (head.group, head.version, str(head)) == ("apps", "v1", "apps/v1/Deployment d/web")
    assert (Head("v1", "Pod").group, Head("v1", "Pod").version) == ("", "v1")


@pytest.mark.parametrize(
    "text",
    [
        "kind: !!str Pod\n",
        "kind: !!binary UG9k\n",
        "x: &x Pod\nkind: *x\n",
        "!!binary a2luZA==: Pod\n",
        "x: &x kind\n*x : Pod\n",
        "<<: {kind: Pod}\n",
        "metadata: {<<: {name: x}}\n",
        "metadata: {name: !!binary eA==}\n",
        "x: &x {name: x}\nmetadata: *x\n",
        "x: &x []\nitems: *x\n",
        "? {a: b}\n: c\n",
    ],
)
def test_what_may_hide_a_head_is_odd(text: str) -> None:
    assert root(text).odd


@pytest.mark.parametrize(
    "text",
    [POD, "'<<': 1\n", "kind: &k Pod\n", "spec: {<<: {a: 1}}\n", "metadata: {labels: !x {}}\n"],
)
def test_other_objects_are_not_odd(text: str) -> None:
    assert not root(text).odd


@pytest.mark.parametrize(
    "text",
    [
        "kind: A\nkind: B\n",
        "metadata: {}\nmetadata: {}\n",
        "items: []\nitems: []\n",
        "a: 1\na: 2\n",
    ],
)
def test_a_head_that_is_there_twice_is_an_error(text: str) -> None:
    with pytest.raises(YamlError, match="is there twice in one map"):
        scan(text)


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("a: 1", "map"),
        ("[1]", "list"),
        ("x", "text"),
        ("1", "number"),
        ("true", "boolean"),
        ("'1'", "text"),
    ],
)
def test_a_root_has_a_shape(text: str, shape: str) -> None:
    assert root(text).shape == shape


def test_elements_of_items_are_found_with_span_and_line() -> None:
    text = "kind: List\nitems:\n# one\n- kind: A\n  b: |\n    x\n\n- {kind: B}  # c\n\nz: 1\n"
    items = root(text).items
    assert items is not None
    assert [text[c.start : c.end] for c in items.children] == [
        "kind: A\n  b: |\n    x",
        "{kind: B}",
    ]
    assert [(c.line, c.head.kind, c.flow) for c in items.children] == [
        (4, "A", False),
        (8, "B", True),
    ]
    assert text[items.start : items.end] == text[text.index("- kind") : text.index("  # c")]
    assert text[: items.after_key].endswith("items")


def test_items_within_items_are_found() -> None:
    text = "items:\n- kind: List\n  items:\n  - kind: A\n  - kind: B\n"
    outer = root(text).items
    assert outer is not None
    inner = outer.children[0].items
    assert inner is not None
    assert [c.head.kind for c in inner.children] == ["A", "B"]


def test_lists_within_lists_have_a_limit() -> None:
    with pytest.raises(YamlError, match="lists of lists nest too deep"):
        scan("{items: [" * 40 + "]}" * 40)


def test_empty_documents_are_left_out() -> None:
    text = "# c\n---\n---\na: 1\n...\n---\n# x\n--- {b: 2}\n"
    assert [text[d.start : d.root.end] for d in scan(text)] == ["---\na: 1", "--- {b: 2}"]


@pytest.mark.parametrize(
    ("text", "anchors", "aliases"),
    [
        ("items: [{a: &x 1, b: *x}]", {"x"}, set()),
        ("z: &x 1\nitems: [{b: *x}]", set(), {"x"}),
        ("z: &x 1\nitems: [{b: *x, c: &x 2}]", {"x"}, {"x"}),
        ("items: [&x {b: 1}]", {"x"}, set()),
        ("items: [{metadata: {name: &x a}, b: [[*x]]}]", {"x"}, set()),
    ],
)
def test_anchors_inside_and_outside_are_told_apart(
    text: str, anchors: set[str], aliases: set[str]
) -> None:
    items = root(text).items
    assert items is not None
    assert (items.children[0].anchors, items.children[0].aliases) == (anchors, aliases)


def test_what_is_anchored_within_a_root_is_not_outside_of_it() -> None:
    assert root("a: &x 1\nb: *x\n").aliases == set()


@pytest.mark.parametrize("text", ["a: *x\n", "items: [*x]\n", "metadata: {name: *x}\n", "- [*x]\n"])
def test_an_alias_to_nothing_is_an_error(text: str) -> None:
    with pytest.raises(YamlError, match="unknown anchor referenced"):
        scan(text)


@pytest.mark.parametrize("text", ["%YAML 1.2\n---\na: 1\n", "a: [", "a: 'b", "a\tb: [\0]"])
def test_what_is_no_yaml_for_go_is_refused(text: str) -> None:
    with pytest.raises(YamlError, match=r"line \d+: not valid YAML"):
        scan(text)


def test_positions_count_characters_not_bytes() -> None:
    text = "é: 😀\nitems: [{kind: ü}]\n"
    items: Any = root(text).items
    assert text[items.children[0].start : items.children[0].end] == "{kind: ü}"
