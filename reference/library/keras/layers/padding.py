"""Zero padding and cropping layers.

Source: tf_keras 2.21 in graph mode, whose graphs they make node for node.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias, Unpack

import sessrun.reference as tf
from sessrun.reference.api.argument_types import TensorLike
from sessrun.reference.base.tensor_shape import ShapeLike, TensorShape
from sessrun.reference.errors import bad_value
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.library.keras.engine.base_layer import Layer
from sessrun.reference.library.keras.engine.input_spec import InputSpec
from sessrun.reference.library.keras.engine.layer_options import LayerOptions
from sessrun.reference.library.keras.layers.convolutional import constructor_of
from sessrun.reference.library.keras.layers.window_arguments import (
    normalized_format,
    normalized_tuple,
)

__all__ = [
    "Cropping1D",
    "Cropping2D",
    "Cropping3D",
    "ZeroPadding1D",
    "ZeroPadding2D",
    "ZeroPadding3D",
]


#: What is added or cut at an axis: a number for all axes, or one or two for each.
Margins: TypeAlias = "int | Sequence[int] | Sequence[Sequence[int]]"


def _margins(given: Margins, rank: int, name: str) -> tuple[tuple[int, ...], ...]:
    """The (before, after) pairs of an argument, one for each spatial axis.

    Raises:
      ValueError: the argument is neither a number, nor one or two numbers for each axis.

    """
    if isinstance(given, int):
        return ((given, given),) * rank
    if not hasattr(given, "__len__") or len(given) != rank:
        raise bad_value(
            f"`{name}` should be an int, or have {rank} elements: one or two ints for each axis. "
            f"Received: {given}."
        )
    margins: Sequence[Any] = given
    return tuple(
        normalized_tuple(one, 2, f"entry {n + 1} of {name}", zero=True)
        for n, one in enumerate(margins)
    )


class Margin(Layer):
    """Base class of padding and cropping layers."""

    def __init__(self, rank: int, data_format: str | None, **kwargs: Unpack[LayerOptions]) -> None:
        super().__init__(**kwargs)
        self.data_format = normalized_format(data_format)
        self._first = 2 if self.data_format == "channels_first" else 1
        self.input_spec = InputSpec(ndim=rank + 2)

    def _changed(
        self, shape: ShapeLike, margins: Sequence[Sequence[int]], sign: int
    ) -> TensorShape:
        sizes = tf.TensorShape(shape).as_list()
        for axis, margin in enumerate(margins, self._first):
            if sizes[axis] is not None:
                sizes[axis] += sign * sum(margin)
        return tf.TensorShape(sizes)


class ZeroPadding(Margin):
    """Pads the spatial axes with zeros.

    Args:
      rank: how many such axes there are.
      padding: how many zeros: a number, or one or two for each axis.
      data_format: `channels_last` or `channels_first`.
      **kwargs: as for Layer.

    Raises:
      ValueError: the numbers are too few, too many or negative.

    """

    _options: tuple[str, ...] = ("padding", "data_format")

    def __init__(
        self,
        rank: int,
        padding: Margins = 1,
        data_format: str | None = None,
        **kwargs: Unpack[LayerOptions],
    ) -> None:
        super().__init__(rank, data_format, **kwargs)
        self.padding = _margins(padding, rank, "padding")

    def call(self, inputs: TensorLike) -> Tensor:
        """The inputs with zeros around them."""
        rank = len(self.padding)
        pattern = [[0, 0] for _ in range(rank + 2)]
        pattern[self._first : self._first + rank] = [list(pair) for pair in self.padding]
        return tf.pad(inputs, pattern)

    def compute_output_shape(self, input_shape: ShapeLike) -> TensorShape:
        """The shape of the outputs."""
        return self._changed(input_shape, self.padding, 1)


class ZeroPadding1D(Margin):
    """Pads sequences with zeros along time.

    Args:
      padding: how many: a number, or two.
      **kwargs: as for Layer.

    Raises:
      ValueError: the numbers are too few, too many or negative.

    """

    _options = ("padding",)

    def __init__(self, padding: int | Sequence[int] = 1, **kwargs: Unpack[LayerOptions]) -> None:
        super().__init__(1, "channels_last", **kwargs)
        self.padding = normalized_tuple(padding, 2, "padding", zero=True)

    def call(self, inputs: TensorLike) -> Tensor:
        """The inputs with zeros around them."""
        return tf.pad(inputs, [[0, 0], list(self.padding), [0, 0]])

    def compute_output_shape(self, input_shape: ShapeLike) -> TensorShape:
        """The shape of the outputs."""
        return self._changed(input_shape, [self.padding], 1)


class ZeroPadding2D(ZeroPadding):
    """Zeros around images; the arguments are those of ZeroPadding without `rank`."""

    __init__ = constructor_of(ZeroPadding, 2, padding=(1, 1))


class ZeroPadding3D(ZeroPadding):
    """Zeros around volumes; the arguments are those of ZeroPadding without `rank`."""

    __init__ = constructor_of(ZeroPadding, 3, padding=(1, 1, 1))


class Cropping(Margin):
    """Crops the spatial axes.

    Args:
      rank: how many such axes there are.
      cropping: how much is cut off: a number, or one or two for each axis.
      data_format: `channels_last` or `channels_first`.
      **kwargs: as for Layer.

    Raises:
      ValueError: the numbers are too few, too many or negative; on calling: nothing would stay.

    """

    _options: tuple[str, ...] = ("cropping", "data_format")

    def __init__(
        self,
        rank: int,
        cropping: Margins = 0,
        data_format: str | None = None,
        **kwargs: Unpack[LayerOptions],
    ) -> None:
        super().__init__(rank, data_format, **kwargs)
        self.cropping: Any = _margins(cropping, rank, "cropping")

    def call(self, inputs: Tensor) -> Tensor:
        """The inputs without their margins."""
        return self._cropped(inputs, self.cropping)

    def _cropped(self, inputs: Any, margins: Sequence[Sequence[int]]) -> Tensor:
        key = [slice(None)] * inputs.shape.rank
        for axis, (before, after) in enumerate(margins, self._first):
            size = tf.dimension_value(inputs.shape[axis])
            if size is not None and before + after >= size:
                raise bad_value(
                    "Argument `cropping` must be greater than the input shape. Received: "
                    f"inputs.shape={inputs.shape}, and cropping={margins}"
                )
            key[axis] = slice(before, -after if after else None)
        return inputs[tuple(key)]

    def compute_output_shape(self, input_shape: ShapeLike) -> TensorShape:
        """The shape of the outputs."""
        return self._changed(input_shape, self.cropping, -1)


class Cropping1D(Cropping):
    """Crops sequences along time.

    Args:
      cropping: how much is cut off: a number, or two.
      **kwargs: as for Layer.

    Raises:
      ValueError: the numbers are too few, too many or negative; on calling: nothing would stay.

    """

    _options = ("cropping",)

    def __init__(
        self, cropping: int | Sequence[int] = (1, 1), **kwargs: Unpack[LayerOptions]
    ) -> None:
        super().__init__(1, 0, "channels_last", **kwargs)
        self.cropping = normalized_tuple(cropping, 2, "cropping", zero=True)

    def call(self, inputs: Tensor) -> Tensor:
        """The inputs without their margins."""
        return self._cropped(inputs, [self.cropping])

    def compute_output_shape(self, input_shape: ShapeLike) -> TensorShape:
        """The shape of the outputs."""
        return self._changed(input_shape, [self.cropping], -1)


class Cropping2D(Cropping):
    """The inside of images; the arguments are those of Cropping without `rank`."""

    __init__ = constructor_of(Cropping, 2, cropping=((0, 0), (0, 0)))


class Cropping3D(Cropping):
    """The inside of volumes; the arguments are those of Cropping without `rank`."""

    __init__ = constructor_of(Cropping, 3, cropping=((1, 1), (1, 1), (1, 1)))
