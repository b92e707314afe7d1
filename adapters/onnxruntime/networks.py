"""Normalization and biases."""

from __future__ import annotations

import math

from sessrun.adapters.onnxruntime.table import NUMBERS, SINGLE, Call, translates
from sessrun.adapters.onnxruntime.windows import channels_first, channels_last
from sessrun.spec.rules.windows import channel_axis

__all__: list[str] = []


@translates("BiasAdd", kernels=NUMBERS)
def _bias_add(call: Call) -> str:
    x, bias = call.names
    behind = call.rank() - 1 - channel_axis(call.attrs["data_format"], call.rank())
    if behind:
        bias = call.emit("Unsqueeze", bias, call.constant(range(1, behind + 1)))
    return call.emit("Add", x, bias)


@translates("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3", kernels=SINGLE)
def _fused_batch_norm(call: Call) -> list[str]:
    """With the mean and variance that are given, or those of the batch while training.

    The other outputs are the running statistics, then those that it computed with.
    """
    if call.attrs.get("U", "float32") != "float32":
        raise call.declined(f"statistics of {call.attrs['U']}")
    x, scale, offset, *statistics = call.names
    moved, given_on = channels_first(call, x, call.rank()), statistics
    if call.attrs["is_training"]:
        statistics = _statistics(call, moved)
        given_on = _running(call, *statistics)
    sides = (scale, offset, *statistics)
    y = call.emit("BatchNormalization", moved, *sides, epsilon=call.attrs["epsilon"])
    outputs = [channels_last(call, y, call.rank()), *given_on, *statistics]
    return [*outputs, call.constant(0, "float32")] if call.op.endswith("V3") else outputs


def _statistics(call: Call, x: str) -> list[str]:
    """The mean and the variance of each channel."""
    axes = call.constant([0, *range(2, call.rank())])
    mean = call.emit("ReduceMean", x, axes)
    distance = call.emit("Sub", x, mean)
    variance = call.emit("ReduceMean", call.emit("Mul", distance, distance), axes, keepdims=0)
    return [call.emit("Reshape", mean, call.constant([-1])), variance]


def _running(call: Call, mean: str, variance: str) -> list[str]:
    """The old statistics moved towards the batch's, whose variance is that of a sample."""
    channels = call.shape()[channel_axis(call.attrs["data_format"], call.rank())]
    count = math.prod(call.shape()) // max(channels, 1)
    sample = call.emit("Mul", variance, call.constant(count / max(count - 1, 1), "float32"))
    factor = call.attrs.get("exponential_avg_factor", 1.0)
    if factor == 1:
        return [mean, sample]
    kept, new = call.constant(1 - factor, "float32"), call.constant(factor, "float32")
    return [
        call.emit("Add", call.emit("Mul", old, kept), call.emit("Mul", seen, new))
        for old, seen in zip(call.names[3:], (mean, sample), strict=True)
    ]


@translates("LRN", kernels=SINGLE)
def _lrn(call: Call) -> str:
    """ONNX divides the sum of squares by the number of channels, and has these second."""
    attrs = call.attrs
    size = 2 * attrs["depth_radius"] + 1
    factors = {"alpha": attrs["alpha"] * size, "beta": attrs["beta"], "bias": attrs["bias"]}
    moved = call.emit("Transpose", call.names[0], perm=[0, 3, 1, 2])
    return call.emit("Transpose", call.emit("LRN", moved, size=size, **factors), perm=[0, 2, 3, 1])
