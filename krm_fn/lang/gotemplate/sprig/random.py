"""Sprig's functions of chance, drawn from the render's seed; without one they are errors.

Lengths, alphabets and ranges are Sprig's; which of the possible answers comes is ours.
Source: Sprig's strings.go, numeric.go and crypto.go; github.com/Masterminds/goutils 1.1.1;
github.com/huandu/xstrings 1.3.1.
"""

from __future__ import annotations

import base64
import string
import uuid
from typing import Final

from krm_fn.lang.budget import Budget
from krm_fn.lang.go.values import GoInt
from krm_fn.lang.gotemplate.sources import Draws
from krm_fn.lang.gotemplate.sprig.convert import wrap_int64
from krm_fn.lang.gotemplate.values import Family, FunctionError

FUNCTIONS: Final = Family()

_PRINTABLE: Final = "".join(map(chr, range(32, 127)))


def _text(budget: Budget, draws: Draws, alphabet: str, count: int) -> str:
    """A string of so many characters; empty if the number is negative."""
    budget.text(count)
    # Drawing costs about as much again as what is made.
    budget.spend(max(count, 0) // 16)
    return draws.text(alphabet, max(count, 0))


@FUNCTIONS.function("randAlpha", "int", budget=True, draws=True)
def rand_alpha(budget: Budget, draws: Draws, count: int) -> str:
    return _text(budget, draws, string.ascii_letters, count)


@FUNCTIONS.function("randAlphaNum", "int", budget=True, draws=True)
def rand_alpha_num(budget: Budget, draws: Draws, count: int) -> str:
    return _text(budget, draws, string.ascii_letters + string.digits, count)


@FUNCTIONS.function("randNumeric", "int", budget=True, draws=True)
def rand_numeric(budget: Budget, draws: Draws, count: int) -> str:
    return _text(budget, draws, string.digits, count)


@FUNCTIONS.function("randAscii", "int", budget=True, draws=True)
def rand_ascii(budget: Budget, draws: Draws, count: int) -> str:
    return _text(budget, draws, _PRINTABLE, count)


@FUNCTIONS.function("randBytes", "int", budget=True, draws=True)
def rand_bytes(budget: Budget, draws: Draws, count: int) -> str:
    """So many bytes, in base64."""
    if count < 0:
        raise FunctionError("runtime error: makeslice: len out of range")
    budget.text(count)
    return base64.b64encode(draws.bytes(count)).decode("ascii")


_DRAW: Final = 4
"""The steps that one draw costs."""


@FUNCTIONS.function("randInt", "int int", budget=True, draws=True)
def rand_int(budget: Budget, draws: Draws, least: int, bound: int) -> GoInt:
    """A number from the first to below the second."""
    budget.spend(_DRAW)
    width = wrap_int64(bound - least)
    if width <= 0:
        raise FunctionError("invalid argument to Intn")
    return GoInt(wrap_int64(least + draws.below(width)))


@FUNCTIONS.function("shuffle", "string", budget=True, draws=True)
def shuffle(budget: Budget, draws: Draws, text: str) -> str:
    """The characters of a string in another order."""
    budget.spend(_DRAW + _DRAW * len(text))
    chars = ["\ufffd" if "\udc80" <= c <= "\udcff" else c for c in text]
    draws.below(1)
    for last in range(len(chars) - 1, 0, -1):
        other = draws.below(last + 1)
        chars[last], chars[other] = chars[other], chars[last]
    return "".join(chars)


@FUNCTIONS.function("uuidv4", budget=True, draws=True)
def uuidv4(budget: Budget, draws: Draws) -> str:
    budget.spend(_DRAW)
    return str(uuid.UUID(bytes=draws.bytes(16), version=4))
