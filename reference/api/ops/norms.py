"""`tf.norm`: the norms of vectors and matrices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from sessrun.reference.api.control_flow.conditional import cond
from sessrun.reference.api.control_flow.map_fn import map_fn
from sessrun.reference.api.ops.array_ops import (
    concat,
    expand_dims,
    rank,
    setdiff1d,
    squeeze,
    transpose,
    where,
)
from sessrun.reference.api.ops.cast_ops import cast, conj
from sessrun.reference.api.ops.math_ops import absolute, equal, range_
from sessrun.reference.api.ops.reduce_ops import reduce_max, reduce_sum
from sessrun.reference.base import dtypes
from sessrun.reference.build.build import apply_op
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.generated import pow as power
from sessrun.reference.build.generated import sqrt
from sessrun.reference.build.tensor_like import TensorLike
from sessrun.reference.errors import bad_value
from sessrun.reference.graph.name_scopes import name_scope
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public

__all__ = ["norm"]

#: The norms of matrices, and the named norms of vectors.
_OF_MATRICES: Final = ("euclidean", "fro", 1, 2, np.inf)


@public("linalg.norm", "norm")
def norm(
    tensor: TensorLike,
    ord: str | float = "euclidean",  # noqa: A002 - TensorFlow's name
    axis: int | Sequence[int] | None = None,
    keepdims: bool | None = None,
    name: str | None = None,
    keep_dims: bool | None = None,
) -> Tensor:
    """The norm of vectors or matrices.

    Args:
      tensor: floating point or complex numbers.
      ord: "euclidean", for matrices also "fro", or a positive number or infinity; for matrices 1
        and infinity, the greatest sum of a column or row, 2, the greatest singular value.
      axis: the axis of the vectors, the two of the matrices, or None for all numbers as a vector.
      keepdims: whether reduced axes stay, with size 1.
      name: the operations' scope.
      keep_dims: the older name of `keepdims`.

    Raises:
      ValueError: the norm is unknown, or the axis is invalid.

    """
    if keepdims is not None and keep_dims is not None:
        raise bad_value("Cannot specify both 'keep_dims' and 'keepdims'.")
    axes = _axes_of_norm(axis)
    is_matrix = axes is not None and len(axes) == 2
    _check_norm(ord, is_matrix)
    with name_scope(name, "norm", [tensor]):
        norms = _norm(convert_to_tensor(tensor), ord, axes, is_matrix)
        return norms if keepdims or keep_dims else squeeze(norms, axes and list(axes))


def _axes_of_norm(axis: Any) -> tuple[int, ...] | None:
    if axis is None:
        return None
    if isinstance(axis, int):
        return (axis,)
    two = axis if isinstance(axis, list | tuple) and len(axis) == 2 else (None, None)
    if not (isinstance(two[0], int) and isinstance(two[1], int)) or two[0] == two[1]:
        raise bad_value(
            f"'axis' must be None, an integer, or a tuple of 2 unique integers, got {axis}"
        )
    return two[0], two[1]


def _check_norm(order: Any, is_matrix: bool) -> None:
    if is_matrix:
        if order not in _OF_MATRICES:
            raise bad_value(
                f"'ord' must be a supported matrix norm in {list(_OF_MATRICES)}, got {order}"
            )
    elif order != "euclidean" and (isinstance(order, str) or order <= 0):
        raise bad_value(f"'ord' must be a supported vector norm, got {order}")


def _norm(value: Tensor, order: Any, axes: tuple[int, ...] | None, is_matrix: bool) -> Tensor:
    listed = axes and list(axes)
    if axes and is_matrix and order == 2:
        return _greatest_singular_value(value, axes)
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


def _greatest_singular_value(value: Tensor, axes: tuple[int, ...]) -> Tensor:
    """The greatest singular value along two axes, which are moved to the end and back."""
    count = rank(value)
    positive = map_fn(
        lambda axis: cond(axis >= 0, lambda: axis, lambda: axis + count), convert_to_tensor(axes)
    )
    all_axes = range_(count)
    there = concat([setdiff1d(all_axes, positive, dtypes.int32)[0], positive], 0)
    back = map_fn(lambda axis: cast(squeeze(where(equal(there, axis))), dtypes.int32), all_axes)
    moved = transpose(value, there)
    values = apply_op("Svd", {"input": moved}, {"compute_uv": False}, None).outputs[0]
    greatest = reduce_max(absolute(values), -1, keepdims=True)
    return transpose(expand_dims(greatest, -1), back)
