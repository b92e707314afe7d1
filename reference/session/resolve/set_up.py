"""The resolve stage of partial runs: the feeds and fetches of the set-up and of each call.

Clauses: PARTIAL-RUN.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sessrun.reference import errors
from sessrun.reference.graph.graph import Graph
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.session.resolve.builds import Build
from sessrun.reference.session.resolve.feeds import FeedDict, resolve_feeds, resolve_keys
from sessrun.reference.session.resolve.fetches import Fetches, FetchStructure
from sessrun.reference.session.resolve.tensor_handles import KeptTensors

__all__ = ["PartialCall", "SetUp", "check_set_up", "resolve_partial_call", "resolve_set_up"]


@dataclass(frozen=True, slots=True)
class SetUp:
    """The feeds and fetches that a partial run may use.

    Attributes:
      fed: the tensors that may be fed, in order.
      tensors: the tensors that may be fetched, in order.
      ops: the operations that are run.

    """

    fed: tuple[Tensor, ...]
    tensors: tuple[Tensor, ...]
    ops: tuple[Operation, ...]

    @property
    def label(self) -> str:
        """How the handle of the run begins: with the names of all of these."""
        return f"{_listing(self.fed)}->{_listing(self.tensors)}/{_listing(self.ops)}/1/"


@dataclass(frozen=True, slots=True)
class PartialCall:
    """What one call of a partial run feeds and fetches.

    Attributes:
      arrays: the array of each fed tensor.
      tensors: the fetched tensors that are not fed by the same call.
      elements: the unique fetched tensors.
      build: from their values to the caller's structure.

    """

    arrays: dict[Tensor, np.ndarray]
    tensors: list[Tensor]
    elements: list[Tensor]
    build: Build

    def unpack(self, computed: Iterable[Any]) -> Any:
        """The caller's structure, from the values of `tensors`."""
        values: dict[Tensor, Any] = {**self.arrays}
        values.update(zip(self.tensors, computed, strict=True))
        return self.build([values[element] for element in self.elements])


def resolve_set_up(graph: Graph, kept: KeptTensors, fetches: Fetches, feeds: object) -> SetUp:
    """What the fetches and the feed keys of a set-up are.

    Raises:
      TypeError: a fetch or a feed key is of an inappropriate type.
      ValueError: a fetch is invalid.
      InvalidArgumentError: as `check_set_up`.

    """
    fed = resolve_keys(graph, feeds)
    tensors, ops = check_set_up(FetchStructure(graph, kept, fetches).elements, fed)
    return SetUp(fed, tensors, ops)


def resolve_partial_call(
    graph: Graph, kept: KeptTensors, fetches: Fetches, feed_dict: FeedDict | None
) -> PartialCall:
    """What a call of `Session.partial_run` feeds and fetches.

    Raises:
      TypeError: a fetch or a feed key is of an inappropriate type, or a value not of its dtype.
      ValueError: a fetch is invalid, or a value has another shape than its tensor.
      RuntimeError: an operation is among the fetches.

    """
    fed, fed_arrays = resolve_feeds(graph, kept, feed_dict)
    arrays = dict(zip(fed.tensors, fed_arrays, strict=True))
    structure = FetchStructure(graph, kept, fetches)
    elements = [element for element in structure.elements if isinstance(element, Tensor)]
    if len(elements) != len(structure.elements):
        raise RuntimeError("partial_run() requires empty `target_list`: it runs no operation.")
    tensors = [tensor for tensor in elements if tensor not in arrays]
    return PartialCall(arrays, tensors, elements, structure.build)


def check_set_up(
    elements: Iterable[Tensor | Operation], fed: Sequence[Tensor]
) -> tuple[tuple[Tensor, ...], tuple[Operation, ...]]:
    """The tensors and the operations of a set-up's fetches.

    Raises:
      InvalidArgumentError: nothing is fetched, or a tensor is fed twice, or both fed and fetched.

    """
    elements = tuple(elements)
    tensors = tuple(element for element in elements if isinstance(element, Tensor))
    ops = tuple(element for element in elements if isinstance(element, Operation))
    if not tensors and not ops:
        raise errors.bad_argument("Must specify at least one target to fetch or execute.")
    for index, tensor in enumerate(fed):
        if tensor in fed[:index]:
            raise errors.bad_argument(f'Endpoint "{tensor.name}" fed more than once.')
        if tensor in tensors:
            raise errors.bad_argument(f"{tensor.name} is both fed and fetched.")
    return tensors, ops


def _listing(elements: Iterable[Tensor | Operation]) -> str:
    return ",".join(element.name for element in elements)
