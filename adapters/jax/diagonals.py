"""Translations of diagonals and bands of matrices."""

from __future__ import annotations

from dataclasses import dataclass

import jax.numpy as jnp
import numpy as np

from sessrun.adapters.jax.rules import ALL, NUMBERS, Array, Node, rule

__all__: list[str] = []


@rule("Diag", dtypes=NUMBERS)
def _tensor_diagonal(_node: Node, diagonal: Array) -> Array:
    size = diagonal.size
    matrix = jnp.zeros((size, size), diagonal.dtype).at[np.arange(size), np.arange(size)]
    return matrix.set(diagonal.reshape(-1)).reshape(diagonal.shape * 2)


@rule("DiagPart", dtypes=NUMBERS)
def _tensor_diagonal_part(node: Node, x: Array) -> Array:
    half = x.shape[: x.ndim // 2]
    node.check(x.shape == half * 2, f"the shape {x.shape} is no pair of shapes")
    size = int(np.prod(half, dtype=np.int64))
    return jnp.diagonal(x.reshape((size, size))).reshape(half)


@rule("MatrixBandPart", dtypes=ALL, constants="num_lower num_upper")
def _band(_node: Node, x: Array, num_lower: Array, num_upper: Array) -> Array:
    rows, columns = np.ogrid[: x.shape[-2], : x.shape[-1]]
    lower, upper = int(num_lower), int(num_upper)
    kept = (lower < 0) | (rows - columns <= lower)
    kept = kept & ((upper < 0) | (columns - rows <= upper))
    return jnp.where(kept, x, jnp.zeros((), x.dtype))


@dataclass(frozen=True, slots=True)
class _Band:
    """Where the elements of a band of diagonals lie in a matrix.

    Attributes:
      rows: the number of rows of the matrix.
      columns: the number of its columns.
      low: the lowest diagonal: 0 is the main one, below it they are negative.
      high: the highest one.
      align: of `MatrixDiagV3`: on which side superdiagonals and subdiagonals are padded.

    """

    rows: int
    columns: int
    low: int
    high: int
    align: str

    def length(self, diagonal: int) -> int:
        """How many elements a diagonal has."""
        return min(self.rows + min(diagonal, 0), self.columns - max(diagonal, 0))

    @property
    def longest(self) -> int:
        """The length of the longest diagonal of the band."""
        return min(self.rows + min(self.high, 0), self.columns - max(self.low, 0))

    def offset(self, diagonal: int) -> int:
        """The padding before a diagonal's elements."""
        above, below = self.align.split("_")
        is_left = (diagonal >= 0 and above == "LEFT") or (diagonal <= 0 and below == "LEFT")
        return 0 if is_left else self.longest - self.length(diagonal)

    def in_matrix(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Of each element of the band, from the highest diagonal down: row, column, if it is."""
        shape = (self.high - self.low + 1, self.longest)
        rows, columns = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
        inside = np.zeros(shape, np.bool_)
        for number, diagonal in enumerate(range(self.high, self.low - 1, -1)):
            steps = np.arange(self.length(diagonal))
            places = steps + self.offset(diagonal)
            rows[number, places] = steps - min(diagonal, 0)
            columns[number, places] = steps + max(diagonal, 0)
            inside[number, places] = True
        return rows, columns, inside

    def in_band(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Of each element of the matrix: number of its diagonal, place on it, if it is in it."""
        shape = (self.rows, self.columns)
        numbers, steps = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
        inside = np.zeros(shape, np.bool_)
        rows, columns, given = self.in_matrix()
        at = rows[given], columns[given]
        numbers[at], steps[at] = np.nonzero(given)
        inside[at] = True
        return numbers, steps, inside


def _limits(node: Node, k: Array) -> tuple[int, int]:
    """The lowest and the highest diagonal."""
    node.check(k.size in {1, 2}, "k is no diagonal and no pair of them")
    low, high = int(k.reshape(-1)[0]), int(k.reshape(-1)[-1])
    node.check(low <= high, f"the lowest diagonal {low} is above the highest {high}")
    return low, high


def _align(node: Node) -> str:
    """How it is padded; the second version has diagonals on the left."""
    return str(node.attrs.get("align", "LEFT_LEFT"))


@rule("MatrixDiagPartV2", "MatrixDiagPartV3", dtypes=ALL, constants="k")
def _diagonals_of(node: Node, x: Array, k: Array, padding: Array) -> Array:
    low, high = _limits(node, k)
    band = _Band(x.shape[-2], x.shape[-1], low, high, _align(node))
    rows, columns, inside = band.in_matrix()
    if inside.size == 0 or x.size == 0:
        values = jnp.broadcast_to(padding, (*x.shape[:-2], *inside.shape))
    else:
        values = jnp.where(inside, x[..., rows, columns], padding)
    return values[..., 0, :] if low == high else values


@rule("MatrixDiagPart", dtypes=ALL)
def _diagonal_of(_node: Node, x: Array) -> Array:
    return jnp.diagonal(x, axis1=-2, axis2=-1)


def _as_band(diagonal: Array, low: int, high: int) -> Array:
    return diagonal[..., None, :] if low == high else diagonal


@rule("MatrixDiagV2", "MatrixDiagV3", dtypes=ALL, constants="k num_rows num_cols")
def _matrix_of(
    node: Node, diagonal: Array, k: Array, num_rows: Array, num_cols: Array, padding: Array
) -> Array:
    low, high = _limits(node, k)
    diagonals = _as_band(diagonal, low, high)
    longest = diagonals.shape[-1]
    rows, columns = int(num_rows), int(num_cols)
    least_rows, least_columns = longest - min(high, 0), longest + max(low, 0)
    if rows == columns == -1:
        rows = columns = max(least_rows, least_columns)
    rows = least_rows if rows == -1 else rows
    columns = least_columns if columns == -1 else columns
    band = _Band(rows, columns, low, high, _align(node))
    node.check(
        diagonals.shape[-2:] == (high - low + 1, band.longest),
        f"diagonals of shape {diagonal.shape} are not those of a {rows} x {columns} matrix",
    )
    numbers, steps, inside = band.in_band()
    return jnp.where(inside, diagonals[..., numbers, steps], padding)


@rule("MatrixDiag", dtypes=ALL)
def _matrix_of_one(_node: Node, diagonal: Array) -> Array:
    size = diagonal.shape[-1]
    return jnp.where(np.eye(size, dtype=bool), diagonal[..., None], jnp.zeros((), diagonal.dtype))


@rule("MatrixSetDiagV2", "MatrixSetDiagV3", dtypes=ALL, constants="k")
def _set_diagonals(node: Node, x: Array, diagonal: Array, k: Array) -> Array:
    low, high = _limits(node, k)
    band = _Band(x.shape[-2], x.shape[-1], low, high, _align(node))
    diagonals = _as_band(diagonal, low, high)
    shape = (*x.shape[:-2], high - low + 1, band.longest)
    node.check(diagonals.shape == shape, f"diagonals of shape {diagonal.shape} are not its own")
    if x.size == 0:
        return x
    numbers, steps, inside = band.in_band()
    return jnp.where(inside, diagonals[..., numbers, steps], x)


@rule("MatrixSetDiag", dtypes=ALL)
def _set_diagonal(node: Node, x: Array, diagonal: Array) -> Array:
    return _set_diagonals(node, x, diagonal, np.zeros((), np.int32))
