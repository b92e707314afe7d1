"""Shapes of tensors, and tensors made from shapes."""

from __future__ import annotations

import math

import numpy as np

from sessrun.adapters.onnxruntime.onnx_graph import ENUMS
from sessrun.adapters.onnxruntime.table import ALL, FLOATS, Call, translates

__all__: list[str] = []


@translates(
    "Identity", "PlaceholderWithDefault", "PreventGradient", "Snapshot", "StopGradient", kernels=ALL
)
@translates("IdentityN", kernels=ALL)
def _identity(call: Call) -> list[str]:
    return [call.emit("Identity", name) for name in call.names]


@translates("EnsureShape", kernels=ALL)
def _ensure_shape(call: Call) -> str:
    call.shape()  # that it is as wanted was checked with it
    return call.emit("Identity", *call.names)


@translates("Shape", "ShapeN", kernels=ALL)
def _shape(call: Call) -> list[str]:
    return [_shape_of(call, index, call.attrs["out_type"]) for index in range(len(call.inputs))]


def _shape_of(call: Call, index: int, dtype: str) -> str:
    shape = call.inputs[index].shape
    if shape is None or None in shape:
        return call.cast(call.emit("Shape", call.names[index]), dtype)
    return call.constant(shape, dtype)


@translates("Size", kernels=ALL)
def _size(call: Call) -> str:
    shape, dtype = call.inputs[0].shape, call.attrs["out_type"]
    if shape is None or None in shape:
        return call.cast(call.emit("Size", *call.names), dtype)
    return call.constant(math.prod(call.shape()), dtype)


@translates("Rank", kernels=ALL)
def _rank(call: Call) -> str:
    return call.constant(call.rank(), "int32")


@translates("Reshape", kernels=ALL)
def _reshape(call: Call) -> str:
    """By the shape that was inferred from a constant: ONNX knows no -1 beside a 0."""
    shape, wanted = call.shapes[0], call.graph.known(call.names[1])
    if wanted is None or shape is None or None in shape:
        sizes = call.cast(call.names[1], "int64")
    else:
        sizes = call.constant(shape)
    return call.emit("Reshape", call.names[0], sizes, allowzero=1)


@translates("ExpandDims", kernels=ALL)
def _expand_dims(call: Call) -> str:
    return call.emit("Unsqueeze", call.names[0], call.constant(call.integers(1)))


@translates("Squeeze", kernels=ALL)
def _squeeze(call: Call) -> str:
    axes = call.attrs["squeeze_dims"] or [i for i, size in enumerate(call.shape()) if size == 1]
    if not axes:
        return call.emit("Identity", *call.names)
    return call.emit("Squeeze", *call.names, call.constant(axes))


@translates("Transpose", kernels=ALL)
def _transpose(call: Call) -> str:
    rank = call.rank()
    if not rank:
        return call.emit("Identity", call.names[0])
    order = [axis % rank for axis in call.integers(1)]
    return call.emit("Transpose", call.names[0], perm=order)


@translates("BroadcastTo", kernels=ALL - {"bfloat16"})
def _broadcast_to(call: Call) -> str:
    call.value(1)  # Expand would take a shape that broadcasts the other way
    return call.emit("Expand", call.names[0], call.constant(call.output_shape()))


@translates("Fill", kernels=ALL - {"bfloat16"})
def _fill(call: Call) -> str:
    dims, value = call.names
    return call.emit("Expand", value, call.cast(dims, "int64"))


@translates("OnesLike", "ZerosLike", kernels=ALL - {"bfloat16"})
def _like(call: Call) -> str:
    value = call.constant(int(call.op == "OnesLike"), call.dtype)
    return call.emit("Expand", value, _shape_of(call, 0, "int64"))


@translates("Tile", kernels=ALL - {"bfloat16", "float16"})
def _tile(call: Call) -> str:
    return call.emit("Tile", call.names[0], call.cast(call.names[1], "int64"))


@translates("Range", kernels=FLOATS | {"int16", "int32", "int64"})
def _range(call: Call) -> str:
    if any(limit.shape for limit in call.inputs):
        raise call.declined("limits of rank 1")
    return call.emit("Range", *call.names)


@translates("LinSpace", kernels=FLOATS)
def _lin_space(call: Call) -> str:
    """From start to stop, which are both among the numbers, unless it is one number."""
    start, stop = call.names[:2]
    (count,) = call.integers(2)
    gap = call.emit("Sub", stop, start)
    step = call.emit("Div", gap, call.constant(max(count - 1, 1), call.dtype))
    steps = call.constant(np.arange(count), call.dtype)
    return call.emit("Add", call.emit("Mul", steps, step), start)


@translates("OneHot", kernels=FLOATS | {"int8", "int32", "int64", "uint8", "uint32"})
def _one_hot(call: Call) -> str:
    """Compared with every class, since ONNX's operator counts negative indices from the end."""
    indices, _, on, off = call.names
    (depth,) = call.integers(1)
    rank = call.rank() + 1
    axis = call.attrs["axis"] % rank
    classes = np.arange(depth).reshape([-1 if i == axis else 1 for i in range(rank)])
    wide = call.emit("Unsqueeze", call.cast(indices, "int64"), call.constant([axis]))
    return call.emit("Where", call.emit("Equal", wide, call.constant(classes)), on, off)


@translates("InvertPermutation", kernels=frozenset({"int32", "int64"}))
def _invert_permutation(call: Call) -> str:
    """The place of each index; ONNX Runtime cannot refuse one that comes twice."""
    (x,) = call.names
    places = call.constant(np.arange(call.shape()[0]), call.dtype)
    zeros = call.emit("Mul", x, call.constant(0, call.dtype))
    return call.emit("ScatterElements", zeros, call.inside(x, call.dtype), places)


@translates("Unique", kernels=FLOATS | {"int8", "int64"})
def _unique(call: Call) -> list[str]:
    """In the order in which they first come."""
    values, _, indices = call.graph.emit("Unique", *call.names, outputs=3, sorted=0)
    return [values, call.emit("Cast", indices, to=ENUMS[call.attrs["out_idx"]])]
