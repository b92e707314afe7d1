"""`SimpleRNN`, and the base class of RNN layers that create their cell (tf_keras 2.21)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self, Unpack

from sessrun.reference.library.keras import regularizers
from sessrun.reference.library.keras.engine.input_spec import InputSpec
from sessrun.reference.library.keras.engine.layer_options import LayerOptions
from sessrun.reference.library.keras.layers.recurrent import RNN
from sessrun.reference.library.keras.layers.recurrent_cells import RecurrentCell, SimpleRNNCell
from sessrun.reference.library.keras.object_configs import CustomObjects

__all__ = ["RNNOfCell", "SimpleRNN"]


class RNNOfCell(RNN):
    """Base class of RNN layers that create their cell from their own arguments.

    Args:
      *args: the cell's arguments in their order, `activity_regularizer` after its regularizers,
        then `return_sequences`, `return_state`, `go_backwards`, `stateful`, `unroll`.
      **kwargs: the same, and those of RNN.

    Raises:
      TypeError: there are more arguments.
      ValueError: `units` is not positive.

    """

    #: The class of the cell, and the cell's name.
    _cell_class: ClassVar[type[RecurrentCell]]
    _cell_name: ClassVar[str]

    def __init__(self, *args: Any, **kwargs: Unpack[LayerOptions]) -> None:
        order, own = self._order(), self._cell_class.arguments()
        if len(args) > len(order):
            raise TypeError(f"{type(self).__name__} takes {len(order)} arguments, not {len(args)}")
        given = {**dict(zip(order, args, strict=False)), **kwargs}
        regularizer = given.pop("activity_regularizer", None)
        shared = {"dtype": given.get("dtype"), "trainable": given.get("trainable", True)}
        of_cell = {name: given.pop(name) for name in own if name in given}
        for unused in ("enable_caching_device", "implementation"):
            given.pop(unused, None)
        cell = self._cell_class(**of_cell, **shared, name=self._cell_name)
        super().__init__(cell, **given)
        self.activity_regularizer = regularizers.get(regularizer)
        self.input_spec = [InputSpec(ndim=3)]

    @classmethod
    def _order(cls) -> list[str]:
        """The argument names in order."""
        last = {"implementation", "reset_after"}
        names = [name for name in cls._cell_class.arguments() if name not in last]
        names.insert(names.index("kernel_constraint"), "activity_regularizer")
        return [
            *names,
            "return_sequences",
            "return_state",
            "go_backwards",
            "stateful",
            "unroll",
            "reset_after",
        ]

    def __getattr__(self, name: str) -> Any:
        """Forward the cell's arguments as attributes."""
        if name in self._cell_class.arguments() and "cell" in self.__dict__:
            return getattr(self.cell, name)
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def get_config(self) -> dict[str, object]:
        """The arguments of the cell and of RNN."""
        config = super().get_config()
        cell: Any = config.pop("cell")
        own = cell["config"]
        config.update({name: own[name] for name in self._cell_class.arguments()})
        return {
            **config,
            "activity_regularizer": regularizers.serialize(self.activity_regularizer),
        }

    @classmethod
    def from_config(cls, config: Mapping[str, Any], custom_objects: CustomObjects = None) -> Self:
        """The layer with this config."""
        del custom_objects
        return cls(**config)


class SimpleRNN(RNNOfCell):
    """The RNN of a SimpleRNNCell; takes the arguments of both."""

    _cell_class = SimpleRNNCell
    _cell_name = "simple_rnn_cell"
