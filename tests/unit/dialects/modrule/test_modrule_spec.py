from __future__ import annotations

from typing import Any

import pytest

from krm_fn.dialects.modrule.spec import (
    DEFAULT_OPERATIONS,
    DecodeError,
    MatchItem,
    PatchItem,
    decode,
    unknown_fields,
)


def test_what_is_absent_has_the_webhooks_defaults() -> None:
    spec = decode({"type": "Patch", "match": [{"select": "$.a"}], "patch": [{"op": "add"}]})
    assert spec.match == (MatchItem("$.a", match_for="Any"),)
    assert spec.patch == (PatchItem("add", "", None, None),)
    assert spec.execution_tier == 0
    assert spec.admission_operations == DEFAULT_OPERATIONS
    assert spec.reject_message is None


@pytest.mark.parametrize("empty", [None, [], ["CREATE", "UPDATE"]])
def test_no_operations_are_create_and_update(empty: Any) -> None:
    assert decode({"admissionOperations": empty}).admission_operations == ("CREATE", "UPDATE")


def test_null_counts_as_absent() -> None:
    members = ("type", "match", "patch", "rejectMessage", "executionTier", "targetNamespaceRegex")
    assert decode(dict.fromkeys(members)) == decode({})


def test_an_empty_text_is_not_an_absent_one() -> None:
    spec = decode({"rejectMessage": "", "match": [{"matchValue": ""}]})
    assert spec.reject_message == ""
    assert spec.match is not None
    assert spec.match[0].match_value == ""


def test_an_empty_match_for_is_any() -> None:
    spec = decode({"match": [{"select": "$.a", "matchFor": ""}]})
    assert spec.match is not None
    assert spec.match[0].match_for == "Any"


@pytest.mark.parametrize(
    ("spec", "field", "message"),
    [
        (5, "spec", "is the number 5; it must be a map"),
        ({"match": {}}, "spec.match", "is a map; it must be a list"),
        ({"match": ["$.a"]}, "spec.match[0]", "is the string '$.a'; it must be a map"),
        (
            {"patch": [{}, {"value": 8080}]},
            "spec.patch[1].value",
            "is the number 8080; it must be a string: write '8080' with the quotes",
        ),
        (
            {"match": [{"matchValue": True}]},
            "spec.match[0].matchValue",
            "is the boolean true; it must be a string: write 'true' with the quotes",
        ),
        (
            {"patch": [{"value": {"a": 1}}]},
            "spec.patch[0].value",
            "is a map; it must be a string: quote it, or write it as a block after `|-`",
        ),
        (
            {"match": [{"matchValues": ["a", 1]}]},
            "spec.match[0].matchValues[1]",
            "is the number 1; it must be a string: write '1' with the quotes",
        ),
        (
            {"match": [{"negate": "true"}]},
            "spec.match[0].negate",
            "is the string 'true'; it must be true or false, unquoted",
        ),
        (
            {"executionTier": "1"},
            "spec.executionTier",
            "is the string '1'; it must be an integer, unquoted",
        ),
        (
            {"executionTier": 32768},
            "spec.executionTier",
            "is 32768; it must be an integer between -32767 and 32766",
        ),
    ],
)
def test_a_wrong_type_is_an_error_that_says_what_to_write(
    spec: Any, field: str, message: str
) -> None:
    with pytest.raises(DecodeError) as caught:
        decode(spec)
    assert (caught.value.field, caught.value.message) == (field, message)


def test_fields_that_a_modrule_does_not_have_are_found_with_a_hint() -> None:
    spec = {
        "matches": [],
        "match": [{"select": "$.a", "matchvalue": "x"}],
        "patch": [{"op": "add", "from": "/a"}],
    }
    assert list(unknown_fields(spec)) == [
        ("spec.matches", "; did you mean match?"),
        ("spec.match[0].matchvalue", "; did you mean matchValue?"),
        ("spec.patch[0].from", ""),
    ]
