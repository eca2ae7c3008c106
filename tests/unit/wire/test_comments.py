"""Comments of values: where they are read, and where they can be set."""

from __future__ import annotations

import pytest

from krm_fn.errors import InputError
from krm_fn.values import Path
from krm_fn.wire import Comment, Item, Stream, read_stream
from tests import steps

TEXT = """\
# about the object
# in two lines
apiVersion: v1 # the version
kind: ConfigMap

# not about metadata

# about metadata
metadata: # behind its key
  # about the name
  name: a   #  indented
  labels: {app: web, team: b} # the labels
data:
  #
  # after an empty line of comment
  literal: | # behind the header
    text # no comment
  quoted: "a # b" # c
  plain: a#b
  none:  # nothing there
  anchored: &here # behind the anchor
    x: 1
  multi: a
    b # behind both lines
list: # of things
# at the dash
- a: 1 # one
- - 2 # two
  - 3
# below all
"""


def stream(text: str = TEXT) -> Stream:
    return read_stream(text.encode())


def item(text: str = TEXT) -> Item:
    return stream(text).items[0]


READ: dict[Path, tuple[str, str]] = {
    (): ("about the object\nin two lines", ""),
    ("apiVersion",): ("about the object\nin two lines", "the version"),
    ("metadata",): ("about metadata", "behind its key"),
    ("metadata", "name"): ("about the name", " indented"),
    ("metadata", "labels"): ("", "the labels"),
    ("data", "literal"): ("\nafter an empty line of comment", "behind the header"),
    ("data", "quoted"): ("", "c"),
    ("data", "none"): ("", "nothing there"),
    ("data", "anchored"): ("", "behind the anchor"),
    ("data", "multi"): ("", "behind both lines"),
    ("list",): ("", "of things"),
    ("list", 0): ("at the dash", ""),
    ("list", 0, "a"): ("", "one"),
    ("list", 1, 0): ("", "two"),
}


def test_every_comment_is_read_at_its_value() -> None:
    assert {path: tuple(c) for path, c in item().written_comments.items()} == READ


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_comments_are_read_whatever_ends_the_lines(newline: str) -> None:
    written = item(TEXT.replace("\n", newline)).written_comments
    assert {path: tuple(c) for path, c in written.items()} == READ


def test_comments_of_an_item_of_a_list_are_those_of_its_own_text() -> None:
    text = """\
apiVersion: config.kubernetes.io/v1
kind: ResourceList
items:
# the first
- apiVersion: v1
  kind: A
# the second
- {apiVersion: v1, kind: B} # in braces
"""
    first, second = stream(text).items
    assert {path: tuple(c) for path, c in first.written_comments.items()} == {(): ("the first", "")}
    assert {path: tuple(c) for path, c in second.written_comments.items()} == {
        (): ("the second", "in braces")
    }


def test_comments_are_read_beside_an_alias_to_another_object() -> None:
    text = "apiVersion: v1\nkind: L\nitems:\n- &x\n  apiVersion: v1\n  kind: A # a\n  d: {e: 1}\n"
    text += "- <<: *x\n  kind: B # b\n"
    items = stream(text.replace("kind: L", "kind: List")).items
    assert [i.written_comments["kind",].line for i in items] == ["a", "b"]


def test_json_has_no_comments_to_read() -> None:
    assert item('{"apiVersion": "v1", "kind": "A"}').written_comments == {}


def written(*comments: Comment, text: str = TEXT) -> str:
    one = stream(text)
    for comment in comments:
        one.items[0].comments[comment.path, comment.head] = comment
    return one.write().decode()


SET = {
    "behind a scalar": (Comment(("kind",), "k"), "kind: ConfigMap", "kind: ConfigMap # k"),
    "in place of one": (Comment(("data", "quoted"), "d"), '"a # b" # c', '"a # b" # d'),
    "none": (Comment(("data", "quoted"), ""), '"a # b" # c', '"a # b"'),
    "behind a key": (Comment(("data",), "d"), "data:\n", "data: # d\n"),
    "behind a header": (Comment(("data", "literal"), "l"), "| # behind the header", "| # l"),
    "behind a flow": (Comment(("metadata", "labels"), "x"), "} # the labels", "} # x"),
    "above a key": (Comment(("kind",), "k\n\nl", True), "kind: C", "# k\n#\n# l\nkind: C"),
    "above, in place of one": (
        Comment(("metadata", "name"), "n", True),
        "  # about the name\n",
        "  # n\n",
    ),
    "above, none": (Comment(("metadata", "name"), "", True), "  # about the name\n", ""),
    "above a dash": (Comment(("list", 1), "2", True), "- - 2", "# 2\n- - 2"),
    "above an object": (
        Comment((), "o", True),
        "# about the object\n# in two lines\n",
        "# o\n",
    ),
}


@pytest.mark.parametrize(("comment", "before", "after"), SET.values(), ids=SET)
def test_a_comment_is_set_and_nothing_else_changes(
    comment: Comment, before: str, after: str
) -> None:
    assert written(comment) == TEXT.replace(before, after, 1)


CANNOT = {
    "inside a flow": (Comment(("metadata", "labels", "app"), "x"), "something else stands behind"),
    "not there": (Comment(("spec",), "x"), "it is not there"),
    "an element in a block": (Comment(("list", 0), "x"), "it has no line of its own"),
    "above in a flow": (Comment(("metadata", "labels", "app"), "x", True), "stands before it"),
    "above behind a dash": (Comment(("list", 1, 0), "x", True), "stands before it"),
    "a line break of YAML 1.1": (Comment(("kind",), "a\x85b: c"), "would change a value"),
}


@pytest.mark.parametrize(("comment", "reason"), CANNOT.values(), ids=CANNOT)
def test_a_comment_that_cannot_stand_is_an_error(comment: Comment, reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        written(comment)


def test_comments_of_an_item_of_another_text_leave_with_it() -> None:
    target = stream("apiVersion: v1\nkind: A\n")
    source = item()
    source.comments["kind", False] = Comment(("kind",), "new")
    target.add(source)
    first, second = read_stream(target.write()).items
    assert first.written_comments == {}
    assert second.written_comments["kind",].line == "new"
    assert second.written_comments["metadata", "name"].head == "about the name"
    assert second.written_comments["list", 1, 0].line == "two"


def test_an_added_item_leaves_as_it_is_when_the_text_is_written() -> None:
    target, source = stream("apiVersion: v1\nkind: A\n"), item("apiVersion: v1\nkind: B\n")
    target.add(source)
    source.replace({**source.value, "x": 1})
    assert target.write().endswith(b"kind: B\nx: 1\n")
    target.drop(source)
    assert target.write() == b"apiVersion: v1\nkind: A\n"


WIDE = "apiVersion: v1\nkind: A\ndata:\n"


@pytest.mark.parametrize("line", ["  k{n}: 1 # c\n", "  # c\n  k{n}: 1\n"])
def test_reading_comments_takes_steps_in_proportion(line: str) -> None:
    def read(size: int) -> None:
        body = "".join(line.format(n=n) for n in range(size))
        assert len(item(WIDE + body).written_comments) == size

    steps.assert_linear(read, 200)
