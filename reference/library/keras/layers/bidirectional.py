"""`tf.keras.layers.Bidirectional`: a recurrent layer run forwards and a copy run backwards.

Source: tf_keras 2.21 in graph mode, whose graphs it makes node for node.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Self

import sessrun.reference as tf
from sessrun.reference.api.argument_types import Structure
from sessrun.reference.base.host_arrays import HostArray
from sessrun.reference.base.tensor_shape import ShapeLike, TensorShape
from sessrun.reference.errors import bad_value
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.library.keras.engine.base_layer import Layer
from sessrun.reference.library.keras.engine.call_context import takes
from sessrun.reference.library.keras.engine.input_spec import InputSpec
from sessrun.reference.library.keras.layers.recurrent import standardized
from sessrun.reference.library.keras.layers.serialization import deserialize, serialize
from sessrun.reference.library.keras.layers.wrappers import Wrapper
from sessrun.reference.library.keras.object_configs import Config, CustomObjects

__all__ = ["Bidirectional"]

_MERGES: Final[Mapping[str, Callable[[Any, Any], Tensor]]] = {
    "concat": lambda forth, back: tf.concat([forth, back], forth.shape.rank - 1),
    "sum": lambda forth, back: forth + back,
    "ave": lambda forth, back: (forth + back) / 2,
    "mul": lambda forth, back: forth * back,
}


def _recreated(layer: Any, *, turned: bool = False) -> Any:
    """A new layer with another's config; with `go_backwards` negated if `turned`."""
    config = layer.get_config()
    if turned:
        config["go_backwards"] = not config["go_backwards"]
    make = type(layer).from_config
    if not takes(make, "custom_objects"):
        return make(config)
    cell = getattr(layer, "cell", None)
    cells = [] if cell is None else [cell, *getattr(cell, "cells", [])]
    return make(config, custom_objects={type(one).__name__: type(one) for one in cells})


