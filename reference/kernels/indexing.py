"""Kernels of gathering, scattering, partitioning, searching and top-k."""

from __future__ import annotations

import math
from collections.abc import Sequence

from sessrun.reference.base.arrays import Array, ArrayModule
from sessrun.reference.base.kernel_errors import InvalidArgument
from sessrun.reference.graph.node_summary import bracketed
from sessrun.reference.kernels.arrays import MOST_DIMENSIONS, checked_shape
from sessrun.reference.kernels.host import HOST, dtype_of, ints, string_array
from sessrun.reference.kernels.index_ranges import (
    index_vectors,
    vectors_within,
    within,
    zeroed,
)
from sessrun.reference.kernels.input_shapes import one_number, require_rank, require_rank_at_least
from sessrun.reference.kernels.reductions import axis_of
from sessrun.reference.kernels.registry import Bind, KernelFunction, binder, kernel
from sessrun.reference.kernels.scatters import SUMS, scatter

__all__ = ["scattered"]


@kernel("Gather")
def gather(xp: ArrayModule, params: Array, indices: Array) -> Array:
    """Slices of params along its first axis."""
    require_rank_at_least(1, params=params)
    indices, inside = within(xp, indices, params.shape[0], "indices")
    return zeroed(xp, params[indices, ...], inside)


@kernel("GatherV2", host_inputs=("axis",))
def gather_v2(
    xp: ArrayModule, params: Array, indices: Array, axis: Array, *, batch_dims: int
) -> Array:
    """Slices of params along an axis, batch by batch."""
    require_rank_at_least(1, params=params)
    dim = axis_of(one_number(axis, "axis"), params.ndim)
    batch = batch_dims + indices.ndim if batch_dims < 0 else batch_dims
    if not 0 <= batch <= min(indices.ndim, dim):
        raise InvalidArgument(f"batch_dims {batch_dims} must be in [0, {min(indices.ndim, dim)}]")
    if params.shape[:batch] != indices.shape[:batch]:
        raise InvalidArgument(
            f"params.shape[:{batch}] {params.shape} should be equal to "
            f"indices.shape[:{batch}] {indices.shape}"
        )
    indices, inside = within(xp, indices, params.shape[dim], "indices")
    if inside is not None:
        alone = (1,) * (dim - batch)
        inside = inside.reshape(indices.shape[:batch] + alone + indices.shape[batch:])
    if batch == 0:
        return zeroed(xp, xp.take(params, indices, axis=dim), inside)
    return zeroed(xp, _gathered_batch(xp, params, indices, dim, batch), inside)


def _gathered_batch(xp: ArrayModule, params: Array, indices: Array, dim: int, batch: int) -> Array:
    """params[b..., i..., indices[b..., j...], k...] as [b..., i..., j..., k...]."""
    middle, own = dim - batch, indices.ndim - batch
    total = dim + own
    index: list[Array] = []
    for axis in range(dim):
        shape = [1] * total
        shape[axis] = params.shape[axis]
        index.append(xp.arange(params.shape[axis]).reshape(shape))
    gathered = indices.reshape((*indices.shape[:batch], *(1,) * middle, *indices.shape[batch:]))
    return params[(*index, gathered, ...)]


@kernel("GatherNd")
def gather_nd(xp: ArrayModule, params: Array, indices: Array) -> Array:
    """Slices of params at index vectors."""
    if indices.ndim and indices.size and not params.size:
        raise InvalidArgument(
            "Requested more than 0 entries, but params is empty. Params shape: "
            f"{bracketed(params.shape)}"
        )
    parts, inside = vectors_within(xp, indices, params.shape, "param shape")
    if not parts:
        return xp.broadcast_to(params, indices.shape[:-1] + params.shape)
    return zeroed(xp, params[(*parts, ...)], inside)


