"""Checks of floating point values, of common dtypes, and of static shapes that broadcast."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from sessrun.reference.api.control_flow.asserting import after
from sessrun.reference.api.ops.cast_ops import one
from sessrun.reference.api.ops.reduce_ops import chosen
from sessrun.reference.base import dtypes
from sessrun.reference.base.dtypes import DType
from sessrun.reference.base.tensor_shape import TensorShape
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.framework_ops import group
from sessrun.reference.build.tensor_like import TensorLike
from sessrun.reference.errors import bad_value
from sessrun.reference.graph.default_graph import (
    colocate_with,
    control_dependencies,
    get_default_graph,
)
from sessrun.reference.graph.name_scopes import name_scope
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public


@public("debugging.assert_all_finite", "verify_tensor_all_finite")
def verify_tensor_all_finite(
    t: TensorLike | None = None,
    msg: str | None = None,
    name: str | None = None,
    x: TensorLike | None = None,
    message: str | None = None,
) -> Tensor:
    """The tensor, with a check at run time that all elements are finite.

    Args:
      t: a tensor of floating point numbers.
      msg: the message of the error if an element is infinite or NaN.
      name: the operations' scope.
      x: the newer name of `t`.
      message: the newer name of `msg`.

    Raises:
      ValueError: an argument is given under both names.

    """
    value, text = chosen(x, t, "x", "t"), chosen(message, msg, "message", "msg")
    with name_scope(name, "VerifyFinite", [value]):
        tensor = convert_to_tensor(value, name="x")
        with colocate_with(tensor):
            checked = one("CheckNumerics", {"tensor": tensor}, message=text)
        return after([checked], tensor)


@public("add_check_numerics_ops")
def add_check_numerics_ops() -> Operation:
    """An operation that checks the floating point outputs of every operation of the graph.

    Raises:
      ValueError: an operation is in a conditional or a loop.

    """
    last: list[Tensor] = []
    for op in get_default_graph().get_operations():
        for output in op.outputs:
            if output.dtype not in _CHECKED:
                continue
            if op._get_control_flow_context() is not None:  # noqa: SLF001 - TensorFlow's own name
                raise bad_value(
                    "`tf.add_check_numerics_ops() is not compatible with TensorFlow control flow "
                    "operations such as `tf.cond()` or `tf.while_loop()`."
                )
            with control_dependencies(last):
                said = f"{op.name}:{output.value_index}"
                last = [one("CheckNumerics", {"tensor": output}, message=said)]
    return group(*last)


#: The dtypes that `add_check_numerics_ops` checks.
_CHECKED: Final = (dtypes.float16, dtypes.float32, dtypes.float64)


@public("assert_same_float_dtype", "debugging.assert_same_float_dtype")
def assert_same_float_dtype(
    tensors: Iterable[Tensor | None] | None = None, dtype: DType | None = None
) -> DType:
    """The common floating point dtype of tensors.

    Args:
      tensors: tensors, dense or sparse; None entries are skipped.
      dtype: the expected DType; by default that of the first tensor, or float32.

    Raises:
      ValueError: dtypes differ, or the dtype is not floating point.

    """
    float_dtype = dtype
    for tensor in tensors or ():
        if tensor is None:
            continue
        own = tensor.dtype.base_dtype
        if float_dtype is None:
            float_dtype = own
        elif own != float_dtype:
            raise bad_value(
                f"{tensor.name}, type={own!r}, must be of the same type ({float_dtype!r})."
            )
    if float_dtype is None:
        return dtypes.float32
    if not float_dtype.is_floating:
        raise bad_value(f"Expected floating point type, got {float_dtype!r}.")
    return float_dtype


@public("broadcast_static_shape")
def broadcast_static_shape(shape_x: TensorShape, shape_y: TensorShape) -> TensorShape:
    """The static shape that two static shapes broadcast to.

    Raises:
      ValueError: the shapes do not broadcast.

    """
    if shape_x.ndims is None or shape_y.ndims is None:
        return TensorShape(None)
    first, second = shape_x.as_list(), shape_y.as_list()
    width = max(len(first), len(second))
    first = [*[1] * (width - len(first)), *first]
    second = [*[1] * (width - len(second)), *second]
    return TensorShape(
        [_broadcast(*pair, shape_x, shape_y) for pair in zip(first, second, strict=True)]
    )


def is_broadcast_compatible(shape_x: TensorShape, shape_y: TensorShape) -> bool:
    """Whether two shapes are known to broadcast to one; False where a rank is unknown."""
    if shape_x.ndims is None or shape_y.ndims is None:
        return False
    try:
        broadcast_static_shape(shape_x, shape_y)
    except ValueError:
        return False
    return True


def _broadcast(
    size: int | None, other: int | None, shape: TensorShape, other_shape: TensorShape
) -> int | None:
    if size == 1 or other == 1:
        return other if size == 1 else size
    if size is None or other is None:
        return other if size is None else size
    if size != other:
        raise bad_value(
            "Incompatible shapes for broadcasting. Two sizes go together if they are equal or one "
            f"of them is 1. Received: {shape} and {other_shape}."
        )
    return size
