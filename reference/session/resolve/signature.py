"""The signature of a run: which tensors are fed, which computed, and the structure of the fetches.

`Signature.unpack` goes back from the values of a run to the caller's structure. Clauses: FETCH,
FEED, RUN.
"""

from __future__ import annotations

import operator
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.session.resolve.builds import Build
from sessrun.reference.session.resolve.feeds import FedTensors, Feeder, KernelView
from sessrun.reference.session.resolve.fetches import FetchStructure
from sessrun.reference.session.resolve.unpacking import Source, fetched_value, unshared

__all__ = ["Signature", "signature_of"]


@dataclass(frozen=True, slots=True)
class Signature:
    """What fetches and feed keys are in one graph.

    Attributes:
      fed: the fed tensors, in order.
      feeders: for each fed tensor the conversion and check of its value.
      views: for each fed tensor the function from its array to what kernels see.
      tensors: the fetched tensors that are not fed, in order: they are computed.
      ops: the fetched operations.
      sources: for each unique fetch where its value comes from.
      build: from the values of the unique fetches to the caller's structure.
      is_one_tensor: whether the structure is nothing but one tensor, which is computed.
      key: what the plan depends on: signatures that differ in the structure alone share it.

    """

    fed: tuple[Tensor, ...]
    feeders: tuple[Feeder, ...]
    views: tuple[KernelView, ...]
    tensors: tuple[Tensor, ...]
    ops: tuple[Operation, ...]
    sources: tuple[Source, ...]
    build: Build
    is_one_tensor: bool
    key: Hashable

    def convert(self, values: Iterable[object]) -> list[np.ndarray]:
        """The arrays of the fed values; raises as `feeder` says, before anything has run."""
        return list(map(operator.call, self.feeders, values))

    def unpack(self, arrays: Sequence[np.ndarray], computed: Sequence[Any]) -> Any:
        """The caller's structure, with the values of a run.

        Args:
          arrays: the arrays of the feeds; a tensor that is fed and fetched gives the array itself.
          computed: the value of each of `tensors`, as its kernel gave it.

        Raises:
          OpError: a reference variable has no value.

        """
        if self.is_one_tensor:
            (value,) = computed
            return value if isinstance(value, np.generic) else fetched_value(value)
        values = [
            None
            if source is None
            else arrays[source[1]]
            if source[0]
            else fetched_value(computed[source[1]])
            for source in self.sources
        ]
        return self.build(unshared(values, self.sources) if len(values) > 1 else values)


def signature_of(structure: FetchStructure, fed: FedTensors) -> Signature:
    """The signature of resolved fetches and fed tensors."""
    elements = structure.elements
    feed_numbers = {tensor: number for number, tensor in enumerate(fed.tensors)}
    tensors = tuple(e for e in elements if isinstance(e, Tensor) and e not in feed_numbers)
    numbers = {tensor: number for number, tensor in enumerate(tensors)}
    sources: list[Source] = []
    for element in elements:
        if isinstance(element, Operation):
            sources.append(None)
        elif element in feed_numbers:
            sources.append((True, feed_numbers[element]))
        else:
            sources.append((False, numbers[element]))
    ops = tuple(element for element in elements if isinstance(element, Operation))
    return Signature(
        fed=fed.tensors,
        feeders=fed.feeders,
        views=fed.views,
        tensors=tensors,
        ops=ops,
        sources=tuple(sources),
        build=structure.build,
        is_one_tensor=structure.is_leaf and elements[0] in numbers,
        key=(tensors, ops, fed.tensors),
    )