def _check_updates(indices: Array, updates: Array, shape: tuple[int, ...]) -> None:
    require_rank_at_least(1, indices=indices)
    outer, depth = indices.ndim - 1, indices.shape[-1]
    given = bracketed(updates.shape)
    if not outer:  # so TensorFlow has it: one vector alone names no slice
        raise InvalidArgument(
            f"Dimensions [0,1) of indices[shape={bracketed(indices.shape)}] must "
            f"match dimensions [0,1) of updates[shape={given}]"
        )
    if updates.shape[:outer] != indices.shape[:-1]:
        raise InvalidArgument(
            f"Dimensions [0,{outer}) of indices[shape={bracketed(indices.shape)}]"
            f" must match dimensions [0,{outer}) of updates[shape={given}]"
        )
    if updates.shape[outer:] != shape[depth:]:
        raise InvalidArgument(
            f"Dimensions [{depth},{len(shape)}) of input[shape="
            f"{bracketed(shape)}] must match dimensions [{outer},{updates.ndim}) of "
            f"updates[shape={given}]"
        )


def scattered(
    xp: ArrayModule, out: Array, indices: Array, updates: Array, combine: str | None
) -> Array:
    """`out`, which the caller owns, with the updates combined into it."""
    require_rank_at_least(1, out=out)
    _check_updates(indices, updates, out.shape)
    if combine in SUMS:
        parts, inside = vectors_within(xp, indices, out.shape)
        updates = zeroed(xp, updates, inside)
    else:
        parts = index_vectors(xp, indices, out.shape)
    if not updates.size:
        return out
    if combine is not None:
        scatter(xp, combine, out, (*parts, ...), updates)
    else:
        out[(*parts, ...)] = updates
    return out


@kernel("ScatterNd", host_inputs=("shape",))
def scatter_nd(xp: ArrayModule, indices: Array, updates: Array, shape: Array, *, T: str) -> Array:
    """Zeros with the updates added at index vectors; strings are joined."""
    strings = T == "string"
    dims = checked_shape(shape)
    count = 1
    for dim in dims:
        count *= dim
    if updates.size and not (count and indices.size):
        raise InvalidArgument("Indices and updates specified for empty output")
    out = string_array([b""] * count, dims) if strings else xp.zeros(dims, updates.dtype)
    return scattered(xp, out, indices, updates, "add")


def _scatter_into(op_type: str, combine: str | None) -> None:
    @kernel(op_type)
    def compute(xp: ArrayModule, tensor: Array, indices: Array, updates: Array) -> Array:
        if not tensor.size and (indices.size or updates.size):
            raise InvalidArgument("Indices and updates specified for empty output shape")
        return scattered(xp, tensor.copy(), indices, updates, combine)


_scatter_into("TensorScatterUpdate", None)
_scatter_into("TensorScatterAdd", "add")
_scatter_into("ScatterNdNonAliasingAdd", "add")
_scatter_into("TensorScatterSub", "subtract")
_scatter_into("TensorScatterMax", "maximum")
_scatter_into("TensorScatterMin", "minimum")


@kernel("Where")
def where(xp: ArrayModule, x: Array) -> Array:
    """The indices of the elements that are not zero, in C order."""
    if not 1 <= x.ndim <= MOST_DIMENSIONS:
        raise InvalidArgument(
            f"Where takes inputs of rank 1 to {MOST_DIMENSIONS}, got {bracketed(x.shape)}"
        )
    return xp.stack(xp.nonzero(x), axis=-1).astype("int64")


@kernel("OneHot", host_inputs=("depth",))
def one_hot(
    xp: ArrayModule, indices: Array, depth: Array, on_value: Array, off_value: Array, *, axis: int
) -> Array:
    """on_value at the index along a new axis, off_value elsewhere."""
    size = one_number(depth, "depth")
    if size < 0:
        raise InvalidArgument(f"depth must be non-negative, got: {size}")
    dim = axis_of(axis, indices.ndim + 1)
    numbers = xp.arange(size).reshape((size,) + (1,) * (indices.ndim - dim))
    wide = indices.reshape((*indices.shape[:dim], 1, *indices.shape[dim:]))
    return xp.where(wide == numbers, on_value, off_value)


