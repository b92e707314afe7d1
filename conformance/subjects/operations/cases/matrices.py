"""Vectors of OPERATIONS: products of matrices, and diagonals."""

from __future__ import annotations

import numpy as np

from sessrun.conformance.authoring.edges import (
    COMPLEX,
    FLOATS,
    c64,
    c128,
    f32,
    f64,
    floats,
    i8,
    i32,
    i64,
)
from sessrun.conformance.authoring.record import EngineAuthor, engine_case
from sessrun.conformance.authoring.rows import Rows

_SQUARE = f32([[1, 2], [-3, 4]])
_OTHER = f32([[5, -6], [7, 8]])


@engine_case(
    "OPERATIONS-095", title="MatMul transposes each matrix as asked, and never conjugates."
)
def matrices_are_transposed_as_asked(c: EngineAuthor) -> None:
    rows = Rows(c)
    wide = f32([[1, 2, 3], [4, 5, 6]])
    for a in (False, True):
        for b in (False, True):
            asked = {"transpose_a": a, "transpose_b": b}
            rows.add("MatMul", _SQUARE, _OTHER, **asked)
            rows.add("MatMul", wide.T if a else wide, wide if b else wide.T, **asked)
            for kind in (c64, c128):
                rows.add("MatMul", kind(_SQUARE + 1j), kind(_OTHER - 2j), **asked)
            rows.add("MatMul", i32(_SQUARE), i32(_OTHER), **asked)
    rows.run()


@engine_case(
    "OPERATIONS-098",
    title="Products over an inner dimension of 0 are zeros, and of matrices without rows empty.",
)
def empty_matrices_have_products(c: EngineAuthor) -> None:
    rows = Rows(c)
    for dtype in (*FLOATS, "int32", "complex64"):
        kind = floats(dtype, []).dtype if dtype in FLOATS else np.dtype(dtype)
        rows.add("MatMul", np.zeros((2, 0), kind), np.zeros((0, 3), kind))
        rows.add("MatMul", np.zeros((0, 2), kind), np.ones((2, 3), kind))
        rows.add("BatchMatMulV2", np.zeros((3, 1, 0), kind), np.zeros((0, 2), kind))
    rows.run()


@engine_case(
    "OPERATIONS-096", title="Products of batches take adjoints as asked: transposed and conjugated."
)
def adjoints_are_conjugated(c: EngineAuthor) -> None:
    rows = Rows(c)
    x = np.stack([_SQUARE, _OTHER, _SQUARE.T])
    y = np.stack([_OTHER, _OTHER.T, _SQUARE])
    for op in ("BatchMatMul", "BatchMatMulV2"):
        for a in (False, True):
            for b in (False, True):
                rows.add(op, x, y, adj_x=a, adj_y=b)
                for dtype in COMPLEX:
                    rows.add(op, (x + 1j).astype(dtype), (y - 2j).astype(dtype), adj_x=a, adj_y=b)
    rows.run()


@engine_case(
    "OPERATIONS-097",
    title="BatchMatMulV2 broadcasts the batches, BatchMatMul refuses batches that differ.",
)
def batches_are_broadcast(c: EngineAuthor) -> None:
    rows = Rows(c)
    x = np.arange(24, dtype=f32).reshape(2, 1, 3, 4)
    y = np.arange(40, dtype=f32).reshape(5, 4, 2)
    rows.add("BatchMatMulV2", x, y)
    rows.add("BatchMatMulV2", y.transpose(0, 2, 1), x[0, 0].T)
    rows.add("BatchMatMulV2", x[0, 0], y)
    rows.refuse("BatchMatMul", x[:, 0], y, codes=[3])
    rows.refuse("BatchMatMulV2", y[:2], y[:3].transpose(0, 2, 1), codes=[3])
    rows.run()


@engine_case("OPERATIONS-161", title="Diag puts a tensor on the diagonal of one of twice its rank.")
def diagonals_are_made(c: EngineAuthor) -> None:
    rows = Rows(c)
    for kind in (f32, i32, c64):
        x = kind([[1, 2, 3], [4, 5, 6]])
        rows.add("Diag", x[0])
        rows.add("Diag", x)
    rows.run()


@engine_case("OPERATIONS-162", title="DiagPart takes the diagonal of a tensor of even rank.")
def diagonals_are_taken(c: EngineAuthor) -> None:
    rows = Rows(c)
    for kind in (f32, i32, c64):
        rows.add("DiagPart", np.arange(9).reshape(3, 3).astype(kind))
        rows.add("DiagPart", np.arange(16).reshape(2, 2, 2, 2).astype(kind))
    rows.run()


@engine_case(
    "OPERATIONS-101",
    title="The diagonals of innermost matrices, square or not, are made, taken and replaced.",
)
def innermost_diagonals_are_replaced(c: EngineAuthor) -> None:
    rows = Rows(c)
    for dtype in ("float32", "int64", "bool", "complex64"):
        x = np.arange(24).reshape(2, 3, 4).astype(dtype)
        for matrix in (x, x.transpose(0, 2, 1), x[0]):
            rows.add("MatrixDiagPart", matrix)
        rows.add("MatrixDiag", x[0, :2])
        rows.add("MatrixSetDiag", x, x[:, :, 1] * np.array(0, dtype))
        rows.add("MatrixSetDiag", x.transpose(0, 2, 1), x[:, :, 3])
    rows.run()


@engine_case(
    "OPERATIONS-099", title="MatrixBandPart keeps a band; a negative width keeps all of that side."
)
def bands_are_kept(c: EngineAuthor) -> None:
    rows = Rows(c)
    x = np.arange(1, 25, dtype=f32).reshape(2, 3, 4)
    for low in (-1, 0, 1):
        for high in (-1, 0, 2):
            rows.add("MatrixBandPart", x, i64(low), i64(high))
    rows.run()


@engine_case("OPERATIONS-102", title="The cross product of vectors has its sign, in every dtype.")
def cross_products_have_their_sign(c: EngineAuthor) -> None:
    rows = Rows(c)
    for kind in (f32, f64, i32, i8):
        rows.add("Cross", kind([[1, 0, 0], [2, -3, 4]]), kind([[0, 1, 0], [5, 6, -7]]))
    rows.refuse("Cross", f32([1, 2]), f32([3, 4]), codes=[9])
    rows.run()
