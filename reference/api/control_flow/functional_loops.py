"""Loops as functions: one `While` operation, which calls the body while the condition is true.

Source: TF 2.21.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple
from weakref import WeakKeyDictionary

from sessrun.reference.api import nest
from sessrun.reference.api.control_flow.flow_values import flow_of, with_flow
from sessrun.reference.api.control_flow.functional_branches import squeezed_predicate
from sessrun.reference.api.control_flow.invariants import (
    invariants_of,
    is_within,
    shape_after_iteration,
)
from sessrun.reference.api.functions.branch_graphs import (
    BranchGraph,
    add_function,
    function_name,
    note_functions,
)
from sessrun.reference.api.functions.function_def_graphs import body_of_library
from sessrun.reference.base.dtypes import int32
from sessrun.reference.base.tensor_shape import TensorShape
from sessrun.reference.build.build import apply_op
from sessrun.reference.build.constant_op import constant
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.framework_ops import identity, placeholder
from sessrun.reference.build.generated import logical_and, stop_gradient
from sessrun.reference.build.shape_inference_values import note_kept_handles
from sessrun.reference.graph import default_graph
from sessrun.reference.graph.name_scopes import name_scope
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor
from sessrun.spec.proto import AttrValue

__all__ = ["LoopBodies", "bodies_of_loop", "functional_while", "loop_of"]


class LoopBodies(NamedTuple):
    """The functions of a loop.

    Attributes:
      condition: whether there is one more iteration.
      body: one iteration.

    """

    condition: BranchGraph
    body: BranchGraph


#: The functions of `While` operations, by operation.
_BODIES: Final[WeakKeyDictionary[Operation, LoopBodies]] = WeakKeyDictionary()

#: Before the loop's own variables come the number of the iteration and the most there may be.
_OWN: Final = 2


def functional_while(
    cond: Callable[..., object],
    body: Callable[..., object],
    loop_vars: object,
    shape_invariants: object,
    *,
    parallel_iterations: int,
    maximum_iterations: object,
    back_prop: bool,
    name: str | None,
    return_same_structure: bool,
) -> Any:
    """A `While` of functions; the arguments are those of `while_loop`.

    Raises:
      TypeError: a variable changes its dtype, or a function returns a value that is not a tensor.
      ValueError: the structures differ, or a variable does not keep its shape.

    """
    firsts = [
        tensor if flow_of(tensor) is not tensor else convert_to_tensor(tensor)
        for tensor in nest.flatten(loop_vars, expand_composites=True)
    ]
    packed = nest.pack_sequence_as(loop_vars, firsts, expand_composites=True)
    shapes, structure = invariants_of(packed, shape_invariants)
    variables = _Variables(structure, firsts, shapes)
    with name_scope(name or "while") as scope:
        most = -1 if maximum_iterations is None else maximum_iterations
        limit = convert_to_tensor(most, dtype=int32, name="maximum_iterations")
        count = constant(0, dtype=int32, name="loop_counter")
        own = [count, limit]
        goes_on = BranchGraph(function_name(scope, "cond"))
        goes_on.build(
            variables.condition(cond, maximum_iterations is not None),
            variables.arguments(goes_on, own),
        )
        following = BranchGraph(function_name(scope, "body"))
        following.is_loop_body = True
        following.build(variables.following(body, goes_on), variables.arguments(following, own))
        taken = list(following.extra_inputs)
        goes_on.take(taken, word=f"{goes_on.name}___redundant_placeholder")
        following.outputs += [inner for _, inner in following.captures]
        variables.check_shapes(following.outputs[_OWN:])
        given = [*own, *(flow_of(tensor) for tensor in firsts), *taken]
        _check_dtypes(following, given)
        kept = [tensor.shape for tensor in following.outputs]
        kept[_OWN : _OWN + len(shapes)] = shapes
        bodies = LoopBodies(goes_on, following)
        op = loop_of(given, bodies, kept, parallel_iterations, scope)
        is_plain = not default_graph.get_default_graph().building_function
        outputs = [identity(tensor) if is_plain else tensor for tensor in op.outputs]
    results: list[Any] = outputs[_OWN : _OWN + len(firsts)]
    if not back_prop:
        results = [stop_gradient(tensor) for tensor in results]
    result = variables.packed(results)
    flat = nest.flatten(result, expand_composites=True)
    return flat[0] if len(flat) == 1 and not return_same_structure else result


class _Variables:
    """The variables of a loop: how they are nested, and the shapes that they keep.

    Args:
      structure: the variables, as the program nests them.
      firsts: their first values, flat: tensors and arrays of them.
      shapes: the shape that a variable has in all iterations.

    """

    def __init__(
        self, structure: Any, firsts: Sequence[object], shapes: Sequence[TensorShape]
    ) -> None:
        self._structure = structure
        self._firsts = firsts
        self._shapes = shapes

    def packed(self, values: Sequence[Tensor]) -> Any:
        """Pack flat values like the structure of the loop variables."""
        pairs = zip(self._firsts, values, strict=True)
        leaves = [with_flow(first, value) for first, value in pairs]
        return nest.pack_sequence_as(self._structure, leaves, expand_composites=True)

    def arguments(self, body: BranchGraph, own: Sequence[Tensor]) -> list[Tensor]:
        """Placeholders for the loop's own variables and these; the body's arguments from now on."""
        with body.as_default():
            body.inputs = [
                placeholder(tensor.dtype, tensor.shape, tensor.op.name) for tensor in own
            ]
            body.inputs += [
                placeholder(flow_of(first).dtype.base_dtype, shape)
                for first, shape in zip(self._firsts, self._shapes, strict=True)
            ]
        return body.inputs

    def condition(self, cond: Callable[..., Any], is_limited: bool) -> Callable[..., Tensor]:
        """The condition as a function from all loop variables to a bool tensor."""

        def goes_on(count: Tensor, limit: Tensor, *values: Tensor) -> Any:
            pred = squeezed_predicate(cond(*self.packed(values)))
            return logical_and(count < limit, pred) if is_limited else pred

        return goes_on

    def following(
        self, body: Callable[..., Any], condition: BranchGraph
    ) -> Callable[..., list[Tensor]]:
        """The body as a function from all loop variables to their next values."""

        def following(count: Tensor, limit: Tensor, *values: Tensor) -> list[Tensor]:
            graph = default_graph.get_default_graph()
            assert isinstance(graph, BranchGraph)  # the body's
            for tensor in condition.extra_inputs:
                graph.capture(tensor)
            outputs = body(*self.packed(values))
            if not nest.is_nested(outputs):
                outputs = [outputs]
            nest.assert_same_structure(
                outputs,
                list(self._structure) if isinstance(outputs, list) else self._structure,
                check_types=False,
                expand_composites=True,
            )
            return [count + 1, limit, *outputs]

        return following

    def check_shapes(self, outputs: Sequence[Tensor]) -> None:
        """Refuse a loop variable whose shape after an iteration violates its invariant."""
        for output, shape, first in zip(outputs, self._shapes, self._firsts, strict=False):
            if not is_within(output.shape, shape):
                raise shape_after_iteration(f"`{flow_of(first).name}`", shape, output.shape)


def _check_dtypes(body: BranchGraph, given: Sequence[Tensor]) -> None:
    for argument, result, first in zip(body.inputs, body.outputs, given, strict=True):
        if argument.dtype != result.dtype:
            raise TypeError(
                f"Loop var {first.name} enters the loop with type {argument.dtype!r} but has type "
                f"{result.dtype!r} after 1 iteration. {first.name} type should remain constant."
            )


def bodies_of_loop(op: Operation) -> LoopBodies:
    """The functions of a loop.

    Raises:
      KeyError: its graph lacks one.

    """
    if op not in _BODIES:
        _BODIES[op] = LoopBodies(
            *(
                body_of_library(op, op.get_attr(key), op.inputs, is_captured=False)
                for key in ("cond", "body")
            )
        )
    return _BODIES[op]


def loop_of(
    given: Sequence[Tensor],
    bodies: LoopBodies,
    shapes: Sequence[TensorShape],
    parallel_iterations: int,
    name: str,
) -> Operation:
    """Build the `While` operation of a condition and a body.

    Args:
      given: the first values of the variables.
      bodies: the functions.
      shapes: the shapes of what it gives.
      parallel_iterations: how many iterations may run side by side.
      name: the operation's name.

    """
    graph = default_graph.get_default_graph()
    operations = [op for body in bodies for op in body.get_operations()]
    is_stateful = any(op.declaration.stateful for op in operations)
    attrs = {
        "cond": add_function(graph, bodies.condition),
        "body": add_function(graph, bodies.body),
        "output_shapes": list(shapes),
        "parallel_iterations": parallel_iterations,
    }
    op_type = "While" if is_stateful else "StatelessWhile"
    with graph.control_dependencies([op for body in bodies for op in body.waits_for]):
        op = apply_op(op_type, {"input": list(given)}, attrs, name)
    note_functions(op, bodies, 0)
    op._set_attr("_num_original_outputs", AttrValue(i=len(op.outputs)))  # noqa: SLF001 - TensorFlow's own name
    _BODIES[op] = bodies
    note_kept_handles(op)
    return op
