"""Arbitrary patches end in a document or a documented error, and change no input."""

from __future__ import annotations

import contextlib
import copy
from typing import Any

from fuzz_support import bounded
from hypothesis import given
from hypothesis import strategies as st

from krm_fn.errors import EvaluationError
from krm_fn.lang.patch.kubemod import PatchOperation, apply_kubemod

VALUES = st.recursive(
    st.none() | st.integers(0, 3) | st.sampled_from(["", "x"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["a", "b", "0", "-", ""]), inner, max_size=3)
    ),
    max_leaves=8,
)
SEGMENTS = st.sampled_from(["a", "b", "0", "1", "-1", "-2", "-", "", "+1", "~1", "7"])
PATHS = st.lists(SEGMENTS, max_size=4).map(lambda parts: "".join("/" + part for part in parts))
OPERATIONS = st.builds(
    PatchOperation, st.sampled_from(["add", "replace", "remove", "test", "move"]), PATHS, VALUES
)


@bounded(500)
@given(VALUES, st.lists(OPERATIONS, max_size=5))
def test_a_patch_changes_no_input_and_raises_only_its_error(
    document: Any, operations: list[PatchOperation]
) -> None:
    before = copy.deepcopy((document, operations))
    with contextlib.suppress(EvaluationError):
        apply_kubemod(document, operations)
    assert (document, operations) == before
