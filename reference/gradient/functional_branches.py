"""Gradients of `If` and `Case`: each branch function gets a function that computes its gradients.

The operation also outputs what these need of the values that its branches compute: as optional
values, which are empty unless their branch was taken. Source: TF 2.21.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from sessrun.reference.api import nest
from sessrun.reference.api.control_flow.flow_values import as_indexed_slices
from sessrun.reference.api.control_flow.functional_branches import (
    COND,
    bodies_of,
    build_branch_op,
    kind_of,
    pad,
)
from sessrun.reference.api.functions.branch_graphs import BranchGraph, add_function, function_name
from sessrun.reference.api.ops.fill_ops import zeros, zeros_like
from sessrun.reference.base import dtypes
from sessrun.reference.build.build import apply_op
from sessrun.reference.build.constant_op import constant
from sessrun.reference.build.framework_ops import identity
from sessrun.reference.build.gradient_nodes import gradient
from sessrun.reference.build.gradient_registry import Gradient
from sessrun.reference.build.indexed_slices import IndexedSlices
from sessrun.reference.build.shape_inference_values import handle_shape
from sessrun.reference.gradient.added_outputs import add_outputs
from sessrun.reference.gradient.backprop import gradients
from sessrun.reference.gradient.reachability import is_trainable
from sessrun.reference.gradient.variables import variable_dtype, zeros_behind
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor

__all__ = ["GradientGraph", "argument_of"]

#: The op type that makes an optional value of a tensor.
_SOME: Final = "OptionalFromValue"


class GradientGraph(BranchGraph):
    """The gradients of a branch, which may use the tensors that the branch computes.

    Args:
      name: the name of the function.
      forward: the branch.

    Attributes:
      kept: for each tensor of the branch that is used, the optional value that it must return.
      is_rewriting: whether the branch does not return all of them yet.

    """

    def __init__(self, name: str, forward: BranchGraph) -> None:
        super().__init__(name)
        self.kept: dict[Tensor, Tensor] = {}
        self.is_rewriting = False
        self._forward = forward
        self._unwrapped: dict[Tensor, Tensor] = {}

    def capture(self, tensor: Tensor, name: str | None = None) -> Tensor:
        """The tensor of this graph for one outside; for one of the branch its unwrapped value."""
        forward = self._forward
        if tensor.graph is not forward or tensor in forward.inputs or tensor in forward.outputs:
            return super().capture(tensor, name)
        if tensor not in self._unwrapped:
            self._unwrapped[tensor] = self._value_of(tensor, name or tensor.op.name)
        return self._unwrapped[tensor]

    def _value_of(self, tensor: Tensor, name: str) -> Tensor:
        if tensor.op.type == "Const":
            return constant(tensor.op.get_attr("value"), dtype=tensor.dtype)
        if tensor.dtype == dtypes.resource:
            return super().capture(argument_of(tensor), name)
        optional = super().capture(self._wrapped(tensor), name)
        attrs = {"output_types": [tensor.dtype], "output_shapes": [tensor.shape]}
        return apply_op("OptionalGetValue", {"optional": optional}, attrs).outputs[0]

    def _wrapped(self, tensor: Tensor) -> Tensor:
        """The tensor as an optional value of the branch, which it returns from now on."""
        if tensor not in self.kept:
            wrapped = [op.outputs[0] for op in tensor.consumers() if op.type == _SOME]
            returned = [optional for optional in wrapped if optional in self._forward.outputs]
            if not returned:
                with self._forward.as_default():
                    returned = apply_op(_SOME, {"components": [tensor]}, {}).outputs
                self.is_rewriting = True
            self.kept[tensor] = returned[0]
        return self.kept[tensor]


def argument_of(handle: Tensor) -> Tensor:
    """The argument of a function that a resource handle within it is passed on from.

    Raises:
      LookupError: the handle does not come from an argument.

    """
    tensor = handle
    while tensor.op.type in {"Identity", "StatelessWhile", "While"}:
        tensor = tensor.op.inputs[tensor.value_index]
    if tensor.op.type != "Placeholder":
        raise LookupError(f"{handle} is the handle of no resource that is an argument.")
    return tensor


@gradient("Case", "If", "StatelessCase", "StatelessIf")
def _branch(op: Operation, *grads: Gradient) -> list[Gradient]:
    """The gradients of the inputs of an operation that calls one of its branches.

    Args:
      op: the operation.
      *grads: for each of its outputs the gradient, or None.

    """
    kind = kind_of(op)
    forward = bodies_of(op)
    backward = [_gradient_graph(body, grads) for body in forward]
    _fill_with_zeros(forward, backward)
    if any(body.is_rewriting for body in backward):
        _return_kept(op, forward, backward)
    captured = [
        [_outer_tensor(op, body, tensor) for tensor in gradient_body.extra_inputs]
        for body, gradient_body in zip(forward, backward, strict=True)
    ]
    _match_slices(backward)
    name = None if kind is COND else "gradient"
    return [None, *build_branch_op(kind, op.inputs[0], backward, name, captured)]


def _gradient_graph(forward: BranchGraph, grads: Sequence[Gradient]) -> GradientGraph:
    """The graph of the gradients of a branch's arguments."""
    pairs = [(y, grad) for y, grad in zip(forward.outputs, grads, strict=True) if is_trainable(y)]
    body = GradientGraph(function_name(f"{forward.name}_", "grad"), forward)

    def build() -> list[Gradient]:
        by_arguments = gradients(
            [y for y, _ in pairs], list(forward.inputs), [grad for _, grad in pairs]
        )
        return [_returned(grad) for grad in by_arguments]

    body.build(build)
    return body


