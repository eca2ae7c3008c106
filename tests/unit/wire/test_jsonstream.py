from __future__ import annotations

import json
from typing import Any

import pytest

from krm_fn.errors import InputError
from krm_fn.values import MISSING, with_at
from krm_fn.wire import Stream, read_stream
from krm_fn.wire.jsonstream import JsonStream
from tests.steps import calls

POD = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}}


def a_list(*items: Any, **more: Any) -> dict[str, Any]:
    head = {"apiVersion": "config.kubernetes.io/v1", "kind": "ResourceList"}
    return {**head, "items": list(items), **more}


def pod(name: str) -> dict[str, Any]:
    return with_at(POD, ("metadata", "name"), name)


def read(text: str) -> Stream:
    stream = read_stream(text.encode())
    assert isinstance(stream, JsonStream)
    return stream


INDENTS = [None, 1, 2, 4, "\t"]


@pytest.mark.parametrize("indent", INDENTS)
@pytest.mark.parametrize("end", ["", "\n", "\r\n\n"])
def test_what_is_untouched_keeps_its_bytes(indent: Any, end: str) -> None:
    text = json.dumps(a_list(POD, functionConfig=POD, other=[1.10]), indent=indent) + end
    stream = read(text)
    assert stream.items[0].value == POD
    assert stream.function_config is not None
    assert stream.function_config.value == POD
    assert stream.write().decode() == text


@pytest.mark.parametrize("indent", INDENTS)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_a_touched_object_is_written_in_the_indentation_of_the_file(
    indent: Any, newline: str
) -> None:
    text = json.dumps(a_list(pod("a"), pod("b"), x=1), indent=indent).replace("\n", newline)
    stream = read(text)
    stream.items[1].replace(with_at(pod("b"), ("metadata", "labels"), {"l": [1, {}]}))
    changed = a_list(pod("a"), with_at(pod("b"), ("metadata", "labels"), {"l": [1, {}]}), x=1)
    expected = json.dumps(changed, indent=indent).replace("\n", newline)
    assert stream.write().decode() == expected


def test_tight_json_stays_tight() -> None:
    text = json.dumps(POD, separators=(",", ":"))
    stream = read(text)
    stream.items[0].replace({**POD, "a": [1, 2]})
    assert stream.write().decode() == text[:-1] + ',"a":[1,2]}'


def test_numbers_that_do_not_change_keep_their_spelling() -> None:
    text = '{"apiVersion": "v1", "kind": "X", "a": 1.10, "b": [1E3, 2, -0, 1e-7], "c": 1e2}'
    stream = read(text)
    value = stream.items[0].value
    assert value["c"] == 100
    stream.items[0].replace(with_at(value, ("b", 1), 3))
    assert stream.write().decode() == text.replace("2, -0", "3, -0")


@pytest.mark.parametrize(
    ("text", "value", "written"),
    [
        ('"\\u00e9"', "ü", '"\\u00fc"'),
        ('"é"', "ü", '"ü"'),
        ('"\\u00e9"', "😀", '"😀"'),
        ('"x"', "\x7f\u2028\ufeff\x85", '"\\u007f\\u2028\\ufeff\\u0085"'),
        ('"x"', 'a"\\\n\t', '"a\\"\\\\\\n\\t"'),
    ],
)
def test_texts_are_escaped_as_the_file_does_and_for_yaml_readers(
    text: str, value: str, written: str
) -> None:
    before = f'{{"apiVersion": "v1", "kind": "X", "a": {text}}}'
    stream = read(before)
    stream.items[0].replace({"apiVersion": "v1", "kind": "X", "a": value})
    assert stream.write().decode() == before.replace(text, written)


@pytest.mark.parametrize("indent", INDENTS)
@pytest.mark.parametrize("gone", [[], [0], [1], [2], [0, 1], [1, 2], [0, 2], [0, 1, 2]])
@pytest.mark.parametrize("added", [0, 1, 2])
@pytest.mark.parametrize("results", [0, 1])
def test_objects_are_dropped_and_added_and_results_written(
    indent: Any, gone: list[int], added: int, results: int
) -> None:
    text = json.dumps(a_list(pod("a"), pod("b"), pod("c"), x=1), indent=indent)
    stream = read(text)
    for n in gone:
        stream.drop(stream.items[n])
    for n in range(added):
        stream.add(pod(f"new{n}"))
    written = stream.write([{"message": "m"}] * results).decode()
    kept = [pod(name) for n, name in enumerate("abc") if n not in gone]
    expected = a_list(*kept, *[pod(f"new{n}") for n in range(added)], x=1)
    if results:
        expected["results"] = [{"message": "m"}]
    assert json.loads(written) == expected
    if len(gone) < 3:
        assert written == json.dumps(expected, indent=indent)


@pytest.mark.parametrize("indent", INDENTS)
def test_an_empty_list_can_be_added_to(indent: Any) -> None:
    stream = read(json.dumps(a_list(), indent=indent))
    stream.add(POD)
    assert stream.write().decode() == json.dumps(a_list(POD), indent=indent)


