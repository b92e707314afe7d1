"""Tensors filled with one value: zeros, ones, fills; and one-hot vectors.

Their node names and op types are those of `tensorflow.compat.v1`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from sessrun.reference.api.ops.cast_ops import one
from sessrun.reference.api.ops.shape_ops import shape_internal
from sessrun.reference.api.sparse_tensor import SparseTensor, is_sparse
from sessrun.reference.base import dtypes
from sessrun.reference.base.dimension import Dimension
from sessrun.reference.base.dtypes import DType, DTypeLike
from sessrun.reference.base.tensor_shape import ShapeLike, TensorShape, tuple_of
from sessrun.reference.build.constant_op import constant
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.generated import reshape
from sessrun.reference.build.tensor_like import TensorLike
from sessrun.reference.errors import bad_type
from sessrun.reference.graph.name_scopes import name_scope
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public

__all__ = ["fill", "ones", "ones_like_v2", "zeros", "zeros_like"]

#: Tensors with fewer elements become constants instead of a `Fill`.
_SMALL: Final = 1000


@public("fill")
def fill(
    dims: TensorLike,
    value: TensorLike,
    name: str | None = None,
    layout: object | None = None,  # noqa: ARG001 - TensorFlow's signature; a graph has no layouts
) -> Tensor:
    """A tensor filled with one value."""
    return one("Fill", {"dims": dims, "value": value}, name)


def _filled(shape_: Any, value: TensorLike, dtype: DType, default: str, name: str | None) -> Tensor:
    """A tensor of one value: a constant if its shape is static and small, else a `Fill`."""
    with name_scope(name, default, [shape_]) as scope:
        if not isinstance(shape_, Tensor):
            static = _static(shape_)
            is_small = static is not None and np.prod(static, dtype=np.int64) < _SMALL
            if is_small and not _is_scalar(shape_):
                return constant(value, dtype, shape=static, name=scope)
            shape_ = convert_to_tensor(
                TensorShape(static) if static is not None else shape_,
                None if static is not None else dtypes.int32,
            )
        if shape_.sizes is None or not shape_.sizes:
            shape_ = reshape(shape_, [-1])
        return fill(shape_, constant(value, dtype), name=scope)


def _is_scalar(shape_: Any) -> bool:
    """Whether a shape is a single number: TensorFlow takes it as [number], and never folds it."""
    return isinstance(shape_, Dimension) or np.ndim(shape_) == 0


def _static(shape_: TensorLike | ShapeLike) -> list[int] | None:
    """A shape given as Python numbers, an ndarray or a TensorShape; None if it holds tensors."""
    try:
        dims = TensorShape.of(
            tuple_of(shape_.tolist() if isinstance(shape_, np.ndarray) else shape_)
        )
    except (TypeError, ValueError):
        return None
    return dims.as_list() if dims.is_fully_defined() else None  # type: ignore[return-value]  # no None here


@public("zeros")
def zeros(
    shape: TensorLike | ShapeLike,
    dtype: DTypeLike = dtypes.float32,
    name: str | None = None,
    layout: object | None = None,  # noqa: ARG001 - as of `fill`
) -> Tensor:
    """A tensor of zeros (False, empty strings)."""
    wanted = dtypes.as_dtype(dtype).base_dtype
    zero: Any = False if wanted is dtypes.bool_ else b"" if wanted is dtypes.string else 0
    if wanted.is_quantized:
        zero = np.zeros((), wanted.as_numpy_dtype)
    return _filled(shape, zero, wanted, "zeros", name)


@public("ones")
def ones(
    shape: TensorLike | ShapeLike,
    dtype: DTypeLike = dtypes.float32,
    name: str | None = None,
    layout: object | None = None,  # noqa: ARG001 - as of `fill`
) -> Tensor:
    """A tensor of ones."""
    wanted = dtypes.as_dtype(dtype).base_dtype
    one_: Any = True if wanted is dtypes.bool_ else 1
    if wanted.is_quantized:
        one_ = np.ones((), wanted.as_numpy_dtype)
    return _filled(shape, one_, wanted, "ones", name)


def _filled_like(
    kind: tuple[Callable[..., Tensor], str, str],
    tensor: TensorLike | SparseTensor,
    dtype: DTypeLike | None,
    name: str | None,
    optimize: bool = True,
) -> Tensor:
    """A tensor of one value in the shape of another: a constant if that is static and small.

    Args:
      kind: the function that fills a shape, the op type that fills the shape of its input, and
        the default name.
      tensor: the tensor whose shape is taken, dense or sparse.
      dtype: the dtype, by default that of `tensor`.
      name: the operation's name.
      optimize: whether the result is a constant if the shape is static.

    """
    of_shape, op_type, default = kind
    with name_scope(name, default, [tensor]) as scope:
        value: Any = tensor if is_sparse(tensor) else convert_to_tensor(tensor, name="tensor")
        wanted = value.dtype.base_dtype if dtype is None else dtypes.as_dtype(dtype)
        is_plain = value.dtype.base_dtype is not dtypes.variant
        if optimize and is_plain and value.shape.is_fully_defined():
            return of_shape(value.shape, wanted, name=scope)
        if wanted is not value.dtype.base_dtype and wanted is not dtypes.variant:
            return of_shape(shape_internal(value, optimize=optimize), wanted, name=scope)
        return one(op_type, {"x": value}, scope)


@public("zeros_like")
def zeros_like(
    tensor: TensorLike | SparseTensor,
    dtype: DTypeLike | None = None,
    name: str | None = None,
    optimize: bool = True,
) -> Tensor:
    """Zeros in the shape of a tensor, dense or sparse: a constant if that is static and small."""
    return _filled_like((zeros, "ZerosLike", "zeros_like"), tensor, dtype, name, optimize)


def ones_like_v2(x: TensorLike, dtype: DTypeLike | None = None, name: str | None = None) -> Tensor:
    """Ones in the shape of a tensor, as `zeros_like`."""
    return _filled_like((ones, "OnesLike", "ones_like"), x, dtype, name)


@public("ones_like")
def ones_like(
    tensor: TensorLike | SparseTensor,
    dtype: DTypeLike | None = None,
    name: str | None = None,
    optimize: bool = True,
) -> Tensor:
    """Ones in the shape of a tensor."""
    with name_scope(name, "ones_like", [tensor]) as scope:
        value = convert_to_tensor(tensor, name="tensor")
        dims = shape_internal(value, optimize=optimize)
        return ones(dims, value.dtype.base_dtype if dtype is None else dtype, name=scope)


@public("one_hot")
def one_hot(
    indices: TensorLike,
    depth: TensorLike,
    on_value: TensorLike | None = None,
    off_value: TensorLike | None = None,
    axis: int | None = None,
    dtype: DTypeLike | None = None,
    name: str | None = None,
) -> Tensor:
    """One-hot vectors: `on_value` at each index, `off_value` elsewhere.

    Args:
      indices: integers; one that is out of range gives a vector of `off_value`.
      depth: a scalar, the size of the new dimension.
      on_value: a scalar, by default 1.
      off_value: a scalar, by default 0.
      axis: the axis of the new dimension, by default the last.
      dtype: the dtype, by default that of the values, or float32.
      name: the operation's name.

    Raises:
      TypeError: the values' dtypes differ from one another or from `dtype`.

    """
    with name_scope(name, "one_hot", [indices, depth, on_value, off_value]) as scope:
        given = [
            None if value is None else convert_to_tensor(value, dtype_hint=dtype)
            for value in (on_value, off_value)
        ]
        value_dtypes = {value.dtype.base_dtype for value in given if value is not None}
        if dtype is not None:
            value_dtypes.add(dtypes.as_dtype(dtype))
        if len(value_dtypes) > 1:
            raise bad_type(
                f"dtypes of on_value, off_value and dtype must match, got {value_dtypes}"
            )
        wanted = value_dtypes.pop() if value_dtypes else dtypes.float32
        on, off = (
            convert_to_tensor(plain, wanted, name=part) if value is None else value
            for value, plain, part in zip(given, (1, 0), ("on_value", "off_value"), strict=True)
        )
        inputs = {"indices": indices, "depth": depth, "on_value": on, "off_value": off}
        return one("OneHot", inputs, scope, axis=-1 if axis is None else axis)
