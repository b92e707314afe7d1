"""How the gradients that reach one tensor by several ways become one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from sessrun.reference.api.ops.array_ops import concat
from sessrun.reference.api.ops.cast_ops import cast
from sessrun.reference.api.ops.math_ops import add_n
from sessrun.reference.base import dtypes
from sessrun.reference.build.build import apply_op
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.indexed_slices import IndexedSlices
from sessrun.reference.gradient.choices import AggregationMethod
from sessrun.reference.graph import stacks
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor

__all__ = ["METHODS", "Gradient", "aggregated", "taped_sum"]

#: A gradient: dense, rows of one, or None where there is none.
Gradient = Tensor | IndexedSlices | None

METHODS = frozenset(
    {
        AggregationMethod.ADD_N,
        AggregationMethod.EXPERIMENTAL_TREE,
        AggregationMethod.EXPERIMENTAL_ACCUMULATE_N,
    }
)


def aggregated(op: Operation, found: Sequence[Gradient], method: int) -> Gradient:
    """One gradient of several: dense ones summed, rows put behind one another.

    Args:
      op: the operation whose output they are the gradients of.
      found: the gradients, at least one.
      method: one of AggregationMethod.

    """
    if len(found) == 1:
        return found[0]
    if all(isinstance(each, IndexedSlices) for each in found):
        return _joined([each for each in found if isinstance(each, IndexedSlices)])
    if method == AggregationMethod.ADD_N:
        return _summed(found)
    # A sum of two at a time: each may be dropped once it is in.
    with stacks.get_default_graph().name_scope(op.name + "_gradient_sum"):
        total: Any = found[0]
        for each in found[1:]:
            total = add_n([total, each])
        return total  # type: ignore[no-any-return]  # a sum of tensors


def taped_sum(found: Sequence[Gradient]) -> Gradient:
    """One gradient of several, as a tape adds them: dense ones in one sum, wherever they are."""
    if len(found) == 1:
        return found[0]
    if all(isinstance(each, IndexedSlices) for each in found):
        return _joined([each for each in found if isinstance(each, IndexedSlices)])
    return _sum([convert_to_tensor(each) for each in found])


def _summed(found: Sequence[Any]) -> Tensor:
    """The sum: first of those of each device, beside the first of them, then of these sums.

    With rows of a tensor among them it is one sum, which stands nowhere in particular.
    """
    if not all(isinstance(each, Tensor) for each in found):
        return _sum(list(found))
    by_device: dict[str, list[Any]] = defaultdict(list)
    for each in found:
        by_device[each.device].append(each)
    graph, sums = stacks.get_default_graph(), []
    for _, items in sorted(by_device.items()):
        with graph.colocate_with(items[0].op, ignore_existing=True):
            sums.append(_sum(items))
    return _sum(sums)


def _sum(items: list[Any]) -> Tensor:
    if len(items) == 1:
        return convert_to_tensor(items[0])
    return apply_op("AddN", {"inputs": items}, {}, None).outputs[0]


def _joined(found: Sequence[IndexedSlices]) -> IndexedSlices:
    indices = [each.indices for each in found]
    if len({each.dtype for each in indices}) > 1:
        indices = [cast(each, dtypes.int64) for each in indices]
    values = concat([each.values for each in found], 0)
    return IndexedSlices(values, concat(indices, 0), found[0].dense_shape)
