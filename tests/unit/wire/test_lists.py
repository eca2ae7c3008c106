"""Objects with `items`: which objects they are, and how changed ones are written back."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml

from krm_fn.errors import InputError
from krm_fn.values import equal
from krm_fn.wire import Item, Stream, read_stream, yamlstream

HEAD = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n"
OUTER = """\
# of the outer
apiVersion: v1
kind: ConfigMap
metadata:
  name: outer
items:
# of the first
- apiVersion: v1
  kind: Pod
  metadata: {name: a}
  spec: {x: 1}   # spec
- apiVersion: v1
  kind: Pod
  metadata: {name: b}
data: {k: v}
"""


def heads(stream: Stream) -> list[str]:
    return [f"{item.head.kind} {item.head.name}".strip() for item in stream.items]


def read(text: str, form: str = "yaml") -> Stream:
    data = json.dumps(yaml.safe_load(text), indent=2) if form == "json" else text
    return read_stream(data.encode())


def indented(text: str) -> str:
    first, *rest = text.split("\n", 1)[1].splitlines()
    return f"- {first}\n" + "".join(f"  {line}\n" for line in rest)


@pytest.mark.parametrize("form", ["yaml", "json"])
@pytest.mark.parametrize(
    ("outer", "expected"),
    [
        ("v1 ConfigMap outer", ["ConfigMap outer", "Pod a", "x Secret b"]),
        ("v1 List outer", ["Pod a", "x Secret b"]),
        ("v1 PodList -", ["Pod a", "x Secret b"]),
        ("example.com/v1 AllowList outer", ["AllowList outer", "Pod a", "x Secret b"]),
    ],
)
def test_the_objects_of_a_list_are_its_elements_and_itself(
    outer: str, expected: list[str], form: str
) -> None:
    api_version, kind, name = outer.split()
    text = f"apiVersion: {api_version}\nkind: {kind}\nmetadata: {{name: {name}}}\nitems:\n"
    text = text.replace("metadata: {name: -}\n", "")
    text += "- {apiVersion: v1, kind: Pod, metadata: {name: a}}\n"
    text += "- {apiVersion: v1, kind: x Secret, metadata: {name: b}}\n"
    assert heads(read(text, form)) == expected


@pytest.mark.parametrize("form", ["yaml", "json"])
def test_an_element_takes_apiversion_and_kind_where_it_has_neither(form: str) -> None:
    text = "apiVersion: apps/v1\nkind: DeploymentList\nitems:\n- metadata: {name: a}\n  x: 1\n"
    stream = read(text, form)
    (item,) = stream.items
    assert str(item.head) == "apps/v1/Deployment a"
    assert item.value["kind"] == "Deployment"
    item.replace({**item.value, "x": 2})
    again = stream.write()
    assert b"Deployment\n" not in again
    assert equal(yaml.safe_load(again), {**yaml.safe_load(text), "items": [{
        "metadata": {"name": "a"}, "x": 2}]})  # fmt: skip


@pytest.mark.parametrize("form", ["yaml", "json"])
def test_elements_of_a_resource_lists_item_count_with_a_kind_or_in_a_list(form: str) -> None:
    def of(outer: str, element: str) -> list[str]:
        text = f"{HEAD}- {{apiVersion: v1, {outer}, items: [{element}]}}\n"
        return heads(read(text, form))

    named = "metadata: {name: o}"
    nameless = "{metadata: {name: a}}"
    assert of(f"kind: Pod, {named}", "{apiVersion: v1, kind: X}") == ["Pod o", "X"]
    assert of(f"kind: Pod, {named}", nameless) == ["Pod o"]
    assert of("kind: PodList", nameless) == ["Pod a"]
    assert of("kind: PodList", "{image: i}") == ["PodList"]
    assert of(f"kind: AllowList, {named}", "{cidr: i}, 5, [], null") == ["AllowList o"]
    assert of(f"kind: Pod, {named}", "{apiVersion: v1, kind: List, items: "
              "[{apiVersion: v1, kind: Secret}]}") == ["Pod o", "Secret"]  # fmt: skip
    for element in (nameless, "5", "{}"):
        with pytest.raises(InputError):
            of("kind: List", element)


def with_label(value: dict[str, Any]) -> dict[str, Any]:
    return {**value, "metadata": {**value["metadata"], "labels": {"a": "b"}}}


@pytest.mark.parametrize("text", [OUTER, HEAD + indented(OUTER)], ids=["stream", "list"])
def test_changes_of_elements_leave_everything_around_them(text: str) -> None:
    stream = read_stream(text.encode())
    stream.items[1].replace({**stream.items[1].value, "spec": {"x": 2}})
    assert stream.write().decode() == text.replace("{x: 1}", "{x: 2}")


@pytest.mark.parametrize("text", [OUTER, HEAD + indented(OUTER)], ids=["stream", "list"])
def test_the_outer_object_and_its_elements_change_together(text: str) -> None:
    stream = read_stream(text.encode())
    for item in stream.items:
        item.replace(with_label(item.value))
    written = stream.write()
    again = read_stream(written)
    assert heads(again) == ["ConfigMap outer", "Pod a", "Pod b"]
    assert [item.value["metadata"]["labels"] for item in again.items] == [{"a": "b"}] * 3
    assert [item.value for item in again.items[1:]] == [i.value for i in stream.items[1:]]
    for line in (b"# of the first\n", b"  # spec\n", b"data: {k: v}\n"):
        assert line in written


@pytest.mark.parametrize("form", ["yaml", "json"])
def test_elements_are_dropped_alone_and_with_the_outer_object(form: str) -> None:
    stream = read(OUTER, form)
    stream.drop(stream.items[1])
    assert heads(read_stream(stream.write())) == ["ConfigMap outer", "Pod b"]
    stream.items[0].replace(with_label(stream.items[0].value))
    assert heads(read_stream(stream.write())) == ["ConfigMap outer", "Pod b"]
    stream.items[2].dropped = True
    assert heads(read_stream(stream.write())) == ["ConfigMap outer"]
    stream = read(OUTER + "---\napiVersion: v1\nkind: X\n") if form == "yaml" else read(OUTER)
    stream.drop(stream.items[0])
    assert all(item.dropped for item in stream.items[:3])
    assert heads(read_stream(stream.write())) == (["X"] if form == "yaml" else [])


@pytest.mark.parametrize("form", ["yaml", "json"])
def test_what_stands_deeper_is_written_with_the_outermost_object(form: str) -> None:
    inner = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}}
    middle = {"apiVersion": "v1", "kind": "List", "items": [inner, {**inner, "kind": "Gone"}]}
    outer = {"apiVersion": "v1", "kind": "Map", "metadata": {"name": "o"}, "items": [middle]}
    text = yaml.safe_dump({**yaml.safe_load(HEAD), "items": [outer]})
    stream = read(text, form)
    assert heads(stream) == ["Map o", "Pod p", "Gone p"]
    stream.drop(stream.items[2])
    for item in stream.items[:2]:
        item.replace(with_label(item.value))
    again = read_stream(stream.write())
    assert heads(again) == ["Map o", "Pod p"]
    assert all(item.value["metadata"]["labels"] == {"a": "b"} for item in again.items)


@pytest.mark.parametrize("touched", [0, 1, 2])
def test_anchors_among_elements_are_written_out(touched: int) -> None:
    text = OUTER.replace("spec: {x: 1}", "spec: &s {x: 1}").replace(
        "metadata: {name: b}", "metadata: {name: b}\n  spec: *s"
    )
    stream = read_stream(text.encode())
    stream.items[touched].replace(with_label(stream.items[touched].value))
    written = stream.write()
    assert b"&s" not in written
    finals = [item.final for item in stream.items]
    assert equal([item.value for item in read_stream(written).items], finals)


def test_an_element_cannot_be_changed_through_the_outer_object() -> None:
    outer = read_stream(OUTER.encode()).items[0]
    with pytest.raises(InputError, match="objects of their own"):
        outer.replace({**outer.value, "items": []})


def test_lists_of_lists_end_somewhere() -> None:
    def nested(depth: int) -> dict[str, Any]:
        value: dict[str, Any] = {"apiVersion": "v1", "kind": "A", "metadata": {"name": "a"}}
        for _ in range(depth):
            value = {**value, "items": [value]}
        return {**yaml.safe_load(HEAD), "items": [value]}

    for text in (json.dumps(nested(20)), yaml.safe_dump(nested(10))):
        assert read_stream(text.encode()).items
    for text in (json.dumps(nested(40)), yaml.safe_dump(nested(40), width=10**9)):
        with pytest.raises(InputError, match="nest too deep"):
            read_stream(text.encode())


def test_both_ways_of_reading_find_the_same_lists(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(yamlstream, "WORTH_IT", 0)
    text = HEAD + indented(OUTER) + indented(OUTER.replace("outer", "other"))

    def found(item: Item) -> Any:
        return item.head, item.place, item.outer and item.outer.head, sorted(item.elements)

    quick = [found(item) for item in read_stream(text.encode()).items]
    monkeypatch.setenv("KRM_FN_WIRE", "reference")
    assert [found(item) for item in read_stream(text.encode()).items] == quick
    assert len(quick) == 6
