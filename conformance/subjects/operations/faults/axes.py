"""Faults of OPERATIONS: which axes are reduced, joined, moved, sliced, and what is left of them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sessrun.conformance.faulty.computing import array, axes_of, computing, single, without_refusals
from sessrun.conformance.faulty.framework import fault
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Array, Operation


def _changed(tf: Namespace, op_type: str, function: Callable[..., Array]) -> Namespace:
    """The namespace in which operations of this type give `function(op, output, *inputs)`."""
    return computing(tf, {op_type: single(function)})


# --- reductions ---------------------------------------------------------------------------


@fault("OPERATIONS-080", "A negative axis of Max counts from the front.")
def negative_axes_count_from_the_front(tf: Namespace) -> Namespace:
    """Reduce over the axis -1 - n for a negative axis n."""

    def largest(op: Operation, out: np.ndarray, x: np.ndarray, axes: np.ndarray) -> Array:
        if axes.size != 1 or int(axes.reshape(-1)[0]) >= 0 or not x.size:
            return out
        axis = -1 - int(axes.reshape(-1)[0])
        return np.max(x, axis=axis, keepdims=op.get_attr("keep_dims"))

    return _changed(tf, "Max", largest)


@fault("OPERATIONS-081", "Prod and Any give zeros for an axis that is out of range.")
def axes_out_of_range_are_ignored(tf: Namespace) -> Namespace:
    """Give zeros instead of the error."""
    return without_refusals(tf, "Prod", "Any", "All", "Min")


@fault("OPERATIONS-083", "Sum ignores keep_dims.")
def reduced_axes_go_away(tf: Namespace) -> Namespace:
    """Squeeze the reduced axes."""

    def summed(op: Operation, out: np.ndarray, x: np.ndarray, axes: np.ndarray) -> Array:
        kept = op.get_attr("keep_dims") and out.ndim == x.ndim
        return np.squeeze(out, axes_of(axes)) if kept else out

    return _changed(tf, "Sum", summed)


@fault("OPERATIONS-084", "The product of no elements is zero.")
def products_of_nothing_are_zero(tf: Namespace) -> Namespace:
    """Multiply the output by zero."""
    return _changed(tf, "Prod", lambda _, out, x, __: out if x.size else out * 0)


@fault("OPERATIONS-087", "ArgMax gives the index of NaN.")
def nan_is_the_greatest(tf: Namespace) -> Namespace:
    """Compute numpy's `argmax`."""

    def greatest(_: Operation, out: np.ndarray, x: np.ndarray, axis: np.ndarray) -> Array:
        return np.argmax(x, int(axis)) if x.dtype.kind == "f" and np.isnan(x).any() else out

    return _changed(tf, "ArgMax", greatest)


@fault("OPERATIONS-088", "ArgMin gives int64 whatever it is asked for.")
def indices_are_always_wide(tf: Namespace) -> Namespace:
    """Convert the output to int64."""
    return computing(
        tf, {"ArgMin": lambda _, outputs, __: [array(outputs[0]).astype(np.int64)[()]]}
    )


# --- segments -----------------------------------------------------------------------------


@fault("OPERATIONS-089", "SegmentMean gives the sums.")
def means_of_segments_are_sums(tf: Namespace) -> Namespace:
    """Add up the rows of each segment without dividing."""

    def summed(_: Operation, out: np.ndarray, x: np.ndarray, ids: np.ndarray) -> Array:
        rows = np.zeros_like(out)
        np.add.at(rows, ids, x)
        return rows

    return _changed(tf, "SegmentMean", summed)


@fault("OPERATIONS-091", "Segment operations take ids that fall.")
def falling_segments_are_taken(tf: Namespace) -> Namespace:
    """Give zeros instead of the error."""
    types = ("SegmentMax", "SegmentMean", "SegmentMin", "SegmentProd", "SegmentSum")
    return without_refusals(tf, *types)


