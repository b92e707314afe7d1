"""Gradients of branches that are functions: of the one that was taken, derived when it is run."""

from __future__ import annotations

import itertools
from typing import Any, Final

from sessrun.reference import stacks
from sessrun.reference.build import apply_op
from sessrun.reference.control_flow.switch_case import add_function
from sessrun.reference.differentiation.nodes import gradient
from sessrun.reference.differentiation.reach import is_trainable
from sessrun.reference.framework_ops import identity, placeholder
from sessrun.reference.functions.func_graph import FuncGraph
from sessrun.reference.operation import Operation
from sessrun.reference.tensor import Tensor
from sessrun.spec.proto import NameAttrList

__all__: list[str] = []

_NUMBERS: Final = itertools.count()


def _backward(function: NameAttrList, taken: list[Tensor], grads: list[Tensor]) -> NameAttrList:
    """A function from arguments and gradients of results to gradients of the arguments."""
    graph = stacks.get_default_graph()
    body = FuncGraph(f"{function.name}_grad_{next(_NUMBERS)}")
    with body.as_default():
        body.inputs = [placeholder(each.dtype.base_dtype, each.shape) for each in (*taken, *grads)]
        attrs = {"Tout": [each.dtype.base_dtype for each in taken], "f": function}
        found = apply_op("SymbolicGradient", {"input": body.inputs}, attrs).outputs
        pairs = zip(taken, found, strict=True)
        body.outputs = [value for tensor, value in pairs if is_trainable(tensor)]
    return add_function(graph, body)


def _called(op: Operation, name: str, chosen: Tensor, grads: Any, functions: dict[str, Any]) -> Any:
    """The gradients by the arguments, by the operation of the same type."""
    taken = list(op.inputs[1:])
    wanted = [each for each in taken if is_trainable(each)]
    attrs = {
        **functions, "Tout": [each.dtype.base_dtype for each in wanted],
        "output_shapes": [each.shape for each in wanted],
    }  # fmt: skip
    inputs = {name: chosen, "input": [*taken, *grads]}
    found = iter(apply_op(op.type, inputs, attrs, "gradient").outputs)
    return [None, *(identity(next(found)) if is_trainable(each) else None for each in taken)]


def _known(op: Operation, grads: Any) -> list[Tensor]:
    """The gradients of the results; zeros where there is none."""
    pairs = zip(op.outputs, grads, strict=True)
    return [apply_op("ZerosLike", {"x": output}, {}).outputs[0] if grad is None else grad
            for output, grad in pairs]  # fmt: skip


@gradient("Case", "StatelessCase")
def _case(op: Operation, *grads: Any) -> Any:
    known, taken = _known(op, grads), list(op.inputs[1:])
    branches = [_backward(each, taken, known) for each in op.get_attr("branches")]
    return _called(op, "branch_index", op.inputs[0], known, {"branches": branches})


@gradient("If", "StatelessIf")
def _if(op: Operation, *grads: Any) -> Any:
    known, taken = _known(op, grads), list(op.inputs[1:])
    names = ("then_branch", "else_branch")
    branches = {name: _backward(op.get_attr(name), taken, known) for name in names}
    return _called(op, "cond", op.inputs[0], known, branches)
