"""URLs as Go's net/url reads and writes them.

Python's urllib neither checks hosts and escapes nor escapes parts as Go does. Strings are handled
as bytes (as characters of Latin-1), which is what escapes stand for. Programs are built with
different releases of Go, which differ here.
Source: Go's net/url/url.go, of 1.18 and of 1.26.
"""

from __future__ import annotations

import re
import string
from dataclasses import dataclass, replace
from typing import Final

from krm_fn.lang.go.release import Release
from krm_fn.lang.go.strconv import quote
from krm_fn.lang.go.values import GoError, from_bytes, to_bytes

_UNRESERVED: Final = string.ascii_letters + string.digits + "-_.~"
_PLAIN_IN_PATH: Final = frozenset(_UNRESERVED + "$&+,/:;=@")
_PLAIN_IN_USER: Final = frozenset(_UNRESERVED + "$&+,;=")
_PLAIN_IN_FRAGMENT: Final = frozenset(_UNRESERVED + "$&+,/:;=?@!()*")
_PLAIN_IN_HOST: Final = frozenset(_UNRESERVED + "!$&'()*+,;=:[]<>\"")
_ENCODED: Final = frozenset("!$&'()*+,;=:@[]%")
_USERINFO: Final = re.compile(r"[A-Za-z0-9\-._:~!$&'()*+,;=%@]*")
_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+\-.]*:")
_PORT: Final = re.compile("(?::[0-9]*)?")
_ESCAPE: Final = re.compile("%(?:([0-9A-Fa-f]{2})|.{0,2})", re.DOTALL)


_OMITS_HOST: Final = 19
"""The release from which `file:/etc` is written without `//` again."""
_CHECKS_HOST: Final = 26
"""The release from which brackets hold an IPv6 address, and a web address has one colon."""


class UrlError(GoError):
    """Why a string is no URL."""


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
    raw_path: str = ""
    """The path as it was written, where Go would escape it in another way."""
    raw_fragment: str = ""
    force_query: bool = False
    """The URL ends in a question mark."""
    omit_host: bool = False
    """There is a scheme and a path, and no `//` between them."""

    @property
    def hostname(self) -> str:
        """The host without port and brackets."""
        host, _ = self._split_host()
        return host[1:-1] if host.startswith("[") and host.endswith("]") else host

    @property
    def port(self) -> str:
        """The port; empty where there is none."""
        return self._split_host()[1]

    def _split_host(self) -> tuple[str, str]:
        colon = self.host.rfind(":")
        if colon >= 0 and _PORT.fullmatch(self.host, colon):
            return self.host[:colon], self.host[colon + 1 :]
        return self.host, ""

    @property
    def escaped_path(self) -> str:
        """The path as it was written if that is fine, else escaped anew."""
        return _escaped(self.path, self.raw_path, _PLAIN_IN_PATH)

    def text(self) -> str:
        """The URL as a string. Source: URL.String."""
        out = f"{self.scheme}:" if self.scheme else ""
        out += self.opaque or self._hierarchy(bool(out))
        if self.force_query or self.query:
            out += f"?{self.query}"
        if self.fragment:
            out += f"#{_escaped(self.fragment, self.raw_fragment, _PLAIN_IN_FRAGMENT)}"
        return out

    def _hierarchy(self, after_scheme: bool) -> str:
        """User, host and path."""
        out = ""
        has_user = self.userinfo is not None
        if self.host or has_user or (self.scheme and self.path and not self.omit_host):
            out += "//"
        if has_user:
            out += f"{self.userinfo}@"
        out += _escape(self.host, _PLAIN_IN_HOST)
        path = self.escaped_path
        if path and not path.startswith("/") and self.host:
            out += "/"
        # A colon in the first segment would read as a scheme.
        if not out and not after_scheme and ":" in path.partition("/")[0]:
            out += "./"
        return out + path


def _latin(text: str) -> str:
    return text if text.isascii() else to_bytes(text).decode("latin-1")


def _text(data: str) -> str:
    """Bytes that were read as Latin-1, as the string that they are."""
    return data if data.isascii() else from_bytes(data.encode("latin-1"))


def _escape(text: str, plain: frozenset[str]) -> str:
    return "".join([c if c in plain else f"%{ord(c):02X}" for c in _latin(text)])


def _escaped(text: str, written: str, plain: frozenset[str]) -> str:
    """A part of a URL as it was written, or escaped if it would not read back as what it is."""
    if written and all(char in _ENCODED or char in plain for char in written):
        return written
    return "*" if text == "*" else _escape(text, plain)


def _unescape(data: str) -> str:
    """Resolve escapes; raises UrlError where one is incomplete."""
    return _ESCAPE.sub(_byte, data)


def _byte(match: re.Match[str]) -> str:
    if match[1] is None:
        raise UrlError(f"invalid URL escape {quote(_text(match[0]))}")
    return chr(int(match[1], 16))


def parse_url(text: str, release: Release) -> URL:
    """The parts of a URL; raises UrlError. Source: url.Parse."""
    rest, _, written = _latin(text).partition("#")
    url = _parse(rest, release, request=False)
    if not written:
        return url
    fragment = _text(_unescape(written))
    raw = "" if _escape(fragment, _PLAIN_IN_FRAGMENT) == written else _text(written)
    return replace(url, fragment=fragment, raw_fragment=raw)


