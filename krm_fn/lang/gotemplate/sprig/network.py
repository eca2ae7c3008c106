"""Sprig's functions of URLs; the one that asks the network never has an answer.

Source: Sprig's url.go and network.go.
"""

from __future__ import annotations

from typing import Any, Final

from krm_fn.lang.budget import Budget
from krm_fn.lang.go.release import Release
from krm_fn.lang.go.strconv import quote
from krm_fn.lang.go.url import URL, UrlError, parse_url
from krm_fn.lang.go.values import kind_name
from krm_fn.lang.gotemplate.values import Family, FunctionError, RefusedError

FUNCTIONS: Final = Family()


@FUNCTIONS.function("urlParse", "string", budget=True)
def url_parse(budget: Budget, text: str) -> dict[str, Any]:
    """The parts of a URL by name; those that it does not have are empty."""
    url = _parsed(budget, text, "url")
    return {
        "scheme": url.scheme,
        "host": url.host,
        "hostname": url.hostname,
        "path": url.path,
        "query": url.query,
        "opaque": url.opaque,
        "fragment": url.fragment,
        "userinfo": url.userinfo or "",
    }


@FUNCTIONS.function("urlJoin", "map", budget=True)
def url_join(budget: Budget, parts: dict[str, Any]) -> str:
    """A URL from parts named as `urlParse` does; `hostname` is not looked at."""
    names = ("scheme", "host", "path", "query", "opaque", "fragment")
    scheme, host, path, query, opaque, fragment = (_part(parts, name) for name in names)
    userinfo = _part(parts, "userinfo")
    user = None
    if userinfo:
        user = _parsed(budget, f"proto://{userinfo}@host", "userinfo in dict").userinfo
    # Escapes cost time, and make up to three characters of one byte.
    budget.spend((len(host) + len(path) + len(fragment)) // 4)
    url = URL(scheme, opaque, user, host, path, query, fragment)
    return url.text()


def _parsed(budget: Budget, text: str, what: str) -> URL:
    budget.spend(len(text) // 4)
    try:
        return parse_url(text, Release.GO_1_18)
    except UrlError as error:
        shown = text if len(text) <= 200 else text[:200] + "..."
        raise FunctionError(
            f"unable to parse {what}: parse {quote(shown)}: {error.message}"
        ) from None


def _part(parts: dict[str, Any], name: str) -> str:
    value = parts.get(name, "")
    if type(value) is not str:
        if value is None:
            raise FunctionError("runtime error: invalid memory address or nil pointer dereference")
        kind = kind_name(value)
        raise FunctionError(f"unable to parse {name} key, must be of type string, but {kind} found")
    return value


@FUNCTIONS.function("getHostByName", "string")
def get_host_by_name(name: str) -> str:
    """Always refused: another machine's network gives another address."""
    raise RefusedError("is not available at render")
