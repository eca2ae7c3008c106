"""Sprig's semantic versions and constraints.

Source: Sprig's semver.go; github.com/Masterminds/semver 3.1.1 (version.go, constraints.go).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final

from krm_fn.errors import LimitError
from krm_fn.lang.budget import Budget
from krm_fn.lang.go.regexp import compile_regex
from krm_fn.lang.go.strconv import quote
from krm_fn.lang.go.values import GoInt, GoUint64, to_bytes
from krm_fn.lang.gotemplate.values import TYPES, Family, FunctionError, Methods, Object, Type

FUNCTIONS: Final = Family()

_EXTRA: Final = r"(-([0-9A-Za-z\-]+(\.[0-9A-Za-z\-]+)*))?(\+([0-9A-Za-z\-]+(\.[0-9A-Za-z\-]+)*))?"
_VERSION: Final = re.compile(rf"v?([0-9]+)(\.[0-9]+)?(\.[0-9]+)?{_EXTRA}")
_UINT64: Final = 1 << 64
_LENGTH: Final = 4_096
"""The characters of the longest version and constraint that are read."""


class Version(Object):
    """A version. What methods return is no pointer, and lacks the methods that need one."""

    __slots__ = ("major", "metadata", "minor", "original", "patch", "pointer", "prerelease")

    def __init__(
        self,
        numbers: tuple[int, int, int],
        prerelease: str = "",
        metadata: str = "",
        original: str = "",
        pointer: bool = True,
    ) -> None:
        self.major, self.minor, self.patch = numbers
        self.prerelease = prerelease
        self.metadata = metadata
        self.original = original
        self.pointer = pointer

    @property
    def go_type(self) -> str:  # type: ignore[override]
        return "*semver.Version" if self.pointer else "semver.Version"

    @property
    def go_kind(self) -> str:  # type: ignore[override]
        return "ptr" if self.pointer else "struct"

    def member(self, name: str) -> Any:
        if self.pointer and name in _POINTER_METHODS:
            return _POINTER_METHODS.bound(name, self)
        return _METHODS.bound(name, self)

    def go_string(self) -> str:
        text = f"{self.major}.{self.minor}.{self.patch}"
        if self.prerelease:
            text += "-" + self.prerelease
        if self.metadata:
            text += "+" + self.metadata
        return text

    def go_json(self) -> str:
        return self.go_string()

    @property
    def numbers(self) -> tuple[int, int, int]:
        return self.major, self.minor, self.patch

    def _all(self) -> tuple[Any, ...]:
        return self.numbers, self.prerelease, self.metadata, self.original

    def __eq__(self, other: object) -> bool:
        """Go's `==`: pointers are equal only to themselves."""
        if self is other:
            return True
        both = isinstance(other, Version) and not (self.pointer or other.pointer)
        return both and self.deep_equal(other)

    __hash__ = None  # type: ignore[assignment]

    def deep_equal(self, other: Any) -> bool:
        return bool(self._all() == other._all())

    def changed(self, numbers: tuple[int, int, int], prerelease: str, metadata: str) -> Version:
        """A version that keeps only the `v` in front, if there is one."""
        wrapped = (numbers[0] % _UINT64, numbers[1] % _UINT64, numbers[2] % _UINT64)
        version = Version(wrapped, prerelease, metadata, pointer=False)
        version.original = ("v" if self.original.startswith("v") else "") + version.go_string()
        return version


def parse_version(text: str) -> Version:
    """A version, which may lack its last numbers and have a `v` in front; raises FunctionError."""
    _check_length(text)
    match = _VERSION.fullmatch(text)
    if match is None:
        raise FunctionError("Invalid Semantic Version")
    numbers = [_number((match[n] or ".0").lstrip(".")) for n in (1, 2, 3)]
    prerelease, metadata = match[5] or "", match[8] or ""
    _check_prerelease(prerelease)
    return Version((numbers[0], numbers[1], numbers[2]), prerelease, metadata, text)


