"""Where in a page a template's text stands: what an HTML parser would make of all before it.

The words are those that Go prints in its errors. This module knows no transitions.
Source: Go 1.26's html/template, context.go.
"""

from __future__ import annotations

from typing import Final, NamedTuple

TEXT: Final = "stateText"
TAG: Final = "stateTag"
ATTR_NAME: Final = "stateAttrName"
AFTER_NAME: Final = "stateAfterName"
BEFORE_VALUE: Final = "stateBeforeValue"
HTML_COMMENT: Final = "stateHTMLCmt"
RCDATA: Final = "stateRCDATA"
ATTR: Final = "stateAttr"
URL: Final = "stateURL"
SRCSET: Final = "stateSrcset"
JS: Final = "stateJS"
JS_DOUBLE: Final = "stateJSDqStr"
JS_SINGLE: Final = "stateJSSqStr"
JS_TEMPLATE: Final = "stateJSTmplLit"
JS_REGEXP: Final = "stateJSRegexp"
JS_BLOCK_COMMENT: Final = "stateJSBlockCmt"
JS_LINE_COMMENT: Final = "stateJSLineCmt"
JS_HTML_OPEN_COMMENT: Final = "stateJSHTMLOpenCmt"
JS_HTML_CLOSE_COMMENT: Final = "stateJSHTMLCloseCmt"
CSS: Final = "stateCSS"
CSS_DOUBLE: Final = "stateCSSDqStr"
CSS_SINGLE: Final = "stateCSSSqStr"
CSS_DOUBLE_URL: Final = "stateCSSDqURL"
CSS_SINGLE_URL: Final = "stateCSSSqURL"
CSS_URL: Final = "stateCSSURL"
CSS_BLOCK_COMMENT: Final = "stateCSSBlockCmt"
CSS_LINE_COMMENT: Final = "stateCSSLineCmt"
META_CONTENT: Final = "stateMetaContent"
META_CONTENT_URL: Final = "stateMetaContentURL"
DEAD: Final = "stateDead"

COMMENTS: Final = frozenset(
    (
        HTML_COMMENT,
        JS_BLOCK_COMMENT,
        JS_LINE_COMMENT,
        JS_HTML_OPEN_COMMENT,
        JS_HTML_CLOSE_COMMENT,
        CSS_BLOCK_COMMENT,
        CSS_LINE_COMMENT,
    )
)
SCRIPT_LITERALS: Final = frozenset((JS_DOUBLE, JS_SINGLE, JS_TEMPLATE, JS_REGEXP))

NO_DELIMITER: Final = "delimNone"
DOUBLE_QUOTE: Final = "delimDoubleQuote"
SINGLE_QUOTE: Final = "delimSingleQuote"
SPACE_OR_TAG_END: Final = "delimSpaceOrTagEnd"

URL_NONE: Final = "urlPartNone"
URL_BEFORE_QUERY: Final = "urlPartPreQuery"
URL_QUERY: Final = "urlPartQueryOrFrag"
URL_UNKNOWN: Final = "urlPartUnknown"

SLASH_REGEXP: Final = "jsCtxRegexp"
SLASH_DIVIDES: Final = "jsCtxDivOp"
SLASH_UNKNOWN: Final = "jsCtxUnknown"

NO_ELEMENT: Final = "elementNone"
SCRIPT: Final = "elementScript"
STYLE: Final = "elementStyle"
TEXTAREA: Final = "elementTextarea"
TITLE: Final = "elementTitle"
META: Final = "elementMeta"

NO_ATTRIBUTE: Final = "attrNone"
ATTR_SCRIPT: Final = "attrScript"
ATTR_SCRIPT_TYPE: Final = "attrScriptType"
ATTR_STYLE: Final = "attrStyle"
ATTR_URL: Final = "attrURL"
ATTR_SRCSET: Final = "attrSrcset"
ATTR_META_CONTENT: Final = "attrMetaContent"


class Context(NamedTuple):
    """A place in a page. `braces` counts open braces in each nested `${}` of script templates."""

    state: str = TEXT
    delimiter: str = NO_DELIMITER
    url: str = URL_NONE
    slash: str = SLASH_REGEXP
    braces: tuple[int, ...] = ()
    attribute: str = NO_ATTRIBUTE
    element: str = NO_ELEMENT

    def __str__(self) -> str:
        braces = "[" + " ".join(map(str, self.braces)) + "]"
        words = (
            self.state,
            self.delimiter,
            self.url,
            self.slash,
            braces,
            self.attribute,
            self.element,
        )
        return "{" + " ".join(words) + " <nil>}"

    def mangled(self, name: str) -> str:
        """The name of a template as it is called here; its own where it is called in text."""
        return name if self.state == TEXT else f"{name}$htmltemplate_{self}"


class EscapeError(Exception):
    """Why a template cannot be made safe. `pos` is the place of the node; None for a text."""

    def __init__(self, reason: str, pos: int | None = None) -> None:
        super().__init__(reason)
        self.pos = pos
