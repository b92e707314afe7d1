"""Kernels that look for patterns and separators in strings."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from sessrun.reference.base.kernel_errors import InvalidArgument
from sessrun.reference.kernels.host import host_array, string_array
from sessrun.reference.kernels.patterns import matcher, replacer
from sessrun.reference.kernels.registry import Bind, binder, kernel

__all__: list[str] = []


def _bytes(value: Any) -> bytes:
    return value if isinstance(value, bytes) else str(value).encode()


def _scalar(array: Any, what: str) -> bytes:
    if getattr(array, "ndim", 0):
        raise InvalidArgument(f"{what} must be a scalar, but has shape {list(array.shape)}")
    return _bytes(array.item() if hasattr(array, "item") else array)


def _check_vector(strings: Any) -> None:
    if strings.ndim != 1:
        raise InvalidArgument(f"input must be a vector, not of shape {list(strings.shape)}")


def _sparse(rows: Sequence[Sequence[bytes]]) -> Any:
    """The sparse matrix that has these rows."""
    places = [place for i, row in enumerate(rows) for j in range(len(row)) for place in (i, j)]
    values = [item for row in rows for item in row]
    width = max(map(len, rows), default=0)
    return (
        host_array(places, "int64").reshape(len(values), 2),
        string_array(values, (len(values),)),
        host_array([len(rows), width], "int64"),
    )


@kernel("StringSplit", devices=("CPU",))
def string_split(_: Any, strings: Any, delimiter: Any, *, skip_empty: bool) -> Any:
    """Each string split at every byte that is in the delimiter; at each byte if it is empty."""
    _check_vector(strings)
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
def string_split_v2(_: Any, strings: Any, sep: Any, *, maxsplit: int) -> Any:
    """Each string split at a separator; at runs of white space if it is empty."""
    _check_vector(strings)
    mark = _scalar(sep, "sep")
    if mark:
        return _sparse([item.split(mark, maxsplit) for item in strings.tolist()])
    return _sparse([_words(item, maxsplit) for item in strings.tolist()])


def _words(item: bytes, most: int) -> list[bytes]:
    """What stands between white space: so many words at most, then the rest, even an empty one."""
    if not most:
        return [item]
    found = item.split(None, most)
    return [*found, b""] if len(found) == most else found


def _replacer(pattern: Any, rewrite: Any, *, everywhere: bool) -> Callable[[bytes], bytes]:
    given = _scalar(pattern, "Pattern"), _scalar(rewrite, "Rewrite")
    return replacer(*given, everywhere=everywhere)


def _each(strings: Any, function: Callable[[bytes], bytes]) -> Any:
    return string_array(map(function, strings.reshape(-1).tolist()), strings.shape)


@binder("StaticRegexReplace", devices=("CPU",))
def static_regex_replace(bind: Bind) -> Callable[..., Any]:
    """Matches replaced."""
    attrs = bind.attrs

    def compute(strings: Any) -> Any:
        replace = _replacer(attrs["pattern"], attrs["rewrite"], everywhere=attrs["replace_global"])
        return _each(strings, replace)

    return compute


@kernel("RegexReplace", devices=("CPU",))
def regex_replace(_: Any, strings: Any, pattern: Any, rewrite: Any, *, replace_global: bool) -> Any:
    """Matches replaced."""
    return _each(strings, _replacer(pattern, rewrite, everywhere=replace_global))


def _matches(xp: Any, strings: Any, pattern: Any) -> Any:
    matches = matcher(_scalar(pattern, "Pattern"))
    return xp.asarray(matches(strings.reshape(-1).tolist()), "bool").reshape(strings.shape)


@kernel("StaticRegexFullMatch", devices=("CPU",))
def static_full_match(xp: Any, strings: Any, *, pattern: Any) -> Any:
    """Whether each whole string matches."""
    return _matches(xp, strings, pattern)


@kernel("RegexFullMatch", devices=("CPU",))
def full_match(xp: Any, strings: Any, pattern: Any) -> Any:
    """Whether each whole string matches."""
    return _matches(xp, strings, pattern)