def _check_length(text: str) -> None:
    if len(text) > _LENGTH:
        raise LimitError(f"it compares versions of more than {_LENGTH:,} characters")


def _number(digits: str) -> int:
    number = int(digits.lstrip("0")[:21] or "0")
    if number >= _UINT64:
        shown = quote(digits if len(digits) <= 100 else digits[:100] + "...")
        reason = f"strconv.ParseUint: parsing {shown}: value out of range"
        raise FunctionError(f"Error parsing version segment: {reason}")
    return number


def _check_prerelease(text: str) -> None:
    for part in text.split("."):
        if len(part) > 1 and part[0] == "0" and part.isdigit():
            raise FunctionError("Version segment starts with 0")


# Order


def compare(first: Version, other: Version) -> int:
    """-1, 0 or 1; metadata does not count."""
    if first.numbers != other.numbers:
        return -1 if first.numbers < other.numbers else 1
    if first.prerelease == other.prerelease:
        return 0
    # A prerelease comes before its release.
    if not first.prerelease or not other.prerelease:
        return 1 if not first.prerelease else -1
    return _compare_prereleases(first.prerelease, other.prerelease)


def _compare_prereleases(first: str, other: str) -> int:
    mine, theirs = first.split("."), other.split(".")
    length = max(len(mine), len(theirs))
    mine += [""] * (length - len(mine))
    theirs += [""] * (length - len(theirs))
    for one, two in zip(mine, theirs, strict=True):
        if one != two:
            # Nothing comes before numbers, and these before texts.
            return 1 if _rank(one) > _rank(two) else -1
    return 0


def _rank(part: str) -> tuple[int, int, bytes]:
    if not part:
        return 0, 0, b""
    digits = part.lstrip("0")
    if part.isdigit() and len(digits) <= 20 and int(digits or "0") < _UINT64:
        return 1, int(digits or "0"), b""
    return 2, 0, to_bytes(part)


# Constraints


class _Constraint:
    """One comparison with a version, parts of which may be missing or an `x`."""

    __slots__ = ("dirty", "minor_dirty", "operator", "patch_dirty", "version")

    def __init__(self, operator: str, version: Version, missing: int) -> None:
        self.operator = operator
        self.version = version
        self.dirty = missing > 0
        self.minor_dirty = missing == 2
        self.patch_dirty = missing == 1

    def holds(self, version: Version) -> bool:
        # A prerelease fits only where prereleases are looked for.
        if version.prerelease and not self.version.prerelease:
            return self.operator == "!=" and not self.dirty
        return _OPERATORS[self.operator](self, version)


def _not_equal(want: _Constraint, version: Version) -> bool:
    if want.dirty:
        if want.version.major != version.major:
            return True
        if want.minor_dirty:
            return False
        if want.version.minor != version.minor:
            return True
        if want.patch_dirty:
            mine, theirs = version.prerelease, want.version.prerelease
            return bool(mine or theirs) and _compare_prereleases(mine, theirs) != 0
        if want.version.patch != version.patch:
            return True
    return compare(version, want.version) != 0


def _greater(want: _Constraint, version: Version) -> bool:
    if want.dirty:
        if version.major != want.version.major:
            return version.major > want.version.major
        if want.minor_dirty:
            return False
        if want.patch_dirty:
            return version.minor > want.version.minor
    return compare(version, want.version) > 0


def _less(want: _Constraint, version: Version) -> bool:
    return compare(version, want.version) < 0


def _at_least(want: _Constraint, version: Version) -> bool:
    return compare(version, want.version) >= 0


def _at_most(want: _Constraint, version: Version) -> bool:
    if not want.dirty:
        return compare(version, want.version) <= 0
    if version.major != want.version.major:
        return version.major < want.version.major
    return want.minor_dirty or version.minor <= want.version.minor


