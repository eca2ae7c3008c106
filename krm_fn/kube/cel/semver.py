"""Semantic versions.

Source: blang/semver v4.0.0; apiserver v0.37, pkg/cel/library/semverlib.go.
"""

from __future__ import annotations

import string
from typing import Any, Final

from krm_fn.errors import EvaluationError
from krm_fn.lang.cel import types as t
from krm_fn.lang.cel.environment import Library
from krm_fn.lang.cel.functions import Function, Overload, steps
from krm_fn.lang.cel.types import Type
from krm_fn.lang.cel.values import NO_OVERLOAD, Value
from krm_fn.lang.go.strconv import number_error, parse_uint, quote

SEMVER: Final = t.struct("kubernetes.Semver")

_READING: Final = steps(40, 2)
"""What reading a string takes."""

_DIGITS: Final = frozenset(string.digits)
_PART: Final = frozenset(string.ascii_letters + string.digits + "-")


class Semver(Value):
    """A version; numbers of the pre-release are ints."""

    __slots__ = ("build", "numbers", "pre")
    type = SEMVER
    go_type = "cel.Semver"

    def __init__(
        self, numbers: tuple[int, int, int], pre: tuple[int | str, ...], build: tuple[str, ...]
    ) -> None:
        self.numbers = numbers
        self.pre = pre
        self.build = build

    def equal(self, other: Any) -> bool:
        if not isinstance(other, Semver):
            raise EvaluationError(NO_OVERLOAD)
        return self.order(other) == 0

    def order(self, other: Semver) -> int:
        """-1, 0 or 1; what was built does not count."""
        if self.numbers != other.numbers:
            return 1 if self.numbers > other.numbers else -1
        if not self.pre or not other.pre:
            return bool(other.pre) - bool(self.pre)
        for a, b in zip(self.pre, other.pre, strict=False):
            # Numbers come before words.
            first, second = (isinstance(a, str), a), (isinstance(b, str), b)
            if first != second:
                return 1 if first > second else -1
        return (len(self.pre) > len(other.pre)) - (len(self.pre) < len(other.pre))

    def __str__(self) -> str:
        text = ".".join(map(str, self.numbers))
        if self.pre:
            text += "-" + ".".join(map(str, self.pre))
        return text + ("+" + ".".join(self.build) if self.build else "")


def _number(text: str, what: str) -> int:
    if not _DIGITS.issuperset(text):
        raise EvaluationError(f"Invalid character(s) found in {what} number {quote(text)}")
    if len(text) > 1 and text[0] == "0":
        raise EvaluationError(
            f"{what.capitalize()} number must not contain leading zeroes {quote(text)}"
        )
    return _uint(text)


def _uint(text: str) -> int:
    number = parse_uint(text)
    if number is None:
        raise EvaluationError(number_error("ParseUint", text))
    return number


def _pre_release(text: str) -> int | str:
    if not text:
        raise EvaluationError("Prerelease is empty")
    if _DIGITS.issuperset(text):
        if len(text) > 1 and text[0] == "0":
            raise EvaluationError(
                f"Numeric PreRelease version must not contain leading zeroes {quote(text)}"
            )
        return _uint(text)
    if not _PART.issuperset(text):
        raise EvaluationError(f"Invalid character(s) found in prerelease {quote(text)}")
    return text


def _build(text: str) -> str:
    if not text:
        raise EvaluationError("Build meta data is empty")
    if not _PART.issuperset(text):
        raise EvaluationError(f"Invalid character(s) found in build meta data {quote(text)}")
    return text


def parse(text: str, normalize: bool = False) -> Semver:
    """Read a version; normalized: `v` in front, leading zeros and missing parts are fine."""
    if normalize:
        text = _normalized(text)
    if not text:
        raise EvaluationError("Version string empty")
    parts = text.split(".", 2)
    if len(parts) != 3:
        raise EvaluationError("No Major.Minor.Patch elements found")
    major, minor = _number(parts[0], "major"), _number(parts[1], "minor")
    patch, plus, build = parts[2].partition("+")
    patch, dash, pre = patch.partition("-")
    numbers = (major, minor, _number(patch, "patch"))
    return Semver(
        numbers,
        tuple([_pre_release(part) for part in pre.split(".")]) if dash else (),
        tuple([_build(part) for part in build.split(".")]) if plus else (),
    )


def _normalized(text: str) -> str:
    parts = text.removeprefix("v").split(".", 2)
    for index, part in enumerate(parts):
        if len(part) > 1:
            stripped = part.lstrip("0")
            parts[index] = stripped if stripped[:1] in _DIGITS and stripped else f"0{stripped}"
    if len(parts) < 3:
        if "+" in parts[-1] or "-" in parts[-1]:
            raise EvaluationError("short version cannot contain PreRelease/Build meta data")
        parts += ["0"] * (3 - len(parts))
    return ".".join(parts)


def _is_semver(text: str, normalize: bool = False) -> bool:
    try:
        parse(text, normalize)
    except EvaluationError:
        return False
    return True


def _signed(number: int) -> int:
    """As Go converts a uint64 to an int64."""
    return number - 2**64 if number >= 2**63 else number


def _method(name: str, identity: str, args: tuple[Type, ...], result: Type, impl: Any) -> Function:
    return Function(
        name, [Overload(f"semver_{identity}", (SEMVER, *args), result, impl, member=True)]
    )


def library() -> Library:
    """The functions on versions."""
    s, other = t.STRING, (SEMVER,)
    return Library(
        [
            Function(
                "semver",
                [
                    Overload("string_to_semver", (s,), SEMVER, parse, work=_READING),
                    Overload("string_bool_to_semver", (s, t.BOOL), SEMVER, parse, work=_READING),
                ],
            ),
            Function(
                "isSemver",
                [
                    Overload("is_semver_string", (s,), t.BOOL, _is_semver, work=_READING),
                    Overload(
                        "is_semver_string_bool", (s, t.BOOL), t.BOOL, _is_semver, work=_READING
                    ),
                ],
            ),
            _method("isGreaterThan", "is_greater_than", other, t.BOOL, lambda a, b: a.order(b) > 0),
            _method("isLessThan", "is_less_than", other, t.BOOL, lambda a, b: a.order(b) < 0),
            _method("compareTo", "compare_to", other, t.INT, Semver.order),
            _method("major", "major", (), t.INT, lambda a: _signed(a.numbers[0])),
            _method("minor", "minor", (), t.INT, lambda a: _signed(a.numbers[1])),
            _method("patch", "patch", (), t.INT, lambda a: _signed(a.numbers[2])),
        ]
    )
