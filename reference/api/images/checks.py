"""Checks of the ranks and sizes of images: while the graph is built, else by assertions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from sessrun.reference.api.argument_types import TensorLike
from sessrun.reference.api.control_flow.asserting import after, assert_
from sessrun.reference.api.control_flow.conditional import cond
from sessrun.reference.api.ops.array_ops import expand_dims, squeeze, unstack
from sessrun.reference.api.ops.assertions import assert_equal, assert_greater_equal, assert_positive
from sessrun.reference.api.ops.math_ops import equal
from sessrun.reference.api.ops.shape_ops import rank, shape
from sessrun.reference.api.variables.variables import Variable
from sessrun.reference.build.generated import maximum, minimum
from sessrun.reference.errors import bad_value
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor

__all__ = [
    "Batch",
    "by_rank",
    "checked",
    "checks_of_grey",
    "checks_of_image",
    "either_rank",
    "is_tensor",
    "larger",
    "same",
    "sizes",
    "smaller",
    "unless",
]


def is_tensor(value: TensorLike) -> bool:
    """Whether it is a tensor of a graph, not a number of Python."""
    return isinstance(value, Tensor | Variable)


def unless(holds: Any, message: str) -> list[Operation]:
    """An assertion that a tensor holds; none for a Python value that does.

    Raises:
      ValueError: a Python value does not hold.

    """
    if is_tensor(holds):
        return [assert_(holds, [message])]
    if not holds:
        raise bad_value(message)
    return []


def _larger_or_smaller(
    op: Callable[..., object], plain: Callable[..., object]
) -> Callable[..., Tensor | int]:
    def chosen(x: Tensor, y: Tensor) -> Any:
        return op(x, y) if is_tensor(x) or is_tensor(y) else plain(x, y)

    return chosen


larger = _larger_or_smaller(maximum, max)
smaller = _larger_or_smaller(minimum, min)
same = _larger_or_smaller(equal, lambda x, y: x == y)


def sizes(image: Tensor, ndims: int) -> list[Any]:
    """The sizes of the dimensions: ints where they are known, else scalars.

    Raises:
      ValueError: the rank is another one.

    """
    if image.shape.is_fully_defined():
        return list(image.shape.as_list())
    static = image.shape.with_rank(ndims).as_list()
    dynamic = unstack(shape(image), ndims)
    return [s if s is not None else d for s, d in zip(static, dynamic, strict=True)]


def checks_of_image(image: Tensor) -> list[Operation]:
    """The assertions that are needed in a run: rank 3 at least, the last three sizes not 0.

    Raises:
      ValueError: the static shape fails such an assertion.

    """
    try:
        known = (
            image.shape.with_rank(3)
            if image.shape.ndims is None
            else (image.shape.with_rank_at_least(3))
        )
    except ValueError:
        raise bad_value(
            f"'image' (shape {image.shape}) must be at least three-dimensional."
        ) from None
    if any(dim == 0 for dim in known[-3:].as_list()):
        raise bad_value(f"inner 3 dims of 'image.shape' must be > 0: {known}")
    if known[-3:].is_fully_defined():
        return []
    positive = assert_positive(shape(image)[-3:], ["inner 3 dims of 'image.shape' must be > 0."])
    text = "'image' must be at least three-dimensional."
    return [positive, assert_greater_equal(rank(image), 3, message=text)]


def checked(image: Tensor) -> Tensor:
    """The image once its rank and sizes have been checked.

    Raises:
      ValueError: the static rank or a static size is wrong.

    """
    return after(checks_of_image(image), image)


def checks_of_grey(image: Any) -> list[Operation]:
    """The assertions that are needed in a run for an image of one channel.

    Raises:
      ValueError: the image has more channels, or its rank is below 2.

    """
    try:
        known = (
            image.shape.with_rank(2)
            if image.shape.ndims is None
            else (image.shape.with_rank_at_least(2))
        )
    except ValueError:
        raise bad_value(
            f"A grayscale image (shape {image.shape}) must be at least two-dimensional."
        ) from None
    text = "Last dimension of a grayscale image should be size 1."
    if known.is_fully_defined():
        if known[-1] != 1:
            raise bad_value(text)
        return []
    of_rank = "A grayscale image must be at least two-dimensional."
    return [
        assert_equal(shape(image)[-1], 1, message=text),
        assert_greater_equal(rank(image), 3, message=of_rank),
    ]


def either_rank(image: Tensor, gap: str = " ") -> int | None:
    """The rank of an image or of a batch of images: 3, 4, or None if it is not known.

    Raises:
      ValueError: the rank is neither 3 nor 4.

    """
    if image.shape.ndims not in {None, 3, 4}:
        raise bad_value(f"'image' (shape {image.shape}){gap}must have either 3 or 4 dimensions.")
    known_rank: int | None = image.shape.ndims
    return known_rank


#: What a function of an image gives: an image, or tensors.
Image = TypeVar("Image")


def by_rank(
    image: Tensor, one: Callable[[], Image], batch: Callable[[], Image], gap: str = " "
) -> Image:
    """Call one of two functions, for an image or for a batch; both, with a cond, if it is unknown.

    Raises:
      ValueError: the rank is neither 3 nor 4.

    """
    ndims = either_rank(image, gap)
    if ndims is None:
        result: Image = cond(equal(rank(image), 3), one, batch)
        return result
    return one() if ndims == 3 else batch()


class Batch:
    """An image as a batch of one image; a batch unchanged.

    Attributes:
      images: of rank 4.
      is_batch: whether it was a batch.

    Raises:
      ValueError: the rank is neither 3 nor 4.

    """

    def __init__(self, image: Tensor) -> None:
        ndims = either_rank(image)
        self.is_batch = ndims == 4
        self.images = image if self.is_batch else expand_dims(image, 0)
        if ndims is None:
            self.images.set_shape([None] * 4)

    def restored(self, images: Tensor) -> Tensor:
        """The result as a single image if the argument was one."""
        return images if self.is_batch else squeeze(images, axis=[0])
