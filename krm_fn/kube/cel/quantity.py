"""Quantities in expressions.

Source: apiserver v0.37, pkg/cel/quantity.go and pkg/cel/library/quantity.go.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from krm_fn.errors import EvaluationError
from krm_fn.kube.quantity import Quantity, QuantityError, parse
from krm_fn.lang.cel import types as t
from krm_fn.lang.cel.environment import Library
from krm_fn.lang.cel.functions import Function, Overload, steps
from krm_fn.lang.cel.types import Type
from krm_fn.lang.cel.values import NO_OVERLOAD, Value

QUANTITY: Final = t.struct("kubernetes.Quantity")

_READING: Final = steps(40, 2)
"""What reading a string takes."""


class QuantityValue(Value):
    """A quantity as a value of the language.

    `is_sum`: made by add or sub; upstream gives those another Go type, which compares otherwise.
    """

    __slots__ = ("is_sum", "quantity")
    type = QUANTITY

    def __init__(self, quantity: Quantity, is_sum: bool = False) -> None:
        self.quantity = quantity
        self.is_sum = is_sum

    @property
    def go_type(self) -> str:  # type: ignore[override]
        """As Go prints it."""
        return "*cel.Quantity" if self.is_sum else "cel.Quantity"

    def equal(self, other: Any) -> bool:
        if not isinstance(other, QuantityValue) or other.is_sum:
            raise EvaluationError(NO_OVERLOAD)
        return self.order(other) == 0

    def order(self, other: QuantityValue) -> int:
        """-1, 0 or 1."""
        return self.quantity.compare(other.quantity)


def _read(text: str) -> QuantityValue:
    return QuantityValue(parse(text, trim=False))


def _is_quantity(text: str) -> bool:
    try:
        parse(text, trim=False)
    except QuantityError:
        return False
    return True


def _integer(value: QuantityValue) -> int:
    number = value.quantity.as_int64()
    if number is None:
        raise EvaluationError("cannot convert value to integer")
    return number


def _method(name: str, identity: str, args: tuple[Type, ...], result: Type, impl: Any) -> Function:
    return Function(
        name, [Overload(f"quantity_{identity}", (QUANTITY, *args), result, impl, member=True)]
    )


def _arithmetic(name: str, operation: Callable[[Quantity, Quantity], Quantity]) -> Function:
    def of_two(a: QuantityValue, b: QuantityValue) -> QuantityValue:
        return QuantityValue(operation(a.quantity, b.quantity), is_sum=True)

    def of_integer(a: QuantityValue, b: int) -> QuantityValue:
        return QuantityValue(operation(a.quantity, Quantity(b, 0)), is_sum=True)

    overloads = [
        Overload(f"quantity_{name}", (QUANTITY, QUANTITY), QUANTITY, of_two, member=True),
        Overload(f"quantity_{name}_int", (QUANTITY, t.INT), QUANTITY, of_integer, member=True),
    ]
    return Function(name, overloads)


def library() -> Library:
    """The functions on quantities."""
    q, text = (QUANTITY,), (t.STRING,)
    order = QuantityValue.order
    as_float = Quantity.as_float
    return Library(
        [
            Function(
                "quantity", [Overload("string_to_quantity", text, QUANTITY, _read, work=_READING)]
            ),
            Function(
                "isQuantity",
                [Overload("is_quantity_string", text, t.BOOL, _is_quantity, work=_READING)],
            ),
            Function("sign", [Overload("quantity_sign", q, t.INT, lambda a: a.quantity.sign)]),
            _method("isGreaterThan", "is_greater_than", q, t.BOOL, lambda a, b: order(a, b) > 0),
            _method("isLessThan", "is_less_than", q, t.BOOL, lambda a, b: order(a, b) < 0),
            _method("compareTo", "compare_to", q, t.INT, order),
            _method(
                "asApproximateFloat", "get_float", (), t.DOUBLE, lambda a: as_float(a.quantity)
            ),
            _method("asInteger", "get_int", (), t.INT, _integer),
            _method(
                "isInteger", "is_integer", (), t.BOOL, lambda a: a.quantity.as_int64() is not None
            ),
            _arithmetic("add", Quantity.plus),
            _arithmetic("sub", Quantity.minus),
        ]
    )
