"""Each case is a text, a change and the text that must come out, to the byte."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from typing import Any

import pytest

from krm_fn.errors import InputError
from krm_fn.values import MISSING, Path, get, with_at
from krm_fn.wire import read_stream, yamlstream
from krm_fn.wire.compose import compose
from krm_fn.wire.edit import Region, apply_edits, edit_object, without
from krm_fn.wire.emit import Layout, emit_block, emit_flow
from krm_fn.wire.lines import CannotEditError
from tests.steps import assert_linear, lines

Change = Callable[[Any], Any]


def put(*path: str | int, to: Any) -> Change:
    return lambda value: with_at(value, path, to)


def cut(*path: str | int) -> Change:
    return lambda value: with_at(value, path, MISSING)


def insert(*path: str | int, at: int, new: Any) -> Change:
    def change(value: Any) -> Any:
        elements = get(value, path)
        return with_at(value, path, [*elements[:at], new, *elements[at:]])

    return change


def both(first: Change, second: Change) -> Change:
    return lambda value: second(first(value))


HEAD = "apiVersion: v1\nkind: X\n"


def edited(body: str, change: Change) -> str:
    """The body of an object after a change, tried as a document and as an element of a list."""
    text = HEAD + body
    stream = read_stream(text.encode())
    item = stream.items[0]
    new = change(item.value)
    item.replace(new)
    written = stream.write().decode()
    assert compose(written).roots[0].value == new
    assert written.startswith(HEAD)
    check_in_list(text, change, written)
    return written.removeprefix(HEAD)


def check_in_list(text: str, change: Change, expected: str) -> None:
    """Inside a ResourceList, between two others, the same lines must change."""
    other = "- apiVersion: v1\n  kind: Y\n"
    before = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n" + other

    def element(body: str) -> str:
        lines = body.splitlines(keepends=True)
        indented = "".join(line if line == "\n" else f"  {line}" for line in lines)
        return before + "- " + indented[2:] + other

    stream = read_stream(element(text).encode())
    item = stream.items[1]
    item.replace(change(item.value))
    assert stream.write().decode() == element(expected)


# ----------------------------------------------------------------------------------------- scalars


@pytest.mark.parametrize(
    ("before", "new", "after"),
    [
        ("a: 1\n", 2, "a: 2\n"),
        ("a:   1  # c\n", 2, "a:   2  # c\n"),
        ("a: 'x'\n", "w", "a: 'w'\n"),
        ('a: "x" # c\n', "w", 'a: "w" # c\n'),
        ("a: x\n", "yes", 'a: "yes"\n'),
        ("a: 'x'\n", "it's", "a: 'it''s'\n"),
        ("a: '5'\n", 5, "a: 5\n"),
        ("a: 5\n", "5", 'a: "5"\n'),
        ("a:\n", 1, "a: 1\n"),
        ("a: # c\n", 1, "a: 1 # c\n"),
        ("a: ~\n", "x", "a: x\n"),
        ("a: x\n", None, "a: null\n"),
        ("a:\n  x\n", "w", "a: w\n"),
        ("a: x\n  y\n", "z", "a: z\n"),
        ("a: 'x\n\n  y' # c\n", "z", "a: 'z' # c\n"),
        ("a: |\n  x\n  y\n", "z", "a: z\n"),
        ("a: !!str 5\n", "6", 'a: "6"\n'),
        ("a: x\n", {}, "a: {}\n"),
        ("a: x\n", [], "a: []\n"),
        ("a: x # c\n", {"b": 1}, "a: # c\n  b: 1\n"),
        ("a: x\n", [1], "a:\n- 1\n"),
        ("a: x\n", "l1\nl2\n", "a: |\n  l1\n  l2\n"),
        ("a: x # c\n", "l1\nl2", "a: |- # c\n  l1\n  l2\n"),
        ("a: {}\n", {"b": {"c": 1}}, "a:\n  b:\n    c: 1\n"),
        ("a: []\n", ["x"], "a:\n- x\n"),
        ("a:\n  b: 1\n", 2, "a: 2\n"),
        ("a: # c\n  b: 1\n", 2, "a: 2 # c\n"),
        ("a:\n- 1\n- 2\n", "x", "a: x\n"),
        ("a:\n  b: 1\n", {}, "a: {}\n"),
        ("a:\n- 1\n", [], "a: []\n"),
        ("a: # c\n- 1\n", {"x": 1}, "a: # c\n  x: 1\n"),
    ],
)
@pytest.mark.parametrize("rest", ["", "z: 1\n", "\n# below\nz: 1\n"])
def test_setting_a_value_changes_that_value_only(
    before: str, new: Any, after: str, rest: str
) -> None:
    assert edited(before + rest, put("a", to=new)) == after + rest


@pytest.mark.parametrize(
    ("before", "new", "after"),
    [
        ("a: |\n  x\n  y\n", "x\nz\n", "a: |\n  x\n  z\n"),
        ("a: |\n     x\n     y\n", "x\nz\n", "a: |\n     x\n     z\n"),
        ("a: |-\n  x\n\n  y\n", "x\n\nz", "a: |-\n  x\n\n  z\n"),
        ("a: |+\n  x\n  y\n\n", "x\nz\n\n", "a: |+\n  x\n  z\n\n"),
        ("a: |2\n   x\n", "  x\ny\n", "a: |2\n    x\n  y\n"),
        ("a: |\n x\n", "x\ny", "a: |-\n x\n y\n"),
        ("a: |+\n  x\n\n", "w", "a: w\n"),
    ],
)
def test_a_literal_keeps_the_lines_that_do_not_change(before: str, new: str, after: str) -> None:
    assert edited(before + "z: 1\n", put("a", to=new)) == after + "z: 1\n"


def test_spaces_in_the_last_line_of_a_literal_are_content() -> None:
    before = "a:\n  b: |-\n    x\n     \n\nz: 1\n"
    assert edited(before, put("a", "c", to=1)) == "a:\n  b: |-\n    x\n     \n  c: 1\n\nz: 1\n"


def test_a_literal_does_not_swallow_a_deeper_comment_below() -> None:
    after = edited("a: 1\n      # deep\nz: 1\n", put("a", to="x\ny\n"))
    assert after == 'a: "x\\ny\\n"\n      # deep\nz: 1\n'


# -------------------------------------------------------------------------------------------- maps

MAP = "m:\n  # about a\n  a: 1 # one\n\n  # about b\n  b: 2\n  # about c\n  c: 3\n  # end\nz: 1\n"


@pytest.mark.parametrize(
    ("change", "after"),
    [
        (cut("m", "a"), "m:\n\n  # about b\n  b: 2\n  # about c\n  c: 3\n  # end\nz: 1\n"),
        (cut("m", "b"), "m:\n  # about a\n  a: 1 # one\n\n  # about c\n  c: 3\n  # end\nz: 1\n"),
        (cut("m", "c"), "m:\n  # about a\n  a: 1 # one\n\n  # about b\n  b: 2\n  # end\nz: 1\n"),
        (
            both(cut("m", "a"), cut("m", "b")),
            "m:\n  # about c\n  c: 3\n  # end\nz: 1\n",
        ),
        (cut("m"), "z: 1\n"),
        (
            put("m", "d", to={"x": [1]}),
            MAP.replace("c: 3\n", "c: 3\n  d:\n    x:\n    - 1\n"),
        ),
        (put("m", "d", to="l\nm\n"), MAP.replace("c: 3\n", "c: 3\n  d: |\n    l\n    m\n")),
        (put("w", to=None), MAP + "w: null\n"),
        (
            both(cut("m", "b"), put("m", "d", to=4)),
            "m:\n  # about a\n  a: 1 # one\n\n  # about c\n  c: 3\n  d: 4\n  # end\nz: 1\n",
        ),
        (
            lambda v: {**v, "m": {"c": 3, "b": 2, "a": 1}},
            MAP,
        ),
    ],
    ids=["first", "middle", "last", "two", "whole", "add", "add-text", "add-root", "both", "order"],
)
def test_keys_come_and_go_with_their_comments(change: Change, after: str) -> None:
    if after == "m:\n\n  # about b\n  b: 2\n  # about c\n  c: 3\n  # end\nz: 1\n":
        after = after.replace("m:\n\n", "m:\n")
    assert edited(MAP, change) == after


def test_a_map_that_loses_all_its_keys_is_empty() -> None:
    assert edited("m: # c\n  a: 1\n  b: 2\nz: 1\n", put("m", to={})) == "m: {} # c\nz: 1\n"


def test_the_first_key_of_a_document_can_go() -> None:
    stream = read_stream(b"# top\na: 1 # gone\n# about kind\nkind: X\napiVersion: v1 # c\n")
    stream.items[0].replace({"kind": "X", "apiVersion": "v1"})
    assert stream.write() == b"# top\n# about kind\nkind: X\napiVersion: v1 # c\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("l:\n- a: 1\n  b: 2 # c\n", "l:\n- b: 2 # c\n"),
        ("l:\n- a: 1\n  # about b\n  b: 2\n", "l:\n  # about b\n- b: 2\n"),
        ("l:\n  -   a:\n        x: 1\n      b: 2\n", "l:\n  -   b: 2\n"),
    ],
)
def test_the_first_key_behind_a_dash_gives_its_place_to_the_next(before: str, after: str) -> None:
    assert edited(before, cut("l", 0, "a")) == after


@pytest.mark.parametrize(
    ("before", "added"),
    [
        ("a:\n  b:\n    c: 1\n", "  w:\n    x:\n    - 1\n"),
        ("a:\n    b:\n        c: 1\n", "    w:\n        x:\n        - 1\n"),
        ("a:\n  b:\n  - 1\n", "  w:\n    x:\n    - 1\n"),
        ("a:\n  b:\n    - 1\n", "  w:\n    x:\n      - 1\n"),
    ],
)
def test_what_is_added_is_indented_as_the_rest(before: str, added: str) -> None:
    assert edited(before, put("a", "w", to={"x": [1]})) == before + added


# ------------------------------------------------------------------------------------------- lists

LIST = "l:\n# about 1\n- 1 # one\n\n# about 2\n- a: 2\n  b: 3\n# about 3\n- 3\n# end\nz: 1\n"


@pytest.mark.parametrize(
    ("change", "after"),
    [
        (cut("l", 0), "l:\n# about 2\n- a: 2\n  b: 3\n# about 3\n- 3\n# end\nz: 1\n"),
        (cut("l", 1), "l:\n# about 1\n- 1 # one\n\n# about 3\n- 3\n# end\nz: 1\n"),
        (cut("l", 2), LIST.replace("# about 3\n- 3\n", "")),
        (insert("l", at=0, new="w"), LIST.replace("l:\n", "l:\n- w\n")),
        (insert("l", at=1, new={"w": 1, "m": 2}), LIST.replace("one\n", "one\n- w: 1\n  m: 2\n")),
        (insert("l", at=3, new=["w"]), LIST.replace("- 3\n", "- 3\n- - w\n")),
        (insert("l", at=3, new="x\ny\n"), LIST.replace("- 3\n", "- 3\n- |\n  x\n  y\n")),
        (put("l", 0, to=9), LIST.replace("- 1 #", "- 9 #")),
        (put("l", 1, "b", to=9), LIST.replace("b: 3", "b: 9")),
        (put("l", 2, to={"x": {"v": 1}}), LIST.replace("- 3\n", "- x:\n    v: 1\n")),
        (put("l", to=[]), "l: []\n# end\nz: 1\n"),
        (put("l", to=[7]), None),
    ],
    ids=[
        *["first", "middle", "last", "front", "between", "end", "text", "scalar", "member", "map"],
        *["empty", "others"],
    ],
)
def test_elements_come_and_go_with_their_comments(change: Change, after: str | None) -> None:
    result = edited(LIST, change)
    if after is not None:
        assert result == after


def test_an_element_that_is_null_can_be_set() -> None:
    assert edited("l:\n-\n- 1\n", put("l", 0, to="x")) == "l:\n- x\n- 1\n"


def test_elements_of_a_list_in_a_list_come_and_go() -> None:
    before = "l:\n- - a\n  - b\n- - c\n"
    assert edited(before, insert("l", 0, at=2, new="w")) == "l:\n- - a\n  - b\n  - w\n- - c\n"
    assert edited(before, cut("l", 0, 1)) == "l:\n- - a\n- - c\n"


def test_a_renamed_element_keeps_its_other_lines() -> None:
    before = "l:\n- name: a # c\n  v: 1 # v\n- name: b\n  v: 2\n"
    assert edited(before, put("l", 0, "name", to="w")) == before.replace("name: a", "name: w")


def test_elements_move_without_a_change_of_others() -> None:
    before = "l:\n- name: a # a\n- name: b # b\n- name: c # c\n"
    after = edited(before, lambda v: {**v, "l": [v["l"][2], v["l"][0], v["l"][1]]})
    assert after == "l:\n- name: c\n- name: a # a\n- name: b # b\n"


# -------------------------------------------------------------------------------------------- flow


@pytest.mark.parametrize(
    ("before", "change", "after"),
    [
        ("a: {b: 1, c: 2} # c\n", put("a", "b", to=9), "a: {b: 9, c: 2} # c\n"),
        ("a: {b: 'x'}\n", put("a", "b", to="w"), "a: {b: 'w'}\n"),
        ("a: {b: 1, c: 2}\n", put("a", "w", to=[1]), "a: {b: 1, c: 2, w: [1]}\n"),
        ("a: { b: 1, c: 2 }\n", cut("a", "b"), "a: { c: 2 }\n"),
        ("a: {b: 1, c: 2}\n", cut("a", "c"), "a: {b: 1}\n"),
        ("a: {b: 1, c: 2, d: 3}\n", cut("a", "c"), "a: {b: 1, d: 3}\n"),
        ("a: {b: 1}\n", put("a", to={}), "a: {}\n"),
        ("a: {b}\n", put("a", "b", to=1), "a: {b: 1}\n"),
        ("a: {b: }\n", put("a", "b", to=1), "a: {b: 1}\n"),
        ("a: {'b':}\n", put("a", "b", to=1), "a: {'b': 1}\n"),
        ("a: [1, 2] # c\n", insert("a", at=2, new=3), "a: [1, 2, 3] # c\n"),
        ("a: [1, 2]\n", insert("a", at=0, new=0), "a: [0, 1, 2]\n"),
        ("a: [1, 2]\n", insert("a", at=1, new={"b": "c"}), "a: [1, {b: c}, 2]\n"),
        ("a: [1, 2, 3]\n", cut("a", 0), "a: [2, 3]\n"),
        ("a: [1, 2, 3]\n", cut("a", 2), "a: [1, 2]\n"),
        ("a: [1, 2, ]\n", cut("a", 1), "a: [1, ]\n"),
        ("a: ['x']\n", insert("a", at=1, new="w"), "a: ['x', w]\n"),
        ('a: ["sh", "-c"]\n', insert("a", at=2, new="x"), 'a: ["sh", "-c", "x"]\n'),
        ("a: [\n  1,\n  2\n  ]\n", insert("a", at=2, new=3), "a: [\n  1,\n  2,\n  3\n  ]\n"),
        (
            "a: {\n    b: 1, # c\n    c: 2\n  }\n",
            put("a", "c", to=3),
            "a: {\n    b: 1, # c\n    c: 3\n  }\n",
        ),
        ("a: [x]\n", put("a", 0, to="l1\nl2"), 'a: ["l1\\nl2"]\n'),
        ("a: [x]\n", put("a", 0, to="a, b"), 'a: ["a, b"]\n'),
        ("a: [b: 1]\n", put("a", 0, "b", to=2), "a: [b: 2]\n"),
    ],
)
def test_flow_style_stays_flow_style(before: str, change: Change, after: str) -> None:
    assert edited(before + "z: 1\n", change) == after + "z: 1\n"


def test_a_multi_line_object_in_json_style_keeps_its_lines() -> None:
    text = '{\n  "apiVersion": "v1",\n  "kind": "X", # c\n  "a": {\n    "b": "x"\n  }\n}\n'
    stream = read_stream(text.encode())
    value = with_at(stream.items[0].value, ("a", "c"), "y")
    stream.items[0].replace(with_at(value, ("a", "b"), ["z"]))
    new = text.replace('"x"\n', '["z"],\n    "c": "y"\n')
    assert stream.write().decode() == new


# -------------------------------------------------------------------------------------- line breaks


@pytest.mark.parametrize(
    "change",
    [
        put("m", "a", to="x"),
        put("m", "n", to={"x": "l1\nl2"}),
        cut("m", "b"),
        cut("m"),
        insert("l", at=0, new=1),
        insert("l", at=2, new="x\ny\n"),
        cut("l", 1),
    ],
)
def test_crlf_stays_crlf(change: Change) -> None:
    text = HEAD + "m:\n  a: 1 # c\n  # about b\n  b: |\n    x\nl:\n- p\n- q\n"
    expected = edited(text.removeprefix(HEAD), change)
    stream = read_stream(text.replace("\n", "\r\n").encode())
    item = stream.items[0]
    item.replace(change(item.value))
    assert stream.write().decode() == (HEAD + expected).replace("\n", "\r\n")


@pytest.mark.parametrize(
    ("end", "change", "after"),
    [
        ("a: 1", put("a", to=2), "a: 2"),
        ("a: 1", put("b", to=2), "a: 1\nb: 2"),
        ("a: 1\nb: 2", cut("b"), "a: 1\n"),
        ("a: |\n  x", put("b", to=2), "a: x\nb: 2"),
        ("a: 1", put("a", to="x\ny\n"), 'a: "x\\ny\\n"'),
        ("a: 1 # c", put("a", to=2), "a: 2 # c"),
    ],
)
def test_a_missing_final_line_break_is_no_trouble(end: str, change: Change, after: str) -> None:
    stream = read_stream((HEAD + end).encode())
    item = stream.items[0]
    new = change(item.value)
    item.replace(new)
    assert stream.write().decode() == HEAD + after
    assert compose(HEAD + after).roots[0].value == new


# --------------------------------------------------------------------------- what is written anew


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a: &x {b: 1} # c\nc: *x\n", "a:\n  b: 1\nc:\n  b: 1\nw: 1\n"),
        ("x:\n  <<: {a: 1}\n  b: 2\n", "x:\n  b: 2\n  a: 1\nw: 1\n"),
    ],
)
def test_an_object_with_anchors_or_merge_keys_is_written_expanded(before: str, after: str) -> None:
    assert edited(before, put("w", to=1)) == after


def test_a_change_among_explicit_keys_reads_back() -> None:
    assert edited("? a\n: 1\nb: 2\n", put("a", to=3)).count("3") == 1


@pytest.mark.parametrize("anchor", ["", "&x "])
def test_deep_objects_are_written(anchor: str) -> None:
    text = HEAD + "a: " + anchor + "[" * 990 + "]" * 990 + "\n"
    stream = read_stream(text.encode())
    stream.items[0].replace({**stream.items[0].value, "w": 1})
    written = stream.write().decode()
    assert written.endswith("\nw: 1\n")
    assert anchor or written == text + "w: 1\n"


@pytest.mark.parametrize("flow", [False, True])
def test_a_change_of_every_member_of_large_collections_takes_no_quadratic_time(flow: bool) -> None:
    def change(size: int) -> None:
        value: dict[str, Any] = {"l": list(range(size)), "m": {f"k{n}": n for n in range(size)}}
        body = emit_flow(value)[1:-1] if flow else emit_block(value, 0, Layout())
        text = f"{{apiVersion: v1, kind: X, {body}}}\n" if flow else HEAD + body + "\n"
        stream = read_stream(text.encode())
        members = {key: n + 1 for key, n in value["m"].items() if n % 3}
        new = {**stream.items[0].value, "l": [*range(1, size, 2), *"z" * (size // 2)], "m": members}
        stream.items[0].replace(new)
        assert read_stream(stream.write()).items[0].value == new

    assert_linear(change, 400, lines)


def test_a_value_that_yaml_cannot_hold_is_refused() -> None:
    stream = read_stream(HEAD.encode())
    stream.items[0].replace({**stream.items[0].value, "k" * 2000: 1})
    with pytest.raises(InputError, match="cannot be written as YAML"):
        stream.write()


# ------------------------------------------------------------------------------------- small parts


def test_edits_are_applied_within_a_span() -> None:
    assert apply_edits("0123456789", [(5, 6, "x"), (3, 3, "-")], 2, 8) == "2-34x67"


def test_what_is_inserted_amid_deleted_lines_comes_behind_them() -> None:
    assert apply_edits("0123456789", [(2, 6, ""), (4, 4, "x")], 0, 10) == "01x6789"


def test_edits_that_overlap_are_refused() -> None:
    with pytest.raises(CannotEditError):
        apply_edits("0123456789", [(2, 6, ""), (4, 7, "x")], 0, 10)


@pytest.mark.parametrize(
    ("gone", "left"), [([0], "b,c"), ([1], "a,c"), ([2], "a,b"), ([0, 1], "c"), ([1, 2], "a")]
)
def test_members_leave_with_one_comma_each(gone: list[int], left: str) -> None:
    edits = without([(0, 1), (2, 3), (4, 5)], gone)
    assert apply_edits("a,b,c", edits, 0, 5) == left


def test_an_edit_needs_no_stream() -> None:
    text = "a: 1\nb: 2\n"
    root = compose(text).roots[0]
    edits = edit_object(Region(text, 0, len(text) - 1, False), root, root.value, {"a": 1, "b": 3})
    path: Path = ("b",)
    assert apply_edits(text, edits, 0, len(text)) == "a: 1\nb: 3\n"
    assert get(root.value, path) == 2


MULTI = "a\nb\nc"


@pytest.mark.parametrize("quick", [True, False])
@pytest.mark.parametrize(
    "tail",
    ["  x: |\n", "  x: |", "  x: |\n  y: b\n", "  x: |-\n\n\n  y: 1\n", "  x: |+\n\n  y: 1\n",
     "  x: |+", "  x: |2\n  y: 1\n", "  x: >\n  y: 1\n"],
)  # fmt: skip
def test_an_empty_literal_takes_several_lines(
    tail: str, quick: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(yamlstream, "WORTH_IT", 0)
    monkeypatch.setenv("KRM_FN_WIRE", "" if quick else "reference")
    stream = read_stream((ONE_ITEM + tail).encode())
    item = stream.items[0]
    item.replace({**item.value, "x": MULTI})
    written = stream.write()
    assert read_stream(written).items[0].value == item.value
    assert b"    a\n    b\n    c" in written


ONE_ITEM = """\
apiVersion: config.kubernetes.io/v1
kind: ResourceList
items:
- apiVersion: v1
  kind: ConfigMap
  metadata:
    name: a
