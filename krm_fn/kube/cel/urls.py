"""URLs as Go's net/url reads and prints them.

Texts are handled as bytes (as characters of Latin-1), which is what escapes stand for.
Source: Go 1.26's net/url/url.go; apiserver v0.37, pkg/cel/library/urls.go.
"""

from __future__ import annotations

import string
from typing import Any, Final

from krm_fn.errors import EvaluationError
from krm_fn.kube.cel.net import AddressError, parse_address
from krm_fn.lang.cel import types as t
from krm_fn.lang.cel.environment import Library
from krm_fn.lang.cel.functions import Function, Overload, steps
from krm_fn.lang.cel.values import NO_OVERLOAD, Value
from krm_fn.lang.go.strconv import quote
from krm_fn.lang.go.values import from_bytes, to_bytes

URL: Final = t.struct("kubernetes.URL")

_READING: Final = steps(70, 2)
"""What reading a text takes."""

_UNRESERVED: Final = string.ascii_letters + string.digits + "-_.~"
_IN_PATH: Final = frozenset(_UNRESERVED + "$&+,/:;=@")
_IN_USER: Final = frozenset(_UNRESERVED + "$&+,;=")
_IN_FRAGMENT: Final = frozenset(_UNRESERVED + "$&+,/:;=?@!()*")
_IN_HOST: Final = frozenset(_UNRESERVED + "!$&'()*+,;=:[]<>\"")
_ENCODED: Final = frozenset("!$&'()*+,;=:@[]%")
_USERINFO: Final = frozenset(string.ascii_letters + string.digits + "-._:~!$&'()*+,;=%@")
_HEX: Final = frozenset(string.hexdigits)
_LETTERS: Final = frozenset(string.ascii_letters)
_SCHEME: Final = frozenset(string.ascii_letters + string.digits + "+-.")


class UrlError(ValueError):
    """Why a text is no URL, in Go's words."""


class Url(Value):
    """The parts of a URL."""

    __slots__ = (
        "force_query", "fragment", "host", "omit_host", "opaque", "path", "query", "raw_fragment",
        "raw_path", "scheme", "user",
    )  # fmt: skip
    type = URL
    go_type = "cel.URL"

    def __init__(self) -> None:
        self.scheme = self.opaque = self.host = self.path = self.raw_path = ""
        self.query = self.fragment = self.raw_fragment = ""
        self.user: str | None = None
        self.force_query = self.omit_host = False

    def equal(self, other: Any) -> bool:
        if not isinstance(other, Url):
            raise EvaluationError(NO_OVERLOAD)
        return str(self) == str(other)

    @property
    def escaped_path(self) -> str:
        """The path as it was written if that is fine, else escaped anew."""
        if self.raw_path and _encoded(self.raw_path, _IN_PATH):
            return self.raw_path
        return "*" if self.path == "*" else _escape(self.path, _IN_PATH)

    def __str__(self) -> str:
        out = f"{self.scheme}:" if self.scheme else ""
        if self.opaque:
            out += self.opaque
        else:
            out += self._hierarchy(bool(out))
        if self.force_query or self.query:
            out += f"?{self.query}"
        if self.fragment:
            written = self.raw_fragment
            if not written or not _encoded(written, _IN_FRAGMENT):
                written = _escape(self.fragment, _IN_FRAGMENT)
            out += f"#{written}"
        return _text(out)

    def _hierarchy(self, after_scheme: bool) -> str:
        out = ""
        has_user = self.user is not None
        if (self.scheme or self.host or has_user) and not (
            self.omit_host and not self.host and not has_user
        ):
            if self.host or self.path or has_user:
                out += "//"
            if self.user is not None:
                out += f"{self.user}@"
            out += _escape(self.host, _IN_HOST)
        path = self.escaped_path
        if path and path[0] != "/" and self.host:
            out += "/"
        if not out and not after_scheme and ":" in path.partition("/")[0]:
            out += "./"
        return out + path

    @property
    def hostname(self) -> str:
        """The host without port and brackets."""
        host, _ = self._split()
        return host[1:-1] if host.startswith("[") and host.endswith("]") else host

    @property
    def port(self) -> str:
        """The port; empty where there is none."""
        return self._split()[1]

    def _split(self) -> tuple[str, str]:
        colon = self.host.rfind(":")
        if colon >= 0 and _is_port(self.host[colon:]):
            return self.host[:colon], self.host[colon + 1 :]
        return self.host, ""


def _text(data: str) -> str:
    return data if data.isascii() else from_bytes(data.encode("latin-1"))


def _escape(data: str, plain: frozenset[str]) -> str:
    return "".join([c if c in plain else f"%{ord(c):02X}" for c in data])


def _encoded(data: str, plain: frozenset[str]) -> bool:
    return all(char in _ENCODED or char in plain for char in data)


def _is_port(text: str) -> bool:
    return not text or (text[0] == ":" and all("0" <= c <= "9" for c in text[1:]))


def _unescape(data: str, mode: str = "") -> str:
    """Resolve escapes; in a `host` or `zone` only some are allowed. Raises UrlError."""
    out = []
    at = 0
    while at < len(data):
        char = data[at]
        if char != "%":
            if mode and char < "\x80" and char not in _IN_HOST:
                raise UrlError(f"invalid character {quote(char)} in host name")
            out.append(char)
            at += 1
            continue
        escape = data[at : at + 3]
        if len(escape) < 3 or not _HEX.issuperset(escape[1:]):
            raise UrlError(f"invalid URL escape {quote(_text(escape))}")
        value = chr(int(escape[1:], 16))
        if mode == "host" and value < "\x80" and escape != "%25":
            raise UrlError(f"invalid URL escape {quote(escape)}")
        if mode == "zone" and escape != "%25" and value != " " and value not in _IN_HOST:
            raise UrlError(f"invalid URL escape {quote(escape)}")
        out.append(value)
        at += 3
    return "".join(out)


