"""Two Jacobians of a function: the one that gradients give, and the one that differences give.

A complex number counts as two real ones, in the order in which it lies in memory, so that every
Jacobian is real: a row for each number of x, a column for each number of y.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from sessrun.reference.base import dtypes
from sessrun.reference.base.host_arrays import HostArray
from sessrun.reference.build.indexed_slices import IndexedSlicesValue

__all__ = ["Jacobians", "Numbers", "by_differences", "by_gradients", "largest_error"]

_CHECKED: Final = (
    dtypes.float16,
    dtypes.bfloat16,
    dtypes.float32,
    dtypes.float64,
    dtypes.complex64,
    dtypes.complex128,
)


#: Two Jacobians of one function, by gradients and by differences.
Jacobians: TypeAlias = "tuple[HostArray, HostArray]"


@dataclass(frozen=True)
class Numbers:
    """The view of an array as a list of real numbers."""

    dtype: dtypes.DType
    shape: tuple[int, ...]

    def check(self, name: str) -> None:
        """Refuse with AssertionError a dtype that has no gradient."""
        if self.dtype.base_dtype not in _CHECKED:
            msg = f"Don't support type {self.dtype.name} for {name}"
            raise AssertionError(msg)

    @property
    def count(self) -> int:
        """The number of real numbers."""
        return math.prod(self.shape) * (2 if self.dtype.is_complex else 1)

    @property
    def kind(self) -> type[np.generic]:
        """The numpy dtype of one of them."""
        kind: type[np.generic] = self.dtype.real_dtype.as_numpy_dtype
        return kind

    def of(self, array: npt.ArrayLike) -> Any:
        """The numbers of an array: a flat view, where the array is contiguous."""
        return np.asarray(array, self.dtype.as_numpy_dtype).ravel().view(self.kind)


def by_differences(
    function: Callable[[HostArray], HostArray],
    value: npt.ArrayLike,
    x: Numbers,
    y: Numbers,
    delta: float,
) -> HostArray:
    """The Jacobian [x, y] by the differences of `function` at `value` plus and minus `delta`."""
    value = np.asarray(value, x.dtype.as_numpy_dtype)
    scale = np.asarray(2 * delta, y.kind)[()]
    jacobian = np.zeros((x.count, y.count), x.kind)
    for row in range(x.count):
        above, below = value.copy(), value.copy()
        x.of(above)[row] += delta
        x.of(below)[row] -= delta
        change = np.asarray(function(above)) - np.asarray(function(below))
        jacobian[row] = y.of(change / scale)
    return jacobian


def by_gradients(
    function: Callable[[HostArray], HostArray | IndexedSlicesValue | None], x: Numbers, y: Numbers
) -> HostArray:
    """The Jacobian [x, y] by `function`, from a gradient of y to that of x, column by column.

    Raises:
      ValueError: y is empty, and its gradient is not zeros of the shape of x.

    """
    jacobian = np.zeros((x.count, y.count), x.kind)
    given = np.zeros(y.shape, y.dtype.as_numpy_dtype)
    for column in range(y.count):
        y.of(given)[column] = 1
        gradient = _dense(function(given), x.shape)
        if gradient is not None:
            jacobian[:, column] = x.of(gradient)
        y.of(given)[column] = 0
    if not y.count:
        gradient = np.asarray(_dense(function(given), x.shape))
        if gradient.shape != x.shape:
            msg = f"Empty gradient has wrong shape: expected {x.shape}, got {gradient.shape}"
            raise ValueError(msg)
        if np.any(gradient):
            msg = "Empty tensor with nonzero gradients"
            raise ValueError(msg)
    return jacobian


def largest_error(pairs: Iterable[tuple[Any, Any]]) -> Any:
    """The largest difference within pairs of arrays; 0 where nothing is to be compared."""
    error: Any = 0
    for one, other in pairs:
        if one.size or other.size:
            error = np.maximum(error, np.fabs(one - other).max())
    return error


def _dense(
    gradient: HostArray | IndexedSlicesValue | None, shape: Sequence[int]
) -> HostArray | None:
    """A fetched gradient as an array of `shape`: slices of the same row add up."""
    if not isinstance(gradient, IndexedSlicesValue):
        return gradient
    dense = np.zeros(shape, gradient.values.dtype)
    np.add.at(dense, gradient.indices, gradient.values)
    return dense