"""
ENDS = [
    "results:",
    "results: ",
    "results: # none",
    "other:",
    "  x: <<",
    "  l:\n  - <<",
    "  x:\n  - <<\n  - <<",
    "  x: [<<]\n",
    "  l:\n  - ? a",
    "  l:\n  - ? a\n",
    "  l:\n  - ? a\n    ? b\nother: 1",
    "  l:\n  - ? a\n# end",
    "  ? a\n",
    "  ? l\n  : - ? a\n",
    "  l:\n  -\n# end\n",
]


@pytest.mark.parametrize("wide", [False, True], ids=["compact", "wide"])
@pytest.mark.parametrize("end", ENDS)
def test_an_unusual_end_is_written_alike_by_both_ways_of_reading(
    end: str, wide: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(yamlstream, "WORTH_IT", 0)
    text = ONE_ITEM + ONE_ITEM[ONE_ITEM.index("- ") :] + end
    if wide:
        head, _, items = text.partition("items:\n")
        lines = items.splitlines(keepends=True)
        inner = [line if line[:1].isalpha() or line[:1] == "#" else f"    {line}" for line in lines]
        text = f"{head}items:\n{''.join(inner)}"
    written = []
    for switch in ("", "reference"):
        monkeypatch.setenv("KRM_FN_WIRE", switch)
        for results in ((), ({"message": "m"},)):
            stream = read_stream(text.encode())
            for item in stream.items:
                item.replace({**item.value, "added": [1]})
            written.append(stream.write(results))
            assert [i.value for i in read_stream(written[-1]).items] == [
                i.value for i in stream.items
            ]
    assert written[:2] == written[2:]


def test_what_lines_said_is_forgotten_with_their_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines hold what is in Secrets."""
    monkeypatch.setattr(yamlstream, "WORTH_IT", 0)
    stream = read_stream(b"apiVersion: v1\nkind: Secret\nstringData:\n  password: hunter2\n")
    assert stream.items[0].value["stringData"] == {"password": "hunter2"}
    assert isinstance(stream, yamlstream.YamlStream)
    assert stream._lines is not None
    assert "  password: hunter2" in stream._lines._known
    reader = weakref.ref(stream._lines)
    del stream
    gc.collect()
    assert reader() is None
