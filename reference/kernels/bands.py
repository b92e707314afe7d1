"""Kernels of bands of diagonals: building matrices from them, extracting and replacing them.

A band is a tensor whose rows are the diagonals, the highest first. Shorter diagonals are padded to
the length of the longest, on the left or the right as `align` says for those above and those below
the main diagonal.
"""

from __future__ import annotations

from collections.abc import Iterator

from sessrun.reference.base.arrays import Array, ArrayModule
from sessrun.reference.base.kernel_errors import InvalidArgument
from sessrun.reference.kernels.attribute_text import attribute_text
from sessrun.reference.kernels.host import ints, scalar_int
from sessrun.reference.kernels.input_shapes import require_rank, require_rank_at_least
from sessrun.reference.kernels.registry import kernel


def _ends(k: Array) -> tuple[int, int]:
    """The lowest and the highest diagonal."""
    ends = ints(k)
    if k.ndim > 1 or not 1 <= len(ends) <= 2:
        raise InvalidArgument(
            "diag_index must be a scalar or vector with one or two "
            f"elements, received shape: {list(k.shape)}"
        )
    if ends[0] > ends[-1]:
        raise InvalidArgument(
            f"lower_diag_index must not be larger than upper_diag_index: {ends[0]} > {ends[-1]}"
        )
    return ends[0], ends[-1]


def _longest(rows: int, columns: int, lower: int, upper: int) -> int:
    """The length of the longest diagonal of a band."""
    return min(rows + min(upper, 0), columns - max(lower, 0))


def _diagonals(
    rows: int, columns: int, ends: tuple[int, int], longest: int, align: str
) -> Iterator[tuple[int, int, int, int, int]]:
    """For each diagonal: its row and begin in the band, its length, its first row and column."""
    lower, upper = ends
    above, below = align.split("_")
    for row, diagonal in enumerate(range(upper, lower - 1, -1)):
        length = min(rows + min(diagonal, 0), columns - max(diagonal, 0))
        side = above if diagonal >= 0 else below
        begin = 0 if side == "LEFT" else longest - length
        yield row, begin, length, max(-diagonal, 0), max(diagonal, 0)


def _check_inside(rows: int, columns: int, ends: tuple[int, int]) -> None:
    for what, end in zip(("lower", "upper"), ends, strict=True):
        if end and not -rows < end < columns:
            raise InvalidArgument(
                f"{what}_diag_index is out of bound: {end}. It must be "
                f"between {-rows} and {columns}"
            )


def _banded(xp: ArrayModule, diagonal: Array, ends: tuple[int, int]) -> Array:
    """The diagonals as a band [..., diagonals, length]: a single one gets the missing dimension."""
    if ends[0] == ends[1]:
        return xp.expand_dims(diagonal, -2)
    require_rank_at_least(2, diagonal=diagonal)
    count = ends[1] - ends[0] + 1
    if diagonal.shape[-2] != count:
        raise InvalidArgument(
            "The number of diagonals provided in the input does not match "
            f"the lower_diag_index and upper_diag_index range: {count}"
        )
    return diagonal


def _put(
    xp: ArrayModule, out: Array, band: Array, ends: tuple[int, int], longest: int, align: str
) -> None:
    """Write the diagonals of a band into matrices."""
    rows, columns = out.shape[-2:]
    for row, begin, length, first_row, first_column in _diagonals(
        rows, columns, ends, longest, align
    ):
        steps = xp.arange(max(length, 0))
        part = band[..., row, begin : begin + max(length, 0)]
        out[..., first_row + steps, first_column + steps] = part


@kernel("MatrixDiagV3", host_inputs=("k", "num_rows", "num_cols"))
def matrix_diag(
    xp: ArrayModule,
    diagonal: Array,
    k: Array,
    num_rows: Array,
    num_cols: Array,
    padding_value: Array,
    *,
    align: str,
) -> Array:
    """Matrices with the input's rows on their diagonals, another value elsewhere."""
    if diagonal.ndim == 0:
        raise InvalidArgument("diagonal must be at least 1-dim, received shape: []")
    require_rank(0, num_rows=num_rows, num_cols=num_cols, padding_value=padding_value)
    ends = _ends(k)
    band = _banded(xp, diagonal, ends)
    longest = band.shape[-1]
    rows, columns = _sides(
        scalar_int(num_rows),
        scalar_int(num_cols),
        longest - min(ends[1], 0),
        longest + max(ends[0], 0),
    )
    out = xp.empty((*band.shape[:-2], rows, columns), dtype=diagonal.dtype)
    out[...] = padding_value
    _put(xp, out, band, ends, longest, attribute_text(align))
    return out


