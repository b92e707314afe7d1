"""`tf.keras.layers.Lambda`: a function as a layer. Source: tf_keras 2.21."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from types import FunctionType
from typing import Any, Self, Unpack

import sessrun.reference as tf
from sessrun.reference.api.argument_types import Structure
from sessrun.reference.base.tensor_shape import TensorShape
from sessrun.reference.errors import bad_value
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.library.keras.engine.base_layer import Layer
from sessrun.reference.library.keras.engine.input_spec import Shapes
from sessrun.reference.library.keras.engine.layer_options import LayerOptions
from sessrun.reference.library.keras.object_configs import Config, CustomObjects
from sessrun.reference.library.keras.settings import floatx

__all__ = ["Lambda"]

#: What a config says of functions besides them, which no constructor takes.
_SAID = (
    "function_type",
    "module",
    "output_shape_type",
    "output_shape_module",
    "mask_type",
    "mask_module",
)


class Lambda(Layer):
    """A function as a layer.

    Args:
      function: takes the inputs, and `mask` and `training` if it names them.
      output_shape: the shape without the batch, or a function that gives the whole shape.
      mask: the mask of the outputs, or a function of inputs and mask that gives it.
      arguments: more arguments of the function.
      **kwargs: as for Layer.

    Raises:
      ValueError: on calling: the function made a variable, which the layer would not know.

    """

    arguments: dict[str, object]

    def __init__(
        self,
        function: Callable[..., object],
        output_shape: TensorShape | None = None,
        mask: Structure = None,
        arguments: Mapping[str, object] | None = None,
        **kwargs: Unpack[LayerOptions],
    ) -> None:
        super().__init__(**kwargs)
        self.function = function
        object.__setattr__(self, "arguments", dict(arguments or {}))  # variables are not its own
        self.mask = mask
        self.supports_masking = mask is not None
        self._output_shape = output_shape
        self._names = inspect.signature(function).parameters.keys()

    def call(
        self, inputs: Structure, mask: Structure = None, training: bool | Tensor | None = None
    ) -> Any:
        """The result of the function."""
        offered = {"mask": mask, "training": training}
        options = {key: value for key, value in offered.items() if key in self._names}
        before = set(map(id, tf.global_variables()))
        result = self.function(inputs, **self.arguments, **options)
        created = [one.name for one in tf.global_variables() if id(one) not in before]
        if created:
            raise bad_value(
                f"The following Variables were created within a Lambda layer ({self.name}) but are "
                f"not tracked by said layer: {created}. Write a class of layers instead."
            )
        return result

    def compute_mask(self, inputs: Structure, mask: Structure = None) -> Structure:
        """The mask given to the constructor, or the result of its mask function."""
        return self.mask(inputs, mask) if callable(self.mask) else self.mask

    def compute_output_shape(self, input_shape: Shapes) -> Shapes:
        """The output shape given to the constructor, else the function's in a scratch graph.

        Raises:
          NotImplementedError: no shape was given, and the function does not take such inputs.

        """
        if self._output_shape is None:
            try:
                return self._tried(input_shape)
            except (TypeError, ValueError, NotImplementedError) as error:
                raise NotImplementedError(
                    "We could not automatically infer the shape of the Lambda's output. Please "
                    "specify `output_shape` for this Lambda."
                ) from error
        if callable(self._output_shape):
            return _as_shapes(self._output_shape(input_shape))
        batch = tf.nest.flatten(_as_shapes(input_shape))[0][:1]
        return tf.nest.map_structure(batch.concatenate, _as_shapes(self._output_shape))

    def _tried(self, input_shape: Shapes) -> Shapes:
        """The output shapes of the function, applied in a scratch graph."""
        with tf.Graph().as_default():
            dtype = self.dtype or floatx()
            inputs = tf.nest.map_structure(
                lambda shape: tf.placeholder(dtype, shape), _as_shapes(input_shape)
            )
            return tf.nest.map_structure(lambda output: output.shape, self.call(inputs))

    def get_config(self) -> Config:
        """The arguments of the constructor; functions are stored as Python objects."""
        config = {
            **super().get_config(),
            "function": self.function,
            "function_type": _kind(self.function),
            "module": _module(self.function),
            "output_shape": self._output_shape,
            "output_shape_type": _kind(self._output_shape),
            "output_shape_module": _module(self._output_shape),
            "arguments": self.arguments,
        }
        if self.mask is not None:
            config |= {
                "mask": self.mask,
                "mask_type": _kind(self.mask),
                "mask_module": _module(self.mask),
            }
        return config

    @classmethod
    def from_config(cls, config: Mapping[str, Any], custom_objects: CustomObjects = None) -> Self:
        """The layer with this config and its functions."""
        del custom_objects
        return cls(**{name: value for name, value in config.items() if name not in _SAID})


def _kind(value: object) -> str:
    """The type tag of a value in a config: `lambda`, `function` or `raw`."""
    if isinstance(value, FunctionType):
        return "lambda"
    return "function" if callable(value) else "raw"


def _module(value: object) -> str | None:
    return value.__module__ if callable(value) else None


def _as_shapes(given: Any) -> Shapes:
    """A structure of sizes as one of shapes."""
    if isinstance(given, Mapping):
        return {key: _as_shapes(value) for key, value in given.items()}
    if isinstance(given, tf.TensorShape) or all(
        size is None or isinstance(size, int) for size in given
    ):
        return tf.TensorShape(given)
    return type(given)(_as_shapes(value) for value in given)
