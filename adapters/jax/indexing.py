"""Translations of gathering, scattering, searching, and sequences reversed in parts.

An index that is out of range is an error in TensorFlow on a CPU. A compiled program cannot raise:
there it gives what TensorFlow documents for a GPU: zeros are gathered, and nothing is scattered.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np

from sessrun.adapters.jax.arrays import axis_of
from sessrun.adapters.jax.rules import ALL, NUMBERS, REALS, Array, Node, rule

__all__: list[str] = []


@rule("Gather", dtypes=ALL)
def _gather(node: Node, params: Array, indices: Array) -> Array:
    return _gathered(node, params, indices, 0, 0)


@rule("GatherV2", dtypes=ALL, constants="axis")
def _gather_axis(node: Node, params: Array, indices: Array, axis: Array) -> Array:
    batch = node["batch_dims"]
    return _gathered(
        node, params, indices, axis_of(node, axis, params.ndim), batch + (batch < 0) * indices.ndim
    )


def _gathered(node: Node, params: Array, indices: Array, axis: int, batch: int) -> Array:
    """Slices of an axis by index, the first `batch` axes of both being common."""
    node.check(0 <= batch <= min(axis, indices.ndim), f"batch_dims cannot be {batch}")
    node.check(params.shape[:batch] == indices.shape[:batch], "the batches differ")
    limit = params.shape[axis]
    node.check_range(indices, limit)
    inner = indices.shape[batch:]
    shape = (*params.shape[:axis], *inner, *params.shape[axis + 1 :])
    if math.prod(shape) == 0 or limit == 0:
        return jnp.zeros(shape, params.dtype)
    safe = jnp.clip(indices, 0, limit - 1)

    def take(values: Array, places: Array) -> Array:
        return jnp.take(values, places, axis=axis - batch)

    for _ in range(batch):
        take = jax.vmap(take)
    is_inside = (indices == safe).reshape(
        (*indices.shape[:batch], *(1,) * (axis - batch), *inner, *(1,) * (params.ndim - axis - 1))
    )
    return jnp.where(is_inside, take(params, safe), jnp.zeros((), params.dtype))


@rule("GatherNd", dtypes=ALL)
def _gather_nd(node: Node, params: Array, indices: Array) -> Array:
    depth = indices.shape[-1]
    node.check(depth <= params.ndim, "an index has more numbers than axes")
    limits = params.shape[:depth]
    if node["bad_indices_policy"] != "IGNORE":
        node.check_range(indices, limits)
    shape = (*indices.shape[:-1], *params.shape[depth:])
    if math.prod(shape) == 0 or 0 in limits:
        return jnp.zeros(shape, params.dtype)
    safe = jnp.clip(indices, 0, np.array(limits, indices.dtype) - 1)
    is_inside = jnp.all(indices == safe, axis=-1)
    values = params[tuple(safe[..., n] for n in range(depth))] if depth else params
    is_inside = is_inside.reshape(is_inside.shape + (1,) * (params.ndim - depth))
    return jnp.where(is_inside, values, jnp.zeros((), params.dtype))


def _scatter_into(node: Node, target: Array, indices: Array, updates: Array, how: str) -> Array:
    """The target with updates added, set … (`how` is a method of `target.at[…]`) at indices."""
    depth = indices.shape[-1]
    node.check(depth <= target.ndim, "an index has more numbers than axes")
    shape = (*indices.shape[:-1], *target.shape[depth:])
    node.check(updates.shape == shape, f"the updates are {updates.shape}, not {shape}")
    limits = target.shape[:depth]
    if node["bad_indices_policy"] != "IGNORE":
        node.check_range(indices, limits)
    if not depth:
        count = math.prod(indices.shape[:-1])
        target = jnp.asarray(target)
        for row in jnp.reshape(updates, (count, *target.shape)):
            target = getattr(target.at[...], how)(row)
        return target
    if math.prod(shape) == 0 or target.size == 0:
        return target
    bounds = np.array(limits, indices.dtype)
    places = jnp.where(indices < 0, bounds, indices)  # what is negative would count from the back
    index = tuple(places[..., n] for n in range(depth))
    scattered: Array = getattr(jnp.asarray(target).at[index], how)(updates, mode="drop")
    return scattered


@rule("ScatterNd", dtypes=NUMBERS, constants="shape")
def _scatter_nd(node: Node, indices: Array, updates: Array, shape: Array) -> Array:
    zeros = jnp.zeros(shape.tolist(), updates.dtype)
    return _scatter_into(node, zeros, indices, updates, "add")


def _scatter(how: str, sign: int = 1) -> Callable[..., Array]:
    def translate(node: Node, target: Array, indices: Array, updates: Array) -> Array:
        return _scatter_into(node, target, indices, updates if sign > 0 else -updates, how)

    return translate


rule("TensorScatterAdd", dtypes=NUMBERS)(_scatter("add"))
rule("TensorScatterSub", dtypes=NUMBERS)(_scatter("add", -1))
rule("TensorScatterMax", dtypes=REALS)(_scatter("max"))
rule("TensorScatterMin", dtypes=REALS)(_scatter("min"))
rule("TensorScatterUpdate", dtypes=ALL)(_scatter("set"))


@rule("OneHot", dtypes=ALL, constants="depth")
def _one_hot(node: Node, indices: Array, depth: Array, on: Array, off: Array) -> Array:
    node.check(int(depth) >= 0, "depth is negative")
    axis = axis_of(node, np.asarray(node["axis"]), indices.ndim + 1)
    numbers = np.arange(int(depth)).reshape((-1,) + (1,) * (indices.ndim - axis))
    wide = jnp.expand_dims(indices.astype(np.int64), axis)
    return jnp.where(wide == numbers, on, off)


@rule("InvertPermutation", dtypes=REALS)
def _invert_permutation(node: Node, x: Array) -> Array:
    node.check(x.ndim == 1, "it is no vector")
    node.check_range(x, max(x.size, 1))
    return jnp.zeros_like(x).at[x].set(jnp.arange(x.size, dtype=x.dtype))


@rule("ReverseSequence", dtypes=ALL)
def _reverse_sequence(node: Node, x: Array, lengths: Array) -> Array:
    """Each sequence reversed up to its length."""
    along = axis_of(node, np.asarray(node["seq_dim"]), x.ndim)
    batch = axis_of(node, np.asarray(node["batch_dim"]), x.ndim)
    node.check(along != batch, "the axes of sequences and batches are one")
    node.check(lengths.shape == (x.shape[batch],), "there is not one length a sequence")
    node.check_range(lengths, x.shape[along] + 1)
    steps = np.arange(x.shape[along])
    ends = lengths[:, None]
    order = jnp.where(steps < ends, ends - 1 - steps, steps)
    shape = [1] * x.ndim
    shape[batch], shape[along] = order.shape
    order = (order if batch < along else order.T).reshape(shape)
    return jnp.take_along_axis(x, order, axis=along)


@rule("UnravelIndex", dtypes=REALS, constants="dims")
def _unravel(node: Node, indices: Array, dims: Array) -> Array:
    node.check_range(indices, max(math.prod(dims.tolist()), 1))
    return jnp.stack(jnp.unravel_index(indices, dims.tolist())).astype(indices.dtype)


@rule("LowerBound", "UpperBound", dtypes=REALS)
def _bound(node: Node, sorted_inputs: Array, values: Array) -> Array:
    """How many numbers of a sorted row stand before a value."""
    side = "left" if node.op == "LowerBound" else "right"
    search = jax.vmap(lambda row, wanted: jnp.searchsorted(row, wanted, side=side))
    return search(sorted_inputs, values).astype(node["out_type"])


@rule("Bucketize", dtypes=REALS)
def _bucketize(node: Node, x: Array) -> Array:
    boundaries = np.array(node["boundaries"], np.float32)
    wide = np.promote_types(x.dtype, np.float32)
    buckets = jnp.searchsorted(boundaries.astype(wide), x.astype(wide), side="right")
    return buckets.astype(np.int32)
