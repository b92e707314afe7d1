"""Functions of LU decompositions: both factors in one matrix, and a permutation of rows."""

from __future__ import annotations

from sessrun.reference.api.control_flow.map_fn import map_fn
from sessrun.reference.api.ops.array_ops import (
    broadcast_dynamic_shape,
    concat,
    gather,
    reshape,
    split,
    stack,
)
from sessrun.reference.api.ops.assertions import assert_equal, assert_rank, assert_rank_at_least
from sessrun.reference.api.ops.fill_ops import ones
from sessrun.reference.api.ops.gathering import gather_nd
from sessrun.reference.api.ops.math_ops import matmul, range_
from sessrun.reference.api.ops.matrix_diagonals import eye, matrix_set_diag
from sessrun.reference.api.ops.reduce_ops import reduce_prod
from sessrun.reference.api.ops.shape_ops import rank, shape
from sessrun.reference.api.ops.solving_ops import triangular_solve
from sessrun.reference.base import dtypes
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.framework_ops import identity
from sessrun.reference.build.generated import broadcast_to, invert_permutation, matrix_band_part
from sessrun.reference.build.tensor_like import TensorLike
from sessrun.reference.errors import bad_value
from sessrun.reference.graph import default_graph
from sessrun.reference.graph.name_scopes import name_scope
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public


def _factor_checks(factors: Tensor, perm: Tensor, validate_args: bool) -> list[Operation]:
    """Check shapes statically, and by assertions at run time if `validate_args` is set."""
    checks = []
    message = "Input `lower_upper` must have at least 2 dimensions."
    if factors.shape.rank is not None and factors.shape.rank < 2:
        raise bad_value(message)
    if validate_args:
        checks.append(assert_rank_at_least(factors, rank=2, message=message))
    message = "`rank(lower_upper)` must equal `rank(perm) + 1`"
    if factors.shape.rank is not None and perm.shape.rank is not None:
        if factors.shape.rank != perm.shape.rank + 1:
            raise bad_value(message)
    elif validate_args:
        checks.append(assert_rank(factors, rank=rank(perm) + 1, message=message))
    message = "`lower_upper` must be square."
    if factors.shape[:-2].is_fully_defined():
        if factors.shape[-2] != factors.shape[-1]:
            raise bad_value(message)
    elif validate_args:
        rows, columns = split(shape(factors)[-2:], num_or_size_splits=2)
        checks.append(assert_equal(rows, columns, message=message))
    return checks


def _side_checks(factors: Tensor, rhs: Tensor, validate_args: bool) -> list[Operation]:
    """As `_factor_checks`, for the right-hand sides."""
    checks = []
    message = "Input `rhs` must have at least 2 dimensions."
    if rhs.shape.ndims is not None:
        if rhs.shape.ndims < 2:
            raise bad_value(message)
    elif validate_args:
        checks.append(assert_rank_at_least(rhs, rank=2, message=message))
    message = "`lower_upper.shape[-1]` must equal `rhs.shape[-1]`."
    if factors.shape[-1] != rhs.shape[-2]:
        raise bad_value(message)
    return checks


def _after(checks: list[Operation], *tensors: Tensor) -> tuple[Tensor, ...]:
    if not checks:
        return tensors
    with default_graph.get_default_graph().control_dependencies(checks):
        return tuple(identity(tensor) for tensor in tensors)


def _reordered(rhs: Tensor, perm: Tensor) -> Tensor:
    """The right-hand sides with their rows permuted; the batch dimensions broadcast."""
    sizes = shape(rhs)
    batch = broadcast_dynamic_shape(sizes[:-2], shape(perm)[:-1])
    rows, columns = sizes[-2], sizes[-1]
    full_shape = concat([batch, [rows, columns]], axis=0)
    flat = reshape(broadcast_to(rhs, full_shape), [-1, rows, columns])
    order = reshape(broadcast_to(perm, full_shape[:-1]), [-1, rows])
    count = reduce_prod(batch)
    matrix_numbers = broadcast_to(range_(count)[:, None], [count, rows])
    return reshape(gather_nd(flat, stack([matrix_numbers, order], axis=-1)), full_shape)


