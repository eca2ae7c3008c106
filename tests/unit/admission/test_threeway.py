"""Three-way merges: changes of one value are made in another one."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from steps import calls

from krm_fn.admission.threeway import merged
from krm_fn.values import MISSING, equal

POD = {"spec": {"containers": [{"name": "a"}]}}
FILLED = {
    "metadata": {"annotations": {"set": "by a plugin"}},
    "spec": {
        "containers": [{"name": "a", "volumeMounts": [{"name": "t", "mountPath": "/t"}]}],
        "tolerations": [{"key": "not-ready", "tolerationSeconds": 300}],
        "priority": 0,
    },
}

MERGED: list[tuple[str, Any, Any, Any, Any]] = [
    ("nothing changed", {"a": 1}, {"a": 1}, {"a": 1}, {"a": 1}),
    ("theirs adds", {}, {"a": 1}, {"b": 2}, {"a": 1, "b": 2}),
    ("theirs removes", {"a": 1, "b": 1}, {"b": 1}, {"a": 1, "b": 2}, {"b": 2}),
    ("ours removes what theirs changed", {"a": 1}, {"a": 2}, {}, {}),
    ("ours changes what theirs removes", {"a": 1}, {}, {"a": 2}, {"a": 2}),
    ("both change a value", {"a": 1}, {"a": 2}, {"a": 3}, {"a": 3}),
    ("both change alike", [1], [1, 2], [1, 2], [1, 2]),
    ("True is not 1", {"a": 1}, {"a": True}, {"a": 1}, {"a": True}),
    ("a map that theirs removes keeps ours", {"m": {"a": 1}}, {}, {"m": {"a": 1, "b": 2}},
     {"m": {"b": 2}}),
    ("a map that theirs removes goes", {"m": {"a": {"x": 1}}}, {}, {"m": {"a": {"x": 1}}}, {}),
    ("an element that theirs adds stands where theirs has it", [1, 3], [1, 2, 3], [0, 1, 3, 4],
     [0, 1, 2, 3, 4]),
    ("an element that theirs removes goes", [1, 2, 3], [1, 3], [1, 2, 3, 4], [1, 3, 4]),
    ("elements pair by their key",
     [{"name": "a"}, {"name": "b", "x": 1}],
     [{"name": "a"}, {"name": "b"}],
     [{"name": "c"}, {"name": "a"}, {"name": "b", "x": 1, "y": 2}],
     [{"name": "c"}, {"name": "a"}, {"name": "b", "y": 2}]),
    ("kinds differ", {"a": [1]}, {"a": {"b": 1}}, {"a": [1, 2]}, {"a": [1, 2]}),
    ("what is left empty goes with what was not there", {"l": [1]}, {}, {"l": []}, {}),
]  # fmt: skip


@pytest.mark.parametrize(
    ("base", "theirs", "ours", "result"), [case[1:] for case in MERGED], ids=[c[0] for c in MERGED]
)
def test_values_are_merged(base: Any, theirs: Any, ours: Any, result: Any) -> None:
    assert equal(merged(base, theirs, ours), result)


def test_what_a_plugin_has_set_is_taken_out_and_what_a_rule_did_stays() -> None:
    ruled = {
        "metadata": {"annotations": {"set": "by a plugin", "own": "x"}},
        "spec": {
            "containers": [
                {"name": "a", "volumeMounts": [{"name": "t", "mountPath": "/t"}], "image": "i"},
                {"name": "sidecar"},
            ],
            "tolerations": [{"key": "not-ready", "tolerationSeconds": 30}],
            "priority": 0,
        },
    }
    assert merged(FILLED, POD, ruled) == {
        "metadata": {"annotations": {"own": "x"}},
        "spec": {
            "containers": [{"name": "a", "image": "i"}, {"name": "sidecar"}],
            "tolerations": [{"key": "not-ready", "tolerationSeconds": 30}],
        },
    }


VALUES = st.recursive(
    st.sampled_from([None, True, 1, "x"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner),
    max_leaves=8,
)


@given(VALUES, VALUES)
@settings(max_examples=300)
def test_one_sides_changes_alone_are_its_value(base: Any, changed: Any) -> None:
    assert equal(merged(base, changed, base), changed)
    assert equal(merged(base, base, changed), changed)
    assert equal(merged(base, changed, changed), changed)


@given(VALUES, VALUES, VALUES)
@settings(max_examples=300)
def test_what_is_taken_out_can_be_put_back(served: Any, filled: Any, ruled: Any) -> None:
    wanted = merged(filled, served, ruled)
    if wanted is not MISSING:
        assert equal(merged(wanted, ruled, wanted), ruled)


def test_untouched_subtrees_are_the_same_objects() -> None:
    image = {"image": {"name": "i"}}
    result = merged({**image, "a": 1}, {**image}, {**image, "a": 1, "b": 2})
    assert result["image"] is image["image"]


def test_merging_lists_takes_no_longer_than_they_are_long() -> None:
    def merging(size: int) -> int:
        base = [{"name": str(n), "a": 1} for n in range(size)]
        theirs = [{"name": str(n)} for n in range(size)]
        ours = [{"name": str(n), "a": 1, "b": n} for n in range(size)]
        return calls(lambda: merged(base, theirs, ours))

    assert merging(400) < 5 * merging(100)