def check_request_uri(text: str, release: Release) -> None:
    """Raise UrlError with Go's whole message where a string is no absolute URL or path.

    Source: url.ParseRequestURI.
    """
    try:
        _parse(_latin(text), release, request=True)
    except UrlError as error:
        raise UrlError(f"parse {quote(text)}: {error.message}") from None


def parse_query(query: str) -> dict[str, list[str]]:
    """The values of each key in a URL's query; what does not read is left out.

    Source: URL.Query.
    """
    values: dict[str, list[str]] = {}
    for part in _latin(query).split("&"):
        if not part or ";" in part:
            continue
        key, _, value = part.partition("=")
        try:
            name, text = [_text(_unescape(p.replace("+", " "))) for p in (key, value)]
        except UrlError:
            continue
        values.setdefault(name, []).append(text)
    return values


def _parse(data: str, release: Release, request: bool) -> URL:
    """A URL without fragment."""
    if re.search("[\0-\x1f\x7f]", data):
        raise UrlError("net/url: invalid control character in URL")
    if not data and request:
        raise UrlError("empty url")
    if data == "*":
        return URL(path="*")
    if data.startswith(":"):
        raise UrlError("missing protocol scheme")
    match = _SCHEME.match(data)
    scheme = match[0][:-1].lower() if match else ""
    rest = data[match.end() if match else 0 :]
    force_query = rest.endswith("?") and rest.count("?") == 1
    rest, _, query = rest.partition("?")
    url = URL(scheme, query=_text(query), force_query=force_query)
    if not rest.startswith("/"):
        if scheme:
            return replace(url, opaque=_text(rest))
        if request:
            raise UrlError("invalid URI for request")
        if ":" in rest.partition("/")[0]:
            raise UrlError("first path segment in URL cannot contain colon")
    has_authority = scheme or (not request and not rest.startswith("///"))
    if has_authority and rest.startswith("//"):
        authority, slash, path = rest[2:].partition("/")
        rest = slash + path
        userinfo, host = _authority(authority, scheme, release)
        url = replace(url, userinfo=userinfo, host=_text(host))
    elif scheme and rest.startswith("/"):
        url = replace(url, omit_host=release >= _OMITS_HOST)
    path = _text(_unescape(rest))
    raw = "" if _escape(path, _PLAIN_IN_PATH) == rest else _text(rest)
    return replace(url, path=path, raw_path=raw)


def _authority(authority: str, scheme: str, release: Release) -> tuple[str | None, str]:
    """Userinfo, escaped anew, and host."""
    userinfo, at, rest = authority.rpartition("@")
    host = _host(rest, scheme, release)
    if not at:
        return None, host
    if not _USERINFO.fullmatch(userinfo):
        raise UrlError("net/url: invalid userinfo")
    parts = [_text(_unescape(part)) for part in userinfo.split(":", 1)]
    return ":".join(_escape(part, _PLAIN_IN_USER) for part in parts), host


def _host(host: str, scheme: str, release: Release) -> str:
    if release >= _CHECKS_HOST and host.rfind("[") > 0:
        raise UrlError("invalid IP-literal")
    if host.startswith("["):
        return _bracketed(host, release)
    is_web = release >= _CHECKS_HOST and scheme in ("http", "https")
    colon = host.find(":") if is_web else host.rfind(":")
    if colon >= 0:
        _check_port(host[colon:])
    return _unescaped_host(host)


def _bracketed(host: str, release: Release) -> str:
    """An address in brackets, perhaps with a zone and a port."""
    end = host.rfind("]")
    if end < 0:
        raise UrlError("missing ']' in host")
    _check_port(host[end + 1 :])
    # What follows the percent sign of an IPv6 address's zone may be escaped.
    zone = host.find("%25", 0, end)
    if release >= _CHECKS_HOST:
        literal = _unescaped_host(host[1 : zone if zone >= 0 else end])
        if zone >= 0:
            literal += _unescaped_host(host[zone:end], zone=True)
        _check_literal(_text(literal))
        return f"[{literal}{host[end:]}"
    if zone < 0:
        return _unescaped_host(host)
    return (
        _unescaped_host(host[:zone])
        + _unescaped_host(host[zone:end], zone=True)
        + _unescaped_host(host[end:])
    )


def _check_literal(address: str) -> None:
    from krm_fn.lang.go.netip import AddressError, parse_address

    try:
        _, bits, _ = parse_address(address)
    except AddressError as error:
        raise UrlError(f"invalid host: {error.message}") from None
    if bits == 32:
        raise UrlError("invalid IP-literal")


def _check_port(port: str) -> None:
    if not _PORT.fullmatch(port):
        raise UrlError(f"invalid port {quote(_text(port))} after host")


_HOST_PART: Final = re.compile(rf"{_ESCAPE.pattern}|[^%]", re.DOTALL)


def _unescaped_host(text: str, zone: bool = False) -> str:
    """Escapes stand for bytes beyond ASCII only, and in a zone for what a host has."""
    parts = []
    for match in _HOST_PART.finditer(text):
        part = match[0]
        if part[0] != "%":
            if part < "\x80" and part not in _PLAIN_IN_HOST:
                raise UrlError(f"invalid character {quote(part)} in host name")
            parts.append(part)
            continue
        byte = _byte(match)
        fine = byte == " " or byte in _PLAIN_IN_HOST if zone else byte >= "\x80"
        if not fine and part != "%25":
            raise UrlError(f"invalid URL escape {quote(part)}")
        parts.append(byte)
    return "".join(parts)
