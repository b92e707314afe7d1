"""`tf.keras.layers.Layer` in graph mode: a function of tensors that has variables.

A layer is called; the first call builds it, that is makes its variables. It is written on the
public namespace, like a program. Source: tf_keras 2.21, whose graphs it makes node for node.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Self
from weakref import WeakSet

import numpy as np

import sessrun.reference as tf
from sessrun.reference.api.argument_types import Structure, TensorLike
from sessrun.reference.api.type_specs import TensorSpec
from sessrun.reference.base.dtypes import DTypeLike
from sessrun.reference.base.tensor_shape import ShapeLike
from sessrun.reference.errors import bad_value
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.library.keras import activations, constraints, initializers, regularizers
from sessrun.reference.library.keras.engine.call_context import CallArguments, calling, current_call
from sessrun.reference.library.keras.engine.input_spec import Shapes, assert_input_compatibility
from sessrun.reference.library.keras.engine.layer_metrics import MeasuredByLayer
from sessrun.reference.library.keras.engine.losses_and_updates import CollectedByLayer
from sessrun.reference.library.keras.engine.weights import WeightsOfLayer
from sessrun.reference.library.keras.naming import snake_case, unique_name
from sessrun.reference.library.keras.object_configs import Config, Identifier, Serialized

__all__ = ["Layer", "RandomLayer"]

#: What every layer takes besides `trainable`, `name`, `dtype` and `dynamic`.
_OPTIONS = frozenset(
    {
        "activity_regularizer",
        "autocast",
        "batch_input_shape",
        "batch_size",
        "implementation",
        "input_dim",
        "input_shape",
        "weights",
    }
)
#: How attributes stand in a config, by the end of their names.
_SERIALIZERS: Final[Mapping[str, Callable[[Identifier], Serialized]]] = {
    "activation": activations.serialize,
    "_constraint": constraints.serialize,
    "_initializer": initializers.serialize,
    "_regularizer": regularizers.serialize,
}


class Layer(WeightsOfLayer, CollectedByLayer, MeasuredByLayer):
    """A function of tensors that has variables, losses and updates.

    A class of layers says in `build` which variables it has, by `add_weight`, and in `call` what
    it computes.

    Args:
      trainable: whether its variables are trained.
      name: its name; by default that of its class in snake case, with a number after the first.
      dtype: the dtype of its variables; by default that of the first inputs.
      dynamic: not used: there is no eager mode.
      **kwargs: `input_shape`, `input_dim`, `batch_input_shape`, `batch_size`, which the inputs
        must have; `weights`, first values; `activity_regularizer`, a loss of the outputs;
        `autocast`, whether floats among the inputs are cast to the layer's dtype.

    Raises:
      TypeError: there is another argument.

    """

    #: The attributes that the config of a class holds in addition to those of every layer.
    _options: tuple[str, ...] = ()

    def __init__(
        self,
        trainable: bool = True,
        name: str | None = None,
        dtype: DTypeLike | None = None,
        dynamic: bool = False,
        **kwargs: Any,
    ) -> None:
        unknown = kwargs.keys() - _OPTIONS
        if unknown:
            raise TypeError("Keyword argument not understood:", min(unknown))
        self._trainable = trainable
        self._dynamic = dynamic
        self._stateful = False
        self.built = False
        self._build_input_shape: ShapeLike | None = None
        self._input_spec = None
        self.supports_masking = False
        self._init_set_name(name)
        self._activity_regularizer = regularizers.get(kwargs.get("activity_regularizer"))
        self._lists()
        self._updates, self._losses, self._callable_losses, self._metrics = [], [], [], []
        self._conditional = WeakSet()
        self._set_dtype_policy(dtype)
        self._autocast = kwargs.get("autocast", False)
        self._call_arguments = CallArguments(self.call)
        self._set_declared_shape(kwargs)
        self._initial_weights = kwargs.get("weights")

    def _set_declared_shape(self, kwargs: Mapping[str, Any]) -> None:
        """Store the declared shape of the inputs, if any."""
        if "batch_input_shape" in kwargs:
            self._batch_input_shape = tuple(kwargs["batch_input_shape"])
        elif "input_shape" in kwargs:
            self._batch_input_shape = (kwargs.get("batch_size"), *kwargs["input_shape"])
        elif "input_dim" in kwargs:
            self._batch_input_shape = (kwargs.get("batch_size"), kwargs["input_dim"])

    def _init_set_name(self, name: str | None, zero_based: bool = True) -> None:
        given = name or unique_name(snake_case(type(self).__name__), zero_based=zero_based)
        self._name = given

    def _set_dtype_policy(self, dtype: object) -> None:
        """Set the dtype of variables; None: the dtype of the first inputs."""
        named = dtype.get("config", {}).get("name") if isinstance(dtype, Mapping) else dtype
        if isinstance(named, str) and named.startswith("mixed_"):
            raise NotImplementedError(f"mixed precision: {named}")
        self._variable_dtype = tf.as_dtype(named).base_dtype.name if named else None

    def _name_scope(self) -> str:
        """The name scope in which the layer builds and computes."""
        return self.name

    def build(self, input_shape: ShapeLike) -> None:
        """Create the variables for inputs of this shape; overridden by subclasses."""
        self._build_input_shape = input_shape
        self.built = True

    def call(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """Compute the outputs; overridden by subclasses. Returns the inputs by default."""
        del args, kwargs
        return inputs

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Build the layer if needed, and compute its outputs.

        Args:
          *args: the inputs, then other arguments of `call`.
          **kwargs: the same; `training` and `mask` may be left to the layers around.

        Raises:
          ValueError: there are no inputs, they are not as the layer demands, it returns None, or
            the constructor of Layer was not called.

        """
        if "_call_arguments" not in self.__dict__:
            raise bad_value("You must call `super().__init__()` in the layer constructor.")
        given, args, kwargs = self._split_inputs(args, kwargs)
        inputs = tf.nest.map_structure(_as_tensor, given)
        masks = self._input_masks(inputs, args, kwargs)
        known = self._call_arguments
        if known.takes_mask and masks is not None and not known.was_given("mask", args, kwargs):
            kwargs["mask"] = masks
        training, args, kwargs = self._resolved_training(args, kwargs)
        with calling(self, inputs, training):
            if not any(map(_is_array, tf.nest.flatten(given))):  # which are not converted
                assert_input_compatibility(self.input_spec, inputs, self.name)
            self._check_declared_shape(inputs)
            with tf.name_scope(self._name_scope()):
                self._maybe_build(inputs)
                outputs = self.call(self._cast(inputs), *args, **kwargs)
                if outputs is None:
                    raise bad_value(
                        "A layer's `call` method should return a Tensor or a list of Tensors, not "
                        f"None (layer: {self.name})."
                    )
                self._regularize_activity(inputs, outputs)
                self._set_masks(inputs, outputs, masks)
        return outputs

    def _split_inputs(
        self, args: tuple[object, ...], kwargs: dict[str, object]
    ) -> tuple[Any, tuple[object, ...], dict[str, object]]:
        if args:
            return args[0], args[1:], kwargs
        first = self._call_arguments.names[0]
        if first not in kwargs:
            raise bad_value("The first argument to `Layer.call` must always be passed.")
        rest = {key: value for key, value in kwargs.items() if key != first}
        return kwargs[first], (), rest

    def _resolved_training(
        self, args: tuple[object, ...], kwargs: dict[str, object]
    ) -> tuple[bool | Tensor | None, tuple[object, ...], dict[str, object]]:
        """The value of `training`: from the call, or the enclosing layer's call; else None."""
        known = self._call_arguments
        training = known.given("training", args, kwargs)
        if not known.takes_training:
            kwargs.pop("training", None)
        if training is None:
            around = current_call()
            training = None if around is None else around.training
            if known.takes_training and training is not None:
                training = tf.cast(training, tf.bool) if tf.is_tensor(training) else bool(training)
                args, kwargs = known.with_argument("training", training, args, kwargs)
        return training, args, kwargs

    def _check_declared_shape(self, inputs: Structure) -> None:
        """Check inputs against the declared shape (TensorFlow does not)."""
        declared = getattr(self, "_batch_input_shape", None)
        flat = tf.nest.flatten(inputs)
        if declared is None or len(flat) != 1 or not hasattr(flat[0], "shape"):
            return
        if not tf.TensorShape(declared).is_compatible_with(flat[0].shape):
            raise bad_value(
                f'Layer "{self.name}" was declared with inputs of shape {declared}, and is called '
                f"with inputs of shape {flat[0].shape}"
            )

    def _maybe_build(self, inputs: Structure) -> None:
        """Build the layer for the shapes and dtype of its inputs, unless it is built."""
        if not self.built:
            flat = tf.nest.flatten(inputs)
            dtype = getattr(flat[0], "dtype", None) if flat else None
            if self._variable_dtype is None and dtype is not None:
                self._set_dtype_policy(dtype.base_dtype.name)
            shapes = None
            if any(hasattr(value, "shape") for value in flat):
                shapes = tf.nest.map_structure(lambda value: value.shape, inputs)
            self.build(shapes)
            Layer.build(self, shapes)
        if self._initial_weights is not None:
            values, self._initial_weights = self._initial_weights, None
            self.set_weights(values)

    def _cast(self, inputs: Structure) -> Structure:
        """The inputs; float tensors are cast to the layer's dtype if `autocast` is on."""
        kind = self._compute_dtype_object
        if not self._autocast or kind is None or not kind.is_floating:
            return inputs

        def cast(value: Any) -> TensorLike:
            is_float = tf.is_tensor(value) and value.dtype.is_floating
            return tf.cast(value, kind) if is_float and value.dtype.base_dtype != kind else value

        return tf.nest.map_structure(cast, inputs)

    def _regularize_activity(self, inputs: Structure, outputs: Structure) -> None:
        if not self._activity_regularizer:
            return
        with tf.name_scope("ActivityRegularizer"):
            for output in tf.nest.flatten(outputs):
                loss = tf.convert_to_tensor(self._activity_regularizer(output))
                count = tf.cast(tf.shape(output)[0], loss.dtype)
                self.add_loss(loss / count, inputs=inputs)

    def _input_masks(
        self, inputs: Structure, args: tuple[object, ...], kwargs: dict[str, object]
    ) -> Structure:
        if self._call_arguments.was_given("mask", args, kwargs):
            return self._call_arguments.given("mask", args, kwargs)
        masks = tf.nest.map_structure(lambda value: getattr(value, "_keras_mask", None), inputs)
        return None if all(mask is None for mask in tf.nest.flatten(masks)) else masks

    def compute_mask(self, inputs: Structure, mask: Structure = None) -> Structure:
        """The mask of the outputs, given that of the inputs.

        Raises:
          TypeError: there is a mask, and the layer does not support masks.

        """
        del inputs
        if self.supports_masking:
            return mask
        if any(part is not None for part in tf.nest.flatten(mask)):
            raise TypeError(
                f"Layer {self.name} does not support masking, but was passed an input_mask: {mask}"
            )
        return None

    def _set_masks(self, inputs: Structure, outputs: Structure, masks: Structure) -> None:
        """Attach the computed masks to the outputs."""
        flat = tf.nest.flatten(outputs)
        if getattr(self, "_compute_output_and_mask_jointly", False):
            return
        if all(getattr(output, "_keras_mask", None) is not None for output in flat):
            return
        has_own = type(self).compute_mask is not Layer.compute_mask
        computed = self.compute_mask(inputs, masks) if self.supports_masking or has_own else None
        output_masks = [None] * len(flat) if computed is None else tf.nest.flatten(computed)
        for output, mask in zip(flat, output_masks, strict=False):
            if hasattr(output, "__dict__"):
                output._keras_mask = mask  # noqa: SLF001 - the name by which masks are handed on

    def compute_output_shape(self, input_shape: ShapeLike) -> Shapes:
        """The shape of the outputs; implemented by subclasses.

        Raises:
          NotImplementedError: the class does not implement it.

        """
        raise NotImplementedError

    def compute_output_signature(
        self, input_signature: TensorSpec | Sequence[TensorSpec]
    ) -> TensorSpec | list[TensorSpec]:
        """The TensorSpec of the outputs for that of the inputs.

        Raises:
          TypeError: a signature is no TensorSpec.

        """
        flat = tf.nest.flatten(input_signature)
        for spec in flat:
            if not isinstance(spec, tf.TensorSpec):
                raise TypeError(f"Only TensorSpec signature types are supported, but saw: {spec}.")
        shapes = self.compute_output_shape(
            tf.nest.map_structure(lambda spec: spec.shape, input_signature)
        )
        dtype = self._variable_dtype or flat[0].dtype
        return tf.nest.map_structure(lambda shape: tf.TensorSpec(shape, dtype), shapes)

    def get_config(self) -> Config:
        """The arguments of the constructor, for `from_config`.

        Raises:
          NotImplementedError: the class has a constructor with other arguments, and does not say.

        """
        config: dict[str, object] = {
            "name": self.name,
            "trainable": self.trainable,
            "dtype": self._variable_dtype,
        }
        if hasattr(self, "_batch_input_shape"):
            config["batch_input_shape"] = self._batch_input_shape
        if self._options:
            return {**config, **{name: self._option(name) for name in self._options}}
        if type(self).get_config is not Layer.get_config:
            return config
        taken = inspect.signature(type(self).__init__).parameters.values()
        named = {p.name for p in taken if p.kind is not p.VAR_KEYWORD} - {"self", "dynamic"}
        if named - config.keys():
            raise NotImplementedError(
                "Layers with arguments in `__init__` must override `get_config`."
            )
        return config

    def _option(self, name: str) -> object:
        """An attribute's form in the config."""
        value = getattr(self, name)
        for ending, serialize in _SERIALIZERS.items():
            if name.endswith(ending):
                return serialize(value)
        return value

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> Self:
        """A layer with this config and its own variables.

        Raises:
          TypeError: the class does not take the config.

        """
        try:
            return cls(**config)
        except Exception as error:
            raise TypeError(
                f"Error when deserializing class '{cls.__name__}' using config={config}.\n\n"
                f"Exception encountered: {error}"
            ) from error

    def apply(self, inputs: Structure, *args: Any, **kwargs: Any) -> Any:
        """Call the layer: the older name of `__call__`."""
        return self(inputs, *args, **kwargs)