class Bidirectional(Wrapper):
    """Runs a recurrent layer over the inputs, and a copy of it over the reversed inputs.

    Args:
      layer: the layer, which is copied twice.
      merge_mode: how the outputs are merged: `concat`, `sum`, `ave`, `mul`; None for a list.
      weights: the initial values of the variables, those of the forward layer first.
      backward_layer: the layer to run backwards, if it is not a copy of `layer`.
      **kwargs: as for Layer.

    Raises:
      ValueError: an argument is not a layer, the mode is unknown, or the two layers do not fit.

    """

    def __init__(
        self,
        layer: Any,
        merge_mode: str | None = "concat",
        weights: Sequence[HostArray] | None = None,
        backward_layer: Any = None,
        **kwargs: Any,
    ) -> None:
        _check(layer, merge_mode, backward_layer)
        super().__init__(layer, **kwargs)
        self.forward_layer = _recreated(layer)
        self._backward_layer_config = None if backward_layer is None else serialize(backward_layer)
        self.backward_layer = (
            _recreated(layer, turned=True) if backward_layer is None else backward_layer
        )
        for one, prefix in ((self.forward_layer, "forward_"), (self.backward_layer, "backward_")):
            one._name = prefix + one.name  # noqa: SLF001 - a layer that it made
        self._check_layers()
        for one in (self.forward_layer, self.backward_layer):
            if getattr(one, "zero_output_for_mask", None) is not None:
                one.zero_output_for_mask = one.return_sequences
        self.merge_mode = merge_mode
        if weights:
            half = len(weights) // 2
            self.forward_layer._initial_weights = weights[:half]  # noqa: SLF001 - the same
            self.backward_layer._initial_weights = weights[half:]  # noqa: SLF001 - the same
        self.stateful = layer.stateful
        self.return_sequences = layer.return_sequences
        self.return_state = layer.return_state
        self.supports_masking = True
        self._trainable = kwargs.get("trainable", layer.trainable)
        self._num_constants = 0
        self.input_spec = layer.input_spec

    def _wrap(self, layer: Any) -> None:
        """Store the wrapped layer; only its two copies have variables."""
        object.__setattr__(self, "layer", layer)

    def _check_layers(self) -> None:
        forth, back = self.forward_layer, self.backward_layer
        if forth.go_backwards == back.go_backwards:
            raise bad_value(
                "Forward layer and backward layer should have different `go_backwards` value."
                f"forward_layer.go_backwards = {forth.go_backwards},"
                f"backward_layer.go_backwards = {back.go_backwards}"
            )
        for name in ("stateful", "return_sequences", "return_state"):
            values = getattr(forth, name), getattr(back, name)
            if values[0] != values[1]:
                raise bad_value(
                    "Forward layer and backward layer are expected to have the same value for "
                    f'attribute "{name}", got "{values[0]}" for forward layer and "{values[1]}" '
                    "for backward layer"
                )

    def build(self, input_shape: ShapeLike) -> None:
        """Build both layers."""
        for layer in (self.forward_layer, self.backward_layer):
            with tf.name_scope(layer.name):
                layer.build(input_shape)
        Layer.build(self, input_shape)

    def __call__(
        self,
        inputs: Structure,
        initial_state: Structure = None,
        constants: Structure = None,
        **kwargs: Any,
    ) -> Any:
        """The merged outputs of both layers, and their states if `return_state`.

        Args:
          inputs: of shape [batch, time, ...]; states and constants may follow in a list.
          initial_state: the initial states, those of the forward layer first.
          constants: further inputs of each step.
          **kwargs: `mask`, `training`.

        Raises:
          ValueError: the number of states is odd.

        """
        inputs, initial_state, constants = standardized(
            inputs, initial_state, constants, self._num_constants
        )
        layers = (self.forward_layer, self.backward_layer)
        if initial_state is not None:
            if len(initial_state) % 2:
                raise bad_value(
                    "When passing `initial_state` to a Bidirectional RNN, the state should be a "
                    "list containing the states of the underlying RNNs. "
                    f"Received: {initial_state}"
                )
            kwargs["initial_state"] = initial_state
            specs = [InputSpec(shape=tuple(state.shape.as_list())) for state in initial_state]
            half = len(specs) // 2
            layers[0].state_spec, layers[1].state_spec = specs[:half], specs[half:]
        if constants is not None:
            kwargs["constants"] = constants
            self._num_constants = len(constants)
            for layer in layers:
                layer._num_constants = len(constants)  # noqa: SLF001 - the same
        return super().__call__(inputs, **kwargs)

    def call(
        self,
        inputs: Structure,
        training: bool | Tensor | None = None,
        mask: Structure = None,
        initial_state: Any = None,
        constants: object = None,
    ) -> Tensor | list[Tensor]:
        """The merged outputs of both layers, and their states if `return_state`."""
        given = {"training": training, "mask": mask, "constants": constants}
        options = {key: value for key, value in given.items() if takes(self.layer.call, key)}
        firsts: list[dict[str, object]] = [{}, {}]
        if takes(self.layer.call, "initial_state"):
            half = 0 if initial_state is None else len(initial_state) // 2
            firsts = [
                {"initial_state": part}
                for part in ((initial_state[:half], initial_state[half:]) if half else (None, None))
            ]
        forth = self.forward_layer(inputs, **firsts[0], **options)
        back = self.backward_layer(inputs, **firsts[1], **options)
        states = []
        if self.return_state:
            states = forth[1:] + back[1:]
            forth, back = forth[0], back[0]
        if self.return_sequences:
            back = tf.reverse(back, [0 if getattr(self.forward_layer, "time_major", False) else 1])
        if self.merge_mode is None:
            return [forth, back, *states]
        output = _MERGES[self.merge_mode](forth, back)
        return [output, *states] if self.return_state else output

    def reset_states(self, states: Sequence[Tensor] | None = None) -> None:
        """Set the states of both stateful layers; None: zeros.

        Raises:
          AttributeError: the layers keep no states.
          ValueError: `states` is not a list.

        """
        if not self.stateful:
            raise AttributeError("Layer must be stateful.")
        if states is not None and not isinstance(states, list | tuple):
            raise bad_value(
                "Unrecognized value for `states`. Expected `states` to be list or tuple. "
                f"Received: {states}"
            )
        half = 0 if states is None else len(states) // 2
        self.forward_layer.reset_states(states and states[:half])
        self.backward_layer.reset_states(states and states[half:])

    def compute_mask(self, inputs: Structure, mask: Structure = None) -> Structure:
        """The mask of the outputs: that of the inputs if `return_sequences`; None for states."""
        del inputs
        mask = mask[0] if isinstance(mask, list) else mask
        own = mask if self.return_sequences else None
        masks = [own] if self.merge_mode else [own, own]
        if self.return_state:
            return masks + [None] * (2 * len(self.forward_layer.states))
        return own if self.merge_mode else masks

    def compute_output_shape(self, input_shape: ShapeLike) -> TensorShape | list[TensorShape]:
        """The shape of the outputs; a list with the states' shapes if `return_state`."""
        shapes = self.forward_layer.compute_output_shape(input_shape)
        output, states = (shapes[0], shapes[1:]) if self.return_state else (shapes, [])
        sizes = tf.TensorShape(output).as_list()
        if self.merge_mode == "concat":
            sizes[-1] *= 2
        outputs = [tf.TensorShape(sizes)] * (1 if self.merge_mode else 2)
        if self.return_state:
            return [*outputs, *states, *states]
        return outputs[0] if self.merge_mode else outputs

    def get_config(self) -> Config:
        """The config of the wrapped layer, and the merge mode."""
        config = {**super().get_config(), "merge_mode": self.merge_mode}
        if self._num_constants:
            config["num_constants"] = self._num_constants
        if self._backward_layer_config is not None:
            config["backward_layer"] = self._backward_layer_config
        return config

    @classmethod
    def from_config(cls, config: Mapping[str, Any], custom_objects: CustomObjects = None) -> Self:
        """The layer with this config."""
        rest = {
            key: value
            for key, value in config.items()
            if key not in {"layer", "backward_layer", "num_constants"}
        }
        if config.get("backward_layer") is not None:
            rest["backward_layer"] = deserialize(config["backward_layer"], custom_objects)
        layer = cls(deserialize(config["layer"], custom_objects), **rest)
        layer._num_constants = config.get("num_constants", 0)
        return layer


def _check(layer: object, merge_mode: str | None, backward_layer: Any) -> None:
    if not isinstance(layer, Layer):
        raise bad_value(
            "Please initialize `Bidirectional` layer with a `tf.keras.layers.Layer` instance. "
            f"Received: {layer}"
        )
    if backward_layer is not None and not isinstance(backward_layer, Layer):
        raise bad_value(
            "`backward_layer` need to be a `tf.keras.layers.Layer` instance. "
            f"Received: {backward_layer}"
        )
    if merge_mode is not None and merge_mode not in _MERGES:
        raise bad_value(
            f"Invalid merge mode. Received: {merge_mode}. Merge mode should be one of "
            '{"sum", "mul", "ave", "concat", None}'
        )
