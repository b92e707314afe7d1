"""`tf.ragged.constant`: ragged tensors, and values of them, of nested lists. Source: TF 2.21."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from sessrun.reference.api.argument_types import TensorLike
from sessrun.reference.api.ragged_tensor import RaggedTensor, is_ragged
from sessrun.reference.api.ragged_values import RaggedTensorValue
from sessrun.reference.base import dtypes
from sessrun.reference.base.dtypes import DTypeLike
from sessrun.reference.base.tensor_shape import ShapeLike
from sessrun.reference.build.constant_op import constant as dense_constant
from sessrun.reference.graph.name_scopes import name_scope
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public

__all__ = ["constant", "constant_value"]


@public("ragged.constant")
def constant(
    pylist: object,
    dtype: DTypeLike | None = None,
    ragged_rank: int | None = None,
    inner_shape: Sequence[int] | None = None,
    name: str | None = None,
    row_splits_dtype: DTypeLike = dtypes.int64,
) -> Any:
    """A ragged tensor of nested lists; a tensor if no dimension is ragged.

    Args:
      pylist: the lists; all scalars are equally deep.
      dtype: the dtype of the values.
      ragged_rank: how many dimensions are ragged; by default all but the first.
      inner_shape: the shape of the innermost values; by default that of scalars, or of what
        `ragged_rank` leaves.
      name: the operations' scope.
      row_splits_dtype: int32 or int64.

    Raises:
      ValueError: the lists do not fit together, or with the arguments.
      TypeError: a value is ragged already.

    """
    splits_dtype = dtypes.as_dtype(row_splits_dtype)

    def dense(values: TensorLike, shape: ShapeLike, inner_name: str) -> Tensor:
        return dense_constant(values, dtype=dtype, shape=shape, name=inner_name)

    def ragged(values: TensorLike, splits: list[int]) -> RaggedTensor:
        return RaggedTensor.from_row_splits(
            values, dense_constant(splits, splits_dtype), validate=False
        )

    with name_scope(name, "RaggedConstant"):
        return _build(ragged, dense, pylist, ragged_rank, inner_shape)


@public("ragged.constant_value")
def constant_value(
    pylist: object,
    dtype: Any = None,
    ragged_rank: int | None = None,
    inner_shape: Sequence[int] | None = None,
    row_splits_dtype: DTypeLike = "int64",
) -> Any:
    """As `constant`, as a RaggedTensorValue or an array."""
    kind = dtypes.as_dtype(row_splits_dtype).as_numpy_dtype
    if isinstance(dtype, dtypes.DType):
        dtype = dtype.as_numpy_dtype

    def dense(values: Tensor, shape: Any, _: str) -> np.ndarray:
        array = np.array(values, dtype)
        return array if shape is None else array.reshape(shape)

    def ragged(values: Any, splits: list[int]) -> RaggedTensorValue:
        return RaggedTensorValue(values, np.array(splits, kind))

    return _build(ragged, dense, pylist, ragged_rank, inner_shape)


def _build(
    ragged: Callable[[Any, list[int]], Any],
    dense: Callable[[Any, Any, str], Any],
    pylist: Any,
    ragged_rank: int | None,
    inner_shape: Sequence[int] | None,
) -> Any:
    """Build a constant by functions for dense and for ragged values."""
    if is_ragged(pylist):
        raise TypeError("pylist may not be a RaggedTensor or RaggedTensorValue.")
    scalars, deepest = _depths(pylist)
    if deepest == 0:
        if ragged_rank:
            raise ValueError(
                f"Invalid pylist={pylist}: incompatible with ragged_rank={ragged_rank}"
            )
        return dense(pylist, (), "Const")
    _check(pylist, scalars, deepest, ragged_rank, inner_shape)
    inner = 0 if inner_shape is None else len(inner_shape)
    if ragged_rank == 0 or (ragged_rank is None and deepest - inner < 2):
        return dense(pylist, inner_shape, "Const")
    if ragged_rank is None:
        ragged_rank = max(1, (deepest if scalars is None else scalars - inner) - 1)
        row_shape = () if inner_shape is None else tuple(inner_shape)
    else:
        row_shape = _inner_shape(pylist, ragged_rank) if inner_shape is None else tuple(inner_shape)
    nested, values = [], pylist
    for _ in range(ragged_rank):
        lengths = [len(row) for row in values]
        nested.append([0, *np.cumsum(lengths, dtype=np.int64).tolist()])
        values = [row_value for row in values for row_value in row]
    result = dense(values, (len(values), *row_shape), "values")
    for splits in reversed(nested):
        result = ragged(result, splits)
    return result


def _is_list(item: Any) -> bool:
    return isinstance(item, list | tuple) or np.ndim(item) > 0


def _depths(item: Any) -> tuple[int | None, int]:
    """The depth of the scalars in nested lists (None without scalars), and that of the lists.

    Raises:
      ValueError: scalars are at different depths.

    """
    if not _is_list(item):
        return 0, 0
    scalars, deepest = None, 1
    for child in item:
        depth, most = _depths(child)
        if depth is not None:
            if scalars is not None and scalars != depth + 1:
                raise ValueError("all scalar values must have the same nesting depth")
            scalars = depth + 1
        deepest = max(deepest, most + 1)
    return scalars, deepest


def _check(
    pylist: object,
    scalars: int | None,
    deepest: int,
    ragged_rank: int | None,
    inner_shape: Any,
) -> None:
    """Refuse lists of inconsistent depths, or that do not match the arguments."""
    if ragged_rank is not None and ragged_rank < 0:
        raise ValueError(f"Invalid ragged_rank={ragged_rank}: must be nonnegative")
    if scalars is not None and deepest > scalars:
        raise ValueError(
            f"Invalid pylist={pylist}: empty list nesting is greater than scalar value nesting"
        )
    if ragged_rank is None:
        return
    if scalars is not None and deepest < ragged_rank:
        raise ValueError(
            f"Invalid pylist={pylist}, max depth smaller than ragged_rank={ragged_rank}"
        )
    if inner_shape is not None:
        wanted = ragged_rank + len(inner_shape) + 1
        if (wanted < deepest) if scalars is None else (wanted != scalars):
            raise ValueError(
                f"Invalid pylist={pylist}: incompatible with ragged_rank="
                f"{ragged_rank} and dim(inner_shape)={len(inner_shape)}"
            )


def _inner_shape(pylist: Any, ragged_rank: int) -> tuple[int, ...]:
    """The shape of the values within the ragged dimensions.

    Raises:
      ValueError: the shapes of the values differ, or a scalar is not at the greatest depth.

    """
    values = pylist
    for depth in range(ragged_rank):
        if not all(map(_is_list, values)):
            raise ValueError(
                f"pylist has scalar values depth {depth + 1}, but ragged_rank={ragged_rank} "
                f"requires scalar value depth greater than {ragged_rank}"
            )
        values = [item for row in values for item in row]
    try:
        return tuple(np.shape(values)[1:])
    except ValueError:
        raise ValueError("inner values have inconsistent shape") from None
