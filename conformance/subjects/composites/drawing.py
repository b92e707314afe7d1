"""Kinds of arguments: how the tensors and options of a composite are drawn, one after the other."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeAlias

import numpy as np

from sessrun.conformance.authoring.forms import Recordable
from sessrun.spec.dtypes import BY_NAME

__all__ = [
    "Drawing",
    "Kind",
    "Name",
    "Slices",
    "axes_of",
    "axis_of",
    "chosen",
    "fixed",
    "integers",
    "like",
    "numbers",
    "of_shape",
    "per_channel",
    "plainly",
    "positive",
    "slices",
    "spread_over",
    "variant",
]


@dataclass(frozen=True, slots=True)
class Name:
    """A public name of the namespace as an argument, such as `losses.Reduction.SUM`."""

    path: str


@dataclass(frozen=True, slots=True)
class Slices:
    """Rows of a tensor as IndexedSlices."""

    values: np.ndarray
    indices: np.ndarray
    shape: tuple[int, ...]


@dataclass(slots=True)
class Drawing:
    """The arguments of one call while they are drawn.

    Attributes:
      draw: the source of chance.
      dtype: the dtype of its numbers.
      style: what its numbers are like, a key of `_STYLES`.
      values: the arguments drawn so far, by name.

    """

    draw: random.Random
    dtype: str
    style: str
    values: dict[str, Any] = field(default_factory=dict)

    def array(self, shape: Sequence[int]) -> np.ndarray:
        """Numbers of the style."""
        count = math.prod(shape)
        return self.rounded(_STYLES[self.style](self.draw, self.dtype, count), shape)

    def rounded(self, numbers: Sequence[float], shape: Sequence[int]) -> np.ndarray:
        """These numbers in the dtype; what is subnormal there becomes zero."""
        dtype = BY_NAME[self.dtype].numpy
        wide = np.array(numbers, np.float64).reshape(tuple(shape))
        with np.errstate(over="ignore", invalid="ignore"):
            small = np.abs(wide) < _least(self.dtype)
            return np.where(small, 0.0, wide).astype(dtype)


#: From the drawing so far to an argument: an ndarray is a tensor, anything else is passed as it is.
Kind = Callable[[Drawing], Any]

#: An argument that is no tensor.
Option: TypeAlias = "Name | Recordable"

_BITS: Final = {
    "float16": (-14, 15),
    "bfloat16": (-126, 127),
    "float32": (-126, 127),
    "float64": (-1022, 1023),
}


def _least(dtype: str) -> float:
    return float(2.0 ** _BITS[dtype][0])


def _plain(draw: random.Random, _: str, count: int) -> list[float]:
    return [draw.uniform(-3, 3) for _ in range(count)]


def _large(draw: random.Random, _: str, count: int) -> list[float]:
    """Numbers up to some thousands: their exponentials overflow in every dtype but float64."""
    return [draw.choice((-1, 1)) * 10 ** draw.uniform(0, 3.9) for _ in range(count)]


def _huge(draw: random.Random, dtype: str, count: int) -> list[float]:
    """Near the end of the dtype's range, so that squares are infinite."""
    top = _BITS[dtype][1] - 1
    return [draw.choice((-1, 1)) * 2 ** draw.uniform(top / 2 + 2, top) for _ in range(count)]


def _tiny(draw: random.Random, dtype: str, count: int) -> list[float]:
    """Small, though their squares are still normal numbers."""
    low = _BITS[dtype][0] / 2 + 1
    return [draw.choice((-1, 1)) * 2 ** draw.uniform(low, low / 2) for _ in range(count)]


def _special(draw: random.Random, dtype: str, count: int) -> list[float]:
    """Plain numbers, and some infinities, NaN and zeros of both signs among them."""
    odd = (math.inf, -math.inf, math.nan, 0.0, -0.0)
    plain = _plain(draw, dtype, count)
    return [draw.choice(odd) if draw.random() < 0.2 else x for x in plain]


def _masked(draw: random.Random, dtype: str, count: int) -> list[float]:
    """Plain numbers, some of them masked by minus infinity."""
    return [-math.inf if draw.random() < 0.3 else x for x in _plain(draw, dtype, count)]


def _shifted(draw: random.Random, dtype: str, count: int) -> list[float]:
    """Numbers far from zero and near each other: their mean is much larger than their deviation."""
    center = draw.choice((-1, 1)) * 64 * 2 ** (BY_NAME[dtype].itemsize - 2 + (dtype == "float16"))
    return [center + draw.randint(-4, 4) * center / 128 for _ in range(count)]


def _equal(draw: random.Random, _: str, count: int) -> list[float]:
    # Multiples of few bits, so that the mean of them is exact in every dtype.
    return [draw.choice((0.0, 0.5, -3.0, -256.0))] * count


