"""What joins, splits, pads and moves tensors along axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sessrun.adapters.onnxruntime.table import ALL, Call, translates

__all__: list[str] = []


@translates("ConcatV2", kernels=ALL)
def _concat(call: Call) -> str:
    *values, _ = call.names
    (axis,) = call.integers(len(values))
    return call.emit("Concat", *values, axis=axis)


@translates("Concat", kernels=ALL)
def _old_concat(call: Call) -> str:
    (axis,) = call.integers(0)
    return call.emit("Concat", *call.names[1:], axis=axis)


@translates("Pack", kernels=ALL)
def _pack(call: Call) -> str:
    axis = call.attrs["axis"]
    rows = [call.emit("Unsqueeze", name, call.constant([axis])) for name in call.names]
    return call.emit("Concat", *rows, axis=axis)


@translates("Unpack", kernels=ALL)
def _unpack(call: Call) -> list[str]:
    axis, count = call.attrs["axis"], call.attrs["num"]
    rows = _split(call, call.names[0], axis, [1] * count)
    return [call.emit("Squeeze", row, call.constant([axis])) for row in rows]


@translates("Split", kernels=ALL)
def _equal_split(call: Call) -> list[str]:
    (axis,) = call.integers(0)
    sizes = [shape[axis] if shape is not None else None for shape in call.shapes]
    return _split(call, call.names[1], axis, sizes)


@translates("SplitV", kernels=ALL)
def _split_v(call: Call) -> list[str]:
    (axis,) = call.integers(2)
    sizes = [shape[axis] if shape is not None else None for shape in call.shapes]
    return _split(call, call.names[0], axis, sizes)


def _split(call: Call, x: str, axis: int, sizes: Sequence[int | None]) -> list[str]:
    if None in sizes:
        raise call.declined("the size of a part is not known")
    if not sizes:
        return []
    return call.graph.emit("Split", x, call.constant(sizes), outputs=len(sizes), axis=axis)


@translates("Pad", "PadV2", kernels=ALL - {"float16", "int16", "uint16"})
def _pad(call: Call) -> str:
    """A scalar, which has nothing to pad, is none of ONNX Runtime's inputs."""
    if call.op == "PadV2" and call.rank(2):
        raise call.invalid("constant_values is no scalar")
    if not call.rank():
        return call.emit("Identity", call.names[0])
    pads = call.value(1).astype(np.int64).T.reshape(-1)
    value = call.names[2] if call.op == "PadV2" else call.constant(0, call.dtype)
    return call.emit("Pad", call.names[0], call.constant(pads), value)


@translates("MirrorPad", kernels=ALL)
def _mirror_pad(call: Call) -> str:
    """Gathered along each axis: ONNX has no mirror before the first element."""
    mode: Any = call.attrs["mode"].lower()  # numpy's names
    x = call.names[0]
    for axis, (size, pads) in enumerate(zip(call.shape(), call.value(1), strict=True)):
        if not pads.any():
            continue
        if pads.max() > size - (mode == "reflect"):
            raise call.invalid(f"no mirror of {size} elements is {pads.max()} long")
        indices = np.pad(np.arange(size), (int(pads[0]), int(pads[1])), mode=mode)
        x = call.emit("Gather", x, call.constant(indices), axis=axis)
    return x


@translates("ReverseSequence", kernels=ALL - {"bfloat16"})
def _reverse_sequence(call: Call) -> str:
    """The two axes are the first ones in ONNX."""
    x, lengths = call.names
    axes = [call.attrs["batch_dim"], call.attrs["seq_dim"]]
    order = [*axes, *(axis for axis in range(call.rank()) if axis not in axes)]
    moved = call.emit("Transpose", x, perm=order)
    wide = call.cast(lengths, "int64")
    reverse = call.emit("ReverseSequence", moved, wide, batch_axis=0, time_axis=1)
    return call.emit("Transpose", reverse, perm=[int(axis) for axis in np.argsort(order)])


@translates("Roll", kernels=ALL)
def _roll(call: Call) -> str:
    """Gathered along each axis."""
    x = call.names[0]
    for shift, axis in zip(call.integers(1), call.integers(2), strict=True):
        indices = np.roll(np.arange(call.shape()[axis]), shift)
        x = call.emit("Gather", x, call.constant(indices), axis=axis)
    return x
