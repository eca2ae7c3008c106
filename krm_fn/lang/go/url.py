"""URLs as Go's net/url reads and writes them.

Python's urllib neither checks hosts and escapes nor escapes parts as Go does. Texts are handled as
bytes (as characters of Latin-1), which is what escapes stand for.
Source: Go 1.18.0's net/url/url.go.
"""

from __future__ import annotations

import re
import string
from dataclasses import dataclass
from typing import Final

from krm_fn.lang.go.strconv import quote
from krm_fn.lang.go.values import from_bytes, to_bytes

_UNRESERVED: Final = string.ascii_letters + string.digits + "-_.~"
_PLAIN_IN_PATH: Final = frozenset(_UNRESERVED + "$&+,/:;=@")
_PLAIN_IN_USER: Final = frozenset(_UNRESERVED + "$&+,;=")
_PLAIN_IN_FRAGMENT: Final = frozenset(_UNRESERVED + "$&+,/:;=?@!()*")
_PLAIN_IN_HOST: Final = frozenset(_UNRESERVED + "!$&'()*+,;=:[]<>\"")
_USERINFO: Final = re.compile(r"[A-Za-z0-9\-._:~!$&'()*+,;=%@]*")
_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+\-.]*:")
_PORT: Final = re.compile("(?::[0-9]*)?")
_ESCAPE: Final = re.compile("%(?:([0-9A-Fa-f]{2})|.{0,2})", re.DOTALL)


class UrlError(ValueError):
    """Why a text is no URL."""


@dataclass(frozen=True, slots=True)
class URL:
    """The parts of a URL without escapes; `userinfo` has them, and is None where there is none."""

    scheme: str = ""
    opaque: str = ""
    userinfo: str | None = None
    host: str = ""
    path: str = ""
    query: str = ""
    fragment: str = ""

    @property
    def hostname(self) -> str:
        """The host without port and brackets."""
        host = self.host
        colon = host.rfind(":")
        if colon >= 0 and _PORT.fullmatch(host, colon):
            host = host[:colon]
        if host.startswith("[") and host.endswith("]"):
            host = host[1:-1]
        return host

    def text(self) -> str:
        """The URL as a text. Source: URL.String."""
        out = f"{self.scheme}:" if self.scheme else ""
        if self.opaque:
            out += self.opaque
        else:
            has_user = self.userinfo is not None
            if self.host or has_user or (self.scheme and self.path):
                out += "//"
            if has_user:
                out += f"{self.userinfo}@"
            out += _escape(self.host, _PLAIN_IN_HOST)
            path = "*" if self.path == "*" else _escape(self.path, _PLAIN_IN_PATH)
            if path and not path.startswith("/") and self.host:
                out += "/"
            # A colon in the first segment would read as a scheme.
            if not out and ":" in path.partition("/")[0]:
                out += "./"
            out += path
        if self.query:
            out += "?" + self.query
        if self.fragment:
            out += "#" + _escape(self.fragment, _PLAIN_IN_FRAGMENT)
        return out


def _escape(text: str, plain: frozenset[str]) -> str:
    data = to_bytes(text).decode("latin-1")
    return "".join(c if c in plain else f"%{ord(c):02X}" for c in data)


def _unescape(text: str) -> str:
    """A text with its escapes resolved; raises UrlError where one is incomplete."""
    return _ESCAPE.sub(_byte, text)


def _byte(match: re.Match[str]) -> str:
    if match[1] is None:
        raise UrlError(f"invalid URL escape {quote(_text(match[0]))}")
    return chr(int(match[1], 16))


def _text(data: str) -> str:
    """Bytes that were read as Latin-1, as the text that they are."""
    return data if data.isascii() else from_bytes(data.encode("latin-1"))


def parse_url(text: str) -> URL:
    """The parts of a URL; raises UrlError."""
    rest, _, fragment = to_bytes(text).decode("latin-1").partition("#")
    url = _parse(rest)
    return URL(
        url.scheme,
        _text(url.opaque),
        url.userinfo,
        _text(url.host),
        _text(url.path),
        _text(url.query),
        _text(_unescape(fragment)),
    )


def _parse(text: str) -> URL:
    """A URL without fragment, its parts still bytes."""
    if re.search("[\0-\x1f\x7f]", text):
        raise UrlError("net/url: invalid control character in URL")
    if text == "*":
        return URL(path="*")
    if text.startswith(":"):
        raise UrlError("missing protocol scheme")
    match = _SCHEME.match(text)
    scheme = match[0][:-1].lower() if match else ""
    rest, _, query = text[match.end() if match else 0 :].partition("?")
    if not rest.startswith("/"):
        if scheme:
            return URL(scheme, opaque=rest, query=query)
        if ":" in rest.partition("/")[0]:
            raise UrlError("first path segment in URL cannot contain colon")
    userinfo, host = None, ""
    if rest.startswith("//") and (scheme or not rest.startswith("///")):
        authority, slash, path = rest[2:].partition("/")
        rest = slash + path
        userinfo, host = _authority(authority)
    return URL(scheme, "", userinfo, host, _unescape(rest), query)


def _authority(authority: str) -> tuple[str | None, str]:
    """Userinfo, escaped anew, and host."""
    userinfo, at, rest = authority.rpartition("@")
    host = _host(rest)
    if not at:
        return None, host
    if not _USERINFO.fullmatch(userinfo):
        raise UrlError("net/url: invalid userinfo")
    parts = [_text(_unescape(part)) for part in userinfo.split(":", 1)]
    return ":".join(_escape(part, _PLAIN_IN_USER) for part in parts), host


def _host(host: str) -> str:
    if host.startswith("["):
        end = host.rfind("]")
        if end < 0:
            raise UrlError("missing ']' in host")
        _check_port(host[end + 1 :])
        zone = host.find("%25", 0, end)
        if zone >= 0:
            # What follows the percent sign of an IPv6 address's zone may be escaped.
            _check_host(host[:zone], zone=False)
            _check_host(host[zone:end], zone=True)
            _check_host(host[end:], zone=False)
            return _unescape(host)
    else:
        colon = host.rfind(":")
        if colon >= 0:
            _check_port(host[colon:])
    _check_host(host, zone=False)
    return _unescape(host)


def _check_port(port: str) -> None:
    if not _PORT.fullmatch(port):
        raise UrlError(f"invalid port {quote(_text(port))} after host")


def _check_host(text: str, zone: bool) -> None:
    """Escapes stand for bytes beyond ASCII only, and in a zone for what a host has as well."""
    for match in _ESCAPE.finditer(text):
        byte = _byte(match)
        fine = match[0] == "%25" or byte >= "\x80"
        if zone:
            fine = fine or byte == " " or byte in _PLAIN_IN_HOST
        if not fine:
            raise UrlError(f"invalid URL escape {quote(match[0])}")
    for char in _ESCAPE.sub("", text):
        if char < "\x80" and char not in _PLAIN_IN_HOST:
            raise UrlError(f"invalid character {quote(char)} in host name")