def parse(text: str, request: bool) -> Url:
    """Read a URL; `request`: an absolute one or a path, without fragment. Raises UrlError."""
    data = to_bytes(text).decode("latin-1")
    fragment = ""
    if not request:
        data, _, fragment = data.partition("#")
    url = _parse(data, request)
    if fragment:
        url.fragment = _unescape(fragment)
        if _escape(url.fragment, _IN_FRAGMENT) != fragment:
            url.raw_fragment = fragment
    return url


def _parse(data: str, request: bool) -> Url:
    if any(char < " " or char == "\x7f" for char in data):
        raise UrlError("net/url: invalid control character in URL")
    if not data and request:
        raise UrlError("empty url")
    url = Url()
    if data == "*":
        url.path = "*"
        return url
    scheme, rest = _scheme(data)
    url.scheme = scheme.lower()
    if rest.endswith("?") and rest.count("?") == 1:
        url.force_query = True
        rest = rest[:-1]
    else:
        rest, _, url.query = rest.partition("?")
    if not rest.startswith("/"):
        if url.scheme:
            url.opaque = rest
            return url
        if request:
            raise UrlError("invalid URI for request")
        if ":" in rest.partition("/")[0]:
            raise UrlError("first path segment in URL cannot contain colon")
    if (url.scheme or (not request and not rest.startswith("///"))) and rest.startswith("//"):
        authority, slash, path = rest[2:].partition("/")
        rest = slash + path
        _read_authority(url, authority)
    elif url.scheme and rest.startswith("/"):
        url.omit_host = True
    url.path = _unescape(rest)
    if _escape(url.path, _IN_PATH) != rest:
        url.raw_path = rest
    return url


def _scheme(data: str) -> tuple[str, str]:
    for index, char in enumerate(data):
        if char == ":":
            if index == 0:
                raise UrlError("missing protocol scheme")
            return data[:index], data[index + 1 :]
        if char not in _SCHEME or (index == 0 and char not in _LETTERS):
            break
    return "", data


def _read_authority(url: Url, authority: str) -> None:
    userinfo, at, host = authority.rpartition("@")
    url.host = _host(url.scheme, host)
    if not at:
        return
    if not _USERINFO.issuperset(userinfo):
        raise UrlError("net/url: invalid userinfo")
    url.user = ":".join([_escape(_unescape(part), _IN_USER) for part in userinfo.split(":", 1)])


def _host(scheme: str, host: str) -> str:
    bracket = host.rfind("[")
    if bracket > 0:
        raise UrlError("invalid IP-literal")
    if bracket == 0:
        return _literal(host)
    first, last = host.find(":"), host.rfind(":")
    if first >= 0:
        port = host[first if scheme in ("http", "https") else last :]
        if not _is_port(port):
            raise UrlError(f"invalid port {quote(_text(port))} after host")
    return _unescape(host, "host")


def _literal(host: str) -> str:
    """An address in brackets, perhaps with a zone and a port."""
    end = host.rfind("]")
    if end < 0:
        raise UrlError("missing ']' in host")
    port = host[end + 1 :]
    if not _is_port(port):
        raise UrlError(f"invalid port {quote(_text(port))} after host")
    name, percent, zone = host[1:end].partition("%25")
    address = _unescape(name, "host")
    if percent:
        address += _unescape(percent + zone, "zone")
    try:
        known, _ = parse_address(_text(address))
    except AddressError as error:
        raise UrlError(f"invalid host: {error}") from None
    if known.bits == 32:
        raise UrlError("invalid IP-literal")
    return f"[{address}]{port}"


def check_request_uri(text: str) -> None:
    """Raise UrlError with Go's whole message if a text is no absolute URL or path."""
    try:
        parse(text, True)
    except UrlError as error:
        raise UrlError(f"parse {quote(text)}: {error}") from None


def _url(text: str) -> Url:
    try:
        check_request_uri(text)
        return parse(text, False)
    except UrlError as error:
        raise EvaluationError(f"URL parse error during conversion from string: {error}") from None


def _is_url(text: str) -> bool:
    try:
        check_request_uri(text)
    except UrlError:
        return False
    return True


def _query(url: Url) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for part in url.query.split("&"):
        if not part or ";" in part:
            continue
        key, _, value = part.partition("=")
        try:
            name, text = [_text(_unescape(p.replace("+", " "))) for p in (key, value)]
        except UrlError:
            continue
        found.setdefault(name, []).append(text)
    return found


def library() -> Library:
    """The functions on URLs."""
    getters: tuple[tuple[str, str, Any], ...] = (
        ("getScheme", "scheme", lambda url: url.scheme),
        ("getHost", "host", lambda url: _text(url.host)),
        ("getHostname", "hostname", lambda url: _text(url.hostname)),
        ("getPort", "port", lambda url: url.port),
        ("getEscapedPath", "escaped_path", lambda url: _text(url.escaped_path)),
    )
    query = t.map_of(t.STRING, t.list_of(t.STRING))
    return Library(
        [
            Function("url", [Overload("string_to_url", (t.STRING,), URL, _url, work=_READING)]),
            Function(
                "isURL", [Overload("is_url_string", (t.STRING,), t.BOOL, _is_url, work=_READING)]
            ),
            Function("getQuery", [Overload("url_get_query", (URL,), query, _query, member=True)]),
            *[
                Function(
                    name, [Overload(f"url_get_{identity}", (URL,), t.STRING, impl, member=True)]
                )
                for name, identity, impl in getters
            ],
        ]
    )
