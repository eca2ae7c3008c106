"""Positions in a text by lines: where a line starts and ends, which comments belong to it.

A line ends with LF or CR LF. What only YAML 1.1 takes for a line break (a lone CR, NEL, LS, PS) is
not one here; edits near such a character fail their check and the object is written anew.
"""

from __future__ import annotations


class CannotEditError(Exception):
    """A change has no small edit here; the node is to be written anew."""


def line_start(text: str, at: int) -> int:
    """The start of the line that `at` is on."""
    return text.rfind("\n", 0, at) + 1


def line_end(text: str, at: int) -> int:
    """The end of the line that `at` is on, before its break."""
    stop = text.find("\n", at)
    if stop < 0:
        return len(text)
    return stop - 1 if stop > at and text[stop - 1] == "\r" else stop


def break_before(text: str, line: int) -> int:
    """The position before the line break that precedes the line start `line`."""
    at = line - 1
    return at - 1 if at > 0 and text[at - 1] == "\r" else at


def content_line_end(text: str, end: int) -> int:
    """The end of the line on which a value ends, comment included; nothing else may be on it."""
    if end and text[end - 1] == "\n":
        return break_before(text, end)
    at = line_end(text, end)
    rest = text[end:at].strip(" \t")
    if rest and not rest.startswith("#"):
        raise CannotEditError("something else is on the line")
    return at


def next_line(text: str, end: int) -> int:
    """The start of the line after the one on which a value ends (`end` may be a line start)."""
    if end and text[end - 1] == "\n":
        return end
    stop = text.find("\n", end)
    return len(text) if stop < 0 else stop + 1


def with_comments_above(text: str, line: int, floor: int, column: int) -> int:
    """The start of the comment lines right above `line` at `column`, not above `floor`."""
    lead = " " * column + "#"
    while line > floor:
        above = line_start(text, line - 1)
        if above < floor or not text.startswith(lead, above):
            break
        line = above
    return line


def next_dash(text: str, end: int, column: int) -> int:
    """The first dash at `column` on a line of its own after the value that ends at `end`."""
    line = next_line(text, end)
    while 0 < line < len(text):
        dash = line + column
        if text[dash : dash + 1] == "-" and not text[line:dash].strip(" "):
            return dash
        line = text.find("\n", line) + 1
    raise CannotEditError("no dash")


def lines_of(text: str, start: int, end: int, floor: int, column: int) -> tuple[int, int]:
    """The span of whole lines to delete for what starts at `start` and whose value ends at `end`.

    It takes in the comment above (not above `floor`), blank lines and deeper comments below, and
    the line break before it, or the one behind it where the text starts or ends without one.
    Nothing else may stand on these lines. What is below must go, too: a block scalar that then
    comes to stand above it could swallow it.
    """
    line = line_start(text, start)
    if text[line:start].strip(" "):
        raise CannotEditError("something else is on the line")
    line = with_comments_above(text, line, floor, column)
    stop = _with_what_is_below(text, content_line_end(text, end), column)
    if line > 0 and stop < len(text):
        return break_before(text, line), stop
    behind = text.find("\n", stop)
    return line, len(text) if behind < 0 else behind + 1


def _with_what_is_below(text: str, stop: int, column: int) -> int:
    """From the end of a line to that of the last blank line, or comment beyond `column`, below."""
    while True:
        line = text.find("\n", stop) + 1
        if not 0 < line < len(text):
            return stop
        end = line_end(text, line)
        content = text[line:end].lstrip(" \t")
        if content and not (content.startswith("#") and end - line - len(content) > column):
            return stop
        stop = end
