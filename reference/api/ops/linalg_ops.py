"""Transposes of matrices and `tf.tensordot`, which build several operations."""

from __future__ import annotations

from typing import Any

import numpy as np

from sessrun.reference.api.ops.array_ops import (
    concat,
    gather,
    rank,
    setdiff1d,
    shape,
    stack,
    transpose,
    where,
)
from sessrun.reference.api.ops.math_ops import matmul, range_
from sessrun.reference.api.ops.reduce_ops import reduce_prod
from sessrun.reference.base import dtypes
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.generated import reshape
from sessrun.reference.build.tensor_like import TensorLike
from sessrun.reference.errors import bad_value
from sessrun.reference.graph.name_scopes import name_scope
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public


@public("linalg.matrix_transpose", "linalg.transpose", "matrix_transpose")
def matrix_transpose(
    a: TensorLike, name: str = "matrix_transpose", conjugate: bool = False
) -> Tensor:
    """Transpose matrices: the last two dimensions are swapped.

    Args:
      a: a tensor of at least two dimensions.
      name: the operations' scope.
      conjugate: whether complex numbers are conjugated as well.

    Raises:
      ValueError: the rank is below 2.

    """
    with name_scope(name, "matrix_transpose", [a]):
        value = convert_to_tensor(a, name="a")
        ndims = value.shape.ndims
        if ndims is None:
            count = rank(value)
            first = range_(count - 2, name="Range")
            order: TensorLike = concat([first, [count - 1, count - 2]], 0)
        elif ndims < 2:
            raise bad_value(
                "Argument `a` should be a (batch) matrix with rank >= 2.  Received `a` = "
                f"{value} with shape: {value.shape}"
            )
        else:
            order = [*range(ndims - 2), ndims - 1, ndims - 2]
        return transpose(value, order, conjugate=conjugate)


@public("linalg.adjoint")
def adjoint(matrix: TensorLike, name: str | None = None) -> Tensor:
    """The conjugate transpose of matrices."""
    with name_scope(name, "adjoint", [matrix]):
        return matrix_transpose(convert_to_tensor(matrix, name="matrix"), conjugate=True)


@public("linalg.tensordot", "tensordot")
def tensordot(a: TensorLike, b: TensorLike, axes: TensorLike, name: str | None = None) -> Tensor:
    """The tensor contraction of two tensors over axes.

    Args:
      a: a tensor of numbers.
      b: a tensor of the same dtype.
      axes: the number of axes that are contracted (the last of `a`, the first of `b`), or a pair
        of lists of axes, or a tensor of two rows.
      name: the operations' scope.

    Returns:
      A tensor with the remaining axes of `a`, then those of `b`.

    Raises:
      ValueError: `axes` is not a pair of axes or lists of axes, or an axis exceeds the rank.

    """
    with name_scope(name, "Tensordot", [a, b, axes]) as scope:
        left, right = convert_to_tensor(a, name="a"), convert_to_tensor(b, name="b")
        left_axes, right_axes = _summed_axes(left, axes)
        first, free, known = _as_matrix(left, left_axes, flipped=False)
        second, other_free, other_known = _as_matrix(right, right_axes, flipped=True)
        product = matmul(first, second)
        if isinstance(free, list) and isinstance(other_free, list):
            sizes = free + other_free
            if product.shape.is_fully_defined() and product.shape.as_list() == sizes:
                return product
            return reshape(product, sizes, name=scope)
        full_shape = concat(
            [convert_to_tensor(free, dtypes.int32), convert_to_tensor(other_free, dtypes.int32)], 0
        )
        result = reshape(product, full_shape, name=scope)
        if known is not None and other_known is not None:
            result.set_shape(known + other_known)
        return result


def _summed_axes(a: Tensor, axes: Any) -> tuple[Any, Any]:
    """The contracted axes of both tensors, as lists or as tensors."""
    if isinstance(axes, int):
        return _counted_axes(a, axes)
    if not isinstance(axes, list | tuple):
        both = convert_to_tensor(axes, dtypes.int32, name="axes")
        return both[0], both[1]
    if len(axes) != 2:
        raise bad_value(f"`axes` must be an integer or have length 2. Received {axes}.")
    a_axes, b_axes = ([one] if isinstance(one, int) else one for one in axes)
    if len(a_axes) != len(b_axes):
        raise bad_value(
            f"Different number of contraction axes `a` and `b`, {len(a_axes)} != {len(b_axes)}."
        )
    return a_axes, b_axes


def _counted_axes(a: Tensor, count: int) -> tuple[Any, Any]:
    ndims = a.shape.ndims
    if count < 0:
        raise bad_value(f"`axes` must be at least 0. Received: {count}.")
    if ndims is None:
        total = rank(a)
        return range_(total - count, total), range_(count)
    if count > ndims:
        raise bad_value(
            f"`axes` must not be larger than the number of dimensions of tensor {a}.  Received "
            f"{count}, vs tensor dimensions {ndims}."
        )
    return list(range(ndims - count, ndims)), list(range(count))


def _as_matrix(a: Tensor, axes: Any, *, flipped: bool) -> tuple[Tensor, Any, list[Any] | None]:
    """A tensor as a matrix, with the contracted axes as columns, or as rows if `flipped`.

    Returns:
      The matrix, the sizes of the other axes as a list or a tensor, and their static sizes.

    """
    is_listed = isinstance(axes, list | tuple) and a.shape.ndims is not None
    if not is_listed or not a.shape.is_fully_defined():
        return _as_matrix_later(a, axes, is_listed, flipped)
    sizes = [size or 0 for size in a.shape.as_list()]  # all are known
    summed = [axis if axis >= 0 else axis + len(sizes) for axis in axes]
    free = [axis for axis in range(len(sizes)) if axis not in summed]
    free_sizes = [sizes[axis] for axis in free]
    order = summed + free if flipped else free + summed
    counts = [int(np.prod(free_sizes)), int(np.prod([sizes[axis] for axis in summed]))]
    wanted = counts[::-1] if flipped else counts
    moved = a if order == sorted(order) else transpose(a, order)
    same = moved.shape.as_list() == wanted
    return moved if same else reshape(moved, wanted), free_sizes, free_sizes


def _as_matrix_later(
    a: Tensor, axes: Any, is_listed: bool, flipped: bool
) -> tuple[Tensor, Tensor, list[Any] | None]:
    """As `_as_matrix`, if the sizes are known only at run time."""
    known = None
    if is_listed:
        sizes = a.shape.as_list()
        chosen = [axis if axis >= 0 else axis + len(sizes) for axis in axes]
        others = [axis for axis in range(len(sizes)) if axis not in chosen]
        known = [sizes[axis] for axis in others]
        summed = convert_to_tensor(chosen, dtypes.int32, name="axes")
        free = convert_to_tensor(others, dtypes.int32, name="free")
        a_shape = shape(a)
    else:
        a_shape, total = shape(a), rank(a)
        given = convert_to_tensor(axes, dtypes.int32, name="axes")
        summed = where(given >= 0, given, given + total)
        free = setdiff1d(range_(total), summed)[0]
    free_sizes, summed_sizes = gather(a_shape, free), gather(a_shape, summed)
    counts = [reduce_prod(free_sizes), reduce_prod(summed_sizes)]
    order = concat([summed, free] if flipped else [free, summed], 0)
    wanted = stack(counts[::-1] if flipped else counts)
    return reshape(transpose(a, order), wanted), free_sizes, known
