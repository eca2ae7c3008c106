"""Texts in the words of Rust's standard library, in which the policy server reports.

Source: library/core/src/fmt and library/core/src/str/error.rs of Rust.
"""

from __future__ import annotations

from typing import Final

_ESCAPES: Final = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t", "\0": "\\0"}


def debug(text: str) -> str:
    """Returns a string as `{:?}` shows it."""
    shown = (
        _ESCAPES.get(char) or (char if char.isprintable() else f"\\u{{{ord(char):x}}}")
        for char in text
    )
    return f'"{"".join(shown)}"'


def utf8_error(error: UnicodeDecodeError) -> str:
    """Returns what `Utf8Error` says of the bytes that Python could not decode."""
    if error.reason == "unexpected end of data":
        return f"incomplete utf-8 byte sequence from index {error.start}"
    size = error.end - error.start
    return f"invalid utf-8 sequence of {size} bytes from index {error.start}"
