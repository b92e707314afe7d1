"""The functions of `inplace_ops`: updates of rows of tensors.

In TensorFlow the functions whose names begin with `alias` write into their argument; here no
tensor's value changes, so that they differ from the others only in that these add a copy.
"""

from __future__ import annotations

from sessrun.reference.api.ops.array_ops import expand_dims, reshape
from sessrun.reference.api.ops.cast_ops import cast, one
from sessrun.reference.api.ops.shape_ops import shape as shape_of
from sessrun.reference.base import dtypes
from sessrun.reference.base.dtypes import DTypeLike
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.tensor_like import TensorLike
from sessrun.reference.graph.tensor import Tensor

__all__ = [
    "alias_inplace_add",
    "alias_inplace_sub",
    "alias_inplace_update",
    "empty",
    "empty_like",
    "inplace_add",
    "inplace_sub",
    "inplace_update",
]


def _replaced(op_type: str, x: TensorLike, i: TensorLike | None, v: TensorLike) -> Tensor:
    """The tensor `x`, whose rows `i` are combined with `v` by an operation.

    Args:
      op_type: the operation.
      x: a tensor.
      i: a vector of row indices, one row index, or None for the entire tensor.
      v: rows for the indices, one row, or a tensor of the shape of `x`.

    """
    x = convert_to_tensor(x)
    v = convert_to_tensor(v, x.dtype)
    if i is None:
        flat, other = reshape(x, [1, -1]), reshape(v, [1, -1])
        return reshape(one(op_type, {"x": flat, "i": [0], "v": other}), shape_of(x))
    i = cast(i, dtypes.int32)
    if i.shape.ndims == 0:
        i, v = reshape(i, [1]), expand_dims(v, 0)
    return one(op_type, {"x": x, "i": i, "v": v})


def empty(shape: TensorLike, dtype: DTypeLike, init: bool = False) -> Tensor:
    """An uninitialized tensor; zeros, False or empty strings if `init` is true.

    Args:
      shape: its shape.
      dtype: its dtype.
      init: whether the tensor is initialized.

    """
    return one("Empty", {"shape": shape}, dtype=dtype, init=init)


def empty_like(x: TensorLike, init: bool | None = None) -> Tensor:
    """An uninitialized tensor of the shape and dtype of another one; see `empty`."""
    x = convert_to_tensor(x)
    return empty(shape_of(x), x.dtype, bool(init))


def alias_inplace_update(x: TensorLike, i: TensorLike, v: TensorLike) -> Tensor:
    """`x` with rows replaced; see `_replaced`."""
    return _replaced("InplaceUpdate", x, i, v)


def alias_inplace_add(x: TensorLike, i: TensorLike, v: TensorLike) -> Tensor:
    """`x` with values added to rows; see `_replaced`."""
    return _replaced("InplaceAdd", x, i, v)


def alias_inplace_sub(x: TensorLike, i: TensorLike, v: TensorLike) -> Tensor:
    """`x` with values subtracted from rows; see `_replaced`."""
    return _replaced("InplaceSub", x, i, v)


def inplace_update(x: TensorLike, i: TensorLike, v: TensorLike) -> Tensor:
    """A copy of `x` with rows replaced; see `_replaced`."""
    return alias_inplace_update(one("DeepCopy", {"x": x}), i, v)


def inplace_add(x: TensorLike, i: TensorLike, v: TensorLike) -> Tensor:
    """A copy of `x` with values added to rows; see `_replaced`."""
    return alias_inplace_add(one("DeepCopy", {"x": x}), i, v)


def inplace_sub(x: TensorLike, i: TensorLike, v: TensorLike) -> Tensor:
    """A copy of `x` with values subtracted from rows; see `_replaced`."""
    return alias_inplace_sub(one("DeepCopy", {"x": x}), i, v)
