"""Images flipped, rotated by right angles and transposed; flipped at random."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from sessrun.reference.api.argument_types import TensorLike
from sessrun.reference.api.control_flow.case import case
from sessrun.reference.api.control_flow.conditional import cond
from sessrun.reference.api.images.checks import by_rank, checked
from sessrun.reference.api.ops.array_ops import reshape
from sessrun.reference.api.ops.array_ops import transpose as transposed
from sessrun.reference.api.ops.cast_ops import cast
from sessrun.reference.api.ops.math_ops import equal, round_
from sessrun.reference.api.ops.random_ops import random_uniform
from sessrun.reference.api.ops.shape_ops import shape
from sessrun.reference.base import dtypes
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.generated import less
from sessrun.reference.build.generated import reverse_v2 as reverse
from sessrun.reference.graph.name_scopes import name_scope
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public

__all__ = ["flipped_at_random"]


def _shaped(image: Tensor, result: Tensor) -> Tensor:
    """The result with the image's shape; of rank 3 if that is not known."""
    result.set_shape([None] * 3 if image.shape.ndims is None else image.shape)
    return result


def _flipped(image: TensorLike, axis: int, scope: str) -> Tensor:
    with name_scope(None, scope, [image]):
        value = checked(convert_to_tensor(image, name="image"))
        result: Tensor = by_rank(
            value,
            lambda: _shaped(value, reverse(value, [axis])),
            lambda: reverse(value, [axis + 1]),
            "",
        )
        return result


@public("image.flip_left_right")
def flip_left_right(image: TensorLike) -> Tensor:
    """Flip an image, or a batch of images, from left to right.

    Raises:
      ValueError: the rank is neither 3 nor 4.

    """
    return _flipped(image, 1, "flip_left_right")


@public("image.flip_up_down")
def flip_up_down(image: TensorLike) -> Tensor:
    """Flip an image, or a batch of images, upside down.

    Raises:
      ValueError: the rank is neither 3 nor 4.

    """
    return _flipped(image, 0, "flip_up_down")


def flipped_at_random(
    image: TensorLike, axis: int, draw: Callable[..., Tensor], scope_name: str
) -> Tensor:
    """Flip each image with probability 1/2; the images of a batch independently.

    Raises:
      ValueError: the rank is neither 3 nor 4.

    """
    with name_scope(None, scope_name, [image]) as scope:
        value = checked(convert_to_tensor(image, name="image"))

        def one() -> Tensor:
            number = draw([], minval=0, maxval=1.0)
            is_flipped = less(number, 0.5)
            result = cond(is_flipped, lambda: reverse(value, [axis]), lambda: value, name=scope)
            return _shaped(value, result)

        def batch() -> Tensor:
            count = shape(value)[0]
            numbers = draw([count], minval=0, maxval=1.0)
            flips = cast(round_(reshape(numbers, [count, 1, 1, 1])), value.dtype)
            turned = reverse(value, [axis + 1])
            mixed: Tensor = flips * turned + (1 - flips) * value
            return mixed

        flipped: Tensor = by_rank(value, one, batch)
        return flipped


@public("image.random_flip_left_right")
def random_flip_left_right(image: TensorLike, seed: int | None = None) -> Tensor:
    """Flip an image, or the images of a batch independently, left to right half of the time.

    Raises:
      ValueError: the rank is neither 3 nor 4.

    """
    return flipped_at_random(image, 1, partial(random_uniform, seed=seed), "random_flip_left_right")


@public("image.random_flip_up_down")
def random_flip_up_down(image: TensorLike, seed: int | None = None) -> Tensor:
    """Flip an image, or the images of a batch independently, upside down half of the time.

    Raises:
      ValueError: the rank is neither 3 nor 4.

    """
    return flipped_at_random(image, 0, partial(random_uniform, seed=seed), "random_flip_up_down")


@public("image.rot90")
def rot90(image: TensorLike, k: TensorLike = 1, name: str | None = None) -> Tensor:
    """Rotate an image, or a batch of images, counter-clockwise by right angles.

    Args:
      image: of rank 3 or 4.
      k: how many right angles, an integer scalar.
      name: the operations' scope.

    Raises:
      ValueError: the rank is neither 3 nor 4, or `k` is not a scalar.

    """
    with name_scope(name, "rot90", [image, k]) as scope:
        value = checked(convert_to_tensor(image, name="image"))
        turns = convert_to_tensor(k, dtype=dtypes.int32, name="k")
        turns.shape.assert_has_rank(0)
        turns = turns % 4
        rotated: Tensor = by_rank(
            value, lambda: _turned(value, turns, scope, 0), lambda: _turned(value, turns, scope, 1)
        )
        return rotated


def _turned(value: Tensor, turns: Tensor, scope: str, first: int) -> Tensor:
    """The turned image; `first` is the axis of its rows."""
    order = [*range(first), first + 1, first, first + 2]
    cases = [
        (equal(turns, 1), lambda: transposed(reverse(value, [first + 1]), order)),
        (equal(turns, 2), lambda: reverse(value, [first, first + 1])),
        (equal(turns, 3), lambda: reverse(transposed(value, order), [first + 1])),
    ]
    rotated: Tensor = case(cases, default=lambda: value, exclusive=True, name=scope)
    if first:
        rotated.set_shape([rotated.shape[0], None, None, rotated.shape[3]])
    else:
        rotated.set_shape([None, None, value.shape[2]])
    return rotated


@public("image.transpose", "image.transpose_image")
def transpose(image: TensorLike, name: str | None = None) -> Tensor:
    """Transpose an image, or a batch of images: rows become columns.

    Raises:
      ValueError: the rank is neither 3 nor 4.

    """
    with name_scope(name, "transpose", [image]):
        value = checked(convert_to_tensor(image, name="image"))
        swapped: Tensor = by_rank(
            value,
            lambda: transposed(value, [1, 0, 2], name=name or "transpose"),
            lambda: transposed(value, [0, 2, 1, 3], name=name or "transpose"),
        )
        return swapped
