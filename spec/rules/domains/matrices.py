"""Value domains of matrix products and diagonals."""

from __future__ import annotations

import numpy as np

from sessrun.spec.rules.domains.base import Arguments, Draw, domain
from sessrun.spec.rules.domains.elementwise import broadcast_parts

__all__: list[str] = []


def _turned(shape: tuple[int, ...], transposed: bool) -> tuple[int, ...]:
    return (*shape[:-2], shape[-1], shape[-2]) if transposed else shape


@domain
def matrices(draw: Draw, a: str, b: str, transpose_a: str, transpose_b: str) -> Arguments:
    """Two matrices that fit, each perhaps stored transposed; a dimension may be 0."""
    rows, inner, columns = (draw.dim() for _ in range(3))
    left = _turned((rows, inner), draw.attrs[transpose_a])
    right = _turned((inner, columns), draw.attrs[transpose_b])
    return draw.arguments(**{a: draw.tensor(a, left, "plain"), b: draw.tensor(b, right, "plain")})


@domain
def matrix_batches(
    draw: Draw, x: str, y: str, adj_x: str, adj_y: str, broadcast: bool
) -> Arguments:
    """Two batches of matrices that fit; the batches' shapes equal, or broadcast."""
    first, second = broadcast_parts(draw, 2, 3)
    if not broadcast:
        second = first
    rows, inner, columns = (draw.dim(0, 4) for _ in range(3))
    if draw.attrs.get("T") == "float16" and draw.attrs[adj_x] and rows == 1:
        second = first  # TensorFlow 2.21 has wrong values on CPUs that compute in float16
    left = _turned((*first, rows, inner), draw.attrs[adj_x])
    right = _turned((*second, inner, columns), draw.attrs[adj_y])
    return draw.arguments(**{x: draw.tensor(x, left, "plain"), y: draw.tensor(y, right, "plain")})


@domain
def mixed_matrix_batches(draw: Draw, x: str, y: str, adj_x: str, adj_y: str) -> Arguments:
    """Two batches of matrices that fit, of dtypes that are multiplied with one another."""
    kinds = [
        (dtype,) * 3
        for dtype in (
            "bfloat16",
            "float32",
            "float64",
            "int16",
            "int32",
            "int64",
            "complex64",
            "complex128",
        )
    ]
    kinds += [(a, b, "int32") for a in ("int8", "uint8") for b in ("int8", "uint8")]
    kinds += [("bfloat16", b, "bfloat16") for b in ("int8", "uint8")]
    kinds += [(a, "bfloat16", "bfloat16") for a in ("int8", "uint8")]
    draw.attrs |= dict(zip(("Ta", "Tb", "Tout"), draw.random.choice(kinds), strict=True))
    return matrix_batches(draw, x, y, adj_x, adj_y, broadcast=True)


@domain
def vectors_of_three(draw: Draw, a: str, b: str) -> Arguments:
    """Two tensors of one shape whose last dimension is 3."""
    shape = (*draw.shape(0, 3), 3)
    return draw.arguments(**{a: draw.tensor(a, shape, "small"), b: draw.tensor(b, shape, "small")})


@domain
def doubled(draw: Draw, x: str) -> Arguments:
    """A tensor whose shape is one shape twice; no dimension is 0."""
    half = tuple(draw.dim(1, 3) for _ in range(draw.random.randint(1, 3)))
    return draw.arguments(**{x: draw.tensor(x, half * 2, "bits")})


@domain
def replaced_diagonal(draw: Draw, x: str, diagonal: str) -> Arguments:
    """Matrices and their new diagonals; no dimension is 0."""
    shape = (*draw.shape(0, 2, 1), draw.dim(1), draw.dim(1))
    short = (*shape[:-2], min(shape[-2:]))
    return draw.arguments(
        **{x: draw.tensor(x, shape, "bits"), diagonal: draw.tensor(diagonal, short, "bits")}
    )


@domain
def banded(draw: Draw, x: str, num_lower: str, num_upper: str) -> Arguments:
    """Matrices and how many diagonals are kept on either side; negative for all."""
    shape = (*draw.shape(0, 2, 1), draw.dim(1), draw.dim(1))
    lower, upper = (draw.random.randint(-1, dim) for dim in shape[-2:])
    return draw.arguments(
        **{
            x: draw.tensor(x, shape, "bits"),
            num_lower: np.asarray(draw.integers(num_lower, lower)),
            num_upper: np.asarray(draw.integers(num_upper, upper)),
        }
    )
