"""How a text that others wrote may be shown: on one line, and as nothing but text.

Names, annotations and messages come from manifests. On a terminal, in a build log or in the summary
of a pull request an escape sequence, a line break or a mark that turns the direction of writing
could show something that the program never said, and CI systems take commands from logs. So every
text goes through here before it is shown. This module knows no other module of the package.
Source: Unicode 16 (categories Cc, Cf, Zl, Zp), Unicode TR 36; GitHub "Workflow commands" and
actions/runner ActionCommand.cs (`::` at the start of a line, `##[` anywhere), Azure Pipelines
"Logging commands" (`##vso[`), GitLab "Custom collapsible sections" (a line with CR and ESC).
"""

from __future__ import annotations

import json
import re
from typing import Any, Final

_FORMAT: Final = (
    "\u00ad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u180e\u200b-\u200f\u2028-\u202e"
    "\u2060-\u206f\ufeff\ufff9-\ufffb\U000110bd\U000110cd\U00013430-\U0001343f"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e007f"
)
"""What is not seen and changes what is: joiners, marks of direction, tags, other line breaks."""

_HIDDEN: Final = f"\x7f-\x9f{_FORMAT}\ud800-\udfff"
_UNSAFE: Final = re.compile(f"[\x00-\x08\x0a-\x1f{_HIDDEN}]")
_UNSAFE_IN_LINES: Final = re.compile(
    f"(?P<colour>\x1b\\[(?:0|1|3[0-7])m)|[\x00-\x08\x0b-\x1f{_HIDDEN}]"
)
_HIDDEN_IN_JSON: Final = re.compile(f"[{_HIDDEN}]")
_MARK: Final = re.compile(r"#(?=#\w*\[)")
_COMMAND: Final = re.compile(r"^(\s*):(?=:)")
_SHORT: Final = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def visible(text: str) -> str:
    """A line of somebody's file, with everything that is no text as an escape (`\\x1b`).

    A tab is text.
    """
    if text.isascii() and text.isprintable() and "##" not in text:
        return text
    return _MARK.sub("\\\\x23", _UNSAFE.sub(_escape, text))


def one_line(text: str) -> str:
    """A name or a message as it may stand in a line of ours: neither tabs nor backticks, either.

    A backtick becomes an apostrophe, so that no text ends a block of Markdown.
    """
    return visible(text).replace("\t", "\\t").replace("`", "'")


def log_line(line: str) -> str:
    """A whole line that is safe to show, so that no CI system takes it for a command."""
    return _COMMAND.sub("\\1\\\\x3a", line)


def lines_of_text(text: str) -> str:
    """Lines of ours, the last net: everything but line breaks, tabs and our colours is escaped."""
    if text.isascii() and text.replace("\n", "").isprintable():
        return text
    return _UNSAFE_IN_LINES.sub(_escape_but_colours, text)


def json_text(document: Any) -> str:
    """JSON for people and programs: nothing in it is invisible, and it says exactly the same."""
    text = json.dumps(document, indent=2, ensure_ascii=False)
    return _HIDDEN_IN_JSON.sub(lambda match: json.dumps(match[0])[1:-1], text) + "\n"


def yaml_text(document: Any) -> str:
    """YAML for people and programs: nothing in it is invisible, and it says exactly the same."""
    import yaml  # this module knows none of ours, and most of its users need no YAML

    dumper_of_ours: Any = type("Dumper", (yaml.SafeDumper,), {})

    def represent(dumper: Any, text: str) -> Any:
        # What is not to be seen can be escaped in quotes only.
        style = '"' if _HIDDEN_IN_JSON.search(text) else None
        return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)

    dumper_of_ours.add_representer(str, represent)
    plain = json.loads(json.dumps(document))
    text: str = yaml.dump(
        plain, Dumper=dumper_of_ours, sort_keys=False, allow_unicode=True, width=_ENDLESS
    )
    return _HIDDEN_IN_JSON.sub(_escape, text)


_ENDLESS: Final = 1 << 30


def _escape(match: re.Match[str]) -> str:
    char = match[0]
    code = ord(char)
    if char in _SHORT:
        return _SHORT[char]
    if 0xDC80 <= code <= 0xDCFF:  # a byte of a name that is no UTF-8, as Python keeps it
        return f"\\x{code - 0xDC00:02x}"
    if code <= 0xFF:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def _escape_but_colours(match: re.Match[str]) -> str:
    return match[0] if match["colour"] else _escape(match)
