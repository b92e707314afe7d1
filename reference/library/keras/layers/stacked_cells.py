"""`StackedRNNCells`: several cells as one cell (tf_keras 2.21)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import sessrun.reference as tf
from sessrun.reference.api.argument_types import Structure
from sessrun.reference.base.dtypes import DTypeLike
from sessrun.reference.errors import bad_value
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.library.keras.engine.base_layer import Layer
from sessrun.reference.library.keras.engine.call_context import takes
from sessrun.reference.library.keras.layers.recurrent_cells import StateSize, has_many, zero_states
from sessrun.reference.library.keras.layers.serialization import deserialize, serialize
from sessrun.reference.library.keras.object_configs import CustomObjects

__all__ = ["StackedRNNCells"]


def _output_size(cell: Any) -> StateSize:
    """The output size of a cell, by default that of its first state."""
    if getattr(cell, "output_size", None) is not None:
        return cell.output_size
    return cell.state_size[0] if has_many(cell.state_size) else cell.state_size


class StackedRNNCells(Layer):
    """A cell that feeds the output of each cell to the next.

    Args:
      cells: the cells.
      **kwargs: as for Layer; `reverse_state_order`, whether states are listed the last cell's
        first.

    Raises:
      ValueError: a cell has no `call` or no `state_size`.

    """

    def __init__(self, cells: Sequence[Any], **kwargs: Any) -> None:
        for cell in cells:
            for name, kind in (("call", "method"), ("state_size", "attribute")):
                if name not in dir(cell):
                    raise bad_value(
                        f"All cells must have a `{name}` {kind}. "
                        f"Received cell without a `{name}`: {cell}"
                    )
        reverse = kwargs.pop("reverse_state_order", False)
        super().__init__(**kwargs)
        self.cells = cells
        self.reverse_state_order = reverse

    def _ordered(self) -> Sequence[Any]:
        return self.cells[::-1] if self.reverse_state_order else self.cells

    @property
    def state_size(self) -> tuple[StateSize, ...]:
        """The sizes of the states of each cell."""
        return tuple(cell.state_size for cell in self._ordered())

    @property
    def output_size(self) -> StateSize:
        """The size of the last cell's output."""
        return _output_size(self.cells[-1])

    def get_initial_state(
        self,
        inputs: Structure = None,
        batch_size: int | Tensor | None = None,
        dtype: DTypeLike | None = None,
    ) -> tuple[Structure, ...]:
        """The initial states of all cells."""
        return tuple(
            cell.get_initial_state(inputs=inputs, batch_size=batch_size, dtype=dtype)
            if getattr(cell, "get_initial_state", None)
            else zero_states(cell.state_size, inputs, batch_size, dtype)
            for cell in self._ordered()
        )

    def call(
        self,
        inputs: Structure,
        states: Structure,
        constants: Structure = None,
        training: bool | Tensor | None = None,
        **kwargs: Any,
    ) -> tuple[Structure, Structure]:
        """The last cell's output, and the states of all."""
        sizes = self.state_size[::-1] if self.reverse_state_order else self.state_size
        nested = tf.nest.pack_sequence_as(sizes, tf.nest.flatten(states))
        after = []
        for cell, before in zip(self.cells, nested, strict=True):
            given = before if tf.nest.is_nested(before) else [before]
            if len(given) == 1 and getattr(cell, "_is_tf_rnn_cell", None) is not None:
                given = given[0]
            options = dict(kwargs)
            if takes(cell.call, "training"):
                options["training"] = training
            if takes(cell.call, "constants"):
                options["constants"] = constants
            inputs, new = (cell if callable(cell) else cell.call)(inputs, given, **options)
            after.append(new)
        return inputs, tf.nest.pack_sequence_as(sizes, tf.nest.flatten(after))

    def build(self, input_shape: Any) -> None:
        """Build each cell for the output shape of its predecessor."""
        super().build(input_shape)
        shape = input_shape[0] if isinstance(input_shape, list) else input_shape
        for cell in self.cells:
            if isinstance(cell, Layer) and not cell.built:
                with tf.name_scope(cell.name):
                    cell.build(shape)
                    cell.built = True
            batch = tf.nest.flatten(shape)[0]
            shape = tf.nest.map_structure(
                lambda size, batch=batch: (batch, *tf.TensorShape(size).as_list()),
                _output_size(cell),
            )

    def get_config(self) -> dict[str, object]:
        """The configs of the cells."""
        return {**super().get_config(), "cells": [serialize(cell) for cell in self.cells]}

    @classmethod
    def from_config(cls, config: Mapping[str, Any], custom_objects: CustomObjects = None) -> Self:
        """The stacked cells with this config."""
        rest = {key: value for key, value in config.items() if key != "cells"}
        return cls([deserialize(cell, custom_objects) for cell in config["cells"]], **rest)
