"""Value domains of bands of diagonals: made into matrices, taken from them, set along them."""

from __future__ import annotations

import numpy as np

from sessrun.spec.dtypes import BY_NAME
from sessrun.spec.rules.domains.base import ORDINARY, Arguments, Draw, domain

__all__: list[str] = []


def _ends(draw: Draw, rows: int, columns: int) -> tuple[int, int]:
    """A diagonal, or the lowest and the highest one, of matrices that are not empty."""
    places = [draw.random.randint(1 - rows, columns - 1) for _ in range(2)]
    lower, upper = sorted(places)
    return (lower, lower) if draw.chance(0.4) else (lower, upper)


def _given(ends: tuple[int, int]) -> np.ndarray:
    return np.array(ends[0] if ends[0] == ends[1] else ends, np.int32)


def _longest(rows: int, columns: int, ends: tuple[int, int]) -> int:
    return min(rows + min(ends[1], 0), columns - max(ends[0], 0))


def _count(ends: tuple[int, int]) -> tuple[int, ...]:
    return () if ends[0] == ends[1] else (ends[1] - ends[0] + 1,)


def _numbers(draw: Draw) -> None:
    """Let the dtype be one of numbers or bool, where any is allowed."""
    draw.attrs["T"] = draw.random.choice(
        [name for name in ORDINARY if BY_NAME[name].kind != "string"]
    )


@domain
def diagonals(draw: Draw, diagonal: str, k: str, num_rows: str, num_cols: str) -> Arguments:
    """Rows for the diagonals of a band, and the matrices' sides, perhaps left out."""
    _numbers(draw)
    rows, columns = draw.dim(1, 5), draw.dim(1, 5)
    ends = _ends(draw, rows, columns)
    shape = (*draw.shape(0, 2, 1), *_count(ends), _longest(rows, columns, ends))
    # The sides that the band needs at least; one of both may be more.
    least = shape[-1] - min(ends[1], 0), shape[-1] + max(ends[0], 0)
    given = draw.random.choice([(-1, -1), (rows, columns), (-1, least[1]), (least[0], -1)])
    return draw.arguments(
        **{
            diagonal: draw.tensor(diagonal, shape, "bits"),
            k: _given(ends),
            num_rows: np.array(given[0], np.int32),
            num_cols: np.array(given[1], np.int32),
            "padding_value": draw.tensor("padding_value", (), "small"),
        }
    )


@domain
def taken_diagonals(draw: Draw, x: str, k: str) -> Arguments:
    """Matrices that are not empty, and which of their diagonals are taken."""
    _numbers(draw)
    shape = (*draw.shape(0, 2), draw.dim(1, 5), draw.dim(1, 5))
    return draw.arguments(
        **{
            x: draw.tensor(x, shape, "bits"),
            k: _given(_ends(draw, shape[-2], shape[-1])),
            "padding_value": draw.tensor("padding_value", (), "small"),
        }
    )


@domain
def set_diagonals(draw: Draw, x: str, diagonal: str, k: str) -> Arguments:
    """Matrices that are not empty, and the diagonals that are set in them."""
    _numbers(draw)
    batch, rows, columns = draw.shape(0, 2, 1), draw.dim(1, 5), draw.dim(1, 5)
    shape = (*batch, rows, columns)
    ends = _ends(draw, rows, columns)
    given = (*batch, *_count(ends), _longest(rows, columns, ends))
    return draw.arguments(
        **{
            x: draw.tensor(x, shape, "bits"),
            diagonal: draw.tensor(diagonal, given, "bits"),
            k: _given(ends),
        }
    )
