"""What the values of HTML's attributes are, by the attributes' names.

Source: Go 1.26's html/template, attr.go.
"""

from __future__ import annotations

from typing import Final

PLAIN: Final = "plain"
URL: Final = "url"
CSS: Final = "css"
JS: Final = "js"
HTML: Final = "html"
SRCSET: Final = "srcset"
UNSAFE: Final = "unsafe"

_NAMES: Final = {
    PLAIN: """
        accept alt autocomplete autofocus autoplay border checked class cols colspan
        contenteditable contextmenu controls coords datetime default dir dirname disabled
        draggable dropzone for formtarget headers height hidden high hreflang id ismap kind
        label lang list loop low max maxlength media mediagroup min multiple name open
        optimum placeholder preload pubdate radiogroup readonly required reversed rows
        rowspan spellcheck scope scoped seamless selected shape size sizes span srclang
        start step tabindex target title width wrap""",
    UNSAFE: """
        accept-charset async challenge charset content crossorigin defer enctype form
        formenctype formmethod formnovalidate http-equiv keytype language method novalidate
        pattern rel sandbox type value""",
    URL: """
        action archive background cite classid codebase data formaction href icon longdesc
        manifest poster profile src usemap xmlns""",
    HTML: "srcdoc",
    SRCSET: "srcset",
    CSS: "style",
}
_KINDS: Final = {name: kind for kind, names in _NAMES.items() for name in names.split()}


def attribute_kind(name: str) -> str:
    """What an attribute's value is; the name is in lower case."""
    if name.startswith("data-"):
        name = name[len("data-") :]
    elif ":" in name:
        prefix, _, short = name.partition(":")
        if prefix == "xmlns":
            return URL
        name = short
    if name in _KINDS:
        return _KINDS[name]
    if name.startswith("on"):
        return JS
    if any(part in name for part in ("src", "uri", "url")):
        return URL
    return PLAIN
