"""Gradients of matrices' factors, eigenvalues, singular values and roots. Source: TF 2.21."""

from __future__ import annotations

from sessrun.reference.api.ops.array_ops import concat, expand_dims, reshape, slice_
from sessrun.reference.api.ops.cast_ops import cast, conj, real
from sessrun.reference.api.ops.decomposition_ops import self_adjoint_eig, svd
from sessrun.reference.api.ops.fill_ops import zeros_like
from sessrun.reference.api.ops.linalg_ops import adjoint, matrix_transpose
from sessrun.reference.api.ops.math_ops import add, matmul
from sessrun.reference.api.ops.matrix_diagonals import (
    eye,
    matrix_diag,
    matrix_diag_part,
    matrix_set_diag,
)
from sessrun.reference.api.ops.reduce_ops import reduce_prod
from sessrun.reference.api.ops.shape_ops import shape, size
from sessrun.reference.api.ops.solving_ops import triangular_solve
from sessrun.reference.build.generated import (
    matrix_band_part,
    matrix_solve,
    reciprocal,
    square,
    tile,
)
from sessrun.reference.build.generated import sub as subtract
from sessrun.reference.build.gradient_nodes import gradient, nodes
from sessrun.reference.build.gradient_registry import Gradients
from sessrun.reference.graph.default_graph import get_default_graph
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor


@gradient("Cholesky")
def _cholesky(op: Operation, grad: Tensor) -> Gradients:
    factor = op.outputs[0]
    rows, batch = shape(factor)[-1], shape(factor)[:-2]
    inverse = triangular_solve(factor, eye(rows, batch_shape=batch, dtype=factor.dtype))
    middle = matmul(factor, grad, adjoint_a=True)
    middle = matrix_set_diag(middle, 0.5 * matrix_diag_part(middle))
    middle = matrix_band_part(middle, -1, 0)
    by_matrix = matmul(matmul(inverse, middle, adjoint_a=True), inverse)
    by_matrix = by_matrix + adjoint(by_matrix)
    return by_matrix * 0.5


def _over_upper(x: Tensor, r: Tensor) -> Tensor:
    """X times the inverse of the adjoint of an upper triangular matrix."""
    return adjoint(triangular_solve(r, adjoint(x), lower=False, adjoint=False))


def _of_deep(q: Tensor, r: Tensor, dq: Tensor, dr: Tensor) -> Tensor:
    """The gradient where there are at least as many rows as columns."""
    qdq = matmul(q, dq, adjoint_a=True)
    of_q = qdq - adjoint(qdq)
    rdr = matmul(r, dr, adjoint_b=True)
    of_r = rdr - adjoint(rdr)
    lower = matrix_band_part(of_q + of_r, -1, 0)
    first = matmul(q, dr + _over_upper(lower, r))
    second = _over_upper(dq - matmul(q, qdq), r)
    result = first + second
    if not q.dtype.is_complex:
        return result
    both = rdr - adjoint(qdq)
    diagonal = matrix_set_diag(zeros_like(both), matrix_diag_part(both))
    correction = diagonal - cast(real(diagonal), q.dtype)
    return result + _over_upper(matmul(q, adjoint(correction)), r)


@gradient("Qr")
def _qr(op: Operation, dq: Tensor, dr: Tensor) -> Gradients:
    q, r = op.outputs
    if r.shape.rank is None or None in r.shape.as_list()[-2:]:
        raise NotImplementedError(
            f"QrGrad not implemented with dynamic shapes. Received r.shape: {r.shape}"
        )
    high, wide = _known_sides(r)
    rows, inner = _known_sides(q)
    if high > wide and rows == inner:
        raise NotImplementedError(
            "QrGrad not implemented when nrows > ncols and full_matrices is true. Received "
            f"r.shape={r.shape} with nrows={high}and ncols={wide}."
        )
    if rows >= wide:
        return _of_deep(q, r, dq, dr)
    y = op.inputs[0][..., :, rows:]
    u = r[..., :, :rows]
    of_rest = dr[..., :, rows:]
    of_u = dr[..., :, :rows]
    dy = matmul(q, of_rest)
    dx = _of_deep(q, u, dq + matmul(y, of_rest, adjoint_b=True), of_u)
    return concat([dx, dy], axis=-1)


