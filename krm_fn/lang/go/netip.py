"""IP addresses and prefixes as Go's net/netip reads them.

The texts of errors are Go's, so addresses are read here and not by Python's ipaddress.
Source: Go's net/netip/netip.go.
"""

from __future__ import annotations

from typing import Final

from krm_fn.lang.go.strconv import quote
from krm_fn.lang.go.values import GoError

_DIGITS: Final = frozenset("0123456789")
_HEX: Final = frozenset("0123456789abcdefABCDEF")


class AddressError(GoError):
    """Why a string is no address or prefix."""


def parse_address(text: str) -> tuple[int, int, str]:
    """The number of an address, its bits (32 or 128) and its zone. Raises AddressError."""
    for char in text:
        if char == ".":
            return _version4(text, text), 32, ""
        if char == ":":
            return _version6(text)
        if char == "%":
            raise _error(text, "missing IPv6 address")
    raise _error(text, "unable to parse IP")


def _error(text: str, reason: str, at: str = "") -> AddressError:
    place = f" (at {quote(at)})" if at else ""
    return AddressError(f"ParseAddr({quote(text)}): {reason}{place}")


def _version4(text: str, part: str) -> int:
    """The number of a dotted `part` of `text`."""
    number = value = dots = digits = 0
    for index, char in enumerate(part):
        if char in _DIGITS:
            if digits == 1 and value == 0:
                raise _error(text, "IPv4 field has octet with leading zero")
            value = value * 10 + int(char)
            digits += 1
            if value > 255:
                raise _error(text, "IPv4 field has value >255")
        elif char == ".":
            if index == 0 or index == len(part) - 1 or part[index - 1] == ".":
                raise _error(text, "IPv4 field must have at least one digit", part[index:])
            if dots == 3:
                raise _error(text, "IPv4 address too long")
            number = number << 8 | value
            dots += 1
            value = digits = 0
        else:
            raise _error(text, "unexpected character", part[index:])
    if dots < 3:
        raise _error(text, "IPv4 address too short")
    return number << 8 | value


def _version6(text: str) -> tuple[int, int, str]:
    rest, percent, zone = text.partition("%")
    if percent and not zone:
        raise _error(text, "zone must be a non-empty string")
    groups: list[int] = []
    gap = -1
    if rest.startswith("::"):
        gap = 0
        rest = rest[2:]
        if not rest:
            return 0, 128, zone
    while len(groups) < 8:
        width = 0
        while width < len(rest) and rest[width] in _HEX:
            if width > 3:
                raise _error(text, "each group must have 4 or less digits", rest)
            width += 1
        if width == 0:
            raise _error(text, "each colon-separated field must have at least one digit", rest)
        if rest[width : width + 1] == ".":
            groups += _embedded(text, rest, groups, gap)
            rest = ""
            break
        groups.append(int(rest[:width], 16))
        rest = rest[width:]
        if not rest:
            break
        if rest[0] != ":":
            raise _error(text, "unexpected character, want colon", rest)
        if len(rest) == 1:
            raise _error(text, "colon must be followed by more characters", rest)
        rest = rest[1:]
        if rest[0] == ":":
            if gap >= 0:
                raise _error(text, "multiple :: in address", rest)
            gap = len(groups)
            rest = rest[1:]
            if not rest:
                break
    if rest:
        raise _error(text, "trailing garbage after address", rest)
    if len(groups) < 8:
        if gap < 0:
            raise _error(text, "address string too short")
        groups[gap:gap] = [0] * (8 - len(groups))
    elif gap >= 0:
        raise _error(text, "the :: must expand to at least one field of zeros")
    number = 0
    for group in groups:
        number = number << 16 | group
    return number, 128, zone


def _embedded(text: str, rest: str, groups: list[int], gap: int) -> list[int]:
    """The two groups that a trailing dotted address stands for."""
    if gap < 0 and len(groups) != 6:
        raise _error(
            text, "embedded IPv4 address must replace the final 2 fields of the address", rest
        )
    if len(groups) > 6:
        raise _error(
            text, "too many hex fields to fit an embedded IPv4 at the end of the address", rest
        )
    number = _version4(text, rest)
    return [number >> 16, number & 0xFFFF]


def parse_prefix(text: str) -> tuple[int, int, int]:
    """The number of a prefix's address, its bits and the prefix's length. Raises AddressError."""

    def refuse(reason: str) -> AddressError:
        return AddressError(f"netip.ParsePrefix({quote(text)}): {reason}")

    slash = text.rfind("/")
    if slash < 0:
        raise refuse("no '/'")
    try:
        number, size, zone = parse_address(text[:slash])
    except AddressError as error:
        raise refuse(error.message) from None
    if zone:
        raise refuse("IPv6 zones cannot be present in a prefix")
    bits = text[slash + 1 :]
    if not bits or not _DIGITS.issuperset(bits) or (len(bits) > 1 and bits[0] == "0"):
        raise refuse(f"bad bits after slash: {quote(bits)}")
    if len(bits) > 3 or int(bits) > size:
        if len(bits) > 18:
            raise refuse(f"bad bits after slash: {quote(bits)}")
        raise refuse("prefix length out of range")
    return number, size, int(bits)
