"""Accumulators: gradients are gathered, and taken as their sum or mean.

An accumulator has a step of its own. A gradient of a lower step is stale: it is dropped, and who
applied it does not learn of it (ACCUMULATORS-005 to 009). A sparse accumulator has a sum for each
index; in this model a dense one is sparse with the one index 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from sessrun.spec.model.run import kernel
from sessrun.spec.model.stateless import fits
from sessrun.spec.model.turns import Turns
from sessrun.spec.model.values import FailedError, Handle, Value, WaitsError, handle_of

if TYPE_CHECKING:
    from sessrun.spec.model.run import Activity

__all__ = ["Accumulator"]

Shape = tuple[int | None, ...] | None


@dataclass(slots=True)
class Accumulator:
    """An accumulator.

    Attributes:
      dtype: the dtype of its gradients.
      shape: the declared shape of a gradient; of a sparse one its dense shape; None
        for any.
      is_sparse: whether gradients have indices.
      is_mean: whether a take divides each sum by the number of gradients in it.
      step: gradients of lower steps are stale.
      count: how many gradients it has gathered since the last take.
      sums: for each index the sum, and the number of gradients in it.
      gathered: the shape of the gathered gradients, or of a slice of them; None if there are none.
      taking: those that wait for more gradients.

    """

    dtype: str
    shape: Shape = None
    is_sparse: bool = False
    is_mean: bool = True
    step: int = 0
    count: int = 0
    sums: dict[int, tuple[np.ndarray, int]] = field(default_factory=dict)
    gathered: tuple[int, ...] | None = None
    taking: Turns[None] = field(default_factory=Turns)

    def apply(self, step: int, gradient: np.ndarray) -> None:
        """Gather a dense gradient, unless it is stale.

        Raises:
          FailedError: its shape is not the declared one (ACCUMULATORS-012), or not that of those
            gathered (ACCUMULATORS-013).

        """
        if step >= self.step:
            self._check_shape(gradient.shape, self.shape)
            self._gather([0], [gradient])

    def apply_slices(
        self, step: int, indices: np.ndarray, slices: np.ndarray, shape: Sequence[int] = ()
    ) -> None:
        """Gather a sparse gradient, unless it is stale.

        Args:
          step: the step for which it was computed.
          indices: of the slices, in the first dimension.
          slices: a row for each.
          shape: its dense shape, () if that is not known.

        Raises:
          FailedError: there is another number of slices than of indices (ACCUMULATORS-023); an
            index is not below the declared first dimension (022); the slices are not of the shape
            of those gathered (024); the dense shape contradicts the declared one (025).

        """
        if step < self.step:
            return
        declared = self.shape
        if not slices.ndim or len(slices) != len(indices):
            raise FailedError("INVALID_ARGUMENT", f"{len(indices)} indices, {slices.shape} slices")
        row = slices.shape[1:]
        if declared:
            if shape and not _begins_with(shape, declared):
                raise FailedError("INVALID_ARGUMENT", f"{shape} does not begin with {declared}")
            if not _begins_with(row, declared[1:]):
                raise FailedError("INVALID_ARGUMENT", f"slices of {row} in {declared}")
            if declared[0] is not None and (indices >= declared[0]).any():
                raise FailedError("INVALID_ARGUMENT", f"an index is not below {declared[0]}")
        self._check_shape(row, None)
        self._gather(indices.tolist(), [np.asarray(part, slices.dtype) for part in slices])

    def _check_shape(self, shape: tuple[int, ...], declared: Shape) -> None:
        if not fits(shape, declared) or self.gathered not in {None, shape}:
            raise FailedError("INVALID_ARGUMENT", f"a gradient has shape {shape}")

    def _gather(self, indices: Sequence[int], rows: Sequence[np.ndarray]) -> None:
        self.count += 1
        for index, row in zip(indices, rows, strict=True):
            self.gathered = row.shape
            total, count = self.sums.get(index, (np.zeros_like(row), 0))
            self.sums[index] = (total + row, count + 1)

    def take(self, required: int) -> list[np.ndarray]:
        """The sum or mean of all that was gathered (ACCUMULATORS-001, 002, 010).

        The step is one more, the count is 0 and the next gradient may have any shape that is
        declared (ACCUMULATORS-004, 007, 014).

        Returns:
          Of a dense accumulator the value; of a sparse one the indices, ascending, their slices and
          the dense shape, whose first dimension is the declared one or -1 (ACCUMULATORS-020, 021).

        Raises:
          FailedError: none is required (ACCUMULATORS-011).
          WaitsError: there are fewer gradients than are required (ACCUMULATORS-017).

        """
        if required < 1:
            raise FailedError("INVALID_ARGUMENT", f"{required} gradients are required")
        if self.count < required:
            raise WaitsError
        indices, rows = sorted(self.sums), [self._reduced(*self.sums[i]) for i in sorted(self.sums)]
        self.sums, self.count, self.gathered = {}, 0, None
        self.step += 1
        if not self.is_sparse:
            return rows
        first = self.shape[0] if self.shape else None
        shape = [-1 if first is None else first, *rows[0].shape]
        return [np.array(indices, np.int64), np.stack(rows), np.array(shape, np.int64)]

    def _reduced(self, total: np.ndarray, count: int) -> np.ndarray:
        value = total / np.dtype(self.dtype).type(count) if self.is_mean else total
        return np.asarray(value, self.dtype)


def _begins_with(shape: Sequence[int], declared: Sequence[int | None]) -> bool:
    return len(shape) >= len(declared) and all(
        wanted is None or size == wanted for size, wanted in zip(shape, declared, strict=False)
    )


# --- operations ----------------------------------------------------------------------------


@kernel("ConditionalAccumulator", "ResourceConditionalAccumulator", "SparseConditionalAccumulator")
def _accumulator(activity: Activity) -> Sequence[Value]:
    """An accumulator of its own, or the one of its shared name (ACCUMULATORS-015, 018)."""
    node, attrs = activity.node, activity.node.attrs
    declared = Accumulator(
        attrs["dtype"],
        attrs["shape"],
        is_sparse=node.type.startswith("Sparse"),
        is_mean=attrs["reduction_type"] == "MEAN",
    )
    handle = handle_of(node, node.type)
    held = activity.session.resource(handle, lambda: declared)
    if (held.dtype, held.shape, held.is_mean) != (declared.dtype, declared.shape, declared.is_mean):
        raise FailedError("INVALID_ARGUMENT", f"{handle.name} is another accumulator")
    return [handle]


def _named(activity: Activity, handle: Handle) -> Accumulator:
    accumulator: Accumulator | None = activity.session.resources.get(handle)
    if accumulator is None:
        raise FailedError("NOT_FOUND", f"there is no accumulator {handle.name}")
    if activity.node.attrs.get("dtype", accumulator.dtype) != accumulator.dtype:
        raise FailedError("INVALID_ARGUMENT", f"{handle.name} is of {accumulator.dtype}")
    return accumulator


@kernel("AccumulatorApplyGradient", "ResourceAccumulatorApplyGradient")
def _apply(
    activity: Activity, handle: Handle, step: np.ndarray, gradient: np.ndarray
) -> Sequence[Value]:
    _named(activity, handle).apply(int(step), gradient)
    return []


@kernel("SparseAccumulatorApplyGradient")
def _apply_slices(
    activity: Activity, handle: Handle, step: np.ndarray, *gradient: np.ndarray
) -> Sequence[Value]:
    indices, slices, shape = gradient
    known = shape.tolist() if activity.node.attrs["has_known_shape"] else ()
    _named(activity, handle).apply_slices(int(step), indices, slices, known)
    return []


@kernel(*(f"{kind}AccumulatorTakeGradient" for kind in ("", "Resource", "Sparse")))
def _take(activity: Activity, handle: Handle, required: np.ndarray) -> Sequence[Value]:
    accumulator = _named(activity, handle)
    return accumulator.taking.serve(activity, None, lambda _: accumulator.take(int(required)))


@kernel("AccumulatorNumAccumulated", "ResourceAccumulatorNumAccumulated")
def _count(activity: Activity, handle: Handle) -> Sequence[Value]:
    return [np.int32(_named(activity, handle).count)]


@kernel("AccumulatorSetGlobalStep", "ResourceAccumulatorSetGlobalStep")
def _set_step(activity: Activity, handle: Handle, step: np.ndarray) -> Sequence[Value]:
    _named(activity, handle).step = int(step)
    return []
