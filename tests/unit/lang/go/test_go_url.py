"""URLs by two releases of Go; what templates and CEL do with them is in their vectors."""

from __future__ import annotations

import pytest

from krm_fn.lang.go.release import Release
from krm_fn.lang.go.url import (
    URL,
    UrlError,
    check_request_uri,
    parse_query,
    parse_url,
)


@pytest.mark.parametrize("release", [Release.GO_1_18, Release.GO_1_26])
@pytest.mark.parametrize(
    "text",
    [
        "http://u:p%40@h:80/a%20b/c?x=1#f",
        "mailto:a@b",
        "/a/b?",
        "//h/é",
        "*",
        "http://[fe80::1]:8/",
    ],
)
def test_a_url_that_is_fine_is_written_as_it_was_read(text: str, release: Release) -> None:
    again = parse_url(text, release).text()
    assert again == text.replace("é", "%C3%A9")


def test_only_newer_releases_leave_slashes_out_again() -> None:
    assert parse_url("file:/etc", Release.GO_1_18).text() == "file:///etc"
    assert parse_url("file:/etc", Release.GO_1_26).text() == "file:/etc"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("http://a[b]/", "invalid IP-literal"),
        ("http://[::x]/", "invalid host: ParseAddr"),
        ("http://[1.2.3.4]/", "invalid IP-literal"),
        ("http://a:1:2/", 'invalid port ":1:2" after host'),
    ],
)
def test_only_newer_releases_check_hosts(text: str, reason: str) -> None:
    parse_url(text, Release.GO_1_18)
    with pytest.raises(UrlError) as caught:
        parse_url(text, Release.GO_1_26)
    assert caught.value.message.startswith(reason)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("http://a b/", 'invalid character " " in host name'),
        ("http://a%20/", 'invalid URL escape "%20"'),
        ("//[a%25%E9]/", 'invalid URL escape "%E9"'),
        ("http://a b%zz/", 'invalid character " " in host name'),
        ("a:b:c", None),
        ("1:b", "first path segment in URL cannot contain colon"),
        ("/%a", 'invalid URL escape "%a"'),
        ("\x7f", "net/url: invalid control character in URL"),
    ],
)
def test_the_first_mistake_is_told(text: str, reason: str | None) -> None:
    if reason is None:
        assert parse_url(text, Release.GO_1_18).opaque == "b:c"
        return
    with pytest.raises(UrlError) as caught:
        parse_url(text, Release.GO_1_18)
    assert caught.value.message == reason


def test_a_request_is_for_a_whole_url_or_a_path() -> None:
    check_request_uri("/a", Release.GO_1_26)
    check_request_uri("http://h", Release.GO_1_26)
    with pytest.raises(UrlError, match=r'^parse "a/b": invalid URI for request$'):
        check_request_uri("a/b", Release.GO_1_26)


def test_a_query_has_lists_of_values_and_leaves_out_what_does_not_read() -> None:
    assert parse_query("a=1&b&a=%C3%A9+x&c;d=1&e=%zz") == {"a": ["1", "é x"], "b": [""]}


def test_a_url_of_parts_escapes_each_as_it_must() -> None:
    url = URL("x", host="h é", path="a b:c", query="q=1", fragment="f#")
    assert url.text() == "x://h%20%C3%A9/a%20b:c?q=1#f%23"
    assert URL(path="a:b").text() == "./a:b"
