"""The exponential of matrices, by Padé approximants and repeated squares, as in TensorFlow.

Source: Higham, Functions of Matrices; the bounds of its Table 10.2 and its coefficients.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from sessrun.reference.api.control_flow.conditional import cond
from sessrun.reference.api.control_flow.while_loops import while_loop
from sessrun.reference.api.ops.array_ops import concat, reshape
from sessrun.reference.api.ops.cast_ops import cast
from sessrun.reference.api.ops.fill_ops import fill
from sessrun.reference.api.ops.math_ops import absolute, matmul
from sessrun.reference.api.ops.matrix_diagonals import eye
from sessrun.reference.api.ops.reduce_ops import reduce_max, reduce_sum
from sessrun.reference.api.ops.shape_ops import shape, size
from sessrun.reference.base import dtypes
from sessrun.reference.build.constant_op import constant
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.generated import (
    floor,
    is_finite,
    less,
    log,
    matrix_solve,
    maximum,
    select_v2,
)
from sessrun.reference.build.generated import pow as power
from sessrun.reference.build.tensor_like import TensorLike
from sessrun.reference.errors import bad_value
from sessrun.reference.graph.name_scopes import name_scope
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public

#: For single and double precision: the orders of the approximants; the norms below which each but
#: the last is accurate; and the norm that matrices are scaled to for the last degree.
_SINGLE: Final = ((3, 5, 7), (4.258730016922831e-001, 1.880152677804762e000), 3.925724783138660)
_DOUBLE: Final = (
    (3, 5, 7, 9, 13),
    (1.495585217958292e-002, 2.539398330063230e-001, 9.504178996162932e-001,
     2.097847961257068e000),
    5.371920351148152,
)  # fmt: skip


def _coefficients(order: int) -> list[float]:
    """Coefficients of the Padé numerator by rising power, without the highest, which is 1."""
    factorial = math.factorial
    return [
        float(factorial(2 * order - power) // (factorial(power) * factorial(order - power)))
        for power in range(order)
    ]


def _weighted(terms: Sequence[tuple[Tensor | None, Tensor]]) -> Any:
    """A weighted sum of tensors, from left to right; a weight of None counts as 1."""
    total = None
    for weight, x in terms:
        term = x if weight is None else weight * x
        total = term if total is None else total + term
    return total


def _approximant(matrix: Tensor, order: int) -> tuple[Tensor, Tensor]:
    """The odd and the even part of the Padé numerator of an order."""
    weights: Any = [constant(number, matrix.dtype) for number in _coefficients(order)]
    sizes = shape(matrix)
    unit = eye(sizes[-2], batch_shape=shape(matrix)[:-2], dtype=matrix.dtype)
    powers: dict[int, Tensor] = {0: unit, 2: matmul(matrix, matrix)}
    if order > 3:
        powers[4] = matmul(powers[2], powers[2])
    for exponent in range(6, 7 if order == 13 else order, 2):
        powers[exponent] = matmul(powers[exponent - 2], powers[2])
    if order == 13:
        return _thirteenth(matrix, weights, powers)
    highest = order - 1
    odd = [(None, powers[highest])]
    odd += [(weights[degree + 1], powers[degree]) for degree in range(highest - 2, -2, -2)]
    even = [(weights[degree], powers[degree]) for degree in range(highest, -2, -2)]
    return matmul(matrix, _weighted(odd)), _weighted(even)


def _thirteenth(
    matrix: Tensor, b: Sequence[Tensor], powers: dict[int, Tensor]
) -> tuple[Tensor, Tensor]:
    unit, second, fourth, sixth = (powers[degree] for degree in (0, 2, 4, 6))
    inner = matmul(sixth, sixth + b[11] * fourth + b[9] * second)
    odd = _weighted([(None, inner), (b[7], sixth), (b[5], fourth), (b[3], second), (b[1], unit)])
    odd_part = matmul(matrix, odd)
    inner = matmul(sixth, b[12] * sixth + b[10] * fourth + b[8] * second)
    even = _weighted([(None, inner), (b[6], sixth), (b[4], fourth), (b[2], second), (b[0], unit)])
    return odd_part, even


def _first_below(norm: Tensor, bounds: Sequence[float], cases: Sequence[Tensor]) -> Tensor:
    """The value of the first case whose bound is above the norm, else of the last one."""
    first, *others = bounds
    is_below = less(norm, constant(first, norm.dtype))
    rest = _first_below(norm, others, cases[1:]) if others else cases[1]
    return select_v2(is_below, cases[0], rest)


@public("linalg.expm")
def matrix_exponential(
    input: TensorLike,  # noqa: A002 - TensorFlow's name
    name: str | None = None,
) -> Tensor:
    """The exponentials of square matrices.

    Args:
      input: floating point or complex matrices of shape `[..., m, m]`.
      name: the operations' scope.

    Returns:
      A tensor of the same dtype and shape; NaN where an element is not finite.

    Raises:
      ValueError: the dtype is another one.

    """
    with name_scope(name, "matrix_exponential", [input]):
        matrix = convert_to_tensor(input, name="input")
        if matrix.shape[-2:] == [0, 0]:
            return matrix
        batch: Any = matrix.shape[:-2]
        if not batch.is_fully_defined():
            batch = shape(matrix)[:-2]
        matrix = reshape(matrix, concat(([-1], shape(matrix)[-2:]), axis=0))
        columns = reduce_sum(absolute(matrix), axis=size(shape(matrix)) - 2)
        norm = reduce_max(columns, axis=-1)[..., None, None]
        exponential = _squared(norm, *_scaled_approximant(matrix, norm), matrix)
        if not matrix.shape.is_fully_defined():
            return reshape(exponential, concat((batch, shape(exponential)[-2:]), axis=0))
        return reshape(exponential, batch.concatenate(exponential.shape[-2:]))


def _scaled_approximant(matrix: Tensor, norm: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Both parts of the approximant, and the number of squarings of its result."""
    orders: tuple[int, ...]
    bounds: tuple[float, ...]
    if matrix.dtype in {dtypes.float16, dtypes.float32, dtypes.complex64}:
        orders, bounds, most = _SINGLE
    elif matrix.dtype in {dtypes.float64, dtypes.complex128}:
        orders, bounds, most = _DOUBLE
    else:
        raise bad_value(f"tf.linalg.expm does not support matrices of type {matrix.dtype}")
    largest = constant(most, norm.dtype)
    excess = log(norm / largest) / log(constant(2.0, norm.dtype))
    squarings = maximum(floor(excess), 0)
    parts = [_approximant(matrix, order) for order in orders[:-1]]
    scale = cast(power(constant(2.0, norm.dtype), squarings), matrix.dtype)
    parts.append(_approximant(matrix / scale, orders[-1]))
    odd, even = (_first_below(norm, bounds, [part[side] for part in parts]) for side in (0, 1))
    return odd, even, squarings


def _squared(norm: Tensor, odd: Tensor, even: Tensor, squarings: Tensor, matrix: Tensor) -> Tensor:
    """The quotient of both parts, squared as often as the matrix was halved."""
    all_finite = is_finite(reduce_max(norm))
    nan = constant(np.nan, matrix.dtype)
    result = cond(
        all_finite, lambda: matrix_solve(-odd + even, odd + even), lambda: fill(shape(matrix), nan)
    )
    most = reduce_max(squarings)
    start = constant(0.0, norm.dtype)

    def has_squarings(step: Tensor, _: Tensor) -> Any:
        return cond(all_finite, lambda: less(step, most), lambda: constant(False))

    def squared(step: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        return step + 1, select_v2(less(step, squarings), matmul(value, value), value)

    exponential: Tensor = while_loop(has_squarings, squared, [start, result])[1]
    return exponential
