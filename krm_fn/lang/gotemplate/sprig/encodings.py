"""Sprig's encodings and checksums. What cannot be decoded gives the error's text, as in Sprig.

Source: Sprig's strings.go and crypto.go; Go's encoding/base64, encoding/base32, hash/adler32.
"""

from __future__ import annotations

import base64
import hashlib
import string
import zlib
from typing import Final

from krm_fn.lang.budget import Budget
from krm_fn.lang.go.values import from_bytes, to_bytes
from krm_fn.lang.gotemplate.values import Family

FUNCTIONS: Final = Family()

_BASE64: Final = frozenset((string.ascii_letters + string.digits + "+/").encode())
_BASE32: Final = frozenset((string.ascii_uppercase + "234567").encode())
_PAD: Final = ord("=")


@FUNCTIONS.function("b64enc", "string")
def b64enc(text: str) -> str:
    return base64.b64encode(to_bytes(text)).decode()


@FUNCTIONS.function("b64dec", "string", budget=True)
def b64dec(budget: Budget, text: str) -> str:
    budget.spend(len(text) // 8)
    data = to_bytes(text)
    wrong = wrong_base64(data)
    if wrong is not None:
        return f"illegal base64 data at input byte {wrong}"
    return from_bytes(base64.b64decode(data))


def wrong_base64(data: bytes) -> int | None:
    """Where Go says that the text is wrong, or None. Newlines do not count as characters."""
    places = [n for n, byte in enumerate(data) if byte not in b"\r\n"]
    good = 0
    while good < len(places) and data[places[good]] in _BASE64:
        good += 1
    rest = good % 4
    if good == len(places):
        # The length of what is left over is counted back from the end.
        return len(data) - rest if rest else None
    at = places[good]
    if data[at] != _PAD or rest < 2:
        return at
    after = good + 1
    if rest == 2:
        if after == len(places):
            return len(data)
        if data[places[after]] != _PAD:
            return places[after] - 1
        after += 1
    return places[after] if after < len(places) else None


@FUNCTIONS.function("b32enc", "string")
def b32enc(text: str) -> str:
    return base64.b32encode(to_bytes(text)).decode()


@FUNCTIONS.function("b32dec", "string", budget=True)
def b32dec(budget: Budget, text: str) -> str:
    budget.spend(len(text) // 8)
    data = to_bytes(text).translate(None, b"\r\n")
    wrong = _wrong_base32(data)
    if wrong is not None:
        return f"illegal base32 data at input byte {wrong}"
    # What follows the padding is not looked at.
    digits = data.partition(b"=")[0]
    return from_bytes(base64.b32decode(digits + b"=" * (-len(digits) % 8)))


def _wrong_base32(data: bytes) -> int | None:
    """Where Go says that the text, which has no newlines, is wrong; or None."""
    size = len(data)
    good = 0
    while good < size and data[good] in _BASE32:
        good += 1
    rest = good % 8
    if good == size:
        return size - rest if rest else None
    left = size - good - 1
    if data[good] != _PAD or rest < 2 or left >= 8:
        return good
    if left + rest < 7:
        return size
    for n in range(7 - rest):
        if left > n and data[good + 1 + n] != _PAD:
            return good + n
    return good if rest in (3, 6) else None


@FUNCTIONS.function("sha1sum", "string")
def sha1sum(text: str) -> str:
    return hashlib.sha1(to_bytes(text), usedforsecurity=False).hexdigest()


@FUNCTIONS.function("sha256sum", "string")
def sha256sum(text: str) -> str:
    return hashlib.sha256(to_bytes(text)).hexdigest()


@FUNCTIONS.function("adler32sum", "string")
def adler32sum(text: str) -> str:
    return str(zlib.adler32(to_bytes(text)))
