"""What the gradient of a loop adds to loops: counters, and sums of gradients of invariants.

Each is a variable of its own that goes round with the loop. Source: TF 2.21.
"""

from __future__ import annotations

from typing import Any

from sessrun.reference.api.control_flow.context import op_type_for
from sessrun.reference.api.control_flow.loops import Loop
from sessrun.reference.api.control_flow.values import merged
from sessrun.reference.api.ops.array_ops import concat
from sessrun.reference.api.ops.fill_ops import zeros, zeros_like
from sessrun.reference.api.ops.math_ops import add
from sessrun.reference.api.ops.shape_ops import shape_internal
from sessrun.reference.base import dtypes
from sessrun.reference.base.tensor_shape import TensorShape
from sessrun.reference.build.build import apply_op, apply_unary
from sessrun.reference.build.constant_op import constant
from sessrun.reference.build.generated import greater_equal, maximum
from sessrun.reference.build.gradient_nodes import node
from sessrun.reference.build.indexed_slices import IndexedSlices
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor

__all__ = [
    "counted_backward",
    "counted_forward",
    "left_by",
    "next_value",
    "summed_rows",
    "summed_tensor",
]


def next_value(start: Any, value: Any) -> Any:
    """Let the next iteration begin with this value at the Merge `start`; what hands it on."""
    if isinstance(start, IndexedSlices):
        pairs = zip(start.parts(), value.parts(), strict=True)
        return IndexedSlices(*(next_value(one, other) for one, other in pairs))
    following = apply_unary(op_type_for("NextIteration", value), value)
    start.op._update_input(1, following)  # noqa: SLF001 - the loop is being made here
    return following


def _switched(value: Tensor, loop: Loop) -> list[Tensor]:
    return apply_op("Switch", {"data": value, "pred": loop.condition}, {}).outputs


def left_by(loop: Loop, value: Any, name: str | None = None) -> Any:
    """The Exit by which a value leaves a loop; of rows one for each of their tensors."""
    if isinstance(value, IndexedSlices):
        return value._mapped(lambda part: left_by(loop, part, name))  # noqa: SLF001 - rows' own method
    found = apply_unary(op_type_for("Exit", value), value, name)
    loop.exits.append(found)
    loop.leave_with([found])
    return found


def counted_forward(loop: Loop, after: Operation | None) -> tuple[Tensor, Tensor]:
    """Count the iterations of a loop.

    Args:
      loop: the loop; what is made is around it.
      after: what the count waits for, so that one execution of the loop is over before the next.

    Returns:
      How many iterations there were, outside, and the count that goes on to the next iteration.

    """
    first = constant(0, name="f_count")
    if after is not None:
        first.op._add_control_input(after)  # noqa: SLF001 - it is being made here
    with loop.entered():
        loop.knows_here(first)
        entered = loop.enter(first, name="f_count")
        loop.enters.append(entered)
        start = merged([entered, entered])
        off, on = _switched(start, loop)
        following = next_value(start, add(on, 1))
        total = left_by(loop, off, "f_count")
    return total, following


def counted_backward(loop: Loop, count: Tensor) -> tuple[Tensor, Tensor]:
    """Let a loop go round as often as `count` says.

    Args:
      loop: the new loop of a gradient; what is made is around it.
      count: how often, a scalar int32 tensor.

    Returns:
      The count that goes on to the next iteration, and what it is at the end, outside.

    """
    one = constant(1, name="b_count")
    with loop.entered():
        loop.knows_here(count)
        entered = loop.enter(count, name="b_count")
        loop.enters.append(entered)
        start = merged([entered, entered])
        loop.set_pivot(start)
        goes_on = greater_equal(start, one)
        loop.condition = apply_op("LoopCond", {"input": goes_on}, {}, "b_count").outputs[0]
        off, on = _switched(start, loop)
        left = node("Sub", on, one)
        loop.set_pivot(left)
        following = next_value(start, left)
        final: Tensor = left_by(loop, off, "b_count")
    return following, final