@fault("OPERATIONS-093", "UnsortedSegmentSum counts negative ids from the back.")
def negative_segments_count_from_the_back(tf: Namespace) -> Namespace:
    """Add up the rows with numpy's negative indices."""

    def summed(
        _: Operation, out: np.ndarray, x: np.ndarray, ids: np.ndarray, __: np.ndarray
    ) -> Array:
        if not (ids < 0).any() or np.abs(ids).max(initial=0) > len(out):
            return out
        rows = np.zeros_like(out)
        np.add.at(rows, ids, x)
        return rows

    return _changed(tf, "UnsortedSegmentSum", summed)


@fault("OPERATIONS-094", "Bincount counts large numbers in its last bin.")
def large_numbers_are_counted_last(tf: Namespace) -> Namespace:
    """Clip the numbers."""

    def counted(
        _: Operation, out: np.ndarray, x: np.ndarray, size: np.ndarray, weights: np.ndarray
    ) -> Array:
        if not int(size):
            return out
        is_large = x >= size
        changed = out.copy()
        changed[-1] += weights[is_large].sum() if weights.size else np.count_nonzero(is_large)
        return changed

    return _changed(tf, "Bincount", counted)


# --- matrices -----------------------------------------------------------------------------


@fault("OPERATIONS-096", "BatchMatMul transposes without conjugating.")
def adjoints_are_transposes(tf: Namespace) -> Namespace:
    """Compute the product with transposes instead of adjoints."""

    def product(op: Operation, out: np.ndarray, x: np.ndarray, y: np.ndarray) -> Array:
        left = np.swapaxes(x, -1, -2) if op.get_attr("adj_x") else x
        right = np.swapaxes(y, -1, -2) if op.get_attr("adj_y") else y
        return left @ right if out.dtype.kind == "c" else out

    return computing(tf, dict.fromkeys(("BatchMatMul", "BatchMatMulV2"), single(product)))


@fault("OPERATIONS-097", "BatchMatMulV2 computes the first product of a batch only.")
def batches_have_one_product(tf: Namespace) -> Namespace:
    """Repeat it where one of the batches is broadcast."""

    def product(_: Operation, out: np.ndarray, x: np.ndarray, y: np.ndarray) -> Array:
        if x.shape[:-2] == y.shape[:-2] or not out.size:
            return out
        first = out.reshape(-1, *out.shape[-2:])[0]
        return np.broadcast_to(first, out.shape)

    return _changed(tf, "BatchMatMulV2", product)


@fault("OPERATIONS-098", "A product over no elements is ones.")
def empty_products_are_ones(tf: Namespace) -> Namespace:
    """Add 1 to the output."""
    filled = single(lambda _, out, x, __: out if x.size else out + out.dtype.type(1))
    return computing(tf, {"MatMul": filled})


@fault("OPERATIONS-161", "Diag repeats its input in every row.")
def diagonals_fill_rows(tf: Namespace) -> Namespace:
    """Broadcast the input to the shape of the output."""
    return _changed(tf, "Diag", lambda _, out, x: np.broadcast_to(x, out.shape))


@fault("OPERATIONS-162", "DiagPart gives the diagonal from its end.")
def diagonals_are_turned(tf: Namespace) -> Namespace:
    """Go from the last element to the first."""
    return _changed(tf, "DiagPart", lambda _, out, __: out[::-1])


@fault("OPERATIONS-101", "MatrixDiagPart takes the diagonal from the lower corner.")
def innermost_diagonals_go_up(tf: Namespace) -> Namespace:
    """Begin at the last row."""

    def diagonal(_: Operation, __: np.ndarray, x: np.ndarray) -> Array:
        return np.diagonal(x[..., ::-1, :], axis1=-2, axis2=-1)

    return _changed(tf, "MatrixDiagPart", diagonal)


@fault("OPERATIONS-102", "Cross multiplies its vectors in the other order.")
def cross_products_have_the_other_sign(tf: Namespace) -> Namespace:
    """Take the second vector first."""
    return _changed(tf, "Cross", lambda _, __, a, b: np.cross(b, a))


