"""Hostile JSON patches under the API server's profile: an answer or an error, nothing shared."""

from __future__ import annotations

import contextlib
import copy
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from krm_fn.errors import EvaluationError
from krm_fn.lang.patch.apiserver import apply_server

KEYS = st.sampled_from(
    ["", "a", "b", "0", "1", "-", "-1", "-2", "01", "+1", "~0", "~1", "~2", "\a"]
)
PATHS = st.lists(KEYS, max_size=4).map(lambda steps: "".join(f"/{step}" for step in steps))
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.sampled_from(["", "x"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=8,
)
DOCUMENTS = st.dictionaries(KEYS, VALUES, max_size=4)
NAMES = st.sampled_from(["add", "remove", "replace", "move", "copy", "test", "x", "\a"])
OPERATIONS = st.fixed_dictionaries(
    {
        "op": st.sampled_from(["add", "remove", "replace", "move", "copy", "test", "x", "\a"]),
        "path": PATHS,
    },
    optional={"from": PATHS, "value": VALUES},
)


@given(DOCUMENTS, st.lists(OPERATIONS, max_size=6))
def test_any_patch_has_an_answer_and_changes_no_input(document: Any, operations: Any) -> None:
    before = copy.deepcopy((document, operations))
    with contextlib.suppress(EvaluationError):
        patched = apply_server(document, operations)
        assert patched is None or type(patched) in (dict, list)
        _check_json(patched)
    assert (document, operations) == before


def _check_json(value: Any) -> None:
    """Nothing of the patch's own is left in the document."""
    assert value is None or type(value) in (bool, int, str, list, dict)
    for member in value.values() if type(value) is dict else value if type(value) is list else ():
        _check_json(member)


@given(DOCUMENTS, PATHS, PATHS)
def test_a_copy_can_be_changed_without_its_source(document: Any, source: str, path: str) -> None:
    try:
        copied = apply_server(document, [{"op": "copy", "from": source, "path": path}])
    except EvaluationError:
        return
    before = copy.deepcopy(copied)
    with contextlib.suppress(EvaluationError):
        apply_server(copied, [{"op": "add", "path": f"{path}/zz", "value": 1}])
    assert copied == before
