"""Clipping by value and by norm: `tf.clip_by_value`, `tf.clip_by_norm` and others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from sessrun.reference.api.ops.array_ops import rank, size, stack, where
from sessrun.reference.api.ops.cast_ops import cast
from sessrun.reference.api.ops.fill_ops import ones_like
from sessrun.reference.api.ops.math_ops import range_
from sessrun.reference.api.ops.reduce_ops import reduce_sum
from sessrun.reference.base import dtypes
from sessrun.reference.build.constant_op import constant
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.framework_ops import identity
from sessrun.reference.build.generated import l2_loss, maximum, minimum, rsqrt, sqrt
from sessrun.reference.build.indexed_slices import IndexedSlices
from sessrun.reference.build.tensor_like import TensorLike
from sessrun.reference.errors import bad_type
from sessrun.reference.graph.default_graph import colocate_with
from sessrun.reference.graph.name_scopes import name_scope
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public

__all__ = ["global_norm"]


def _rows(value: TensorLike, name: str) -> Tensor:
    """The elements of a tensor, or the rows of IndexedSlices."""
    return convert_to_tensor(value.values if isinstance(value, IndexedSlices) else value, name=name)


def _like_input(value: TensorLike | None, clipped: Tensor) -> Tensor | IndexedSlices:
    if isinstance(value, IndexedSlices):
        return IndexedSlices(clipped, value.indices, value.dense_shape)
    return clipped


@public("clip_by_value")
def clip_by_value(
    t: TensorLike, clip_value_min: TensorLike, clip_value_max: TensorLike, name: str | None = None
) -> Any:
    """Clip the elements of a tensor, or of IndexedSlices, to a least and a greatest value.

    Args:
      t: a Tensor or IndexedSlices of numbers.
      clip_value_min: the least value, which is broadcast to the tensor's shape.
      clip_value_max: the greatest value, likewise.
      name: the operation's name.

    Raises:
      ValueError: the bounds do not broadcast to the shape of the tensor.

    """
    with name_scope(name, "clip_by_value", [t, clip_value_min, clip_value_max]) as scope:
        values = _rows(t, "t")
        below = minimum(values, clip_value_max)
        values.shape.assert_is_compatible_with(below.shape)
        within = maximum(below, clip_value_min, name=scope)
        values.shape.assert_is_compatible_with(within.shape)
        return _like_input(t, within)


@public("clip_by_norm")
def clip_by_norm(
    t: TensorLike,
    clip_norm: float | Tensor,
    axes: TensorLike | None = None,
    name: str | None = None,
) -> Any:
    """Scale a tensor down to a Euclidean norm if its norm is greater.

    Args:
      t: a tensor or IndexedSlices of floating point numbers.
      clip_norm: the greatest norm; a negative one counts as zero.
      axes: the axes of the norm, by default all.
      name: the operation's name.

    """
    with name_scope(name, "clip_by_norm", [t, clip_norm]) as scope:
        values = _rows(t, "t")
        is_number = isinstance(clip_norm, int | float | np.number)
        limit = max(clip_norm, 0) if is_number else maximum(clip_norm, 0)
        squares = reduce_sum(values * values, axes, keepdims=True)
        # The gradient of sqrt at 0 is not finite, so zeros are replaced before it.
        is_positive = squares > 0
        norm = where(is_positive, sqrt(where(is_positive, squares, ones_like(squares))), squares)
        scaled = values * limit
        values.shape.assert_is_compatible_with(scaled.shape)
        clipped = identity(scaled / maximum(norm, limit), name=scope)
        return _like_input(t, clipped)


def _tensors(t_list: object) -> list[Tensor | IndexedSlices | None]:
    if not isinstance(t_list, Sequence) or isinstance(t_list, str):
        raise bad_type(f"`t_list` should be a sequence of tensors. Received {type(t_list)}.")
    return list(t_list)


@public("global_norm", "linalg.global_norm")
def global_norm(t_list: Sequence[TensorLike | None], name: str | None = None) -> Tensor:
    """The Euclidean norm of all elements of several tensors.

    Args:
      t_list: a sequence of tensors, IndexedSlices and None.
      name: the operations' scope.

    Raises:
      TypeError: `t_list` is not a sequence.

    """
    given = _tensors(t_list)
    with name_scope(name, "global_norm", given):
        values = [_rows(t, f"t_{i}") for i, t in enumerate(given) if t is not None]
        halves = []
        for value in values:
            with colocate_with(value):
                halves.append(l2_loss(value))
        half = reduce_sum(stack(halves))
        return sqrt(half * constant(2.0, half.dtype), name="global_norm")


@public("clip_by_global_norm")
def clip_by_global_norm(
    t_list: Sequence[TensorLike | None],
    clip_norm: float | Tensor,
    use_norm: Tensor | None = None,
    name: str | None = None,
) -> tuple[list[Tensor | IndexedSlices | None], Tensor]:
    """Scale tensors down together to a global Euclidean norm if theirs is greater.

    Args:
      t_list: a sequence of tensors, IndexedSlices and None.
      clip_norm: the greatest norm; if the norm is infinite or NaN, all elements become NaN.
      use_norm: the global norm, if it is known already.
      name: the operations' scope.

    Returns:
      The list of the scaled tensors, and the global norm.

    Raises:
      TypeError: `t_list` is not a sequence.

    """
    given = _tensors(t_list)
    norm = global_norm(given, name) if use_norm is None else use_norm
    with name_scope(name, "clip_by_global_norm", [*given, clip_norm]) as scope:
        limit = minimum(1.0 / norm, constant(1.0, norm.dtype) / clip_norm)
        scale = clip_norm * limit + (norm - norm)
        clipped: list[Tensor | IndexedSlices | None] = []
        values = [None if t is None else _rows(t, f"t_{i}") for i, t in enumerate(given)]
        for i, (t, value) in enumerate(zip(given, values, strict=True)):
            if value is None:
                clipped.append(None)
                continue
            with colocate_with(value):
                clipped.append(_like_input(t, _identity_named(scope, i)(value * scale)))
    return clipped, norm


def _identity_named(scope: str, number: int) -> Callable[[Tensor], Tensor]:
    """An identity with TensorFlow's node name, which repeats the scope's name."""
    own = scope.rstrip("/").rpartition("/")[2]
    return lambda value: identity(value, name=f"{own}/_{number}")


@public("clip_by_average_norm")
def clip_by_average_norm(t: TensorLike, clip_norm: TensorLike, name: str | None = None) -> Tensor:
    """Scale a tensor down if its Euclidean norm divided by its size is greater."""
    with name_scope(name, "clip_by_average_norm", [t, clip_norm]) as scope:
        value = convert_to_tensor(t, name="t")
        count = cast(size(value), dtypes.float32)
        inverse = rsqrt(reduce_sum(value * value, range_(rank(value))))
        scaled = value * clip_norm
        limit = minimum(inverse * count, constant(1.0) / clip_norm)
        return identity(scaled * limit, name=scope)