#: What the numbers of a call are like, by the style's name.
_STYLES: Final[dict[str, Callable[[random.Random, str, int], list[float]]]] = {
    "plain": _plain,
    "large": _large,
    "huge": _huge,
    "tiny": _tiny,
    "special": _special,
    "masked": _masked,
    "shifted": _shifted,
    "equal": _equal,
    "empty": _plain,
}


# --- tensors --------------------------------------------------------------------------------


def shape_of(d: Drawing, ranks: tuple[int, int], most: int = 4) -> list[int]:
    """A shape; of the style `empty` one of its dimensions is 0."""
    shape = [d.draw.randint(1, most) for _ in range(d.draw.randint(*ranks))]
    if d.style == "empty" and shape:
        shape[d.draw.randrange(len(shape))] = 0
    return shape


def numbers(low: int = 0, high: int = 4, most: int = 4) -> Kind:
    """Numbers of the style, of a rank from `low` to `high` and dimensions up to `most`."""
    return lambda d: d.array(shape_of(d, (low, high), most))


def of_shape(shape: Callable[[Drawing], Sequence[int]]) -> Kind:
    """Numbers of the style, of the shape that a function gives."""
    return lambda d: d.array(shape(d))


def plainly(kind: Kind) -> Kind:
    """The kind, drawn in the style `plain` whatever the style of the call is."""
    return lambda d: kind(replace(d, style="plain"))


def like(name: str) -> Kind:
    """Numbers of the style in the shape of another argument."""
    return lambda d: d.array(d.values[name].shape)


def positive(kind: Kind, least: float = 0.0) -> Kind:
    """Absolute values, from `least` up."""

    def drawn(d: Drawing) -> np.ndarray:
        values = np.abs(kind(d))
        return np.where(values < least, values.dtype.type(least), values)

    return drawn


def spread_over(name: str) -> Kind:
    """Numbers that broadcast over another argument: some of its dimensions are 1 or left out."""

    def drawn(d: Drawing) -> np.ndarray:
        whole = d.values[name].shape
        if d.style == "empty":  # TensorFlow may die of spreading nothing over nothing
            return d.array(whole if d.draw.random() < 0.5 else ())
        shape = [size if d.draw.random() < 0.6 else 1 for size in whole]
        return d.array(shape[d.draw.randint(0, len(shape)) :])

    return drawn


def per_channel(name: str) -> Kind:
    """A number for each channel of another argument: of axis 1 for NC..., else of the last."""

    def drawn(d: Drawing) -> np.ndarray:
        first = str(d.values.get("data_format") or "N..C").startswith("NC")
        return d.array([d.values[name].shape[1 if first else -1]])

    return drawn


def slices(rank: int = 2) -> Kind:
    """Rows of a tensor as IndexedSlices, rows that are repeated among them."""

    def drawn(d: Drawing) -> Slices:
        shape = tuple(d.draw.randint(1, 4) for _ in range(rank))
        count = 0 if d.style == "empty" else d.draw.randint(1, 4)
        rows = np.array([d.draw.randrange(shape[0]) for _ in range(count)], np.int64)
        return Slices(d.array((count, *shape[1:])), rows, shape)

    return drawn


def integers(low: int, high: int, shape: Callable[[Drawing], Sequence[int]]) -> Kind:
    """Integers of 32 or 64 bits from `low` to `high`."""

    def drawn(d: Drawing) -> np.ndarray:
        dtype = d.draw.choice((np.int32, np.int64))
        sizes = tuple(shape(d))
        values = [d.draw.randint(low, high) for _ in range(math.prod(sizes))]
        return np.array(values, dtype).reshape(sizes)

    return drawn


# --- options --------------------------------------------------------------------------------


def fixed(value: Option) -> Kind:
    """Always the same."""
    return lambda _: value


def chosen(*options: Option) -> Kind:
    """One of several."""
    return lambda d: d.draw.choice(options)


def variant(*kinds: Kind) -> Kind:
    """An argument of one of several kinds."""
    return lambda d: d.draw.choice(kinds)(d)


def axis_of(name: str) -> Kind:
    """An axis of another argument, counted from the front or the back."""

    def drawn(d: Drawing) -> int:
        rank = d.values[name].ndim
        return d.draw.randrange(-rank, rank)

    return drawn


def axes_of(name: str, *, or_all: bool = True) -> Kind:
    """Some axes of another argument, in order; None for all of them."""

    def drawn(d: Drawing) -> list[int] | None:
        rank = d.values[name].ndim
        if or_all and d.draw.random() < 0.2:
            return None
        return sorted(d.draw.sample(range(rank), d.draw.randint(min(1, rank), rank)))

    return drawn
