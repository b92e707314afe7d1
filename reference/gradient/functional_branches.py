"""Gradients of branches that are functions: each has one of its gradients.

What these need of the way forth the operation gives too, wrapped as optional values, which only the
branch that was taken has. Source: TF 2.21.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from sessrun.reference.api import nest
from sessrun.reference.api.control_flow.functional_branches import (
    COND,
    bodies_of,
    joined_branches,
    kind_of,
    pad,
)
from sessrun.reference.api.control_flow.values import as_indexed_slices
from sessrun.reference.api.functions.branch_graphs import BranchGraph, add_function, function_name
from sessrun.reference.api.ops.fill_ops import zeros, zeros_like
from sessrun.reference.base import dtypes
from sessrun.reference.build.build import apply_op
from sessrun.reference.build.constant_op import constant
from sessrun.reference.build.framework_ops import identity
from sessrun.reference.build.gradient_nodes import gradient
from sessrun.reference.build.indexed_slices import IndexedSlices
from sessrun.reference.build.static_values import handle_shape
from sessrun.reference.gradient.reach import is_trainable
from sessrun.reference.gradient.variables import variable_dtype, zeros_behind
from sessrun.reference.gradient.widening import widen
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor

__all__ = ["GradientGraph", "argument_of"]


#: What wraps a value as one that may be there or not.
_SOME: Final = "OptionalFromValue"


class GradientGraph(BranchGraph):
    """The gradients of a branch, which may take what the branch computes.

    Args:
      name: what the function is called.
      forward: the branch.

    Attributes:
      kept: for tensors of the branch that are taken, the optional values that it must return.
      is_rewriting: whether the branch does not return all of them yet.

    """

    def __init__(self, name: str, forward: BranchGraph) -> None:
        super().__init__(name)
        self.kept: dict[Tensor, Tensor] = {}
        self.is_rewriting = False
        self._forward = forward
        self._unwrapped: dict[Tensor, Tensor] = {}

    def capture(self, tensor: Tensor, name: str | None = None) -> Tensor:
        """What stands here for a tensor: for one that the branch computes its unwrapped value."""
        forward = self._forward
        if tensor.graph is not forward or tensor in forward.inputs or tensor in forward.outputs:
            return super().capture(tensor, name)
        if tensor not in self._unwrapped:
            self._unwrapped[tensor] = self._taken(tensor, name or tensor.op.name)
        return self._unwrapped[tensor]

    def _taken(self, tensor: Tensor, name: str) -> Tensor:
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
            found = [each for each in wrapped if each in self._forward.outputs]
            if not found:
                with self._forward.as_default():
                    found = apply_op(_SOME, {"components": [tensor]}, {}).outputs
                self.is_rewriting = True
            self.kept[tensor] = found[0]
        return self.kept[tensor]


def argument_of(handle: Tensor) -> Tensor:
    """The argument of a branch that a handle within it comes from.

    Raises:
      LookupError: it comes from no argument.

    """
    found = handle
    while found.op.type in {"Identity", "StatelessWhile", "While"}:
        found = found.op.inputs[found.value_index]
    if found.op.type != "Placeholder":
        raise LookupError(f"{handle} is the handle of no resource that is an argument.")
    return found


@gradient("Case", "If", "StatelessCase", "StatelessIf")
def _of_branches(op: Operation, *grads: Any) -> list[Any]:
    """The gradients of the inputs of an operation that calls one of its branches.

    Args:
      op: the operation.
      *grads: for each of its outputs the gradient, or None.

    """
    kind = kind_of(op)
    forward = bodies_of(op)
    backward = [_backward(body, grads) for body in forward]
    _fill(forward, backward)
    if any(body.is_rewriting for body in backward):
        _rewrite(op, forward, backward)
    given = [
        [_outside(op, body, tensor) for tensor in back.extra_inputs]
        for body, back in zip(forward, backward, strict=True)
    ]
    _make_rows_alike(backward)
    name = None if kind is COND else "gradient"
    return [None, *joined_branches(kind, op.inputs[0], backward, name, given)]


def _backward(forward: BranchGraph, grads: Sequence[Any]) -> GradientGraph:
    """The gradients of a branch's arguments."""
    # What goes back through a graph asks for this function.
    from sessrun.reference.gradient.backprop import gradients  # noqa: PLC0415 - as told

    pairs = [(y, grad) for y, grad in zip(forward.outputs, grads, strict=True) if is_trainable(y)]
    body = GradientGraph(function_name(f"{forward.name}_", "grad"), forward)

    def build() -> list[Any]:
        made = gradients([y for y, _ in pairs], list(forward.inputs), [grad for _, grad in pairs])
        return [_returned(each) for each in made]

    body.build(build)
    return body


