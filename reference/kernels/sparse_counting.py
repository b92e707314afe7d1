"""Kernels that count numbers in sparse tensors, and kernels that give sparse counts."""

from __future__ import annotations

from typing import Final

from sessrun.reference.base.arrays import Array, ArrayModule
from sessrun.reference.base.kernel_errors import InvalidArgument
from sessrun.reference.kernels.host import HOST, host_array, scalar_int
from sessrun.reference.kernels.registry import kernel
from sessrun.reference.kernels.sparse_parts import check_indices, checked

_CPU: Final = ("CPU",)
_LARGEST: Final = 1 << 63


@kernel("SparseBincount", devices=_CPU)
def sparse_bincount(
    _: ArrayModule,
    indices: Array,
    values: Array,
    shape: Array,
    size: Array,
    weights: Array,
    *,
    binary_output: bool,
) -> Array:
    """Counts, or sums of weights, of numbers below `size`: of a vector, or of each row.

    Raises:
      KernelError: the parts do not fit, or the size or a number of a vector is negative.

    """
    if size.ndim or size < 0:
        raise InvalidArgument(f"size ({size.tolist()}) must be a non-negative scalar")
    check_indices(checked(indices, values, shape))
    length, is_vector = scalar_int(size), len(shape) == 1
    # TensorFlow does not check it for a matrix, and reads memory behind too few weights.
    unlike = weights.size != values.size if is_vector else weights.size < values.size
    if weights.size and unlike and not binary_output:
        raise InvalidArgument("Input indices and weights must have the same size.")
    if is_vector and (values < 0).any():
        raise InvalidArgument("Input arr must be non-negative!")
    rows = HOST.zeros(len(values), dtype="int64") if is_vector else indices[:, 0]
    bins = HOST.zeros((1 if is_vector else int(shape[0]), length), dtype=weights.dtype)
    inside = (values >= 0) & (values < length)
    positions = rows[inside], values[inside]
    if binary_output:
        bins[positions] = 1
    else:
        used = weights.reshape(-1)[: len(values)]
        amounts = used[inside] if weights.size else HOST.ones((), weights.dtype)
        HOST.add.at(bins, positions, amounts)
    return bins[0] if is_vector else bins


def _counted(
    rows: Array, values: Array, weights: Array, limits: tuple[int, int], *, binary: bool
) -> tuple[Array, Array, int]:
    """The counts of each row's numbers: index vectors [n, 2], counts, and the size of a row."""
    if (values < 0).any():
        raise InvalidArgument("Input values must all be non-negative")
    least, most = limits
    size = max(int(values.max(initial=0)) + 1, least) if most < 0 else most
    inside = values < size
    kept = rows[inside], values[inside].astype("int64")
    if (int(rows.max(initial=0)) + 1) * size < _LARGEST:
        numbers, groups = HOST.unique(kept[0] * size + kept[1], return_inverse=True)
        vectors = HOST.stack([numbers // max(size, 1), numbers % max(size, 1)], axis=1)
    else:
        vectors, groups = HOST.unique(HOST.stack(kept, axis=1), axis=0, return_inverse=True)
    counts = HOST.zeros(len(vectors), dtype=weights.dtype)
    if binary:
        counts += HOST.ones((), counts.dtype)
    else:
        amounts = weights.reshape(-1)[inside] if weights.size else HOST.ones((), counts.dtype)
        HOST.add.at(counts, groups.reshape(-1), amounts)
    return vectors, counts, size


@kernel("DenseCountSparseOutput", devices=_CPU)
def dense_count(
    _: ArrayModule,
    values: Array,
    weights: Array,
    *,
    minlength: int,
    maxlength: int,
    binary_output: bool,
) -> tuple[Array, Array, Array]:
    """Sparse counts, or sums of weights, of the numbers of a vector, or of each row of a matrix.

    Raises:
      KernelError: the rank is not 1 or 2, weights have another shape, or a number is negative.

    """
    if values.ndim not in {1, 2}:
        raise InvalidArgument(
            f"Input must be a 1 or 2-dimensional tensor. Got: {list(values.shape)}"
        )
    if weights.size and weights.shape != values.shape:
        raise InvalidArgument(
            "Weights and values must have the same shape. Weight shape: "
            f"{list(weights.shape)}; values shape: {list(values.shape)}"
        )
    lead = values.shape[:-1]
    rows = HOST.repeat(HOST.arange(lead[0] if lead else 1), values.shape[-1])
    vectors, counts, size = _counted(
        rows, values.reshape(-1), weights, (minlength, maxlength), binary=binary_output
    )
    return vectors if lead else vectors[:, 1:], counts, host_array([*lead, size], "int64")


@kernel("SparseCountSparseOutput", devices=_CPU)
def sparse_count(
    _: ArrayModule,
    indices: Array,
    values: Array,
    shape: Array,
    weights: Array,
    *,
    minlength: int,
    maxlength: int,
    binary_output: bool,
) -> tuple[Array, Array, Array]:
    """Sparse counts, or sums of weights, of the numbers of a sparse vector, or of each row.

    Raises:
      KernelError: the parts do not fit, weights have another shape, or a number is negative.

    """
    check_indices(checked(indices, values, shape))
    if weights.size and weights.shape != values.shape:
        raise InvalidArgument(
            "Weights and values must have the same shape. Weight shape: "
            f"{list(weights.shape)}; values shape: {list(values.shape)}"
        )
    is_vector = len(shape) == 1
    if not is_vector and not shape[0]:
        raise InvalidArgument("Cannot allocate 0 batches, is the dense shape too wide?")
    rows = HOST.zeros(len(values), dtype="int64") if is_vector else indices[:, 0]
    vectors, counts, size = _counted(
        rows, values, weights, (minlength, maxlength), binary=binary_output
    )
    sizes = [size] if is_vector else [int(shape[0]), size]
    return vectors[:, 1:] if is_vector else vectors, counts, host_array(sizes, "int64")
