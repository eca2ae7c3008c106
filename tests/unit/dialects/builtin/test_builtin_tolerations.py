"""Tolerations cover each other as in Kubernetes, however many there are."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from steps import calls

from krm_fn.dialects.builtin.plugin import Denied
from krm_fn.dialects.builtin.tolerations import Coverage, Toleration, allowed, merged
from krm_fn.dialects.builtin.tolerationsjson import tolerations_of


def covers(wide: Toleration, narrow: Toleration) -> bool:
    """k8s.io/kubernetes pkg/util/tolerations isSuperset, word by word."""
    if wide == narrow:
        return True
    if narrow.key != wide.key and (wide.key or wide.operator != "Exists"):
        return False
    if narrow.effect != wide.effect and wide.effect:
        return False
    if (
        wide.effect == "NoExecute"
        and wide.seconds is not None
        and (narrow.seconds is None or narrow.seconds > wide.seconds)
    ):
        return False
    if wide.operator in ("Equal", ""):
        return narrow.operator == "Equal" and narrow.value == wide.value
    return wide.operator == "Exists"


def merged_slowly(every: list[Toleration]) -> list[Toleration]:
    kept: list[Toleration] = []
    for n, one in enumerate(every):
        if any(covers(other, one) for other in kept):
            continue
        if any(other != one and covers(other, one) for other in every[n + 1 :]):
            continue
        kept.append(one)
    return kept


TOLERATIONS = st.builds(
    Toleration,
    key=st.sampled_from(["", "a", "b"]),
    operator=st.sampled_from(["", "Equal", "Exists"]),
    value=st.sampled_from(["", "v"]),
    effect=st.sampled_from(["", "NoExecute", "NoSchedule"]),
    seconds=st.sampled_from([None, 0, 30, 300]),
)


@given(st.lists(TOLERATIONS, max_size=8), st.lists(TOLERATIONS, max_size=4))
@settings(max_examples=500)
def test_lists_are_merged_as_by_comparing_each_with_each(
    first: list[Toleration], second: list[Toleration]
) -> None:
    written = [[one.written() for one in some] for some in (first, second)]
    expected = [one.written() for one in merged_slowly([*first, *second])]
    assert merged(written[0], written[1]) == expected


@given(TOLERATIONS, st.lists(TOLERATIONS, max_size=5))
@settings(max_examples=500)
def test_many_tolerations_cover_what_one_of_them_does(
    narrow: Toleration, wide: list[Toleration]
) -> None:
    assert Coverage(wide).has(narrow) is any(covers(one, narrow) for one in wide)


def test_merging_takes_no_longer_than_the_lists_are_long() -> None:
    def merging(size: int) -> int:
        values = [Toleration(f"k{n % 7}", "Equal", f"v{n}").written() for n in range(size)]
        return calls(lambda: merged(values, values))

    assert merging(800) < 5 * merging(200)


def test_an_empty_list_allows_every_toleration() -> None:
    assert allowed([{"key": "a", "operator": "Exists"}], [])


DECODED = [
    ("", []),
    ("null", []),
    ("[null]", [{}]),
    ('[{"KEY":"a","key":null}]', [{"key": "a"}]),
    ('[{"tolerationſeconds":5}]', [{"tolerationSeconds": 5}]),
    ('[{"key":"a","unknown":1}]', [{"key": "a"}]),
    ('[{"tolerationSeconds":-0}]', [{"tolerationSeconds": 0}]),
]


@pytest.mark.parametrize(("text", "tolerations"), DECODED)
def test_an_annotation_is_read_as_go_reads_it(text: str, tolerations: list[object]) -> None:
    assert tolerations_of(text) == tolerations


FIELD = "json: cannot unmarshal {} into Go struct field Toleration.{}"
REFUSED = [
    ('[{"key":1}]', FIELD.format("number", "key of type string")),
    ('{"key":1}', "json: cannot unmarshal object into Go value of type []v1.Toleration"),
    ('"x"', "json: cannot unmarshal string into Go value of type []v1.Toleration"),
    ("[[]]", "json: cannot unmarshal array into Go value of type v1.Toleration"),
    ('["x",{"key":1}]', "json: cannot unmarshal string into Go value of type v1.Toleration"),
    ('[{"tolerationSeconds":"a"}]', FIELD.format("string", "tolerationSeconds of type int64")),
    ('[{"tolerationSeconds":1.5}]', FIELD.format("number 1.5", "tolerationSeconds of type int64")),
    (
        '[{"tolerationSeconds":9223372036854775808}]',
        FIELD.format("number 9223372036854775808", "tolerationSeconds of type int64"),
    ),
    ('[{"operator":{}}]', FIELD.format("object", "operator of type v1.TolerationOperator")),
    ('[{"effect":[1]}]', FIELD.format("array", "effect of type v1.TaintEffect")),
    ("[", "unexpected end of JSON input"),
]
"""What Go 1.26's encoding/json says."""


@pytest.mark.parametrize(("text", "message"), REFUSED)
def test_an_annotation_that_cannot_be_read_is_refused_in_gos_words(text: str, message: str) -> None:
    with pytest.raises(Denied) as refusal:
        tolerations_of(text)
    assert (refusal.value.message, refusal.value.code) == (message, 500)


@pytest.mark.parametrize("key", ["", "a"])
@pytest.mark.parametrize("effect", ["", "NoExecute"])
def test_a_toleration_is_written_without_what_is_empty(key: str, effect: str) -> None:
    written = Toleration(key, "", "", effect, 0).written()
    assert Toleration.of(written) == Toleration(key, "", "", effect, 0)
    assert "" not in written.values()
