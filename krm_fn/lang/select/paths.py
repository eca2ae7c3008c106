"""Paths: `$.spec.containers[? @.name == "a"].image` and everything that can stand in one.

A plain selector yields one value or fails. An ambiguous one yields any number; from there on the
path is a list, failures drop the element instead of failing the path, and each ambiguous selector
captures the key of what it yields. Matches are computed selector by selector, not element by
element, so that neither long paths nor deep documents need a deep stack.
Source: ModRule specification, section 1.8.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import Any

from krm_fn.errors import EvaluationError, LimitError
from krm_fn.lang.select.captures import NOWHERE, Trail
from krm_fn.lang.select.nodes import Constant, Member, Named, Node
from krm_fn.lang.select.run import Closure, Run, text_of
from krm_fn.lang.select.tree import Syntax
from krm_fn.lang.select.values import UNDEFINED, to_bool, to_float, to_int64, type_name

Key = int | str | Trail
Pairs = Sequence[tuple[Key, Any]]
Pick = Callable[[Run, Any], Any]
"""A compiled plain selector: (run, value) -> value; raises EvaluationError."""
Branch = Callable[[Run, Any], Pairs]
"""A compiled ambiguous selector: (run, value) -> captured keys and values; does not raise."""
Matches = Callable[[Run, Any], list[tuple[tuple[Key, ...], Any]]]
"""A compiled path with its captures: (run, what `@` stands for) -> (captured keys, value)."""


class PlainSelector(Syntax):
    """A selector of exactly one value."""

    def pick(self) -> Pick:
        raise NotImplementedError


class AmbiguousSelector(Syntax):
    """A selector of any number of values."""

    def branch(self) -> Branch:
        raise NotImplementedError


class Child(PlainSelector):
    """`.name`, `["name"]`, `[0]`, `[@.last]`: in the key, `@` is the list or map itself."""

    key: Node

    @property
    def name(self) -> str | None:
        """The member name if it is a string that is written here."""
        if type(self.key) is Constant and type(self.key.value) is str:
            return self.key.value
        return None

    def pick(self) -> Pick:
        key = self.key.compile()
        return lambda run, value: child(run, value, key(run, value))


class Script(PlainSelector):
    """`(expression)`: what the expression makes of the value, which is `@` in it."""

    expression: Node

    def pick(self) -> Pick:
        return self.expression.compile()


class Wildcard(AmbiguousSelector):
    """`.*`, `[*]`: all elements, or all members in the order of their names."""

    def branch(self) -> Branch:
        return lambda run, value: _children(value)


class Descend(AmbiguousSelector):
    """`..`: the value itself, then everything in it, each before what it holds."""

    def branch(self) -> Branch:
        return _descend


class Union(AmbiguousSelector):
    """`[a, b]`: each key's value in this order; what is not there is left out."""

    keys: tuple[Node, ...]

    def branch(self) -> Branch:
        closures = [key.compile() for key in self.keys]

        def union(run: Run, value: Any) -> Pairs:
            pairs: list[tuple[Key, Any]] = []
            run.spend(len(closures))
            for closure in closures:
                try:
                    key = closure(run, value)
                    found = child(run, value, key)
                except LimitError:
                    raise
                except EvaluationError:
                    continue
                if found is not UNDEFINED:
                    captured = text_of(run, key) if type(value) is dict else _index(key)
                    pairs.append((captured, found))
            return pairs

        return union


class Slice(AmbiguousSelector):
    """`[min:max:step]` of a list, whose bounds are expressions.

    A minimum that is above the maximum as written yields nothing: `[0:-1]` is empty.
    """

    minimum: Node
    maximum: Node
    step: Node

    def branch(self) -> Branch:
        closures = [node.compile() for node in (self.minimum, self.maximum, self.step)]

        def cut(run: Run, value: Any) -> Pairs:
            if type(value) is not list:
                return ()
            try:
                minimum, maximum, step = (_index(closure(run, value)) for closure in closures)
            except LimitError:
                raise
            except EvaluationError:
                return ()
            return [(index, value[index]) for index in _cut(len(value), minimum, maximum, step)]

        return cut


