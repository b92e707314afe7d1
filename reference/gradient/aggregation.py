"""How gradients of one tensor are summed, and what an unconnected source gets."""

from __future__ import annotations

import enum
from collections import defaultdict
from collections.abc import Sequence
from typing import Final

from sessrun.reference.api.ops.array_ops import concat
from sessrun.reference.api.ops.cast_ops import cast
from sessrun.reference.api.ops.math_ops import add_n
from sessrun.reference.base import dtypes
from sessrun.reference.build.build import apply_op
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.indexed_slices import IndexedSlices
from sessrun.reference.graph import default_graph
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public

__all__ = ["METHODS", "AggregationMethod", "UnconnectedGradients", "aggregated", "tape_sum"]


@public("AggregationMethod")
class AggregationMethod:
    """How several gradients of one tensor are summed.

    Attributes:
      ADD_N: all in one sum, once all are computed.
      DEFAULT: the same.
      EXPERIMENTAL_TREE: two at a time.
      EXPERIMENTAL_ACCUMULATE_N: two at a time, too.

    """

    ADD_N: Final = 0
    DEFAULT: Final = ADD_N
    EXPERIMENTAL_TREE: Final = 1
    EXPERIMENTAL_ACCUMULATE_N: Final = 2


@public("UnconnectedGradients")
class UnconnectedGradients(enum.Enum):
    """What the gradient is by a tensor that the differentiated one does not depend on."""

    NONE = "none"
    ZERO = "zero"


METHODS = frozenset(
    {
        AggregationMethod.ADD_N,
        AggregationMethod.EXPERIMENTAL_TREE,
        AggregationMethod.EXPERIMENTAL_ACCUMULATE_N,
    }
)


def aggregated(
    op: Operation, gradients: Sequence[Tensor | IndexedSlices], method: int
) -> Tensor | IndexedSlices:
    """The sum of the gradients of an output, as IndexedSlices if all of them are.

    Args:
      op: the operation that the output belongs to.
      gradients: the gradients, at least one.
      method: one of AggregationMethod.

    """
    if len(gradients) == 1:
        return gradients[0]
    slices = [grad for grad in gradients if isinstance(grad, IndexedSlices)]
    if len(slices) == len(gradients):
        return _concatenated(slices)
    if method == AggregationMethod.ADD_N:
        return _sum_by_device(gradients)
    # Sums of two: the memory of a gradient may be freed once it has been added.
    with default_graph.get_default_graph().name_scope(op.name + "_gradient_sum"):
        total = gradients[0]
        for grad in gradients[1:]:
            total = add_n([total, grad])
        return total


def tape_sum(gradients: Sequence[Tensor | IndexedSlices]) -> Tensor | IndexedSlices:
    """The sum of gradients as a tape makes it: one AddN of dense ones, on whichever devices."""
    if len(gradients) == 1:
        return gradients[0]
    slices = [grad for grad in gradients if isinstance(grad, IndexedSlices)]
    if len(slices) == len(gradients):
        return _concatenated(slices)
    return _sum([convert_to_tensor(grad) for grad in gradients])


def _sum_by_device(gradients: Sequence[Tensor | IndexedSlices]) -> Tensor:
    """The sum of the sums for each device, each of these colocated with its first gradient.

    With IndexedSlices among the gradients it is one sum, which is not colocated.
    """
    tensors = [grad for grad in gradients if isinstance(grad, Tensor)]
    if len(tensors) < len(gradients):
        return _sum(gradients)
    by_device: dict[str, list[Tensor]] = defaultdict(list)
    for tensor in tensors:
        by_device[tensor.device].append(tensor)
    graph, sums = default_graph.get_default_graph(), []
    for _, terms in sorted(by_device.items()):
        with graph.colocate_with(terms[0].op, ignore_existing=True):
            sums.append(_sum(terms))
    return _sum(sums)


def _sum(terms: Sequence[Tensor | IndexedSlices]) -> Tensor:
    if len(terms) == 1:
        return convert_to_tensor(terms[0])
    return apply_op("AddN", {"inputs": list(terms)}, {}, None).outputs[0]


def _concatenated(gradients: Sequence[IndexedSlices]) -> IndexedSlices:
    """All rows of several gradients; rows of the same index stay apart."""
    indices = [grad.indices for grad in gradients]
    if len({tensor.dtype for tensor in indices}) > 1:
        indices = [cast(tensor, dtypes.int64) for tensor in indices]
    values = concat([grad.values for grad in gradients], 0)
    return IndexedSlices(values, concat(indices, 0), gradients[0].dense_shape)
