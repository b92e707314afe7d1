"""Gradients of `While`: a backward loop with as many iterations as the forward loop, reversed.

The forward loop pushes the values that the gradients use onto tensor lists, from which the backward
loop pops them; values that are the same in all iterations are captured. Source: TF 2.21.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final
from weakref import WeakKeyDictionary

from sessrun.reference.api import nest
from sessrun.reference.api.control_flow.functional_loops import LoopBodies, bodies_of_loop, loop_of
from sessrun.reference.api.control_flow.functional_mode import outputs_intermediates
from sessrun.reference.api.functions.branch_graphs import BranchGraph, add_function, function_name
from sessrun.reference.api.ops.fill_ops import zeros_like
from sessrun.reference.api.ops.list_ops import empty_tensor_list, tensor_list_pop_back
from sessrun.reference.base import dtypes
from sessrun.reference.base.attributes import AttrValues
from sessrun.reference.build.constant_op import constant
from sessrun.reference.build.construction import make_operation
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.framework_ops import identity, placeholder
from sessrun.reference.build.gradient_nodes import gradient, node
from sessrun.reference.build.gradient_registry import Gradient
from sessrun.reference.build.signature import signature
from sessrun.reference.gradient.added_outputs import add_outputs
from sessrun.reference.gradient.backprop import gradients
from sessrun.reference.gradient.functional_branches import argument_of
from sessrun.reference.gradient.reachability import is_trainable
from sessrun.reference.gradient.variables import known_dtype, note_dtypes, zeros_behind
from sessrun.reference.graph.creation import frames_of_program
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor
from sessrun.spec.proto import AttrValue

#: Op types with small results. If a gradient applies one to a tensor of the forward loop's body, it
#: is computed there and its result pushed onto a list, rather than the tensor, unless the tensor is
#: on a list already.
_SMALL: Final = frozenset({"Rank", "Shape", "Size", "TensorListElementShape", "TensorListLength"})
#: An op type, a name and the inputs.
_OpKey = tuple[str, str, tuple[Tensor, ...]]
#: The operations with small results that were added to each loop body.
_SMALL_OPS: Final[WeakKeyDictionary[BranchGraph, dict[_OpKey, Operation]]] = WeakKeyDictionary()
#: The number of loop variables before the gradients: the iteration, the maximum of iterations, and
#: the number of iterations of the forward loop.
_COUNTERS: Final = 3


class _BackwardBody(BranchGraph):
    """The body of the backward loop.

    Args:
      name: the name of the function.
      op: the forward loop.
      forward: the forward loop's condition and body.

    Attributes:
      next: for each argument that an iteration changes, its value in the next iteration.
      lists: the empty tensor lists that the forward loop needs as further inputs.

    """

    is_loop_body = True

    def __init__(self, name: str, op: Operation, forward: LoopBodies) -> None:
        super().__init__(name)
        self.next: dict[Tensor, Tensor] = {}
        self.lists: list[Tensor] = []
        self._op = op
        self._forward = forward
        self._known: dict[Tensor, Tensor] = {}

    def operation_elsewhere(
        self, op_type: str, name: str, groups: list[Any], attrs: AttrValues
    ) -> Operation | None:
        """Make an operation with a small result in the forward body; None for other operations.

        None too if the operation's input is on a tensor list already.
        """
        body = self._forward.body
        tensors = nest.flatten(groups)
        if (
            op_type not in _SMALL
            or outputs_intermediates()
            or not all(x.graph is body and self._list_of(x) is None for x in tensors)
        ):
            return None
        known = _SMALL_OPS.setdefault(body, {})
        key = (op_type, name, tuple(tensors))
        if key not in known:
            with body.as_default():
                name = body.unique_full_name(name)
                known[key] = make_operation(
                    body, signature(op_type), name, groups, attrs, frames_of_program()
                )
        return known[key]

    def capture(self, tensor: Tensor, name: str | None = None) -> Tensor:
        """The tensor of this graph for an outer one; values of iterations are popped from lists."""
        if tensor.graph is not self._forward.body:
            return super().capture(tensor, name)
        name = name or tensor.op.name
        while tensor.op.type == "Identity":
            tensor = tensor.op.inputs[0]
        if tensor not in self._known:
            self._known[tensor] = self._value_of(tensor, name)
        return self._known[tensor]

    def _value_of(self, tensor: Tensor, name: str) -> Tensor:
        body = self._forward.body
        if tensor in body.inputs and tensor in body.outputs:
            return super().capture(tensor, name)
        if tensor.op.type == "Const":
            return constant(tensor.op.get_attr("value"), dtype=tensor.dtype)
        if tensor.dtype == dtypes.resource:
            return super().capture(self._op.inputs[body.inputs.index(argument_of(tensor))], name)
        kept = super().capture(self._pushed(tensor), name)
        value: Tensor
        rest, value = tensor_list_pop_back(kept, element_dtype=tensor.dtype)
        value.set_shape(tensor.shape)
        self.next[kept] = rest
        return value

    def _list_of(self, tensor: Tensor) -> Tensor | None:
        """The list that the forward loop already pushes a tensor of its body onto, or None."""
        body = self._forward.body
        # The last outputs may be lists that are not among the inputs yet.
        inputs = dict(zip(body.outputs, body.inputs, strict=False))
        for user in tensor.consumers():
            if user.type == "TensorListPushBack" and inputs.get(user.outputs[0]) is user.inputs[0]:
                return user.outputs[0]
        return None

    def _pushed(self, tensor: Tensor) -> Tensor:
        """The list, an output of the forward body, onto which a tensor of this body is pushed."""
        condition, body = self._forward
        known = self._list_of(tensor)
        if known is not None:
            return known
        outside = self._op.graph
        with outside.as_default(), outside.control_dependencies(None):
            name = f"{tensor.name}/accumulator".replace(":", "_")
            empty = empty_tensor_list(tensor.shape, tensor.dtype, self._op.inputs[1], name)
        self.lists.append(empty)
        with body.as_default():
            pushed = node("TensorListPushBack", empty, tensor)
        body.outputs.append(pushed)
        with condition.as_default():
            condition.capture(empty)
        return pushed


@gradient("StatelessWhile", "While")
def _while(op: Operation, *grads: Gradient) -> list[Tensor | None]:
    """The gradients of a loop's inputs.

    Args:
      op: the loop.
      *grads: the gradient of each output, or None.

    """
    forward = bodies_of_loop(op)
    note_dtypes(forward.body.inputs, map(known_dtype, op.inputs))
    by_output = {
        number: dense
        for number, grad in enumerate(grads)
        if (dense := _dense_gradient(op, number, grad)) is not None
    }
    firsts = [
        constant(0, dtype=op.outputs[0].dtype, name="grad_counter"),
        op.inputs[1],
        op.outputs[0],
        *by_output.values(),
    ]
    backward = _BackwardBody(function_name(f"{forward.body.name}_", "grad"), op, forward)
    _build(backward, forward.body, firsts, list(by_output))
    if backward.lists:
        _add_lists(op, forward, backward.lists)
    captured = [
        op.outputs[forward.body.outputs.index(tensor)] if tensor.graph is forward.body else tensor
        for tensor in backward.extra_inputs
    ]
    condition = BranchGraph(function_name(f"{forward.condition.name}_", "grad"))
    with condition.as_default():
        condition.inputs = [_placeholder_like(tensor) for tensor in (*firsts, *captured)]
    condition.build(lambda count, _, total, *__: identity(count < total), condition.inputs)
    outputs = loop_of(
        [*firsts, *captured],
        LoopBodies(condition, backward),
        [tensor.shape for tensor in backward.outputs],
        op.get_attr("parallel_iterations"),
        f"{op.name}_grad",
    ).outputs
    results = [identity(tensor) for tensor in outputs][_COUNTERS:]
    by_input = dict(zip(by_output, results, strict=False))
    return [by_input.get(number) for number in range(len(op.inputs))]


def _dense_gradient(op: Operation, number: int, grad: Gradient) -> Tensor | None:
    """The gradient of an output as a tensor, zeros for None; None for a dtype without gradients."""
    output = op.outputs[number]
    if not is_trainable(output):
        return None
    if grad is None and output.dtype == dtypes.resource:
        dtype = known_dtype(op.inputs[number])
        return None if dtype is None else zeros_behind(output, dtype)
    return zeros_like(output) if grad is None else convert_to_tensor(grad)


def _placeholder_like(tensor: Tensor) -> Tensor:
    return placeholder(tensor.dtype.base_dtype, tensor.shape)


def _build(
    backward: _BackwardBody, body: BranchGraph, firsts: Sequence[Tensor], numbers: Sequence[int]
) -> None:
    """Build the body of the backward loop.

    Args:
      backward: the body of the backward loop.
      body: the body of the forward loop.
      firsts: the initial values of the backward loop's variables.
      numbers: the indices of the forward loop's variables that have gradients.

    """
    ys, xs = ([tensors[number] for number in numbers] for tensors in (body.outputs, body.inputs))
    with backward.as_default():
        backward.inputs = [_placeholder_like(tensor) for tensor in firsts]

    def next_values(count: Tensor, limit: Tensor, total: Tensor, *grads: Tensor) -> list[Tensor]:
        by_xs = gradients(ys, xs, list(grads), unconnected_gradients="zero")
        values = [count + 1, limit, total, *(convert_to_tensor(grad) for grad in by_xs)]
        return [identity(value) for value in values]  # where TensorFlow waits for effects

    backward.build(next_values, list(backward.inputs))
    backward.outputs += [backward.next.get(arg, arg) for arg in backward.extra_args]


def _add_lists(op: Operation, forward: LoopBodies, lists: Sequence[Tensor]) -> None:
    """Add tensor lists to a loop's variables; its rewritten functions get new names."""
    for body in forward:
        body.rewritten()
    functions = {
        "cond": add_function(op.graph, forward.condition),
        "body": add_function(op.graph, forward.body),
    }
    add_outputs(op, [(dtypes.variant, ())] * len(lists), functions, lists)
    op._set_attr("_num_original_outputs", AttrValue(i=len(op.outputs)))  # noqa: SLF001 - only gradients change an operation
