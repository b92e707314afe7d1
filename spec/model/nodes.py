"""Operations and tensors of the model's graphs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sessrun.spec.operations import ArgDecl, Operation

__all__ = ["Node", "Output"]


@dataclass(frozen=True, slots=True, order=True)
class Output:
    """A tensor: an output of an operation."""

    node: str
    index: int

    def __str__(self) -> str:
        return f"{self.node}:{self.index}"


@dataclass(frozen=True, slots=True)
class Node:
    """An operation of a graph.

    Attributes:
      name: its name, unique in the graph.
      operation: what is declared of its type.
      attrs: its attributes by name, as Python values; defaults are filled in.
      inputs: the tensors that it takes, in order.
      controls: the operations after which it starts.

    """

    name: str
    operation: Operation
    attrs: dict[str, Any]
    inputs: tuple[Output, ...]
    controls: tuple[str, ...]

    @property
    def type(self) -> str:
        """The name of its type."""
        return self.operation.name

    @property
    def outputs(self) -> int:
        """How many outputs it has."""
        return sum(arg.count(self.attrs) for arg in self.operation.outputs)

    def arguments(self) -> Iterator[tuple[ArgDecl, int]]:
        """Each declared input with the number of tensors that it takes."""
        for arg in self.operation.inputs:
            yield arg, arg.count(self.attrs)

    def takes_reference(self) -> tuple[bool, ...]:
        """For each input, whether it takes a reference itself, not the value that is there."""
        return tuple(arg.is_ref for arg, count in self.arguments() for _ in range(count))
