"""Gradients of loops that are functions: a loop that goes back as often.

What the way back needs of each iteration the loop pushes onto lists, which the way back pops;
values that no iteration changes it takes as they are. Source: TF 2.21.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final
from weakref import WeakKeyDictionary

from sessrun.reference.api import nest
from sessrun.reference.api.control_flow.functional_loops import LoopBodies, bodies_of_loop, loop_of
from sessrun.reference.api.control_flow.functional_mode import gives_all
from sessrun.reference.api.functions.branch_graphs import BranchGraph, add_function, function_name
from sessrun.reference.api.ops.fill_ops import zeros_like
from sessrun.reference.api.ops.list_ops import empty_tensor_list, tensor_list_pop_back
from sessrun.reference.base import dtypes
from sessrun.reference.build.constant_op import constant
from sessrun.reference.build.construction import make_operation
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.framework_ops import identity, placeholder
from sessrun.reference.build.gradient_nodes import gradient, node
from sessrun.reference.build.signature import signature
from sessrun.reference.gradient.functional_branches import argument_of
from sessrun.reference.gradient.reach import is_trainable
from sessrun.reference.gradient.variables import known_dtype, tell_dtypes, zeros_behind
from sessrun.reference.gradient.widening import widen
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor
from sessrun.spec.proto import AttrValue

__all__: list[str] = []

#: What tells little of a tensor: it is kept instead of the tensor, where that is not kept as well.
_SMALL: Final = frozenset({"Rank", "Shape", "Size", "TensorListElementShape", "TensorListLength"})
#: Such operations of bodies, by type, name and inputs.
_MADE: Final[WeakKeyDictionary[BranchGraph, dict[Any, Operation]]] = WeakKeyDictionary()
#: Before the gradients come the number of the iteration, the most there may be, and how many
#: there are.
_OWN: Final = 3


class _Backward(BranchGraph):
    """The body of the way back.

    Args:
      name: what the function is called.
      op: the loop.
      forward: its condition and body.

    Attributes:
      next: for an argument that an iteration changes, what it is in the next one.
      lists: the empty lists that the loop must be given.

    """

    is_loop_body = True

    def __init__(self, name: str, op: Operation, forward: LoopBodies) -> None:
        super().__init__(name)
        self.next: dict[Tensor, Tensor] = {}
        self.lists: list[Tensor] = []
        self._op = op
        self._forward = forward
        self._known: dict[Tensor, Tensor] = {}

    def made_elsewhere(
        self, op_type: str, name: str, groups: list[Any], attrs: dict[str, Any]
    ) -> Operation | None:
        """What is small of a tensor of an iteration that is not kept: the loop's body makes it."""
        body = self._forward.body
        tensors = nest.flatten(groups)
        if (
            op_type not in _SMALL
            or gives_all()
            or not all(each.graph is body and self._list_of(each) is None for each in tensors)
        ):
            return None
        known = _MADE.setdefault(body, {})
        key = (op_type, name, tuple(tensors))
        if key not in known:
            with body.as_default():
                known[key] = make_operation(
                    body, signature(op_type), body.unique_full_name(name), groups, attrs
                )
        return known[key]

    def capture(self, tensor: Tensor, name: str | None = None) -> Tensor:
        """What stands here for a tensor: for one of an iteration what was kept of it."""
        if tensor.graph is not self._forward.body:
            return super().capture(tensor, name)
        name = name or tensor.op.name
        while tensor.op.type == "Identity":
            tensor = tensor.op.inputs[0]
        if tensor not in self._known:
            self._known[tensor] = self._taken(tensor, name)
        return self._known[tensor]

    def _taken(self, tensor: Tensor, name: str) -> Tensor:
        body = self._forward.body
        if tensor in body.inputs and tensor in body.outputs:
            return super().capture(tensor, name)
        if tensor.op.type == "Const":
            return constant(tensor.op.get_attr("value"), dtype=tensor.dtype)
        if tensor.dtype == dtypes.resource:
            return super().capture(self._op.inputs[body.inputs.index(argument_of(tensor))], name)
        kept = super().capture(self._pushed(tensor), name)
        rest, value = tensor_list_pop_back(kept, element_dtype=tensor.dtype)
        value.set_shape(tensor.shape)
        self.next[kept] = rest
        found: Tensor = value
        return found

    def _list_of(self, tensor: Tensor) -> Tensor | None:
        """The list of the values of a tensor that the loop gives already."""
        body = self._forward.body
        # Behind the outputs may be lists that the condition has not been given yet.
        kept = dict(zip(body.outputs, body.inputs, strict=False))
        for user in tensor.consumers():
            if user.type == "TensorListPushBack" and kept.get(user.outputs[0]) is user.inputs[0]:
                return user.outputs[0]
        return None

    def _pushed(self, tensor: Tensor) -> Tensor:
        """The list of the values of a tensor in each iteration, which the loop gives."""
        goes_on, body = self._forward
        known = self._list_of(tensor)
        if known is not None:
            return known
        outside = self._op.graph
        with outside.as_default(), outside.control_dependencies(None):
            name = f"{tensor.name}/accumulator".replace(":", "_")
            empty = empty_tensor_list(tensor.shape, tensor.dtype, self._op.inputs[1], name)
        self.lists.append(empty)
        with body.as_default():
            pushed: Tensor = node("TensorListPushBack", empty, tensor)
        body.outputs.append(pushed)
        with goes_on.as_default():
            goes_on.capture(empty)
        return pushed


