"""An edit of the shown object goes back to the manifest as the least that shows the same."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from krm_fn.kube.writeback import write_back
from krm_fn.values import equal

Json = dict[str, Any]


def show(value: Json) -> Json:
    """A small API server: fills in, derives, drops and respells.

    `size` defaults to 1, `pull` is derived from `image`, empty texts are dropped, `cpu: 1000m` is
    `1`, fields that nobody knows are dropped, ports get a protocol.
    """
    shown: Json = {"kind": "Toy", "size": 1, "ports": None}
    for key in ("name", "image", "pull", "size", "cpu", "note", "extra"):
        if value.get(key) not in (None, ""):
            shown[key] = value[key]
    if "image" in shown and "pull" not in shown:
        shown["pull"] = "Always" if shown["image"].endswith(":latest") else "IfNotPresent"
    if shown.get("cpu") == "1000m":
        shown["cpu"] = "1"
    if value.get("ports") is not None:
        shown["ports"] = [{"protocol": "TCP", **port} for port in value["ports"]]
    return shown


def carried(written: Json, admitted: Json) -> Json:
    result = write_back(written, show(written), admitted, show)
    assert result.lost == ()
    assert result.shown == show(result.written) == show(admitted)
    return result.written


def test_what_no_rule_changes_is_the_same_object() -> None:
    written = {"kind": "Toy", "note": "", "cpu": "1000m"}
    assert write_back(written, show(written), show(written), show).written is written


@pytest.mark.parametrize(
    ("why", "written", "edit", "expected"),
    [
        (
            "only the leaf is written",
            {"cpu": "1000m"},
            {"note": "x"},
            {"cpu": "1000m", "note": "x"},
        ),
        ("a value that equals the default", {}, {"size": 1}, {}),
        ("another value than the default", {}, {"size": 3}, {"size": 3}),
        ("back to the default, explicitly", {"size": 3}, {"size": 1}, {"size": 1}),
        ("another spelling of the same", {"cpu": "1000m"}, {"cpu": "1000m"}, {"cpu": "1000m"}),
        ("a new value in the rule's spelling", {"cpu": "2"}, {"cpu": "1000m"}, {"cpu": "1000m"}),
        ("a field that nobody knows", {"size": 2}, {"color": "red"}, {"size": 2}),
        (
            "what was derived before the rule ran stays",
            {"image": "a:1"},
            {"image": "a:latest"},
            {"image": "a:latest", "pull": "IfNotPresent"},
        ),
    ],
)
def test_a_field_that_a_rule_sets(why: str, written: Json, edit: Json, expected: Json) -> None:
    assert carried({"kind": "Toy", **written}, {**show(written), **edit}) == {
        "kind": "Toy",
        **expected,
    }


def test_removing_a_default_writes_nothing() -> None:
    written = {"kind": "Toy"}
    assert carried(written, {"kind": "Toy", "ports": None}) is written


def test_removing_a_written_field_removes_it() -> None:
    written = {"kind": "Toy", "size": 3, "note": "x"}
    admitted = show(written)
    del admitted["size"]
    assert carried(written, admitted) == {"kind": "Toy", "note": "x"}


def test_a_new_element_is_written_before_its_defaults() -> None:
    written = {"kind": "Toy", "ports": [{"name": "a"}]}
    shown = show(written)
    admitted = {**shown, "ports": [*shown["ports"], {"name": "b"}]}
    assert carried(written, admitted)["ports"] == [{"name": "a"}, {"name": "b"}]


def test_elements_that_change_places_keep_how_they_are_written() -> None:
    written = {"kind": "Toy", "ports": [{"name": "a"}, {"name": "b"}, {"name": "c"}]}
    shown = show(written)
    admitted = {**shown, "ports": shown["ports"][::-1]}
    assert carried(written, admitted)["ports"] == written["ports"][::-1]


def test_an_element_that_is_removed_takes_nothing_with_it() -> None:
    written = {"kind": "Toy", "ports": [{"name": "a"}, {"name": "b", "protocol": "UDP"}]}
    shown = show(written)
    admitted = {**shown, "ports": shown["ports"][1:]}
    assert carried(written, admitted)["ports"] == [{"name": "b", "protocol": "UDP"}]


def test_what_nothing_in_a_manifest_shows_as_is_told() -> None:
    def stubborn(value: Json) -> Json:
        # Fills in what the manifest cannot say: a rule's own removal of it would be kept.
        return value if "made" in value else {**value, "made": value.get("name", "")}

    written = {"name": "a"}
    admitted = {"name": "b", "made": "c"}

    def unwritable(value: Json) -> Json:
        shown = stubborn({k: v for k, v in value.items() if k != "made"})
        return shown if value is not admitted else {"name": "b", "made": "c"}

    result = write_back(written, unwritable(written), admitted, unwritable)
    assert result.lost == (("made",),)
    assert result.written["name"] == "b"


_PORTS = st.lists(
    st.fixed_dictionaries(
        {}, optional={"name": st.sampled_from("abc"), "protocol": st.sampled_from(["TCP", "UDP"])}
    ),
    max_size=4,
)
_TOYS = st.fixed_dictionaries(
    {"kind": st.just("Toy")},
    optional={
        "name": st.sampled_from(["a", "b", ""]),
        "image": st.sampled_from(["a", "a:latest", ""]),
        "pull": st.sampled_from(["Always", "Never", None]),
        "size": st.sampled_from([1, 2, None]),
        "cpu": st.sampled_from(["1", "1000m", "2"]),
        "ports": _PORTS | st.none(),
        "extra": st.dictionaries(st.sampled_from("xyz"), st.integers(0, 2), max_size=3),
        "color": st.just("red"),
    },
)


@given(_TOYS, _TOYS)
def test_any_edit_comes_back_as_what_shows_the_same(written: Json, admitted: Json) -> None:
    result = write_back(written, show(written), admitted, show)
    assert result.lost == ()
    assert equal(show(result.written), show(admitted))
