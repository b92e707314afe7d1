"""Translations of biases, normalizations and simulated quantization."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from jax import lax

from sessrun.adapters.jax.rules import FLOATS, NUMBERS, Array, Node, rule

__all__: list[str] = []


@rule("BiasAdd", dtypes=NUMBERS)
def _add_bias(node: Node, value: Array, bias: Array) -> Array:
    """The bias of a channel added to it: the last axis, or the second one."""
    node.check(value.ndim >= 2 and bias.ndim == 1, "no matrix and vector at least")
    axis = 1 if node["data_format"] == "NCHW" else value.ndim - 1
    node.check(value.shape[axis] == bias.shape[0], "there is not one bias a channel")
    return value + bias.reshape((-1,) + (1,) * (value.ndim - 1 - axis))


@rule("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3", dtypes=FLOATS)
def _batch_norm(
    node: Node, x: Array, scale: Array, offset: Array, mean: Array, variance: Array
) -> list[Array]:
    """Normalized channels, in float32; the statistics of the batch, or those given."""
    layout = node["data_format"]
    node.check(x.ndim == len(layout), f"no pictures of rank {len(layout)}")
    channel = layout.index("C")
    shape = [1] * x.ndim
    shape[channel] = -1
    wide = x.astype(jnp.float32)
    used_mean, used_variance = mean, variance
    if node["is_training"]:
        axes = tuple(axis for axis in range(x.ndim) if axis != channel)
        count = int(np.prod([x.shape[axis] for axis in axes]))
        used_mean = jnp.mean(wide, axes)
        used_variance = jnp.mean(jnp.square(wide - used_mean.reshape(shape)), axes)
        unbiased = used_variance * jnp.float32(count / max(count - 1, 1))
        kept = np.float32(node["exponential_avg_factor"])
        if kept != 1:
            mean = (1 - kept) * mean + kept * used_mean
            variance = (1 - kept) * variance + kept * unbiased
        else:
            mean, variance = used_mean, unbiased
    factor = scale * lax.rsqrt(used_variance + jnp.float32(node["epsilon"]))
    y = (wide - used_mean.reshape(shape)) * factor.reshape(shape) + offset.reshape(shape)
    outputs = [y.astype(x.dtype), mean, variance, used_mean, used_variance]
    return [*outputs, jnp.zeros((0,), jnp.float32)] if node.op == "FusedBatchNormV3" else outputs


@rule("LRN", dtypes=FLOATS)
def _local_response(node: Node, x: Array) -> Array:
    """Each pixel divided by a power of the squares of its neighbouring channels."""
    radius = node["depth_radius"]
    wide = x.astype(jnp.float32)
    window, strides = (1, 1, 1, 2 * radius + 1), (1, 1, 1, 1)
    padding = [(0, 0)] * 3 + [(radius, radius)]
    squares = lax.reduce_window(wide * wide, np.float32(0), lax.add, window, strides, padding)
    norm = jnp.float32(node["bias"]) + jnp.float32(node["alpha"]) * squares
    return (wide * norm ** jnp.float32(-node["beta"])).astype(x.dtype)


@rule("FakeQuantWithMinMaxArgs", dtypes=FLOATS)
def _fake_quantize_fixed(node: Node, x: Array) -> Array:
    return _fake_quantize(node, x, np.float32(node["min"]), np.float32(node["max"]))


@rule("FakeQuantWithMinMaxVars", dtypes=FLOATS)
def _fake_quantize(node: Node, x: Array, low: Array, high: Array) -> Array:
    """The numbers rounded to the levels of a quantized dtype whose range is nudged to have 0."""
    first, last = (1.0 if node["narrow_range"] else 0.0), float(2 ** node["num_bits"] - 1)
    scale = (high - low) / np.float32(last - first)
    zero = np.float32(first) - low / scale
    nudged = jnp.where(
        zero < first, first, jnp.where(zero > last, last, jnp.floor(zero + np.float32(0.5)))
    ).astype(jnp.float32)
    nudged_low, nudged_high = (first - nudged) * scale, (last - nudged) * scale
    clamped = jnp.clip(x, nudged_low, nudged_high) - nudged_low
    levels = jnp.floor(clamped * (1 / scale) + np.float32(0.5))
    quantized = levels * scale + nudged_low
    return jnp.where((low == 0) & (high == 0), jnp.zeros_like(x), quantized)
