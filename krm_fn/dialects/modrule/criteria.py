"""Whether a rule's `match` holds for an object.

A criterion is a select and what its results are compared with. An error counts as "no match", and
so does nothing at all; `negate` turns both around.
Source: KubeMod core/modrulestore_item.go; the ModRule specification, section 2.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from krm_fn.dialects.modrule.spec import MatchItem
from krm_fn.errors import EvaluationError, LimitError
from krm_fn.lang.go.regexp import compile_regex
from krm_fn.lang.select import UNDEFINED, Select, compile_select, format_text

_MATCH_ANY: Final = ("Any", "")


class MatchCriterion:
    """One compiled criterion."""

    __slots__ = ("_accepts", "_any", "item", "select")

    def __init__(self, item: MatchItem, select: Select, accepts: Callable[[str], bool]) -> None:
        self.item = item
        self.select = select
        self._accepts = accepts
        self._any = item.match_for in _MATCH_ANY

    def holds(self, document: Any) -> bool:
        """Whether the criterion is positive. Raises LimitError only."""
        negate = self.item.negate
        try:
            result = self.select.evaluate(document)
        except LimitError:
            raise
        except EvaluationError:
            return negate
        if result is None or result is UNDEFINED:
            return negate
        if type(result) is bool:
            return result is not negate
        return self._compare(result) is not negate

    def mistake(self, document: Any) -> str:
        """The error that `negate` turns into a match, "" where there is none."""
        if self.item.negate:
            try:
                self.select.evaluate(document)
            except EvaluationError as error:
                return error.message
        return ""

    def _compare(self, result: Any) -> bool:
        if type(result) is str:
            return self._accepts(result)
        if type(result) is not list:
            return self._accepts(format_text(result))
        values = [value for value in result if value is not UNDEFINED]
        if not values or (not self._any and len(values) != len(result)):
            return False
        texts = (value if type(value) is str else format_text(value) for value in values)
        return (any if self._any else all)(map(self._accepts, texts))

    def pinned(self) -> tuple[tuple[str, ...], frozenset[str]] | None:
        """(path, texts) if the criterion holds only where the value there is one of the texts."""
        path = self.select.literal_path
        if path is None or self.item.negate:
            return None
        if self.item.match_value is not None:
            return path, frozenset((self.item.match_value,))
        if self.item.match_values:
            return path, frozenset(self.item.match_values)
        return None


def compile_criterion(item: MatchItem) -> MatchCriterion:
    """Compile one item of `spec.match`. Raises CompileError."""
    select = compile_select(item.select)
    accepts: Callable[[str], bool] = _anything
    if item.match_regex is not None:
        # A regular expression is compiled even where another field makes it useless.
        accepts = compile_regex(item.match_regex).search
    if item.match_value is not None:
        accepts = item.match_value.__eq__
    elif item.match_values:
        accepts = frozenset(item.match_values).__contains__
    return MatchCriterion(item, select, accepts)


def _anything(_: str) -> bool:
    return True
