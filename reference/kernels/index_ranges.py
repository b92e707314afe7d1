"""Indices that must lie within a dimension, and what becomes of those that do not.

On a CPU one that does not is an error. A GPU could report it only if each run waited for it. So
gathered elements are 0 there, as TensorFlow documents of `tf.gather`, and sums leave the update
out; only what replaces, multiplies or compares waits.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Sequence
from typing import Any

from sessrun.reference.base.kernel_errors import InvalidArgument
from sessrun.reference.graph.node_summary import bracketed
from sessrun.reference.kernels.host import HOST

__all__ = ["check_range", "index_vectors", "vectors_within", "within", "zeroed"]


def check_range(xp: Any, indices: Any, limit: int, what: str) -> None:
    """Check that every index is in [0, limit); a GPU is waited for.

    Raises:
      InvalidArgument: one is not.

    """
    wrong = (indices < 0) | (indices >= limit)
    if indices.size and xp.any(wrong):
        first = _first(xp, wrong)
        raise InvalidArgument(f"{what}{_at(first)} = {int(indices[first])} is not in [0, {limit})")


def within(xp: Any, indices: Any, limit: int, what: str) -> tuple[Any, Any]:
    """Indices that are in [0, limit), and which of them were.

    Returns:
      The indices, and None on a CPU; on a GPU those out of range are 0, and the second is False
      for them.

    Raises:
      InvalidArgument: one is out of range; on a GPU only if no index could be within it.

    """
    if xp is HOST:
        check_range(xp, indices, limit, what)
        return indices, None
    if indices.size and not limit:
        raise InvalidArgument(f"{what} are not in [0, 0)")
    inside = (indices >= 0) & (indices < limit)
    return indices * inside, inside


def zeroed(xp: Any, values: Any, inside: Any) -> Any:
    """The values, 0 where `inside` is False, of whose shape theirs begins; None changes none."""
    if inside is None:
        return values
    wide = inside.reshape(inside.shape + (1,) * (values.ndim - inside.ndim))
    return xp.where(wide, values, xp.zeros((), values.dtype))


def index_vectors(
    xp: Any, indices: Any, shape: tuple[int, ...], what: str = "shape"
) -> tuple[Any, ...]:
    """Index vectors as an index tuple, checked; a GPU is waited for.

    Args:
      xp: the array module.
      indices: the vectors, along the last axis.
      shape: what they index.
      what: what this shape is called.

    Raises:
      InvalidArgument: vectors longer than the rank, or an index out of range.

    """
    parts = _parts(indices, shape)
    if not indices.size:
        return parts
    wrong = ~_all_within(xp, indices, parts, shape)
    if xp.any(wrong):
        first = _first(xp, wrong)
        vector = ", ".join(str(int(part[first])) for part in parts)
        raise InvalidArgument(
            f"indices{_at(first)} = [{vector}] does not index into {what} {bracketed(shape)}"
        )
    return parts


def vectors_within(
    xp: Any, indices: Any, shape: tuple[int, ...], what: str = "shape"
) -> tuple[tuple[Any, ...], Any]:
    """Index vectors as an index tuple, and which of them index the shape; as `within` has it."""
    if xp is HOST:
        return index_vectors(xp, indices, shape, what), None
    parts = _parts(indices, shape)
    if not indices.size:
        return parts, None
    if 0 in shape[: len(parts)]:
        raise InvalidArgument(f"indices do not index into {what} {bracketed(shape)}")
    inside = _all_within(xp, indices, parts, shape)
    return tuple(part * inside for part in parts), inside


def _parts(indices: Any, shape: tuple[int, ...]) -> tuple[Any, ...]:
    if indices.ndim < 1:
        raise InvalidArgument("indices must be at least a vector")
    depth = indices.shape[-1]
    if depth > len(shape):
        raise InvalidArgument(
            f"index innermost dimension length must be <= params rank; saw: "
            f"{depth} vs. {len(shape)}"
        )
    return tuple(indices[..., i] for i in range(depth))


def _all_within(xp: Any, indices: Any, parts: Sequence[Any], shape: tuple[int, ...]) -> Any:
    """For each vector whether every index of it is within its dimension."""
    if not parts:
        return xp.ones(indices.shape[:-1], dtype=bool)
    limits = zip(parts, shape, strict=False)
    return functools.reduce(operator.and_, ((part >= 0) & (part < limit) for part, limit in limits))


def _first(xp: Any, wrong: Any) -> tuple[int, ...]:
    """Where the first true element is."""
    return tuple(int(places[0]) for places in xp.nonzero(wrong)) if wrong.ndim else ()


def _at(place: tuple[int, ...]) -> str:
    return f"[{','.join(map(str, place))}]" if place else ""