class RandomLayer(Layer):
    """Base class of layers with random operations.

    Args:
      seed: the operations' seed; each further operation has the next one.
      force_generator: not used: graphs have random operations, which keep their own state.
      rng_type: `legacy_stateful`, which is all there is in graphs, or another name of Keras'.
      **kwargs: as for Layer.

    Raises:
      ValueError: there is no such `rng_type`.

    """

    def __init__(
        self,
        seed: int | None = None,
        force_generator: bool = False,
        rng_type: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        del force_generator
        if rng_type not in {None, "stateful", "stateless", "legacy_stateful"}:
            raise bad_value(
                "Invalid `rng_type` received. Valid `rng_type` are ['stateless', 'stateful', "
                f"'legacy_stateful']. Got: {rng_type}"
            )
        self._next_seed = seed

    def _seed_of_operation(self) -> int | None:
        """The seed of the next random operation."""
        seed = self._next_seed
        if seed is not None:
            self._next_seed = seed + 1
        return seed


def _is_array(value: TensorLike) -> bool:
    """Whether it is a number or an array."""
    return isinstance(value, np.ndarray | float | int)


def _as_tensor(value: TensorLike) -> TensorLike:
    """A number or an array as a tensor; any other value unchanged."""
    return tf.convert_to_tensor(value) if _is_array(value) else value
