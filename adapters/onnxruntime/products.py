"""Products of matrices, and operations on their diagonals."""

from __future__ import annotations

from typing import Final

import numpy as np

from sessrun.adapters.onnxruntime.table import ALL, FLOATS, WIDE, Call, translates

__all__: list[str] = []

_PRODUCTS: Final = WIDE | {"uint32", "uint64"}


@translates("MatMul", kernels=_PRODUCTS)
def _mat_mul(call: Call) -> str:
    sides = [
        _transposed(call, index) if call.attrs[flag] else call.names[index]
        for index, flag in enumerate(("transpose_a", "transpose_b"))
    ]
    return call.emit("MatMul", *sides)


@translates("BatchMatMul", "BatchMatMulV2", kernels=_PRODUCTS)
def _batch_mat_mul(call: Call) -> str:
    """The adjoint of a real matrix is its transpose."""
    sides = [
        _transposed(call, index) if call.attrs[flag] else call.names[index]
        for index, flag in enumerate(("adj_x", "adj_y"))
    ]
    return call.emit("MatMul", *sides)


def _transposed(call: Call, index: int) -> str:
    rank = call.rank(index)
    order = [*range(rank - 2), rank - 1, rank - 2]
    return call.emit("Transpose", call.names[index], perm=order)


@translates("Einsum", kernels=WIDE, widened=False)
def _einsum(call: Call) -> str:
    """In ONNX an ellipsis stands for the same number of axes in every input."""
    equation = call.attrs["equation"].replace(" ", "")
    terms = equation.partition("->")[0].split(",")
    ranks = [
        call.rank(index) - len(term.replace("...", "")) if "..." in term else None
        for index, term in enumerate(terms)
    ]
    most = max((rank for rank in ranks if rank is not None), default=0)
    names = []
    for name, term, rank in zip(call.names, terms, ranks, strict=True):
        first = term.find("...")
        missing = range(first, first + most - rank) if rank is not None else ()
        wide = call.emit("Unsqueeze", name, call.constant(list(missing))) if missing else name
        names.append(wide)
    return call.emit("Einsum", *names, equation=equation)


@translates("MatrixBandPart", kernels=FLOATS | {"int8", "int32", "int64", "uint8", "uint32"})
def _matrix_band_part(call: Call) -> str:
    """The elements within the band; a negative limit does not limit."""
    if call.rank() < 2:
        raise call.invalid("no matrix")
    rows, columns = call.shape()[-2:]
    lower, upper = call.integers(1)[0], call.integers(2)[0]
    offsets = np.arange(columns) - np.arange(rows)[:, np.newaxis]
    is_in = ((lower < 0) | (-offsets <= lower)) & ((upper < 0) | (offsets <= upper))
    zero = call.constant(0, call.dtype)
    return call.emit("Where", call.constant(is_in, "bool"), call.names[0], zero)


@translates("MatrixDiag", kernels=FLOATS | {"int8", "int32", "int64", "uint8", "uint32"})
def _matrix_diag(call: Call) -> str:
    rows = call.emit("Unsqueeze", call.names[0], call.constant([-1]))
    size = call.shape()[-1]
    zero = call.constant(0, call.dtype)
    return call.emit("Where", call.constant(np.eye(size), "bool"), rows, zero)


@translates("MatrixDiagPart", kernels=ALL)
def _matrix_diag_part(call: Call) -> str:
    *batch, rows, columns = call.shape()
    flat = call.emit("Reshape", call.names[0], call.constant([*batch, rows * columns]), allowzero=1)
    places = call.constant(np.arange(min(rows, columns)) * (columns + 1))
    return call.emit("Gather", flat, places, axis=-1)
