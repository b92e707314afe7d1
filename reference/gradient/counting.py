"""Gradients of chosen elements and of running logarithms. Source: TF 2.21."""

from __future__ import annotations

from typing import Any

from sessrun.reference.api.ops.array_ops import expand_dims
from sessrun.reference.api.ops.cast_ops import cast
from sessrun.reference.api.ops.math_ops import divide, equal
from sessrun.reference.api.ops.reduce_ops import reduce_sum
from sessrun.reference.api.ops.running_sums import cumulative_logsumexp
from sessrun.reference.api.ops.shape_ops import shape
from sessrun.reference.build.build import apply_op
from sessrun.reference.build.generated import exp, greater, less, log, scatter_nd, select_v2
from sessrun.reference.build.gradient_nodes import constants, gradient
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor

__all__: list[str] = []

constants(("EditDistance",))


@gradient("NthElement")
def _nth_element(op: Operation, grad: Any) -> Any:
    """Shared out over all elements that are equal to the chosen one."""
    chosen = cast(equal(expand_dims(op.outputs[0], -1), op.inputs[0]), grad.dtype)
    wide = expand_dims(grad, -1)
    count = expand_dims(reduce_sum(chosen, -1), -1)
    return divide(chosen, count) * wide, None


def _gathered(value: Tensor, indices: Tensor, policy: Any) -> Tensor:
    inputs = {"params": value, "indices": indices}
    found: Tensor = apply_op("GatherNd", inputs, {"bad_indices_policy": policy}, None).outputs[0]
    return found


@gradient("TensorScatterMax", "TensorScatterMin")
def _scatter_extreme(op: Operation, grad: Any) -> Any:
    """Shared out over the element and the updates that are equal to the result."""
    x, indices, updates = op.inputs
    found, policy = op.outputs[0], op.get_attr("bad_indices_policy")
    of_x = cast(equal(x, found), grad.dtype)
    of_updates = cast(equal(updates, _gathered(found, indices, policy)), grad.dtype)
    sizes = shape(x, out_type=indices.dtype)
    spread = scatter_nd(indices, of_updates, sizes, bad_indices_policy=policy)
    count = of_x + spread
    by_x = grad * of_x / count
    return by_x, None, _gathered(grad / count, indices, policy) * of_updates


@gradient("CumulativeLogsumexp")
def _cumulative_logsumexp(op: Operation, grad: Any) -> Any:
    """By logarithms of the gradient, of its positive and of its negative part."""
    x, axis = op.inputs
    options: dict[str, Any] = {
        "axis": axis,
        "reverse": not op.get_attr("reverse"),
        "exclusive": op.get_attr("exclusive"),
    }
    lowest = grad.dtype.min
    positive = select_v2(greater(grad, 0), log(grad), lowest)
    negative = select_v2(less(grad, 0), log(-grad), lowest)
    above, below = (
        exp(cumulative_logsumexp(part - op.outputs[0], **options) + x)
        for part in (positive, negative)
    )
    return above - below, None
