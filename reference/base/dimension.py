"""Dimension: one dimension of a TensorShape, an int that may be unknown."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, NoReturn, SupportsIndex, TypeAlias, TypeVar

from sessrun.reference.public import public

__all__ = ["Dimension", "DimensionLike", "as_dimension", "dimension_value"]

D = TypeVar("D")

#: What stands for a dimension: another one, an integer of Python or numpy, or None: unknown.
DimensionLike: TypeAlias = "Dimension | SupportsIndex | None"


@public("Dimension")
class Dimension:
    """One dimension: `value` is an int or None. Comparing with an unknown one gives None.

    Raises:
      TypeError: the value is not an integer.
      ValueError: the size is negative.

    """

    __slots__ = ("_value",)
    __hash__ = None  # type: ignore[assignment]  # equality is three-valued

    def __init__(self, value: DimensionLike) -> None:
        self._value: int | None
        if value is None or type(value) is int:
            self._value = value
        elif isinstance(value, Dimension):
            self._value = value.value
        else:
            try:
                self._value = operator.index(value)
            except TypeError as error:
                raise TypeError(
                    "Dimension value must be integer or None or have an __index__ method, got "
                    f"value '{value!r}' with type '{type(value)!r}'"
                ) from error
        if self._value is not None and self._value < 0:
            raise ValueError(f"Dimension {self._value} must be >= 0")

    @property
    def value(self) -> int | None:
        """The size, or None."""
        return self._value

    def __int__(self) -> int:
        return self._value  # type: ignore[return-value]  # None raises TypeError, as it should

    def __index__(self) -> int:
        return self._value  # type: ignore[return-value]  # None raises TypeError, as it should

    def __bool__(self) -> bool:
        return bool(self._value)

    def _compare(self, other: Any, compare: Callable[[int, int], bool]) -> bool | None:
        try:
            right = as_dimension(other).value
        except (TypeError, ValueError):
            refused: bool = NotImplemented  # Python then tries the other operand
            return refused
        if self._value is None or right is None:
            return None
        return compare(self._value, right)

    def _combine(
        self, left: DimensionLike, right: DimensionLike, combine: Callable[[int, int], int]
    ) -> Dimension:
        try:
            a, b = as_dimension(left).value, as_dimension(right).value
        except (TypeError, ValueError):
            refused: Dimension = NotImplemented  # Python then tries the other operand
            return refused
        return Dimension(None if a is None or b is None else combine(a, b))

    def __eq__(self, other: object) -> Any:
        return self._compare(other, operator.eq)

    def __ne__(self, other: object) -> Any:
        return self._compare(other, operator.ne)

    def __lt__(self, other: DimensionLike) -> bool | None:
        return self._compare(other, operator.lt)

    def __le__(self, other: DimensionLike) -> bool | None:
        return self._compare(other, operator.le)

    def __gt__(self, other: DimensionLike) -> bool | None:
        return self._compare(other, operator.gt)

    def __ge__(self, other: DimensionLike) -> bool | None:
        return self._compare(other, operator.ge)

    def __add__(self, other: DimensionLike) -> Dimension:
        return self._combine(self, other, operator.add)

    def __radd__(self, other: DimensionLike) -> Dimension:
        return self._combine(other, self, operator.add)

    def __sub__(self, other: DimensionLike) -> Dimension:
        return self._combine(self, other, operator.sub)

    def __rsub__(self, other: DimensionLike) -> Dimension:
        return self._combine(other, self, operator.sub)

    def __mul__(self, other: DimensionLike) -> Dimension:
        return self._combine(self, other, operator.mul)

    def __rmul__(self, other: DimensionLike) -> Dimension:
        return self._combine(other, self, operator.mul)

    def __floordiv__(self, other: DimensionLike) -> Dimension:
        return self._combine(self, other, operator.floordiv)

    def __rfloordiv__(self, other: DimensionLike) -> Dimension:
        return self._combine(other, self, operator.floordiv)

    def __mod__(self, other: DimensionLike) -> Dimension:
        return self._combine(self, other, operator.mod)

    def __rmod__(self, other: DimensionLike) -> Dimension:
        return self._combine(other, self, operator.mod)

    def __truediv__(self, other: object) -> NoReturn:
        raise TypeError(_division(type(self), type(other)))

    def __rtruediv__(self, other: object) -> NoReturn:
        raise TypeError(_division(type(other), type(self)))

    def is_compatible_with(self, other: DimensionLike) -> bool:
        """Whether both may be one size."""
        right = as_dimension(other).value
        return self._value is None or right is None or self._value == right

    def assert_is_compatible_with(self, other: DimensionLike) -> None:
        """Raise ValueError unless both may be one size."""
        if not self.is_compatible_with(other):
            raise ValueError(f"Dimensions {self} and {other} are not compatible")

    def merge_with(self, other: DimensionLike) -> Dimension:
        """What is known of both.

        Raises:
          ValueError: the sizes differ.

        """
        self.assert_is_compatible_with(other)
        return as_dimension(other) if self._value is None else Dimension(self._value)

    def __reduce__(self) -> tuple[type[Dimension], tuple[int | None]]:
        return Dimension, (self._value,)

    def __repr__(self) -> str:
        return f"Dimension({self._value})"

    def __str__(self) -> str:
        return "?" if self._value is None else str(self._value)


def _division(left: type, right: type) -> str:
    return (
        f"unsupported operand type(s) for /: '{left.__name__}' and '{right.__name__}', "
        "please use // instead"
    )


def as_dimension(value: DimensionLike) -> Dimension:
    """`value` itself if it is a Dimension, else the Dimension it stands for."""
    return value if isinstance(value, Dimension) else Dimension(value)


@public("dimension_value")
def dimension_value(dimension: Dimension | D) -> int | D | None:
    """The size of a Dimension; anything else itself."""
    return dimension.value if isinstance(dimension, Dimension) else dimension
