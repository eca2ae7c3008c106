"""What makes values safe, each for one kind of place in a page.

Values are never marked as safe here, as Go's types HTML, JS and the like do: a template gets none.
This module knows values and texts; where which function is right is known elsewhere.
Source: Go 1.26's html/template, html.go, url.go, js.go and css.go.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from krm_fn.lang.budget import Budget
from krm_fn.lang.go.json.encode import marshal
from krm_fn.lang.go.printf import sprint
from krm_fn.lang.go.values import GoObject, to_bytes
from krm_fn.lang.gotemplate.html.attributes import PLAIN, attribute_kind
from krm_fn.lang.gotemplate.html.transitions import decode_css
from krm_fn.lang.gotemplate.values import Family, indirect
from krm_fn.values import MISSING

ESCAPERS: Final = Family()
"""The functions by the names that Go gives them in pipelines."""

FAILSAFE: Final = "ZgotmplZ"
"""What stands in a page where a value cannot be made safe."""


def _text(budget: Budget, values: Sequence[Any]) -> str:
    """What values print; nothing for nil. Source: content.go stringify."""
    if len(values) == 1 and type(values[0]) is str:
        return values[0]
    shown = [indirect(value) for value in values if value is not None and value is not MISSING]
    text = sprint(shown, budget.output)
    budget.spend(len(text) // 2)
    return text


# HTML

_HTML: Final = str.maketrans(
    {
        "\0": "\ufffd",
        '"': "&#34;",
        "&": "&amp;",
        "'": "&#39;",
        "+": "&#43;",
        "<": "&lt;",
        ">": "&gt;",
    }
)
_UNQUOTED: Final = _HTML | str.maketrans(
    {"\0": "&#xfffd;", **{char: f"&#{ord(char)};" for char in "\t\n\v\f\r =`"}}
)
_NO_CHARACTERS: Final = re.compile("[\ufdd0-\ufdef\ufff0-\uffff\udc80-\udcff]")


@ESCAPERS.function(
    "_html_template_htmlescaper _html_template_attrescaper _html_template_rcdataescaper",
    "...any",
    budget=True,
)
def html(budget: Budget, *values: Any) -> str:
    """In text, in quoted attributes, and in elements that hold text only."""
    return _text(budget, values).translate(_HTML)


@ESCAPERS.function("_html_template_nospaceescaper", "...any", budget=True)
def unquoted(budget: Budget, *values: Any) -> str:
    """In an attribute without quotes."""
    text = _text(budget, values).translate(_UNQUOTED)
    return _NO_CHARACTERS.sub(_reference, text) if text else FAILSAFE


def _reference(found: re.Match[str]) -> str:
    code = ord(found[0])
    # A byte that is no character reads as one that stands for that.
    return f"&#x{0xFFFD if 0xDC80 <= code < 0xDD00 else code:x};"


@ESCAPERS.function("_html_template_htmlnamefilter", "...any", budget=True)
def attribute_name(budget: Budget, *values: Any) -> str:
    """As an attribute's name."""
    name = _text(budget, values).lower()
    if attribute_kind(name) != PLAIN or not re.fullmatch("[a-z0-9]+", name):
        return FAILSAFE
    return name


@ESCAPERS.function("_html_template_commentescaper", "...any")
def comment(*values: Any) -> str:
    """In a comment: nothing."""
    return ""


@ESCAPERS.function("_eval_args_", "...any", budget=True)
def evaluated(budget: Budget, *values: Any) -> str:
    """The arguments of `html` and `urlquery`, before those are put where they belong."""
    if len(values) == 1 and type(values[0]) is str:
        return values[0]
    return sprint([indirect(value) for value in values], budget.output)


# URLs

_ALWAYS: Final = b"-._~abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
_RESERVED: Final = b"!#$&*+,/:;=?@[]"
_ESCAPED: Final = [f"%{byte:02x}" for byte in range(256)]
_PART: Final = [chr(b) if b in _ALWAYS else _ESCAPED[b] for b in range(256)]
_WHOLE: Final = [chr(b) if b in _ALWAYS + _RESERVED else _ESCAPED[b] for b in range(256)]
_HEX: Final = re.compile(rb"%(?![0-9a-fA-F]{2})|[^%]+|%[0-9a-fA-F]{2}")


def _normal_url(text: str) -> str:
    """A URL with what no URL may have escaped; its own escapes stay."""
    parts = []
    for piece in _HEX.findall(to_bytes(text)):
        if len(piece) == 3 and piece.startswith(b"%"):
            parts.append(piece.decode("ascii"))
        else:
            parts.extend(_WHOLE[byte] for byte in piece)
    return "".join(parts)


def _is_safe(url: str) -> bool:
    protocol, colon, _ = url.partition(":")
    if not colon or "/" in protocol:
        return True
    return protocol.lower() in ("http", "https", "mailto")


@ESCAPERS.function("_html_template_urlfilter", "...any", budget=True)
def url_filter(budget: Budget, *values: Any) -> str:
    """At the start of a URL: only protocols that run nothing."""
    text = _text(budget, values)
    return text if _is_safe(text) else "#" + FAILSAFE