@kernel("DynamicPartition", host_inputs=("partitions",))
def dynamic_partition(
    xp: ArrayModule, data: Array, partitions: Array, *, num_partitions: int
) -> tuple[Array, ...] | Array:
    """The slices of the data, sorted into `num_partitions` tensors."""
    if data.shape[: partitions.ndim] != partitions.shape:
        raise InvalidArgument(
            "data.shape must start with partitions.shape, got data.shape = "
            f"{bracketed(data.shape)}, partitions.shape = "
            f"{bracketed(partitions.shape)}"
        )
    numbers = partitions.reshape(-1)
    wrong = (numbers < 0) | (numbers >= num_partitions)
    if wrong.any():
        flat = int(wrong.argmax())
        position = HOST.unravel_index(flat, partitions.shape)
        raise InvalidArgument(
            f"partitions{bracketed(tuple(map(int, position))) if position else ''} = "
            f"{int(numbers[flat])} is not in [0, {num_partitions})"
        )
    rows = data.reshape((numbers.shape[0], *data.shape[partitions.ndim :]))
    parts = tuple(rows[xp.asarray(numbers == i), ...] for i in range(num_partitions))
    return parts if num_partitions != 1 else parts[0]


def _common_rest(indices: Sequence[Array], data: Sequence[Array]) -> tuple[int, ...]:
    """The shape of the slice of one index, which must be the same in all parts.

    Raises:
      InvalidArgument: data does not begin with its indices' shape, or slices differ in shape.

    """
    first: tuple[int, ...] = data[0].shape[indices[0].ndim :]
    for at, (index, values) in enumerate(zip(indices, data, strict=True)):
        rank, rank_0 = index.ndim, indices[0].ndim
        shape, index_shape = bracketed(values.shape), bracketed(index.shape)
        if values.shape[:rank] != index.shape:
            raise InvalidArgument(
                f"data[{at}].shape = {shape} does not start with "
                f"indices[{at}].shape = {index_shape}"
            )
        if values.shape[rank:] != first:
            raise InvalidArgument(
                f"Need data[0].shape[{rank_0}:] = data[{at}].shape[{rank}:], got "
                f"data[0].shape = {bracketed(data[0].shape)}, data[{at}].shape = "
                f"{shape}, indices[0].shape = {bracketed(indices[0].shape)}, "
                f"indices[{at}].shape = {index_shape}"
            )
    return first


@binder("DynamicStitch", host_inputs=("indices",))
@binder("ParallelDynamicStitch", host_inputs=("indices",))
def dynamic_stitch(bind: Bind) -> KernelFunction:
    """Slices merged at their indices; of those with the same index the last one wins."""
    xp, count = bind.xp, bind.attrs["N"]

    def compute(*inputs: Array) -> Array:
        indices, data = inputs[:count], inputs[count:]
        rest = _common_rest(indices, data)
        targets = [ints(part) for part in indices]
        wrong = next((i for part in targets for i, n in enumerate(part) if n < 0), None)
        if wrong is not None:
            raise InvalidArgument(f"indices[{wrong}] is out of range")
        length = max((max(part) + 1 for part in targets if part), default=0)
        merged = xp.zeros((length, *rest), dtype=data[0].dtype)
        for part, values in zip(targets, data, strict=True):
            rows = values.reshape((len(part), *rest))
            last = {target: row for row, target in enumerate(part)}
            if len(last) < len(part):  # a GPU writes them in any order
                rows = rows[xp.asarray([*last.values()], dtype="int64")]
            if part:
                merged[xp.asarray([*last], dtype="int64")] = rows
        return merged

    return compute


def _top(xp: ArrayModule, x: Array, count: int) -> tuple[Array, Array]:
    if x.ndim < 1 or count < 0 or x.shape[-1] < count:
        raise InvalidArgument(f"input must have at least k={count} columns. Had {x.shape}")
    # A stable sort of the reversed row, read backwards, leaves equals in their order.
    order = xp.argsort(x[..., ::-1], axis=-1, kind="stable")[..., ::-1][..., :count]
    positions = x.shape[-1] - 1 - order
    return xp.take_along_axis(x, positions, axis=-1), positions


@kernel("TopKV2", host_inputs=("k",))
def top_k_v2(xp: ArrayModule, x: Array, k: Array, *, index_type: str) -> tuple[Array, Array]:
    """The k largest elements of each row in descending order, and their positions."""
    dtype = dtype_of(index_type)
    values, positions = _top(xp, x, one_number(k, "k"))
    return values, positions.astype(dtype)


