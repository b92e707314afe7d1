"""Translations of operations on shapes: reshaping, joining, slicing, padding, repeating."""

from __future__ import annotations

import math
from collections.abc import Sequence
from types import EllipsisType

import jax.numpy as jnp
import numpy as np

from sessrun.adapters.jax.rules import ALL, NUMBERS, REALS, Array, Node, numpy_of, plain, rule

__all__ = ["axis_of"]


def axis_of(node: Node, axis: Array, rank: int) -> int:
    """A known axis, counted from the front.

    Raises:
      EngineError: it is not in [-rank, rank).

    """
    number = int(axis)
    node.check(-rank <= number < rank, f"the axis {number} is not in [-{rank}, {rank})")
    return number % rank


def _same(x: Array) -> Array:
    return x


plain(
    {
        "Identity": _same,
        "PlaceholderWithDefault": _same,
        "PreventGradient": _same,
        "Snapshot": _same,
        "StopGradient": _same,
    },
    ALL,
)


@rule("IdentityN", dtypes=ALL)
def _identities(_node: Node, inputs: list[Array]) -> list[Array]:
    return inputs


@rule("EnsureShape", dtypes=ALL)
def _ensure_shape(node: Node, x: Array) -> Array:
    shape = node["shape"]
    fits = shape is None or (
        len(shape) == x.ndim and all(n in {None, m} for n, m in zip(shape, x.shape, strict=True))
    )
    node.check(fits, f"the shape {x.shape} is not {shape}")
    return x


plain({"OnesLike": jnp.ones_like, "ZerosLike": jnp.zeros_like}, ALL)


@rule("Shape", dtypes=ALL)
def _shape(node: Node, x: Array) -> Array:
    return np.array(x.shape, numpy_of(node["out_type"]))


@rule("ShapeN", dtypes=ALL)
def _shapes(node: Node, inputs: list[Array]) -> list[Array]:
    return [np.array(x.shape, numpy_of(node["out_type"])) for x in inputs]


@rule("Size", dtypes=ALL)
def _size(node: Node, x: Array) -> Array:
    return np.asarray(math.prod(x.shape), numpy_of(node["out_type"]))


@rule("Rank", dtypes=ALL)
def _rank(_node: Node, x: Array) -> Array:
    return np.asarray(x.ndim, np.int32)


@rule("Fill", dtypes=ALL, constants="dims")
def _fill(node: Node, dims: Array, value: Array) -> Array:
    node.check(value.ndim == 0, "the value is no scalar")
    return jnp.broadcast_to(value, dims.tolist())


@rule("Reshape", dtypes=ALL, constants="shape")
def _reshape(node: Node, x: Array, shape: Array) -> Array:
    sizes = shape.tolist()
    node.check(all(size >= -1 for size in sizes) and sizes.count(-1) <= 1, f"no shape: {sizes}")
    if -1 in sizes:
        known = math.prod(size for size in sizes if size != -1)
        node.check(known > 0 and x.size % known == 0, f"{x.shape} does not fit {sizes}")
        sizes[sizes.index(-1)] = x.size // known
    node.check(math.prod(sizes) == x.size, f"{x.shape} does not fit {sizes}")
    return jnp.reshape(x, sizes)


@rule("ExpandDims", dtypes=ALL, constants="dim")
def _expand(node: Node, x: Array, dim: Array) -> Array:
    return jnp.expand_dims(x, axis_of(node, dim.reshape(()), x.ndim + 1))


@rule("Squeeze", dtypes=ALL)
def _squeeze(node: Node, x: Array) -> Array:
    axes = [axis_of(node, np.asarray(axis), x.ndim) for axis in node["squeeze_dims"]]
    return jnp.squeeze(x, tuple(axes) if axes else None)


@rule("Transpose", "ConjugateTranspose", dtypes=ALL, constants="perm")
def _transpose(node: Node, x: Array, perm: Array) -> Array:
    axes = [axis_of(node, axis, x.ndim) for axis in perm]
    node.check(sorted(axes) == list(range(x.ndim)), f"{perm.tolist()} is no permutation")
    moved = jnp.transpose(x, axes)
    return jnp.conj(moved) if node.op == "ConjugateTranspose" else moved


@rule("ConcatV2", dtypes=ALL, constants="axis")
def _concatenate(node: Node, values: list[Array], axis: Array) -> Array:
    return jnp.concatenate(values, axis_of(node, axis, values[0].ndim))