def _tilde(want: _Constraint, version: Version) -> bool:
    if compare(version, want.version) < 0:
        return False
    any_fits = want.version.numbers == (0, 0, 0) and not (want.minor_dirty or want.patch_dirty)
    if any_fits:
        return True
    if version.major != want.version.major:
        return False
    return want.minor_dirty or version.minor == want.version.minor


def _tilde_or_equal(want: _Constraint, version: Version) -> bool:
    return _tilde(want, version) if want.dirty else compare(version, want.version) == 0


def _caret(want: _Constraint, version: Version) -> bool:
    if compare(version, want.version) < 0:
        return False
    if want.version.major > 0 or want.minor_dirty:
        return version.major == want.version.major
    if version.major > 0:
        return False
    if want.version.minor > 0 or want.patch_dirty:
        return version.minor == want.version.minor
    return version.patch == want.version.patch


_OPERATORS: Final[dict[str, Callable[[_Constraint, Version], bool]]] = {
    "": _tilde_or_equal,
    "=": _tilde_or_equal,
    "!=": _not_equal,
    ">": _greater,
    "<": _less,
    ">=": _at_least,
    "=>": _at_least,
    "<=": _at_most,
    "=<": _at_most,
    "~": _tilde,
    "~>": _tilde,
    "^": _caret,
}

# Go's regular expressions, which RE2 runs in linear time; Python's could be made to run for ever.
_OPERATOR: Final = r"=||!=|>|<|>=|=>|<=|=<|~|~>|\^"
_WANTED: Final = rf"v?([0-9|x|X|\*]+)(\.[0-9|x|X|\*]+)?(\.[0-9|x|X|\*]+)?{_EXTRA}"
_RANGE: Final = rf"\s*({_WANTED})\s+-\s+({_WANTED})\s*"
_ONE: Final = rf"({_OPERATOR})\s*({_WANTED})"
_WHOLE: Final = rf"^\s*({_OPERATOR})\s*({_WANTED})\s*$"
_ALL: Final = rf"^(\s*({_OPERATOR})\s*({_WANTED})\s*\,?)+$"


def parse_constraints(text: str) -> list[list[_Constraint]]:
    """Alternatives, each of comparisons that must all hold; raises FunctionError."""
    alternatives = []
    for segment in _without_ranges(text).split("||"):
        if not segment.isascii() or compile_regex(_ALL).compiled.search(segment) is None:
            shown = segment if len(segment) <= 100 else segment[:100] + "..."
            raise FunctionError(f"improper constraint: {shown}")
        found = [match[0] for match in compile_regex(_ONE).compiled.finditer(segment)]
        alternatives.append([_parse_constraint(one) for one in found])
    return alternatives


def _without_ranges(text: str) -> str:
    """`1.2 - 1.4` as `>= 1.2, <= 1.4`."""
    if not text.isascii():
        return text
    out: list[str] = []
    done = 0
    for match in compile_regex(_RANGE).compiled.finditer(text):
        out += text[done : match.start()], f">= {match[1]}, <= {match[11]}"
        done = match.end()
    return "".join([*out, text[done:]])


def _parse_constraint(text: str) -> _Constraint:
    match = compile_regex(_WHOLE).compiled.search(text)
    if match is None:
        raise FunctionError(f"improper constraint: {text}")
    operator, wanted = match[1], match[2]
    major, minor, patch, prerelease = match[3], match[4] or "", match[5] or "", match[6] or ""
    missing = 0
    if major in _ANY:
        wanted, missing = "0.0.0", 3
    elif minor[1:] in _ANY or not minor:
        wanted, missing = f"{major}.0.0{prerelease}", 2
    elif patch[1:] in _ANY or not patch:
        wanted, missing = f"{major}{minor}.0{prerelease}", 1
    try:
        return _Constraint(operator, parse_version(wanted), missing)
    except FunctionError:
        raise FunctionError("constraint Parser Error") from None


_ANY: Final = ("x", "X", "*")


@FUNCTIONS.function("semver", "string")
def semver(text: str) -> Version:
    return parse_version(text)


