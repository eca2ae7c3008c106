from __future__ import annotations

import pytest

from krm_fn.lang.nodes import Frozen


class Pair(Frozen):
    first: int
    second: str = "b"


class Triple(Pair):
    third: int = 3


def test_fields_are_taken_in_order_those_of_the_base_first() -> None:
    triple = Triple(1, "x", 2)
    assert (triple.first, triple.second, triple.third) == (1, "x", 2)
    assert repr(triple) == "Triple(1, 'x', 2)"


def test_what_a_class_assigns_is_a_default() -> None:
    assert repr(Triple(1)) == "Triple(1, 'b', 3)"


@pytest.mark.parametrize("values", [(), (1, "b", 3, 4)])
def test_too_few_and_too_many_values_are_refused(values: tuple[object, ...]) -> None:
    with pytest.raises(TypeError, match="Triple takes first, second, third"):
        Triple(*values)  # type: ignore[arg-type]


def test_a_field_cannot_be_changed() -> None:
    with pytest.raises(AttributeError, match="Pair is frozen"):
        Pair(1).first = 2  # type: ignore[misc]


def test_only_the_same_node_is_equal() -> None:
    assert Pair(1) != Pair(1)
