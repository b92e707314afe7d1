"""Losses and updates that a layer collects in `call`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias, TypeVar
from weakref import WeakSet

import sessrun.reference as tf
from sessrun.reference.api.argument_types import Structure, TensorLike
from sessrun.reference.api.variables.variable_base import Variable
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.library.keras.engine.call_context import current_call
from sessrun.reference.library.keras.engine.properties import TraitsOfLayer
from sessrun.reference.library.keras.settings import floatx

__all__ = ["CollectedByLayer"]


#: An update of a layer: an operation, a tensor or variable whose operation it is, or a function
#: that builds one.
Update: TypeAlias = "Tensor | Operation | Variable | Callable[[], Update]"
#: A loss or an update, as a layer keeps it.
Kept = TypeVar("Kept", bound="Tensor | Operation")


def _reaches(inputs: Iterable[TensorLike], target: Tensor | Operation) -> bool:
    """Whether a tensor or operation depends on one of the inputs."""
    sources = {id(item) for item in inputs}
    variables = {item.op for item in inputs if isinstance(item, Variable)}
    if id(target) in sources:
        return True
    ahead = [getattr(target, "op", target)]
    seen = set(ahead)
    while ahead:
        op = ahead.pop()
        if op in variables or any(id(tensor) in sources for tensor in op.inputs):
            return True
        for before in (*(tensor.op for tensor in op.inputs), *op.control_inputs):
            if before not in seen:
                seen.add(before)
                ahead.append(before)
    return False


class CollectedByLayer(TraitsOfLayer):
    """Mixin of Layer: losses and updates."""

    _updates: list[Tensor | Operation]
    _losses: list[Tensor]
    _callable_losses: list[Callable[[], Tensor | None]]
    #: Losses and updates that depend on the inputs of a call.
    _conditional: WeakSet[object]

    @property
    def losses(self) -> list[Tensor]:
        """The losses of this layer and its sublayers; callable ones are evaluated."""
        losses: list[Tensor] = []
        for layer in self._flatten_layers():
            losses += layer._losses  # noqa: SLF001 - a layer's own
            computed = [make() for make in layer._callable_losses]  # noqa: SLF001 - the same
            losses += [loss for loss in computed if loss is not None]
        return losses

    def add_loss(self, losses: Tensor, inputs: Structure = None) -> None:
        """Collect losses.

        Args:
          losses: scalars, or functions that make a scalar whenever `losses` is read.
          inputs: not None if they depend on the inputs of the call.

        """
        for loss in tf.nest.flatten(losses):
            if loss is None:
                continue
            if callable(loss):
                self._callable_losses.append(loss)
                continue
            tensor = loss if tf.is_tensor(loss) else tf.convert_to_tensor(loss, dtype=floatx())
            if inputs is not None:
                self._conditional.add(tensor)
            self._losses.append(tensor)

    def get_losses_for(self, inputs: Structure) -> list[Tensor]:
        """The losses that depend on these inputs; for None the unconditional ones."""
        return self._depending(self.losses, inputs)

    @property
    def updates(self) -> list[Tensor | Operation]:
        """The updates of this layer and its sublayers, those that are trainable."""
        return [
            update
            for layer in self._flatten_layers()
            if layer.trainable or layer.stateful
            for update in layer._updates  # noqa: SLF001 - a layer's own
        ]

    def add_update(self, updates: Update | Sequence[Update]) -> None:
        """Collect updates of variables.

        Args:
          updates: an operation, a tensor or a function that gives one, or a list of such.

        """
        call = current_call()
        inputs = tf.nest.flatten(call.inputs) if call else []
        for given in updates if isinstance(updates, list | tuple) else [updates]:
            update = _as_update(given)
            if _reaches(inputs, update):
                self._conditional.add(update)
            self._updates.append(update)

    def get_updates_for(self, inputs: Structure) -> list[Tensor | Operation]:
        """The updates that depend on these inputs; for None the unconditional ones."""
        return self._depending(self.updates, inputs)

    def _depending(self, collected: Sequence[Kept], inputs: Structure) -> list[Kept]:
        conditional: set[object] = set()
        for layer in self._flatten_layers():
            conditional.update(layer._conditional)  # noqa: SLF001 - a layer's own
        if inputs is None:
            return [item for item in collected if item not in conditional]
        wanted = tf.nest.flatten(inputs)
        return [item for item in collected if item in conditional and _reaches(wanted, item)]


def _as_update(given: Any) -> Tensor | Operation:
    while callable(given):
        given = given()
    if isinstance(given, tf.Operation):
        return given
    if hasattr(given, "op"):
        return given.op
    return tf.convert_to_tensor(given)
