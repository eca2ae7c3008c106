"""Files and folders that somebody named to be left out: `.krmignore` and patterns like it.

The patterns are gitignore's, as kpt reads them: one with a slash inside is looked for at any depth,
not only at the top. In a `.krmignore`, which stands at the top of a package, `**` is one name.
Source: kyaml kio/ignorefilesmatcher.go; github.com/monochromegane/go-gitignore pattern.go; observed
with kpt 1.0.0-beta.56.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from krm_fn.errors import InputError
from krm_fn.system.reading import read_file

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

IGNORE_FILE: Final = ".krmignore"


class Patterns:
    """Patterns of paths, of which the last that fits decides (`!` takes a path back in)."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._lines = [_at_any_depth(line) for line in lines]
        self._spec: GitIgnoreSpec | None = None

    def __bool__(self) -> bool:
        return bool(self._lines)

    def fit(self, path: str, *, folder: bool = False) -> bool:
        """Whether a path, relative to where the patterns stand, is left out."""
        if not self._lines:
            return False
        if self._spec is None:
            from pathspec import GitIgnoreSpec  # where nobody names patterns, it is not needed

            self._spec = GitIgnoreSpec.from_lines(self._lines)
        path = path.replace(os.sep, "/").lstrip("/")
        return self._spec.match_file(f"{path}/" if folder else path)


NO_PATTERNS: Final = Patterns(())


def patterns_in(folder: str) -> Patterns:
    """Those of a folder's `.krmignore`, none without one. Raises InputError."""
    path = os.path.join(folder, IGNORE_FILE)
    if not os.path.lexists(path):
        return NO_PATTERNS
    try:
        text = read_file(path).decode()
    except UnicodeDecodeError:
        raise InputError("is no text in UTF-8", path) from None
    # To kpt two asterisks are one: they stand for one name.
    return Patterns(re.sub(r"\*\*+", "*", text).splitlines())


def _at_any_depth(line: str) -> str:
    negation, pattern = ("!", line[1:]) if line.startswith("!") else ("", line)
    if pattern.startswith(("/", "#", "**/")) or "/" not in pattern.rstrip().rstrip("/"):
        return line
    return f"{negation}**/{pattern}"
