"""Who wrote where: an index that answers what comparing everything with everything would."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from krm_fn import limits
from krm_fn.admission import RuleRef
from krm_fn.admission.blame import Places, Writers
from krm_fn.values import Path

RULES = [RuleRef("d", "Rule", "", f"r{n}") for n in range(4)]
STEPS = st.one_of(st.sampled_from(["a", "b", "0"]), st.integers(0, 3))
PATHS = st.lists(STEPS, max_size=4).map(tuple)
WRITES = st.lists(st.tuples(PATHS, st.lists(st.sampled_from(RULES), min_size=1).map(tuple)))


def related(a: Path, b: Path) -> bool:
    """Whether one path leads to the other; list indexes are not compared."""
    return all(
        x == y or (isinstance(x, int) and isinstance(y, int)) for x, y in zip(a, b, strict=False)
    )


@given(WRITES, PATHS)
def test_the_writers_are_those_whose_paths_lead_there_or_come_from_there(
    writes: list[tuple[Path, tuple[RuleRef, ...]]], path: Path
) -> None:
    writers = Writers()
    for where, rules in writes:
        writers.add(where, rules)
    wrote = [rules for where, rules in writes if related(where, path)]
    expected = tuple(dict.fromkeys(rule for rules in wrote for rule in rules))
    assert writers.rules_of(path) == expected
    assert writers.touched(path) == bool(wrote)


@given(st.lists(PATHS), PATHS)
def test_places_above_a_path_are_its_beginnings(places: list[Path], path: Path) -> None:
    expected = sorted({place for place in places if path[: len(place)] == place}, key=len)
    assert Places(places).above(path) == expected


def test_of_many_writers_the_last_ones_are_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "WRITERS", 2)
    writers = Writers()
    for n, path in enumerate([("a",), ("a", "b"), ("a", "b"), ("a", "c")]):
        writers.add(path, (RULES[n],))
    assert writers.rules_of(("a",)) == (RULES[2], RULES[3])
    assert writers.rules_of(("a", "b", "x")) == (RULES[1], RULES[2])
