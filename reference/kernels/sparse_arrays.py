"""Kernels that rearrange sparse tensors: concat, split, slice, reshape, fill, to dense."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from sessrun.reference.base.arrays import Array, ArrayModule
from sessrun.reference.base.kernel_errors import InvalidArgument
from sessrun.reference.graph.node_summary import bracketed
from sessrun.reference.kernels.host import HOST, full, host_array, ints, scalar_int
from sessrun.reference.kernels.input_shapes import require_rank
from sessrun.reference.kernels.registry import kernel
from sessrun.reference.kernels.sparse_parts import (
    Sparse,
    check_extent,
    check_indices,
    checked,
    numbered,
    row_numbers,
    unravelled,
)

_CPU: Final = ("CPU",)


@kernel("SparseConcat", devices=_CPU)
def sparse_concat(
    _: ArrayModule, *parts: Array, N: int, concat_dim: int
) -> tuple[Array, Array, Array]:
    """Sparse tensors concatenated along a dimension, with sorted elements."""
    kinds = parts[:N], parts[N : 2 * N], parts[2 * N :]
    tensors = [checked(*parts_of_one) for parts_of_one in zip(*kinds, strict=True)]
    rank = len(tensors[0].shape)
    if not -rank <= concat_dim < rank:
        raise InvalidArgument(
            f"Concat dimension must be in range [{-rank}, {rank}), got {concat_dim}"
        )
    return _joined(tensors, concat_dim % rank)


def _joined(tensors: Sequence[Sparse], axis: int) -> tuple[Array, Array, Array]:
    shapes = [tensor.shape.tolist() for tensor in tensors]
    shape, parts = list(shapes[0]), []
    shape[axis] = 0
    for tensor, own in zip(tensors, shapes, strict=True):
        if len(own) != len(shape):
            raise InvalidArgument(
                f"Ranks of all input tensors must match: expected {len(shape)} but got {len(own)}"
            )
        for other, (wanted, size) in enumerate(zip(shape, own, strict=True)):
            if other != axis and wanted != size:
                raise InvalidArgument(
                    f"Input shapes must match: expected {wanted} for "
                    f"dimension {other} but got {size}"
                )
        moved = tensor.indices.copy()
        moved[:, axis] += shape[axis]
        parts.append(moved)
        shape[axis] += own[axis]
    indices = HOST.concatenate(parts)
    order = HOST.argsort(row_numbers(shape, indices)[0], kind="stable")
    values = HOST.concatenate([tensor.values for tensor in tensors])
    return indices[order], values[order], host_array(shape, "int64")


@kernel("SparseSplit", devices=_CPU)
def sparse_split(
    _: ArrayModule, split_dim: Array, indices: Array, values: Array, shape: Array, *, num_split: int
) -> tuple[Array, ...]:
    """Parts along a dimension; the first ones are longer by 1 if it does not divide evenly."""
    sparse = checked(indices, values, shape)
    rank = len(shape)
    require_rank(0, split_dim=split_dim)
    axis = scalar_int(split_dim)
    if not -rank <= axis < rank:
        raise InvalidArgument(f"Input axis should be in range [{-rank}, {rank}), got {axis}")
    axis %= rank
    size = int(shape[axis])
    if not 1 <= num_split <= size:
        raise InvalidArgument(
            f"Input num_split should be between 1 and the splitting "
            f"dimension size ({size}), got {num_split}"
        )
    outside = ((indices < 0) | (indices >= shape)).any(axis=1)
    if outside.any():
        row = int(outside.argmax())
        raise InvalidArgument(
            f"Sparse index tuple indices[{row}, :] = {indices[row].tolist()} is out of bounds"
        )
    parts = _divided(sparse, axis, num_split)
    return tuple(part for kind in zip(*parts, strict=True) for part in kind)


def _divided(sparse: Sparse, axis: int, count: int) -> list[Sparse]:
    size, longer = divmod(int(sparse.shape[axis]), count)
    parts, start = [], 0
    for number in range(count):
        end = start + size + (number < longer)
        own = (sparse.indices[:, axis] >= start) & (sparse.indices[:, axis] < end)
        indices, shape = sparse.indices[own], sparse.shape.copy()
        indices[:, axis] -= start
        shape[axis] = end - start
        parts.append(Sparse(indices, sparse.values[own], shape))
        start = end
    return parts


@kernel("SparseSlice", devices=_CPU)
def sparse_slice(
    xp: ArrayModule, indices: Array, values: Array, shape: Array, start: Array, size: Array
) -> tuple[Array, Array, Array]:
    """The elements in a box from `start` of at most the given size."""
    check_extent(checked(indices, values, shape))
    if start.shape != shape.shape or size.shape != shape.shape:
        raise InvalidArgument(f"Expected start and size to be vectors of length {len(shape)}")
    if (size < 0).any():
        raise InvalidArgument(f"Expected a non-negative size, got {int(size.min())}")
    inside = ((indices >= start) & (indices < start + size)).all(axis=1)
    ends = xp.clip(xp.minimum(size, shape - start), 0, None)
    return indices[inside] - start, values[inside], ends


@kernel("SparseSliceGrad", devices=_CPU)
def sparse_slice_grad(
    xp: ArrayModule, grad: Array, indices: Array, start: Array, sliced: Array
) -> Array:
    """The gradients of the slice's elements for those of the input, 0 for those outside."""
    if grad.ndim != 1 or indices.ndim != 2 or sliced.ndim != 2 or start.ndim != 1:
        raise InvalidArgument(
            "backprop_val_grad and input_start should be vectors, indices matrices"
        )
    if indices.shape[1] != sliced.shape[1] or start.shape[0] != indices.shape[1]:
        raise InvalidArgument("The ranks of the indices and of the start should be the same")
    if len(grad) != len(sliced):
        raise InvalidArgument(f"backprop_val_grad has {len(grad)} elements, not {len(sliced)}")
    moved = sliced + start
    bounds = xp.max(xp.concatenate([indices, moved]), axis=0, initial=0) + 1
    keys, sliced_keys = row_numbers(bounds.tolist(), indices, moved)
    chosen = xp.isin(keys, sliced_keys)
    result = xp.zeros(len(keys), dtype=grad.dtype)
    if int(chosen.sum()) != len(grad):
        raise InvalidArgument("Elements of backprop_val_grad aren't all propagated.")
    result[chosen] = grad
    return result