@ESCAPERS.function("_html_template_urlescaper", "...any", budget=True)
def url_part(budget: Budget, *values: Any) -> str:
    """In the query or fragment of a URL."""
    return "".join([_PART[byte] for byte in to_bytes(_text(budget, values))])


@ESCAPERS.function("_html_template_urlnormalizer", "...any", budget=True)
def url_normalizer(budget: Budget, *values: Any) -> str:
    """In a URL before its query."""
    return _normal_url(_text(budget, values))


_SOURCE: Final = re.compile(r"([ \t\n\f\r]*)([^ \t\n\f\r]*)(.*)", re.DOTALL)
_METADATA: Final = re.compile(r"[ \t\n\f\r0-9A-Za-z]*")


@ESCAPERS.function("_html_template_srcsetescaper", "...any", budget=True)
def source_set(budget: Budget, *values: Any) -> str:
    """As a list of images with their sizes."""
    return ",".join(map(_image, _text(budget, values).split(",")))


def _image(text: str) -> str:
    found = _SOURCE.fullmatch(text)
    assert found is not None
    spaces, url, metadata = found.groups()
    if not _is_safe(url) or not _METADATA.fullmatch(metadata):
        return "#" + FAILSAFE
    return spaces + _normal_url(url) + metadata


# Scripts

_CONTROLS: Final = {
    **{chr(code): f"\\u{code:04x}" for code in range(0x20)},
    "\t": "\\t",
    "\n": "\\n",
    "\f": "\\f",
    "\r": "\\r",
    "\u2028": "\\u2028",
    "\u2029": "\\u2029",
}


def _unicode(chars: str) -> dict[str, str]:
    return {char: f"\\u{ord(char):04x}" for char in chars}


def _table(special: Mapping[str, str]) -> dict[int, str]:
    return str.maketrans({**_CONTROLS, **special})


_JS_STRING: Final = _table({**_unicode("\"`&'+<>"), "/": "\\/", "\\": "\\\\"})
_JS_TEMPLATE: Final = _JS_STRING | _table(_unicode("${}"))
_JS_REGEXP: Final = _table(
    {**_unicode("\"&'+<>"), **{char: "\\" + char for char in "$()*-./?[\\]^{|}"}}
)
_WORD_CHARACTERS: Final = re.compile("[$_A-Za-z0-9]")


@ESCAPERS.function("_html_template_jsvalescaper", "...any", budget=True)
def js_value(budget: Budget, *values: Any) -> str:
    """As a value of a script: JSON, between spaces where it could grow into a word beside it."""
    value = indirect(values[0]) if len(values) == 1 else _text(budget, values)
    text = marshal(value.go_json() if isinstance(value, GoObject) else value, sort=False)
    budget.text(len(text))
    if _WORD_CHARACTERS.match(text[0]) or _WORD_CHARACTERS.match(text[-1]):
        return f" {text} "
    return text


@ESCAPERS.function("_html_template_jsstrescaper", "...any", budget=True)
def js_string(budget: Budget, *values: Any) -> str:
    """In a string of a script."""
    return _text(budget, values).translate(_JS_STRING)


@ESCAPERS.function("_html_template_jstmpllitescaper", "...any", budget=True)
def js_template(budget: Budget, *values: Any) -> str:
    """In a template literal of a script."""
    return _text(budget, values).translate(_JS_TEMPLATE)


@ESCAPERS.function("_html_template_jsregexpescaper", "...any", budget=True)
def js_regexp(budget: Budget, *values: Any) -> str:
    """In a regular expression of a script."""
    return _text(budget, values).translate(_JS_REGEXP) or "(?:)"


# Style sheets

_CSS_ESCAPES: Final = {
    **{char: f"\\{ord(char):x}" for char in "\0\t\n\f\r\"&'()+/:;<>{}"},
    "\\": "\\\\",
}
_CSS_SPECIAL: Final = re.compile("[\\0\t\n\f\r\"&'()+/:;<>{}\\\\]")
_CSS_FOLLOWS: Final = re.compile(r"[0-9a-fA-F \t\n\f\r]|\Z")


@ESCAPERS.function("_html_template_cssescaper", "...any", budget=True)
def css_string(budget: Budget, *values: Any) -> str:
    """In a string of a style sheet."""
    text = _text(budget, values)

    def escape(found: re.Match[str]) -> str:
        escaped = _CSS_ESCAPES[found[0]]
        # A space ends the digits, where what follows could be one more.
        if escaped != "\\\\" and _CSS_FOLLOWS.match(text, found.end()):
            return escaped + " "
        return escaped

    return _CSS_SPECIAL.sub(escape, text)


_UNSAFE_CSS: Final = re.compile("[\0\"'()/;@\\[\\\\\\]`{}<>]|--")
_NO_NAME_CHARACTER: Final = re.compile("[^a-z0-9_-]")


@ESCAPERS.function("_html_template_cssvaluefilter", "...any", budget=True)
def css_value(budget: Budget, *values: Any) -> str:
    """As a value of a style sheet: only what runs nothing."""
    text = decode_css(_text(budget, values))
    if _UNSAFE_CSS.search(text):
        return FAILSAFE
    words = _NO_NAME_CHARACTER.sub("", text.lower())
    return FAILSAFE if "expression" in words or "mozbinding" in words else text