def _returned(value: Any) -> Any:
    """An identity of a result; TensorFlow makes one of each, and waits for effects there."""
    return None if value is None else identity(value)


def _fill(forward: Sequence[BranchGraph], backward: Sequence[GradientGraph]) -> None:
    """Zeros where an argument has a gradient in another branch, but not in this one."""
    for number, column in enumerate(zip(*(body.structure for body in backward), strict=True)):
        if any(each is not None for each in column):
            for body, back, each in zip(forward, backward, column, strict=True):
                if each is None:
                    with back.as_default():
                        back.structure[number] = _zeros_like(body.inputs[number])
    for back in backward:
        _return_structure(back)


def _zeros_like(argument: Tensor) -> Tensor:
    if argument.dtype != dtypes.resource:
        return zeros_like(argument)
    sizes = handle_shape(argument)
    if sizes is None or None in sizes:
        return zeros_behind(argument, variable_dtype(argument))
    return zeros(sizes, variable_dtype(argument))


def _return_structure(body: BranchGraph) -> None:
    leaves = nest.flatten(body.structure, expand_composites=True)
    body.outputs = [body.capture(leaf) for leaf in leaves if leaf is not None]


def _rewrite(
    op: Operation, forward: Sequence[BranchGraph], backward: Sequence[GradientGraph]
) -> None:
    """Let an operation give what its branches keep: as many values as the one that keeps most."""
    for body, back in zip(forward, backward, strict=True):
        body.outputs += back.kept.values()
        body.rewritten()
    pad(forward)
    outputs = forward[0].outputs
    told = kind_of(op).told([add_function(op.graph, body) for body in forward])
    widen(
        op,
        [(dtypes.variant, ())] * (len(outputs) - len(op.outputs)),
        {"output_shapes": [each.sizes for each in outputs], **told},
    )


def _outside(op: Operation, forward: BranchGraph, tensor: Tensor) -> Tensor:
    """What the operation is given, or gives, for a tensor of a branch; others are themselves."""
    if tensor.graph is not forward:
        return tensor
    if tensor in forward.outputs:
        return op.outputs[forward.outputs.index(tensor)]
    return op.inputs[1 + forward.inputs.index(tensor)]


def _make_rows_alike(backward: Sequence[GradientGraph]) -> None:
    """Make rows of a gradient where another branch has rows."""
    for number, column in enumerate(zip(*(body.structure for body in backward), strict=True)):
        if any(isinstance(each, IndexedSlices) for each in column):
            for back, each in zip(backward, column, strict=True):
                if isinstance(each, Tensor):
                    with back.as_default():
                        back.structure[number] = as_indexed_slices(each)
    for back in backward:
        _return_structure(back)


@gradient("OptionalFromValue")
def _wrap(op: Operation, grad: Any) -> Any:
    attrs = {
        "output_types": [each.dtype for each in op.inputs],
        "output_shapes": [each.shape for each in op.inputs],
    }
    return list(apply_op("OptionalGetValue", {"optional": grad}, attrs).outputs)


@gradient("OptionalGetValue")
def _unwrap(_op: Operation, *grads: Any) -> Any:
    return apply_op("OptionalFromValue", {"components": list(grads)}, {}).outputs[0]
