"""Label selectors as text, and what they match."""

from __future__ import annotations

import pytest

from krm_fn.errors import ConfigError
from krm_fn.kube.selectors import parse_selector

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
