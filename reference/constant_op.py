"""`tf.constant`, and between Python values and TensorProto as a program sees it."""

from __future__ import annotations

from typing import Any

import numpy as np

from sessrun.reference import conversion, dtypes, tensor_proto
from sessrun.reference.constant_values import to_array
from sessrun.reference.conversion import convert_to_tensor
from sessrun.reference.errors import bad_type, bad_value
from sessrun.reference.tensor import Tensor
from sessrun.reference.tensor_proto import make_ndarray
from sessrun.spec.proto import TensorProto

__all__ = ["constant", "convert_to_tensor", "make_ndarray", "make_tensor_proto"]


def constant(
    value: Any,
    dtype: Any = None,
    shape: Any = None,
    name: str | None = "Const",
    verify_shape: bool = False,
) -> Tensor:
    """A constant tensor.

    Args:
      value: a Python scalar, nested lists of them, or an ndarray.
      dtype: its dtype; by default float32 for Python floats, int32 for Python integers that
        fit, and an ndarray's own.
      shape: its shape; the last element of `value` is repeated to fill it.
      name: the operation's name.
      verify_shape: whether `value` must have exactly that shape.

    Raises:
      InvalidArgumentTypeError: an element cannot be of this dtype; the shape is not the one
        verified; or `value` is a tensor.
      InvalidArgumentValueError: the value is None or unevenly nested, or has too many elements.

    """
    array = _array(value, dtype, shape, verify_shape=verify_shape)
    return conversion.constant(array, "Const" if name is None else name)


def make_tensor_proto(
    values: Any,
    dtype: Any = None,
    shape: Any = None,
    verify_shape: bool = False,
    allow_broadcast: bool = False,  # noqa: ARG001 - TensorFlow's signature
) -> TensorProto:
    """The TensorProto of what `constant` would make of the arguments; raises as it does."""
    if isinstance(values, TensorProto):
        return values
    array = _array(values, dtype, None, verify_shape=False)
    if shape is None:
        return tensor_proto.make_tensor_proto(array)
    full = _shaped(array, shape, verify=verify_shape)
    if full.size == array.size:
        return tensor_proto.make_tensor_proto(full)
    proto = tensor_proto.make_tensor_proto(array)
    if not proto.tensor_content:  # the reader repeats the last value
        for _ in range(len(proto.tensor_shape.dim)):
            proto.tensor_shape.dim.pop()
        for size in full.shape:
            proto.tensor_shape.dim.add(size=size)
        return proto
    return tensor_proto.make_tensor_proto(full)


def _array(value: Any, dtype: Any, shape: Any, *, verify_shape: bool) -> Any:
    if conversion.first_tensor(value) is not None:
        raise bad_type("Expected any non-tensor type, but got a tensor instead.")
    wanted = None if dtype is None else dtypes.as_dtype(dtype).base_dtype
    array = to_array(value, wanted)
    return array if shape is None else _shaped(array, shape, verify=verify_shape)


def _shaped(array: Any, shape: Any, *, verify: bool) -> Any:
    sizes = tuple(int(size) for size in shape)
    if array.shape == sizes:
        return array
    if verify:
        raise bad_type(f"Expected Tensor's shape: {sizes}, but got {array.shape}.")
    count = int(np.prod(sizes))
    flat = array.reshape(-1)
    if flat.size > count > 0 or (flat.size > 1 and count == 0):
        raise bad_value(f"Too many elements provided. Takes at most {count}, but got {flat.size}.")
    full = np.zeros(count, array.dtype)
    full[: flat.size] = flat[:count]
    if flat.size:
        full[flat.size :] = flat[-1]
    return full.reshape(sizes)