class Filter(AmbiguousSelector):
    """`[? condition]`: what the condition holds for; where it fails, it does not hold."""

    condition: Node

    def branch(self) -> Branch:
        condition = self.condition.compile()

        def holds(run: Run, value: Any) -> bool | None:
            try:
                return to_bool(condition(run, value))
            except LimitError:
                raise
            except EvaluationError:
                return False

        def keep(run: Run, value: Any) -> Pairs:
            pairs = _children(value)
            run.spend(len(pairs))
            return [pair for pair in pairs if holds(run, pair[1])]

        return keep


Selector = PlainSelector | AmbiguousSelector


class Path(Node):
    """`$` or `@` (`of_root` or not) and the selectors behind it."""

    of_root: bool
    selectors: tuple[Selector, ...]

    @property
    def is_plain(self) -> bool:
        """Whether this yields one value, not a list."""
        return not any(isinstance(selector, AmbiguousSelector) for selector in self.selectors)

    @property
    def names(self) -> tuple[str, ...] | None:
        """The member names if this is nothing but names that are written here."""
        return _names(self.selectors)

    def compile(self) -> Closure:
        of_root = self.of_root
        if self.is_plain:
            pick = _pick_all(self.selectors)
            if of_root:
                return lambda run, current: pick(run, run.root)
            return pick
        first, stages = self._stages()

        def values(run: Run, current: Any) -> list[Any]:
            found = first(run, run.root if of_root else current)
            for branch, ending in stages:
                found = [
                    value
                    for outer in found
                    for _, value in _branch_and_follow(run, outer, branch, ending)
                ]
            return found

        return values

    def compile_matches(self) -> Matches:
        """A closure that yields the path's values with the keys that were captured on the way."""
        of_root = self.of_root
        first, stages = self._stages()

        def matches(run: Run, current: Any) -> list[tuple[tuple[Key, ...], Any]]:
            start = first(run, run.root if of_root else current)
            found: list[tuple[tuple[Key, ...], Any]] = [((), value) for value in start]
            for branch, ending in stages:
                found = [
                    ((*captured, key), value)
                    for captured, outer in found
                    for key, value in _branch_and_follow(run, outer, branch, ending)
                ]
                run.spend(len(found))
            return found

        return matches

    def _stages(self) -> tuple[Callable[[Run, Any], list[Any]], list[tuple[Branch, Pick | None]]]:
        """The plain beginning, which yields a list of one or none; then each ambiguous selector
        with the plain selectors that follow it."""
        cuts = [i for i, s in enumerate(self.selectors) if isinstance(s, AmbiguousSelector)]
        beginning = _try_all(self.selectors[: cuts[0] if cuts else None])

        def first(run: Run, value: Any) -> list[Any]:
            found = beginning(run, value)
            return [] if found is UNDEFINED else [found]

        stages: list[tuple[Branch, Pick | None]] = []
        for cut, end in pairwise([*cuts, len(self.selectors)]):
            selector = self.selectors[cut]
            assert isinstance(selector, AmbiguousSelector)
            following = self.selectors[cut + 1 : end]
            stages.append((selector.branch(), _try_all(following) if following else None))
        return first, stages


class FanOutMember(Member):
    """`#: path` and its like: one member for each match of the path, the last of a name wins."""

    path: Path

    def compile(self) -> Callable[[Run, Any], Named]:
        key, matches = self.key.compile(), self.path.compile_matches()

        def members(run: Run, current: Any) -> Named:
            outer, named = run.captured, []
            try:
                for captured, item in matches(run, current):
                    run.captured = captured
                    named.append((text_of(run, key(run, current)), item))
            finally:
                run.captured = outer
            return named

        return members


def _branch_and_follow(
    run: Run, value: Any, branch: Branch, ending: Pick | None
) -> Iterable[tuple[Key, Any]]:
    pairs = branch(run, value)
    run.spend(len(pairs))
    if ending is None:
        return pairs
    followed = [(key, ending(run, element)) for key, element in pairs]
    return [pair for pair in followed if pair[1] is not UNDEFINED]


