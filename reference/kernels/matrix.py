"""Kernels of matrix products, diagonals and functions.

scipy's logarithm is written in Python: one of 32 x 32 takes five to ten times TensorFlow's time.
"""

from __future__ import annotations

import warnings
from typing import Final

from sessrun.reference.base.arrays import Array, ArrayModule
from sessrun.reference.base.kernel_errors import FailedPrecondition, InvalidArgument
from sessrun.reference.kernels.decompositions import square
from sessrun.reference.kernels.elementwise import widened
from sessrun.reference.kernels.host import HOST, dtype_of
from sessrun.reference.kernels.input_shapes import (
    one_number,
    require_rank,
    require_rank_at_least,
    require_same_shape,
)
from sessrun.reference.kernels.registry import Bind, KernelFunction, binder, kernel
from sessrun.reference.kernels.scientific import fixed_random_state, linear_algebra
from sessrun.reference.kernels.small_products import host_product


@kernel("MatMul")
@widened
def matmul(xp: ArrayModule, a: Array, b: Array, *, transpose_a: bool, transpose_b: bool) -> Array:
    """The product of two matrices, either of which may be transposed first."""
    if a.ndim != 2 or b.ndim != 2:
        require_rank(2, a=a, b=b)
    left = a.T if transpose_a else a
    right = b.T if transpose_b else b
    if left.shape[1] != right.shape[0]:
        raise InvalidArgument(f"Matrix size-incompatible: In[0]: {a.shape}, In[1]: {b.shape}")
    return host_product(left, right) if xp is HOST else xp.matmul(left, right)


def _adjoint(xp: ArrayModule, x: Array) -> Array:
    turned = xp.swapaxes(x, -1, -2)
    return xp.conj(turned) if x.dtype.kind == "c" else turned


@kernel("BatchMatMul")
def plain_batch_matmul(xp: ArrayModule, x: Array, y: Array, *, adj_x: bool, adj_y: bool) -> Array:
    """As BatchMatMulV2; the batches must have the same dimensions."""
    if x.shape[:-2] != y.shape[:-2]:
        raise InvalidArgument(
            f"In[0] and In[1] have different batch dimensions: {x.shape}, {y.shape}"
        )
    return batch_matmul(xp, x, y, adj_x=adj_x, adj_y=adj_y)


@kernel("BatchMatMulV2")
@widened
def batch_matmul(xp: ArrayModule, x: Array, y: Array, *, adj_x: bool, adj_y: bool) -> Array:
    """The products of two batches of matrices, either of which may be replaced by its adjoints."""
    require_rank_at_least(2, x=x, y=y)
    left = _adjoint(xp, x) if adj_x else x
    right = _adjoint(xp, y) if adj_y else y
    if left.shape[-1] != right.shape[-2]:
        raise InvalidArgument(f"Matrix size-incompatible: In[0]: {x.shape}, In[1]: {y.shape}")
    return host_product(left, right) if xp is HOST else xp.matmul(left, right)


#: Dtypes whose products have a wider dtype.
_BYTES: Final = frozenset({"int8", "uint8"})


@binder("BatchMatMulV3", devices=("CPU",))
def mixed_batch_matmul(bind: Bind) -> KernelFunction:
    """The products of two batches of matrices of one dtype, of bytes, or of bytes and bfloat16.

    Raises:
      KernelError: the dtypes are no supported combination.

    """
    left, right, out = kinds = [bind.attrs[name] for name in ("Ta", "Tb", "Tout")]
    short = {left, right} - _BYTES
    is_mixed = len(short) < 2 and short <= {"bfloat16"} and {left, right} & _BYTES
    if (
        out != (("bfloat16" if short else "int32") if is_mixed else left)
        or out == "float16"
        or not (is_mixed or left == right)
    ):
        raise InvalidArgument(
            f"No OpKernel was registered to support Op 'BatchMatMulV3' of {kinds}"
        )
    turned = {name: bind.attrs[name] for name in ("adj_x", "adj_y")}
    if not is_mixed:
        return lambda x, y: batch_matmul(bind.xp, x, y, **turned)
    dtype = dtype_of(out)
    wide = "float32" if short else dtype
    return lambda x, y: batch_matmul(bind.xp, x.astype(wide), y.astype(wide), **turned).astype(
        dtype
    )


@kernel("Cross")
@widened
def cross(xp: ArrayModule, a: Array, b: Array) -> Array:
    """The cross products of the vectors in the last dimension."""
    require_same_shape(a=a, b=b)
    if not a.ndim:
        raise InvalidArgument("Input must be at least 1D")
    if a.shape[-1] != 3:
        raise FailedPrecondition(
            f"Cross-products are only defined for 3-element vectors: {a.shape}"
        )
    parts = [a[..., i] * b[..., j] - a[..., j] * b[..., i] for i, j in ((1, 2), (2, 0), (0, 1))]
    return xp.stack(parts, axis=-1)


