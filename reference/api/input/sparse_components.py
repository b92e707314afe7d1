"""Sparse tensors in queues, which take tensors only: stored in a map, by int64 handles.

Source: TF 2.21.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from sessrun.reference.api.control_flow.conditional import cond
from sessrun.reference.api.input.sparse_handles import (
    ADDING,
    add_many_sparse_to_tensors_map,
    add_sparse_to_tensors_map,
    take_many_sparse_from_tensors_map,
)
from sessrun.reference.api.ops.array_ops import expand_dims, gather, shape, squeeze
from sessrun.reference.api.ops.fill_ops import ones
from sessrun.reference.api.sparse_ops import sparse_retain
from sessrun.reference.api.sparse_tensor import SparseTensor
from sessrun.reference.base import dtypes
from sessrun.reference.build.constant_op import constant
from sessrun.reference.build.framework_ops import gated
from sessrun.reference.build.shape_inference_values import constant_value
from sessrun.reference.graph import default_graph
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor

__all__ = ["Kept", "either", "restored", "stored"]


class Kept(NamedTuple):
    """How a component is kept.

    Attributes:
      op: the operation that keeps it, and by whose name what is kept is known.
      rank: that of an element, if it is known.

    """

    op: Operation
    rank: int | None


def stored(
    element: Sequence[object], keep: Tensor, *, enqueue_many: bool, known: Sequence[Kept | None]
) -> tuple[list[Tensor], list[Kept | None]]:
    """The element with handles, int64 of shape [1], in place of sparse tensors.

    Args:
      element: tensors and sparse tensors.
      keep: whether the element is enqueued: a bool, or one for each row.
      enqueue_many: whether rows are elements.
      known: how another set stores the components; sets share a map for a component.

    Returns:
      The tensors, and how they are stored: None for those that are not sparse.

    """
    tensors: list[Any] = []
    kept_components: list[Kept | None] = []
    for component, before in zip(element, known, strict=True):
        if not isinstance(component, SparseTensor):
            tensors.append(component)
            kept_components.append(None)
            continue
        numbers = _numbers(component, keep, enqueue_many, "" if before is None else before.op.name)
        rank = component.dense_shape.shape[0].value
        if rank is not None and enqueue_many:
            rank -= 1
        kept_components.append(before or Kept(_adding(numbers), rank))
        tensors.append(numbers)
    return [
        tensor if kept is None else expand_dims(tensor, [-1])
        for tensor, kept in zip(tensors, kept_components, strict=True)
    ], kept_components


def _numbers(sparse: SparseTensor, keep: Tensor, enqueue_many: bool, shared_name: str) -> Tensor:
    keeper = add_many_sparse_to_tensors_map if enqueue_many else add_sparse_to_tensors_map

    def add(sparse: SparseTensor) -> Tensor:
        return keeper(sparse, shared_name=shared_name)

    if keep.shape.ndims == 1:
        rows = sparse.indices[:, 0]
        return add(sparse_retain(sparse, gather(keep, rows)))
    numbers: Tensor = either(keep, lambda: add(sparse), lambda: _none_of(sparse, enqueue_many))
    if enqueue_many:
        numbers.set_shape([None])
    return numbers


def _none_of(sparse: SparseTensor, enqueue_many: bool) -> Tensor:
    """The handles of elements that are not kept: -1."""
    if not enqueue_many:
        return constant(-1, dtypes.int64)
    none: Tensor = -1 * ones(shape(sparse)[0:1], dtypes.int64)
    return none


def either(keep: Tensor, yes: Callable[[], object], no: Callable[[], object]) -> Any:
    """Call one of two functions, chosen while the graph is built where `keep` is known then."""
    known = constant_value(keep)
    if known is not None:
        return yes() if known else no()
    return cond(keep, yes, no)


def _adding(numbers: Tensor) -> Operation:
    """The operation that keeps the tensors, maybe in a branch.

    Raises:
      TypeError: none does, since nothing is ever to be put in.

    """
    ops = [numbers.op, *(source.op for source in numbers.op.inputs)]
    adding_op = next((op for op in ops if op.type in ADDING), None)
    if adding_op is None:
        raise TypeError(f"Nothing keeps a sparse tensor that is never put in: {numbers.op.type}")
    return adding_op


def restored(batch: Sequence[Tensor], kept: Sequence[Kept | None]) -> list[Tensor | SparseTensor]:
    """The batch with sparse tensors in place of their handles.

    One is only there once all are: else those that nobody fetched would be kept for ever.
    """
    batches = [
        tensor if how is None else _taken(tensor, how)
        for tensor, how in zip(batch, kept, strict=True)
    ]
    if all(how is None for how in kept):
        return batches
    graph = default_graph.get_default_graph()
    with graph.control_dependencies(list(dict.fromkeys(item.op for item in batches))):
        waiting = [
            SparseTensor(*(gated(graph, part) for part in item.parts()))
            if isinstance(item, SparseTensor)
            else gated(graph, item)
            for item in batches
        ]
    return waiting if len(batches) > 1 else batches  # one alone has nothing to wait for (TF 2.21)


def _taken(numbers: Tensor, kept: Kept) -> SparseTensor:
    rank = None if kept.rank is None else kept.rank + 1
    return take_many_sparse_from_tensors_map(kept.op, squeeze(numbers, [1]), rank)
