"""Kernels that combine the rows of a segment: sums, means, products and extrema."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any, Final

from sessrun.reference.base.kernel_errors import InvalidArgument
from sessrun.reference.kernels.elementwise import is_integer, widened
from sessrun.reference.kernels.host import HOST, ints
from sessrun.reference.kernels.number_inputs import one_number
from sessrun.reference.kernels.registry import kernel
from sessrun.reference.kernels.scatters import scatter
from sessrun.reference.kernels.sizes import check_size

__all__ = ["check_sorted"]


def _lowest(xp: Any, dtype: Any) -> Any:
    return xp.iinfo(dtype).min if dtype.kind in "iu" else _extreme(xp, dtype, -1)


def _highest(xp: Any, dtype: Any) -> Any:
    return xp.iinfo(dtype).max if dtype.kind in "iu" else _extreme(xp, dtype, 1)


def _extreme(xp: Any, dtype: Any, sign: int) -> Any:
    """The finite float of largest magnitude: the neighbour of infinity toward zero."""
    infinity = xp.asarray(sign * xp.inf, dtype=dtype)
    bits = infinity.view(f"uint{dtype.itemsize * 8}") - xp.ones((), f"uint{dtype.itemsize * 8}")
    return bits.view(dtype)


_START: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "add": lambda _xp, _dtype: 0,
    "multiply": lambda _xp, _dtype: 1,
    "maximum": _lowest,
    "minimum": _highest,
}


def _combined(xp: Any, name: str, data: Any, rows: Any, count: int, *, start: Any = None) -> Any:
    """[count, ...]: the rows of each segment combined by a ufunc, from its neutral number on."""
    start = _START[name](xp, data.dtype) if start is None else start
    out = xp.full((count, *data.shape[1:]), start, dtype=data.dtype)
    scatter(xp, name, out, rows, data)
    return out


def _combined_runs(xp: Any, name: str, data: Any, rows: Any, count: int) -> Any:
    """As `_combined`, of rows in order.

    Numpy combines runs of rows in a half to a quarter of the time, single numbers in three times
    it. Sums take 2.5 times TensorFlow's time so, extrema 4 to 5: they have no vector loop here.
    """
    if xp is not HOST or not count or data.ndim == 1:
        return _combined(xp, name, data, xp.asarray(rows), count)
    out = HOST.full((count, *data.shape[1:]), _START[name](HOST, data.dtype), dtype=data.dtype)
    starts = HOST.flatnonzero(HOST.diff(rows, prepend=-1))
    out[rows[starts]] = getattr(HOST, name).reduceat(data, starts, axis=0, dtype=data.dtype)
    return out


def _sorted_ids(data: Any, segment_ids: Any) -> list[int]:
    ids = ints(segment_ids)
    if data.ndim == 0 or segment_ids.ndim != 1 or len(ids) != data.shape[0]:
        raise InvalidArgument("segment_ids should be the same size as dimension 0 of data")
    if ids and ids[-1] < 0:
        raise InvalidArgument("segment ids must be >= 0")
    count = ids[-1] + 1 if ids else 0
    check_size((count, *data.shape[1:]))
    check_sorted(ids, count)
    return ids


def check_sorted(ids: list[int], count: int) -> None:
    """Refuse ids that fall, or are outside of [0, count): the first such one is told."""
    for this, following in itertools.zip_longest(ids, ids[1:]):
        if this == following:
            continue
        if following is not None and this > following:
            raise InvalidArgument("segment ids are not increasing")
        if not 0 <= this < count:
            raise InvalidArgument(
                f"Segment id {this} out of range [0, {count}), possibly because "
                "'segment_ids' input is not sorted."
            )


def _sorted_segments(op_type: str, name: str) -> None:
    @kernel(op_type, host_inputs=("segment_ids",))
    @widened_data
    def compute(xp: Any, data: Any, segment_ids: Any) -> Any:
        ids = _sorted_ids(data, segment_ids)
        count = ids[-1] + 1 if ids else 0
        out = _combined_runs(xp, name, data, segment_ids, count)
        if name in {"maximum", "minimum"}:
            out[xp.asarray(_missing(ids, count), dtype="int64")] = 0
        return out


def _missing(ids: list[int], count: int) -> list[int]:
    return sorted(set(range(count)) - set(ids))


def widened_data(function: Callable[..., Any]) -> Callable[..., Any]:
    """As `widened`, for a first argument with ids after it, which stay as they are."""

    def compute(xp: Any, data: Any, *rest: Any) -> Any:
        return widened(lambda module, wide: function(module, wide, *rest))(xp, data)

    return compute


_sorted_segments("SegmentSum", "add")
_sorted_segments("SegmentProd", "multiply")
_sorted_segments("SegmentMax", "maximum")
_sorted_segments("SegmentMin", "minimum")


@kernel("SegmentMean", host_inputs=("segment_ids",))
@widened_data
def segment_mean(xp: Any, data: Any, segment_ids: Any) -> Any:
    """The means of the rows that share a segment; 0 for an empty one."""
    ids = _sorted_ids(data, segment_ids)
    count = ids[-1] + 1 if ids else 0
    totals = _combined_runs(xp, "add", data, segment_ids, count)
    ones = xp.ones((len(ids),), data.dtype)
    numbers = _combined_runs(xp, "add", ones, segment_ids, count)
    numbers = (
        xp.maximum(numbers, xp.ones((), data.dtype))
        if is_integer(data)
        else xp.where(numbers == 0, xp.ones((), data.dtype), numbers)
    )
    numbers = numbers.reshape((count,) + (1,) * (data.ndim - 1))
    if not is_integer(data):
        return totals / numbers
    quotient = xp.floor_divide(totals, numbers)
    return quotient + ((quotient < 0) & (quotient * numbers != totals)).astype(data.dtype)


def _unsorted_segments(op_type: str, name: str) -> None:
    @kernel(op_type, host_inputs=("segment_ids", "num_segments"))
    def compute(xp: Any, data: Any, segment_ids: Any, num_segments: Any) -> Any:
        count = one_number(num_segments, "num_segments should be a scalar, not shape {}")
        if count < 0:
            raise InvalidArgument(f"Input num_segments == {count} must not be negative.")
        if data.shape[: segment_ids.ndim] != segment_ids.shape:
            raise InvalidArgument(
                f"data.shape = {data.shape} does not start with "
                f"segment_ids.shape = {segment_ids.shape}"
            )
        check_size((count, *data.shape[segment_ids.ndim :]))
        rows = segment_ids.reshape(-1)
        if (rows >= count).any():
            place = int((rows >= count).argmax())
            index = ",".join(map(str, HOST.unravel_index(place, segment_ids.shape)))
            raise InvalidArgument(
                f"segment_ids[{index}] = {int(rows[place])} is out of range [0, {count})"
            )
        flat = data.reshape((rows.shape[0], *data.shape[segment_ids.ndim :]))
        start = _START[name](xp, data.dtype)
        if (rows < 0).any():
            kept = HOST.flatnonzero(rows >= 0)
            flat, rows = flat[xp.asarray(kept)], rows[kept]
        places = xp.asarray(rows)
        if name in {"maximum", "minimum"}:
            return _combined(xp, name, flat, places, count, start=start)
        return widened(_unsorted)(xp, flat, name=name, rows=places, count=count)


def _unsorted(xp: Any, data: Any, *, name: str, rows: Any, count: int) -> Any:
    return _combined(xp, name, data, rows, count)


_unsorted_segments("UnsortedSegmentSum", "add")
_unsorted_segments("UnsortedSegmentProd", "multiply")
_unsorted_segments("UnsortedSegmentMax", "maximum")
_unsorted_segments("UnsortedSegmentMin", "minimum")