@kernel("SparseReshape", devices=_CPU)
def sparse_reshape(
    _: ArrayModule, indices: Array, shape: Array, new_shape: Array
) -> tuple[Array, Array]:
    """The indices of the same elements in another shape, of which one size may be -1."""
    if indices.ndim != 2 or shape.ndim != 1 or new_shape.ndim != 1:
        raise InvalidArgument("Input indices should be a matrix, the shapes vectors")
    if indices.shape[1] != len(shape):
        raise InvalidArgument(f"Input shape rank {len(shape)} is not that of the indices")
    old, sizes = shape.tolist(), new_shape.tolist()
    if min(old, default=0) < 0:
        raise InvalidArgument(f"Input shape {old} has a negative size")
    sizes_of_output = _completed(math.prod(old), sizes)
    return unravelled(numbered(indices, old), sizes_of_output), host_array(sizes_of_output, "int64")


def _completed(count: int, sizes: list[int]) -> list[int]:
    """The sizes, with -1 replaced so that there are `count` elements."""
    if sizes.count(-1) > 1 or any(size < -1 for size in sizes):
        raise InvalidArgument(f"size {sizes} must be non-negative, only one may be -1")
    if -1 in sizes:
        rest = math.prod(size for size in sizes if size != -1)
        if not rest or count % rest:
            raise InvalidArgument(
                f"Input to reshape is a SparseTensor with {count} dense "
                f"values, not a multiple of the requested shape {sizes}"
            )
        sizes = [count // rest if size == -1 else size for size in sizes]
    if math.prod(sizes) != count:
        raise InvalidArgument(
            f"Input to reshape is a tensor with {count} dense values, but "
            f"the requested shape {sizes} has {math.prod(sizes)}"
        )
    return sizes


@kernel("SparseFillEmptyRows", devices=_CPU)
def sparse_fill_empty_rows(
    _: ArrayModule, indices: Array, values: Array, shape: Array, default: Array
) -> tuple[Array, Array, Array, Array]:
    """Adds an element, the default, at the beginning of rows without elements.

    Returns:
      Indices, values, which rows were empty, and the new position of each element of the input.

    """
    checked(indices, values, shape)
    if default.ndim or not len(shape):
        raise InvalidArgument("default_value must be a scalar, dense_shape not empty")
    rows, count = indices[:, 0], int(shape[0])
    outside = (rows < 0) | (rows >= count)
    if outside.any():
        raise InvalidArgument(
            f"indices({int(outside.argmax())}, 0) is invalid: "
            f"{int(rows[outside.argmax()])} >= {count}"
        )
    counts = HOST.bincount(rows, minlength=count)
    empty = counts == 0
    # A dozen passes over the elements, where TensorFlow has two: five times its time.
    filled_before = HOST.cumsum(empty)
    order = slice(None) if (rows[1:] >= rows[:-1]).all() else HOST.argsort(rows, kind="stable")
    targets = HOST.empty(len(rows), dtype="int64")
    targets[order] = HOST.arange(len(rows)) + filled_before[rows[order]]
    total = len(rows) + int(empty.sum())
    filled = full(HOST, (total,), default, values.dtype)
    filled[targets] = values
    result = HOST.zeros((total, indices.shape[1]), dtype="int64")
    firsts = HOST.cumsum(counts) + filled_before - counts - 1  # for an empty row its own
    result[firsts[empty], 0] = HOST.flatnonzero(empty)
    result[targets] = indices
    return result, filled, empty, targets


@kernel("SparseFillEmptyRowsGrad", devices=_CPU)
def sparse_fill_empty_rows_grad(
    xp: ArrayModule, targets: Array, grad: Array
) -> tuple[Array, Array]:
    """The gradients of the input's elements, and the sum of the others for the default."""
    require_rank(1, targets=targets, grad=grad)
    if ((targets < 0) | (targets >= len(grad))).any():
        raise InvalidArgument(f"Elements in reverse index must be in [0, {len(grad)})")
    others = xp.ones(len(grad), dtype="bool")
    others[targets] = False
    rest = grad[others]
    wide = rest.astype("float32") if rest.dtype.itemsize == 2 and rest.dtype.kind in "fV" else rest
    return grad[targets], xp.asarray(wide.sum(), dtype=grad.dtype)


@kernel("SparseToDense", devices=_CPU)
def sparse_to_dense(
    _: ArrayModule,
    indices: Array,
    shape: Array,
    values: Array,
    default: Array,
    *,
    validate_indices: bool,
) -> Array:
    """A dense tensor of a default value with other values at given indices."""
    if indices.ndim > 2:
        raise InvalidArgument(
            "sparse_indices should be a scalar, vector, or matrix, got "
            f"shape {bracketed(indices.shape)}"
        )
    vectors = indices if indices.ndim == 2 else indices.reshape((-1, 1))
    count, rank = vectors.shape
    require_rank(1, output_shape=shape)
    if len(shape) != rank:
        raise InvalidArgument(
            f"output_shape has incorrect number of elements: {len(shape)} should be: {rank}"
        )
    if values.shape not in {(), (count,)}:
        raise InvalidArgument(
            f"sparse_values has incorrect shape "
            f"{bracketed(values.shape)}, should be [] or [{count}]"
        )
    require_rank(0, default_value=default)
    sparse = Sparse(vectors, values, shape)
    check_extent(sparse)
    if not validate_indices and ((vectors < 0) | (vectors >= shape)).any():
        raise InvalidArgument(
            f"Indices are not valid (out of bounds).  Shape: {bracketed(tuple(ints(shape)))}"
        )
    if validate_indices:
        check_indices(sparse, order=True)
    out = full(HOST, shape.tolist(), default, default.dtype)
    out[tuple(vectors.T)] = values
    return out
