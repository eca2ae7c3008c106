from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from krm_fn.errors import InputError
from krm_fn.values import with_at
from krm_fn.wire import Stream, read_stream

TOP = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\n"


def pod(name: str, pad: str = "") -> str:
    lines = ["apiVersion: v1", "kind: Pod", "metadata:", f"  name: {name}"]
    return f"\n{pad}".join(lines) + "\n"


def element(name: str, dash: str = "- ") -> str:
    return dash + pod(name, " " * len(dash))


def names(stream: Stream) -> list[str]:
    return [item.value["metadata"]["name"] for item in stream.items]


def rewritten(text: str, change: Callable[[Stream], None], results: Any = ()) -> str:
    stream = read_stream(text.encode())
    change(stream)
    return stream.write(results).decode()


def label(*indexes: int) -> Callable[[Stream], None]:
    def change(stream: Stream) -> None:
        for n in indexes:
            item = stream.items[n]
            item.replace(with_at(item.value, ("metadata", "labels"), {"l": "1"}))

    return change


def drop(*indexes: int) -> Callable[[Stream], None]:
    def change(stream: Stream) -> None:
        for n in indexes:
            stream.drop(stream.items[n])

    return change


NEW = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "new"}}


def add(stream: Stream) -> None:
    stream.add(NEW)


# ----------------------------------------------------------------------------------------- reading


@pytest.mark.parametrize("version", ["v1", "v1beta1", "v1alpha1"])
def test_a_resource_list_keeps_its_version_and_unknown_keys(version: str) -> None:
    text = f"x: {{y: [1]}}\napiVersion: config.kubernetes.io/{version}\nkind: ResourceList\n"
    text += "items:\n" + element("a") + "z: 1\n"
    stream = read_stream(text.encode())
    assert stream.api_version == f"config.kubernetes.io/{version}"
    assert stream.write().decode() == text
    assert rewritten(text, label(0)) == text.replace("z: 1", '    labels:\n      l: "1"\nz: 1')


def test_the_function_config_is_an_item_of_its_own() -> None:
    config = "functionConfig:\n  apiVersion: v1\n  kind: ConfigMap\n  data: {a: b}\n"
    stream = read_stream((TOP + config + "items: []\n").encode())
    assert stream.items == []
    assert stream.function_config is not None
    assert stream.function_config.value["data"] == {"a": "b"}
    assert stream.function_config.head.kind == "ConfigMap"


