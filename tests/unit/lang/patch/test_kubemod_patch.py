from __future__ import annotations

import copy
from typing import Any

import pytest

from krm_fn.errors import EvaluationError, LimitError
from krm_fn.lang.patch.kubemod import PatchOperation, apply_kubemod

DOCUMENT = {"a": {"b": 1}, "l": [1, 2, 3], "n": None, "s": "x"}


def add(path: str, value: Any = 9) -> PatchOperation:
    return PatchOperation("add", path, value)


@pytest.mark.parametrize(
    ("path", "member", "expected"),
    [
        ("/x/y/z", "x", {"y": {"z": 9}}),
        ("/x/-1", "x", [9]),
        ("/x/2", "x", [None, None, 9]),
        ("/x/2/y", "x", [None, None, {"y": 9}]),
        ("/x/-", "x", {"-": 9}),
        ("/n/x", "n", {"x": 9}),
        ("/l/-", "l", [1, 2, 3, 9]),
        ("/l/-1", "l", [1, 2, 3, 9]),
        ("/l/-2", "l", [1, 2, 9, 3]),
        ("/l/+1", "l", [1, 9, 2, 3]),
        ("/l/5/y", "l", [1, 2, 3, None, None, {"y": 9}]),
        ("/a/8080/x", "a", {"b": 1, "8080": {"x": 9}}),
        ("ignored/q", "q", 9),
        ("/q~01r", "q~1r", 9),
    ],
)
def test_add_makes_what_is_missing_on_the_way(path: str, member: str, expected: Any) -> None:
    assert apply_kubemod(DOCUMENT, [add(path)])[member] == expected


@pytest.mark.parametrize("path", ["/l/4", "/l/x", "/x/-2", "/s/x", "", "a", "/x~1y/z", "/l/-5"])
def test_add_refuses_with_a_sentence_that_names_the_path(path: str) -> None:
    with pytest.raises(EvaluationError, match=r"^cannot add ") as caught:
        apply_kubemod(DOCUMENT, [add(path)])
    assert repr(path) in str(caught.value)


@pytest.mark.parametrize("path", ["/q", "/a/q", "/l/3", "/l/-4", "/n/x/y", "/s/x", "", "/"])
def test_removing_what_is_not_there_changes_nothing(path: str) -> None:
    assert apply_kubemod(DOCUMENT, [PatchOperation("remove", path)]) is DOCUMENT


def test_replace_needs_the_member_to_exist() -> None:
    assert apply_kubemod(DOCUMENT, [PatchOperation("replace", "/l/-1", 0)])["l"] == [1, 2, 0]
    with pytest.raises(EvaluationError, match="nothing at this path"):
        apply_kubemod(DOCUMENT, [PatchOperation("replace", "/a/c", 0)])


def test_the_document_is_not_changed_and_untouched_parts_are_shared() -> None:
    before = copy.deepcopy(DOCUMENT)
    after = apply_kubemod(DOCUMENT, [add("/a/c"), PatchOperation("remove", "/l/0")])
    assert before == DOCUMENT
    same = apply_kubemod({"x": DOCUMENT, "y": 1}, [add("/y", 2)])
    assert same["x"] is DOCUMENT
    assert after["a"] == {"b": 1, "c": 9}
    assert after["l"] == [2, 3]


def test_an_operations_value_is_not_changed_by_a_later_operation() -> None:
    value: dict[str, Any] = {"deep": {}}
    after = apply_kubemod({}, [add("/x", value), add("/y", value), add("/x/deep/k", 1)])
    assert after == {"x": {"deep": {"k": 1}}, "y": {"deep": {}}}
    assert value == {"deep": {}}


@pytest.mark.parametrize(
    "operations",
    [
        [add("/q", None), add("/q/x")],
        [add("/q", None), PatchOperation("remove", "/q/x")],
        [PatchOperation("replace", "/a/b", None), add("/a/b/x")],
        [add("/x/1/y"), add("/x/0/y")],
    ],
)
def test_entering_a_null_that_the_patch_made_is_an_error(operations: list[PatchOperation]) -> None:
    with pytest.raises(EvaluationError, match="null"):
        apply_kubemod(DOCUMENT, operations)


def test_nulls_that_a_patch_made_are_plain_nulls_in_the_result() -> None:
    assert apply_kubemod({}, [add("/x/1", None), add("/y", None)]) == {"x": [None, None], "y": None}


def test_a_list_is_not_padded_without_bound() -> None:
    with pytest.raises(LimitError, match="/x/900000000"):
        apply_kubemod({}, [add("/x/900000000")])


def test_a_path_is_not_followed_without_bound() -> None:
    with pytest.raises(LimitError, match="segments"):
        apply_kubemod({}, [add("/x" * 2000)])
    assert apply_kubemod({}, [add("/x" * 900)])["x"]


@pytest.mark.parametrize("document", ["text", 5, True])
def test_a_scalar_cannot_be_patched(document: Any) -> None:
    with pytest.raises(EvaluationError, match="only a map or a list"):
        apply_kubemod(document, [PatchOperation("remove", "/a")])
