"""Go's regular expressions (RE2), through google-re2.

Python's `re` is not used for them: it differs from Go in what compiles and in what matches, and it
can be made to run for ever by a hostile pattern. The module is imported when the first pattern is
compiled, since it costs 30 ms to load.
"""

from __future__ import annotations

import functools
import re
from typing import Any, Final

from krm_fn import work
from krm_fn.errors import CompileError

_MEMORIES: Final = (128 * 1024, 8 * 1024 * 1024)
"""What a compiled pattern and the states of its matching may take, in bytes: little, or much."""

_BYTES_PER_STEP: Final = 32
"""What of that the run pays one step for, so that many patterns do not take all memory."""

_REFUSED: Final = 1_000
"""Steps of a pattern that does not compile, which nobody remembers."""

_PARTS: Final = re.compile(
    r"\\Q.*?(?:\\E|\Z)|\\.|\[\^?\]?(?:\[:\^?\w+:\]|\\.|[^\]\\])*+\]|\(\?(?:P?<[^>]*>)?", re.DOTALL
)
"""Quoted texts, escapes, character classes and the openings of groups: enough to know each."""
_GROUP_NAME: Final = re.compile(r"[A-Za-z0-9_]+")


class Regex:
    """A compiled pattern; `search` is unanchored, as Go's MatchString."""

    __slots__ = ("_compiled", "pattern")

    def __init__(self, pattern: str, compiled: Any) -> None:
        self.pattern = pattern
        self._compiled = compiled

    def search(self, text: str) -> bool:
        """Whether the pattern matches anywhere in `text`."""
        return self._compiled.search(text) is not None

    @property
    def compiled(self) -> Any:
        """google-re2's own object, for the functions that need groups and positions."""
        return self._compiled


@functools.lru_cache(maxsize=4096)
def compile_regex(pattern: str) -> Regex:
    """Compile a pattern; raise CompileError with RE2's reason where Go would refuse it."""
    try:
        import re2
    except ImportError as error:
        raise CompileError(
            "regular expressions need the package google-re2, which has wheels for Linux (glibc), "
            f"macOS and Windows on x86-64 and arm64 ({error})"
        ) from error
    compiled = None
    reason: Any = "invalid"
    for memory in _MEMORIES:
        options = re2.Options()
        options.log_errors = False
        options.max_mem = memory
        try:
            compiled = re2.compile(pattern, options)
        except re2.error as error:
            work.spend(_REFUSED)
            reason = error.args[0] if error.args else reason
            continue
        work.spend(memory // _BYTES_PER_STEP)
        break
    if compiled is None:
        if isinstance(reason, bytes):
            reason = reason.decode("utf-8", "replace")
        raise CompileError(f"error parsing regexp: {reason}: `{pattern}`") from None
    newer = _unknown_to_go(pattern)
    if newer:
        raise CompileError(f"error parsing regexp: {newer}: `{pattern}`")
    return Regex(pattern, compiled)


def _unknown_to_go(pattern: str) -> str:
    """What RE2 takes and Go 1.18 does not: `\\C`, `(?<name>`, names not in ASCII."""
    for match in _PARTS.finditer(pattern):
        part = match[0]
        if part == "\\C":
            return "invalid escape sequence: `\\C`"
        if part.startswith("(?<"):
            return "invalid or unsupported Perl syntax: `(?<`"
        if part.startswith("(?P<") and not _GROUP_NAME.fullmatch(part[4:-1]):
            return f"invalid named capture: `{part}`"
    return ""
