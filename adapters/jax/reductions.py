"""Translations of reductions, running sums, and orders of elements."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

import jax.numpy as jnp
import numpy as np
from jax import lax
from numpy.typing import DTypeLike

from sessrun.adapters.jax.arrays import axis_of
from sessrun.adapters.jax.elementwise import is_integer
from sessrun.adapters.jax.rules import BOOL, FLOATS, NUMBERS, REALS, Array, Node, numpy_of, rule

__all__ = ["highest", "lowest"]


def lowest(dtype: DTypeLike) -> Array:
    """The least value of a dtype, which is the maximum of no elements."""
    if jnp.issubdtype(dtype, jnp.integer):
        return np.array(jnp.iinfo(dtype).min, dtype)
    return np.array(-np.inf, dtype)


def highest(dtype: DTypeLike) -> Array:
    """The greatest value of a dtype, which is the minimum of no elements."""
    if jnp.issubdtype(dtype, jnp.integer):
        return np.array(jnp.iinfo(dtype).max, dtype)
    return np.array(np.inf, dtype)


def _axes(node: Node, indices: Array, rank: int) -> tuple[int, ...]:
    axes = [axis_of(node, axis, rank) for axis in indices.reshape(-1)]
    node.check(len(set(axes)) == len(axes), "an axis is reduced twice")
    return tuple(axes)


def _mean(x: Array, axes: tuple[int, ...], *, keepdims: bool) -> Array:
    """The mean: integers are summed in 64 bits, and divided without their fraction."""
    if not is_integer(x):
        return jnp.mean(x, axes, keepdims=keepdims, dtype=x.dtype)
    count = int(np.prod([x.shape[axis] for axis in axes], dtype=np.int64))
    wide = x.dtype if x.dtype.itemsize == 8 else np.int64
    total = jnp.sum(x, axes, keepdims=keepdims, dtype=wide)
    return lax.div(total, jnp.full_like(total, count)).astype(x.dtype)


def _norm(x: Array, axes: tuple[int, ...], *, keepdims: bool) -> Array:
    squares = jnp.sum((x * jnp.conj(x)), axes, keepdims=keepdims, dtype=x.dtype)
    return jnp.sqrt(squares).astype(x.dtype)


_REDUCTIONS: Final[Mapping[str, tuple[Callable[..., Array], frozenset[str]]]] = {
    "All": (jnp.all, BOOL),
    "Any": (jnp.any, BOOL),
    "EuclideanNorm": (_norm, FLOATS),
    "Max": (
        lambda x, axes, keepdims: jnp.max(x, axes, keepdims=keepdims, initial=lowest(x.dtype)),
        REALS,
    ),
    "Mean": (_mean, NUMBERS),
    "Min": (
        lambda x, axes, keepdims: jnp.min(x, axes, keepdims=keepdims, initial=highest(x.dtype)),
        REALS,
    ),
    "Prod": (
        lambda x, axes, keepdims: jnp.prod(x, axes, keepdims=keepdims, dtype=x.dtype),
        NUMBERS,
    ),
    "Sum": (
        lambda x, axes, keepdims: jnp.sum(x, axes, keepdims=keepdims, dtype=x.dtype),
        NUMBERS,
    ),
}


def _reduction(function: Callable[..., Array]) -> Callable[..., Array]:
    def translate(node: Node, x: Array, indices: Array) -> Array:
        return function(x, _axes(node, indices, x.ndim), keepdims=node["keep_dims"])

    return translate


for _op, (_function, _dtypes) in _REDUCTIONS.items():
    rule(_op, dtypes=_dtypes, constants="reduction_indices")(_reduction(_function))


@rule("ArgMax", "ArgMin", dtypes=REALS | BOOL, constants="dimension")
def _arg_extreme(node: Node, x: Array, dimension: Array) -> Array:
    """The index of the first extreme element; NaN is never one."""
    axis = axis_of(node, dimension, x.ndim)
    node.check(x.shape[axis] > 0, "the axis is empty")
    dtype = numpy_of(node["output_type"])
    if jnp.issubdtype(x.dtype, jnp.floating):
        worst = lowest(x.dtype) if node.op == "ArgMax" else highest(x.dtype)
        x = jnp.where(jnp.isnan(x), worst, x)
    return (jnp.argmax if node.op == "ArgMax" else jnp.argmin)(x, axis).astype(dtype)


@rule("Cumsum", "Cumprod", dtypes=NUMBERS, constants="axis")
def _cumulative(node: Node, x: Array, axis: Array) -> Array:
    function = jnp.cumsum if node.op == "Cumsum" else jnp.cumprod
    neutral = np.array(0 if node.op == "Cumsum" else 1, x.dtype)
    return _running(node, x, axis, neutral, lambda y, at: function(y, at, dtype=x.dtype))


@rule("CumulativeLogsumexp", dtypes=FLOATS, constants="axis")
def _cumulative_logsumexp(node: Node, x: Array, axis: Array) -> Array:
    neutral = np.array(-np.inf, x.dtype)
    return _running(node, x, axis, neutral, lambda y, at: lax.cumlogsumexp(y, axis=at))


def _running(
    node: Node, x: Array, axis: Array, neutral: Array, function: Callable[[Array, int], Array]
) -> Array:
    """Running results along an axis, perhaps from its end, perhaps without the element itself."""
    at = axis_of(node, axis, x.ndim)
    if node["reverse"]:
        x = jnp.flip(x, at)
    if node["exclusive"]:
        shape = (*x.shape[:at], min(1, x.shape[at]), *x.shape[at + 1 :])
        kept = lax.slice_in_dim(x, 0, max(x.shape[at] - 1, 0), axis=at)
        first = jnp.broadcast_to(jnp.asarray(neutral), shape)
        x = jnp.concatenate([first, function(kept, at)], at)
    else:
        x = function(x, at)
    return jnp.flip(x, at) if node["reverse"] else x


@rule("TopKV2", dtypes=REALS, constants="k")
def _top_k(node: Node, x: Array, k: Array) -> list[Array]:
    node.check(x.ndim >= 1 and 0 <= int(k) <= x.shape[-1], f"there are no {int(k)} elements")
    values, indices = lax.top_k(x, int(k))
    return [values, indices.astype(numpy_of(node["index_type"]))]


@rule("NthElement", dtypes=REALS, constants="n")
def _nth(node: Node, x: Array, n: Array) -> Array:
    node.check(x.ndim >= 1 and 0 <= int(n) < x.shape[-1], f"there is no element {int(n)}")
    ordered = jnp.sort(x, axis=-1)
    return ordered[..., x.shape[-1] - 1 - int(n) if node["reverse"] else int(n)]


@rule("InTopKV2", dtypes=REALS)
def _in_top_k(node: Node, predictions: Array, targets: Array, k: Array) -> Array:
    """Whether fewer than k predictions of a row are greater than that of its target."""
    limit = predictions.shape[1]
    node.check(targets.shape == predictions.shape[:1], "there is not one target a row")
    inside = (targets >= 0) & (targets < limit)
    safe = jnp.clip(targets, 0, max(limit - 1, 0))
    chosen = jnp.take_along_axis(predictions, safe[:, None], axis=1)
    finite = jnp.isfinite(chosen[:, 0])
    greater = jnp.sum(predictions > chosen, axis=1)
    return inside & finite & (greater < k)
