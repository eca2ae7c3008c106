"""Where a render takes the time and its chance from: never from the machine.

What is rendered is compared and committed, so that the same input must give the same output. Hence
a clock that is handed in, and draws that are hashes of a seed which is handed in: nothing here
reads a clock, asks the system for random bytes, or keeps state beyond one render. This module knows
neither templates nor functions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from krm_fn.lang.gotemplate.values import RefusedError

if TYPE_CHECKING:
    from datetime import datetime

_WORD: Final = 8
"""The bytes of which a number is drawn."""


class RenderSources(NamedTuple):
    """What a render may take for the time and for random: by default nothing.

    `clock` is the moment that is now (UTC if it names no zone). `seed` is any text, none if empty:
    to give two objects values of their own, put what tells them apart into it. The hints are what a
    user may do where a template needs what there is not: `set modRules.clock`.
    """

    clock: datetime | None = None
    seed: str = ""
    clock_hint: str = ""
    seed_hint: str = ""


class Draws:
    """The draws of one render: each differs from those before it, and a render repeats them all."""

    __slots__ = ("_drawn", "_sources")

    def __init__(self, sources: RenderSources) -> None:
        self._sources = sources
        self._drawn = 0

    def now(self) -> datetime:
        """The moment that is now; raises RefusedError without a clock."""
        if self._sources.clock is None:
            raise _not_deterministic(self._sources.clock_hint)
        return self._sources.clock

    def bytes(self, count: int) -> bytes:
        """So many bytes; raises RefusedError without a seed."""
        if not self._sources.seed:
            raise _not_deterministic(self._sources.seed_hint)
        import hashlib

        self._drawn += 1
        seed = self._sources.seed.encode("utf-8", "surrogatepass")
        # The number ends at the colon, so that no other seed and number give the same text.
        return hashlib.shake_256(b"%d:%s" % (self._drawn, seed)).digest(count)

    def below(self, bound: int) -> int:
        """A whole number from 0 to below `bound`, which is at most 2**64; each as likely."""
        usable = (1 << 8 * _WORD) // bound * bound
        while True:
            number = int.from_bytes(self.bytes(_WORD), "big")
            if number < usable:
                return number % bound

    def text(self, alphabet: str, count: int) -> str:
        """So many characters of an alphabet of at most 256 of ASCII; each as likely."""
        # What is left over at the end of a byte's range is drawn again.
        rest = 256 % len(alphabet)
        left_over = bytes(range(256 - rest, 256))
        table = (alphabet * (256 // len(alphabet) + 1))[:256].encode("ascii")
        drawn = self.bytes(2 * count).translate(table, left_over)
        while len(drawn) < count:
            drawn += self.bytes(count).translate(table, left_over)
        return drawn[:count].decode("ascii")


def _not_deterministic(hint: str) -> RefusedError:
    return RefusedError(f"is not deterministic at render{f': {hint}' if hint else ''}")