@pytest.mark.parametrize("text", ["", "# only\n", "---\n", "\n\n", "---\n# x\n---\n...\n", "~\n"])
def test_a_text_without_objects_is_an_empty_stream(text: str) -> None:
    stream = read_stream(text.encode())
    assert stream.items == []
    assert stream.write() == text.encode()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (TOP, "line 1: the ResourceList has no items"),
        (TOP + "items:\n", "line 3: items is null; it must be a list of objects"),
        (TOP + "items: {}\n", "line 3: items is a map; it must be a list of objects"),
        (TOP + "items: x\n", "line 3: items is a string; it must be a list of objects"),
        (TOP + "items: [x]\n", "line 3: items[0] is a string; it must be an object"),
        (TOP + "items:\n-\n", "line 4: items[0] is null; it must be an object"),
        (TOP + "items: [[]]\n", "line 3: items[0] is a list; it must be an object"),
        (TOP + "items: [1, x]\n", "line 3: items[0] is a number; it must be an object"),
        (TOP + "items: [true]\n", "line 3: items[0] is a boolean; it must be an object"),
        (TOP + "x: &x {}\nitems: [*x]\n", "line 4: items[0] is an alias; write the object out"),
        (TOP + "items: []\nfunctionConfig: x\n", "line 4: functionConfig is a string; it must be"),
        (TOP + "items: []\n---\n" + pod("a"), "line 1: a ResourceList must be the only document"),
        (TOP.replace("/v1", "/v9") + "items: []\n", "line 1: a ResourceList of apiVersion 'config"),
        ("a: 1\n", "line 1: document 1 has no apiVersion; every object needs apiVersion and kind"),
        ("apiVersion: v1\nkind: 5\n", "line 1: document 1 has no kind; every object needs"),
        ("- 1\n", "line 1: document 1 is a list; it must be an object"),
        (pod("a") + "---\nx\n", "line 6: document 2 is a string; it must be an object"),
        ("apiVersion: v1\nkind: List\nitems:\n- x\n", "line 4: document 1.items[0] is a string"),
        (TOP + "items: []\nitems: []\n", "line 4: the key 'items' is there twice in one map"),
    ],
)
def test_what_is_no_list_of_objects_is_refused(text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        read_stream(text.encode())
    assert str(caught.value).startswith(message)


def test_the_file_is_named_with_the_line() -> None:
    with pytest.raises(InputError, match=r"^d/x\.yaml:1: document 1 has no kind"):
        read_stream(b"apiVersion: v1\n", "d/x.yaml")
    item = read_stream(b"apiVersion: v1\nkind: X\na:\n  {b: 1, b: 2}\n", "d/x.yaml").items[0]
    with pytest.raises(InputError, match=r"^d/x\.yaml:4: the key 'b' is there twice in one map"):
        _ = item.value


def test_faults_in_an_object_are_found_when_it_is_read_with_their_line() -> None:
    stream = read_stream((TOP + "items:\n" + element("a") + "  x: 1\n  x: 2\n").encode())
    with pytest.raises(InputError, match=r"^line 9: the key 'x' is there twice"):
        _ = stream.items[0].value


@pytest.mark.parametrize(
    ("body", "head"),
    [
        ("kind: !!binary UG9k\nmetadata: {name: a}\n", ("Pod", "", "a")),
        ("kind: Pod\nm: &m {name: a, namespace: b}\nmetadata: *m\n", ("Pod", "b", "a")),
        ("kind: Pod\nm: &m {namespace: b}\nmetadata: {name: a, <<: *m}\n", ("Pod", "b", "a")),
        ("<<: {kind: Pod}\n", ("Pod", "", "")),
        ("!!binary a2luZA==: Pod\n", ("Pod", "", "")),
    ],
)
def test_aliases_and_tags_cannot_hide_what_an_object_is(
    body: str, head: tuple[str, str, str]
) -> None:
    item = read_stream(f"apiVersion: v1\n{body}".encode()).items[0]
    assert (item.head.kind, item.head.namespace, item.head.name) == head


def test_a_list_cannot_hide_its_items_behind_an_alias() -> None:
    text = "apiVersion: v1\nkind: List\nx: &x [{apiVersion: v1, kind: Pod}]\nitems: *x\n"
    with pytest.raises(InputError, match="the items of document 1 are an alias"):
        read_stream(text.encode())


def test_a_multi_line_quoted_text_cannot_forge_an_item() -> None:
    text = (
        TOP + 'items:\n- apiVersion: v1\n  kind: Pod\n  a: "x\n\n- apiVersion: v1\n\n  kind: Y"\n'
    )
    stream = read_stream(text.encode())
    assert [item.head.kind for item in stream.items] == ["Pod"]
    assert stream.items[0].value["a"] == "x\n- apiVersion: v1\nkind: Y"


# --------------------------------------------------------------------------------------- List kinds

LIST_HEAD = "apiVersion: v1\nkind: List\nmetadata: {}\nitems:\n"
LIST = LIST_HEAD + element("a") + element("b") + "# end\n"
SORTED = "apiVersion: v1\nitems:\n" + element("a") + element("b") + "kind: List\nmetadata: {}\n"
NESTED_HEAD = TOP + "items:\n- apiVersion: v1\n  kind: List\n  items:\n"


def deeper(name: str) -> str:
    return "  " + element(name).replace("\n", "\n  ").rstrip(" ")


NESTED = NESTED_HEAD + deeper("a") + deeper("b") + element("c")


@pytest.mark.parametrize(
    ("text", "first"),
    [(LIST, element("a")), (SORTED, element("a")), (NESTED, deeper("a"))],
    ids=["list", "sorted", "nested"],
)
def test_a_list_is_looked_into_and_stays_a_list(text: str, first: str) -> None:
    assert names(read_stream(text.encode()))[:2] == ["a", "b"]
    assert rewritten(text, lambda _: None) == text
    assert rewritten(text, drop(0)) == text.replace(first, "")
    before, line, after = text.partition("name: b\n")
    pad = " " * (len(before) - before.rindex("\n") - 1)
    new = f'{pad}labels:\n{pad}  l: "1"\n'
    assert rewritten(text, label(1)) == before + line + new + after


def test_a_list_that_loses_all_its_items_is_empty() -> None:
    assert rewritten(LIST, drop(0, 1)) == LIST_HEAD[:-1] + " []\n# end\n"
    assert rewritten(NESTED, drop(0, 1)) == NESTED_HEAD[:-1] + " []\n" + element("c")


def test_what_is_added_joins_the_outer_list() -> None:
    assert rewritten(NESTED, add) == NESTED + element("new")


# -------------------------------------------------------------------------------- dropping, adding

ITEMS = (
    TOP
    + "items: # note: here\n# about a\n"
    + element("a")
    + "\n# about b\n"
    + element("b")
    + "  # in b\n# about c\n"
    + element("c")
    + "# end\n\nz: 1\n"
)


@pytest.mark.parametrize(
    ("gone", "left"),
    [
        ([0], ITEMS.replace("# about a\n" + element("a") + "\n", "")),
        ([1], ITEMS.replace("# about b\n" + element("b") + "  # in b\n", "")),
        ([2], ITEMS.replace("# about c\n" + element("c"), "")),
        (
            [0, 2],
            TOP + "items: # note: here\n# about b\n" + element("b") + "  # in b\n# end\n\nz: 1\n",
        ),
        ([0, 1, 2], TOP + "items: [] # note: here\n# end\n\nz: 1\n"),
    ],
    ids=["first", "middle", "last", "two", "all"],
)
def test_dropped_items_take_their_comments_along(gone: list[int], left: str) -> None:
    assert rewritten(ITEMS, drop(*gone)) == left


def test_added_items_come_last_whatever_is_dropped() -> None:
    for gone in ([], [2], [0], [0, 1, 2]):
        text = rewritten(ITEMS, lambda s, gone=gone: (drop(*gone)(s), add(s)))  # type: ignore[misc]
        stream = read_stream(text.encode())
        assert names(stream) == [n for i, n in enumerate("abc") if i not in gone] + ["new"]
        assert text.endswith(element("new") + "# end\n\nz: 1\n")


@pytest.mark.parametrize(
    ("items", "after"),
    [
        ("items: []\n", "items:\n" + element("new")),
        ("items: [] # none: yet\n", "items: # none: yet\n" + element("new")),
        ("items:\n  " + element("a").replace("\n", "\n  ").rstrip(" "), None),
        ("items: [{apiVersion: v1, kind: Pod}]\n", None),
        ('items: [\n{"apiVersion": "v1", "kind": "Pod"}\n]\n', None),
    ],
)
def test_items_are_added_in_the_style_of_the_others(items: str, after: str | None) -> None:
    text = TOP + items
    written = rewritten(text, add)
    assert read_stream(written.encode()).items[-1].value == NEW
    if after is not None:
        assert written == TOP + after
    elif "[" in items:
        quoted = '"name": "new"' in written
        assert quoted == ('"kind"' in items)
    else:
        assert written.endswith(
            "\n  - apiVersion: v1\n    kind: Pod\n    metadata:\n      name: new\n"
        )


STREAM = (
    "# top\n" + pod("a") + "---\n# about b\n" + pod("b") + "--- # c\n" + pod("c") + "...\n# end\n"
)


@pytest.mark.parametrize(
    ("gone", "left"),
    [
        ([0], "# top\n---\n# about b\n" + pod("b") + "--- # c\n" + pod("c") + "...\n# end\n"),
        ([1], "# top\n" + pod("a") + "--- # c\n" + pod("c") + "...\n# end\n"),
        ([2], "# top\n" + pod("a") + "---\n# about b\n" + pod("b")),
        ([0, 1, 2], "# top\n"),
    ],
)
def test_documents_of_a_stream_can_be_dropped(gone: list[int], left: str) -> None:
    assert rewritten(STREAM, drop(*gone)) == left


@pytest.mark.parametrize(
    ("gone", "left"),
    [
        (0, "---\n" + pod("b") + "...\n%YAML 1.1\n---\n" + pod("c")),
        (1, pod("a") + "...\n%YAML 1.1\n---\n" + pod("c")),
        (2, pod("a") + "---\n" + pod("b") + "...\n"),
    ],
)
def test_directives_keep_an_end_marker_before_them(gone: int, left: str) -> None:
    text = pod("a") + "---\n" + pod("b") + "...\n%YAML 1.1\n---\n" + pod("c")
    assert rewritten(text, drop(gone)) == left


@pytest.mark.parametrize("text", [pod("a"), pod("a").rstrip(), "---\n" + pod("a") + "...\n", ""])
def test_a_document_can_be_added(text: str) -> None:
    lead = "" if not text or text.endswith("\n") else "\n"
    assert rewritten(text, add) == text + lead + "---\n" + pod("new")


def test_a_dropped_item_does_not_leave_its_blank_lines_to_a_literal() -> None:
    text = (
        TOP + "items:\n" + element("a") + "  t: |+\n    x\n" + element("b") + "\n\n" + element("c")
    )
    written = rewritten(text, drop(1))
    assert read_stream(written.encode()).items[0].value["t"] == "x\n"
    assert written == text.replace(element("b") + "\n\n", "")


def test_a_missing_final_line_break_is_no_part_of_an_added_text() -> None:
    text = TOP + "items: []"
    stream = read_stream(text.encode())
    stream.add({**NEW, "t": "x\ny\n"})
    assert read_stream(stream.write()).items[0].value["t"] == "x\ny\n"


# ----------------------------------------------------------------------------------------- results

RESULTS = [{"message": "m", "severity": "info"}]
WRITTEN = "results:\n- message: m\n  severity: info\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (TOP + "items: []\n", TOP + "items: []\n" + WRITTEN),
        (TOP + "items: []", TOP + "items: []\n" + WRITTEN.rstrip()),
        (
            TOP + "items: []\nresults:\n- a: 1 # c\n# end\n",
            TOP + "items: []\n" + WRITTEN + "# end\n",
        ),
        (TOP + "results: [{a: 1}]\nitems: []\n", TOP + WRITTEN + "items: []\n"),
        ("results: []\n" + TOP + "items: []\n", WRITTEN + TOP + "items: []\n"),
        (
            TOP + "items:\n" + element("a") + "  t: |+\n    x\n\n# end\n",
            TOP + "items:\n" + element("a") + "  t: |+\n    x\n\n" + WRITTEN + "# end\n",
        ),
        (
            "{apiVersion: config.kubernetes.io/v1, kind: ResourceList, items: [] # c\n}\n",
            "{apiVersion: config.kubernetes.io/v1, kind: ResourceList, items: [], "
            '"results": [{"message": "m", "severity": "info"}] # c\n}\n',
        ),
    ],
)
def test_results_are_written_or_replaced(before: str, after: str) -> None:
    assert rewritten(before, lambda _: None, RESULTS) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (TOP + "items: []\nresults:\n- a: 1\nz: 1\n", TOP + "items: []\nz: 1\n"),
        ("results: []\n" + TOP + "items: []\n", TOP + "items: []\n"),
        (
            "{apiVersion: config.kubernetes.io/v1, results: [1], kind: ResourceList, items: [],}",
            "{apiVersion: config.kubernetes.io/v1, kind: ResourceList, items: [],}",
        ),
    ],
)
def test_old_results_leave_where_there_are_no_new_ones(before: str, after: str) -> None:
    assert rewritten(before, lambda _: None) == after


