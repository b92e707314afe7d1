"""Kernels that split and join strings, and match or replace patterns in them."""

from __future__ import annotations

import itertools
import math
import operator
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from sessrun.reference.base.arrays import Array, ArrayModule
from sessrun.reference.base.kernel_errors import InvalidArgument
from sessrun.reference.kernels.attribute_text import attribute_octets
from sessrun.reference.kernels.host import HOST, host_array, ints, string_array
from sessrun.reference.kernels.input_shapes import one_number, require_rank
from sessrun.reference.kernels.patterns import matcher, replacer
from sessrun.reference.kernels.registry import Bind, KernelFunction, binder, kernel


def _bytes(value: bytes | str) -> bytes:
    return value if isinstance(value, bytes) else str(value).encode()


def _scalar(value: Array | bytes | str, what: str) -> bytes:
    if isinstance(value, bytes | str):
        return _bytes(value)
    require_rank(0, **{what: value})
    return _bytes(value.item())


def _sparse(rows: Sequence[Sequence[bytes]]) -> tuple[Array, Array, Array]:
    """The rows as a sparse matrix: indices, values, shape."""
    coordinates = [
        coordinate for i, row in enumerate(rows) for j in range(len(row)) for coordinate in (i, j)
    ]
    values = [item for row in rows for item in row]
    width = max(map(len, rows), default=0)
    return (
        host_array(coordinates, "int64").reshape(len(values), 2),
        string_array(values, (len(values),)),
        host_array([len(rows), width], "int64"),
    )


@kernel("StringSplit", devices=("CPU",))
def string_split(
    _: ArrayModule, strings: Array, delimiter: Array, *, skip_empty: bool
) -> tuple[Array, Array, Array]:
    """Strings split at all bytes of the delimiter; into single bytes if it is empty."""
    require_rank(1, strings=strings)
    marks = _scalar(delimiter, "delimiter")

    def parts(item: bytes) -> list[bytes]:
        if not marks:
            return [bytes([byte]) for byte in item]
        if not item:
            return []
        pieces = re.split(b"[" + re.escape(marks) + b"]", item)
        return [piece for piece in pieces if piece or not skip_empty]

    return _sparse([parts(item) for item in strings.tolist()])


@kernel("StringSplitV2", devices=("CPU",))
def string_split_v2(
    _: ArrayModule, strings: Array, sep: Array, *, maxsplit: int
) -> tuple[Array, Array, Array]:
    """Strings split at a separator; at runs of white space if it is empty."""
    require_rank(1, strings=strings)
    mark = _scalar(sep, "sep")
    if mark:
        return _sparse([item.split(mark, maxsplit) for item in strings.tolist()])
    return _sparse([_words(item, maxsplit) for item in strings.tolist()])


def _words(item: bytes, most: int) -> list[bytes]:
    """The words between white space, at most `most`, then the rest, even if it is empty."""
    if not most:
        return [item]
    words = item.split(None, most)
    return [*words, b""] if len(words) == most else words


def _replacer(
    pattern: Array | bytes | str, rewrite: Array | bytes | str, *, everywhere: bool
) -> Callable[[bytes], bytes]:
    given = _scalar(pattern, "Pattern"), _scalar(rewrite, "Rewrite")
    return replacer(*given, everywhere=everywhere)


def _mapped(strings: Array, function: Callable[[bytes], bytes]) -> Array:
    return string_array(map(function, strings.reshape(-1).tolist()), strings.shape)


@kernel("StaticRegexReplace", devices=("CPU",))
def static_regex_replace(
    _: ArrayModule,
    strings: Array,
    *,
    pattern: str | bytes,
    rewrite: str | bytes,
    replace_global: bool,
) -> Array:
    """The strings with matches of a pattern replaced."""
    replace = _replacer(pattern, rewrite, everywhere=replace_global)
    return _mapped(strings, replace)


@kernel("RegexReplace", devices=("CPU",))
def regex_replace(
    _: ArrayModule, strings: Array, pattern: Array, rewrite: Array, *, replace_global: bool
) -> Array:
    """The strings with matches of a pattern replaced."""
    return _mapped(strings, _replacer(pattern, rewrite, everywhere=replace_global))


