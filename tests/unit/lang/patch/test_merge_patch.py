"""JSON merge patch on texts; that it is byte-exact is what the vectors hold it to."""

from __future__ import annotations

import pytest

from krm_fn import limits
from krm_fn.errors import EvaluationError, LimitError
from krm_fn.lang.patch.merge import merge_patch, same_json


@pytest.mark.parametrize(
    ("document", "patch", "merged"),
    [
        ('{"main": 2}', '{"log-agent": 1}', '{"log-agent":1,"main":2}'),
        (
            '{"z":{"b":1,"a":2},"n":1.0}',
            '{"y":{"q":null,"d":1,"c":[null,{"x":null,"w":1}]}}',
            '{"n":1.0,"y":{"c":[null,{"w":1}],"d":1},"z":{"b":1,"a":2}}',
        ),
        ('{"z":{"b":1,"a":2}}', '{"z":{"c":1e3}}', '{"z":{"a":2,"b":1,"c":1e3}}'),
        ('{"a": { "c" : 1 , "b":2 } }', "{}", '{"a":{"c":1,"b":2}}'),
        ('{"a":null}', '{"b":1}', '{"a":null,"b":1}'),
        (
            '{"a":"<x>&y"}',
            '{"b":"é <z>"}',
            '{"a":"\\u003cx\\u003e\\u0026y","b":"é \\u003cz\\u003e"}',
        ),
        ("[1]", '{"a":1,"b":null}', '{"a":1}'),
        ('"s"', '{"a":1,"b":null}', '{"a":1}'),
        ('{"a":1}', '[1,null,{"q":null}]', "[1,null,{}]"),
    ],
)
def test_the_result_is_the_librarys_text(document: str, patch: str, merged: str) -> None:
    assert merge_patch(document, patch) == merged


@pytest.mark.parametrize("patch", ['"s"', "5", "null", "", "notjson"])
def test_a_patch_that_is_no_object_or_list_is_an_error(patch: str) -> None:
    with pytest.raises(EvaluationError, match="Invalid JSON Patch"):
        merge_patch('{"a":1}', patch)


@pytest.mark.parametrize("document", ["notjson", "null", '{"a":1}x'])
def test_a_document_that_is_no_json_is_an_error(document: str) -> None:
    with pytest.raises(EvaluationError, match="Invalid JSON Document"):
        merge_patch(document, '{"a":1}')


def test_what_nests_too_deeply_is_an_error() -> None:
    deep = '{"a":' * (limits.NESTING + 1) + "1" + "}" * (limits.NESTING + 1)
    with pytest.raises(LimitError):
        merge_patch("{}", deep)


def test_what_nests_as_deeply_as_allowed_is_merged() -> None:
    deep = '{"a":' * limits.NESTING + "1" + "}" * limits.NESTING
    assert merge_patch(deep, deep) == deep
    assert same_json(deep, deep)


@pytest.mark.parametrize(
    ("a", "b", "same"),
    [
        ('{"a": 1, "b": [2]}', '{"b":[2],"a":1}', True),
        ('"\\u0041"', '"A"', True),
        ("1.0", "1", False),
        ("null", '"null"', False),
        ("{", "{", False),
    ],
)
def test_texts_of_the_same_meaning_are_the_same(a: str, b: str, same: bool) -> None:
    assert same_json(a, b) is same
