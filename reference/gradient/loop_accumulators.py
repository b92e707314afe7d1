"""Variables that gradients add to loops: counters, and accumulators of gradients of invariants.

Source: TF 2.21.
"""

from __future__ import annotations

from sessrun.reference.api.control_flow.context import op_type_for
from sessrun.reference.api.control_flow.flow_values import merged
from sessrun.reference.api.control_flow.loops import Loop
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
    "accumulated_slices",
    "accumulated_tensor",
    "add_backward_counter",
    "add_exit",
    "add_forward_counter",
    "add_next_value",
]


def add_next_value(
    start: Tensor | IndexedSlices, value: Tensor | IndexedSlices
) -> Tensor | IndexedSlices:
    """Let a loop variable have this value in the next iteration.

    Args:
      start: the Merge that begins an iteration with the variable's value.
      value: IndexedSlices if `start` is, else a tensor or a value that is converted to one.

    Returns:
      The NextIteration.

    """
    if isinstance(start, IndexedSlices) and isinstance(value, IndexedSlices):
        pairs = zip(start.parts(), value.parts(), strict=True)
        return IndexedSlices(*(_next_tensor(first, second) for first, second in pairs))
    assert isinstance(start, Tensor)  # the caller has made IndexedSlices of the value
    return _next_tensor(start, value)


def _next_tensor(start: Tensor, value: Tensor | IndexedSlices) -> Tensor:
    values = value.values if isinstance(value, IndexedSlices) else value
    following = apply_unary(op_type_for("NextIteration", values), value)
    start.op._update_input(1, following)  # noqa: SLF001 - the loop is being made here
    return following


def _switched(value: Tensor, loop: Loop) -> list[Tensor]:
    return apply_op("Switch", {"data": value, "pred": loop.condition}, {}).outputs


def add_exit(loop: Loop, value: Tensor, name: str | None = None) -> Tensor:
    """The Exit by which a value leaves a loop."""
    left = apply_unary(op_type_for("Exit", value), value, name)
    loop.exits.append(left)
    loop.add_known_outside([left])
    return left


def add_forward_counter(loop: Loop, after: Operation | None) -> tuple[Tensor, Tensor]:
    """Count the iterations of a loop.

    Args:
      loop: the loop; called in the context around it.
      after: what the count waits for, so that one execution of the loop is over before the next.

    Returns:
      The number of iterations, outside the loop, and the count that the next iteration gets.

    """
    first = constant(0, name="f_count")
    if after is not None:
        first.op._add_control_input(after)  # noqa: SLF001 - it is being made here
    with loop.entered():
        loop.add_known_here(first)
        entered = loop.enter(first, name="f_count")
        loop.enters.append(entered)
        start = merged([entered, entered])
        off, on = _switched(start, loop)
        following = _next_tensor(start, add(on, 1))
        total = add_exit(loop, off, "f_count")
    return total, following


def add_backward_counter(loop: Loop, count: Tensor) -> tuple[Tensor, Tensor]:
    """Let a loop have `count` iterations, by counting down.

    Args:
      loop: the new backward loop; called in the context around it.
      count: the number of iterations, a scalar int32 tensor.

    Returns:
      The count that the next iteration gets, and the last count, outside the loop.

    """
    one = constant(1, name="b_count")
    with loop.entered():
        loop.add_known_here(count)
        entered = loop.enter(count, name="b_count")
        loop.enters.append(entered)
        start = merged([entered, entered])
        loop.set_pivot(start)
        condition = greater_equal(start, one)
        loop.condition = apply_op("LoopCond", {"input": condition}, {}, "b_count").outputs[0]
        off, on = _switched(start, loop)
        left = node("Sub", on, one)
        loop.set_pivot(left)
        following = _next_tensor(start, left)
        final = add_exit(loop, off, "b_count")
    return following, final


