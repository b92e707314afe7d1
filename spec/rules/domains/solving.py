"""Value domains of decompositions and systems of linear equations: matrices of good condition.

Of matrices with eigenvalues or singular values these are apart, so that each vector is determined
up to its sign or phase. Matrices are made element by element, without a library's products.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sessrun.spec.rules.domains.base import Arguments, Draw, domain
from sessrun.spec.rules.domains.elementwise import broadcast_parts

__all__ = ["computed_dtype", "regular"]

#: The dtypes that TensorFlow has kernels for on a CPU.
_DTYPES = ("float32", "float64", "complex64", "complex128")


def computed_dtype(draw: Draw, attr: str = "T") -> None:
    """Let the dtype be one that is computed with."""
    allowed = next(
        attribute.allowed for attribute in draw.operation.attrs if attribute.name == attr
    )
    draw.attrs[attr] = draw.random.choice([dtype for dtype in _DTYPES if dtype in allowed])


def _plain(draw: Draw, shape: tuple[int, ...], name: str) -> np.ndarray:
    """Numbers in [-1, 1], complex ones where the input's dtype is complex, of full precision."""
    size = int(np.prod(shape))
    parts = [[draw.random.uniform(-1, 1) for _ in range(size)] for _ in range(2)]
    values = np.array(parts[0])
    if draw.dtype(name).startswith("complex"):
        values = values + 1j * np.array(parts[1])
    return values.reshape(shape)


def _product(a: Any, b: Any) -> Any:
    return (a[..., :, :, None] * b[..., None, :, :]).sum(axis=-2)


def _turn(draw: Draw, batch: tuple[int, ...], size: int, name: str) -> Any:
    """Unitary matrices: reflections."""
    vector = _plain(draw, (*batch, size), name)
    vector[..., :1] += 1.5
    outer = vector[..., :, None] * np.conj(vector[..., None, :])
    length = (np.abs(vector) ** 2).sum(axis=-1)
    turn: np.ndarray = np.eye(size) - 2 * outer / length[..., None, None]
    return turn


def _typed(draw: Draw, name: str, values: np.ndarray) -> np.ndarray:
    return values.astype(draw.tensor(name, ()).dtype)


def _batch(draw: Draw) -> tuple[int, ...]:
    return draw.shape(0, 2)


def _size(draw: Draw) -> int:
    return draw.dim(0, 5)


def regular(draw: Draw, name: str, batch: tuple[int, ...], size: int) -> np.ndarray:
    """Matrices whose diagonal outweighs the rest."""
    signs = np.array([draw.random.choice([-1.0, 1.0]) for _ in range(size)])
    values = _plain(draw, (*batch, size, size), name) + (size + 1) * np.diag(signs)
    return _typed(draw, name, values)


@domain
def invertible(draw: Draw, x: str) -> Arguments:
    """Batches of square matrices; a dimension may be 0."""
    computed_dtype(draw)
    return draw.arguments(**{x: regular(draw, x, _batch(draw), _size(draw))})


@domain
def positive_definite(draw: Draw, x: str) -> Arguments:
    """Batches of positive definite matrices.

    Left out: others, for which TensorFlow leaves the upper triangle as it was in memory.
    """
    computed_dtype(draw)
    batch, size = _batch(draw), _size(draw)
    root = _plain(draw, (*batch, size, size), x)
    values = _product(root, np.conj(np.swapaxes(root, -1, -2))) + np.eye(size)
    return draw.arguments(**{x: _typed(draw, x, values)})


@domain
def factor_and_gradient(draw: Draw, factor: str, gradient: str) -> Arguments:
    """Lower triangular matrices of good condition, and others of their shape."""
    computed_dtype(draw)
    matrices = np.tril(regular(draw, factor, _batch(draw), _size(draw)))
    other = _typed(draw, gradient, _plain(draw, matrices.shape, gradient))
    return draw.arguments(**{factor: matrices, gradient: other})


def _apart(draw: Draw, size: int, *, positive: bool) -> np.ndarray:
    """Numbers in falling order, each less than the one before by 0.5 at least."""
    steps = [draw.random.uniform(0.5, 1.5) for _ in range(size)]
    values = np.cumsum(np.array(steps))[::-1]
    return values if positive else values - 0.4 - size // 2


@domain
def hermitian(draw: Draw, x: str) -> Arguments:
    """Batches of Hermitian matrices with eigenvalues that are apart; vectors are asked for."""
    computed_dtype(draw)
    draw.attrs["compute_v"] = True
    batch, size = _batch(draw), _size(draw)
    turn = _turn(draw, batch, size, x)
    values = _apart(draw, size, positive=False)
    matrices = _product(turn * values, np.conj(np.swapaxes(turn, -1, -2)))
    return draw.arguments(**{x: _typed(draw, x, matrices)})


@domain
def with_eigenvalues(draw: Draw, x: str) -> Arguments:
    """Batches of square matrices with real eigenvalues that are apart; vectors are asked for."""
    computed_dtype(draw)
    draw.attrs["compute_v"] = True
    is_single = draw.attrs["T"] in {"float32", "complex64"}
    draw.attrs["Tout"] = "complex64" if is_single else "complex128"
    batch, size = _batch(draw), _size(draw)
    turn = _turn(draw, batch, size, x)
    inner = np.triu(_plain(draw, (*batch, size, size), x), 1) * 0.3
    inner = inner + np.diag(_apart(draw, size, positive=False))
    matrices = _product(_product(turn, inner), np.conj(np.swapaxes(turn, -1, -2)))
    return draw.arguments(**{x: _typed(draw, x, matrices)})


