"""The resources of `tf.ConditionalAccumulator`: sums of gradients that wait to be taken.

A gradient comes with the global step at which it was computed; if that is before the accumulator's
step, the gradient is stale and is dropped. The accumulator's step goes up by one whenever its
gradients are taken.
"""

from __future__ import annotations

import threading
from abc import abstractmethod
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

from sessrun.reference.base.arrays import Array
from sessrun.reference.base.kernel_errors import InvalidArgument, KernelError
from sessrun.reference.state.attempts import Attempt

__all__ = ["Accumulator", "DenseAccumulator", "SparseAccumulator", "SparseGradient"]


Shape = Sequence[int | None] | None
#: An index in the first dimension, the sum of the slices with that index, and their number.
_Slice = tuple[int, Array, int]


class _Take(Attempt):
    """An attempt to take the mean or sum, which waits for `wanted` gradients."""

    __slots__ = ("wanted",)

    def __init__(self, accumulator: Accumulator, wanted: int) -> None:
        super().__init__(accumulator)
        self.wanted = wanted


class Accumulator:
    """Base class of accumulators, which sum gradients of one shape; safe for threads.

    Args:
      dtype: the spec name of the gradients' dtype.
      shape: the gradients' static shape.
      mean: whether `take` gives the mean of the gradients, else the sum.

    """

    #: An accumulator is the value of a handle, a scalar tensor: operations that stack handles or
    #: choose one read its shape.
    shape: Final = ()
    ndim: Final = 0

    def __init__(self, dtype: str, shape: Shape, *, mean: bool) -> None:
        self.dtype = dtype
        self.declared = shape
        self.mean = mean
        self._step = 0
        self._count = 0
        self._waiting: deque[_Take] = deque()
        self._lock = threading.RLock()

    def __len__(self) -> int:
        with self._lock:
            return self._count

    def apply(self, step: int, gradient: Any) -> None:
        """Add a gradient that was computed at a global step, unless it is stale.

        Raises:
          InvalidArgument: the gradient's shape is not the accumulator's.

        """
        with self._lock:
            if step < self._step:
                return
            self._check(gradient)
            self._add(gradient, first=self._count == 0)
            self._count += 1
            self._serve()

    def take(self, wanted: int) -> Attempt:
        """Begin to take the mean or sum of all gradients, once there are at least `wanted`.

        Raises:
          InvalidArgument: `wanted` is not positive.

        """
        if wanted <= 0:
            raise InvalidArgument(f"Argument num_required must be positive, but was {wanted}")
        attempt = _Take(self, wanted)
        with self._lock:
            self._waiting.append(attempt)
            self._serve()
        return attempt

    def set_step(self, step: int) -> None:
        """Set the accumulator's step, to a later or an earlier one."""
        with self._lock:
            self._step = step

    def withdraw(self, attempt: Attempt) -> None:
        """Remove a waiting attempt."""
        with self._lock:
            if isinstance(attempt, _Take) and attempt in self._waiting:
                self._waiting.remove(attempt)
            self._serve()

    def _serve(self) -> None:
        """Serve the waiting attempts, in order, while there are enough gradients for the first."""
        while self._waiting and self._count >= self._waiting[0].wanted:
            taken = self._take_result(self._count)
            self._count = 0
            self._step += 1
            self._waiting.popleft().succeed(taken)

    @abstractmethod
    def _check(self, gradient: Any) -> None:
        """Raise InvalidArgument if a gradient does not have the declared shape."""

    @abstractmethod
    def _add(self, gradient: Any, *, first: bool) -> None:
        """Add a gradient to the sum, or replace the sum by the first gradient."""

    @abstractmethod
    def _take_result(self, count: int) -> Any:
        """Remove and return the mean or sum of `count` gradients."""


def _shape_text(shape: Shape) -> str:
    """A shape as messages write it: `[2,?]`."""
    if shape is None:
        return "<unknown>"
    return "[" + ",".join("?" if size is None else str(size) for size in shape) + "]"


def _check_vector(what: str, array: Array) -> None:
    if array.ndim != 1:
        raise InvalidArgument(
            f"Input {what} should be vector but received shape: {_shape_text(array.shape)}"
        )


def _mismatch(expected: str, got: object) -> KernelError:
    return InvalidArgument(f"Shape mismatch: expected {expected}, got {got}")


