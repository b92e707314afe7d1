"""Shape, size and rank of tensors as tensors, and shapes converted to tensors.

A result that is known statically is a constant; the functions named `..._internal` leave that to
the caller.
"""

from __future__ import annotations

from sessrun.reference.api.ops.cast_ops import one
from sessrun.reference.api.sparse_tensor import SparseTensor, is_sparse
from sessrun.reference.base import dtypes
from sessrun.reference.base.dimension import dimension_value
from sessrun.reference.base.dtypes import DTypeLike
from sessrun.reference.base.tensor_shape import ShapeLike
from sessrun.reference.build.constant_op import constant
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.shape_inference_values import handle_shape
from sessrun.reference.build.tensor_like import TensorLike
from sessrun.reference.graph.name_scopes import name_scope
from sessrun.reference.graph.tensor import Tensor

__all__ = [
    "rank",
    "rank_internal",
    "shape",
    "shape_internal",
    "shape_tensor",
    "size",
    "size_internal",
    "variable_shape",
]


def shape(
    input: TensorLike | SparseTensor,  # noqa: A002 - TensorFlow's name
    name: str | None = None,
    out_type: DTypeLike | None = None,
) -> Tensor:
    """The shape as an integer vector: a constant if it is static.

    Args:
      input: a tensor, or a SparseTensor.
      name: the operation's name.
      out_type: int32 (the default) or int64.

    """
    return shape_internal(input, name, out_type=dtypes.int32 if out_type is None else out_type)


def shape_internal(
    input: TensorLike | SparseTensor,  # noqa: A002 - TensorFlow's name
    name: str | None = None,
    optimize: bool = True,
    out_type: DTypeLike | None = None,
) -> Tensor:
    """As `shape`; `optimize`: whether a static shape becomes a constant."""
    wanted = dtypes.int32 if out_type is None else dtypes.as_dtype(out_type)
    with name_scope(name, "Shape", [input]) as scope:
        if is_sparse(input):
            return one("Cast", {"x": input.dense_shape}, DstT=wanted)
        value = convert_to_tensor(input)
        if optimize and value.shape.is_fully_defined():
            if out_type is None:
                return convert_to_tensor(value.shape, name="shape_as_tensor")
            return constant(value.shape.as_list(), wanted, name=scope)
        return one("Shape", {"input": value}, scope, out_type=wanted)


def size(
    input: TensorLike | SparseTensor,  # noqa: A002 - TensorFlow's name
    name: str | None = None,
    out_type: DTypeLike | None = None,
) -> Tensor:
    """The number of elements: a constant if the shape is static."""
    return size_internal(input, name, out_type=out_type)


def size_internal(
    input: TensorLike | SparseTensor,  # noqa: A002 - TensorFlow's name
    name: str | None = None,
    optimize: bool = True,
    out_type: DTypeLike | None = None,
) -> Tensor:
    """As `size`; `optimize`: whether a static size becomes a constant."""
    wanted = dtypes.int32 if out_type is None else dtypes.as_dtype(out_type)
    with name_scope(name, "Size", [input]) as scope:
        if is_sparse(input):
            sizes = one("Cast", {"x": input.dense_shape}, DstT=wanted)
            return one("Prod", {"input": sizes, "reduction_indices": 0}, scope)
        value = convert_to_tensor(input)
        if optimize and value.shape.is_fully_defined():
            return constant(value.shape.num_elements(), wanted, name=scope)
        return one("Size", {"input": value}, scope, out_type=wanted)


def rank(input: TensorLike | SparseTensor, name: str | None = None) -> Tensor:  # noqa: A002 - TensorFlow's name
    """The number of dimensions: a constant if it is static."""
    return rank_internal(input, name)


def rank_internal(
    input: TensorLike | SparseTensor,  # noqa: A002 - TensorFlow's name
    name: str | None = None,
    optimize: bool = True,
) -> Tensor:
    """As `rank`; `optimize`: whether a static rank becomes a constant."""
    with name_scope(name, "Rank", [input]) as scope:
        if is_sparse(input):
            return one("Size", {"input": input.dense_shape}, scope, out_type=dtypes.int32)
        value = convert_to_tensor(input)
        if optimize and value.shape.ndims is not None:
            return constant(value.shape.ndims, dtypes.int32, name=scope)
        return one("Rank", {"input": value}, scope)


def shape_tensor(shape: TensorLike | ShapeLike) -> Tensor:
    """A shape as a tensor named `shape`, int32 by default.

    Args:
      shape: a tensor, a TensorShape, or a list of sizes, some of which may be a Dimension.

    """
    if not isinstance(shape, list | tuple):
        return convert_to_tensor(shape, name="shape")
    sizes = tuple(map(dimension_value, shape))
    return convert_to_tensor(sizes, None if sizes else dtypes.int32, name="shape")


def variable_shape(handle: Tensor, out_type: DTypeLike | None = None) -> Tensor:
    """The shape of the variable of a handle; a constant if it is static.

    Args:
      handle: the handle, a resource tensor.
      out_type: the dtype of the result, int32 or int64; by default int32.

    """
    wanted = dtypes.int32 if out_type is None else dtypes.as_dtype(out_type)
    sizes = handle_shape(handle)
    if sizes is None or None in sizes:
        return one("VariableShape", {"input": handle}, out_type=wanted)
    return constant(list(sizes), wanted)