def test_results_behind_an_open_literal_do_not_lengthen_it() -> None:
    text = TOP + "items:\n" + element("a") + "  t: |\n    x"
    written = rewritten(text, lambda _: None, RESULTS)
    assert read_stream(written.encode()).items[0].value["t"] == "x"


# ----------------------------------------------------------------------------------------- anchors


ANCHORS = (
    TOP
    + "items:\n- apiVersion: v1\n  kind: A # c\n  l: &l {x: 1}\n  m: *l\n"
    + "- apiVersion: v1\n  kind: B # c\n  l: *l\n"
    + "- apiVersion: v1\n  kind: C # c\n  o: &o [1]\n  p: *o\n"
    + "functionConfig:\n  apiVersion: v1\n  kind: F\n  o: *l\n"
)


def set_a(*indexes: int) -> Callable[[Stream], None]:
    def change(stream: Stream) -> None:
        for n in indexes:
            stream.items[n].replace({**stream.items[n].value, "a": 1})

    return change


def test_untouched_anchors_stay() -> None:
    assert rewritten(ANCHORS, lambda _: None) == ANCHORS


def test_aliases_to_other_items_are_read() -> None:
    stream = read_stream(ANCHORS.encode())
    assert stream.items[1].value["l"] == {"x": 1}
    assert stream.function_config is not None
    assert stream.function_config.value["o"] == {"x": 1}


