from __future__ import annotations

from typing import Any

import pytest

from krm_fn.dialects.modrule.lastapplied import CrashError, LastApplied, encode
from krm_fn.kube.wellknown import LAST_APPLIED
from krm_fn.lang.patch.kubemod import PatchOperation
from krm_fn.values import Json

LABEL = PatchOperation("add", "/metadata/labels/x", "1")
MISFIT = PatchOperation("replace", "/nope/x", "1")


def document(text: Any) -> Json:
    return {"kind": "Pod", "metadata": {"annotations": {LAST_APPLIED: text}}}


def patched(text: str, *operations: PatchOperation) -> str:
    live = document(text)
    annotation = LastApplied(live)
    assert annotation.apply(operations) == ""
    written: str = annotation.write(live)["metadata"]["annotations"][LAST_APPLIED]
    return written


def test_the_annotation_gets_the_same_patch() -> None:
    assert patched('{"kind":"Pod"}\n', LABEL) == '{"kind":"Pod","metadata":{"labels":{"x":"1"}}}'


def test_what_the_patch_reaches_is_written_with_sorted_keys() -> None:
    text = '{"z": 1, "metadata": {"name": "n", "labels": {"b": "", "a": ""}}}'
    expected = '{"metadata":{"labels":{"a":"","b":"","x":"1"},"name":"n"},"z":1}'
    assert patched(text, LABEL) == expected


def test_what_it_does_not_reach_keeps_its_order_and_its_numbers() -> None:
    text = '{"spec": {"z": 1.0, "a": [1e3, {"y": 12345678901234567890, "b": -0}]}}'
    expected = (
        '{"metadata":{"labels":{"x":"1"}},'
        '"spec":{"z":1.0,"a":[1e3,{"y":12345678901234567890,"b":-0}]}}'
    )
    assert patched(text, LABEL) == expected


def test_an_added_float_is_written_as_go_writes_it() -> None:
    assert patched("{}", PatchOperation("add", "/x", 1e21)) == '{"x":1e+21}'


def test_what_html_needs_escaped_is_escaped() -> None:
    assert patched('{"a": "<&>\\u2028é"}', PatchOperation("add", "/b", True)) == (
        '{"a":"\\u003c\\u0026\\u003e\\u2028é","b":true}'
    )


def test_half_a_surrogate_pair_stays_an_escape() -> None:
    assert encode({"a": "\ud800"}) == '{"a":"\\ud800"}'


def test_an_annotation_may_nest_as_deep_as_an_object() -> None:
    deep = "[" * 990 + "]" * 990
    assert (
        patched(f'{{"a":{deep}}}', LABEL) == f'{{"a":{deep},"metadata":{{"labels":{{"x":"1"}}}}}}'
    )


def test_each_rule_patches_what_the_one_before_left() -> None:
    live = document("{}")
    annotation = LastApplied(live)
    annotation.apply([PatchOperation("add", "/l/-1", "a")])
    annotation.apply([PatchOperation("add", "/l/-1", "b")])
    assert annotation.write(live) == document('{"l":["a","b"]}')


def test_a_patch_that_does_not_fit_leaves_the_annotation_alone_for_good() -> None:
    live = document('{"a": 1}')
    annotation = LastApplied(live)
    assert annotation.apply([LABEL]) == ""
    assert "there is nothing at this path" in annotation.apply([MISFIT])
    assert annotation.apply([LABEL]) == ""
    assert annotation.write(live) is live


@pytest.mark.parametrize("text", ["not json", "{", "NaN", '"text"', "5", "[" * 100_000])
def test_an_annotation_that_holds_no_json_object_is_left_alone(text: str) -> None:
    live = document(text)
    annotation = LastApplied(live)
    assert "no JSON" in annotation.apply([LABEL])
    assert annotation.write(live) is live


REMOVE = PatchOperation("remove", "/metadata/labels/team", None)
REPLACE = PatchOperation("replace", "/metadata/labels/team", "x")


@pytest.mark.parametrize("text", ["", "null", " null", "null\n"])
def test_an_empty_annotation_crashes_kubemod(text: str) -> None:
    with pytest.raises(CrashError):
        LastApplied(document(text)).apply([LABEL])


def test_an_empty_annotation_crashes_kubemod_whatever_the_operation() -> None:
    with pytest.raises(CrashError):
        LastApplied(document("")).apply([REMOVE])


# What github.com/vassilvk/json-patch v5.2.0-beta.4, KubeMod's library, answers.
def test_removing_from_null_leaves_null() -> None:
    assert patched(" null", REMOVE, REMOVE) == "null"


def test_replacing_in_null_leaves_the_annotation_alone() -> None:
    live = document("null")
    annotation = LastApplied(live)
    assert "nothing can be replaced" in annotation.apply([REPLACE])
    assert annotation.write(live) is live


def test_removing_first_does_not_save_null_from_an_addition() -> None:
    with pytest.raises(CrashError):
        LastApplied(document("null")).apply([REMOVE, LABEL])


def test_a_list_is_one_only_from_the_first_byte_on() -> None:
    live = document("\n[]")
    annotation = LastApplied(live)
    assert "no JSON object" in annotation.apply([REMOVE])
    assert annotation.write(live) is live


@pytest.mark.parametrize("live", [document(5), document(None), {"metadata": None}, {}])
def test_without_a_text_there_is_nothing_to_do(live: Json) -> None:
    annotation = LastApplied(live)
    assert not annotation.present
    assert annotation.apply([LABEL]) == ""
    assert annotation.write(live) is live


def test_no_rule_no_change_of_the_annotation() -> None:
    live = document('{ "a" : 1 }')
    assert LastApplied(live).write(live) is live


def test_a_rule_cannot_remove_the_annotation() -> None:
    annotation = LastApplied(document('{"a":1}'))
    annotation.apply([PatchOperation("remove", "/a")])
    assert annotation.write({"metadata": {"annotations": {}}}) == {
        "metadata": {"annotations": {LAST_APPLIED: "{}"}}
    }


@pytest.mark.parametrize("metadata", [{}, {"annotations": None}, None])
def test_a_rule_that_removes_all_annotations_crashes_kubemod(metadata: Any) -> None:
    annotation = LastApplied(document("{}"))
    annotation.apply([LABEL])
    with pytest.raises(CrashError):
        annotation.write({"metadata": metadata})


def test_removing_all_annotations_is_no_crash_where_the_patch_did_not_fit() -> None:
    annotation = LastApplied(document("{}"))
    annotation.apply([MISFIT])
    live: Json = {"metadata": {"annotations": None}}
    assert annotation.write(live) is live
