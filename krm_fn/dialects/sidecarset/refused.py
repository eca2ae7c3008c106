"""How the injection says that Kruise refuses a Pod."""

from __future__ import annotations

from krm_fn.admission import RuleRef


class InjectionRefusedError(Exception):
    """Kruise's webhook answers with an error: `message` is its text.

    `where` tells what the text leaves out, `rules` are the sets that it is about.
    """

    def __init__(self, message: str, rules: tuple[RuleRef, ...], where: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.rules = rules
        self.where = where

    def __str__(self) -> str:
        return f"{self.where}: {self.message}" if self.where else self.message
