"""Kernels that split strings, and match or replace patterns in them."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from sessrun.reference.base.arrays import Array, ArrayModule
from sessrun.reference.kernels.host import host_array, string_array
from sessrun.reference.kernels.input_shapes import require_rank
from sessrun.reference.kernels.patterns import matcher, replacer
from sessrun.reference.kernels.registry import kernel


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
    _: object, strings: Array, delimiter: Array, *, skip_empty: bool
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
    _: object, strings: Array, sep: Array, *, maxsplit: int
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
    _: object, strings: Array, pattern: Array, rewrite: Array, *, replace_global: bool
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
