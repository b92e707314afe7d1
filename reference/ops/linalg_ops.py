"""Functions of matrices that are several operations: transposing, norms, tensor products.

The norm of a matrix by its singular values is not here: it needs their decomposition.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from sessrun.reference import dtypes
from sessrun.reference.conversion import convert_to_tensor
from sessrun.reference.errors import bad_value
from sessrun.reference.generated import pow as power
from sessrun.reference.generated import reshape, sqrt
from sessrun.reference.name_scopes import name_scope
from sessrun.reference.ops.array_ops import (
    concat,
    gather,
    rank,
    setdiff1d,
    shape,
    squeeze,
    stack,
    transpose,
    where,
)
from sessrun.reference.ops.cast_ops import conj
from sessrun.reference.ops.math_ops import absolute, matmul, range_
from sessrun.reference.ops.reduce_ops import reduce_max, reduce_prod, reduce_sum
from sessrun.reference.tensor import Tensor

__all__ = ["EXPORTS"]


def matrix_transpose(a: Any, name: str = "matrix_transpose", conjugate: bool = False) -> Tensor:
    """The last two dimensions exchanged.

    Args:
      a: a tensor of at least two dimensions.
      name: the operations' scope.
      conjugate: whether complex numbers are conjugated, too.

    Raises:
      ValueError: it has fewer dimensions.

    """
    with name_scope(name, "matrix_transpose", [a]):
        value = convert_to_tensor(a, name="a")
        ndims = value.shape.ndims
        if ndims is None:
            count = rank(value)
            first = range_(count - 2, name="Range")
            order: Any = concat([first, [count - 1, count - 2]], 0)
        elif ndims < 2:
            raise bad_value(
                "Argument `a` should be a (batch) matrix with rank >= 2.  Received `a` = "
                f"{value} with shape: {value.shape}"
            )
        else:
            order = [*range(ndims - 2), ndims - 1, ndims - 2]
        return transpose(value, order, conjugate=conjugate)


def adjoint(matrix: Any, name: str | None = None) -> Tensor:
    """The last two dimensions exchanged, and complex numbers conjugated."""
    with name_scope(name, "adjoint", [matrix]):
        return matrix_transpose(convert_to_tensor(matrix, name="matrix"), conjugate=True)


#: The norms of matrices, and by which name vectors have one.
_OF_MATRICES: Final = ("euclidean", "fro", 1, 2, np.inf)


def norm(
    tensor: Any,
    ord: Any = "euclidean",  # noqa: A002 - TensorFlow's name
    axis: Any = None,
    keepdims: bool | None = None,
    name: str | None = None,
    keep_dims: bool | None = None,
) -> Tensor:
    """The norm of vectors or matrices.

    Args:
      tensor: floating point or complex numbers.
      ord: "euclidean", for matrices also "fro", or a positive number or infinity; for matrices 1
        and infinity, the greatest sum of a column or row.
      axis: the axis of the vectors, the two of the matrices, or None for all numbers as a vector.
      keepdims: whether these axes stay, of size 1.
      name: the operations' scope.
      keep_dims: the older name of `keepdims`.

    Raises:
      ValueError: there is no such norm, or no such axis.
      NotImplementedError: the norm of matrices with `ord` 2.

    """
    if keepdims is not None and keep_dims is not None:
        raise bad_value("Cannot specify both 'keep_dims' and 'keepdims'.")
    axes = _axes_of_norm(axis)
    is_matrix = axes is not None and len(axes) == 2
    _check_norm(ord, is_matrix)
    with name_scope(name, "norm", [tensor]):
        found = _norm(convert_to_tensor(tensor), ord, axes, is_matrix)
        return found if keepdims or keep_dims else squeeze(found, axes and list(axes))


def _axes_of_norm(axis: Any) -> tuple[int, ...] | None:
    if axis is None:
        return None
    if not isinstance(axis, list | tuple):
        return (axis,)
    if len(axis) != 2 or axis[0] == axis[1]:
        raise bad_value(
            f"'axis' must be None, an integer, or a tuple of 2 unique integers, got {axis}"
        )
    return tuple(axis)


def _check_norm(order: Any, is_matrix: bool) -> None:
    if is_matrix:
        if order not in _OF_MATRICES:
            raise bad_value(
                f"'ord' must be a supported matrix norm in {list(_OF_MATRICES)}, got {order}"
            )
        if order == 2:
            raise NotImplementedError("The norm of a matrix by its singular values is not here.")
    elif order != "euclidean" and (isinstance(order, str) or order <= 0):
        raise bad_value(f"'ord' must be a supported vector norm, got {order}")


def _norm(value: Tensor, order: Any, axes: tuple[int, ...] | None, is_matrix: bool) -> Tensor:
    listed = axes and list(axes)
    if order in {"euclidean", "fro", 2}:
        return sqrt(reduce_sum(value * conj(value), listed, keepdims=True))
    sizes = absolute(value)
    if order == 1:
        first = None if axes is None else axes[0]
        sums = reduce_sum(sizes, first, keepdims=True)
        return reduce_max(sums, axes[-1], keepdims=True) if axes and is_matrix else sums
    if order == np.inf:
        if axes and is_matrix:
            sizes = reduce_sum(sizes, axes[1], keepdims=True)
        return reduce_max(sizes, None if axes is None else axes[0], keepdims=True)
    return power(reduce_sum(power(sizes, order), listed, keepdims=True), 1.0 / order)


def tensordot(a: Any, b: Any, axes: Any, name: str | None = None) -> Tensor:
    """The sum of products over axes of two tensors.

    Args:
      a: a tensor of numbers.
      b: a tensor of the same dtype.
      axes: how many of the last axes of `a` and the first of `b` are summed over; or which, as a
        pair of lists, or a tensor of two rows.
      name: the operations' scope.

    Returns:
      A tensor with the other axes of `a`, then those of `b`.

    Raises:
      ValueError: the axes are no such pair, or more than there are.

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
        whole = concat([convert_to_tensor(free, dtypes.int32),
                        convert_to_tensor(other_free, dtypes.int32)], 0)  # fmt: skip
        found = reshape(product, whole, name=scope)
        if known is not None and other_known is not None:
            found.set_shape(known + other_known)
        return found