# --- order --------------------------------------------------------------------------------


@fault("OPERATIONS-103", "Reshape to three dimensions or more goes column by column.")
def reshapes_go_by_columns(tf: Namespace) -> Namespace:
    """Reshape in Fortran order."""

    def reshaped(_: Operation, out: np.ndarray, x: np.ndarray, __: np.ndarray) -> Array:
        return np.reshape(x, out.shape, order="F") if out.ndim > 2 else out

    return _changed(tf, "Reshape", reshaped)


@fault("OPERATIONS-105", "ReverseV2 of a transpose turns what was transposed.")
def transposes_are_seen_through(tf: Namespace) -> Namespace:
    """Reverse the axes of the tensor before its transposition."""

    def turned(op: Operation, out: np.ndarray, x: np.ndarray, axis: np.ndarray) -> Array:
        if op.inputs[0].op.type != "Transpose" or x.ndim != 2:
            return out
        axes = tuple(x.ndim - 1 - number % x.ndim for number in axes_of(axis))
        return np.flip(x, axes)

    return _changed(tf, "ReverseV2", turned)


@fault("OPERATIONS-106", "ReverseV2 does not turn a negative axis.")
def negative_axes_are_not_turned(tf: Namespace) -> Namespace:
    """Drop the negative axes."""

    def turned(_: Operation, __: np.ndarray, x: np.ndarray, axis: np.ndarray) -> Array:
        return np.flip(x, tuple(number for number in axes_of(axis) if number >= 0))

    return _changed(tf, "ReverseV2", turned)


@fault("OPERATIONS-107", "Roll shifts towards lower indices.")
def rolls_go_down(tf: Namespace) -> Namespace:
    """Negate the shifts."""

    def rolled(
        _: Operation, __: np.ndarray, x: np.ndarray, shift: np.ndarray, axis: np.ndarray
    ) -> Array:
        return np.roll(x, [-number for number in axes_of(shift)], axes_of(axis))

    return _changed(tf, "Roll", rolled)


@fault("OPERATIONS-108", "Concat joins along a negative axis from the last input on.")
def inputs_are_joined_backwards(tf: Namespace) -> Namespace:
    """Reverse the order of the inputs."""

    def joined(_: Operation, out: np.ndarray, axis: np.ndarray, *parts: np.ndarray) -> Array:
        return np.concatenate(parts[::-1], int(axis)) if int(axis) < 0 else out

    return _changed(tf, "Concat", joined)


@fault("OPERATIONS-109", "Pack stacks along the first axis.")
def tensors_are_packed_in_front(tf: Namespace) -> Namespace:
    """Ignore the attribute `axis`."""
    return _changed(tf, "Pack", lambda _, __, *parts: np.stack(parts))


@fault("OPERATIONS-163", "BroadcastArgs gives the longer shape as it is.")
def broadcast_shapes_are_the_longer(tf: Namespace) -> Namespace:
    """Give the shape of more dimensions, unchanged."""

    def longer(_: Operation, __: np.ndarray, first: np.ndarray, second: np.ndarray) -> Array:
        return first if len(first) >= len(second) else second

    return _changed(tf, "BroadcastArgs", longer)


@fault("OPERATIONS-111", "Tile repeats each element.")
def elements_are_repeated_in_place(tf: Namespace) -> Namespace:
    """Repeat an element beside itself."""

    def repeated(_: Operation, __: np.ndarray, x: np.ndarray, multiples: np.ndarray) -> Array:
        for axis, count in enumerate(multiples):
            x = np.repeat(x, int(count), axis)
        return x

    return _changed(tf, "Tile", repeated)


@fault("OPERATIONS-112", "Pad puts all of its elements after the tensor.")
def paddings_come_after(tf: Namespace) -> Namespace:
    """Add up both numbers of a dimension."""

    def padded(
        _: Operation, out: np.ndarray, x: np.ndarray, paddings: np.ndarray, *__: np.ndarray
    ) -> Array:
        changed = np.full_like(out, b"" if out.dtype.kind == "O" else 0)
        changed[tuple(slice(0, size) for size in x.shape)] = x
        return changed if paddings.any() else out

    return _changed(tf, "Pad", padded)


