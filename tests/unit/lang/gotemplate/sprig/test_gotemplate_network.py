from __future__ import annotations

import pytest

from krm_fn.errors import EvaluationError
from krm_fn.lang.gotemplate import parse


def render(text: str) -> str:
    return parse("{{ " + text + " }}", "x").render({})


@pytest.mark.parametrize(
    ("url", "member", "expected"),
    [
        ("HTTPS://u:p%40@h.example:8443/a%20b?q=1#f%20", "scheme", "https"),
        ("https://u:p%40@h.example:8443/a%20b?q=1#f%20", "userinfo", "u:p%40"),
        ("https://u:p%40@h.example:8443/a%20b?q=1#f%20", "host", "h.example:8443"),
        ("https://u:p%40@h.example:8443/a%20b?q=1#f%20", "hostname", "h.example"),
        ("https://u:p%40@h.example:8443/a%20b?q=1#f%20", "path", "/a b"),
        ("https://u:p%40@h.example:8443/a%20b?q=1#f%20", "query", "q=1"),
        ("https://u:p%40@h.example:8443/a%20b?q=1#f%20", "fragment", "f "),
        ("http://[fe80::1%25en0]:80/", "hostname", "fe80::1%en0"),
        ("mailto:a@b.example", "opaque", "a@b.example"),
        ("//h/p", "host", "h"),
        ("*", "path", "*"),
    ],
)
def test_a_url_has_its_parts(url: str, member: str, expected: str) -> None:
    assert render(f'(urlParse "{url}").{member}') == expected


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        (":x", "missing protocol scheme"),
        ("http://a b/", 'invalid character \\" \\" in host name'),
        ("http://h/%zz", 'invalid URL escape \\"%zz\\"'),
        ("http://%41/", 'invalid URL escape \\"%41\\"'),
        ("http://h:x/", 'invalid port \\":x\\" after host'),
        ("http://[::1/", "missing ']' in host"),
        ("http://a b@h/", "invalid userinfo"),
        ("a:b/c:d", ""),
        ("1:b", "first path segment in URL cannot contain colon"),
        ("http://h/\\n", "invalid control character in URL"),
    ],
)
def test_what_is_no_url_is_an_error(url: str, reason: str) -> None:
    if not reason:
        assert render(f'(urlParse "{url}").opaque')
        return
    with pytest.raises(EvaluationError) as caught:
        render(f'urlParse "{url}"')
    assert reason.replace("\\", "") in str(caught.value)


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ('"scheme" "https" "host" "h" "path" "p q" "query" "a=1" "fragment" "f g"',
         "https://h/p%20q?a=1#f%20g"),
        ('"userinfo" "u:p" "host" "h"', "//u:p@h"),
        ('"path" "a:b"', "./a:b"),
        ('"scheme" "mailto" "opaque" "x"', "mailto:x"),
        ('"hostname" "h"', ""),
    ],
)  # fmt: skip
def test_parts_make_a_url(parts: str, expected: str) -> None:
    assert render(f"urlJoin (dict {parts})") == expected


@pytest.mark.parametrize(
    "call",
    ['urlJoin (dict "scheme" 5)', 'urlJoin (dict "host" nil)', 'urlJoin (dict "userinfo" "%")'],
)
def test_a_part_that_is_wrong_is_an_error(call: str) -> None:
    with pytest.raises(EvaluationError, match="error calling urlJoin"):
        render(call)


def test_the_network_is_never_asked() -> None:
    with pytest.raises(EvaluationError, match="getHostByName is not available at render"):
        render('getHostByName "localhost"')
    with pytest.raises(EvaluationError, match="expected string"):
        render("getHostByName 5")
