"""Operations on large tensors: what each gives by a model in float64, and how near it must be."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from sessrun.conformance.subjects.numbers.patterns import Large, Writer, eps, sample

__all__ = ["EXACT", "WIDE", "LargeRow", "Outcome", "contract"]

_FLOATS: Final = ("float16", "bfloat16", "float32", "float32")
_NUMBERS: Final = (*_FLOATS, "float64", "int32", "int64")
#: Arrangements whose large axis is the last one: there sums are taken by blocks.
_LAST: Final = ("rows", "turned", "every second", "backwards", "turned middle")
_ALL: Final = (*_LAST, "columns", "middle")


@dataclass(frozen=True, slots=True)
class Outcome:
    """The nodes that are fetched, and what each is, as float64."""

    nodes: Sequence[str]
    wanted: Sequence[np.ndarray]
    dtypes: Sequence[str]


#: From a large tensor and its large axis to what is fetched.
Build = Callable[[random.Random, Writer, Large, int], Outcome]


@dataclass(frozen=True, slots=True)
class LargeRow:
    """An operation of the table.

    Attributes:
      op: its type.
      build: writes it and says what it gives.
      dtypes: the dtypes that it is asked in.
      arrangements: how the elements may lie.
      units: for sums that are rounded, how many units of the dtype they may be off, by dtype.

    """

    op: str
    build: Build
    dtypes: Sequence[str] = _NUMBERS
    arrangements: Sequence[str] = _ALL
    units: Mapping[str, float] | None = None


def _one(node: str, wanted: npt.ArrayLike, dtype: str) -> Outcome:
    return Outcome([node], [np.asarray(wanted)], [dtype])


def _reduced(op: str, reduce: Callable[..., np.ndarray], *, over_all: bool = False) -> Build:
    """A reduction along the large axis, counted from either end, or over all axes."""

    def build(draw: random.Random, w: Writer, x: Large, axis: int) -> Outcome:
        axes = list(range(x.values.ndim)) if over_all else [axis]
        given = [a - draw.choice((0, x.values.ndim)) for a in axes]
        keeps = draw.random() < 0.3
        node = w.op(op, x.node, w.integers(*given), T=x.dtype, Tidx="int32", keep_dims=keeps)
        return _one(node, reduce(x.values, axis=tuple(axes), keepdims=keeps), x.dtype)

    return build


def _half_of_squares(_: random.Random, w: Writer, x: Large, __: int) -> Outcome:
    return _one(w.op("L2Loss", x.node, T=x.dtype), (x.values**2).sum() / 2, x.dtype)


def _root_of_squares(values: np.ndarray, axis: int | tuple[int, ...], keepdims: bool) -> np.ndarray:
    return np.sqrt((values**2).sum(axis=axis, keepdims=keepdims))


def _index_of(op: str, arg_extremum: Callable[..., np.ndarray]) -> Build:
    def build(draw: random.Random, w: Writer, x: Large, axis: int) -> Outcome:
        given = w.integer(axis - draw.choice((0, x.values.ndim)))
        node = w.op(op, x.node, given, T=x.dtype, Tidx="int32", output_type="int64")
        return _one(node, arg_extremum(x.values, axis=axis), "int64")

    return build


def _picked(
    w: Writer, draw: random.Random, node: str, wanted: np.ndarray, axis: int, dtype: str
) -> Outcome:
    """Some elements of a large result along its large axis."""
    places = sample(draw, wanted.shape[axis])
    kinds = {"Tparams": dtype, "Tindices": "int32", "Taxis": "int32"}
    picked = w.op("GatherV2", node, w.integers(*places), w.integer(axis), **kinds)
    return _one(picked, np.take(wanted, places, axis), dtype)


def _running(draw: random.Random, w: Writer, x: Large, axis: int) -> Outcome:
    excludes, reverses = draw.random() < 0.4, draw.random() < 0.4
    node = w.op(
        "Cumsum",
        x.node,
        w.integer(axis),
        T=x.dtype,
        Tidx="int32",
        exclusive=excludes,
        reverse=reverses,
    )
    flipped = np.flip(x.values, axis) if reverses else x.values
    sums = np.cumsum(flipped, axis)
    sums = sums - flipped if excludes else sums
    return _picked(w, draw, node, np.flip(sums, axis) if reverses else sums, axis, x.dtype)


def _product(draw: random.Random, w: Writer, x: Large, axis: int) -> Outcome:
    """The product of a matrix, or a batch, with a matrix of ones: the sums of its rows."""
    rank, count = x.values.ndim, x.values.shape[axis]
    shape = (count, 2) if rank == 2 else (x.values.shape[0], count, 2)
    ones = w.op(
        "Cast",
        w.op("Fill", w.integers(*shape), w.integer(1), T="int32", index_type="int32"),
        SrcT="int32",
        DstT=x.dtype,
    )
    transposes = axis != rank - 1
    left = np.swapaxes(x.values, -1, -2) if transposes else x.values
    wanted = np.repeat(left.sum(axis=-1, keepdims=True), 2, axis=-1)
    if rank == 2 and draw.random() < 0.5:
        node = w.op("MatMul", x.node, ones, T=x.dtype, transpose_a=transposes, transpose_b=False)
    else:
        node = w.op("BatchMatMulV2", x.node, ones, T=x.dtype, adj_x=transposes, adj_y=False)
    return _one(node, wanted, x.dtype)


def _segments(op: str, combine: np.ufunc, start: float) -> Build:
    """Three segments of the rows: sorted for SegmentSum and its kin, by turns for the others."""

    def build(_: random.Random, w: Writer, x: Large, axis: int) -> Outcome:
        assert axis == 0
        count = x.values.shape[0]
        places = w.op("Range", w.integer(0), w.fed(count), w.integer(1), Tidx="int32")
        by_turns = op.startswith("Unsorted")
        how, number = ("FloorMod", 3) if by_turns else ("FloorDiv", -(-count // 3))
        ids = w.op(how, places, w.integer(number), T="int32")
        which = np.arange(count) % 3 if by_turns else np.arange(count) // number
        kinds = {"T": x.dtype, "Tindices": "int32"}
        if by_turns:
            node = w.op(op, x.node, ids, w.integer(3), **kinds, Tnumsegments="int32")
        elif op.startswith("Sparse"):
            kinds = {"T": x.dtype, "Tidx": "int32", "Tsegmentids": "int32"}
            node = w.op(op, x.node, places, ids, **kinds)
        else:
            node = w.op(op, x.node, ids, **kinds)
        wanted = np.full((3, *x.values.shape[1:]), float(start))
        combine.at(wanted, which, x.values)
        return _one(node, wanted, x.dtype)

    return build


def _greatest(draw: random.Random, w: Writer, x: Large, _: int) -> Outcome:
    """The first of the greatest elements of each row, and where they are."""
    k = draw.randint(1, 6)
    kinds = {"T": x.dtype, "Tk": "int32", "index_type": "int32"}
    node = w.op("TopKV2", x.node, w.integer(k), sorted=True, **kinds)
    order = np.argsort(-x.values, axis=-1, kind="stable")[..., :k]
    return Outcome(
        [node, f"{node}:1"], [np.take_along_axis(x.values, order, -1), order], [x.dtype, "int32"]
    )


#: Rows whose values the dtype holds, whichever order the elements are taken in.
EXACT: Final = (
    LargeRow("Sum", _reduced("Sum", np.sum)),
    LargeRow("Sum", _reduced("Sum", np.sum, over_all=True)),
    LargeRow("Max", _reduced("Max", np.max)),
    LargeRow("Min", _reduced("Min", np.min)),
    LargeRow("ArgMax", _index_of("ArgMax", np.argmax)),
    LargeRow("ArgMin", _index_of("ArgMin", np.argmin)),
    LargeRow("Cumsum", _running),
    LargeRow("MatMul", _product, (*_FLOATS, "float64", "int32")),
    LargeRow("SegmentSum", _segments("SegmentSum", np.add, 0), arrangements=("columns",)),
    LargeRow(
        "UnsortedSegmentSum", _segments("UnsortedSegmentSum", np.add, 0), arrangements=("columns",)
    ),
    LargeRow(
        "UnsortedSegmentMax",
        _segments("UnsortedSegmentMax", np.maximum, -2),
        ("float32", "int32"),
        ("columns",),
    ),
    LargeRow(
        "SparseSegmentSum",
        _segments("SparseSegmentSum", np.add, 0),
        ("float32", "float16", "bfloat16"),
        ("columns",),
    ),
    LargeRow("TopKV2", _greatest, arrangements=_LAST),
)

_HALF: Final = {"float16": 16.0, "bfloat16": 4.0}
_BLOCKS: Final = {**_HALF, "float32": 64.0}
_NARROW: Final = ("float16", "bfloat16")
#: Rows whose sums are rounded: no sum of halves is kept in halves, none of float32 in one number.
WIDE: Final = (
    LargeRow("Sum", _reduced("Sum", np.sum), _FLOATS, _LAST, _BLOCKS),
    LargeRow("Sum", _reduced("Sum", np.sum, over_all=True), _FLOATS, ("rows", "columns"), _BLOCKS),
    LargeRow("Mean", _reduced("Mean", np.mean), _FLOATS, _LAST, _BLOCKS),
    LargeRow("Sum", _reduced("Sum", np.sum), ("bfloat16",), ("columns", "middle"), _BLOCKS),
    LargeRow("EuclideanNorm", _reduced("EuclideanNorm", _root_of_squares), _FLOATS, _LAST, _BLOCKS),
    LargeRow("L2Loss", _half_of_squares, ("bfloat16", "float32"), ("rows", "columns"), _BLOCKS),
    LargeRow("MatMul", _product, _NARROW, _ALL, _HALF),
    LargeRow(
        "SparseSegmentSum", _segments("SparseSegmentSum", np.add, 0), _NARROW, ("columns",), _HALF
    ),
)


def contract(row: LargeRow, dtype: str) -> str:
    """How near the values of a row must be."""
    if row.units is None:
        return "exact"
    return f"close({row.units[dtype] * eps(dtype)}, 0)"