def _summed_axes(a: Tensor, axes: Any) -> tuple[Any, Any]:
    """The axes of both tensors that are summed over, as lists or as tensors."""
    if isinstance(axes, int):
        return _counted_axes(a, axes)
    if not isinstance(axes, list | tuple):
        both = convert_to_tensor(axes, dtypes.int32, name="axes")
        return both[0], both[1]
    if len(axes) != 2:
        raise bad_value(f"`axes` must be an integer or have length 2. Received {axes}.")
    mine, theirs = ([one] if isinstance(one, int) else one for one in axes)
    if len(mine) != len(theirs):
        raise bad_value(
            f"Different number of contraction axes `a` and `b`, {len(mine)} != {len(theirs)}."
        )
    return mine, theirs


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
    """A tensor as a matrix, the axes that are summed over last, or first if `flipped`.

    Returns:
      The matrix, the sizes of the other axes as a list or a tensor, and what is known of them.

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
    """The same where sizes are known when it runs."""
    known = None
    if is_listed:
        sizes = a.shape.as_list()
        chosen = [axis if axis >= 0 else axis + len(sizes) for axis in axes]
        others = [axis for axis in range(len(sizes)) if axis not in chosen]
        known = [sizes[axis] for axis in others]
        summed = convert_to_tensor(chosen, dtypes.int32, name="axes")
        free = convert_to_tensor(others, dtypes.int32, name="free")
        whole = shape(a)
    else:
        whole, total = shape(a), rank(a)
        given = convert_to_tensor(axes, dtypes.int32, name="axes")
        summed = where(given >= 0, given, given + total)
        free = setdiff1d(range_(total), summed)[0]
    free_sizes, summed_sizes = gather(whole, free), gather(whole, summed)
    counts = [reduce_prod(free_sizes), reduce_prod(summed_sizes)]
    order = concat([summed, free] if flipped else [free, summed], 0)
    wanted = stack(counts[::-1] if flipped else counts)
    return reshape(transpose(a, order), wanted), free_sizes, known


EXPORTS: Final[Mapping[str, Any]] = {
    "linalg.adjoint": adjoint,
    "linalg.matrix_transpose": matrix_transpose,
    "linalg.norm": norm,
    "linalg.tensordot": tensordot,
    "linalg.transpose": matrix_transpose,
    "matrix_transpose": matrix_transpose,
    "norm": norm,
    "tensordot": tensordot,
}