def _sides(rows: int, columns: int, least_rows: int, least_columns: int) -> tuple[int, int]:
    """The number of rows and columns; -1 stands for the least possible, twice for a square."""
    if rows == columns == -1:
        side = max(least_rows, least_columns)
        return side, side
    sides = (least_rows if rows == -1 else rows, least_columns if columns == -1 else columns)
    if sides[0] < least_rows or sides[1] < least_columns:
        raise InvalidArgument(
            f"The number of rows or columns is too small: {list(sides)}, "
            f"not {[least_rows, least_columns]}"
        )
    if sides[0] != least_rows and sides[1] != least_columns:
        raise InvalidArgument(
            "The number of rows or columns is not consistent with the "
            "specified d_lower, d_upper, and diagonal."
        )
    return sides


@kernel("MatrixDiagPartV3", host_inputs=("k",))
def matrix_diag_part(
    xp: ArrayModule, x: Array, k: Array, padding_value: Array, *, align: str
) -> Array:
    """The diagonals of the innermost matrices, padded to one length."""
    require_rank_at_least(2, x=x)
    ends = _ends(k)
    rows, columns = x.shape[-2:]
    _check_inside(rows, columns, ends)
    longest = _longest(rows, columns, *ends)
    out = xp.empty((*x.shape[:-2], ends[1] - ends[0] + 1, longest), dtype=x.dtype)
    out[...] = padding_value
    for row, begin, length, first_row, first_column in _diagonals(
        rows, columns, ends, longest, attribute_text(align)
    ):
        steps = xp.arange(max(length, 0))
        out[..., row, begin : begin + max(length, 0)] = x[
            ..., first_row + steps, first_column + steps
        ]
    return out[..., 0, :] if ends[0] == ends[1] else out


@kernel("MatrixSetDiagV3", host_inputs=("k",))
def matrix_set_diag(xp: ArrayModule, x: Array, diagonal: Array, k: Array, *, align: str) -> Array:
    """The input with diagonals of its innermost matrices replaced."""
    require_rank_at_least(2, x=x)
    require_rank_at_least(1, diagonal=diagonal)
    ends = _ends(k)
    rows, columns = x.shape[-2:]
    _check_inside(rows, columns, ends)
    longest = _longest(rows, columns, *ends)
    count = () if ends[0] == ends[1] else (ends[1] - ends[0] + 1,)
    wanted = (*x.shape[:-2], *count, longest)
    if diagonal.shape != wanted:
        raise InvalidArgument(
            "Either first dimensions of diagonal don't match input.shape"
            f"[:-2], or the length is not the longest's: {list(diagonal.shape)}, "
            f"not {list(wanted)}"
        )
    out = x.copy()
    _put(xp, out, _banded(xp, diagonal, ends), ends, longest, attribute_text(align))
    return out


@kernel("MatrixDiagV2", host_inputs=("k", "num_rows", "num_cols"))
def older_matrix_diag(
    xp: ArrayModule,
    diagonal: Array,
    k: Array,
    num_rows: Array,
    num_cols: Array,
    padding_value: Array,
) -> Array:
    """As `MatrixDiagV3` with every diagonal aligned to the left."""
    return matrix_diag(xp, diagonal, k, num_rows, num_cols, padding_value, align="LEFT_LEFT")


@kernel("MatrixDiagPartV2", host_inputs=("k",))
def older_matrix_diag_part(xp: ArrayModule, x: Array, k: Array, padding_value: Array) -> Array:
    """As `MatrixDiagPartV3` with every diagonal aligned to the left."""
    return matrix_diag_part(xp, x, k, padding_value, align="LEFT_LEFT")


@kernel("MatrixSetDiagV2", host_inputs=("k",))
def older_matrix_set_diag(xp: ArrayModule, x: Array, diagonal: Array, k: Array) -> Array:
    """As `MatrixSetDiagV3` with every diagonal aligned to the left."""
    return matrix_set_diag(xp, x, diagonal, k, align="LEFT_LEFT")