@public("linalg.lu_solve")
def lu_solve(
    lower_upper: TensorLike,
    perm: TensorLike,
    rhs: TensorLike,
    validate_args: bool = False,
    name: str | None = None,
) -> Tensor:
    """Solve systems of linear equations whose matrices are given by LU factors.

    Args:
      lower_upper: the factors, of shape `[..., m, m]`.
      perm: the permutation of the rows, of shape `[..., m]`.
      rhs: of shape `[..., m, k]`.
      validate_args: whether shapes that are unknown are checked at run time.
      name: the operations' scope.

    Raises:
      ValueError: the shapes do not fit.

    """
    with name_scope(name or "lu_solve"):
        factors = convert_to_tensor(lower_upper, preferred_dtype=dtypes.float32, name="lower_upper")
        perm = convert_to_tensor(perm, preferred_dtype=dtypes.int32, name="perm")
        rhs = convert_to_tensor(rhs, preferred_dtype=factors.dtype, name="rhs")
        checks = _factor_checks(factors, perm, validate_args)
        checks += _side_checks(factors, rhs, validate_args)
        factors, perm, rhs = _after(checks, factors, perm, rhs)
        is_one = rhs.shape.rank == 2 and perm.shape.rank == 1
        permuted = gather(rhs, perm, axis=-2) if is_one else _reordered(rhs, perm)
        band = matrix_band_part(factors, num_lower=-1, num_upper=0)
        lower = matrix_set_diag(band, ones(shape(factors)[:-1], dtype=factors.dtype))
        return triangular_solve(factors, triangular_solve(lower, permuted), lower=False)


@public("linalg.lu_matrix_inverse")
def lu_matrix_inverse(
    lower_upper: TensorLike, perm: TensorLike, validate_args: bool = False, name: str | None = None
) -> Tensor:
    """The inverses of matrices given by LU factors; arguments as for `lu_solve`."""
    with name_scope(name or "lu_matrix_inverse"):
        factors = convert_to_tensor(lower_upper, preferred_dtype=dtypes.float32, name="lower_upper")
        perm = convert_to_tensor(perm, preferred_dtype=dtypes.int32, name="perm")
        factors, perm = _after(_factor_checks(factors, perm, validate_args), factors, perm)
        sizes = shape(factors)
        unit = eye(sizes[-1], batch_shape=sizes[:-2], dtype=factors.dtype)
        return lu_solve(factors, perm, rhs=unit, validate_args=False)


@public("linalg.lu_reconstruct")
def lu_reconstruct(
    lower_upper: TensorLike, perm: TensorLike, validate_args: bool = False, name: str | None = None
) -> Tensor:
    """The matrices whose LU factors are given; arguments as for `lu_solve`."""
    with name_scope(name or "lu_reconstruct"):
        factors = convert_to_tensor(lower_upper, preferred_dtype=dtypes.float32, name="lower_upper")
        perm = convert_to_tensor(perm, preferred_dtype=dtypes.int32, name="perm")
        factors, perm = _after(_factor_checks(factors, perm, validate_args), factors, perm)
        sizes = shape(factors)
        band = matrix_band_part(factors, num_lower=-1, num_upper=0)
        lower = matrix_set_diag(band, ones(sizes[:-1], dtype=factors.dtype))
        upper = matrix_band_part(factors, num_lower=0, num_upper=-1)
        product = matmul(lower, upper)
        if factors.shape.rank is None or factors.shape.rank != 2:
            product = _unpermuted(product, perm, sizes)
        else:
            product = gather(product, invert_permutation(perm))
        product.set_shape(factors.shape)
        return product


def _unpermuted(product: Tensor, perm: Tensor, sizes: Tensor) -> Tensor:
    """Undo the permutation of the rows of a batch of matrices."""
    count, side = reduce_prod(sizes[:-2]), sizes[-1]
    flat = reshape(product, [count, side, side])
    order = map_fn(invert_permutation, reshape(perm, [count, side]))
    matrix_numbers = broadcast_to(range_(count)[:, None], [count, side])
    return reshape(gather_nd(flat, stack([matrix_numbers, order], axis=-1)), sizes)
