"""What a plugin sees of an item, and how its edits come back."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from krm_fn.admission.views import DefaultNamespace, HiddenAnnotations, Views

PATH = "internal.config.kubernetes.io/path"
INDEX = "config.kubernetes.io/index"


def item(**annotations: Any) -> dict[str, Any]:
    return {"kind": "Pod", "metadata": {"name": "x", "annotations": annotations}}


def test_annotations_of_the_tools_around_us_are_hidden() -> None:
    shown = HiddenAnnotations().get(item(**{PATH: "a", "mine": "b", INDEX: "0"}))
    assert shown["metadata"]["annotations"] == {"mine": "b"}


def test_where_all_are_hidden_there_are_none() -> None:
    assert HiddenAnnotations().get(item(**{PATH: "a"})) == {
        "kind": "Pod",
        "metadata": {"name": "x"},
    }


def test_annotations_of_users_with_the_same_prefix_are_shown() -> None:
    value = item(**{"config.kubernetes.io/depends-on": "x"})
    assert HiddenAnnotations().get(value) is value


def test_hidden_annotations_come_back_where_they_were() -> None:
    value = item(**{PATH: "a", "mine": "b", INDEX: "0"})
    view = HiddenAnnotations()
    admitted = {"kind": "Pod", "metadata": {"name": "x", "annotations": {"mine": "c", "new": "d"}}}
    put, lost = view.put(value, admitted)
    assert list(put["metadata"]["annotations"].items()) == [
        (PATH, "a"),
        ("mine", "c"),
        (INDEX, "0"),
        ("new", "d"),
    ]
    assert lost == ()


def test_a_rule_that_replaces_all_annotations_does_not_remove_the_hidden_ones() -> None:
    put, _ = HiddenAnnotations().put(item(**{PATH: "a", "mine": "b"}), {"kind": "Pod"})
    assert put["metadata"]["annotations"] == {PATH: "a"}


def test_what_a_rule_writes_into_hidden_annotations_is_lost_and_told() -> None:
    value = item(**{PATH: "a"})
    put, lost = HiddenAnnotations().put(value, item(**{PATH: "evil", INDEX: "1"}))
    assert put["metadata"]["annotations"] == {PATH: "a"}
    where = {one.path for one in lost}
    assert where == {("metadata", "annotations", PATH), ("metadata", "annotations", INDEX)}


def test_an_object_without_a_namespace_is_seen_in_the_default_one() -> None:
    view = DefaultNamespace("web")
    value = {"metadata": {"name": "x"}}
    shown = view.get(value)
    assert shown["metadata"] == {"name": "x", "namespace": "web"}
    put, lost = view.put(value, {**shown, "spec": 1})
    assert put == {"metadata": {"name": "x"}, "spec": 1}
    assert lost == ()


def test_an_object_cannot_be_moved_to_another_namespace() -> None:
    view = DefaultNamespace("web")
    for value in ({"metadata": {"name": "x"}}, {"metadata": {"namespace": "web"}}):
        moved = {"metadata": {**view.get(value)["metadata"], "namespace": "other"}}
        put, lost = view.put(value, moved)
        assert put == value
        assert [one.path for one in lost] == [("metadata", "namespace")]


KEYS = st.sampled_from([PATH, INDEX, "mine", "other", "kustomize.config.k8s.io/id"])
OBJECTS = st.fixed_dictionaries(
    {"kind": st.just("Pod")},
    optional={
        "metadata": st.one_of(
            st.none(),
            st.fixed_dictionaries(
                {},
                optional={
                    "name": st.just("x"),
                    "namespace": st.sampled_from(["", "web"]),
                    "annotations": st.one_of(
                        st.none(), st.dictionaries(KEYS, st.sampled_from(["a", "b"]))
                    ),
                },
            ),
        ),
        "spec": st.integers(),
    },
)
VIEWS = st.sampled_from(
    [
        HiddenAnnotations(),
        DefaultNamespace("web"),
        DefaultNamespace(""),
        Views((HiddenAnnotations(), DefaultNamespace("default"))),
    ]
)


@given(VIEWS, OBJECTS)
def test_putting_back_what_was_got_changes_nothing(view: Any, value: dict[str, Any]) -> None:
    put, lost = view.put(value, view.get(value))
    assert put == value
    assert lost == ()


@given(OBJECTS)
def test_the_views_of_the_chain_give_back_the_very_same_object(value: dict[str, Any]) -> None:
    view = Views((HiddenAnnotations(), DefaultNamespace("default")))
    assert view.put(value, view.get(value))[0] is value


@given(OBJECTS, st.integers())
def test_an_edit_beside_what_is_hidden_comes_back_alone(value: dict[str, Any], n: int) -> None:
    view = Views((HiddenAnnotations(), DefaultNamespace("default")))
    put, lost = view.put(value, {**view.get(value), "edit": n})
    assert put == {**value, "edit": n}
    assert lost == ()