@rule("Concat", dtypes=ALL, constants="concat_dim")
def _concatenate_old(node: Node, axis: Array, values: list[Array]) -> Array:
    return _concatenate(node, values, axis)


@rule("Pack", dtypes=ALL)
def _pack(node: Node, values: list[Array]) -> Array:
    return jnp.stack(values, axis_of(node, np.asarray(node["axis"]), values[0].ndim + 1))


@rule("Unpack", dtypes=ALL)
def _unpack(node: Node, value: Array) -> list[Array]:
    axis = axis_of(node, np.asarray(node["axis"]), value.ndim)
    node.check(value.shape[axis] == node["num"], f"{value.shape[axis]} elements on its axis")
    return [jnp.squeeze(part, axis) for part in _parts(value, [1] * node["num"], axis)]


@rule("Split", dtypes=ALL, constants="split_dim")
def _split(node: Node, split_dim: Array, value: Array) -> list[Array]:
    axis, count = axis_of(node, split_dim, value.ndim), node["num_split"]
    size = value.shape[axis]
    node.check(size % count == 0, f"{size} elements cannot be split into {count} parts")
    return _parts(value, [size // count] * count, axis)


@rule("SplitV", dtypes=ALL, constants="size_splits split_dim")
def _split_sizes(node: Node, value: Array, size_splits: Array, split_dim: Array) -> list[Array]:
    axis, sizes = axis_of(node, split_dim, value.ndim), size_splits.tolist()
    size = value.shape[axis]
    if -1 in sizes:
        sizes[sizes.index(-1)] = size - sum(sizes) - 1
    node.check(min(sizes) >= 0 and sum(sizes) == size, f"the sizes {sizes} are not those of {size}")
    return _parts(value, sizes, axis)


def _parts(value: Array, sizes: Sequence[int], axis: int) -> list[Array]:
    """Consecutive parts along an axis."""
    ends = np.cumsum(sizes).tolist()
    before = (slice(None),) * axis
    return [value[(*before, slice(end - size, end))] for size, end in zip(sizes, ends, strict=True)]


@rule("Slice", dtypes=ALL, constants="begin size")
def _slice(node: Node, x: Array, begin: Array, size: Array) -> Array:
    node.check(begin.shape == size.shape == (x.ndim,), "begin or size are not of the rank")
    parts = []
    for first, count, limit in zip(begin.tolist(), size.tolist(), x.shape, strict=True):
        end = limit if count == -1 else first + count
        node.check(0 <= first <= end <= limit, f"a slice of {first} to {end} of {limit}")
        parts.append(slice(first, end))
    return x[tuple(parts)]


@rule("StridedSlice", dtypes=ALL, constants="begin end strides")
def _strided_slice(node: Node, x: Array, begin: Array, end: Array, strides: Array) -> Array:
    return x[tuple(_index(node, x.shape, begin.tolist(), end.tolist(), strides.tolist()))]


def _index(
    node: Node, shape: Sequence[int], begin: list[int], end: list[int], strides: list[int]
) -> list[int | slice | EllipsisType | None]:
    """The Python index that a strided slice means."""
    masks = {
        name: node[f"{name}_mask"]
        for name in ("begin", "end", "ellipsis", "new_axis", "shrink_axis")
    }

    def has(name: str, position: int) -> bool:
        return bool(masks[name] >> position & 1)

    positions = range(len(begin))
    added = [has("new_axis", n) and not has("ellipsis", n) for n in positions]
    ellipses = [n for n in positions if has("ellipsis", n)]
    node.check(len(ellipses) <= 1, "there is more than one ellipsis")
    after = sum(not added[n] for n in positions[ellipses[0] + 1 :]) if ellipses else 0
    index: list[int | slice | EllipsisType | None] = []
    axis = 0
    for n in positions:
        if n in ellipses:
            index.append(Ellipsis)
            axis = len(shape) - after
        elif added[n]:
            index.append(None)
        else:
            node.check(axis < len(shape), "there are more indices than axes")
            node.check(strides[n] != 0, "a stride is 0")
            if has("shrink_axis", n):
                limit = shape[axis]
                node.check(strides[n] > 0, "a stride of a single index is negative")
                node.check(-limit <= begin[n] < limit, f"the index {begin[n]} is out of bounds")
                index.append(begin[n] % limit)
            else:
                index.append(
                    _piece(
                        None if has("begin", n) else begin[n],
                        None if has("end", n) else end[n],
                        strides[n],
                        shape[axis],
                    )
                )
            axis += 1
    return index


def _piece(begin: int | None, end: int | None, stride: int, limit: int) -> slice:
    """A slice without numbers that count from the back; numpy has no other end before the first."""
    first, last, step = slice(begin, end, stride).indices(limit)
    if first < 0:  # backwards from before the first element: there is none
        return slice(0, 0)
    return slice(first, None if last < 0 else last, step)


@rule("Tile", dtypes=ALL, constants="multiples")
def _tile(node: Node, x: Array, multiples: Array) -> Array:
    node.check(multiples.shape == (x.ndim,), "there is not one multiple an axis")
    return jnp.tile(x, multiples.tolist())


@rule("Pad", dtypes=ALL, constants="paddings")
def _pad(node: Node, x: Array, paddings: Array) -> Array:
    return _pad_with(node, x, paddings, np.zeros((), x.dtype))


@rule("PadV2", dtypes=ALL, constants="paddings")
def _pad_with(node: Node, x: Array, paddings: Array, value: Array) -> Array:
    node.check(paddings.shape == (x.ndim, 2), "there is not one pair of paddings an axis")
    return jnp.pad(x, paddings, constant_values=value)


@rule("MirrorPad", dtypes=ALL, constants="paddings")
def _mirror_pad(node: Node, x: Array, paddings: Array) -> Array:
    """The tensor mirrored at its edges, which `SYMMETRIC` repeats."""
    node.check(paddings.shape == (x.ndim, 2), "there is not one pair of paddings an axis")
    symmetric = node["mode"] == "SYMMETRIC"
    for size, pair in zip(x.shape, paddings.tolist(), strict=True):
        most = size if symmetric else size - 1
        node.check(max(pair) <= max(most, 0), f"the paddings {pair} are larger than {most}")
    if not paddings.any():
        return x
    return jnp.pad(x, paddings, mode="symmetric" if symmetric else "reflect")


@rule("BroadcastTo", dtypes=ALL, constants="shape")
def _broadcast_to(_node: Node, x: Array, shape: Array) -> Array:
    return jnp.broadcast_to(x, shape.tolist())


@rule("BroadcastArgs", dtypes=REALS, constants="s0 s1")
def _broadcast_shapes(_node: Node, first: Array, second: Array) -> Array:
    shape = np.broadcast_shapes(tuple(first.tolist()), tuple(second.tolist()))
    return np.array(shape, first.dtype)


@rule("ReverseV2", dtypes=ALL, constants="axis")
def _reverse(node: Node, x: Array, axis: Array) -> Array:
    return jnp.flip(x, tuple(axis_of(node, number, x.ndim) for number in axis))


@rule("Reverse", dtypes=ALL, constants="dims")
def _reverse_marked(node: Node, x: Array, dims: Array) -> Array:
    node.check(dims.shape == (x.ndim,), "there is not one mark an axis")
    return jnp.flip(x, tuple(np.flatnonzero(dims).tolist()))


@rule("Roll", dtypes=ALL, constants="shift axis")
def _roll(node: Node, x: Array, shift: Array, axis: Array) -> Array:
    axes = [axis_of(node, number, x.ndim) for number in axis.reshape(-1)]
    for number, count in zip(axes, shift.reshape(-1).tolist(), strict=True):
        x = jnp.roll(x, count, number)
    return x


@rule("Range", dtypes=NUMBERS, constants="start limit delta")
def _range(node: Node, start: Array, limit: Array, delta: Array) -> Array:
    """Numbers counted in float64 or int64, as their exact number of steps is."""
    wide = np.int64 if np.issubdtype(start.dtype, np.integer) else np.float64
    first, last, step = (value.astype(wide) for value in (start, limit, delta))
    node.check(bool(step != 0), "delta is 0")
    node.check(bool((last - first) * np.sign(step) >= 0), "delta leads away from the limit")
    count = int(np.ceil((last - first) / step))
    return (first + step * np.arange(count)).astype(start.dtype)


@rule("LinSpace", dtypes=NUMBERS, constants="num")
def _line(node: Node, start: Array, stop: Array, num: Array) -> Array:
    node.check(int(num) > 0, "num is not positive")
    return jnp.linspace(start, stop, int(num), dtype=start.dtype)
