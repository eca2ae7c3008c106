"""JSON Patch as the API server's policies apply it: what it does otherwise than the RFC."""

from __future__ import annotations

from typing import Any

import pytest

from krm_fn import limits
from krm_fn.errors import EvaluationError, LimitError
from krm_fn.lang.patch.apiserver import apply_server

Json = dict[str, Any]


def op(name: str, path: str, **more: Any) -> Json:
    return {"op": name, "path": path, **{key.rstrip("_"): value for key, value in more.items()}}


DOCUMENT: Json = {"m": {"a": 1, "b/c": 2}, "l": ["x", "y"], "n": None, "s": "text", "e": {}}


@pytest.mark.parametrize(
    ("operations", "changed"),
    [
        ([op("add", "/m/a", value=5)], {"m": {"a": 5, "b/c": 2}}),
        ([op("add", "/l/-", value="z")], {"l": ["x", "y", "z"]}),
        ([op("add", "/l/-1", value="z")], {"l": ["x", "y", "z"]}),
        ([op("add", "/l/+1", value="z")], {"l": ["x", "z", "y"]}),
        ([op("add", "/m/new")], {"m": {"a": 1, "b/c": 2, "new": None}}),
        ([op("remove", "/m/b~1c")], {"m": {"a": 1}}),
        ([op("remove", "/l/-1")], {"l": ["x"]}),
        ([op("replace", "/m/none", value=1)], {"m": {"a": 1, "b/c": 2, "none": 1}}),
        ([op("move", "/l/-", from_="/l/0")], {"l": ["y", "x"]}),
        ([op("copy", "/m/c", from_="/m/none")], {"m": {"a": 1, "b/c": 2, "c": None}}),
        ([op("test", "/m/a", value=1.0), op("remove", "/m/a")], {"m": {"b/c": 2}}),
        ([op("test", "/e", value=None), op("remove", "/m/a")], {"m": {"b/c": 2}}),
    ],
)
def test_an_operation_changes_what_the_library_changes(operations: Any, changed: Json) -> None:
    assert apply_server(DOCUMENT, operations) == {**DOCUMENT, **changed}


@pytest.mark.parametrize(
    "test",
    [
        op("test", "/m/a", value="1"),
        op("test", "/m/none", value=None),
        op("test", "/n", value=None),
    ],
)
def test_a_failed_test_leaves_the_very_document(test: Json) -> None:
    assert apply_server(DOCUMENT, [op("remove", "/m/a"), test]) is DOCUMENT


@pytest.mark.parametrize(
    ("operation", "text"),
    [
        (op("merge", "/a"), "Unexpected kind: merge"),
        (
            op("add", "/none/a", value=1),
            'add operation does not apply: doc is missing path: "/none/a": missing value',
        ),
        (
            op("add", "/l/first", value=1),
            "error in add for path: '/l/first': value was not a proper array index: 'first': "
            'strconv.Atoi: parsing "first": invalid syntax',
        ),
        (
            op("add", "/l/4", value=1),
            "error in add for path: '/l/4': Unable to access invalid index: 4: "
            "invalid index referenced",
        ),
        (
            op("remove", "/m/none"),
            "error in remove for path: '/m/none': Unable to remove nonexistent key: none: "
            "missing value",
        ),
        (
            op("replace", "/l/2", value=1),
            "replace operation does not apply: doc is missing key: /l/2: missing value",
        ),
        (
            op("replace", "", value="x"),
            "replace operation value must be object or array: %!w(<nil>)",
        ),
        (
            op("copy", "/x", from_=""),
            "copy operation failed to decode from: operation, missing from field: missing value",
        ),
        (
            op("move", "/x", from_="/none/a"),
            "move operation does not apply: doc is missing from path: /none/a: missing value",
        ),
        (
            op("test", "/s/x", value=1),
            "test operation does not apply: is missing path: /s/x: missing value",
        ),
        (op("add", "/m/\a", value=1), "add operation failed to decode path: missing value"),
        (
            op("replace", "/m/\a", value=1),
            "replace operation failed to decode path: invalid character 'a' in string escape code",
        ),
    ],
)
def test_an_error_is_in_the_words_of_the_library(operation: Json, text: str) -> None:
    with pytest.raises(EvaluationError) as caught:
        apply_server(DOCUMENT, [operation])
    assert caught.value.message == text


def test_what_no_operation_touched_is_the_same_object() -> None:
    patched = apply_server(DOCUMENT, [op("add", "/m/x", value=1)])
    assert patched["l"] is DOCUMENT["l"]
    assert DOCUMENT["m"] == {"a": 1, "b/c": 2}


def test_a_copy_and_its_source_are_written_to_apart() -> None:
    patched = apply_server(
        DOCUMENT,
        [op("add", "/m/x", value={}), op("copy", "/e/m", from_="/m"), op("add", "/m/x/y", value=1)],
    )
    assert patched["e"]["m"]["x"] == {}
    assert patched["m"]["x"] == {"y": 1}


def test_copies_that_double_the_document_meet_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "PATCH_COPIES", 1_000)
    copies = [op("copy", f"/m/x{n}", from_="/m") for n in range(40)]
    with pytest.raises(LimitError, match="1,000"):
        apply_server(DOCUMENT, copies)


def test_a_null_that_an_operation_gave_is_a_map_that_takes_nothing() -> None:
    null = op("add", "/m", value=None)
    with pytest.raises(EvaluationError, match="Unable to remove nonexistent key: x"):
        apply_server(DOCUMENT, [null, op("remove", "/m/x")])
    with pytest.raises(EvaluationError, match="assignment to entry in nil map"):
        apply_server(DOCUMENT, [null, op("add", "/m/x", value=1)])
    assert apply_server(DOCUMENT, [op("replace", "", value=None)]) is None