def _in_top(xp: ArrayModule, predictions: Array, targets: Array, count: int) -> Array:
    require_rank(2, predictions=predictions)
    require_rank(1, targets=targets)
    rows, classes = predictions.shape
    if len(targets) != rows:
        raise InvalidArgument(
            f"First dimension of predictions {rows} must match length of targets {len(targets)}"
        )
    inside = (targets >= 0) & (targets < classes)
    if not predictions.size:
        return xp.zeros(targets.shape, dtype=bool)
    own = xp.take_along_axis(predictions, xp.where(inside, targets, 0)[:, None], axis=1)
    better = xp.add.reduce((predictions > own).astype("int64"), axis=1)
    finite = xp.all(xp.isfinite(predictions), axis=1)
    return inside & finite & (better < count)


@kernel("InTopK")
def in_top_k(xp: ArrayModule, predictions: Array, targets: Array, *, k: int) -> Array:
    """Whether fewer than k predictions of the row are above the target's."""
    return _in_top(xp, predictions, targets, k)


@kernel("InTopKV2", host_inputs=("k",))
def in_top_k_v2(xp: ArrayModule, predictions: Array, targets: Array, k: Array) -> Array:
    """Whether fewer than k predictions of the row are above the target's."""
    return _in_top(xp, predictions, targets, one_number(k, "k"))


def _search(op_type: str, side: str) -> None:
    def bind(bind: Bind) -> KernelFunction:
        xp, dtype = bind.xp, dtype_of(bind.attrs["out_type"])

        def compute(rows: Array, values: Array) -> Array:
            for name, given in (("sorted_inputs", rows), ("values", values)):
                require_rank(2, **{name: given})
            if len(rows) != len(values):
                raise InvalidArgument("Leading dim_size of both tensors must match.")
            wide, sought = rows[:, None, :], values[:, :, None]
            before = wide < sought if side == "left" else wide <= sought
            return xp.add.reduce(before.astype(dtype), axis=-1, dtype=dtype)

        return compute

    binder(op_type)(bind)


_search("LowerBound", "left")
_search("UpperBound", "right")


@kernel("ListDiff", devices=("CPU",))
def list_diff(xp: ArrayModule, x: Array, y: Array, *, out_idx: str) -> tuple[Array, Array]:
    """The elements of x that are not in y, and their positions."""
    dtype = dtype_of(out_idx)
    if x.ndim != 1 or y.ndim != 1:
        which = "x" if x.ndim != 1 else "y"
        raise InvalidArgument(f"{which} should be a 1D vector.")
    gone = set(y.tolist())
    positions = [position for position, item in enumerate(x.tolist()) if item not in gone]
    return x[xp.asarray(positions, dtype="int64")], xp.asarray(positions, dtype=dtype)


@kernel("UnravelIndex", host_inputs=("dims",))
def unravel_index(xp: ArrayModule, indices: Array, dims: Array) -> Array:
    """Flat indices as index vectors, one a column."""
    require_rank(1, dims=dims)
    if indices.ndim > 1:
        raise InvalidArgument(f"The indices can only be scalar or vector: {list(indices.shape)}")
    sizes = ints(dims)
    if not indices.size:
        raise InvalidArgument("received empty tensor indices")
    if 0 in sizes:
        raise InvalidArgument(
            f"Input dims cannot contain a dim of zero, but dims contains zero: {sizes}"
        )
    count = math.prod(sizes)
    if count >= 1 << (8 * indices.dtype.itemsize - 1):
        spelled = " ".join(map(str, sizes))
        raise InvalidArgument(f"Input dims product is causing integer overflow: ({spelled})")
    if xp.any(indices >= count):  # negative ones pass: their results are not positive
        raise InvalidArgument(f"index is out of bound as with dims {sizes}")
    out = xp.empty((len(sizes), *indices.shape), dtype=indices.dtype)
    rest = xp.abs(indices)
    for axis in range(len(sizes) - 1, -1, -1):
        out[axis] = rest % sizes[axis]
        rest = rest // sizes[axis]
    return xp.copysign(1, indices).astype(indices.dtype) * out
