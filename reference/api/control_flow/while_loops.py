"""`while_loop`: a body that is executed as long as a condition holds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sessrun.reference.api import nest
from sessrun.reference.api.argument_types import TensorLike
from sessrun.reference.api.control_flow.flow_values import flow_of, with_flow
from sessrun.reference.api.control_flow.functional_loops import functional_while
from sessrun.reference.api.control_flow.functional_mode import is_functional
from sessrun.reference.api.control_flow.invariants import invariants_of
from sessrun.reference.api.control_flow.loops import Loop, LoopOptions
from sessrun.reference.api.variables.resource_variables import ResourceVariable
from sessrun.reference.base.graph_keys import GraphKeys
from sessrun.reference.base.tensor_shape import TensorShape
from sessrun.reference.build.build import apply_op
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.graph import default_graph
from sessrun.reference.graph.name_scopes import name_scope
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public

__all__ = ["read_outside", "while_loop"]


@public("while_loop")
def while_loop(
    cond: Callable[..., object],
    body: Callable[..., object],
    loop_vars: Any,
    shape_invariants: object = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    name: str | None = None,
    maximum_iterations: object = None,
    return_same_structure: bool = False,
) -> Any:
    """Execute `body` as long as `cond` holds.

    Args:
      cond: from the loop's variables to a bool scalar.
      body: from the loop's variables to their next values, of the same structure and dtypes.
      loop_vars: the variables' first values; they may be nested.
      shape_invariants: the shapes that hold in every iteration, nested as the variables are; by
        default those of the first values.
      parallel_iterations: how many iterations may run side by side.
      back_prop: whether gradients go back through it.
      swap_memory: whether values kept for gradients may leave the device.
      name: a name scope.
      maximum_iterations: the most iterations, or None.
      return_same_structure: whether one variable comes back in a list, too.

    Raises:
      TypeError: a function cannot be called, or the structures differ in kind.
      ValueError: there is no variable, the structures or shapes differ, or a shape is not what
        holds in every iteration.

    """
    if not callable(cond):
        raise TypeError("'cond' must be callable.")
    if not callable(body):
        raise TypeError("'body' must be callable.")
    if parallel_iterations < 1:
        raise TypeError("'parallel_iterations' must be a positive integer.")
    loop_vars = nest.map_structure(read_outside, loop_vars)
    if is_functional():
        return functional_while(
            cond,
            body,
            loop_vars,
            shape_invariants,
            parallel_iterations=parallel_iterations,
            maximum_iterations=maximum_iterations,
            back_prop=back_prop,
            name=name,
            return_same_structure=return_same_structure,
        )
    with name_scope(name, "while", loop_vars if isinstance(loop_vars, list | tuple) else None):
        if not loop_vars:
            raise ValueError("'loop_vars' must be provided.")
        is_single = len(loop_vars) == 1 and not return_same_structure
        if maximum_iterations is not None:
            limit = _limit(maximum_iterations)
            options = LoopOptions(parallel_iterations, back_prop, swap_memory, limit)
            counted = _counted(cond, body, loop_vars, limit, is_single=is_single)
            result = _built(*counted, shape_invariants, options, is_counted=True)
            return result[1]
        options = LoopOptions(parallel_iterations, back_prop, swap_memory)
        result = _built(cond, body, loop_vars, shape_invariants, options)
        return result[0] if is_single and len(nest.flatten(result, True)) == 1 else result


def read_outside(value: TensorLike) -> TensorLike:
    """Read a resource variable outside of the loop's scope; other values are unchanged."""
    return convert_to_tensor(value) if isinstance(value, ResourceVariable) else value


def _limit(maximum: object) -> Tensor:
    limit = convert_to_tensor(maximum, name="maximum_iterations")
    if limit.shape.ndims != 0:
        raise ValueError(f"'maximum_iterations' must be a scalar. Received shape: {limit.shape}")
    return limit


def _counted(
    cond: Callable[..., object],
    body: Callable[..., object],
    loop_vars: Any,
    limit: Tensor,
    *,
    is_single: bool,
) -> tuple[Any, Any, Any]:
    """The loop with an iteration counter as first variable, for `maximum_iterations`."""
    counter = convert_to_tensor(0, limit.dtype, name="iteration_counter")

    def args(values: TensorLike) -> Any:
        return (values,) if is_single else values

    def goes_on(count: TensorLike, values: TensorLike) -> Tensor:
        less = apply_op("Less", {"x": count, "y": limit}, {}).outputs[0]
        return apply_op("LogicalAnd", {"x": less, "y": cond(*args(values))}, {}).outputs[0]

    def following(count: Tensor, values: Tensor) -> Any:
        return count + 1, body(*args(values))

    return goes_on, following, (counter, loop_vars[0] if is_single else loop_vars)


def _built(
    cond: Callable[..., object],
    body: Callable[..., object],
    loop_vars: Any,
    invariants: Any,
    options: LoopOptions,
    *,
    is_counted: bool = False,
) -> Any:
    graph = default_graph.get_default_graph()
    loop = Loop(options)
    if loop.outer_context is None:
        graph.add_to_collection(GraphKeys.WHILE_CONTEXT, loop)
    if is_counted and invariants is not None:
        is_alone = len(invariants) == 1 and not isinstance(loop_vars[1], list | tuple)
        invariants = (TensorShape([]), invariants[0] if is_alone else invariants)
    variables = nest.flatten(loop_vars, expand_composites=True)
    variables = [
        tensor if flow_of(tensor) is not tensor else convert_to_tensor(tensor)
        for tensor in variables
    ]
    first = nest.pack_sequence_as(loop_vars, variables, expand_composites=True)
    held = invariants_of(first, invariants)
    with loop.entered():
        results, exits = loop.build(cond, body, held.structure, variables, held.shapes)
    leaves = nest.flatten(results, expand_composites=True)
    values = [with_flow(leaf, tensor) for leaf, tensor in zip(leaves, exits, strict=True)]
    return nest.pack_sequence_as(results, values, expand_composites=True)
