"""`tf.constant`, and between Python values and TensorProto as a program sees it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from sessrun.reference.base import dtypes, tensor_proto
from sessrun.reference.base.dtypes import DTypeLike
from sessrun.reference.base.tensor_proto import make_ndarray
from sessrun.reference.base.tensor_shape import TensorShape
from sessrun.reference.build import conversion
from sessrun.reference.build.constant_arrays import to_array
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.tensor_like import TensorLike
from sessrun.reference.errors import bad_type, bad_value
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public
from sessrun.spec.proto import TensorProto

__all__ = ["constant", "constant_v2", "convert_to_tensor", "make_ndarray", "make_tensor_proto"]


@public("constant")
def constant(
    value: object,
    dtype: Any = None,
    shape: Any = None,
    name: str | None = "Const",
    verify_shape: bool = False,
) -> Tensor:
    """A constant tensor.

    Args:
      value: a Python scalar, nested lists of them, or an ndarray; or a TensorProto, which says
        dtype and shape itself.
      dtype: its dtype; by default float32 for Python floats, int32 for Python integers that
        fit, and an ndarray's own.
      shape: its shape; the last element of `value` is repeated to fill it.
      name: the operation's name.
      verify_shape: whether `value` must have exactly that shape.

    Raises:
      InvalidArgumentTypeError: an element cannot be of this dtype; the shape is not the one to be
        verified; or `value` is a tensor.
      InvalidArgumentValueError: the value is None or unevenly nested, or has too many elements.

    """
    if isinstance(value, TensorProto):
        return conversion.constant(value, "Const" if name is None else name)
    array = _array(value, dtype, shape)
    shaped: Any = array
    if shape is not None and array.shape != _sizes(shape):
        shaped = _shaped(array, _sizes(shape), verify=verify_shape)
    return conversion.constant(shaped, "Const" if name is None else name)


def constant_v2(
    value: TensorLike,
    dtype: DTypeLike | None = None,
    shape: Any = None,
    name: str | None = "Const",
) -> Tensor:
    """As `constant`, but with a shape only a scalar, or a vector of one element, is repeated.

    Raises:
      InvalidArgumentTypeError: there are more elements, and not as many as the shape has.

    """
    if shape is not None and not isinstance(value, TensorProto):
        value = _array(value, dtype, shape)
        _check_broadcast(value, _sizes(shape))
    return constant(value, dtype, shape, name)


@public("make_tensor_proto")
def make_tensor_proto(
    values: object,
    dtype: Any = None,
    shape: Any = None,
    verify_shape: bool = False,
    allow_broadcast: bool = False,
) -> TensorProto:
    """The TensorProto of what `constant` would make of the arguments; raises as it does.

    Args:
      values: as for `constant`; a TensorProto is returned unchanged.
      dtype: the same.
      shape: the same.
      verify_shape: the same.
      allow_broadcast: whether only a scalar, or a vector of one element, may be repeated.

    Raises:
      ValueError: `verify_shape` and `allow_broadcast` are both set.

    """
    if isinstance(values, TensorProto):
        return values
    if verify_shape and allow_broadcast:
        raise ValueError("allow_broadcast and verify_shape are not both allowed.")
    array = _array(values, dtype, shape)
    if shape is None:
        return tensor_proto.make_tensor_proto(array)
    sizes = _sizes(shape)
    if allow_broadcast:
        _check_broadcast(array, sizes)
    _check_size(array, sizes, verify=verify_shape)
    return tensor_proto.make_tensor_proto(array, sizes)


def _array(value: object, dtype: DTypeLike | None, shape: Any) -> np.ndarray:
    """The given elements as an array."""
    if not conversion.is_constant(value) and conversion.first_tensor(value) is not None:
        raise bad_type("Expected any non-tensor type, but got a tensor instead.")
    wanted = None if dtype is None else dtypes.as_dtype(dtype).base_dtype
    if shape is not None and 0 in _sizes(shape) and not isinstance(value, np.ndarray | np.generic):
        value = []  # it does not even say the dtype
    return to_array(value, wanted)


def _sizes(shape: TensorShape) -> tuple[int, ...]:
    return tuple(int(_given(size)) for size in _given(shape))


def _given(value: TensorLike) -> Any:
    """The given value as it is, or as an array; a tensor has no value yet: NotImplementedError."""
    return np.asarray(value) if hasattr(value, "__array__") else value


def _check_size(array: np.ndarray, sizes: tuple[int, ...], *, verify: bool) -> None:
    """Refuse elements that do not fit the shape, or (verified) have another one."""
    if verify and array.shape != sizes:
        raise bad_type(f"Expected Tensor's shape: {sizes}, but got {array.shape}.")
    count = math.prod(sizes)
    if array.size > count:
        raise bad_value(f"Too many elements provided. Takes at most {count}, but got {array.size}.")


def _check_broadcast(array: np.ndarray, sizes: tuple[int, ...]) -> None:
    """Refuse elements that are neither a single one nor as many as the shape has."""
    if array.shape not in {(), (1,)} and array.size != math.prod(sizes):
        raise bad_type(f"Expected Tensor's shape: {sizes}, but got {array.shape}.")


def _shaped(array: np.ndarray, sizes: tuple[int, ...], *, verify: bool) -> TensorProto | np.ndarray:
    """The elements in a shape; where the last one is repeated a message, which has it once."""
    _check_size(array, sizes, verify=verify)
    if array.size == math.prod(sizes):
        return array.reshape(sizes)
    return tensor_proto.make_tensor_proto(array, sizes)