def _returned(grad: Gradient) -> Gradient:
    """An identity of a result; TensorFlow makes one of each, and waits for effects there."""
    return None if grad is None else identity(grad)


def _fill_with_zeros(forward: Sequence[BranchGraph], backward: Sequence[GradientGraph]) -> None:
    """Return zeros where an argument has a gradient in another branch, but not in this one."""
    for number, column in enumerate(zip(*(body.structure for body in backward), strict=True)):
        if any(grad is not None for grad in column):
            for body, gradient_body, grad in zip(forward, backward, column, strict=True):
                if grad is None:
                    with gradient_body.as_default():
                        gradient_body.structure[number] = _zeros_like(body.inputs[number])
    for gradient_body in backward:
        _return_structure(gradient_body)


def _zeros_like(argument: Tensor) -> Tensor:
    if argument.dtype != dtypes.resource:
        return zeros_like(argument)
    sizes = handle_shape(argument)
    if sizes is None or None in sizes:
        return zeros_behind(argument, variable_dtype(argument))
    return zeros(sizes, variable_dtype(argument))


def _return_structure(body: BranchGraph) -> None:
    """Let a function return the tensors of its structure."""
    leaves = nest.flatten(body.structure, expand_composites=True)
    body.outputs = [body.capture(leaf) for leaf in leaves if leaf is not None]


def _return_kept(
    op: Operation, forward: Sequence[BranchGraph], backward: Sequence[GradientGraph]
) -> None:
    """Let an operation output its branches' kept values; branches with fewer are filled up."""
    for body, gradient_body in zip(forward, backward, strict=True):
        body.outputs += gradient_body.kept.values()
        body.rewritten()
    pad(forward)
    outputs = forward[0].outputs
    functions = kind_of(op).function_attrs([add_function(op.graph, body) for body in forward])
    add_outputs(
        op,
        [(dtypes.variant, ())] * (len(outputs) - len(op.outputs)),
        {"output_shapes": [tensor.sizes for tensor in outputs], **functions},
    )


def _outer_tensor(op: Operation, forward: BranchGraph, tensor: Tensor) -> Tensor:
    """The output or input of the operation for a tensor of a branch; any other is itself."""
    if tensor.graph is not forward:
        return tensor
    if tensor in forward.outputs:
        return op.outputs[forward.outputs.index(tensor)]
    return op.inputs[1 + forward.inputs.index(tensor)]


def _match_slices(backward: Sequence[GradientGraph]) -> None:
    """Make IndexedSlices of a gradient where another branch has IndexedSlices."""
    for number, column in enumerate(zip(*(body.structure for body in backward), strict=True)):
        if any(isinstance(grad, IndexedSlices) for grad in column):
            for gradient_body, grad in zip(backward, column, strict=True):
                if isinstance(grad, Tensor):
                    with gradient_body.as_default():
                        gradient_body.structure[number] = as_indexed_slices(grad)
    for gradient_body in backward:
        _return_structure(gradient_body)


@gradient("OptionalFromValue")
def _optional_from_value(op: Operation, grad: Tensor) -> list[Tensor]:
    attrs = {
        "output_types": [tensor.dtype for tensor in op.inputs],
        "output_shapes": [tensor.shape for tensor in op.inputs],
    }
    return list(apply_op("OptionalGetValue", {"optional": grad}, attrs).outputs)


@gradient("OptionalGetValue")
def _optional_get_value(_op: Operation, *grads: Tensor) -> Tensor:
    return apply_op("OptionalFromValue", {"components": list(grads)}, {}).outputs[0]
