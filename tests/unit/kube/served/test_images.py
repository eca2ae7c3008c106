"""Which pull policy an image reference stands for."""

from __future__ import annotations

import pytest

from krm_fn.kube.served.images import pull_policy

DIGEST = "sha256:" + "a" * 64

ALWAYS = [
    "nginx",
    "nginx:latest",
    "library/nginx",
    "registry.example/app",
    "registry.example:5000/app",
    "localhost/app",
    "Registry/app",
    "[::1]:5000/app",
    "docker.io/nginx",
    f"x:latest@{DIGEST}",
    "a__b/c-d.e",
]


@pytest.mark.parametrize("image", ALWAYS)
def test_the_tag_latest_or_none_at_all_is_pulled_always(image: str) -> None:
    assert pull_policy(image) == "Always"


TAGGED = ["nginx:1", "registry.example/app:1.2", "registry.example:5000/a/b:v1", f"x@{DIGEST}"]


@pytest.mark.parametrize("image", TAGGED)
def test_another_tag_or_a_digest_is_pulled_if_not_present(image: str) -> None:
    assert pull_policy(image) == "IfNotPresent"


UNREADABLE = [
    "",
    " ",
    "Nginx",
    "nginx latest",
    "nginx:",
    "a//b",
    "-a",
    "a" * 64,
    "x@sha256:abc",
    f"x@md5:{'a' * 32}",
    "x/" + "a" * 256,
    "a" * 1_000_000,
    "a-" * 500_000,
]


@pytest.mark.parametrize("image", UNREADABLE, ids=lambda image: image[:20])
def test_a_reference_that_does_not_parse_is_pulled_if_not_present(image: str) -> None:
    assert pull_policy(image) == "IfNotPresent"
