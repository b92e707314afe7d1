"""Merging layers: add, subtract, multiply, average, maximum, minimum, concatenate.

Source: tf_keras 2.21 in graph mode, whose graphs they make node for node.
"""

from __future__ import annotations

import functools
import operator
from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, Unpack

import sessrun.reference as tf
from sessrun.reference.api.argument_types import Structure
from sessrun.reference.base.tensor_shape import ShapeLike, TensorShape
from sessrun.reference.errors import bad_value
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.library.keras.engine.base_layer import Layer
from sessrun.reference.library.keras.engine.layer_options import LayerOptions
from sessrun.reference.library.keras.object_configs import Config

__all__ = [
    "Add",
    "Average",
    "Concatenate",
    "Maximum",
    "Minimum",
    "Multiply",
    "Subtract",
    "add",
    "average",
    "concatenate",
    "maximum",
    "minimum",
    "multiply",
    "subtract",
]

_Sizes = tuple[int | None, ...]


def _sizes_of(shapes: Any) -> list[_Sizes]:
    """The shapes of several inputs.

    Raises:
      ValueError: the argument is a single shape, or a rank is not known.
      IndexError: `shapes` is empty.

    """
    is_alone = isinstance(shapes, tf.TensorShape) or not _is_shape(shapes[0])
    if is_alone:
        raise bad_value(
            "A merge layer should be called on a list of inputs. Received: "
            f"input_shape={shapes} (not a list of shapes)"
        )
    return [tuple(tf.TensorShape(shape).as_list()) for shape in shapes]


def _is_shape(value: Tensor) -> bool:
    return isinstance(value, tf.TensorShape | list | tuple)


def _spread(one: _Sizes, other: _Sizes) -> _Sizes:
    """The broadcast shape of two shapes without their batch axes.

    Raises:
      ValueError: two sizes differ, and neither is 1.

    """
    one, other = sorted((one, other), key=len, reverse=True)
    sizes = list(one[: len(one) - len(other)])
    for size, more in zip(one[len(one) - len(other) :], other, strict=True):
        if size is None or more is None:
            sizes.append(None)
        elif size != more and 1 not in {size, more}:
            raise bad_value(f"Inputs have incompatible shapes. Received shapes {one} and {other}")
        else:
            sizes.append(max(size, more) if 0 not in {size, more} else 0)
    return tuple(sizes)


class Merge(Layer):
    """Base class of layers that merge a list of tensors into one."""

    def __init__(self, **kwargs: Unpack[LayerOptions]) -> None:
        super().__init__(**kwargs)
        self.supports_masking = True
        self._are_ranks_alike = True

    @abstractmethod
    def _merged(self, inputs: Sequence[Tensor]) -> Tensor:
        """Merge inputs of broadcastable shapes; implemented by subclasses."""

    def get_config(self) -> Config:
        """The arguments of the constructor."""
        return super().get_config()

    def build(self, input_shape: ShapeLike) -> None:
        """Check that the shapes fit.

        Raises:
          ValueError: there is a single input, or batches or other sizes do not fit.

        """
        shapes = _sizes_of(input_shape)
        batches = {sizes[0] for sizes in shapes if sizes} - {None}
        if len(batches) > 1:
            raise bad_value(
                "Cannot merge tensors with different batch sizes. Got tensors with shapes "
                f"{input_shape}"
            )
        functools.reduce(_spread, (sizes[1:] for sizes in shapes))
        self._are_ranks_alike = len(set(map(len, shapes))) == 1

    def call(self, inputs: Sequence[Tensor]) -> Tensor:
        """The merged tensor.

        Raises:
          ValueError: the inputs are no list.
          NotImplementedError: a rank is not known.

        """
        if not isinstance(inputs, list | tuple):
            raise bad_value(
                f"A merge layer should be called on a list of inputs. Received: inputs={inputs} "
                "(not a list of tensors)"
            )
        if self._are_ranks_alike:
            return self._merged(inputs)
        ranks = [value.shape.rank for value in inputs]
        if None in ranks:
            raise NotImplementedError("a merge of tensors of unknown rank")
        same = []
        for value, rank in zip(inputs, ranks, strict=True):
            longer = value
            for _ in range(max(ranks) - rank):
                longer = tf.expand_dims(longer, axis=1)
            same.append(longer)
        return self._merged(same)

    def compute_output_shape(self, input_shape: ShapeLike) -> TensorShape:
        """The shape of the outputs."""
        shapes = _sizes_of(input_shape)
        rest = functools.reduce(_spread, (sizes[1:] for sizes in shapes))
        batches = {sizes[0] for sizes in shapes} - {None}
        return tf.TensorShape((batches.pop() if len(batches) == 1 else None, *rest))

    def compute_mask(self, inputs: Any, mask: Any = None) -> Tensor | None:
        """The conjunction of the inputs' masks.

        Raises:
          ValueError: the arguments are not lists, or there are not as many masks as inputs.

        """
        if not _has_masks(inputs, mask):
            return None
        known = [tf.expand_dims(part, axis=0) for part in mask if part is not None]
        return tf.reduce_all(tf.cast(tf.concat(known, axis=0), tf.bool), axis=0, keepdims=False)