@pytest.mark.parametrize("touched", [0, 1])
def test_all_that_share_an_anchor_are_expanded_when_one_is_touched(touched: int) -> None:
    written = rewritten(ANCHORS, set_a(touched))
    assert "*l" not in written
    assert "&l" not in written
    assert ANCHORS[ANCHORS.index("- apiVersion: v1\n  kind: C") :][:50] in written
    assert "functionConfig:\n  apiVersion: v1\n  kind: F\n  o:\n    x: 1\n" in written
    stream = read_stream(written.encode())
    assert [item.value.get("l") for item in stream.items] == [{"x": 1}, {"x": 1}, None]
    assert [n for n, item in enumerate(stream.items) if "a" in item.value] == [touched]


def test_anchors_inside_one_item_bear_on_no_other() -> None:
    written = rewritten(ANCHORS, set_a(2))
    assert written.startswith(ANCHORS[: ANCHORS.index("- apiVersion: v1\n  kind: C")])
    assert "o:\n  - 1\n  p:\n  - 1\n  a: 1\n" in written


def test_a_dropped_anchor_leaves_its_value_where_it_was_used() -> None:
    written = rewritten(ANCHORS, drop(0))
    assert read_stream(written.encode()).items[0].value["l"] == {"x": 1}


def test_an_anchored_function_config_is_expanded_below_its_key() -> None:
    config = "functionConfig: &f\n  apiVersion: v1\n  kind: F\n"
    text = TOP + config + "items:\n- apiVersion: v1\n  kind: A\n  f: *f\n"
    written = rewritten(text, set_a(0))
    assert "functionConfig: \n  apiVersion: v1\n  kind: F\nitems:" in written
    assert read_stream(written.encode()).items[0].value["f"] == {"apiVersion": "v1", "kind": "F"}


