"""Matrices from diagonals, diagonals of matrices, identity matrices and traces."""

from __future__ import annotations

import numbers
from typing import Any, Final

from sessrun.reference.api.ops.array_ops import concat
from sessrun.reference.api.ops.fill_ops import ones, zeros
from sessrun.reference.api.ops.reduce_ops import reduce_sum
from sessrun.reference.base import dtypes
from sessrun.reference.base.dtypes import DTypeLike
from sessrun.reference.build.build import apply_op
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.generated import minimum
from sessrun.reference.build.tensor_like import TensorLike
from sessrun.reference.graph.name_scopes import name_scope
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public

__all__ = ["eye"]

#: The default alignment of shorter diagonals: right above the main one, left below it.
_ALIGN: Final = "RIGHT_LEFT"


def _padding(value: TensorLike, padding_value: TensorLike) -> TensorLike:
    """The padding value in the dtype of the diagonals, a bool for those of bools."""
    is_bool = getattr(value, "dtype", None) in {dtypes.bool_, "bool"}
    return bool(padding_value) if is_bool else padding_value


@public("linalg.diag", "matrix_diag")
def matrix_diag(
    diagonal: TensorLike,
    name: str = "diag",
    k: TensorLike = 0,
    num_rows: TensorLike = -1,
    num_cols: TensorLike = -1,
    padding_value: TensorLike = 0,
    align: str = _ALIGN,
) -> Tensor:
    """Matrices with rows of a tensor on their diagonals.

    Args:
      diagonal: diagonals along the last dimension; those of a band in the last two, highest first.
      name: the operation's name.
      k: the index of the diagonal, positive above the main one; or the lowest and highest index.
      num_rows: the number of rows, by default the least that fits.
      num_cols: the number of columns, by default the least that fits.
      padding_value: the value of the other elements.
      align: the alignment of shorter diagonals in their rows: `RIGHT_LEFT` and the like, for those
        above and below the main one.

    Raises:
      ValueError: the diagonals do not fit.

    """
    inputs = {
        "diagonal": diagonal,
        "k": k,
        "num_rows": num_rows,
        "num_cols": num_cols,
        "padding_value": _padding(diagonal, padding_value),
    }
    return apply_op("MatrixDiagV3", inputs, {"align": align}, name).outputs[0]


@public("linalg.diag_part", "matrix_diag_part")
def matrix_diag_part(
    input: TensorLike,  # noqa: A002 - TensorFlow's name
    name: str = "diag_part",
    k: TensorLike = 0,
    padding_value: TensorLike = 0,
    align: str = _ALIGN,
) -> Tensor:
    """Diagonals of matrices; arguments and errors as for `matrix_diag`."""
    inputs = {"input": input, "k": k, "padding_value": _padding(input, padding_value)}
    return apply_op("MatrixDiagPartV3", inputs, {"align": align}, name).outputs[0]


@public("linalg.set_diag", "matrix_set_diag")
def matrix_set_diag(
    input: TensorLike,  # noqa: A002 - TensorFlow's name
    diagonal: TensorLike,
    name: str = "set_diag",
    k: TensorLike = 0,
    align: str = _ALIGN,
) -> Tensor:
    """Matrices with replaced diagonals; arguments and errors as for `matrix_diag`."""
    inputs = {"input": input, "diagonal": diagonal, "k": k}
    return apply_op("MatrixSetDiagV3", inputs, {"align": align}, name).outputs[0]


@public("eye", "linalg.eye")
def eye(
    num_rows: int | Tensor | None,
    num_columns: int | Tensor | None = None,
    batch_shape: Any = None,
    dtype: DTypeLike = dtypes.float32,
    name: str | None = None,
) -> Tensor:
    """Identity matrices: ones on the main diagonal, zeros elsewhere.

    Args:
      num_rows: the number of rows.
      num_columns: the number of columns, by default that of rows.
      batch_shape: the shape of the batch of matrices.
      dtype: a dtype of numbers.
      name: the operations' scope.

    Raises:
      TypeError: a size is neither an integer nor a tensor.

    """
    with name_scope(name, "eye", [num_rows, num_columns, batch_shape]):
        is_square = num_columns is None
        sides: list[Any] = [num_rows, num_rows if is_square else num_columns]
        batch = [] if batch_shape is None else batch_shape
        if any(isinstance(side, Tensor) for side in sides):
            least: Any = minimum(*sides)
        else:
            if not all(isinstance(side, numbers.Integral) for side in sides):
                raise TypeError(
                    "Arguments `num_rows` and `num_columns` must be positive integer values. "
                    f"Received: num_rows={sides[0]}, num_columns={sides[1]}"
                )
            is_square = sides[0] == sides[1]
            least = min(sides)
        if isinstance(batch, Tensor) or isinstance(least, Tensor):
            before = convert_to_tensor(batch, name="shape", dtype=dtypes.int32)
            shape: Any = concat((before, [least]), axis=0)
            full_shape: Any = None if is_square else concat((before, sides), axis=0)
        else:
            shape, full_shape = [*batch, least], [*batch, *sides]
        diagonal = ones(shape, dtype)
        if is_square:
            return matrix_diag(diagonal)
        return matrix_set_diag(zeros(full_shape, dtype), diagonal)


@public("linalg.trace", "trace")
def trace(x: TensorLike, name: str | None = None) -> Tensor:
    """The sums of the main diagonals of matrices."""
    with name_scope(name, "Trace", [x]) as scope:
        value = convert_to_tensor(x, name="x")
        return reduce_sum(matrix_diag_part(value), [-1], name=scope)