def _known_sides(x: Tensor) -> tuple[int, int]:
    """The two last dimensions of a tensor, which are known."""
    rows, columns = (size for size in x.shape.as_list()[-2:] if size is not None)
    return rows, columns


def _inverse(x: Tensor) -> Tensor:
    """1 / x, and 0 for 0."""
    return x * reciprocal(x * x + 1e-20)


def _inverse_gaps(values: Tensor, like: Tensor | None = None) -> Tensor:
    """The inverses of the differences of values, two by two; 0 on the diagonal."""
    gaps = expand_dims(values, -2) - expand_dims(values, -1)
    return matrix_set_diag(_inverse(gaps), zeros_like(values if like is None else like))


@gradient("Eig")
def _eig(op: Operation, grad_e: Tensor, grad_v: Tensor) -> Gradients:
    values = op.outputs[0]
    with get_default_graph().control_dependencies([grad_e, grad_v]):
        if op.get_attr("compute_v"):
            vectors = op.outputs[1]
            turned = adjoint(vectors)
            gaps = conj(_inverse_gaps(values))
            product = matmul(turned, grad_v)
            middle = matrix_diag(grad_e)
            diagonal = matrix_diag(matrix_diag_part(cast(real(product), product.dtype)))
            lengths = matmul(matmul(turned, vectors), diagonal)
            middle = middle + gaps * (product - lengths)
            by_matrix = matrix_solve(turned, matmul(middle, turned))
        else:
            vectors = nodes("Eig", op.inputs[0], compute_v=True, Tout=values.dtype)[1]
            turned = adjoint(vectors)
            by_matrix = matrix_solve(turned, matmul(matrix_diag(grad_e), turned))
        return cast(by_matrix, op.inputs[0].dtype)


@gradient("SelfAdjointEigV2")
def _self_adjoint_eig(op: Operation, grad_e: Tensor, grad_v: Tensor) -> Gradients:
    values = op.outputs[0]
    with get_default_graph().control_dependencies([grad_e, grad_v]):
        if op.get_attr("compute_v"):
            vectors = op.outputs[1]
            gaps = _inverse_gaps(values)
            inner = matrix_diag(grad_e) + gaps * matmul(vectors, grad_v, adjoint_a=True)
            by_matrix = matmul(vectors, matmul(inner, vectors, adjoint_b=True))
        else:
            _, vectors = self_adjoint_eig(op.inputs[0])
            inner = matmul(matrix_diag(grad_e), vectors, adjoint_b=True)
            by_matrix = matmul(vectors, inner)
        # Only the lower triangle is read.
        by_matrix = matrix_band_part(by_matrix + adjoint(by_matrix), -1, 0)
        return matrix_set_diag(by_matrix, 0.5 * matrix_diag_part(by_matrix))


@gradient("Svd")
def _svd(op: Operation, grad_s: Tensor, grad_u: Tensor, grad_v: Tensor) -> Gradients:
    a = op.inputs[0]
    known = a.shape.with_rank_at_least(2)
    by_values = cast(grad_s, a.dtype)
    diagonal = matrix_diag(by_values)
    if not op.get_attr("compute_uv"):
        _, left, right = svd(a, compute_uv=True)
        by_matrix = matmul(left, matmul(diagonal, right, adjoint_b=True))
        by_matrix.set_shape(known)
        return by_matrix
    of_u, of_v = (grad.shape.with_rank_at_least(2) for grad in (grad_u, grad_v))
    m, n = known[-2].merge_with(of_u[-2]).value, known[-1].merge_with(of_v[-2]).value
    known = known[:-2].merge_with(of_u[:-2]).merge_with(of_v[:-2]).concatenate([m, n])
    if m is None or n is None:
        raise NotImplementedError(
            "SVD gradient has not been implemented for input with unknown inner matrix shape."
        )
    is_full = op.get_attr("full_matrices")
    values, u, v = op.outputs
    values = cast(values, a.dtype)
    awaited = [by_values, grad_u, grad_v]
    if m > n:
        u, v, grad_u, grad_v = v, u, grad_v, grad_u
    with get_default_graph().control_dependencies(awaited):
        if is_full and abs(m - n) > 1:
            raise NotImplementedError(
                "svd gradient is not implemented for abs(m - n) > 1 when full_matrices is True. "
                f"Received: m={m} and n={n} from op input={a} with shape={known}."
            )
        by_matrix = _of_wide((values, u, v), (diagonal, grad_u, grad_v), sorted((m, n)), is_full)
        if m > n:
            by_matrix = matrix_transpose(by_matrix, conjugate=True)
        by_matrix.set_shape(known)
        return by_matrix


