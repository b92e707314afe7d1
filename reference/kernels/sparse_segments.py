"""Kernels that gather rows and sum those of a segment, and their gradients.

On the host only: numpy sums successive rows fast, and cupy lacks the function.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from sessrun.reference.base.arrays import Array
from sessrun.reference.base.kernel_errors import InvalidArgument
from sessrun.reference.kernels.host import HOST, dtype_of, scalar_int
from sessrun.reference.kernels.input_shapes import check_size, require_rank, require_same_shape
from sessrun.reference.kernels.registry import KernelFunction, binder
from sessrun.reference.kernels.segments import check_sorted
from sessrun.reference.kernels.sparse_parts import add_rows

_CPU: Final = ("CPU",)

#: From the numbers of rows of segments to the divisors of their sums.
_DIVISORS: Final[dict[str, Callable[[Array], Array] | None]] = {
    "Sum": None,
    "Mean": lambda counts: counts,
    "SqrtN": HOST.sqrt,
}


def _check_rows(indices: Array, count: int, label: str = "indices[{position}] ==") -> None:
    outside = (indices < 0) | (indices >= count)
    if outside.any():
        position = int(outside.argmax())
        what = f"{label.format(position=position)} {indices[position]}"
        raise InvalidArgument(f"{what} out of range [0, {count})")


def _check_segments(indices: Array, segment_ids: Array) -> None:
    require_rank(1, indices=indices, segment_ids=segment_ids)
    require_same_shape(indices=indices, segment_ids=segment_ids)


def _scaled(sums: Array, counts: Array, kind: str) -> Array:
    """Sums of segments [count, ...] over the divisors of the kind; empty ones stay."""
    divisor = _DIVISORS[kind]
    if divisor is None:
        return sums
    counts = HOST.maximum(counts, 1).astype(sums.dtype)
    return sums / divisor(counts).reshape(-1, *(1,) * (sums.ndim - 1))


def _segments(
    kind: str, data: Array, indices: Array, segment_ids: Array, count: int | None
) -> Array:
    """The rows at `indices` summed by segment and scaled: [count, ...]."""
    _check_segments(indices, segment_ids)
    if not data.ndim:
        raise InvalidArgument("input must be at least rank 1")
    known = int(segment_ids[-1]) + 1 if segment_ids.size else 0
    if known < 0 or (known == 0 and segment_ids.size):
        raise InvalidArgument("segment ids must be >= 0")
    if count is None:
        count = known
    elif known > count:
        raise InvalidArgument("segment ids must be < num_segments")
    check_size((count, *data.shape[1:]))
    if segment_ids.size and ((HOST.diff(segment_ids) < 0).any() or segment_ids[0] < 0):
        check_sorted(segment_ids.tolist(), count)
    _check_rows(indices, data.shape[0])
    wide = dtype_of("float32") if data.dtype.itemsize == 2 and data.dtype.kind in "fV" else None
    sums = HOST.zeros((count, *data.shape[1:]), dtype=data.dtype if wide is None else wide)
    add_rows(sums, segment_ids, lambda part: data[indices[part]].astype(sums.dtype, copy=False))
    counts = HOST.bincount(segment_ids, minlength=count)
    return _scaled(sums, counts, kind).astype(data.dtype)


def _register(kind: str) -> None:
    @binder(f"SparseSegment{kind}", devices=_CPU)
    def bind_plain(_: object) -> KernelFunction:
        return lambda data, indices, segment_ids: _segments(kind, data, indices, segment_ids, None)

    @binder(f"SparseSegment{kind}WithNumSegments", devices=_CPU)
    def bind_with_count(_: object) -> KernelFunction:
        def compute(data: Array, indices: Array, segment_ids: Array, num_segments: Array) -> Array:
            count = scalar_int(num_segments)
            if num_segments.ndim or count < 0:
                raise InvalidArgument(f"num_segments must be a scalar >= 0, is {count}")
            return _segments(kind, data, indices, segment_ids, count)

        return compute

    @binder(f"SparseSegment{kind}Grad", devices=_CPU)
    def bind_gradient(_: object) -> KernelFunction:
        def compute(grad: Array, indices: Array, segment_ids: Array, output_dim0: Array) -> Array:
            count = _rows_of(output_dim0)
            _check_segments(indices, segment_ids)
            _check_rows(indices, count, "Index")
            result = HOST.zeros((count, *grad.shape[1:]), dtype=grad.dtype)
            rows, sums = _by_row(grad, indices, segment_ids, kind)
            result[rows] = sums
            return result

        return compute

    @binder(f"SparseSegment{kind}GradV2", devices=_CPU)
    def bind_sparse_gradient(_: object) -> KernelFunction:
        def compute(
            grad: Array, indices: Array, segment_ids: Array, output_dim0: Array
        ) -> tuple[Array, Array]:
            count = _rows_of(output_dim0)
            _check_segments(indices, segment_ids)
            _check_rows(indices, count, "Index")
            rows, sums = _by_row(grad, indices, segment_ids, kind)
            return sums.astype(grad.dtype), rows

        return compute


def _rows_of(output_dim0: Array) -> int:
    if output_dim0.ndim or output_dim0 < 0:
        raise InvalidArgument("output_dim0 should be a scalar >= 0")
    return scalar_int(output_dim0)


def _by_row(grad: Array, indices: Array, segment_ids: Array, kind: str) -> tuple[Array, Array]:
    """The distinct indices in ascending order, and for each the sum of its segments' gradients.

    Gradients are divided as their segments were.
    """
    if not grad.ndim:
        raise InvalidArgument("The gradient must have rows, it is a scalar")
    if segment_ids.size and segment_ids[-1] >= grad.shape[0]:
        raise InvalidArgument("Invalid number of segments")
    _check_rows(segment_ids, grad.shape[0], "Segment id")
    counts = HOST.bincount(segment_ids, minlength=grad.shape[0])
    shared = _scaled(grad.astype("float32") if grad.dtype.itemsize == 2 else grad, counts, kind)
    rows, groups = HOST.unique(indices, return_inverse=True)
    order = HOST.argsort(groups.reshape(-1), kind="stable")
    sums = HOST.zeros((len(rows), *grad.shape[1:]), dtype=shared.dtype)
    wanted = segment_ids[order]
    add_rows(sums, groups.reshape(-1)[order], lambda part: shared[wanted[part]])
    return rows, sums


for _kind in _DIVISORS:
    _register(_kind)