def test_an_anchor_that_something_else_needs_is_refused() -> None:
    text = (
        "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: A\n  x: &x 1\nz: {y: *x}\n"
    )
    with pytest.raises(InputError, match="write it without anchors"):
        rewritten(text, set_a(0))


@pytest.mark.parametrize("start", ["--- &x\n", "--- !t\n", "--- # c\n", "--- !!map &x # c\n"])
def test_a_document_that_begins_on_the_line_of_its_marker_can_change(start: str) -> None:
    written = rewritten(start + "apiVersion: v1\nkind: A\nb: 1\n", set_a(0))
    assert read_stream(written.encode()).items[0].value["a"] == 1
    assert written.startswith("---")
    assert written.endswith("\napiVersion: v1\nkind: A\nb: 1\na: 1\n")


# ----------------------------------------------------------------------------- odd texts, positions


@pytest.mark.parametrize(
    "text",
    [
        "%YAML 1.1\n---\n" + pod("a"),
        "%TAG ! tag:x.y,2000:\n---\n" + pod("a") + "x: !z 1\n",
        "# c\n%YAML 1.1\n# d\n---\n" + pod("a") + "...\n%YAML 1.1\n---\n" + pod("b"),
        "--- {apiVersion: v1, kind: Pod, metadata: {name: a}}\n...\n---\n" + pod("b"),
        "\ufeff" + pod("a"),
        pod("a").replace("\n", "\r\n"),
        pod("a").rstrip(),
        "  " + pod("a", "  "),
        pod("a") + "t: 'x\u2028y\x85z'\n",
        TOP + "items:\n-\n  " + pod("a", "  ") + "-   " + pod("b", "    "),
        TOP + "items:\n- ? apiVersion\n  : v1\n  ? kind\n  : Pod\n  ? metadata\n  : name: a\n",
    ],
)
def test_odd_texts_are_read_kept_and_changed(text: str) -> None:
    stream = read_stream(text.encode())
    assert stream.write() == text.encode()
    written = rewritten(text, label(0))
    again = read_stream(written.encode())
    assert names(again) == names(stream)
    assert again.items[0].value["metadata"]["labels"] == {"l": "1"}
    assert written.startswith("\ufeff") == text.startswith("\ufeff")


