"""URLs in expressions.

Source: apiserver v0.37, pkg/cel/library/urls.go; Go 1.26's net/url.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from krm_fn.errors import EvaluationError
from krm_fn.lang.cel import types as t
from krm_fn.lang.cel.environment import Library
from krm_fn.lang.cel.functions import Function, Overload, steps
from krm_fn.lang.cel.types import Type
from krm_fn.lang.cel.values import NO_OVERLOAD, Value
from krm_fn.lang.go.release import Release
from krm_fn.lang.go.url import URL, UrlError, check_request_uri, parse_query, parse_url

URL_TYPE: Final = t.struct("kubernetes.URL")

_READING: Final = steps(70, 2)
"""What reading a string takes."""


class UrlValue(Value):
    """A URL as a value of the language."""

    __slots__ = ("url",)
    type = URL_TYPE
    go_type = "cel.URL"

    def __init__(self, url: URL) -> None:
        self.url = url

    def equal(self, other: Any) -> bool:
        if not isinstance(other, UrlValue):
            raise EvaluationError(NO_OVERLOAD)
        return str(self) == str(other)

    def __str__(self) -> str:
        return self.url.text()


def _url(text: str) -> UrlValue:
    try:
        check_request_uri(text, Release.GO_1_26)
        return UrlValue(parse_url(text, Release.GO_1_26))
    except UrlError as error:
        raise EvaluationError(
            f"URL parse error during conversion from string: {error.message}"
        ) from None


def _is_url(text: str) -> bool:
    try:
        check_request_uri(text, Release.GO_1_26)
    except UrlError:
        return False
    return True


def _on_url(name: str, identity: str, result: Type, read: Callable[[URL], Any]) -> Function:
    overload = Overload(
        f"url_get_{identity}", (URL_TYPE,), result, lambda value: read(value.url), member=True
    )
    return Function(name, [overload])


def library() -> Library:
    """The functions on URLs."""
    text = (t.STRING,)
    query = t.map_of(t.STRING, t.list_of(t.STRING))
    return Library(
        [
            Function("url", [Overload("string_to_url", text, URL_TYPE, _url, work=_READING)]),
            Function("isURL", [Overload("is_url_string", text, t.BOOL, _is_url, work=_READING)]),
            _on_url("getQuery", "query", query, lambda url: parse_query(url.query)),
            _on_url("getScheme", "scheme", t.STRING, lambda url: url.scheme),
            _on_url("getHost", "host", t.STRING, lambda url: url.host),
            _on_url("getHostname", "hostname", t.STRING, lambda url: url.hostname),
            _on_url("getPort", "port", t.STRING, lambda url: url.port),
            _on_url("getEscapedPath", "escaped_path", t.STRING, lambda url: url.escaped_path),
        ]
    )
