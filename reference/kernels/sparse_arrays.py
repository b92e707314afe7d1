"""Kernels that move the elements of sparse tensors: joined, divided, reshaped, filled up."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

from sessrun.reference.base.kernel_errors import InvalidArgument
from sessrun.reference.graph.node_summary import bracketed
from sessrun.reference.kernels.host import HOST, full, host_array, scalar_int
from sessrun.reference.kernels.registry import Bind, binder, kernel
from sessrun.reference.kernels.sparse_parts import (
    Sparse,
    check_extent,
    check_places,
    checked,
    numbered,
    placed,
    row_numbers,
)

__all__: list[str] = []

_CPU: Final = ("CPU",)


@binder("SparseConcat", devices=_CPU)
def sparse_concat(bind: Bind) -> Any:
    """Tensors one behind the other along a dimension, the elements in order."""
    count, dim = bind.attrs["N"], bind.attrs["concat_dim"]

    def compute(*parts: Any) -> Any:
        kinds = parts[:count], parts[count : 2 * count], parts[2 * count :]
        tensors = [checked(*each) for each in zip(*kinds, strict=True)]
        rank = len(tensors[0].shape)
        if not -rank <= dim < rank:
            raise InvalidArgument(f"Concat dimension must be in range [{-rank}, {rank}), got {dim}")
        return _joined(tensors, dim % rank)

    return compute


def _joined(tensors: Sequence[Sparse], axis: int) -> Any:
    shapes = [tensor.shape.tolist() for tensor in tensors]
    shape, parts = list(shapes[0]), []
    shape[axis] = 0
    for tensor, own in zip(tensors, shapes, strict=True):
        if len(own) != len(shape):
            raise InvalidArgument(
                f"Ranks of all input tensors must match: expected {len(shape)} but got {len(own)}"
            )
        for other, (wanted, found) in enumerate(zip(shape, own, strict=True)):
            if other != axis and wanted != found:
                raise InvalidArgument(
                    f"Input shapes must match: expected {wanted} for "
                    f"dimension {other} but got {found}"
                )
        moved = tensor.indices.copy()
        moved[:, axis] += shape[axis]
        parts.append(moved)
        shape[axis] += own[axis]
    indices = HOST.concatenate(parts)
    order = HOST.argsort(row_numbers(shape, indices)[0], kind="stable")
    values = HOST.concatenate([tensor.values for tensor in tensors])
    return indices[order], values[order], host_array(shape, "int64")


@binder("SparseSplit", devices=_CPU)
def sparse_split(bind: Bind) -> Any:
    """Parts along a dimension, the first ones longer by 1 where it does not divide evenly."""
    count = bind.attrs["num_split"]

    def compute(split_dim: Any, indices: Any, values: Any, shape: Any) -> Any:
        whole = checked(indices, values, shape)
        rank = len(shape)
        if split_dim.ndim:
            raise InvalidArgument(
                f"Input axis should be a scalar but received shape {bracketed(split_dim.shape)}"
            )
        axis = scalar_int(split_dim)
        if not -rank <= axis < rank:
            raise InvalidArgument(f"Input axis should be in range [{-rank}, {rank}), got {axis}")
        axis %= rank
        size = int(shape[axis])
        if not 1 <= count <= size:
            raise InvalidArgument(
                f"Input num_split should be between 1 and the splitting "
                f"dimension size ({size}), got {count}"
            )
        outside = ((indices < 0) | (indices >= shape)).any(axis=1)
        if outside.any():
            row = int(outside.argmax())
            raise InvalidArgument(
                f"Sparse index tuple indices[{row}, :] = {indices[row].tolist()} is out of bounds"
            )
        parts = _divided(whole, axis, count)
        return tuple(part for kind in zip(*parts, strict=True) for part in kind)

    return compute


def _divided(whole: Sparse, axis: int, count: int) -> list[Sparse]:
    size, longer = divmod(int(whole.shape[axis]), count)
    parts, start = [], 0
    for number in range(count):
        end = start + size + (number < longer)
        own = (whole.indices[:, axis] >= start) & (whole.indices[:, axis] < end)
        indices, shape = whole.indices[own], whole.shape.copy()
        indices[:, axis] -= start
        shape[axis] = end - start
        parts.append(Sparse(indices, whole.values[own], shape))
        start = end
    return parts


@kernel("SparseSlice", devices=_CPU)
def sparse_slice(xp: Any, indices: Any, values: Any, shape: Any, start: Any, size: Any) -> Any:
    """The elements in a box, which begins at `start` and ends with the tensor."""
    check_extent(checked(indices, values, shape))
    if start.shape != shape.shape or size.shape != shape.shape:
        raise InvalidArgument(f"Expected start and size to be vectors of length {len(shape)}")
    if (size < 0).any():
        raise InvalidArgument(f"Expected a non-negative size, got {int(size.min())}")
    inside = ((indices >= start) & (indices < start + size)).all(axis=1)
    ends = xp.clip(xp.minimum(size, shape - start), 0, None)
    return indices[inside] - start, values[inside], ends


@kernel("SparseSliceGrad", devices=_CPU)
def sparse_slice_grad(xp: Any, grad: Any, indices: Any, start: Any, sliced: Any) -> Any:
    """For the elements of the whole what came back for the slice's, 0 for those outside."""
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
    whole, part = row_numbers(bounds.tolist(), indices, moved)
    chosen = xp.isin(whole, part)
    result = xp.zeros(len(whole), dtype=grad.dtype)
    if int(chosen.sum()) != len(grad):
        raise InvalidArgument("Elements of backprop_val_grad aren't all propagated.")
    result[chosen] = grad
    return result


