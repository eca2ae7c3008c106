"""The order of merged lists against a model of ten lines, and hostile patches."""

from __future__ import annotations

import contextlib
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from krm_fn.kube.merge import DEDUCED, MergeError, apply_configuration, of_custom
from krm_fn.kube.schema import Schemas

TAGS = of_custom(
    {
        "type": "object",
        "properties": {
            "tags": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}}
        },
    },
    Schemas().struct("meta/v1.ObjectMeta"),
)
LISTS = st.lists(st.sampled_from("abcdefgh"), unique=True, max_size=8)


def model(live: list[str], patch: list[str]) -> list[str]:
    """The law: a live item out of turn is skipped, a live-only one taken, else the patch's head."""
    named, both = patch, [item for item in patch if item in live]
    out: list[str] = []
    while live or patch:
        turn = next((item for item in both if item not in out), None)
        if live and patch and live[0] == patch[0]:
            out, live, patch = [*out, live[0]], live[1:], patch[1:]
        elif live and live[0] not in named:
            out, live = [*out, live[0]], live[1:]
        elif live and turn != live[0]:
            live = live[1:]
        else:
            out, patch = [*out, patch[0]], patch[1:]
    return out


def merged(live: list[str], patch: list[str]) -> list[str]:
    tags: list[str] = apply_configuration(TAGS, {"tags": live}, {"tags": patch}).get("tags", [])
    return tags


@given(LISTS, LISTS)
def test_both_lists_are_in_the_merged_one_and_the_patch_keeps_its_order(
    live: list[str], patch: list[str]
) -> None:
    result = merged(live, patch)
    assert sorted(result) == sorted({*live, *patch})
    assert [item for item in result if item in patch] == patch
    assert [item for item in result if item not in patch] == [
        item for item in live if item not in patch
    ]


@given(LISTS, LISTS)
def test_the_order_is_that_of_the_model(live: list[str], patch: list[str]) -> None:
    assert merged(live, patch) == model(live, patch)


@given(LISTS, LISTS)
def test_a_patch_twice_is_a_patch_once(live: list[str], patch: list[str]) -> None:
    once = merged(live, patch)
    assert merged(once, patch) == once


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=12,
)
OBJECTS: Any = st.dictionaries(st.sampled_from(["tags", "metadata", "a"]), JSON)


@given(OBJECTS, OBJECTS)
def test_any_patch_merges_or_is_refused(live: Any, patch: Any) -> None:
    for atom in (TAGS, DEDUCED):
        for guard in (True, False):
            with contextlib.suppress(MergeError):
                assert type(apply_configuration(atom, live, patch, guard=guard)) is dict