@domain
def with_factors(draw: Draw, x: str, full_matrices: str) -> Arguments:
    """Batches of matrices with singular values that are apart; every vector is determined.

    Left out: full matrices whose sides differ by more than 1, of which the last vectors may be
    any orthogonal ones; values without vectors, whose places TensorFlow leaves as they were.
    """
    computed_dtype(draw)
    draw.attrs["compute_uv"] = True
    batch, rows, columns = _batch(draw), draw.dim(1, 5), draw.dim(1, 5)
    if draw.operation.name == "Qr" and rows < columns:
        draw.attrs[full_matrices] = False
    if draw.attrs[full_matrices] and abs(rows - columns) > 1:
        columns = rows
    values = np.zeros((rows, columns))
    inner = min(rows, columns)
    values[range(inner), range(inner)] = _apart(draw, inner, positive=True)
    matrices = _product(
        _product(_turn(draw, batch, rows, x), values), _turn(draw, batch, columns, x)
    )
    return draw.arguments(**{x: _typed(draw, x, matrices)})


@domain
def system(draw: Draw, matrix: str, rhs: str, kind: str) -> Arguments:
    """Matrices and right-hand sides; `least` for matrices of any height, `broadcast` for batches.

    The matrices of least squares have full rank.
    """
    computed_dtype(draw)
    first, second = broadcast_parts(draw, 2, 2)
    if kind != "broadcast":
        second = first
    size, count = draw.dim(1 if kind == "least" else 0, 5), draw.dim(0, 3)
    values = regular(draw, matrix, first, size)
    inputs = {matrix: values, rhs: _typed(draw, rhs, _plain(draw, (*second, size, count), rhs))}
    if kind == "least":
        inputs |= _tall_or_wide(draw, matrix, rhs, values, count)
    return draw.arguments(**inputs)


def _tall_or_wide(
    draw: Draw, matrix: str, rhs: str, values: np.ndarray, count: int
) -> dict[str, np.ndarray]:
    """The matrices with some rows, or columns, more; a weight where the dtype may have one."""
    batch, size, more = values.shape[:-2], values.shape[-1], draw.dim(1, 3)
    is_tall = draw.chance(0.5)
    other = _plain(draw, (*batch, more, size) if is_tall else (*batch, size, more), matrix)
    joined = np.concatenate([values, _typed(draw, matrix, other)], axis=-2 if is_tall else -1)
    known = _plain(draw, (*batch, joined.shape[-2], count), rhs)
    weight = 0.0 if draw.chance(0.5) else draw.random.uniform(0, 2)
    if not draw.attrs["fast"]:
        weight = 0.0
    return {matrix: joined, rhs: _typed(draw, rhs, known), "l2_regularizer": np.array(weight)}


@domain
def banded_system(draw: Draw, matrix: str, rhs: str) -> Arguments:
    """Bands of triangular matrices, and right-hand sides; one batch may be left out."""
    computed_dtype(draw)
    batch = draw.shape(0, 2, 1)
    first, second = (batch if draw.chance(0.7) else () for _ in range(2))
    size = draw.dim(1, 5)
    bands = draw.random.randint(1, size)
    values = _plain(draw, (*first, bands, size), matrix)
    values[..., 0 if draw.attrs["lower"] else -1, :] += 2.5
    known = _plain(draw, (*second, size, draw.dim(1, 3)), rhs)
    return draw.arguments(**{matrix: _typed(draw, matrix, values), rhs: _typed(draw, rhs, known)})


@domain
def three_diagonals(draw: Draw, diagonals: str, rhs: str) -> Arguments:
    """Three diagonals, the middle one outweighing the others, and right-hand sides."""
    computed_dtype(draw)
    draw.attrs["perturb_singular"] = False
    batch, size = _batch(draw), draw.dim(1, 6)
    values = _plain(draw, (*batch, 3, size), diagonals)
    values[..., 1, :] += 3.5
    known = _plain(draw, (*batch, size, draw.dim(1, 3)), rhs)
    return draw.arguments(
        **{diagonals: _typed(draw, diagonals, values), rhs: _typed(draw, rhs, known)}
    )


@domain
def diagonals_and_matrix(draw: Draw, above: str, main: str, below: str, rhs: str) -> Arguments:
    """Three diagonals, each a matrix of one row, and the matrices that they multiply."""
    computed_dtype(draw)
    batch, size = _batch(draw), draw.dim(1, 6)
    inputs = {name: _plain(draw, (*batch, 1, size), name) for name in (above, main, below)}
    inputs[rhs] = _plain(draw, (*batch, size, draw.dim(1, 3)), rhs)
    return draw.arguments(**{name: _typed(draw, name, tensor) for name, tensor in inputs.items()})


@domain
def with_root(draw: Draw, x: str) -> Arguments:
    """Batches of square matrices near a multiple of the unit matrix: a root and a logarithm."""
    computed_dtype(draw)
    batch, size = _batch(draw), draw.dim(1, 4)
    values = _plain(draw, (*batch, size, size), x) / (2 * size)
    return draw.arguments(**{x: _typed(draw, x, values + draw.random.uniform(1, 3) * np.eye(size))})


@domain
def points_and_centers(draw: Draw, points: str, centers: str, k: str) -> Arguments:
    """Points and centers of one space, at whole numbers, and how many centers are asked for."""
    size = draw.dim(1, 4)
    return draw.arguments(
        **{
            points: draw.tensor(points, (draw.dim(1, 6), size), "small"),
            centers: draw.tensor(centers, (draw.dim(0, 6), size), "small"),
            k: draw.integers(k, draw.random.randint(0, 7)),
        }
    )
