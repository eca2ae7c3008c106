"""The text of an expression and errors that point into it, as cel-go shows them.

Source: cel-go v0.29, common/error.go and common/errors.go.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import Final

from krm_fn import work

_SNIPPET: Final = 16_384
_MOST: Final = 100
_SHOWN_PER_STEP: Final = 4
"""Each error shows its line again, which may be long."""
NO_POSITION: Final = -1


class Source:
    """An expression's text with its lines."""

    __slots__ = ("_starts", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        starts = [0]
        found = text.find("\n")
        while found >= 0:
            starts.append(found + 1)
            found = text.find("\n", found + 1)
        self._starts = starts

    def location(self, pos: int) -> tuple[int, int]:
        """Line (from 1) and column (from 0) of a code point; (-1, -1) for NO_POSITION."""
        if pos < 0:
            return -1, -1
        line = bisect_right(self._starts, pos)
        return line, pos - self._starts[line - 1]

    def line(self, number: int) -> str | None:
        """The text of a line without its end."""
        if not 1 <= number <= len(self._starts):
            return None
        start = self._starts[number - 1]
        end = self._starts[number] - 1 if number < len(self._starts) else len(self.text)
        return self.text[start:end]


class Issues:
    """The errors found in one expression."""

    __slots__ = ("_found", "source")

    def __init__(self, source: Source) -> None:
        self.source = source
        self._found: list[tuple[tuple[int, int], str]] = []

    def __bool__(self) -> bool:
        return bool(self._found)

    def report(self, pos: int, message: str) -> None:
        """Add an error at a code point."""
        self._found.append((self.source.location(pos), message))

    def text(self) -> str:
        """All errors in the order of the text, each with its line and a mark below it."""
        kept = sorted(self._found[:_MOST], key=lambda issue: issue[0])
        shown = [self._show(location, message) for location, message in kept]
        if len(self._found) > _MOST:
            shown.append(f"{len(self._found) - _MOST} more errors were truncated")
        text = "\n".join(shown)
        work.spend(len(text) // _SHOWN_PER_STEP)
        return text

    def _show(self, location: tuple[int, int], message: str) -> str:
        number, column = location
        shown = f"ERROR: <input>:{number}:{column + 1}: {message}"
        line = self.source.line(number)
        if line is None or len(line.encode("utf-8", "surrogatepass")) > _SNIPPET:
            return shown
        marks = ["\uff0e" if ord(char) > 127 else "." for char in line[:column]]
        mark = "\uff3e" if column < len(line) and ord(line[column]) > 127 else "^"
        return f"{shown}\n | {line.replace(chr(9), ' ')}\n | {''.join(marks)}{mark}"
