"""Names, keys and values: what is good, and whose words say what is not."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from krm_fn.kube.validation import names
from krm_fn.kube.validation.resourcenames import is_extended, is_native
from krm_fn.kube.validation.selectors import label_selector
from tests.steps import calls

GOOD: list[tuple[Callable[[str], list[str]], str]] = [
    (names.qualified_name, "example.com/My.name_1"),
    (names.qualified_name, "a"),
    (names.label_value, ""),
    (names.dns_label, "a-1"),
    (names.dns_subdomain, "a.b-c.1"),
    (names.dns_1035_label, "a1"),
    (names.variable_name, "my.env-NAME"),
    (names.config_key, "a..b"),
    (names.port_name, "http-1"),
    (names.header_name, "X-A"),
]


@pytest.mark.parametrize(("check", "text"), GOOD)
def test_a_good_name_has_no_complaints(check: Callable[[str], list[str]], text: str) -> None:
    assert check(text) == []


BAD: list[tuple[Callable[[str], list[str]], str, str]] = [
    (names.qualified_name, "/a", "prefix part must be non-empty"),
    (names.qualified_name, "A/a", "prefix part a lowercase RFC 1123 subdomain"),
    (names.qualified_name, "a/", "name part must be non-empty"),
    (names.label_value, "-", "a valid label must be an empty string"),
    (names.dns_label, "a.b", "must not contain dots"),
    (names.dns_label, "A", "a lowercase RFC 1123 label"),
    (names.dns_1035_label, "1a", "a DNS-1035 label"),
    (names.variable_name, "..", "must not be '..'"),
    (names.port_name, "a--b", "must not contain consecutive hyphens"),
    (names.header_name, "a_b", "a valid HTTP header"),
]


@pytest.mark.parametrize(("check", "text", "complaint"), BAD)
def test_a_bad_name_is_explained(
    check: Callable[[str], list[str]], text: str, complaint: str
) -> None:
    assert check(text)[0].startswith(complaint)


@pytest.mark.parametrize(
    ("wording", "unit"), [(names.KUBERNETES_1_32, "characters"), (names.KUBERNETES_1_37, "bytes")]
)
def test_releases_count_in_other_words(wording: names.Wording, unit: str) -> None:
    long = "a" * 64
    assert names.label_value(long, wording) == [f"must be no more than 63 {unit}"]
    assert names.qualified_name(long, wording) == [f"name part must be no more than 63 {unit}"]
    assert names.qualified_name("a/b/c", wording)[0].startswith(wording.key)


@pytest.mark.parametrize("check", [names.qualified_name, names.dns_subdomain, names.label_value])
def test_a_long_name_is_read_at_once(check: Callable[[str], list[str]]) -> None:
    def read() -> None:
        assert check("a." * 50_000 + "!")

    calls(read, at_most=1_000)


@pytest.mark.parametrize(
    ("name", "native", "extended"),
    [
        ("cpu", True, False),
        ("kubernetes.io/x", True, False),
        ("example.com/gpu", False, True),
        ("requests.example.com/gpu", False, False),
        ("example.com/" + "g" * 64, False, False),
    ],
)
def test_resources_are_kubernetes_own_or_extensions(
    name: str, native: bool, extended: bool
) -> None:
    assert (is_native(name), is_extended(name)) == (native, extended)


def test_a_selector_is_checked_field_by_field() -> None:
    selector = {
        "matchLabels": {"a b": "x"},
        "matchExpressions": [
            {"key": "a", "operator": "In"},
            {"key": "a", "operator": "Exists", "values": ["x"]},
            {"key": "a", "operator": "Is"},
        ],
    }
    fields = [complaint.partition(": ")[0] for complaint in label_selector(selector, "spec")]
    assert fields == [
        "spec.matchLabels",
        "spec.matchExpressions[0].values",
        "spec.matchExpressions[1].values",
        "spec.matchExpressions[2].operator",
    ]
