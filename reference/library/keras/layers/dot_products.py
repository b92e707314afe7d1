"""`tf.keras.layers.Dot`: the product of the examples of two inputs. Source: tf_keras 2.21."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Unpack

import sessrun.reference as tf
from sessrun.reference.api.argument_types import Structure, TensorLike
from sessrun.reference.base.tensor_shape import ShapeLike, TensorShape
from sessrun.reference.errors import bad_value
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.library.keras.batch_dot import batch_dot
from sessrun.reference.library.keras.engine.layer_options import LayerOptions
from sessrun.reference.library.keras.layers.merging import Merge
from sessrun.reference.library.keras.object_configs import Config

__all__ = ["Dot", "dot"]


class Dot(Merge):
    """The batch dot product of two inputs along one axis of each.

    Args:
      axes: the axis, or one of each.
      normalize: whether inputs are first scaled to length 1 along it.
      **kwargs: as for Layer.

    Raises:
      TypeError: the axes are neither a number nor a list.
      ValueError: `axes` are not two numbers; on building: there are not two inputs, or they differ.

    """

    def __init__(
        self, axes: int | Sequence[int], normalize: bool = False, **kwargs: Unpack[LayerOptions]
    ) -> None:
        super().__init__(**kwargs)
        if not isinstance(axes, int | list | tuple):
            raise TypeError(
                "Invalid type for argument `axes`: it should be a list or an int. "
                f"Received: axes={axes}"
            )
        if not isinstance(axes, int) and [type(axis) for axis in axes] != [int, int]:
            raise bad_value(
                "Invalid format for argument `axes`: it should contain two integers. "
                f"Received: axes={axes}"
            )
        self.axes = axes
        self.normalize = normalize
        self.supports_masking = True
        self._are_ranks_alike = True

    def _axes(self, ranks: Sequence[int]) -> list[int]:
        given = [self.axes] * 2 if isinstance(self.axes, int) else self.axes
        return [axis % rank if axis < 0 else axis for axis, rank in zip(given, ranks, strict=True)]

    def build(self, input_shape: Any) -> None:
        """Check that there are two inputs of the same size.

        Raises:
          ValueError: there are more or fewer, or sizes differ.

        """
        is_list = isinstance(input_shape, list | tuple) and len(input_shape) == 2
        if not is_list or not isinstance(input_shape[0], tf.TensorShape | list | tuple):
            raise bad_value(
                "A `Dot` layer should be called on a list of 2 inputs. "
                f"Received: input_shape={input_shape}"
            )
        shapes = [tf.TensorShape(shape).as_list() for shape in input_shape]
        axes = self._axes([len(shape) for shape in shapes])
        if shapes[0][axes[0]] != shapes[1][axes[1]]:
            raise bad_value(
                f"Incompatible input shapes: axis values {shapes[0][axes[0]]} (at axis {axes[0]}) "
                f"!= {shapes[1][axes[1]]} (at axis {axes[1]}). Full input shapes: {input_shape}"
            )

    def _merged(self, inputs: Any) -> Tensor:
        if len(inputs) != 2:
            raise bad_value(
                f"A `Dot` layer should be called on exactly 2 inputs. Received: inputs={inputs}"
            )
        axes = self._axes([value.shape.rank for value in inputs])
        if self.normalize:
            inputs = [
                tf.nn.l2_normalize(value, axis=axis)
                for value, axis in zip(inputs, axes, strict=True)
            ]
        return batch_dot(inputs[0], inputs[1], axes)

    def compute_output_shape(self, input_shape: ShapeLike) -> TensorShape:
        """The shape of the outputs; raises ValueError if there are not two inputs."""
        if not isinstance(input_shape, list | tuple) or len(input_shape) != 2:
            raise bad_value(
                "A `Dot` layer should be called on a list of 2 inputs. "
                f"Received: input_shape={input_shape}"
            )
        first, second = (tf.TensorShape(shape).as_list() for shape in input_shape)
        axes = self._axes([len(first), len(second)])
        first.pop(axes[0])
        second.pop(axes[1])
        sizes = first + second[1:]
        return tf.TensorShape(sizes if len(sizes) > 1 else [*sizes, 1])

    def compute_mask(self, inputs: Structure, mask: Structure = None) -> None:
        """Nothing is masked."""

    def get_config(self) -> Config:
        """The arguments of the constructor."""
        return {**super().get_config(), "axes": self.axes, "normalize": self.normalize}


def dot(
    inputs: Sequence[TensorLike],
    axes: int | Sequence[int],
    normalize: bool = False,
    **kwargs: Unpack[LayerOptions],
) -> Tensor:
    """Sums of products along an axis of each of two tensors; raises as `Dot`."""
    return Dot(axes=axes, normalize=normalize, **kwargs)(inputs)
