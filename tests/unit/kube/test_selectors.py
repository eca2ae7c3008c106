"""Label selectors as text, and what they match."""

from __future__ import annotations

import pytest

from krm_fn.errors import ConfigError
from krm_fn.kube.selectors import SelectorError, from_label_selector, parse_selector

LABELS = {"app": "web", "tier": "front", "a.b/c": "1"}
CASES = [
    ("", True),
    ("app=web", True),
    ("app==web", True),
    ("app=api", False),
    ("app!=api", True),
    ("missing!=x", True),
    ("app", True),
    ("missing", False),
    ("!missing", True),
    ("! app", False),
    ("app in (web, api)", True),
    ("app in (api)", False),
    ("app notin (api)", True),
    ("missing notin (x)", True),
    ("a.b/c=1,app=web", True),
    ("a.b/c=1,app=api", False),
]


@pytest.mark.parametrize(("text", "expected"), CASES)
def test_a_selector_matches_as_in_kubernetes(text: str, expected: bool) -> None:
    assert parse_selector(text).matches(LABELS) is expected


@pytest.mark.parametrize("text", ["=", "app=(", "app in web", "app,,b", "a b"])
def test_what_is_no_selector_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="not a label selector"):
        parse_selector(text)


@pytest.mark.parametrize(
    ("expression", "wrong"),
    [
        ({"key": "a", "operator": "Near"}, '"Near" is not a valid label selector operator'),
        (
            {"key": "a", "operator": "In"},
            "values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty",
        ),
        (
            {"key": "a", "operator": "Exists", "values": ["x", "y"]},
            'values: Invalid value: ["x","y"]: values set must be empty for exists and does not '
            "exist",
        ),
    ],
)
def test_a_label_selector_is_refused_in_the_words_of_kubernetes(
    expression: dict[str, object], wrong: str
) -> None:
    with pytest.raises(SelectorError) as caught:
        from_label_selector({"matchExpressions": [expression]})
    assert caught.value.message == wrong


def test_a_label_selector_with_a_value_that_is_none_is_refused() -> None:
    with pytest.raises(SelectorError, match=r'values\[0\]\[env\]: Invalid value: "a b"'):
        from_label_selector({"matchLabels": {"env": "a b"}})


@pytest.mark.parametrize(
    ("value", "matches"),
    [
        (None, True),
        ({}, True),
        ({"matchLabels": {"app": "web"}}, True),
        ({"matchLabels": {"app": "web", "tier": "front"}}, False),
        ({"matchExpressions": [{"key": "tier", "operator": "NotIn", "values": ["x"]}]}, True),
        ({"matchExpressions": [{"key": "app", "operator": "In", "values": ["a", "web"]}]}, True),
        ({"matchExpressions": [{"key": "example.com/x", "operator": "DoesNotExist"}]}, True),
    ],
)
def test_a_label_selector_asks_for_all_it_names(
    value: dict[str, object] | None, matches: bool
) -> None:
    assert from_label_selector(value).matches({"app": "web"}) == matches