class DenseAccumulator(Accumulator):
    """Sums arrays."""

    _sum: Array | None = None

    def _check(self, gradient: Array) -> None:
        wanted = self.declared
        if wanted is not None and not (
            len(wanted) == gradient.ndim
            and all(w in {None, n} for w, n in zip(wanted, gradient.shape, strict=True))
        ):
            raise _mismatch(_shape_text(wanted), _shape_text(gradient.shape))

    def _add(self, gradient: Array, *, first: bool) -> None:
        if first or self._sum is None:
            self._sum = gradient
            return
        if gradient.shape != self._sum.shape:
            raise _mismatch(_shape_text(self._sum.shape), _shape_text(gradient.shape))
        self._sum = self._sum + gradient

    def _take_result(self, count: int) -> Any:
        total, self._sum = self._sum, None
        assert total is not None  # a result is taken only after at least one gradient
        return total / total.dtype.type(count) if self.mean else total


class SparseGradient(NamedTuple):
    """A sparse gradient: slices of a dense one.

    Attributes:
      indices: the index of each slice in the first dimension, int64 [n].
      values: the slices, [n, ...].
      shape: the shape of the dense gradient, an int64 vector; None if it is not known.

    """

    indices: Array
    values: Array
    shape: Array | None


class SparseAccumulator(Accumulator):
    """Sums slices by index: merges each gradient into the sum as TensorFlow merges sorted lists.

    Indices need not be sorted, and the result then depends on the order of the slices. So slices
    are merged one by one, in Python: thousands of small slices take ten to twenty times
    TensorFlow's time.
    """

    def __init__(
        self, dtype: str, shape: Shape, *, mean: bool, stack: Callable[[Sequence[Array]], Array]
    ) -> None:
        super().__init__(dtype, shape, mean=mean)
        self._stack = stack
        self._empty: Any = None
        #: The sum so far.
        self._slices: list[_Slice] = []

    def _check(self, gradient: SparseGradient) -> None:
        indices, values, shape = gradient
        _check_vector("indices", indices)
        if values.ndim < 1:
            raise InvalidArgument("Values cannot be 0-dimensional.")
        if len(indices) != values.shape[0]:
            raise InvalidArgument(
                f"Expected {len(indices)} non-empty input values, got {values.shape[0]}"
            )
        if self.declared is None:
            return
        if shape is not None:
            _check_vector("shape", shape)
            self._check_sizes("shape", tuple(shape.tolist()))
        self._check_sizes("values", (None, *values.shape[1:]))
        limit = self.declared[0] if self.declared else None
        for number, index in enumerate(indices.tolist()):
            if limit is not None and index >= limit:
                raise InvalidArgument(
                    f"Shape mismatch: index of slice {number} exceeded limits of shape; "
                    f"index is {index} exceeded {limit}"
                )

    def _check_sizes(self, what: str, sizes: Sequence[int | None]) -> None:
        """Raise InvalidArgument unless `sizes` begins with the declared sizes; None fits any."""
        declared = self.declared or ()
        if len(sizes) < len(declared):
            raise _mismatch(f"{what} rank at least {len(declared)}", len(sizes))
        for axis, (want, have) in enumerate(zip(declared, sizes, strict=False)):
            if None not in (want, have) and want != have:
                raise _mismatch(f"{what} dim {axis} to be {want}", have)

    def _add(self, gradient: SparseGradient, *, first: bool) -> None:
        indices, values = gradient.indices.tolist(), gradient.values
        added = [(index, values[number, ...], 1) for number, index in enumerate(indices)]
        if first:
            self._empty = values[:0]
            self._slices = added
            return
        if values.ndim != self._empty.ndim:
            raise _mismatch(f"values rank {self._empty.ndim}", values.ndim)
        for axis, sizes in enumerate(zip(self._empty.shape, values.shape, strict=True)):
            if axis and sizes[0] != sizes[1]:
                raise _mismatch(f"values dim {axis} to be {sizes[0]}", sizes[1])
        self._slices = _merged(self._slices, added)

    def _take_result(self, count: int) -> Any:
        del count
        slices, self._slices = self._slices, []
        kind = self._empty.dtype.type
        rows = [row / kind(times) if self.mean and times > 1 else row for _, row, times in slices]
        values = self._stack(rows) if rows else self._empty
        outer = self.declared[0] if self.declared else None
        shape = (-1 if outer is None else outer, *self._empty.shape[1:])
        return [index for index, *_ in slices], values, shape


def _merged(first: Sequence[_Slice], second: Sequence[_Slice]) -> list[_Slice]:
    """Merge two lists of slices; the next slices of both are added if they have the same index."""
    merged = []
    i = j = 0
    while i < len(first) and j < len(second):
        (left, row, times), (right, other, _) = first[i], second[j]
        if left == right:
            merged.append((left, row + other, times + 1))
        else:
            merged.append(first[i] if left < right else second[j])
        i += left <= right
        j += right <= left
    return [*merged, *first[i:], *second[j:]]
