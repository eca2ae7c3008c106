"""`.#N` in the value of a patch: the short way to a captured key.

KubeMod replaces it in the text before the template is parsed, wherever it stands, also outside of
actions and inside quoted texts. This module knows that one rewriting and nothing of templates.
Source: KubeMod's core/modrulestore_item.go; the ModRule specification, section 3.3.
"""

from __future__ import annotations

import re
from typing import Final

_KEY_PART: Final = re.compile(r"\.#([0-9]+)")


def expand_key_parts(text: str) -> str:
    """`text` with every `.#N` as `(index .SelectKeyParts N)`, the number as it is written."""
    return _KEY_PART.sub(r"(index .SelectKeyParts \1)", text)