def test_lone_carriage_returns_are_read_and_not_edited_wrongly() -> None:
    text = TOP + "items:\n- apiVersion: v1\r  kind: A\r- apiVersion: v1\r  kind: B\n"
    stream = read_stream(text.encode())
    assert [item.value["kind"] for item in stream.items] == ["A", "B"]
    assert stream.write() == text.encode()
    with pytest.raises(InputError):
        rewritten(text, set_a(0))


def test_lines_are_those_of_the_text() -> None:
    text = NESTED + "functionConfig:\n  apiVersion: v1\n  kind: F\n  l:\n  - - x\n    - y: &y 1\n"
    stream = read_stream(text.encode())
    lines = text.split("\n")

    def line(item: Any, *path: str | int) -> str:
        return lines[item.line(path) - 1].strip()

    b = stream.items[1]
    assert line(b) == "- apiVersion: v1"
    assert line(b, "metadata", "name") == "name: b"
    assert line(b, "metadata", "gone", "x") == "metadata:"
    assert line(stream.function_config, "l", 0, 1, "y") == "- y: &y 1"
    assert line(stream.function_config, "l", 5) == "l:"


def test_lines_count_directives_and_aliases() -> None:
    text = "%YAML 1.1\n---\n" + pod("a")
    assert read_stream(text.encode()).items[0].line(("metadata", "name")) == 6
    assert read_stream(ANCHORS.encode()).items[1].line(("l",)) == 10


def test_an_item_replaced_by_an_equal_one_is_untouched() -> None:
    stream = read_stream(ANCHORS.encode())
    stream.items[0].replace({**stream.items[0].value})
    assert not stream.changed
    assert stream.write().decode() == ANCHORS


def test_nothing_that_was_handed_out_is_changed_by_writing() -> None:
    stream = read_stream(ITEMS.encode())
    original = stream.items[0].value
    label(0)(stream)
    stream.write(RESULTS)
    assert original == {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}}
    assert stream.items[0].original is original


def test_many_items_that_share_one_anchor_take_no_quadratic_time() -> None:
    body = "".join(f"- {{apiVersion: v1, kind: K{n}, x: *x}}\n" for n in range(5000))
    text = TOP + "x: &x 1\nitems:\n" + body
    written = rewritten(text, set_a(4999))
    assert "*x" not in written