def _has_masks(inputs: Any, mask: Any) -> bool:
    """Whether there is a mask of any input.

    Raises:
      ValueError: the arguments are not lists, or there are not as many masks as inputs.

    """
    if mask is None:
        return False
    for name, value in (("mask", mask), ("inputs", inputs)):
        if not isinstance(value, list | tuple):
            raise bad_value(f"`{name}` should be a list. Received: {name}={value}")
    if len(mask) != len(inputs):
        raise bad_value(
            "The lists `inputs` and `mask` should have the same length. "
            f"Received: inputs={inputs} of length {len(inputs)}, and mask={mask} of length "
            f"{len(mask)}"
        )
    return any(part is not None for part in mask)


class Add(Merge):
    """The sum."""

    def _merged(self, inputs: Sequence[Tensor]) -> Tensor:
        return functools.reduce(operator.add, inputs)


class Subtract(Merge):
    """The first input less the second."""

    def build(self, input_shape: Any) -> None:
        """Check that there are two inputs, whose shapes fit.

        Raises:
          ValueError: there are more or fewer, or they do not fit.

        """
        super().build(input_shape)
        if len(input_shape) != 2:
            raise bad_value(
                "A `Subtract` layer should be called on exactly 2 inputs. Received: "
                f"input_shape={input_shape}"
            )

    def _merged(self, inputs: Sequence[Tensor]) -> Tensor:
        return inputs[0] - inputs[1]


class Multiply(Merge):
    """The product."""

    def _merged(self, inputs: Sequence[Tensor]) -> Tensor:
        return functools.reduce(operator.mul, inputs)


class Average(Merge):
    """The mean."""

    def _merged(self, inputs: Sequence[Tensor]) -> Tensor:
        return functools.reduce(operator.add, inputs) / len(inputs)


class Maximum(Merge):
    """The elementwise maximum."""

    def _merged(self, inputs: Sequence[Tensor]) -> Tensor:
        return functools.reduce(tf.maximum, inputs)


class Minimum(Merge):
    """The elementwise minimum."""

    def _merged(self, inputs: Sequence[Tensor]) -> Tensor:
        return functools.reduce(tf.minimum, inputs)


class Concatenate(Merge):
    """Concatenates the inputs along an axis.

    Args:
      axis: the axis, which may be counted from the end.
      **kwargs: as for Layer.

    """

    _options = ("axis",)

    def __init__(self, axis: int = -1, **kwargs: Unpack[LayerOptions]) -> None:
        super().__init__(**kwargs)
        self.axis = axis

    def build(self, input_shape: ShapeLike) -> None:
        """Check that the shapes are the same but for the axis.

        Raises:
          ValueError: there is a single input, or the shapes differ along another axis.

        """
        shapes = [list(sizes) for sizes in _sizes_of(input_shape)]
        for sizes in shapes:
            del sizes[self.axis]
        fits = len({len(sizes) for sizes in shapes}) <= 1 and all(
            len(set(along) - {None}) <= 1 for along in zip(*shapes, strict=True)
        )
        if not fits:
            raise bad_value(
                "A `Concatenate` layer requires inputs with matching shapes except for the "
                f"concatenation axis. Received: input_shape={input_shape}"
            )

    def _merged(self, inputs: Sequence[Tensor]) -> Tensor:
        rank = inputs[0].shape.rank
        axis = self.axis if self.axis >= 0 else self.axis % rank if rank else 0
        return tf.concat(list(inputs), axis)

    def compute_output_shape(self, input_shape: ShapeLike) -> TensorShape:
        """The shape of the outputs."""
        shapes = _sizes_of(input_shape)
        joined = list(shapes[0])
        along = [sizes[self.axis] for sizes in shapes]
        joined[self.axis] = None if None in along else sum(size or 0 for size in along)
        return tf.TensorShape(joined)

    def compute_mask(self, inputs: Any, mask: Any = None) -> Tensor | None:
        """The concatenated masks.

        Raises:
          ValueError: the arguments are not lists, or there are not as many masks as inputs.

        """
        if not _has_masks(inputs, mask):
            return None
        masks = []
        for value, part in zip(inputs, mask, strict=True):
            if part is None:
                masks.append(tf.ones_like(value, dtype=tf.bool))
            else:
                is_less = part.shape.rank < value.shape.rank
                masks.append(tf.expand_dims(part, axis=-1) if is_less else part)
        merged = tf.cast(self._merged(masks), tf.bool)
        return tf.reduce_all(merged, axis=-1, keepdims=False)


def _function(layer: Callable[..., Layer]) -> Callable[..., object]:
    def merge(inputs: Structure, **kwargs: Unpack[LayerOptions]) -> Tensor:
        """Create a merging layer and call it on the inputs."""
        return layer(**kwargs)(inputs)

    return merge


add, subtract, multiply = _function(Add), _function(Subtract), _function(Multiply)
average, maximum, minimum = _function(Average), _function(Maximum), _function(Minimum)


def concatenate(inputs: Structure, axis: int = -1, **kwargs: Unpack[LayerOptions]) -> Tensor:
    """The inputs one after the other along an axis, by a layer."""
    return Concatenate(axis=axis, **kwargs)(inputs)
