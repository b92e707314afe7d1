"""Singular values, eigenvalues, and functions computed by them: rank, pseudo-inverse."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sessrun.reference.api.ops.array_ops import expand_dims
from sessrun.reference.api.ops.assertions import assert_rank_at_least
from sessrun.reference.api.ops.cast_ops import cast, real
from sessrun.reference.api.ops.math_ops import matmul
from sessrun.reference.api.ops.norms import norm
from sessrun.reference.api.ops.reduce_ops import reduce_max, reduce_sum
from sessrun.reference.api.ops.shape_ops import shape
from sessrun.reference.base import dtypes
from sessrun.reference.base.dtypes import DType
from sessrun.reference.base.tensor_shape import dimension_value
from sessrun.reference.build.build import apply_op
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.framework_ops import identity
from sessrun.reference.build.generated import maximum, select_v2
from sessrun.reference.build.tensor_like import TensorLike
from sessrun.reference.errors import bad_value
from sessrun.reference.graph import default_graph
from sessrun.reference.graph.name_scopes import name_scope
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public

__all__ = ["self_adjoint_eig", "svd"]


@public("linalg.svd", "svd")
def svd(
    tensor: TensorLike,
    full_matrices: bool = False,
    compute_uv: bool = True,
    name: str | None = None,
) -> Tensor | tuple[Tensor, Tensor, Tensor]:
    """The singular value decomposition of matrices.

    Args:
      tensor: matrices, of shape `[..., m, n]`.
      full_matrices: whether the matrices of vectors are square.
      compute_uv: whether the singular vectors are computed.
      name: the operation's name.

    Returns:
      The values in descending order, of shape `[..., p]` for p = min(m, n); with `compute_uv` a
      tuple of them and the vectors, of shapes `[..., m, p]` and `[..., n, p]`.

    """
    attrs = {"compute_uv": compute_uv, "full_matrices": full_matrices}
    values, left, right = apply_op("Svd", {"input": tensor}, attrs, name).outputs
    return (real(values), left, right) if compute_uv else real(values)


def _complex_of(tensor: Any) -> DType:
    """The complex dtype of the eigenvalues of a tensor.

    Raises:
      UnboundLocalError: its dtype is not float32, float64, complex64 or complex128.

    """
    dtype = dtypes.as_dtype(tensor.dtype).base_dtype
    for complex_dtype, parts in (
        (dtypes.complex64, dtypes.float32),
        (dtypes.complex128, dtypes.float64),
    ):
        if dtype in {complex_dtype, parts}:
            return complex_dtype
    raise UnboundLocalError(f"eigenvalues of {tensor.dtype} have no dtype")


def eig(tensor: TensorLike, name: str | None = None) -> tuple[Tensor, Tensor]:
    """The eigenvalues of square matrices, unordered, and the eigenvectors as columns."""
    attrs = {"Tout": _complex_of(tensor), "compute_v": True}
    op = apply_op("Eig", {"input": tensor}, attrs, name)
    return op.outputs[0], op.outputs[1]


def eigvals(tensor: TensorLike, name: str | None = None) -> Tensor:
    """The eigenvalues of square matrices, unordered."""
    attrs = {"Tout": _complex_of(tensor), "compute_v": False}
    return apply_op("Eig", {"input": tensor}, attrs, name).outputs[0]


@public("linalg.eigh", "self_adjoint_eig")
def self_adjoint_eig(tensor: TensorLike, name: str | None = None) -> tuple[Tensor, Tensor]:
    """The eigenvalues of Hermitian matrices in ascending order, and the eigenvectors."""
    op = apply_op("SelfAdjointEigV2", {"input": tensor}, {"compute_v": True}, name)
    return op.outputs[0], op.outputs[1]


@public("linalg.eigvalsh", "self_adjoint_eigvals")
def self_adjoint_eigvals(tensor: TensorLike, name: str | None = None) -> Tensor:
    """The eigenvalues of Hermitian matrices in ascending order."""
    op = apply_op("SelfAdjointEigV2", {"input": tensor}, {"compute_v": False}, name)
    return op.outputs[0]


def _checked(a: Tensor, validate_args: bool) -> Tensor:
    """The matrices, after checks of dtype and rank; `validate_args` checks an unknown rank later.

    Raises:
      TypeError: the dtype is not a floating-point dtype.
      ValueError: their rank is below 2.

    """
    if not a.dtype.is_floating:
        raise TypeError(f"Input `a` must have `float`-like `dtype` (saw {a.dtype.name}).")
    if a.shape.rank is not None:
        if a.shape.rank < 2:
            raise bad_value(f"Input `a` must have at least 2 dimensions (saw: {a.shape.rank}).")
        return a
    if not validate_args:
        return a
    message = "Input `a` must have at least 2 dimensions."
    held = [assert_rank_at_least(a, rank=2, message=message)]
    with default_graph.get_default_graph().control_dependencies(held):
        return identity(a)


@public("linalg.matrix_rank")
def matrix_rank(
    a: TensorLike,
    tol: Any = None,
    validate_args: bool = False,
    name: str | None = None,
) -> Tensor:
    """The rank of each matrix: the number of singular values above a tolerance.

    Args:
      a: matrices of floating point, of shape `[..., m, n]`.
      tol: the tolerance; by default it follows from the rounding error of the largest value.
      validate_args: whether shapes that are unknown are checked at run time.
      name: the operations' scope.

    Returns:
      An int32 tensor of shape `[...]`.

    Raises:
      TypeError: the dtype is not floating point.
      ValueError: the rank is below 2.

    """
    with name_scope(name or "matrix_rank"):
        a = _checked(convert_to_tensor(a, preferred_dtype=dtypes.float32, name="a"), validate_args)
        values = svd(a, compute_uv=False)
        if tol is None:
            if a.shape[-2:].is_fully_defined():
                side = np.max([size for size in a.shape[-2:].as_list() if size is not None])
            else:
                side = reduce_max(shape(a)[-2:])
            epsilon = np.finfo(a.dtype.as_numpy_dtype).eps
            tol = epsilon * cast(side, a.dtype) * reduce_max(values, axis=-1, keepdims=True)
        return reduce_sum(cast(values > tol, dtypes.int32), axis=-1)


def _side(a: Tensor, axis: int) -> int | Tensor:
    known = dimension_value(a.shape[axis]) if a.shape.rank is not None else None
    return shape(a)[axis] if known is None else known


@public("linalg.pinv")
def pinv(
    a: TensorLike,
    rcond: TensorLike | None = None,
    validate_args: bool = False,
    name: str | None = None,
) -> Tensor:
    """The Moore-Penrose pseudo-inverses of matrices, by their singular values.

    Args:
      a: matrices of floating point, of shape `[..., m, n]`.
      rcond: singular values below this fraction of the largest one count as zero.
      validate_args: whether shapes that are unknown are checked at run time.
      name: the operations' scope.

    Returns:
      A tensor of shape `[..., n, m]`.

    Raises:
      TypeError: the dtype is not floating point.
      ValueError: the rank is below 2.

    """
    with name_scope(name or "pinv"):
        a = _checked(convert_to_tensor(a, name="a"), validate_args)
        dtype = a.dtype.as_numpy_dtype
        if rcond is None:
            sides = _side(a, -2), _side(a, -1)
            is_known = all(isinstance(side, int) for side in sides)
            most = float(max(sides)) if is_known else cast(maximum(*sides), dtype)
            rcond = 10.0 * most * np.finfo(dtype).eps
        rcond = convert_to_tensor(rcond, dtype=dtype, name="rcond")
        values, left, right = svd(a, full_matrices=False, compute_uv=True)
        cutoff = rcond * reduce_max(values, axis=-1)
        kept = select_v2(values > expand_dims(cutoff, -1), values, np.array(np.inf, dtype))
        inverse = matmul(right / expand_dims(kept, -2), left, adjoint_b=True)
        if a.shape.rank is not None:
            inverse.set_shape(a.shape[:-2].concatenate([a.shape[-1], a.shape[-2]]))
        return inverse


@public("linalg.normalize")
def normalize(
    tensor: TensorLike,
    ord: str | float = "euclidean",  # noqa: A002 - TensorFlow's name
    axis: int | Sequence[int] | None = None,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """A tensor divided by its norm, and the norm; arguments and errors as for `norm`."""
    with name_scope(name, "normalize", [tensor]):
        tensor = convert_to_tensor(tensor)
        size = cast(norm(tensor, ord, axis, keepdims=True), tensor.dtype)
        return tensor / size, size
