"""Go's regular expressions (RE2), through google-re2.

Python's `re` is not used for them: it differs from Go in what compiles and in what matches, and it
can be made to run for ever by a hostile pattern. The module is imported when the first pattern is
compiled, since it costs 30 ms to load. RE2 and Go are one engine in two languages, and each has its
own words for a mistake; those here are Go's.
Source: Go's regexp/syntax; RE2's re2/regexp.cc.
"""

from __future__ import annotations

import functools
import re
from typing import Any, Final

from krm_fn import work
from krm_fn.errors import CompileError
from krm_fn.lang.go.release import Release

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
def compile_regex(pattern: str, release: Release = Release.GO_1_18) -> Regex:
    """Compile a pattern; raises CompileError with Go's sentence where Go would refuse it."""
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
        raise CompileError(f"error parsing regexp: {_in_go(reason, pattern, release)}") from None
    newer = _unknown_to_go(pattern, release)
    if newer:
        raise CompileError(f"error parsing regexp: {newer}")
    return Regex(pattern, compiled)


_NAMED_GROUPS: Final = 22
"""The release from which a group may be named `(?<name>...)`."""

_UNNAMED_GROUP: Final = "invalid or unsupported Perl syntax: `(?<`"


def _unknown_to_go(pattern: str, release: Release) -> str:
    """What RE2 takes and Go does not: `\\C`, names not in ASCII, and `(?<name>` until Go 1.22."""
    for match in _PARTS.finditer(pattern):
        part = match[0]
        if part == "\\C":
            return "invalid escape sequence: `\\C`"
        if part.startswith("(?<") and release < _NAMED_GROUPS:
            return _UNNAMED_GROUP
        if part.startswith(("(?P<", "(?<")):
            name = part[part.index("<") + 1 : -1]
            if not _GROUP_NAME.fullmatch(name):
                return f"invalid named capture: `{part}`"
    return ""


_WORDS: Final = {
    "bad repetition operator": "invalid nested repetition operator",
    "invalid named capture group": "invalid named capture",
    "invalid perl operator": "invalid or unsupported Perl syntax",
    "invalid repetition size": "invalid repeat count",
    "missing )": "missing closing )",
    "missing ]": "missing closing ]",
    "no argument for repetition operator": "missing argument to repetition operator",
    "pattern too large - compile failed": "expression too large",
    "trailing \\": "trailing backslash at end of expression",
}
"""RE2's names of mistakes, and Go's where those differ."""

_WHOLE: Final = frozenset({"missing )", "unexpected )", "pattern too large - compile failed"})
"""Mistakes for which Go shows the whole pattern."""


def _in_go(reason: str, pattern: str, release: Release) -> str:
    """`missing ]: [` in RE2's words as `missing closing ]: `[`` in Go's."""
    mistake, _, part = reason.partition(": ")
    if part.startswith("(?<"):
        if release < _NAMED_GROUPS:
            return _UNNAMED_GROUP
        # Go takes what follows for a name, up to the end if it finds none.
        rest = pattern[pattern.index(part) :]
        name, end, _ = rest.partition(">")
        return f"invalid named capture: `{name}{end}`"
    shown = pattern if mistake in _WHOLE else part
    return f"{_WORDS.get(mistake, mistake)}: `{shown}`"