def _of_wide(
    factors: tuple[Tensor, ...], grads: tuple[Tensor, ...], sides: list[int], is_full: bool
) -> Tensor:
    """The gradient where there are at least as many columns as rows."""
    (values, u, v), (diagonal, grad_u, grad_v), (m, n) = factors, grads, sides
    scale = matrix_diag(values)
    squares = square(values)
    sizes = shape(values)
    gaps = _inverse_gaps(squares, values)
    inverses = matrix_diag(_inverse(values))
    v1 = v[..., :, :m]
    grad_v1 = grad_v[..., :, :m]
    of_u = matmul(u, grad_u, adjoint_a=True)
    of_v = matmul(v1, grad_v1, adjoint_a=True)
    turned_u = gaps * of_u
    turned_v = gaps * of_v
    middle = (
        diagonal
        + matmul(turned_u + adjoint(turned_u), scale)
        + matmul(scale, turned_v + adjoint(turned_v))
    )
    by_matrix = matmul(u, matmul(middle, v1, adjoint_b=True))
    if m != n:
        rest = _outside(v, grad_v, v1, grad_v1, (m, n), is_full)
        by_matrix = by_matrix + matmul(matmul(u, inverses), rest)
    if values.dtype.is_complex:
        unit = eye(sizes[-1], batch_shape=sizes[:-1], dtype=values.dtype)
        phases = unit * of_v
        turn = matmul(inverses, adjoint(phases) - phases)
        by_matrix = by_matrix + 1 / 2.0 * matmul(u, matmul(turn, v1, adjoint_b=True))
    return by_matrix


def _outside(
    v: Tensor, grad_v: Tensor, v1: Tensor, grad_v1: Tensor, sides: tuple[int, int], is_full: bool
) -> Tensor:
    """The part of the vectors' gradient outside of the space that they span."""
    m, n = sides
    turned = matrix_transpose(grad_v1, conjugate=True)
    inside = matmul(turned, v1)
    rest = turned - matmul(inside, v1, adjoint_b=True)
    if not is_full:
        return rest
    v2 = v[..., :, m:n]
    grad_v2 = grad_v[..., :, m:n]
    crossed = matmul(v1, grad_v2, adjoint_a=True)
    return rest - matmul(crossed, v2, adjoint_b=True)


@gradient("MatrixSquareRoot")
def _matrix_square_root(op: Operation, grad: Tensor) -> Gradients:
    """The solution of a Sylvester equation, written with Kronecker's products."""
    root = op.outputs[0]
    sizes = shape(root)
    order = sizes[-1]
    count = reduce_prod(sizes[0:-2])
    unit = eye(order, dtype=root.dtype)
    units = reshape(tile(reshape(unit, [-1]), [count]), sizes)
    turned = matrix_transpose(root)
    left = _kronecker(units, turned)
    right = _kronecker(root, units)
    both = add(left, right)
    batch = slice_(sizes, [0], [subtract(size(sizes), 2)])
    column = concat([batch, [order * order], [1]], 0)
    known = reshape(matrix_transpose(grad), column)
    solved = matrix_solve(both, known)
    return matrix_transpose(reshape(solved, sizes))


def _kronecker(a: Tensor, b: Tensor) -> Tensor:
    """Kronecker's products of two batches of square matrices."""
    of_a, of_b = shape(a), shape(b)
    order, other = of_a[-1], of_b[-1]
    batch = slice_(of_a, [0], [subtract(size(of_a), 2)])
    spread_a = concat([batch, [order], [1], [order], [1]], 0)
    spread_b = concat([batch, [1], [other], [1], [other]], 0)
    first, second = reshape(a, spread_a), reshape(b, spread_b)
    side = order * other
    product_shape = concat([batch, [side], [side]], 0)
    return reshape(first * second, product_shape)