@gradient("StatelessWhile", "While")
def _while(op: Operation, *grads: Any) -> list[Any]:
    """The gradients of a loop's inputs.

    Args:
      op: the loop.
      *grads: for each of its outputs the gradient, or None.

    """
    forward = bodies_of_loop(op)
    tell_dtypes(forward.body.inputs, map(known_dtype, op.inputs))
    size = len(op.outputs)
    known = [_known(op, number, grads[number]) for number in range(size)]
    traced = [number for number, each in enumerate(known) if each is not None]
    firsts = [
        constant(0, dtype=op.outputs[0].dtype, name="grad_counter"),
        op.inputs[1],
        op.outputs[0],
        *(known[number] for number in traced),
    ]
    back = _Backward(function_name(f"{forward.body.name}_", "grad"), op, forward)
    _build(back, forward.body, firsts, traced)
    if back.lists:
        _give_lists(op, forward, back.lists)
    taken = [
        op.outputs[forward.body.outputs.index(each)] if each.graph is forward.body else each
        for each in back.extra_inputs
    ]
    goes_on = BranchGraph(function_name(f"{forward.condition.name}_", "grad"))
    with goes_on.as_default():
        goes_on.inputs = [_like(each) for each in (*firsts, *taken)]
    goes_on.build(lambda count, _, total, *__: identity(count < total), goes_on.inputs)
    made = loop_of(
        [*firsts, *taken],
        LoopBodies(goes_on, back),
        [each.shape for each in back.outputs],
        op.get_attr("parallel_iterations"),
        f"{op.name}_grad",
    ).outputs
    found = [identity(each) for each in made][_OWN:]
    by_number = dict(zip(traced, found, strict=False))
    return [by_number.get(number) for number in range(len(op.inputs))]


def _known(op: Operation, number: int, grad: Any) -> Any:
    """The gradient of an output, dense; zeros for what has none and may get one."""
    output = op.outputs[number]
    if not is_trainable(output):
        return None
    if grad is None and output.dtype == dtypes.resource:
        dtype = known_dtype(op.inputs[number])
        return None if dtype is None else zeros_behind(output, dtype)
    return zeros_like(output) if grad is None else convert_to_tensor(grad)


def _like(tensor: Tensor) -> Tensor:
    return placeholder(tensor.dtype.base_dtype, tensor.shape)


def _build(
    back: _Backward, body: BranchGraph, firsts: Sequence[Tensor], traced: Sequence[int]
) -> None:
    """Make the operations of the way back through one iteration."""
    # What goes back through a graph asks for this function.
    from sessrun.reference.gradient.backprop import gradients  # noqa: PLC0415 - as told

    ys, xs = ([tensors[number] for number in traced] for tensors in (body.outputs, body.inputs))
    with back.as_default():
        back.inputs = [_like(each) for each in firsts]

    def following(count: Tensor, limit: Tensor, total: Tensor, *weights: Tensor) -> list[Any]:
        made = gradients(ys, xs, list(weights), unconnected_gradients="zero")
        found = [count + 1, limit, total, *(convert_to_tensor(each) for each in made)]
        return [identity(each) for each in found]  # where TensorFlow waits for effects

    back.build(following, list(back.inputs))
    back.outputs += [back.next.get(each, each) for each in back.extra_args]


def _give_lists(op: Operation, forward: LoopBodies, lists: Sequence[Tensor]) -> None:
    """Give a loop more lists, and its functions anew."""
    for body in forward:
        body.rewritten()
    functions = {
        "cond": add_function(op.graph, forward.condition),
        "body": add_function(op.graph, forward.body),
    }
    widen(op, [(dtypes.variant, ())] * len(lists), functions, lists)
    op._set_attr("_num_original_outputs", AttrValue(i=len(op.outputs)))  # noqa: SLF001 - it is made anew here
