"""The resolve stage, fetches: from the caller's structure to graph elements and back.

A structure is flattened once into unique elements; the shape of the structure becomes a function
that builds the caller's value from theirs. Clauses: FETCH.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import Any

from sessrun.reference.base.containers import attribute_names, mapping_like
from sessrun.reference.base.dtypes import resource
from sessrun.reference.build.expansions import expansion_of
from sessrun.reference.errors import bad_value
from sessrun.reference.graph.graph import Graph
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.session.resolve.builds import (
    Build,
    MappingBuild,
    SequenceBuild,
    take_item,
)
from sessrun.reference.session.resolve.tensor_handles import (
    HANDLE_OPS,
    KeptTensors,
    TensorHandle,
    resource_bytes,
)

__all__ = ["FetchStructure", "Fetches"]

#: Tensors, operations, their names, objects that stand for some (a SparseTensor, whatever type is
#: registered), and lists, tuples, namedtuples, dicts and attrs instances of them.
Fetches = object


class FetchStructure:
    """A resolved fetch structure.

    Attributes:
      elements: the unique tensors and operations, in the order of their first appearance.
      build: from the values of the elements (None for an operation) to the caller's structure.
      is_leaf: whether the structure is one tensor or operation, so that `build` takes the first.

    """

    def __init__(self, graph: Graph, kept: KeptTensors, fetches: Fetches) -> None:
        """Resolve `fetches` in the graph of a session that keeps tensors.

        Raises:
          TypeError: a leaf is of a type that cannot be fetched.
          ValueError: a leaf names or is what the graph does not have, or may not be fetched.

        """
        self._graph = graph
        self._kept = kept
        self._index: dict[Tensor | Operation, int] = {}
        self.build = self._resolve(fetches)
        self.is_leaf = isinstance(self.build, operator.itemgetter)
        self.elements = tuple(self._index)

    def _resolve(self, fetch: Fetches) -> Build:
        if fetch is None:
            raise TypeError(f"Argument `fetch` = {fetch} has invalid type. Cannot be None")
        if isinstance(fetch, list | tuple):
            return self._sequence(fetch)
        if isinstance(fetch, Mapping):
            return self._mapping(fetch)
        if (names := attribute_names(fetch)) is not None:
            return self._attrs(fetch, names)
        expansion = expansion_of(fetch)
        if expansion is None:
            return self._leaf(fetch)
        parts, contract = expansion.fetch(fetch)
        builds = [self._leaf(part) for part in parts]
        if not builds:
            return lambda _values: None
        return lambda values: contract([build(values) for build in builds])

    def _leaf(self, fetch: object) -> Build:
        try:
            element = self._graph.as_graph_element(fetch, allow_tensor=True, allow_operation=True)
        except TypeError as error:
            raise TypeError(
                f'Argument `fetch` = {fetch!r} has invalid type "{type(fetch).__name__}". It '
                f"must be a string or Tensor, or a structure of them. ({error})"
            ) from error
        except ValueError as error:
            raise ValueError(
                f"Argument `fetch` = {fetch} cannot be interpreted as a Tensor. ({error})"
            ) from error
        except KeyError as error:
            raise ValueError(
                f"Argument `fetch` = {fetch} cannot be interpreted as a Tensor. ({error.args[0]})"
            ) from error
        if not self._graph.is_fetchable(element):
            raise bad_value(f"Operation {element.name!r} has been marked as not fetchable.")
        index = self._index.setdefault(element, len(self._index))
        if isinstance(element, Tensor) and element.op.type in HANDLE_OPS:
            dtype, kept = element.op.inputs[0].dtype.base_dtype, self._kept
            return lambda values: TensorHandle(values[index], dtype, kept)
        if isinstance(element, Tensor) and element.dtype is resource:
            return lambda values: resource_bytes(element.op, values[index])
        return take_item(index)

    def _sequence(self, fetches: list[Fetches] | tuple[Fetches, ...]) -> Build:
        return SequenceBuild(type(fetches), [self._resolve(part) for part in fetches])

    def _mapping(self, fetches: Mapping[Any, Fetches]) -> Build:
        builds = {key: self._resolve(part) for key, part in fetches.items()}
        return MappingBuild(mapping_like(fetches), builds)

    def _attrs(self, fetches: object, names: list[str]) -> Build:
        kind = type(fetches)
        builds = [self._resolve(getattr(fetches, name)) for name in names]
        return lambda values: kind(*[build(values) for build in builds])