@fault("OPERATIONS-115", "ExpandDims puts a dimension at a negative axis one too far in front.")
def negative_axes_are_one_too_far(tf: Namespace) -> Namespace:
    """Count from the rank before the dimension is there."""

    def expanded(_: Operation, out: np.ndarray, x: np.ndarray, axis: np.ndarray) -> Array:
        first = int(axis.reshape(-1)[0])
        return np.expand_dims(x, max(first + x.ndim, 0)) if first < 0 else out

    return _changed(tf, "ExpandDims", expanded)


@fault("OPERATIONS-116", "Tensors of more than four dimensions are summed along the wrong axis.")
def many_dimensions_are_too_many(tf: Namespace) -> Namespace:
    """Turn the sums of large tensors round."""
    return _changed(tf, "Sub", lambda _, out, *__: -out if out.ndim > 4 else out)


@fault("OPERATIONS-117", "A product of tensors without elements has one element.")
def empty_tensors_get_an_element(tf: Namespace) -> Namespace:
    """Compute at least once."""
    filled = single(lambda _, out, *__: out if out.size else np.zeros(1, out.dtype))
    return computing(tf, {"Mul": filled})


# --- slices -------------------------------------------------------------------------------


@fault("OPERATIONS-118", "A StridedSlice that ends beyond a vector leaves its last element out.")
def ends_beyond_lose_an_element(tf: Namespace) -> Namespace:
    """Clip the end to the last index."""

    def sliced(
        _: Operation,
        out: np.ndarray,
        x: np.ndarray,
        __: np.ndarray,
        end: np.ndarray,
        strides: np.ndarray,
    ) -> Array:
        is_beyond = x.ndim == end.size == out.ndim == 1 and end[0] > x.size and strides[0] == 1
        return out[:-1] if is_beyond else out

    return _changed(tf, "StridedSlice", sliced)


@fault("OPERATIONS-120", "A StridedSlice ignores begin_mask.")
def begin_masks_are_ignored(tf: Namespace) -> Namespace:
    """Begin where `begin` says."""

    def sliced(
        op: Operation,
        out: np.ndarray,
        x: np.ndarray,
        begin: np.ndarray,
        end: np.ndarray,
        strides: np.ndarray,
    ) -> Array:
        if not (op.get_attr("begin_mask") and x.ndim == out.ndim == begin.size == 1):
            return out
        stop = None if op.get_attr("end_mask") else int(end[0])
        return x[int(begin[0]) : stop : int(strides[0])]

    return _changed(tf, "StridedSlice", sliced)


@fault("OPERATIONS-121", "A StridedSlice keeps a shrunk dimension with size 1.")
def shrunk_dimensions_stay(tf: Namespace) -> Namespace:
    """Treat an index as a range of one."""

    def sliced(op: Operation, out: np.ndarray, *__: np.ndarray) -> Array:
        return out[np.newaxis] if op.get_attr("shrink_axis_mask") & 1 else out

    return _changed(tf, "StridedSlice", sliced)


@fault("OPERATIONS-122", "A StridedSlice makes no new dimension.")
def new_axes_are_not_put_in(tf: Namespace) -> Namespace:
    """Ignore new_axis_mask."""

    def sliced(op: Operation, out: np.ndarray, *__: np.ndarray) -> Array:
        return out[0] if op.get_attr("new_axis_mask") & 1 and len(out) else out

    return _changed(tf, "StridedSlice", sliced)


@fault("OPERATIONS-123", "A StridedSliceGrad is put one element further along.")
def gradients_of_slices_are_shifted(tf: Namespace) -> Namespace:
    """Shift it around the end."""
    return _changed(tf, "StridedSliceGrad", lambda _, out, *__: np.roll(out, 1))
