"""Tensors made shorter where they are too long (`tf.clip_by_norm` and its kin)."""

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
    """The numbers of a tensor, or of indexed slices."""
    return convert_to_tensor(value.values if isinstance(value, IndexedSlices) else value, name=name)


def _like_input(value: object, clipped: Tensor) -> Any:
    if isinstance(value, IndexedSlices):
        return IndexedSlices(clipped, value.indices, value.dense_shape)
    return clipped


@public("clip_by_value")
def clip_by_value(
    t: TensorLike, clip_value_min: TensorLike, clip_value_max: TensorLike, name: str | None = None
) -> Any:
    """A tensor, or rows of one, with no element below the least or above the greatest value.

    Args:
      t: a Tensor or IndexedSlices of numbers.
      clip_value_min: the least value, which is broadcast to the tensor's shape.
      clip_value_max: the greatest value, likewise.
      name: the operation's name.

    Raises:
      ValueError: the shapes of the values do not fit into the tensor's.

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
    """A tensor scaled down to a Euclidean norm where it is longer.

    Args:
      t: a tensor or IndexedSlices of floating point numbers.
      clip_norm: the greatest norm; zero in place of a negative one.
      axes: the axes the norm is taken over, by default all.
      name: the operation's name.

    """
    with name_scope(name, "clip_by_norm", [t, clip_norm]) as scope:
        values = _rows(t, "t")
        is_number = isinstance(clip_norm, int | float | np.number)
        limit = max(clip_norm, 0) if is_number else maximum(clip_norm, 0)
        squares = reduce_sum(values * values, axes, keepdims=True)
        # The gradient of the root of zero is none, so no zero goes into it.
        is_positive = squares > 0
        norm = where(is_positive, sqrt(where(is_positive, squares, ones_like(squares))), squares)
        scaled = values * limit
        values.shape.assert_is_compatible_with(scaled.shape)
        clipped = identity(scaled / maximum(norm, limit), name=scope)
        return _like_input(t, clipped)


def _tensors(t_list: Any) -> list[Any]:
    if not isinstance(t_list, Sequence) or isinstance(t_list, str):
        raise bad_type(f"`t_list` should be a sequence of tensors. Received {type(t_list)}.")
    return list(t_list)


@public("global_norm", "linalg.global_norm")
def global_norm(t_list: Any, name: str | None = None) -> Tensor:
    """The Euclidean norm of all numbers of several tensors.

    Args:
      t_list: a sequence of tensors, IndexedSlices and None.
      name: the operations' scope.

    Raises:
      TypeError: it is no sequence.

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
    t_list: Any, clip_norm: float | Tensor, use_norm: Tensor | None = None, name: str | None = None
) -> tuple[list[Any], Any]:
    """Tensors scaled down together to a common Euclidean norm if they are longer.

    Args:
      t_list: a sequence of tensors, IndexedSlices and None.
      clip_norm: the greatest norm; a norm that is infinite or none makes every number none.
      use_norm: the norm where it is known already.
      name: the operations' scope.

    Returns:
      The list of the scaled tensors, and the norm before.

    Raises:
      TypeError: `t_list` is no sequence.

    """
    given = _tensors(t_list)
    norm = global_norm(given, name) if use_norm is None else use_norm
    with name_scope(name, "clip_by_global_norm", [*given, clip_norm]) as scope:
        limit = minimum(1.0 / norm, constant(1.0, norm.dtype) / clip_norm)
        scale = clip_norm * limit + (norm - norm)
        clipped: list[Any] = []
        values = [None if t is None else _rows(t, f"t_{i}") for i, t in enumerate(given)]
        for i, (t, value) in enumerate(zip(given, values, strict=True)):
            if value is None:
                clipped.append(None)
                continue
            with colocate_with(value):
                clipped.append(_like_input(t, _named(scope, i)(value * scale)))
    return clipped, norm


def _named(scope: str, number: int) -> Callable[[Tensor], Tensor]:
    """The identity under the name that TensorFlow gives it: the scope's once more."""
    own = scope.rstrip("/").rpartition("/")[2]
    return lambda value: identity(value, name=f"{own}/_{number}")


@public("clip_by_average_norm")
def clip_by_average_norm(t: TensorLike, clip_norm: TensorLike, name: str | None = None) -> Tensor:
    """A tensor scaled down where its Euclidean norm divided by its size is greater."""
    with name_scope(name, "clip_by_average_norm", [t, clip_norm]) as scope:
        value = convert_to_tensor(t, name="t")
        count = cast(size(value), dtypes.float32)
        inverse = rsqrt(reduce_sum(value * value, range_(rank(value))))
        scaled = value * clip_norm
        limit = minimum(inverse * count, constant(1.0) / clip_norm)
        return identity(scaled * limit, name=scope)
