"""The types of programs, and of the functions and values that programs consist of."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol, TypeAlias

from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Array, Element, Operation, Tensor, Variable
from sessrun.spec.cases.values import Raised

__all__ = [
    "Action",
    "Layer",
    "PairFunction",
    "Plain",
    "Program",
    "SparseTensor",
    "Structure",
    "Table",
    "TensorArray",
    "TensorFunction",
]

#: A program: a function from a namespace like `tensorflow.compat.v1` to a result of any type.
Program: TypeAlias = Callable[[Namespace], object]

#: A function without arguments: it builds a graph or runs one, and its result has any type.
Action: TypeAlias = Callable[[], object]

#: Values that are compared: numbers, texts and arrays, in lists, with errors by their classes.
Plain: TypeAlias = (
    "Raised | Array | complex | str | bytes | Sequence[Plain] | Mapping[str, Plain] | None"
)

#: Tensors and operations in nested lists, tuples and dictionaries; None where there is no tensor.
Structure: TypeAlias = "Element | Sequence[Structure] | Mapping[str, Structure] | None"

#: A function of a tensor, such as the body of a function or the target of a gradient.
TensorFunction: TypeAlias = Callable[[Tensor], Structure]

#: A function of two tensors.
PairFunction: TypeAlias = Callable[[Tensor, Tensor], Structure]


class Table(Protocol):
    """A lookup table."""

    def lookup(self, keys: Structure, name: str | None = None) -> Tensor:
        """The values of some keys."""

    def size(self, name: str | None = None) -> Tensor:
        """The number of keys."""


class TensorArray(Protocol):
    """A `tf.TensorArray`."""

    @property
    def flow(self) -> Tensor:
        """The tensor that orders reads and writes."""

    def read(self, index: Tensor | int, name: str | None = None) -> Tensor:
        """The element of an index."""

    def write(self, index: Tensor | int, value: Structure, name: str | None = None) -> TensorArray:
        """The array after an element was written."""

    def gather(self, indices: Tensor | Sequence[int], name: str | None = None) -> Tensor:
        """The elements of some indices, stacked."""

    def stack(self, name: str | None = None) -> Tensor:
        """All elements, stacked."""

    def concat(self, name: str | None = None) -> Tensor:
        """All elements, concatenated along their first axis."""

    def close(self, name: str | None = None) -> Operation:
        """An operation that frees the elements."""


class SparseTensor(Protocol):
    """A `tf.SparseTensor`."""

    @property
    def indices(self) -> Tensor:
        """The indices of the elements that are stored, int64 of shape `[count, rank]`."""

    @property
    def values(self) -> Tensor:
        """Those elements, of shape `[count]`."""

    @property
    def dense_shape(self) -> Tensor:
        """The shape, int64 of shape `[rank]`."""


class Layer(Protocol):
    """A layer of `tf.keras.layers`."""

    @property
    def weights(self) -> Sequence[Variable]:
        """The variables, those that are trained first."""

    @property
    def losses(self) -> Sequence[Tensor]:
        """The losses that its calls and regularizers added."""

    def __call__(self, *inputs: Structure, **options: Plain) -> Structure:
        """The outputs for some inputs."""

    def compute_output_shape(self, input_shape: Sequence[int | None]) -> Sequence[int | None]:
        """The shape of the outputs for inputs of a shape."""

    def get_config(self) -> dict[str, Plain]:
        """The arguments that the layer can be constructed from again."""
