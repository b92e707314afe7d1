"""`nn_ops.isotonic_regression`, for programs that import it by path. Source: TF 2.21."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from sessrun.reference.api.nn.activations import along_axis
from sessrun.reference.build.build import apply_op
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.graph.tensor import Tensor

__all__ = ["isotonic_regression"]

#: The dtypes of solutions that are not float64.
_SOLVED: Final = {
    "float32": "float32",
    "float16": "float16",
    "bfloat16": "bfloat16",
    "int8": "float32",
    "int16": "float32",
}


def isotonic_regression(inputs: Any, decreasing: bool = True, axis: int = -1) -> tuple[Tensor, ...]:
    """The nearest numbers along an axis that do not rise, or do not fall.

    Args:
      inputs: a tensor of numbers.
      decreasing: whether they may fall.
      axis: along which.

    Returns:
      The numbers, floating point ones of the shape of `inputs`, and for each the number of its
      piece: those of one piece are equal.

    Raises:
      InvalidArgumentError: there is no such axis.

    """
    value = convert_to_tensor(inputs)
    dtype = _SOLVED.get(value.dtype.name, "float64")

    def solved(rows: Tensor, name: str | None) -> Sequence[Tensor]:
        given = {"input": rows if decreasing else -rows}
        found, pieces = apply_op("IsotonicRegression", given, {"output_dtype": dtype}, name).outputs
        return (found if decreasing else -found), pieces

    return along_axis(solved, value, axis)
