"""Kernels that count numbers of sparse tensors, and such that give sparse counts."""

from __future__ import annotations

from typing import Any, Final

from sessrun.reference.base.kernel_errors import InvalidArgument
from sessrun.reference.kernels.host import HOST, host_array, scalar_int
from sessrun.reference.kernels.registry import kernel
from sessrun.reference.kernels.sparse_parts import check_places, checked

__all__: list[str] = []

_CPU: Final = ("CPU",)
_LARGEST: Final = 1 << 63


@kernel("SparseBincount", devices=_CPU)
def sparse_bincount(
    _: Any, indices: Any, values: Any, shape: Any, size: Any, weights: Any, *, binary_output: bool
) -> Any:
    """How often each number below `size` occurs, of all numbers or of each row; or their weights.

    Raises:
      KernelError: the parts do not belong together, the size is negative, or a number of a vector.

    """
    if size.ndim or size < 0:
        raise InvalidArgument(f"size ({size.tolist()}) must be a non-negative scalar")
    check_places(checked(indices, values, shape))
    length, is_vector = scalar_int(size), len(shape) == 1
    # TensorFlow does not ask it of the rows of a matrix, and reads what is behind too few weights.
    unlike = weights.size != values.size if is_vector else weights.size < values.size
    if weights.size and unlike and not binary_output:
        raise InvalidArgument("Input indices and weights must have the same size.")
    if is_vector and (values < 0).any():
        raise InvalidArgument("Input arr must be non-negative!")
    rows = HOST.zeros(len(values), dtype="int64") if is_vector else indices[:, 0]
    bins = HOST.zeros((1 if is_vector else int(shape[0]), length), dtype=weights.dtype)
    inside = (values >= 0) & (values < length)
    places = rows[inside], values[inside]
    if binary_output:
        bins[places] = 1
    else:
        used = weights.reshape(-1)[: len(values)]
        amounts = used[inside] if weights.size else HOST.ones((), weights.dtype)
        HOST.add.at(bins, places, amounts)
    return bins[0] if is_vector else bins


def _counted(
    rows: Any, values: Any, weights: Any, limits: tuple[int, int], *, binary: bool
) -> tuple[Any, Any, int]:
    """The counts of each row's numbers: where they are, what they are, and the size of a row."""
    if (values < 0).any():
        raise InvalidArgument("Input values must all be non-negative")
    least, most = limits
    size = max(int(values.max(initial=0)) + 1, least) if most < 0 else most
    inside = values < size
    kept = rows[inside], values[inside].astype("int64")
    if (int(rows.max(initial=0)) + 1) * size < _LARGEST:
        numbers, groups = HOST.unique(kept[0] * size + kept[1], return_inverse=True)
        places = HOST.stack([numbers // max(size, 1), numbers % max(size, 1)], axis=1)
    else:
        places, groups = HOST.unique(HOST.stack(kept, axis=1), axis=0, return_inverse=True)
    counts = HOST.zeros(len(places), dtype=weights.dtype)
    if binary:
        counts += HOST.ones((), counts.dtype)
    else:
        amounts = weights.reshape(-1)[inside] if weights.size else HOST.ones((), counts.dtype)
        HOST.add.at(counts, groups.reshape(-1), amounts)
    return places, counts, size


@kernel("DenseCountSparseOutput", devices=_CPU)
def dense_count(
    _: Any, values: Any, weights: Any, *, minlength: int, maxlength: int, binary_output: bool
) -> Any:
    """The sparse counts of the numbers of a vector, or of each row of a matrix; or their weights.

    Raises:
      KernelError: another rank, weights of another shape, or a negative number.

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
    places, counts, size = _counted(
        rows, values.reshape(-1), weights, (minlength, maxlength), binary=binary_output
    )
    return places if lead else places[:, 1:], counts, host_array([*lead, size], "int64")


@kernel("SparseCountSparseOutput", devices=_CPU)
def sparse_count(
    _: Any,
    indices: Any,
    values: Any,
    shape: Any,
    weights: Any,
    *,
    minlength: int,
    maxlength: int,
    binary_output: bool,
) -> Any:
    """The sparse counts of the numbers of a sparse vector, or of each first index.

    Raises:
      KernelError: the parts do not belong together, weights of another shape, or a negative
        number.

    """
    check_places(checked(indices, values, shape))
    if weights.size and weights.shape != values.shape:
        raise InvalidArgument(
            "Weights and values must have the same shape. Weight shape: "
            f"{list(weights.shape)}; values shape: {list(values.shape)}"
        )
    is_vector = len(shape) == 1
    if not is_vector and not shape[0]:
        raise InvalidArgument("Cannot allocate 0 batches, is the dense shape too wide?")
    rows = HOST.zeros(len(values), dtype="int64") if is_vector else indices[:, 0]
    places, counts, size = _counted(
        rows, values, weights, (minlength, maxlength), binary=binary_output
    )
    whole = [size] if is_vector else [int(shape[0]), size]
    return places[:, 1:] if is_vector else places, counts, host_array(whole, "int64")