def _matches(xp: ArrayModule, strings: Array, pattern: Array | bytes | str) -> Array:
    matches = matcher(_scalar(pattern, "Pattern"))
    return xp.asarray(matches(strings.reshape(-1).tolist()), "bool").reshape(strings.shape)


@kernel("StaticRegexFullMatch", devices=("CPU",))
def static_full_match(xp: ArrayModule, strings: Array, *, pattern: str) -> Array:
    """Whether a pattern matches each string entirely."""
    return _matches(xp, strings, pattern)


@kernel("RegexFullMatch", devices=("CPU",))
def full_match(xp: ArrayModule, strings: Array, pattern: Array) -> Array:
    """Whether a pattern matches each string entirely."""
    return _matches(xp, strings, pattern)


_CPU: Final = ("CPU",)


@kernel("UnsortedSegmentJoin", devices=_CPU)
def unsorted_segment_join(
    _: ArrayModule, inputs: Array, segment_ids: Array, num_segments: Array, *, separator: str
) -> Array:
    """The strings of each segment, joined in order."""
    count = one_number(num_segments, "num_segments")
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
    separator_bytes = attribute_octets(separator)
    joined = (
        _joined(separator_bytes, strings)
        for strings in _sorted_parts(inputs, columns, count * width)
    )
    return string_array(joined, (count, *inner))


def _sorted_parts(inputs: Array, segments: Array, count: int) -> Iterator[list[bytes]]:
    """The strings of each segment, in order."""
    dtype = HOST.min_scalar_type(count)  # at most 16 bits are sorted in linear time
    order = segments.astype(dtype).argsort(kind="stable")
    items = inputs.reshape(-1)[order].tolist()
    ends = HOST.cumsum(HOST.bincount(segments, minlength=count)).tolist()
    return (items[begin:end] for begin, end in itertools.pairwise([0, *ends]))


def _joined(separator_bytes: bytes, strings: Sequence[bytes]) -> bytes:
    """The strings joined; as in TensorFlow, leading empty ones are dropped."""
    if strings and not strings[0]:
        return separator_bytes.join(itertools.dropwhile(operator.not_, strings))
    return separator_bytes.join(strings)


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
def string_ngrams(bind: Bind) -> KernelFunction:
    """The n-grams of the rows of a ragged tensor for all widths, and their row splits."""
    attrs = bind.attrs
    separator_bytes, left, right = (
        attribute_octets(attrs[name]) for name in ("separator", "left_pad", "right_pad")
    )
    widths, pad_width = list(attrs["ngram_widths"]), attrs["pad_width"]

    def ngrams(row: list[bytes], width: int) -> list[bytes]:
        padding = min(width - 1 if pad_width < 0 else pad_width, width - 1)
        padded = [left] * padding + row + [right] * padding
        return [separator_bytes.join(padded[i : i + width]) for i in range(len(padded) - width + 1)]

    def row_ngrams(row: list[bytes]) -> list[bytes]:
        all_ngrams = [ngram for width in widths for ngram in ngrams(row, width)]
        if all_ngrams or not row or not attrs["preserve_short_sequences"]:
            return all_ngrams
        return ngrams(row, len(row) + 2 * pad_width)

    def compute(data: Array, data_splits: Array) -> tuple[Array, Array]:
        if any(width < 1 for width in widths):
            raise InvalidArgument("ngram_widths must contain positive values")
        splits, items = ints(data_splits), data.reshape(-1).tolist()
        if not splits:
            return string_array([b""] * len(items), (len(items),)), data_splits
        _check_splits(splits, len(items))
        if not items:
            return string_array([], (0,)), data_splits
        rows = [row_ngrams(items[start:end]) for start, end in itertools.pairwise(splits)]
        ends = HOST.cumsum([0, *map(len, rows)]).astype(data_splits.dtype)
        return string_array([ngram for row in rows for ngram in row], (int(ends[-1]),)), ends

    return compute