def _names(selectors: Sequence[Selector]) -> tuple[str, ...] | None:
    """The member names if all are names that are written here."""
    names = [selector.name for selector in selectors if type(selector) is Child]
    if None in names or len(names) < len(selectors):
        return None
    return tuple(name for name in names if name is not None)


# --- plain selectors -----------------------------------------------------------------------------


def child(run: Run, value: Any, key: Any) -> Any:
    """The element or member that `key` names; UNDEFINED for no member, or within nothing."""
    kind = type(value)
    if kind is dict:
        return value.get(text_of(run, key), UNDEFINED)
    if kind is list:
        return _element(value, key)
    if value is None or value is UNDEFINED:
        return UNDEFINED
    raise EvaluationError(f"a {type_name(value)} has no members to select")


def _element(value: list[Any], key: Any) -> Any:
    index = _index(key)
    if not 0 <= index < len(value):
        raise EvaluationError(f"index {index} is out of bounds: the list has {len(value)}")
    return value[index]


def member(value: Any, names: Iterable[str]) -> Any:
    """The value that a chain of member names leads to; raises EvaluationError as `child` does."""
    for name in names:
        kind = type(value)
        if kind is dict:
            value = value.get(name, UNDEFINED)
        elif kind is list:
            value = _element(value, name)
        elif value is None or value is UNDEFINED:
            return UNDEFINED
        else:
            raise EvaluationError(f"a {type_name(value)} has no member {name}")
    return value


def _member_or_undefined(value: Any, names: Iterable[str]) -> Any:
    """The same with UNDEFINED for an error, and cheap: `..name` tries it on every value."""
    for name in names:
        kind = type(value)
        if kind is dict:
            value = value.get(name, UNDEFINED)
        elif kind is list:
            number = to_float(name)
            index = -1 if number is None else to_int64(number)
            if not 0 <= index < len(value):
                return UNDEFINED
            value = value[index]
        else:
            return UNDEFINED
    return value


def _pick_all(selectors: Sequence[Selector]) -> Pick:
    """The plain selectors one after the other."""
    names = _names(selectors)
    if names is not None:
        return lambda run, value: member(value, names)
    picks = [selector.pick() for selector in selectors if isinstance(selector, PlainSelector)]
    if len(picks) == 1:
        return picks[0]

    def pick_all(run: Run, value: Any) -> Any:
        for pick in picks:
            value = pick(run, value)
        return value

    return pick_all


def _try_all(selectors: Sequence[Selector]) -> Pick:
    """The plain selectors one after the other, with UNDEFINED for an error."""
    names = _names(selectors)
    if names is not None:
        return lambda run, value: _member_or_undefined(value, names)
    pick = _pick_all(selectors)

    def try_all(run: Run, value: Any) -> Any:
        try:
            return pick(run, value)
        except LimitError:
            raise
        except EvaluationError:
            return UNDEFINED

    return try_all


def _index(key: Any) -> int:
    number = to_float(key)
    if number is None:
        raise EvaluationError(f"the index of a list is a number, not a {type_name(key)}")
    return to_int64(number)


# --- ambiguous selectors -------------------------------------------------------------------------


def _children(value: Any) -> Sequence[tuple[int | str, Any]]:
    if type(value) is list:
        return list(enumerate(value))
    if type(value) is dict:
        return [(name, value[name]) for name in sorted(value)]
    return ()


def _descend(run: Run, value: Any) -> Pairs:
    pairs: list[tuple[Key, Any]] = []
    pending: list[tuple[Trail, Any]] = [(NOWHERE, value)]
    while pending:
        run.spend(1)
        trail, value = pair = pending.pop()
        pairs.append(pair)
        pending.extend((Trail(trail, key), inner) for key, inner in reversed(_children(value)))
    return pairs


def _cut(length: int, minimum: int, maximum: int, step: int) -> range:
    """The indexes of a slice, whose bounds may count from the end; a step of 0 is 1."""
    if minimum > maximum:
        return range(0)
    first, end = _bound(minimum, length), _bound(maximum, length)
    if step < 0:
        return range(end - 1, first - 1, step)
    return range(first, end, step or 1)


def _bound(index: int, length: int) -> int:
    return max(length + index, 0) if index < 0 else min(index, length)