@kernel("Diag")
def diag(xp: ArrayModule, diagonal: Array) -> Array:
    """Zeros with the input on the diagonal.

    Large results, of 100 MB, take three times TensorFlow's time: their memory is fresh from the
    system in every run, where TensorFlow's allocator keeps its own.
    """
    if diagonal.ndim == 0:
        raise InvalidArgument("Input must be at least rank 1, got 0")
    size = diagonal.size
    flat = xp.zeros((size * size,), dtype=diagonal.dtype)
    flat[:: size + 1] = diagonal.reshape(-1)
    return flat.reshape(diagonal.shape * 2)


@kernel("DiagPart")
def diag_part(_: ArrayModule, x: Array) -> Array:
    """The diagonal of a tensor whose shape is one shape twice."""
    half = x.ndim // 2
    if x.ndim % 2 or x.shape[:half] != x.shape[half:]:
        raise InvalidArgument(f"Invalid shape {x.shape}: must be one shape twice")
    size = 1
    for dim in x.shape[:half]:
        size *= dim
    return x.reshape(-1)[:: size + 1].reshape(x.shape[:half])


@kernel("MatrixDiag", "BatchMatrixDiag")
def matrix_diag(xp: ArrayModule, diagonal: Array) -> Array:
    """Matrices with the input's rows on their diagonals."""
    if diagonal.ndim == 0:
        raise InvalidArgument("diagonal must be at least 1-dim, received shape: []")
    size = diagonal.shape[-1]
    out = xp.zeros((*diagonal.shape, size), dtype=diagonal.dtype)
    steps = xp.arange(size)
    out[..., steps, steps] = diagonal
    return out


@kernel("MatrixDiagPart", "BatchMatrixDiagPart")
def matrix_diag_part(xp: ArrayModule, x: Array) -> Array:
    """The diagonals of the innermost matrices."""
    require_rank_at_least(2, x=x)
    steps = xp.arange(min(x.shape[-2:]))
    return x[..., steps, steps]


@kernel("MatrixSetDiag", "BatchMatrixSetDiag")
def matrix_set_diag(xp: ArrayModule, x: Array, diagonal: Array) -> Array:
    """The input with the diagonals of its innermost matrices replaced."""
    require_rank_at_least(2, x=x)
    wanted = (*x.shape[:-2], min(x.shape[-2:]))
    if diagonal.shape != wanted:
        raise InvalidArgument(f"must have diagonal.shape == {wanted}, got {diagonal.shape}")
    out = x.copy()
    steps = xp.arange(wanted[-1])
    out[..., steps, steps] = diagonal
    return out


@kernel("MatrixBandPart", "BatchMatrixBandPart", host_inputs=("num_lower", "num_upper"))
def matrix_band_part(xp: ArrayModule, x: Array, num_lower: Array, num_upper: Array) -> Array:
    """The innermost matrices, zero outside a band; a negative width keeps all of that side."""
    require_rank_at_least(2, x=x)
    rows, columns = x.shape[-2:]
    lower = one_number(num_lower, "num_lower")
    upper = one_number(num_upper, "num_upper")
    if lower > rows or upper > columns:
        raise InvalidArgument(f"num_lower and num_upper must be at most {rows} and {columns}")
    below = xp.arange(rows)[:, None] - xp.arange(columns)[None, :]
    inside = xp.ones((rows, columns), dtype=bool)
    if lower >= 0:
        inside &= below <= lower
    if upper >= 0:
        inside &= -below <= upper
    return xp.where(inside, x, xp.zeros((), dtype=x.dtype))


def _of_matrices(xp: ArrayModule, x: Array, name: str) -> Array:
    """The function of each matrix, computed in double precision; NaN if a real one has none."""
    results = xp.empty(x.shape, dtype=x.dtype)
    if not square(x).size:
        return results
    flat = results.reshape((-1, *x.shape[-2:]))
    function = getattr(linear_algebra(), name)
    wide = x.astype("complex128" if x.dtype.kind == "c" else "float64").reshape(flat.shape)
    with warnings.catch_warnings(), fixed_random_state():
        warnings.simplefilter("ignore")  # scipy warns of results that are NaN
        for i, matrix in enumerate(wide):
            value = function(matrix)
            is_other = value.dtype.kind == "c" and x.dtype.kind != "c" and bool(value.imag.any())
            fits = value if x.dtype.kind == "c" else value.real
            flat[i] = float("nan") if is_other else fits
    return results


@kernel("MatrixSquareRoot", devices=("CPU",))
def matrix_square_root(xp: ArrayModule, x: Array) -> Array:
    """The principal square root of each matrix."""
    return _of_matrices(xp, x, "sqrtm")


@kernel("MatrixLogarithm", devices=("CPU",))
def matrix_logarithm(xp: ArrayModule, x: Array) -> Array:
    """The principal logarithm of each complex matrix."""
    return _of_matrices(xp, x, "logm")


@kernel("MatrixExponential", devices=("CPU",))
def matrix_exponential(xp: ArrayModule, x: Array) -> Array:
    """The exponential of each matrix."""
    return _of_matrices(xp, x, "expm")
