"""Gradients of branches that are functions: of the one that was taken, derived when it is run."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple
from weakref import WeakKeyDictionary

from sessrun.reference import dtypes, stacks
from sessrun.reference.build import apply_op
from sessrun.reference.control_flow.functional_branches import bodies_of, kind_of
from sessrun.reference.differentiation.effects import lifted
from sessrun.reference.differentiation.functional_branches import gradients_of_branches
from sessrun.reference.differentiation.nodes import gradient, node
from sessrun.reference.differentiation.reach import is_trainable
from sessrun.reference.differentiation.variables import gradient_dtypes
from sessrun.reference.differentiation.widening import widen
from sessrun.reference.framework_ops import identity, placeholder
from sessrun.reference.functions.branch_graphs import add_function
from sessrun.reference.functions.func_graph import FuncGraph
from sessrun.reference.graph import Graph
from sessrun.reference.operation import Operation
from sessrun.reference.tensor import Tensor
from sessrun.spec.proto import NameAttrList

__all__ = ["derived", "function_of", "known_gradients"]

_NUMBERS: Final = itertools.count()


def function_of(
    graph: Graph, name: str, taken: Sequence[Tensor], build: Callable[..., Sequence[Tensor]]
) -> NameAttrList:
    """A new function of a graph's library.

    Args:
      graph: the graph.
      name: what its name begins with.
      taken: tensors like its arguments.
      build: from the arguments to the results.

    """
    body = FuncGraph(f"{name}_{next(_NUMBERS)}")
    with body.as_default():
        body.inputs = [placeholder(each.dtype.base_dtype, each.shape) for each in taken]
        body.outputs = list(build(*body.inputs))
    return add_function(graph, body)


def derived(function: NameAttrList, inputs: Sequence[Tensor], gives: Sequence[Any]) -> list[Tensor]:
    """The gradients of a function by its arguments.

    Args:
      function: the function.
      inputs: the arguments, then for each result what it is multiplied by.
      gives: the dtypes of the gradients.

    """
    attrs = {"Tout": list(gives), "f": function}
    return list(apply_op("SymbolicGradient", {"input": list(inputs)}, attrs).outputs)


def known_gradients(outputs: Sequence[Tensor], grads: Sequence[Any]) -> list[Tensor]:
    """The gradients of results; zeros where there is none, and of a handle itself."""
    return [
        output if grad is None and output.dtype == dtypes.resource
        else apply_op("ZerosLike", {"x": output}, {}).outputs[0] if grad is None else grad
        for output, grad in zip(outputs, grads, strict=True)
    ]  # fmt: skip


class _Branches(NamedTuple):
    """The branches of an operation, as they are derived.

    Attributes:
      again: for each branch the function that is executed once more.
      places: for each branch, where among `kept` what its effects gave stands.
      kept: what the effects of all branches gave, zeros where another one was taken.

    """

    again: list[NameAttrList]
    places: list[range]
    kept: list[Tensor]


_BRANCHES: Final[WeakKeyDictionary[Operation, _Branches]] = WeakKeyDictionary()


def _keeping(op: Operation) -> _Branches:
    """Let an operation give what the effects of its branches gave; once for all gradients."""
    if op in _BRANCHES:
        return _BRANCHES[op]
    count, graph = len(op.outputs), op.graph
    parts = [lifted(graph, function) for function in kind_of(op).functions_of(op)]
    kinds = [kind for _, _, more in parts for kind in more]
    ends = list(itertools.accumulate((len(more) for _, _, more in parts), initial=0))
    places = [range(start, end) for start, end in itertools.pairwise(ends)]
    if kinds:
        made = []
        for (telling, _, more), mine in zip(parts, places, strict=True):

            def build(*args: Tensor, telling: Any = telling, more: Any = more,
                      mine: Any = mine) -> list[Tensor]:  # fmt: skip
                gives = [*(each.dtype.base_dtype for each in op.outputs[:count]), *more]
                call = {"f": telling, "Tout": gives}
                found = list(apply_op("StatefulPartitionedCall", {"args": args}, call).outputs)
                kept = iter(found[count:])
                others = [next(kept) if place in mine else node("FakeParam", dtype=kind, shape=[])
                          for place, kind in enumerate(kinds)]  # fmt: skip
                return [*found[:count], *others]

            with graph.as_default():
                made.append(function_of(graph, f"{telling.name}_kept", op.inputs[1:], build))
        widen(op, [(kind, None) for kind in kinds], kind_of(op).told(made))
    again = [function for _, function, _ in parts]
    found = _BRANCHES[op] = _Branches(again, places, op.outputs[count:])
    return found


def _backward(
    function: NameAttrList, taken: list[Tensor], grads: list[Tensor], kept: list[Tensor],
    mine: range,
) -> NameAttrList:  # fmt: skip
    """A function from arguments, gradients of results and what effects gave to gradients."""
    gives, graph = gradient_dtypes(taken), stacks.get_default_graph()
    more = [kept[place].dtype.base_dtype for place in mine]

    def build(*inputs: Tensor) -> list[Tensor]:
        args, weights = inputs[: len(taken)], inputs[len(taken) : len(taken) + len(grads)]
        given = [inputs[len(taken) + len(grads) + place] for place in mine]
        found = derived(function, [*args, *given, *weights], [*gives, *more])
        return [value for tensor, value in zip(taken, found, strict=False) if is_trainable(tensor)]

    return function_of(graph, f"{function.name}_grad", [*taken, *grads, *kept], build)


@gradient("Case", "If", "StatelessCase", "StatelessIf")
def _of_branches(op: Operation, *grads: Any) -> Any:
    """The gradients by the arguments, by an operation of the same type."""
    if bodies_of(op):
        return gradients_of_branches(op, grads)
    again, places, kept = _keeping(op)
    count = len(op.outputs) - len(kept)
    known, taken = known_gradients(op.outputs[:count], grads[:count]), list(op.inputs[1:])
    made = [_backward(function, taken, known, kept, mine)
            for function, mine in zip(again, places, strict=True)]  # fmt: skip
    wanted = [each for each in taken if is_trainable(each)]
    values = {
        **kind_of(op).told(made),
        "Tout": gradient_dtypes(wanted),
        "output_shapes": [None if each.dtype == dtypes.resource else each.shape
                          for each in wanted],
    }  # fmt: skip
    inputs = {kind_of(op).chosen_by: op.inputs[0], "input": [*taken, *known, *kept]}
    found = iter(apply_op(op.type, inputs, values, "gradient").outputs)
    return [None, *(identity(next(found)) if is_trainable(each) else None for each in taken)]
