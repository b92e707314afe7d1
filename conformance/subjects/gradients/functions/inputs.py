"""How a public function's arguments are drawn: the tensors it is given, and the call of it."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Final, TypeAlias, TypeVar

import numpy as np

from sessrun.conformance.authoring.forms import Recordable, form
from sessrun.conformance.subjects.gradients.calls import Call
from sessrun.conformance.subjects.gradients.points import corner_values, spread_values
from sessrun.spec.cases.objects import Value
from sessrun.spec.dtypes import BY_NAME
from sessrun.spec.forms import Json

__all__ = [
    "ALL",
    "COMPLEX",
    "FUNCTIONS",
    "NARROW",
    "OF_DOUBLES",
    "ONCE",
    "REAL",
    "WIDE",
    "Form",
    "Inputs",
    "function",
]

#: An expression of the case language.
Form: TypeAlias = Json
#: An argument of a recorded call: a form, or a value that has one.
Argument: TypeAlias = "Form | Recordable"

Item = TypeVar("Item")
#: The dtypes that functions are drawn in.
WIDE: Final = ("float32", "float64")
NARROW: Final = ("float16", "bfloat16")
COMPLEX: Final = ("complex64", "complex128")
REAL: Final = (*WIDE, *NARROW)
ALL: Final = (*WIDE, *WIDE, *COMPLEX)

#: By name: from a source of chance and the dtypes that may be drawn (None: all that the function is
#: drawn in) to a call of it.
FUNCTIONS: Final[dict[str, Callable[[random.Random, tuple[str, ...] | None], Call]]] = {}

#: The functions whose gradients have none, or none that is determined.
ONCE: Final[set[str]] = set()
#: The functions that are compared with differences of doubles.
OF_DOUBLES: Final[set[str]] = set()

#: Where values lie that nothing restricts.
_LOW: Final = -1.93
_HIGH: Final = 1.97


class Inputs:
    """The tensors that a function is given, drawn one after the other.

    Attributes:
      draw: the source of chance.
      dtype: the dtype of floating-point or complex tensors.
      smooth: the values of the tensors where the function is smooth.
      corners: the same with ties, zeros and bounds.
      ways: how each tensor is given.
      by: the numbers of the tensors that the function is differentiated by.
      has_corners: whether a tensor has ties, zeros and bounds.

    """

    def __init__(self, draw: random.Random, dtype: str) -> None:
        self.draw = draw
        self.dtype = dtype
        self.smooth: list[np.ndarray] = []
        self.corners: list[np.ndarray] = []
        self.ways: list[str] = []
        self.by: list[int] = []
        self.has_corners = False

    def shape(self, least: int, most: int, low: int = 1, high: int = 4) -> tuple[int, ...]:
        """A shape of rank in [least, most] and dimensions in [low, high]."""
        rank = self.draw.randint(least, most)
        return tuple(self.draw.randint(low, high) for _ in range(rank))

    def tensor(
        self,
        shape: Sequence[int],
        low: float = _LOW,
        high: float = _HIGH,
        *,
        corners: bool = True,
        way: str | None = None,
        dtype: str | None = None,
    ) -> Form:
        """A tensor that the function is differentiated by.

        Args:
          shape: its shape.
          low: the least value where the function is smooth.
          high: the largest value there.
          corners: whether there is a gradient at ties, zeros and bounds.
          way: how it is given; drawn if None.
          dtype: another dtype than that of the others.

        """
        empty = np.empty(tuple(shape), np.dtype(BY_NAME[dtype or self.dtype].numpy))
        values = spread_values(empty, low, high, self.draw)
        other = corner_values(empty, self.draw) if corners else values
        self.has_corners |= corners and empty.size > 0
        self.by.append(len(self.smooth))
        return self._add(values, other, way or self.draw.choice(("known", "known", "unknown")))

    def given(self, values: Value, dtype: str | None = None, *, by: bool = False) -> Form:
        """A tensor of these values at every point, of the dtype of the call or another one."""
        array = np.asarray(values, np.dtype(BY_NAME[dtype or self.dtype].numpy))
        if by:
            self.by.append(len(self.smooth))
        return self._add(array, array, "known" if by else self.draw.choice(("known", "constant")))

    def integers(self, shape: Sequence[int], low: int, high: int, dtype: str | None = None) -> Form:
        """A tensor of integers from `low` up to, and without, `high`."""
        count = int(np.prod(shape, dtype=np.int64))
        values = [self.draw.randrange(low, high) for _ in range(count)]
        array = np.reshape(values, tuple(shape))
        return self.given(array, dtype or self.draw.choice(("int32", "int64")))

    def _add(self, smooth: np.ndarray, corners: np.ndarray, way: str) -> Form:
        self.smooth.append(smooth)
        self.corners.append(corners)
        self.ways.append(way)
        return {"$": f"x{len(self.smooth) - 1}"}

    def axis(self, rank: int) -> int:
        """An axis, counted from the front or from the back."""
        return self.draw.randrange(-rank, rank)

    def flag(self) -> bool:
        """True or False."""
        return self.draw.random() < 0.5

    def choice(self, *options: Item) -> Item:
        """One of these."""
        return self.draw.choice(options)

    def call(self, name: str, *args: Argument, **kwargs: Argument) -> Form:
        """The call of a public function of the namespace; arguments are forms or plain values."""
        return {
            "$call": f"tf.{name}",
            "args": [_form(arg) for arg in args],
            "kwargs": {key: _form(value) for key, value in kwargs.items()},
        }


def _form(value: Argument) -> Form:
    if isinstance(value, dict):
        return value
    if isinstance(value, list):
        return [_form(item) for item in value]
    return form(value)


def function(
    name: str, dtypes: tuple[str, ...] = REAL, *, second: bool = True, differences: bool = True
) -> Callable[[Callable[[Inputs], Form]], Callable[[Inputs], Form]]:
    """Register a public function with what draws a call of it.

    Args:
      name: the name that a title shows.
      dtypes: the dtypes that it is drawn in.
      second: whether its gradient has one.
      differences: whether its gradient agrees with the slope of a small step in float64.

    """

    def register(drawn: Callable[[Inputs], Form]) -> Callable[[Inputs], Form]:
        def call(draw: random.Random, among: tuple[str, ...] | None) -> Call:
            inputs = Inputs(draw, draw.choice(among or dtypes))
            returns = drawn(inputs)
            params = [f"x{number}" for number in range(len(inputs.smooth))]
            points = [inputs.smooth, *([inputs.corners] if inputs.has_corners else [])]
            met = frozenset({inputs.dtype, *(inputs.smooth[at].dtype.name for at in inputs.by)})
            return Call(
                name,
                {"$fn": {"params": params, "returns": returns}},
                points,
                inputs.ways,
                inputs.by,
                met,
                inputs.has_corners,
            )

        FUNCTIONS[name] = call
        if not second:
            ONCE.add(name)
        if differences and "float64" in dtypes:
            OF_DOUBLES.add(name)
        return drawn

    return register
