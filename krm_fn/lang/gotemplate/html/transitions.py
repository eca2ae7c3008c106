"""How an HTML parser moves through text: from a context and a string to the next context.

Each function reads the part `[start, end)` of a string and tells what comes after some of it, and
where that is. All characters that matter are of ASCII, so that texts do where Go has bytes. This
module knows no templates.
Source: Go 1.26's html/template, transition.go, js.go (nextJSCtx) and css.go (decodeCSS).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from krm_fn.lang.go.strconv import quote
from krm_fn.lang.gotemplate.html import attributes
from krm_fn.lang.gotemplate.html.contexts import (
    AFTER_NAME,
    ATTR,
    ATTR_META_CONTENT,
    ATTR_NAME,
    ATTR_SCRIPT,
    ATTR_SCRIPT_TYPE,
    ATTR_SRCSET,
    ATTR_STYLE,
    ATTR_URL,
    BEFORE_VALUE,
    COMMENTS,
    CSS,
    CSS_BLOCK_COMMENT,
    CSS_DOUBLE,
    CSS_DOUBLE_URL,
    CSS_LINE_COMMENT,
    CSS_SINGLE,
    CSS_SINGLE_URL,
    CSS_URL,
    DOUBLE_QUOTE,
    HTML_COMMENT,
    JS,
    JS_BLOCK_COMMENT,
    JS_DOUBLE,
    JS_HTML_CLOSE_COMMENT,
    JS_HTML_OPEN_COMMENT,
    JS_LINE_COMMENT,
    JS_REGEXP,
    JS_SINGLE,
    JS_TEMPLATE,
    META,
    META_CONTENT,
    META_CONTENT_URL,
    NO_ATTRIBUTE,
    NO_ELEMENT,
    RCDATA,
    SCRIPT,
    SCRIPT_LITERALS,
    SINGLE_QUOTE,
    SLASH_DIVIDES,
    SLASH_REGEXP,
    SPACE_OR_TAG_END,
    SRCSET,
    STYLE,
    TAG,
    TEXT,
    TEXTAREA,
    TITLE,
    URL,
    URL_BEFORE_QUERY,
    URL_NONE,
    URL_QUERY,
    Context,
    EscapeError,
)

Move = tuple[Context, int]
Transition = Callable[[Context, str, int, int], Move]

_SPACES: Final = " \t\n\f\r"
_SHOWN: Final = 32
"""Characters of a string that an error shows."""


def _bad(reason: str, text: str) -> EscapeError:
    return EscapeError(f"{reason}: {quote(text)}")


def _past_spaces(s: str, start: int, end: int) -> int:
    while start < end and s[start] in _SPACES:
        start += 1
    return start


# Tags and attributes

_TAG_NAME: Final = re.compile(r"[A-Za-z](?:[A-Za-z0-9]|[:-][A-Za-z0-9])*")
_ELEMENTS: Final = {
    "script": SCRIPT,
    "style": STYLE,
    "textarea": TEXTAREA,
    "title": TITLE,
    "meta": META,
}
_CONTENT: Final = {SCRIPT: JS, STYLE: CSS, TEXTAREA: RCDATA, TITLE: RCDATA}
"""The state inside an element; elsewhere it is text."""


def _text(c: Context, s: str, start: int, end: int) -> Move:
    at = start
    while True:
        at = s.find("<", at, end)
        if at < 0 or at + 1 == end:
            return c, end
        if s.startswith("<!--", at, end):
            return Context(HTML_COMMENT), at + 4
        at += 1
        closes = s[at] == "/"
        if closes:
            at += 1
        name = _TAG_NAME.match(s, at, end)
        if name:
            element = NO_ELEMENT if closes else _ELEMENTS.get(name[0].lower(), NO_ELEMENT)
            return Context(TAG, element=element), name.end()


_ATTRIBUTES: Final = {
    attributes.URL: ATTR_URL,
    attributes.CSS: ATTR_STYLE,
    attributes.JS: ATTR_SCRIPT,
    attributes.SRCSET: ATTR_SRCSET,
}


def _tag(c: Context, s: str, start: int, end: int) -> Move:
    at = _past_spaces(s, start, end)
    if at == end:
        return c, end
    if s[at] == ">":
        if c.element == META:
            return Context(), at + 1
        return Context(_CONTENT.get(c.element, TEXT), element=c.element), at + 1
    after = _past_attribute_name(s, at, end, start)
    if after == at:
        shown = quote(s[at:end])
        raise EscapeError(f"expected space, attr name, or end of tag, but got {shown}")
    name = s[at:after].lower()
    if c.element == SCRIPT and name == "type":
        attribute = ATTR_SCRIPT_TYPE
    elif c.element == META and name == "content":
        attribute = ATTR_META_CONTENT
    else:
        attribute = _ATTRIBUTES.get(attributes.attribute_kind(name), NO_ATTRIBUTE)
    state = ATTR_NAME if after == end else AFTER_NAME
    return Context(state, element=c.element, attribute=attribute), after


_ATTRIBUTE_END: Final = re.compile(r"""[ \t\n\f\r=>'"<]""")


def _past_attribute_name(s: str, start: int, end: int, shown_from: int) -> int:
    found = _ATTRIBUTE_END.search(s, start, end)
    if found is None:
        return end
    if found[0] in "'\"<":
        shown = s[shown_from : min(end, shown_from + _SHOWN)]
        raise _bad(f"{quote(found[0])} in attribute name", shown)
    return found.start()


def _attribute_name(c: Context, s: str, start: int, end: int) -> Move:
    after = _past_attribute_name(s, start, end, start)
    return (c if after == end else c._replace(state=AFTER_NAME)), after


def _after_name(c: Context, s: str, start: int, end: int) -> Move:
    at = _past_spaces(s, start, end)
    if at == end:
        return c, end
    if s[at] != "=":
        return c._replace(state=TAG), at
    return c._replace(state=BEFORE_VALUE), at + 1


VALUE_STATES: Final = {
    NO_ATTRIBUTE: ATTR,
    ATTR_SCRIPT: JS,
    ATTR_SCRIPT_TYPE: ATTR,
    ATTR_STYLE: CSS,
    ATTR_URL: URL,
    ATTR_SRCSET: SRCSET,
    ATTR_META_CONTENT: META_CONTENT,
}
"""The state at the start of an attribute's value."""


def _before_value(c: Context, s: str, start: int, end: int) -> Move:
    at = _past_spaces(s, start, end)
    if at == end:
        return c, end
    delimiter = {"'": SINGLE_QUOTE, '"': DOUBLE_QUOTE}.get(s[at], SPACE_OR_TAG_END)
    if delimiter != SPACE_OR_TAG_END:
        at += 1
    return c._replace(state=VALUE_STATES[c.attribute], delimiter=delimiter), at


def _html_comment(c: Context, s: str, start: int, end: int) -> Move:
    at = s.find("-->", start, end)
    return (Context(), at + 3) if at >= 0 else (c, end)


def _stay(c: Context, s: str, start: int, end: int) -> Move:
    return c, end


class TagEnds:
    """Where the next end tag of the element at hand is, in one text; each is looked for once."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._known: dict[str, tuple[int, int]] = {}

    def next(self, c: Context, start: int) -> int:
        """The place of the tag that ends `c.element`, or the end of the text."""
        end = len(self._text)
        if c.element == NO_ELEMENT:
            return end
        if c.element == SCRIPT and (c.state in SCRIPT_LITERALS or c.state in COMMENTS):
            return end
        since, found = self._known.get(c.element, (0, -1))
        if not since <= start <= found:
            match = _END_TAGS[c.element].search(self._text, start)
            found = match.start() if match else end
            self._known[c.element] = start, found
        return found


_END_TAGS: Final = {
    element: re.compile(rf"</{name}(?=[> \t\n\f/])", re.IGNORECASE | re.ASCII)
    for name, element in (
        ("script", SCRIPT),
        ("style", STYLE),
        ("textarea", TEXTAREA),
        ("title", TITLE),
        ("", META),
    )
}


# URLs


def _url(c: Context, s: str, start: int, end: int) -> Move:
    return _through_url(c, s[start:end]), end


def _through_url(c: Context, text: str) -> Context:
    if "#" in text or "?" in text:
        return c._replace(url=URL_QUERY)
    if c.url == URL_NONE and text.strip(_SPACES):
        return c._replace(url=URL_BEFORE_QUERY)
    return c


_META_URL: Final = re.compile(r"url[ \t\n\f\r]*=", re.IGNORECASE | re.ASCII)


def _meta_content(c: Context, s: str, start: int, end: int) -> Move:
    found = _META_URL.search(s, start, end)
    return (c._replace(state=META_CONTENT_URL), found.end()) if found else (c, end)


def _meta_content_url(c: Context, s: str, start: int, end: int) -> Move:
    at = s.find(";", start, end)
    return (c._replace(state=META_CONTENT), at + 1) if at >= 0 else (c, end)


# Scripts

_JS_SPACES: Final = (
    "\f\n\r\t\v \xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)
_BEFORE_REGEXP: Final = frozenset(",<>=*%&|^?!~([:;{}")
_IDENTIFIER: Final = re.compile(r"[$_A-Za-z0-9]*\Z")
_WORDS_BEFORE_REGEXP: Final = frozenset(
    [
        "break",
        "case",
        "continue",
        "delete",
        "do",
        "else",
        "finally",
        "in",
        "instanceof",
        "return",
        "throw",
        "try",
        "typeof",
        "void",
    ]
)


def _slash_after(text: str, before: str) -> str:
    """What a slash would mean behind a piece of a script."""
    text = text.rstrip(_JS_SPACES)
    if not text:
        return before
    last = text[-1]
    if last in "+-":
        signs = len(text) - len(text.rstrip(last))
        return SLASH_REGEXP if signs % 2 else SLASH_DIVIDES
    if last == ".":
        return SLASH_DIVIDES if len(text) > 1 and text[-2] in "0123456789" else SLASH_REGEXP
    if last in _BEFORE_REGEXP:
        return SLASH_REGEXP
    word = _IDENTIFIER.search(text)
    return SLASH_REGEXP if word and word[0] in _WORDS_BEFORE_REGEXP else SLASH_DIVIDES


_JS_SPECIAL: Final = re.compile(r"""["'`/{}<\-#]""")
_JS_LITERALS: Final = {'"': JS_DOUBLE, "'": JS_SINGLE, "`": JS_TEMPLATE}


def _js(c: Context, s: str, start: int, end: int) -> Move:
    found = _JS_SPECIAL.search(s, start, end)
    at = found.start() if found else end
    c = c._replace(slash=_slash_after(s[start:at], c.slash))
    if not found:
        return c, end
    char = found[0]
    if char in _JS_LITERALS:
        return c._replace(state=_JS_LITERALS[char], slash=SLASH_REGEXP), at + 1
    if char == "/":
        return _js_slash(c, s, at, end)
    if char == "<" and s.startswith("<!--", at, end):
        return c._replace(state=JS_HTML_OPEN_COMMENT), at + 4
    if char == "-" and s.startswith("-->", at, end):
        return c._replace(state=JS_HTML_CLOSE_COMMENT), at + 3
    if char == "#" and s.startswith("#!", at, end):
        return c._replace(state=JS_LINE_COMMENT), at + 2
    if char in "{}":
        return _js_brace(c, char), at + 1
    return c, at + 1


def _js_slash(c: Context, s: str, at: int, end: int) -> Move:
    if s.startswith("//", at, end):
        return c._replace(state=JS_LINE_COMMENT), at + 2
    if s.startswith("/*", at, end):
        return c._replace(state=JS_BLOCK_COMMENT), at + 2
    if c.slash == SLASH_REGEXP:
        return c._replace(state=JS_REGEXP), at + 1
    if c.slash == SLASH_DIVIDES:
        return c._replace(slash=SLASH_REGEXP), at + 1
    raise _bad("'/' could start a division or regexp", s[at : min(end, at + _SHOWN)])


def _js_brace(c: Context, brace: str) -> Context:
    if c.braces:
        depth = c.braces[-1] + (1 if brace == "{" else -1)
        if depth < 0:
            return c._replace(braces=c.braces[:-1], state=JS_TEMPLATE)
        c = c._replace(braces=(*c.braces[:-1], depth))
    return c._replace(slash=SLASH_REGEXP)


_TEMPLATE_SPECIAL: Final = re.compile(r"[`\\$]")


def _js_template(c: Context, s: str, start: int, end: int) -> Move:
    at = start
    while found := _TEMPLATE_SPECIAL.search(s, at, end):
        at = found.start()
        if found[0] == "\\":
            at = _past_escape(s, at, start, end, "JS")
            continue
        if found[0] == "`":
            return c._replace(state=JS), at + 1
        if s.startswith("${", at, end):
            return c._replace(state=JS, braces=(*c.braces, 0)), at + 2
        at += 1
    return c, end


def _past_escape(s: str, at: int, start: int, end: int, language: str) -> int:
    if at + 1 == end:
        raise _bad(f"unfinished escape sequence in {language} string", s[start:end])
    return at + 2


_DELIMITED: Final = {
    JS_DOUBLE: re.compile(r'[\\"]'),
    JS_SINGLE: re.compile(r"[\\']"),
    JS_REGEXP: re.compile(r"[\\/\[\]]"),
}


def _js_delimited(c: Context, s: str, start: int, end: int) -> Move:
    specials = _DELIMITED[c.state]
    at, in_set = start, False
    while found := specials.search(s, at, end):
        at, char = found.start(), found[0]
        if char == "\\":
            at = _past_escape(s, at, start, end, "JS")
            continue
        if char in "[]":
            in_set = char == "["
        elif char == "/" and at > start and s[at - 1 : min(at + 7, end)].lower() == "</script":
            at += 1
        elif not in_set:
            return c._replace(state=JS, slash=SLASH_DIVIDES), at + 1
        at += 1
    if in_set:
        raise _bad("unfinished JS regexp charset", s[start:end])
    return c, end


_COMMENT_CONTENT: Final = {
    JS_BLOCK_COMMENT: JS,
    JS_LINE_COMMENT: JS,
    JS_HTML_OPEN_COMMENT: JS,
    JS_HTML_CLOSE_COMMENT: JS,
    CSS_BLOCK_COMMENT: CSS,
    CSS_LINE_COMMENT: CSS,
}
"""The state behind a comment."""


def _block_comment(c: Context, s: str, start: int, end: int) -> Move:
    at = s.find("*/", start, end)
    return (c._replace(state=_COMMENT_CONTENT[c.state]), at + 2) if at >= 0 else (c, end)


_JS_LINE_END: Final = re.compile("[\n\r\u2028\u2029]")
_CSS_LINE_END: Final = re.compile("[\n\f\r]")


def _line_comment(c: Context, s: str, start: int, end: int) -> Move:
    state = _COMMENT_CONTENT[c.state]
    found = (_JS_LINE_END if state == JS else _CSS_LINE_END).search(s, start, end)
    return (c._replace(state=state), found.start()) if found else (c, end)


# Style sheets

_CSS_SPECIAL: Final = re.compile(r"""[("'/]""")
_CSS_URL_WORD: Final = re.compile(
    "(?:\\A|[^-_a-zA-Z0-9\x80-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff])[uU][rR][lL]\\Z"
)


def _css(c: Context, s: str, start: int, end: int) -> Move:
    at = start
    while found := _CSS_SPECIAL.search(s, at, end):
        at, char = found.start(), found[0]
        if char == '"':
            return c._replace(state=CSS_DOUBLE), at + 1
        if char == "'":
            return c._replace(state=CSS_SINGLE), at + 1
        if char == "(":
            if _ends_with_url(s, start, at):
                at = _past_spaces(s, at + 1, end)
                if s.startswith('"', at, end):
                    return c._replace(state=CSS_DOUBLE_URL), at + 1
                if s.startswith("'", at, end):
                    return c._replace(state=CSS_SINGLE_URL), at + 1
                return c._replace(state=CSS_URL), at
        elif s.startswith("//", at, end):
            return c._replace(state=CSS_LINE_COMMENT), at + 2
        elif s.startswith("/*", at, end):
            return c._replace(state=CSS_BLOCK_COMMENT), at + 2
        at += 1
    return c, end


def _ends_with_url(s: str, start: int, end: int) -> bool:
    while end > start and s[end - 1] in _SPACES:
        end -= 1
    # Four characters tell the word from a longer one.
    return _CSS_URL_WORD.search(s[max(start, end - 4) : end]) is not None


_CSS_ENDS: Final = {
    CSS_DOUBLE: re.compile(r'[\\"]'),
    CSS_DOUBLE_URL: re.compile(r'[\\"]'),
    CSS_SINGLE: re.compile(r"[\\']"),
    CSS_SINGLE_URL: re.compile(r"[\\']"),
    CSS_URL: re.compile(r"[\\\t\n\f\r )]"),
}


def _css_string(c: Context, s: str, start: int, end: int) -> Move:
    ends = _CSS_ENDS[c.state]
    at = start
    while found := ends.search(s, at, end):
        if found[0] != "\\":
            return c._replace(state=CSS), found.end()
        after = _past_escape(s, found.start(), start, end, "CSS")
        c = _through_url(c, decode_css(s[at:after]))
        at = after
    return _through_url(c, decode_css(s[at:end])), end


_CSS_ESCAPE: Final = re.compile(r"\\(?:([0-9a-fA-F]{1,6})(?:\r\n|[ \t\n\f\r])?|(.)|\Z)", re.DOTALL)


def decode_css(text: str) -> str:
    """A string of a style sheet without its escapes."""
    return _CSS_ESCAPE.sub(_css_character, text) if "\\" in text else text


def _css_character(found: re.Match[str]) -> str:
    digits, char = found.groups()
    if digits is None:
        return char or ""
    code = int(digits, 16)
    if code > 0x10FFFF:
        # The last of the digits belongs to what follows.
        return chr(code // 16) + found[0][len(digits) :]
    return "\ufffd" if 0xD800 <= code < 0xE000 else chr(code)


TRANSITIONS: Final[dict[str, Transition]] = {
    TEXT: _text,
    TAG: _tag,
    ATTR_NAME: _attribute_name,
    AFTER_NAME: _after_name,
    BEFORE_VALUE: _before_value,
    HTML_COMMENT: _html_comment,
    RCDATA: _stay,
    ATTR: _stay,
    URL: _url,
    META_CONTENT: _meta_content,
    META_CONTENT_URL: _meta_content_url,
    SRCSET: _url,
    JS: _js,
    JS_DOUBLE: _js_delimited,
    JS_SINGLE: _js_delimited,
    JS_REGEXP: _js_delimited,
    JS_TEMPLATE: _js_template,
    JS_BLOCK_COMMENT: _block_comment,
    JS_LINE_COMMENT: _line_comment,
    JS_HTML_OPEN_COMMENT: _line_comment,
    JS_HTML_CLOSE_COMMENT: _line_comment,
    CSS: _css,
    CSS_DOUBLE: _css_string,
    CSS_SINGLE: _css_string,
    CSS_DOUBLE_URL: _css_string,
    CSS_SINGLE_URL: _css_string,
    CSS_URL: _css_string,
    CSS_BLOCK_COMMENT: _block_comment,
    CSS_LINE_COMMENT: _line_comment,
}
"""What each state's text does."""
