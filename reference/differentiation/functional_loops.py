"""Gradients of loops whose condition and body are functions.

The loop is made to count its iterations and to keep, in lists, what its variables were in each; a
second loop goes back through them, and derives the body when it is run.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from typing import Any, Final, NamedTuple
from weakref import WeakKeyDictionary

from sessrun.reference import dtypes
from sessrun.reference.build import apply_op
from sessrun.reference.constant_op import constant
from sessrun.reference.control_flow.functional_loops import bodies_of_loop
from sessrun.reference.differentiation.effects import lifted
from sessrun.reference.differentiation.functional import (
    derived,
    function_of,
    known_gradients,
)
from sessrun.reference.differentiation.loops_made_here import gradients_of_loop
from sessrun.reference.differentiation.nodes import gradient, node
from sessrun.reference.differentiation.reach import is_trainable
from sessrun.reference.differentiation.variables import gradient_dtypes
from sessrun.reference.differentiation.widening import widen
from sessrun.reference.framework_ops import identity
from sessrun.reference.operation import Operation
from sessrun.reference.ops.fill_ops import zeros
from sessrun.reference.ops.list_ops import empty_tensor_list, tensor_list_pop_back
from sessrun.reference.ops.math_ops import add
from sessrun.reference.ops.shape_ops import variable_shape
from sessrun.reference.stacks import get_default_graph
from sessrun.reference.tensor import Tensor
from sessrun.spec.proto import NameAttrList

__all__: list[str] = []


class _Kept(NamedTuple):
    """What a loop keeps for its gradients.

    Attributes:
      size: how many variables it had before.
      body: the body that it had before, to be executed again.
      times: how many iterations there were.
      lists: by the number of a variable, what it was in each iteration; behind these what the
        effects of the body gave.
      kinds: the dtypes of the variables and of what the effects gave.

    """

    size: int
    body: NameAttrList
    times: Tensor
    lists: dict[int, Tensor]
    kinds: list[Any]


_KEPT: Final[WeakKeyDictionary[Operation, _Kept]] = WeakKeyDictionary()


def _changing(op: Operation) -> list[int]:
    """The numbers of the variables that an iteration may change, and that are no handles."""
    definition = op.graph.functions.definition(op.get_attr("body").name)
    if definition is None:
        raise LookupError(f"Function '{op.get_attr('body').name}' is not defined")
    pairs = zip(definition.signature.input_arg, definition.signature.output_arg, strict=True)
    same = [definition.ret.get(result.name) == arg.name for arg, result in pairs]
    return [number for number, tensor in enumerate(op.inputs)
            if tensor.dtype != dtypes.resource and not same[number]]  # fmt: skip


def _keeping(op: Operation) -> _Kept:
    """Let a loop keep what its gradients need; once for all of them."""
    if op in _KEPT:
        return _KEPT[op]
    size, changing, graph = len(op.inputs), _changing(op), op.graph
    cond, (body, again, more) = op.get_attr("cond"), lifted(graph, op.get_attr("body"))
    kinds = [*(tensor.dtype.base_dtype for tensor in op.inputs), *more]
    changing += range(size, len(kinds))
    context = op._control_flow_context  # noqa: SLF001 - the two belong together
    with graph.as_default(), nullcontext() if context is None else context.entered():
        firsts = [constant(0), *(empty_tensor_list(None, kinds[each]) for each in changing)]

        def goes_on(*values: Tensor) -> list[Tensor]:
            return _called(op, cond, values[:size], [dtypes.bool_])

        def following(*values: Tensor) -> list[Tensor]:
            count, *lists = values[size:]
            results = _called(op, body, values[:size], kinds)
            known = [*values[:size], *results[size:]]
            pushed = [node("TensorListPushBack", each, known[number])
                      for each, number in zip(lists, changing, strict=True)]  # fmt: skip
            return [*results[:size], add(count, 1), *pushed]

        wide = [*op.inputs, *firsts]
        functions = {"cond": function_of(graph, f"{cond.name}_kept", wide, goes_on),
                     "body": function_of(graph, f"{body.name}_kept", wide, following)}  # fmt: skip
    widen(op, [(first.dtype, ()) for first in firsts], functions, firsts)
    count, *lists = op.outputs[size:]
    found = _KEPT[op] = _Kept(size, again, count, dict(zip(changing, lists, strict=True)), kinds)
    return found


def _called(
    op: Operation, function: NameAttrList, values: Sequence[Tensor], gives: Sequence[Any]
) -> list[Tensor]:
    kind = "PartitionedCall" if op.type == "StatelessWhile" else "StatefulPartitionedCall"
    attrs = {"f": function, "Tout": list(gives)}
    return list(apply_op(kind, {"args": list(values)}, attrs).outputs)


def _is_zeros(grad: Any, output: Tensor) -> bool:
    """Whether a gradient stands for there being none."""
    return bool(grad.op.type == "ZerosLike" and grad.op.inputs[0] is output)


@gradient("StatelessWhile", "While")
def _while(op: Operation, *grads: Any) -> Any:
    if bodies_of_loop(op) is not None:
        return gradients_of_loop(op, grads)
    size, body, count, lists, kinds = _keeping(op)
    kept = zip(op.outputs[size + 1 :], grads[size + 1 :], strict=False)
    if any(grad is not None and not _is_zeros(grad, output) for output, grad in kept):
        raise LookupError(f"The gradient of loop '{op.name}' has no gradient itself.")
    variables, outputs = op.inputs[:size], op.outputs[:size]
    gives = gradient_dtypes(variables)
    is_handle = [each.dtype == dtypes.resource for each in variables]
    handles = [number for number in range(size)
               if is_handle[number] and gives[number] != dtypes.resource]  # fmt: skip
    traced = [number for number in range(size)
              if is_trainable(variables[number]) and not is_handle[number]]  # fmt: skip
    fixed = [number for number in range(size) if number not in lists]
    firsts = [
        count,
        *known_gradients([outputs[each] for each in traced], [grads[each] for each in traced]),
        *(zeros(variable_shape(variables[each]), gives[each]) for each in handles),
        *lists.values(), *(variables[each] for each in fixed),
    ]  # fmt: skip

    def goes_on(left: Tensor, *_: Tensor) -> list[Tensor]:
        return [node("Greater", left, constant(0))]

    def following(left: Tensor, *values: Tensor) -> list[Tensor]:
        rest = iter(values)
        weights = {number: next(rest) for number in traced}
        sums = {number: next(rest) for number in handles}
        popped = {number: tensor_list_pop_back(next(rest), kinds[number])
                  for number in lists}  # fmt: skip
        same = {number: next(rest) for number in fixed}
        args = [same[number] if number in same else popped[number][1]
                for number in range(len(kinds))]  # fmt: skip
        inputs = [*args, *(weights.get(number, args[number]) for number in range(size))]
        found = derived(body, inputs, [*gives, *kinds[size:]])
        return [
            node("Sub", left, constant(1)), *(found[number] for number in traced),
            *(add(total, found[number]) for number, total in sums.items()),
            *(popped[number][0] for number in lists), *same.values(),
        ]  # fmt: skip

    graph = get_default_graph()
    functions = {
        "cond": function_of(graph, f"{body.name}_grad_cond", firsts, goes_on),
        "body": function_of(graph, f"{body.name}_grad_body", firsts, following),
    }
    made = apply_op(op.type, {"input": firsts}, functions, "gradient").outputs[1:]
    by_number = dict(zip([*traced, *handles], map(identity, made), strict=False))
    return [by_number.get(number) for number in range(len(op.inputs))]
