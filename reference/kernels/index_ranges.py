"""Checks of indices against dimensions, and the handling of those out of range.

On a CPU an index out of range is an error. On a GPU a run would have to wait for the device to
report one. So a GPU gathers 0 for it, as TensorFlow documents of `tf.gather`, and additions ignore
the update; only updates that replace, multiply or compare wait and report the error.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Sequence

from sessrun.reference.base.arrays import Array, ArrayModule
from sessrun.reference.base.kernel_errors import InvalidArgument
from sessrun.reference.graph.node_summary import bracketed
from sessrun.reference.kernels.host import HOST
from sessrun.reference.kernels.input_shapes import require_rank_at_least

__all__ = ["check_range", "index_vectors", "vectors_within", "within", "zeroed"]


def check_range(xp: ArrayModule, indices: Array, limit: int, what: str) -> None:
    """Check that every index is in [0, limit); this waits for a GPU.

    Raises:
      InvalidArgument: an index is out of range.

    """
    wrong = (indices < 0) | (indices >= limit)
    if indices.size and xp.any(wrong):
        first = _first(xp, wrong)
        raise InvalidArgument(f"{what}{_at(first)} = {int(indices[first])} is not in [0, {limit})")


def within(xp: ArrayModule, indices: Array, limit: int, what: str) -> tuple[Array, Array | None]:
    """Indices in [0, limit), and on a GPU a mask of the indices that are in this range.

    Returns:
      On a CPU the indices and None. On a GPU the indices, with 0 for those out of range, and the
      mask, a bool array of their shape that is False for those.

    Raises:
      InvalidArgument: an index is out of range; on a GPU only if the range is empty.

    """
    if xp is HOST:
        check_range(xp, indices, limit, what)
        return indices, None
    if indices.size and not limit:
        raise InvalidArgument(f"{what} are not in [0, 0)")
    inside = (indices >= 0) & (indices < limit)
    return indices * inside, inside


def zeroed(xp: ArrayModule, values: Array, inside: Array | None) -> Array:
    """The values, with 0 where a mask of their leading dimensions is False; None masks nothing."""
    if inside is None:
        return values
    wide = inside.reshape(inside.shape + (1,) * (values.ndim - inside.ndim))
    return xp.where(wide, values, xp.zeros((), values.dtype))


def index_vectors(
    xp: ArrayModule, indices: Array, shape: tuple[int, ...], what: str = "shape"
) -> tuple[Array, ...]:
    """Check index vectors and convert them to a tuple that indexes an array; waits for a GPU.

    Args:
      xp: the array module.
      indices: the vectors, [..., depth].
      shape: the shape of the tensor that they index.
      what: the name of this shape in messages.

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
    xp: ArrayModule, indices: Array, shape: tuple[int, ...], what: str = "shape"
) -> tuple[tuple[Array, ...], Array | None]:
    """Index vectors as an index tuple, and a mask of those in range, as `within` returns it."""
    if xp is HOST:
        return index_vectors(xp, indices, shape, what), None
    parts = _parts(indices, shape)
    if not indices.size:
        return parts, None
    if 0 in shape[: len(parts)]:
        raise InvalidArgument(f"indices do not index into {what} {bracketed(shape)}")
    inside = _all_within(xp, indices, parts, shape)
    return tuple(part * inside for part in parts), inside


def _parts(indices: Array, shape: tuple[int, ...]) -> tuple[Array, ...]:
    require_rank_at_least(1, indices=indices)
    depth = indices.shape[-1]
    if depth > len(shape):
        raise InvalidArgument(
            f"index innermost dimension length must be <= params rank; saw: "
            f"{depth} vs. {len(shape)}"
        )
    return tuple(indices[..., i] for i in range(depth))


def _all_within(
    xp: ArrayModule, indices: Array, parts: Sequence[Array], shape: tuple[int, ...]
) -> Array:
    """For each index vector whether all its indices are within their dimensions."""
    if not parts:
        return xp.ones(indices.shape[:-1], dtype=bool)
    limits = zip(parts, shape, strict=False)
    return functools.reduce(operator.and_, ((part >= 0) & (part < limit) for part, limit in limits))


def _first(xp: ArrayModule, wrong: Array) -> tuple[int, ...]:
    """The index of the first true element."""
    return (
        tuple(int(axis_positions[0]) for axis_positions in xp.nonzero(wrong)) if wrong.ndim else ()
    )


def _at(index: tuple[int, ...]) -> str:
    return f"[{','.join(map(str, index))}]" if index else ""