@FUNCTIONS.function("semverCompare", "string string", budget=True)
def semver_compare(budget: Budget, constraint: str, version: str) -> bool:
    """Whether a version fits a constraint."""
    _check_length(constraint)
    # Each character is read several times, and may make a comparison.
    budget.spend(16 * len(constraint) + len(version))
    alternatives = parse_constraints(constraint)
    parsed = parse_version(version)
    return any(all(one.holds(parsed) for one in each) for each in alternatives)


# Methods

_METHODS: Final = Methods()
_POINTER_METHODS: Final = Methods()


def _is_pointer(value: Any) -> bool:
    return isinstance(value, Version) and value.pointer


_TYPES: Final = {**TYPES, "version": Type("*semver.Version", _is_pointer, lambda: None)}


@_METHODS.function("String")
def _string(version: Version) -> str:
    return version.go_string()


@_METHODS.function("Major")
def _major(version: Version) -> GoUint64:
    return GoUint64(version.major)


@_METHODS.function("Minor")
def _minor(version: Version) -> GoUint64:
    return GoUint64(version.minor)


@_METHODS.function("Patch")
def _patch(version: Version) -> GoUint64:
    return GoUint64(version.patch)


@_METHODS.function("Prerelease")
def _prerelease(version: Version) -> str:
    return version.prerelease


@_METHODS.function("Metadata")
def _metadata(version: Version) -> str:
    return version.metadata


@_METHODS.function("IncMajor")
def _inc_major(version: Version) -> Version:
    return version.changed((version.major + 1, 0, 0), "", "")


@_METHODS.function("IncMinor")
def _inc_minor(version: Version) -> Version:
    return version.changed((version.major, version.minor + 1, 0), "", "")


@_METHODS.function("IncPatch")
def _inc_patch(version: Version) -> Version:
    """The next patch; of a prerelease, its release."""
    patch = version.patch + (0 if version.prerelease else 1)
    return version.changed((version.major, version.minor, patch), "", "")


_IDENTIFIERS: Final = re.compile(r"[0-9A-Za-z\-.]*")


@_METHODS.function("SetPrerelease", "string")
def _set_prerelease(version: Version, prerelease: str) -> Version:
    _check_length(prerelease)
    if prerelease:
        _check_prerelease(prerelease)
    if not _IDENTIFIERS.fullmatch(prerelease):
        raise FunctionError("Invalid Prerelease string")
    return version.changed(version.numbers, prerelease, version.metadata)


@_METHODS.function("SetMetadata", "string")
def _set_metadata(version: Version, metadata: str) -> Version:
    _check_length(metadata)
    if not _IDENTIFIERS.fullmatch(metadata):
        raise FunctionError("Invalid Metadata string")
    return version.changed(version.numbers, version.prerelease, metadata)


@_POINTER_METHODS.function("Original")
def _original(version: Version) -> str:
    """The text as it was written."""
    return version.original


def _order(budget: Budget, version: Version, other: Version | None) -> int:
    if other is None:
        raise FunctionError("runtime error: invalid memory address or nil pointer dereference")
    budget.spend(len(version.prerelease) + len(other.prerelease))
    return compare(version, other)


@_POINTER_METHODS.function("Compare", "version", types=_TYPES, budget=True)
def _compare(version: Version, budget: Budget, other: Version | None) -> GoInt:
    return GoInt(_order(budget, version, other))


@_POINTER_METHODS.function("Equal", "version", types=_TYPES, budget=True)
def _equal(version: Version, budget: Budget, other: Version | None) -> bool:
    return _order(budget, version, other) == 0


@_POINTER_METHODS.function("LessThan", "version", types=_TYPES, budget=True)
def _less_than(version: Version, budget: Budget, other: Version | None) -> bool:
    return _order(budget, version, other) < 0


@_POINTER_METHODS.function("GreaterThan", "version", types=_TYPES, budget=True)
def _greater_than(version: Version, budget: Budget, other: Version | None) -> bool:
    return _order(budget, version, other) > 0
