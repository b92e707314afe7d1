"""`Wrapper`, and `TimeDistributed`, which applies a layer to every time step.

Source: tf_keras 2.21 in graph mode, whose graphs it makes node for node.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, Unpack

import sessrun.reference as tf
from sessrun.reference.api.argument_types import Structure
from sessrun.reference.base.tensor_shape import ShapeLike, TensorShape
from sessrun.reference.errors import bad_value
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.library.keras.engine.base_layer import Layer
from sessrun.reference.library.keras.engine.call_context import takes
from sessrun.reference.library.keras.engine.input_spec import InputSpec
from sessrun.reference.library.keras.engine.layer_options import LayerOptions
from sessrun.reference.library.keras.layers.serialization import deserialize, serialize
from sessrun.reference.library.keras.object_configs import Config, CustomObjects, TensorFunction
from sessrun.reference.library.keras.rnn import rnn

__all__ = ["TimeDistributed", "Wrapper"]


class Wrapper(Layer):
    """Base class of layers that wrap another layer.

    Args:
      layer: the layer to wrap.
      **kwargs: as for Layer.

    Raises:
      ValueError: `layer` is not a layer.

    """

    def __init__(self, layer: Layer, **kwargs: Unpack[LayerOptions]) -> None:
        if not isinstance(layer, Layer):
            raise bad_value(
                f"Layer {layer} supplied to wrapper is not a supported layer type. Please ensure "
                "wrapped layer is a valid TF-Keras layer."
            )
        self._wrap(layer)
        super().__init__(**kwargs)

    def _wrap(self, layer: Layer) -> None:
        """Store the wrapped layer, and track its variables."""
        self.layer = layer

    def build(self, input_shape: ShapeLike) -> None:
        """Build the layer."""
        if not self.layer.built:
            self.layer.build(input_shape)
            self.layer.built = True
        super().build(input_shape)

    @property  # type: ignore[misc]  # it is the layer's
    def activity_regularizer(self) -> TensorFunction | None:
        """The activity regularizer of the wrapped layer, or None."""
        return getattr(self.layer, "activity_regularizer", None)

    def get_config(self) -> Config:
        """The config of the wrapped layer."""
        return {**super().get_config(), "layer": serialize(self.layer)}

    @classmethod
    def from_config(cls, config: Mapping[str, Any], custom_objects: CustomObjects = None) -> Self:
        """The layer with this config."""
        rest = {key: value for key, value in config.items() if key != "layer"}
        return cls(deserialize(config["layer"], custom_objects), **rest)


def _is_builtin(layer: object) -> bool:
    """Whether a layer is of one of Keras' own classes, or of a class derived from one."""
    layers = tf.keras.layers
    known = {getattr(layers, name) for name in layers.__all__} - {Layer}
    return any(cls in known for cls in type(layer).__mro__)


def _sizes(
    start: tuple[int | Tensor | None, ...], value: Tensor, first: int
) -> tuple[int | Tensor | None, ...]:
    """`start` followed by a tensor's sizes from axis `first` on; static where known."""
    known = value.shape.as_list()[first:]
    if None not in known:
        return (*start, *known)
    sizes = tf.shape(value)
    rest = [sizes[first + axis] if size is None else size for axis, size in enumerate(known)]
    return (*start, *rest)


class TimeDistributed(Wrapper):
    """Applies a layer to every time step.

    Args:
      layer: the layer, of inputs without the axis of time.
      **kwargs: as for Layer.

    Raises:
      ValueError: `layer` is not a layer, or the inputs have fewer than 3 axes.

    """

    def __init__(self, layer: Layer, **kwargs: Unpack[LayerOptions]) -> None:
        super().__init__(layer, **kwargs)
        self.supports_masking = True
        #: Whether times go into the batch's axis; layers that may know the batch step in a loop.
        self._always_use_reshape = _is_builtin(layer) and not layer.stateful

    def build(self, input_shape: ShapeLike) -> None:
        """Build the layer for the inputs of one time step."""
        is_one = isinstance(input_shape, tuple) and not any(
            isinstance(size, tuple | list | tf.TensorShape) for size in input_shape
        )
        shapes = (
            tf.TensorShape(input_shape)
            if is_one
            else tf.nest.map_structure(tf.TensorShape, input_shape)
        )
        flat = tf.nest.flatten(shapes)
        if any(shape.rank < 3 for shape in flat):
            raise bad_value(
                "`TimeDistributed` Layer should be passed an `input_shape ` with at least 3 "
                f"dimensions, received: {input_shape}"
            )
        self.input_spec = tf.nest.map_structure(
            lambda shape: InputSpec(shape=(None, None, *shape.as_list()[2:])), shapes
        )
        inner = tf.nest.map_structure(_without_time, shapes)
        if isinstance(inner, tf.TensorShape):
            inner = tuple(inner.as_list())
        super().build(inner)

    def call(
        self, inputs: Structure, training: bool | Tensor | None = None, mask: Tensor | None = None
    ) -> Structure:
        """The layer's outputs, with the axis of time second."""
        options = {"training": training} if takes(self.layer.call, "training") else {}
        batch = tf.nest.flatten(inputs)[0].shape.as_list()[0]
        if batch and not self._always_use_reshape:
            _, outputs, _ = rnn(
                lambda value, _: (self.layer(value, **options), []), inputs, [], mask=mask
            )
            return outputs
        times = self._times(inputs)
        inner = tf.nest.map_structure(
            lambda value: tf.reshape(value, _sizes((-1,), value, 2)), inputs
        )
        if takes(self.layer.call, "mask") and mask is not None:
            options["mask"] = tf.reshape(mask, _sizes((-1,), mask, 2))
        outputs = self.layer(inner, **options)
        return tf.nest.map_structure(
            lambda value: tf.reshape(value, _sizes((batch or -1, times), value, 1)), outputs
        )

    def _times(self, inputs: Structure) -> int | Tensor:
        """The number of time steps: an int if known, else a tensor."""
        flat = tf.nest.flatten(inputs)
        known = flat[0].shape.as_list()[1]
        return known or tf.shape(flat[0])[1]

    def compute_mask(self, inputs: Structure, mask: Any = None) -> Structure:
        """The layer's masks of all steps; else the mask of the inputs per step."""
        batch = tf.nest.flatten(inputs)[0].shape.as_list()[0]
        if batch and not self._always_use_reshape:
            return mask
        inner_mask = None if mask is None else tf.reshape(mask, _sizes((-1,), mask, 2))
        inner = tf.nest.map_structure(
            lambda value: tf.reshape(value, _sizes((-1,), value, 2)), inputs
        )
        output_mask: Any = self.layer.compute_mask(inner, inner_mask)
        if output_mask is not None:
            return tf.reshape(
                output_mask, _sizes((batch or -1, self._times(inputs)), output_mask, 1)
            )
        if mask is None:
            return None
        for _ in range(2, mask.shape.rank):
            mask = tf.reduce_any(mask, axis=-1)
        return mask

    def compute_output_shape(self, input_shape: ShapeLike) -> TensorShape:
        """The layer's shape, with the axis of time second."""
        shapes = tf.TensorShape(input_shape)
        sizes = tf.TensorShape(self.layer.compute_output_shape(_without_time(shapes))).as_list()
        return tf.TensorShape([sizes[0], shapes.as_list()[1], *sizes[1:]])


def _without_time(shape: TensorShape) -> TensorShape:
    sizes = shape.as_list()
    return tf.TensorShape([sizes[0], *sizes[2:]])