@pytest.mark.parametrize("indent", INDENTS)
@pytest.mark.parametrize("old", [[], [{"message": "old"}]])
def test_old_results_are_replaced_or_leave(indent: Any, old: list[Any]) -> None:
    before = a_list(POD, results=old, x=1)
    new = [{"message": "new"}]
    text = json.dumps(before, indent=indent)
    assert read(text).write(new).decode() == json.dumps({**before, "results": new}, indent=indent)
    assert read(text).write().decode() == json.dumps(a_list(POD, x=1), indent=indent)


@pytest.mark.parametrize("nested", [False, True])
def test_a_list_is_looked_into_and_stays_a_list(nested: bool) -> None:
    inner = {"apiVersion": "v1", "items": [pod("a"), pod("b")], "kind": "List"}
    text = json.dumps(a_list(inner, pod("c")) if nested else inner)
    stream = read(text)
    assert [item.head.name for item in stream.items[:2]] == ["a", "b"]
    stream.drop(stream.items[0])
    stream.items[1].replace({**pod("b"), "x": 1})
    changed = {**inner, "items": [{**pod("b"), "x": 1}]}
    assert json.loads(stream.write()) == (a_list(changed, pod("c")) if nested else changed)


def test_several_documents_and_lists_at_the_top_are_streams() -> None:
    text = f"{json.dumps(pod('a'))}\n[{json.dumps(pod('b'))}, {json.dumps(pod('c'))}]\n"
    stream = read(text)
    assert [item.head.name for item in stream.items] == ["a", "b", "c"]
    stream.drop(stream.items[0])
    stream.drop(stream.items[2])
    stream.add(pod("d"))
    again = read_stream(stream.write())
    assert [item.head.name for item in again.items] == ["b", "d"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"apiVersion": "v1", "kind": "X", "a": 1, "a": 2}', "the key 'a' is there twice"),
        ('{"apiVersion": "v1", "kind": "X", "a": NaN}', "not valid JSON: NaN"),
        ('{"apiVersion": "v1", "kind": "X", "a": 1e999}', "the number 1e999 is out of range"),
        ('{"apiVersion": "v1", "kind": "X", "a": ' + "1" * 5000 + "}", "is out of range"),
        ('{"apiVersion": "v1", "kind": "X", "a": "\\ud800"}', "half of a surrogate pair"),
        ('{"apiVersion": "v1", "kind": "X", "a": "\\udc00\\ud800"}', "half of a surrogate pair"),
        ('{"apiVersion": "v1"}', "document 1 has no kind"),
        ('{"a": ', "not valid JSON"),
        ("[1]", r"\[0\] is a number; it must be an object"),
        (json.dumps(a_list(None)), r"items\[0\] is null; it must be an object"),
        (json.dumps({**a_list(), "items": {}}), "items is a map; it must be a list of objects"),
        (json.dumps({**a_list(), "items": None}), "items is null; it must be a list of objects"),
        (json.dumps(with_at(a_list(), ("items",), MISSING)), "the ResourceList has no items"),
        (
            json.dumps(a_list(functionConfig="x")),
            "functionConfig is a string; it must be",
        ),
        (json.dumps(a_list()) + json.dumps(POD), "a ResourceList must be the only document"),
        (json.dumps({**a_list(), "apiVersion": "v2"}), "a ResourceList of apiVersion 'v2'"),
        ("[" * 10_000 + "]" * 10_000, "nested deeper than 1000 levels"),
        ('{"a":' * 1_000_000, "nested deeper than 1000 levels"),
    ],
)
def test_what_is_no_json_or_no_objects_is_refused_quickly(text: str, message: str) -> None:
    def read() -> None:
        with pytest.raises(InputError, match=message):
            read_stream(text.encode())

    calls(read, at_most=100_000)


def test_surrogate_pairs_and_escaped_backslashes_are_fine() -> None:
    text = r'{"apiVersion": "v1", "kind": "X", "a": "\ud83d\ude00", "b": "\\ud800", "c": "\/"}'
    value = read(text).items[0].value
    assert (value["a"], value["b"], value["c"]) == ("😀", "\\ud800", "/")


@pytest.mark.parametrize("number", [2**64 - 1, -(2**63), 2**63, 0])
def test_64_bit_integers_are_integers(number: int) -> None:
    value = read(json.dumps({**POD, "a": number})).items[0].value["a"]
    assert value == number
    assert type(value) is int


@pytest.mark.parametrize("number", [2**64, -(2**63) - 1, 10**30])
def test_larger_integers_are_floats(number: int) -> None:
    value = read(json.dumps({**POD, "a": number})).items[0].value["a"]
    assert value == float(number)
    assert type(value) is float


def test_deep_values_are_read_and_written() -> None:
    deep = "[" * 990 + "]" * 990
    text = f'{{"apiVersion": "v1", "kind": "X", "a": {deep}}}'
    stream = read(text)
    stream.items[0].replace({**stream.items[0].value, "b": 1})
    assert stream.write().decode() == text[:-1] + ', "b": 1}'


def test_lines_are_those_of_the_text() -> None:
    text = json.dumps(a_list(pod("a"), {**pod("b"), "l": [[1], {"x": 2}]}), indent=2)
    lines = text.split("\n")
    item = read(text).items[1]
    assert lines[item.line() - 1].strip() == "{"
    assert lines[item.line(("metadata", "name")) - 1].strip() == '"name": "b"'
    assert lines[item.line(("l", 1, "x")) - 1].strip() == '"x": 2'
    assert item.line(("gone",)) == item.line()
