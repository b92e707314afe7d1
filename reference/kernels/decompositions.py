"""Kernels that take matrices apart into factors."""

from __future__ import annotations

from typing import Any

from sessrun.reference.kernels.registry import KernelError, kernel

__all__: list[str] = []


@kernel("Qr")
def qr(xp: Any, x: Any, *, full_matrices: bool) -> Any:
    """An orthogonal and an upper triangular factor of each matrix, by Householder's reflections.

    The diagonal of the second factor has whatever signs the reflections give, as TensorFlow's.
    """
    if x.ndim < 2:
        raise KernelError(3, f"Input must have rank >= 2, got {x.ndim}")
    rows, columns = x.shape[-2:]
    inner = rows if full_matrices else min(rows, columns)
    shapes = (*x.shape[:-2], rows, inner), (*x.shape[:-2], inner, columns)
    q, r = (xp.empty(shape, dtype=x.dtype) for shape in shapes)
    if not x.size:
        # The factor of a matrix without columns may be any orthogonal one.
        q[...] = xp.eye(rows, inner, dtype=x.dtype)
        return q, r
    wide = xp.asarray(x, dtype="float32") if x.dtype == "float16" else x
    flat = wide.reshape((-1, rows, columns))
    many_q, many_r = q.reshape((-1, rows, inner)), r.reshape((-1, inner, columns))
    for place in range(flat.shape[0]):
        factors = xp.linalg.qr(flat[place], mode="complete" if full_matrices else "reduced")
        many_q[place], many_r[place] = factors
    return q, r
