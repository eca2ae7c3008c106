"""Whether a text that cannot be read may be a manifest to somebody else.

Directories hold texts of many programs. One that is no YAML is none of ours, unless kubectl would
find an object in it: where the word apiVersion (or kind and metadata, which some server may take
without it) stands anywhere in it, spelled in any way that YAML knows, nobody passes over it. What
could spell it in a way that cannot be told counts, too.
Source: YAML 1.1, sections 5.7 (escapes), 6.8.2 (tags); docs/trust.md, "Reading".
"""

from __future__ import annotations

import re
from typing import Final

_FOLD: Final = rb"(?:\\\r?\n[ \t]*)?"
"""A line break that a double-quoted text does not have."""


def _spelled(letter: str) -> bytes:
    escapes = {case: ord(case) for case in (letter.lower(), letter.upper())}
    ways = [
        way
        for case, code in escapes.items()
        for way in (case, f"\\\\x{code:02x}", f"\\\\u{code:04x}", f"\\\\U{code:08x}")
    ]
    return f"(?:{'|'.join(ways)})".encode()


def _pattern(word: str) -> re.Pattern[bytes]:
    return re.compile(_FOLD.join(map(_spelled, word)), re.IGNORECASE)


_API_VERSION: Final = _pattern("apiVersion")
_KIND: Final = _pattern("kind")
_METADATA: Final = _pattern("metadata")
_OBSCURE: Final = re.compile(rb"!!|!<|^%TAG", re.MULTILINE)
"""Tags, of which `!!binary` makes a key of anything."""
_UTF_16: Final = (b"\xff\xfe", b"\xfe\xff")


def may_be_manifest(data: bytes) -> bool:
    """Whether a text that is not valid here may hold an object to another reader."""
    if data.startswith(_UTF_16):
        data = data.decode("utf-16", "replace").encode("utf-8", "replace")
    # No reader of YAML gets beyond a NUL byte, but kubectl reads documents one by one.
    if _API_VERSION.search(data) or _OBSCURE.search(data.split(b"\0", 1)[0]):
        return True
    return bool(_KIND.search(data) and _METADATA.search(data))
