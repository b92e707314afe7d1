"""Kernels that count and rank: occurrences of numbers, histograms, the nth element of a row."""

from __future__ import annotations

from itertools import pairwise

from sessrun.reference.base.arrays import Array, ArrayModule
from sessrun.reference.base.kernel_errors import InvalidArgument
from sessrun.reference.kernels.host import dtype_of, ints, scalar_int
from sessrun.reference.kernels.input_shapes import one_number, require_rank, require_rank_at_least
from sessrun.reference.kernels.registry import Bind, KernelFunction, binder, kernel
from sessrun.reference.kernels.scatters import scatter


@kernel("DenseBincount", devices=("CPU",), host_inputs=("size",))
def dense_bincount(
    xp: ArrayModule, x: Array, size: Array, weights: Array, *, binary_output: bool
) -> Array:
    """Counts, or sums of weights, of the numbers below `size`: of a vector, or of each row.

    Raises:
      KernelError: the rank is above 2, the size no scalar or negative, the weights of another
        shape, or a number is negative.

    """
    if x.ndim > 2:
        raise InvalidArgument(f"Shape must be at most rank 2 but is rank {x.ndim}")
    length = one_number(size, "size")
    if length < 0:
        raise InvalidArgument(f"size ({length}) must be non-negative")
    if weights.size and weights.shape != x.shape:
        raise InvalidArgument(
            f"`weights` must have the shape of `arr` or be empty: {weights.shape}"
        )
    if x.size and xp.any(x < 0):
        raise InvalidArgument("Input arr must be non-negative!")
    rows = x.reshape((1, -1)) if x.ndim < 2 else x
    bins = xp.zeros((rows.shape[0], length), dtype=weights.dtype)
    inside = rows < length
    positions = xp.nonzero(inside)[0], rows[inside]
    if binary_output:
        bins[positions] = 1
    elif weights.size:
        scatter(xp, "add", bins, positions, weights.reshape(rows.shape)[inside])
    else:
        scatter(xp, "add", bins, positions, xp.ones((), dtype=weights.dtype))
    return bins if x.ndim == 2 else bins[0]


@kernel("RaggedBincount", devices=("CPU",), host_inputs=("splits", "size"))
def ragged_bincount(
    xp: ArrayModule,
    splits: Array,
    values: Array,
    size: Array,
    weights: Array,
    *,
    binary_output: bool,
) -> Array:
    """Counts, or sums of weights, of the numbers below `size` in each row of a ragged tensor.

    Raises:
      KernelError: the size is no scalar or negative, the rows do not begin with the first number
        and end with the last, or a number is negative.

    """
    require_rank(0, size=size)
    length, count, ends = scalar_int(size), values.size, ints(splits)
    if length < 0:
        raise InvalidArgument(f"size ({length}) must be non-negative")
    if not ends:
        raise InvalidArgument("Splits must be non-empty")
    if ends[0]:
        raise InvalidArgument(f"Splits must start with 0, not with {ends[0]}")
    if ends[-1] != count:
        raise InvalidArgument(
            f"Splits must end with the number of values, got {ends[-1]} instead of {count}"
        )
    flat = values.reshape(-1)
    if count and xp.any(flat < 0):
        raise InvalidArgument("Input must be non-negative")
    if 0 < weights.size < count:
        raise InvalidArgument(f"There are {count} values, but only {weights.size} weights")
    rows = len(ends) - 1
    lengths = xp.asarray([high - low for low, high in pairwise(ends)], dtype="int64")
    inside = flat < length
    positions = (xp.repeat(xp.arange(rows), lengths) * length + flat)[inside]
    bins = xp.zeros(rows * length, dtype=weights.dtype)
    if binary_output:
        bins[positions] = 1
    elif weights.size:
        scatter(xp, "add", bins, positions, weights.reshape(-1)[:count][inside])
    else:
        bins += xp.bincount(positions, minlength=rows * length).astype(bins.dtype)
    return bins.reshape(rows, length)


@kernel("HistogramFixedWidth", host_inputs=("value_range", "nbins"))
def histogram_fixed_width(
    xp: ArrayModule, values: Array, value_range: Array, nbins: Array, *, dtype: str
) -> Array:
    """The number of values in each of `nbins` equal bins; values outside count in the end bins.

    Raises:
      KernelError: `nbins` is not positive, or the range is not a pair of increasing numbers.

    """
    if value_range.shape != (2,):
        raise InvalidArgument(f"value_range should be a 2-element vector: {value_range.shape}")
    low, high = value_range.tolist()
    if not low < high:
        raise InvalidArgument(
            f"value_range should satisfy value_range[0] < value_range[1], but got [{low}, {high}]"
        )
    if nbins.ndim or scalar_int(nbins) <= 0:
        raise InvalidArgument(f"nbins should be a positive number, but got '{nbins.tolist()}'")
    count = scalar_int(nbins)
    above = values.reshape(-1).astype("float64") - low
    bins = xp.clip(above / ((high - low) / count), 0, count - 1).astype("int64")
    return xp.bincount(bins, minlength=count).astype(dtype_of(dtype))


@kernel("NthElement", host_inputs=("n",))
def nth_element(xp: ArrayModule, x: Array, n: Array, *, reverse: bool) -> Array:
    """The nth smallest number of each row, or the nth largest.

    Raises:
      KernelError: `n` is no scalar or out of range.

    """
    require_rank(0, n=n)
    position = scalar_int(n)
    if position < 0:
        raise InvalidArgument(f"n must be non-negative but is {position}")
    require_rank_at_least(1, x=x)
    length = x.shape[-1]
    if length <= position:
        raise InvalidArgument(f"Input must have last dimension > n = {position}")
    position = length - 1 - position if reverse else position
    return xp.partition(x, position, axis=-1)[..., position]


@binder("Bucketize")
def bucketize(bind: Bind) -> KernelFunction:
    """For each element the number of boundaries <= it; the number of all boundaries for NaN.

    Raises:
      KernelError: the boundaries are not sorted.

    """
    xp, boundaries = bind.xp, bind.attrs["boundaries"]
    if any(following < before for before, following in pairwise(boundaries)):
        raise InvalidArgument("Expected sorted boundaries")
    sorted_ = xp.asarray(boundaries, dtype="float32")

    def compute(x: Array) -> Array:
        numbers = x if x.dtype.kind == "f" else x.astype("float32")
        return xp.searchsorted(sorted_, numbers, side="right").astype("int32")

    return compute