def accumulated_tensor(loop: Loop, op: Operation, grad: Tensor) -> Tensor:
    """The sum of the gradients of an invariant over all iterations.

    Args:
      loop: the backward loop; called in its context.
      op: the constant Enter of the invariant.
      grad: the gradient in one iteration.

    """
    with loop.suspended():
        total = _zeros(loop, op, grad)
    loop.add_known_here(total)
    entered = loop.enter(total, name="b_acc")
    loop.enters.append(entered)
    start = merged([entered, entered], "b_acc")
    off, on = _switched(start, loop)
    _next_tensor(start, add(on, grad))
    return add_exit(loop, off, "b_acc")


def _zeros(loop: Loop, op: Operation, grad: Tensor) -> Tensor:
    """The first value of a sum: zeros of the shape of the invariant."""
    if grad.shape.is_fully_defined():
        with loop.outer_entered():
            return constant(0, grad.dtype, shape=grad.shape.as_list(), name="b_acc")
    value, outer = op.inputs[0], loop.outer_context
    if isinstance(outer, Loop) and outer.gradient is not None:
        with loop.gradient.forward.outer_entered():
            shape = shape_internal(value, optimize=False)
        stack = outer.gradient.push(shape)
        with outer.entered():
            return zeros(outer.gradient.pop(stack, shape), grad.dtype)
    with loop.outer_entered():
        return zeros(shape_internal(value, optimize=False), grad.dtype)


def accumulated_slices(loop: Loop, op: Operation, grad: IndexedSlices) -> IndexedSlices:
    """The rows of the gradients of an invariant from all iterations, concatenated.

    Args:
      loop: as for `accumulated_tensor`.
      op: as for `accumulated_tensor`.
      grad: the gradient in one iteration.

    """
    with loop.suspended(), loop.outer_entered():
        firsts = _no_rows(op, grad)
    for first in firsts:
        loop.add_known_here(first)
    # Their shapes change from iteration to iteration.
    entered = [loop.enter(first, keeps_shape=False, name="b_acc") for first in firsts]
    entered[0].set_shape([None])
    if firsts[1].shape.ndims is not None:
        entered[1].set_shape([None, *firsts[1].shape.as_list()[1:]])
    loop.enters.extend(entered)
    starts = [merged([tensor, tensor], "b_acc") for tensor in entered]
    pairs = [_switched(start, loop) for start in starts]
    parts = [grad.indices, grad.values]
    sums = [concat([on, part], 0) for (_, on), part in zip(pairs, parts, strict=False)]
    if grad.dense_shape is not None:
        sums.append(maximum(grad.dense_shape, pairs[2][1]))
    following = [apply_unary("NextIteration", total) for total in sums]
    for start, total in zip(starts, following, strict=True):
        start.op._update_input(1, total)  # noqa: SLF001 - the loop is being made here
    exits = [apply_unary("Exit", off, "b_acc") for off, _ in pairs]
    loop.exits.extend(exits)
    loop.add_known_outside(exits)
    indices, values, *shape = exits
    return IndexedSlices(values, indices, *shape)


def _no_rows(op: Operation, grad: IndexedSlices) -> list[Tensor]:
    """The first accumulated rows, one row of zeros: indices, values and perhaps the shape."""
    known, dense_shape = grad.values.shape, grad.dense_shape
    if known.is_fully_defined():
        values = constant(0, grad.dtype, shape=[1, *known.as_list()[1:]], name="b_acc")
    else:
        values_shape = concat([[1], _shape(op.inputs[0])[1:]], 0)
        values = zeros(values_shape, dtype=grad.dtype)
    firsts = [constant([0], grad.indices.dtype), values]
    if dense_shape is None:
        return firsts
    if dense_shape.shape.is_fully_defined():
        first_shape = constant(0, dense_shape.dtype, shape=dense_shape.shape.as_list())
        return [*firsts, first_shape]
    shape = shape_internal(op.inputs[0], optimize=False, out_type=dense_shape.dtype)
    return [*firsts, zeros_like(shape, optimize=False)]


def _shape(value: Tensor) -> Tensor | TensorShape:
    """The shape of a value; for the handle of a variable that of the variable."""
    if value.dtype != dtypes.resource:
        return shape_internal(value, optimize=False)
    while value.op.inputs:
        value = value.op.inputs[0]
    return TensorShape(value.op.get_attr("shape"))
