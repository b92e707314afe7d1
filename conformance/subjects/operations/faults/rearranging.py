"""Faults of OPERATIONS: reductions, matrices, and where operations put their elements."""

from __future__ import annotations

import numpy as np

from sessrun.conformance.faulty.computing import axes_of, computing, single
from sessrun.conformance.faulty.framework import fault
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Array, Operation

# --- reductions ---------------------------------------------------------------------------


@fault("OPERATIONS-082", "A sum over no axes is the sum of everything.")
def no_axes_mean_all(tf: Namespace) -> Namespace:
    """Sum over all axes where none is given."""

    def summed(_: Operation, out: np.ndarray, x: np.ndarray, axes: np.ndarray) -> Array:
        return out if axes.size else np.sum(x, dtype=x.dtype)

    return computing(tf, {"Sum": single(summed)})


@fault("OPERATIONS-085", "The maximum of nothing is zero.")
def maxima_of_nothing_are_zero(tf: Namespace) -> Namespace:
    """Begins at zero."""
    return computing(tf, {"Max": single(lambda _, out, x, __: out if x.size else out * 0)})


@fault("OPERATIONS-021", "A mean of integers is rounded down.")
def means_of_integers_are_rounded_down(tf: Namespace) -> Namespace:
    """Divides as Python does."""

    def mean(op: Operation, out: np.ndarray, x: np.ndarray, axes: np.ndarray) -> Array:
        if x.dtype.kind != "i" or not axes.size or not x.size:
            return out
        kept = op.get_attr("keep_dims")
        return np.floor(np.mean(x, axis=axes_of(axes), dtype=np.float64, keepdims=kept))

    return computing(tf, {"Mean": single(mean)})


@fault("OPERATIONS-086", "ArgMax gives the last of equal elements.")
def the_last_of_equals_is_found(tf: Namespace) -> Namespace:
    """Looks from the end."""

    def last(_: Operation, __: np.ndarray, x: np.ndarray, axis: np.ndarray) -> Array:
        where = int(axis)
        return x.shape[where] - 1 - np.argmax(np.flip(x, where), axis=where)

    return computing(tf, {"ArgMax": single(last)})


@fault("OPERATIONS-023", "An exclusive running sum from the end is one from the beginning.")
def exclusive_sums_are_not_reversed(tf: Namespace) -> Namespace:
    """Takes one flag or the other."""

    def running(op: Operation, out: np.ndarray, x: np.ndarray, axis: np.ndarray) -> Array:
        if not (op.get_attr("exclusive") and op.get_attr("reverse")):
            return out
        return np.cumsum(x, axis=int(axis), dtype=x.dtype) - x

    return computing(tf, {"Cumsum": single(running)})


@fault("OPERATIONS-090", "The product of a segment without rows is zero.")
def empty_products_are_zero(tf: Namespace) -> Namespace:
    """Fills the output with zeros first."""

    def product(_: Operation, out: np.ndarray, __: np.ndarray, ids: np.ndarray) -> Array:
        there = np.isin(np.arange(len(out)), ids).reshape((-1,) + (1,) * (out.ndim - 1))
        return np.where(there, out, 0)

    return computing(tf, {"SegmentProd": single(product)})


@fault("OPERATIONS-092", "The maximum of a segment without slices is zero.")
def empty_segments_are_zero(tf: Namespace) -> Namespace:
    """Fills the output with zeros first."""

    def largest(
        _: Operation, out: np.ndarray, __: np.ndarray, ids: np.ndarray, ___: np.ndarray
    ) -> Array:
        there = np.isin(np.arange(len(out)), ids).reshape((-1,) + (1,) * (out.ndim - 1))
        return np.where(there, out, 0)

    return computing(tf, {"UnsortedSegmentMax": single(largest)})


# --- matrices -----------------------------------------------------------------------------


@fault("OPERATIONS-095", "MatMul conjugates the matrix that it transposes.")
def transposes_are_adjoints(tf: Namespace) -> Namespace:
    """Takes one for the other."""

    def product(op: Operation, out: np.ndarray, a: np.ndarray, b: np.ndarray) -> Array:
        left = np.conj(a.T) if op.get_attr("transpose_a") else a
        right = np.conj(b.T) if op.get_attr("transpose_b") else b
        return left @ right if out.dtype.kind == "c" else out

    return computing(tf, {"MatMul": single(product)})


@fault("OPERATIONS-099", "A negative width of MatrixBandPart is a width of zero.")
def negative_bands_are_empty(tf: Namespace) -> Namespace:
    """Clips the widths."""

    def band(
        _: Operation, out: np.ndarray, x: np.ndarray, low: np.ndarray, high: np.ndarray
    ) -> Array:
        lower = np.triu(x, 0) if low < 0 else np.triu(x, -int(low))
        kept = np.tril(lower, 0) if high < 0 else np.tril(lower, int(high))
        return kept if low < 0 or high < 0 else out

    return computing(tf, {"MatrixBandPart": single(band)})


# --- order --------------------------------------------------------------------------------


@fault("OPERATIONS-104", "Transpose takes the permutation for its inverse.")
def permutations_are_inverted(tf: Namespace) -> Namespace:
    """Transpose by the inverse permutation."""
    return computing(tf, {"Transpose": single(lambda _, __, x, p: x.transpose(np.argsort(p)))})


@fault("OPERATIONS-110", "Along a negative axis the parts of a Split come from the end.")
def parts_come_from_the_end(tf: Namespace) -> Namespace:
    """Reverse the order of the outputs."""

    def parts(_: Operation, outputs: list[Array], inputs: list[np.ndarray]) -> list[Array]:
        return outputs[::-1] if inputs[0] < 0 else outputs

    return computing(tf, {"Split": parts})


@fault("OPERATIONS-113", "MirrorPad repeats the edge for REFLECT too.")
def reflections_repeat_the_edge(tf: Namespace) -> Namespace:
    """Pad with the mode SYMMETRIC where the mode is REFLECT."""

    def padded(op: Operation, out: np.ndarray, x: np.ndarray, paddings: np.ndarray) -> Array:
        if op.get_attr("mode") != b"REFLECT" or x.dtype.kind == "O":
            return out
        return np.pad(x, paddings.astype(int), mode="symmetric")

    return computing(tf, {"MirrorPad": single(padded)})


@fault("OPERATIONS-114", "The size of a scalar is zero.")
def scalars_have_no_size(tf: Namespace) -> Namespace:
    """Give 0 for a scalar."""
    return computing(tf, {"Size": single(lambda _, out, x: out if x.ndim else out * 0)})


@fault("OPERATIONS-032", "A size of -1 in a Slice leaves the last element out.")
def the_rest_lacks_its_last(tf: Namespace) -> Namespace:
    """Takes -1 for an end that counts from the back."""

    def block(
        _: Operation, out: np.ndarray, __: np.ndarray, ___: np.ndarray, size: np.ndarray
    ) -> Array:
        return out[tuple(slice(None, -1 if n == -1 else None) for n in size)]

    return computing(tf, {"Slice": single(block)})


@fault("OPERATIONS-119", "A negative stride leaves the elements in their order.")
def negative_strides_go_forwards(tf: Namespace) -> Namespace:
    """Reverse the sliced axes back."""

    def strided(
        _: Operation,
        out: np.ndarray,
        __: np.ndarray,
        ___: np.ndarray,
        ____: np.ndarray,
        strides: np.ndarray,
    ) -> Array:
        return out[::-1] if strides.size == out.ndim == 1 and strides[0] < 0 else out

    return computing(tf, {"StridedSlice": single(strided)})
