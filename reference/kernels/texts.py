"""Kernels of strings in a row: joined by segments, and runs of some of them."""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from sessrun.reference.base.kernel_errors import InvalidArgument
from sessrun.reference.kernels.attribute_text import attribute_octets
from sessrun.reference.kernels.host import HOST, ints, string_array
from sessrun.reference.kernels.number_inputs import one_number
from sessrun.reference.kernels.registry import Bind, binder, kernel

__all__: list[str] = []

_CPU: Final = ("CPU",)


@kernel("UnsortedSegmentJoin", devices=_CPU)
def unsorted_segment_join(
    _: Any, inputs: Any, segment_ids: Any, num_segments: Any, *, separator: Any
) -> Any:
    """The strings of each segment joined in their order."""
    count = one_number(num_segments, "num_segments must be a scalar, got shape {}")
    if count < 0:
        raise InvalidArgument(f"Number of segments must be non-negative, is {count}")
    if inputs.shape[: segment_ids.ndim] != segment_ids.shape:
        raise InvalidArgument(
            f"inputs.shape = {list(inputs.shape)} does not start with "
            f"segment_ids.shape = {list(segment_ids.shape)}"
        )
    segments = segment_ids.reshape(-1).astype("int64")
    wrong = HOST.flatnonzero((segments < 0) | (segments >= count))
    if len(wrong):
        raise InvalidArgument(f"segment_ids must be in [0, {count}), is {segments[wrong[0]]}")
    inner = inputs.shape[segment_ids.ndim :]
    width = math.prod(inner)
    columns = (segments[:, None] * width + HOST.arange(width)).reshape(-1)
    glue = separator if isinstance(separator, bytes) else separator.encode()
    joined = (_joined(glue, part) for part in _sorted_parts(inputs, columns, count * width))
    return string_array(joined, (count, *inner))


def _sorted_parts(inputs: Any, segments: Any, count: int) -> Iterator[list[bytes]]:
    """The strings of each segment, in their order."""
    kind = HOST.min_scalar_type(count)  # numbers of 16 bits are sorted by counting
    order = segments.astype(kind).argsort(kind="stable")
    items = inputs.reshape(-1)[order].tolist()
    ends = HOST.cumsum(HOST.bincount(segments, minlength=count)).tolist()
    return (items[begin:end] for begin, end in itertools.pairwise([0, *ends]))


def _joined(glue: bytes, part: Sequence[bytes]) -> bytes:
    """As TensorFlow has it, empty strings at the beginning are not separated from what follows."""
    if part and not part[0]:
        return glue.join(itertools.dropwhile(operator.not_, part))
    return glue.join(part)


def _check_splits(splits: Sequence[int], count: int) -> None:
    if splits[0]:
        raise InvalidArgument(f"First split value must be 0, got {splits[0]}")
    for before, split in itertools.pairwise(splits):
        if not before <= split <= count:
            raise InvalidArgument(f"Invalid split value {split}, must be in [{before}, {count}]")
    if splits[-1] != count:
        raise InvalidArgument(
            f"Last split value must be data size. Expected {count}, got {splits[-1]}"
        )


@binder("StringNGrams", devices=_CPU)
def string_ngrams(bind: Bind) -> Callable[..., Any]:
    """For each row the joined runs of so many of its strings, for each width in turn."""
    attrs = bind.attrs
    glue, left, right = (
        attribute_octets(attrs[name]) for name in ("separator", "left_pad", "right_pad")
    )
    widths, most = list(attrs["ngram_widths"]), attrs["pad_width"]

    def runs(row: list[bytes], width: int) -> list[bytes]:
        padding = min(width - 1 if most < 0 else most, width - 1)
        padded = [left] * padding + row + [right] * padding
        return [glue.join(padded[i : i + width]) for i in range(len(padded) - width + 1)]

    def row_runs(row: list[bytes]) -> list[bytes]:
        found = [run for width in widths for run in runs(row, width)]
        if found or not row or not attrs["preserve_short_sequences"]:
            return found
        return runs(row, len(row) + 2 * most)

    def compute(data: Any, data_splits: Any) -> Any:
        if any(width < 1 for width in widths):
            raise InvalidArgument("ngram_widths must contain positive values")
        splits, items = ints(data_splits), data.reshape(-1).tolist()
        if not splits:
            return string_array([b""] * len(items), (len(items),)), data_splits
        _check_splits(splits, len(items))
        if not items:
            return string_array([], (0,)), data_splits
        rows = [row_runs(items[start:end]) for start, end in itertools.pairwise(splits)]
        ends = HOST.cumsum([0, *map(len, rows)]).astype(data_splits.dtype)
        return string_array([run for row in rows for run in row], (int(ends[-1]),)), ends

    return compute