def summed_tensor(loop: Loop, op: Operation, grad: Tensor) -> Tensor:
    """The sum of the gradients of an invariant over all iterations.

    Args:
      loop: the loop of the gradient, which is entered.
      op: the constant Enter of the invariant.
      grad: the gradient in one iteration.

    """
    with loop.left():
        total = _zeros(loop, op, grad)
    loop.knows_here(total)
    entered = loop.enter(total, name="b_acc")
    loop.enters.append(entered)
    start = merged([entered, entered], "b_acc")
    off, on = _switched(start, loop)
    next_value(start, add(on, grad))
    found: Tensor = left_by(loop, off, "b_acc")
    return found


def _zeros(loop: Loop, op: Operation, grad: Tensor) -> Tensor:
    """What a sum begins with, which is the sum of no iteration."""
    if grad.shape.is_fully_defined():
        with loop.around():
            return constant(0, grad.dtype, shape=grad.shape.as_list(), name="b_acc")
    value, outer = op.inputs[0], loop.outer_context
    if isinstance(outer, Loop) and outer.gradient is not None:
        with loop.gradient.forward.around():
            shape = shape_internal(value, optimize=False)
        stack = outer.gradient.push(shape)
        with outer.entered():
            return zeros(outer.gradient.pop(stack, shape), grad.dtype)
    with loop.around():
        return zeros(shape_internal(value, optimize=False), grad.dtype)


def summed_rows(loop: Loop, op: Operation, grad: IndexedSlices) -> IndexedSlices:
    """The rows of the gradients of an invariant of all iterations, behind one another.

    Args:
      loop: as for `summed_tensor`.
      op: as for `summed_tensor`.
      grad: the gradient in one iteration.

    """
    with loop.left(), loop.around():
        firsts = _no_rows(op, grad)
    for each in firsts:
        loop.knows_here(each)
    # Their shapes change from iteration to iteration.
    entered = [loop.enter(each, keeps_shape=False, name="b_acc") for each in firsts]
    entered[0].set_shape([None])
    if firsts[1].shape.ndims is not None:
        entered[1].set_shape([None, *firsts[1].shape.as_list()[1:]])
    loop.enters.extend(entered)
    starts = [merged([each, each], "b_acc") for each in entered]
    pairs = [_switched(each, loop) for each in starts]
    parts = [grad.indices, grad.values]
    sums = [concat([on, part], 0) for (_, on), part in zip(pairs, parts, strict=False)]
    if grad.dense_shape is not None:
        sums.append(maximum(grad.dense_shape, pairs[2][1]))
    following = [apply_unary("NextIteration", each) for each in sums]
    for start, each in zip(starts, following, strict=True):
        start.op._update_input(1, each)  # noqa: SLF001 - the loop is being made here
    exits = [apply_unary("Exit", off, "b_acc") for off, _ in pairs]
    loop.exits.extend(exits)
    loop.leave_with(exits)
    indices, values, *shape = exits
    return IndexedSlices(values, indices, *shape)


def _no_rows(op: Operation, grad: IndexedSlices) -> list[Tensor]:
    """What the sums of rows begin with: one of zeros; the indices, the values and the shape."""
    known, whole = grad.values.shape, grad.dense_shape
    if known.is_fully_defined():
        values = constant(0, grad.dtype, shape=[1, *known.as_list()[1:]], name="b_acc")
    else:
        rest: Any = concat([[1], _shape(op.inputs[0])[1:]], 0)
        values = zeros(rest, dtype=grad.dtype)
    found = [constant([0], grad.indices.dtype), values]
    if whole is None:
        return found
    if whole.shape.is_fully_defined():
        return [*found, constant(0, whole.dtype, shape=whole.shape.as_list())]
    shape = shape_internal(op.inputs[0], optimize=False, out_type=whole.dtype)
    return [*found, zeros_like(shape, optimize=False)]


def _shape(value: Tensor) -> Any:
    """The shape of a value; of a handle that of its variable."""
    if value.dtype != dtypes.resource:
        return shape_internal(value, optimize=False)
    while value.op.inputs:
        value = value.op.inputs[0]
    return TensorShape(value.op.get_attr("shape"))
