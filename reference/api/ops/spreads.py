"""How far numbers lie apart: variance and standard deviation."""

from __future__ import annotations

from sessrun.reference.api.ops.cast_ops import conj, real
from sessrun.reference.api.ops.reduce_ops import reduce_mean
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.generated import mul, sqrt, square
from sessrun.reference.build.tensor_like import TensorLike
from sessrun.reference.errors import bad_type
from sessrun.reference.graph.name_scopes import name_scope
from sessrun.reference.graph.tensor import Tensor

__all__ = ["reduce_std", "reduce_variance"]


def reduce_variance(
    input_tensor: TensorLike,
    axis: TensorLike | None = None,
    keepdims: bool = False,
    name: str | None = None,
) -> Tensor:
    """The mean of the squared distances from the mean.

    Args:
      input_tensor: floating point or complex numbers.
      axis: the axes to reduce, by default all.
      keepdims: whether reduced dimensions stay, as 1.
      name: the operations' scope.

    Raises:
      TypeError: the numbers are integers.

    """
    with name_scope(name or "reduce_variance"):
        value = convert_to_tensor(input_tensor)
        mean = reduce_mean(value, axis=axis, keepdims=True)
        if mean.dtype.is_integer:
            raise bad_type(
                f"Input must be either real or complex. Received integer type {mean.dtype}."
            )
        apart = value - mean
        # The product of a number and its conjugate has no imaginary part.
        squares = real(mul(conj(apart), apart)) if apart.dtype.is_complex else square(apart)
        return reduce_mean(squares, axis=axis, keepdims=keepdims)


def reduce_std(
    input_tensor: TensorLike,
    axis: TensorLike | None = None,
    keepdims: bool = False,
    name: str | None = None,
) -> Tensor:
    """The root of the variance; arguments and errors are those of `reduce_variance`."""
    with name_scope(name or "reduce_std"):
        value = convert_to_tensor(input_tensor)
        return sqrt(reduce_variance(value, axis=axis, keepdims=keepdims))