@kernel("SparseReshape", devices=_CPU)
def sparse_reshape(_: Any, indices: Any, shape: Any, new_shape: Any) -> Any:
    """The indices of the same elements in another shape, of which one size may be left open."""
    if indices.ndim != 2 or shape.ndim != 1 or new_shape.ndim != 1:
        raise InvalidArgument("Input indices should be a matrix, the shapes vectors")
    if indices.shape[1] != len(shape):
        raise InvalidArgument(f"Input shape rank {len(shape)} is not that of the indices")
    old, sizes = shape.tolist(), new_shape.tolist()
    if min(old, default=0) < 0:
        raise InvalidArgument(f"Input shape {old} has a negative size")
    found = _completed(math.prod(old), sizes)
    return placed(numbered(indices, old), found), host_array(found, "int64")


def _completed(count: int, sizes: list[int]) -> list[int]:
    """The sizes, the one that is -1 found from how many elements there are."""
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
def sparse_fill_empty_rows(_: Any, indices: Any, values: Any, shape: Any, default: Any) -> Any:
    """Rows without elements get one, the default, at their beginning.

    Returns:
      Indices, values, which rows were empty, and where each element of the input went.

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
    places = HOST.empty(len(rows), dtype="int64")
    places[order] = HOST.arange(len(rows)) + filled_before[rows[order]]
    total = len(rows) + int(empty.sum())
    filled = full(HOST, (total,), default, values.dtype)
    filled[places] = values
    result = HOST.zeros((total, indices.shape[1]), dtype="int64")
    firsts = HOST.cumsum(counts) + filled_before - counts - 1  # of an empty row its own
    result[firsts[empty], 0] = HOST.flatnonzero(empty)
    result[places] = indices
    return result, filled, empty, places


@kernel("SparseFillEmptyRowsGrad", devices=_CPU)
def sparse_fill_empty_rows_grad(xp: Any, places: Any, grad: Any) -> Any:
    """What came back for the elements of the input, and the sum of the rest for the default."""
    if places.ndim != 1 or grad.ndim != 1:
        raise InvalidArgument("reverse_index_map and grad_values must be vectors")
    if ((places < 0) | (places >= len(grad))).any():
        raise InvalidArgument(f"Elements in reverse index must be in [0, {len(grad)})")
    others = xp.ones(len(grad), dtype="bool")
    others[places] = False
    rest = grad[others]
    wide = rest.astype("float32") if rest.dtype.itemsize == 2 and rest.dtype.kind in "fV" else rest
    return grad[places], xp.asarray(wide.sum(), dtype=grad.dtype)


@kernel("SparseToDense", devices=_CPU)
def sparse_to_dense(
    _: Any, indices: Any, shape: Any, values: Any, default: Any, *, validate_indices: bool
) -> Any:
    """A tensor of one value with others written at given places."""
    if indices.ndim > 2:
        raise InvalidArgument(
            "sparse_indices should be a scalar, vector, or matrix, got "
            f"shape {bracketed(indices.shape)}"
        )
    places = indices if indices.ndim == 2 else indices.reshape((-1, 1))
    count, rank = places.shape
    if shape.ndim != 1:
        raise InvalidArgument(f"output_shape must be rank 1, got shape {bracketed(shape.shape)}")
    if len(shape) != rank:
        raise InvalidArgument(
            f"output_shape has incorrect number of elements: {len(shape)} should be: {rank}"
        )
    if values.shape not in {(), (count,)}:
        raise InvalidArgument(
            f"sparse_values has incorrect shape "
            f"{bracketed(values.shape)}, should be [] or [{count}]"
        )
    if default.ndim:
        raise InvalidArgument("default_value should be a scalar.")
    sparse = Sparse(places, values, shape)
    check_extent(sparse)
    if not validate_indices and ((places < 0) | (places >= shape)).any():
        raise InvalidArgument(f"Indices are not valid (out of bounds).  Shape: {bracketed(shape)}")
    if validate_indices:
        check_places(sparse, order=True)
    out = full(HOST, shape.tolist(), default, default.dtype)
    out[tuple(places.T)] = values
    return out
