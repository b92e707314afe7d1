"""`while_v2`: loops as functions, whatever is switched on."""

from __future__ import annotations

from typing import Any

from sessrun.reference.api import nest
from sessrun.reference.api.control_flow.functional_loops import bodies_of_loop, functional_while
from sessrun.reference.api.control_flow.while_loops import read_outside
from sessrun.reference.api.functions.branch_graphs import BranchGraph
from sessrun.reference.graph.operation import Operation

__all__ = ["while_loop"]


def while_loop(
    cond: Any,
    body: Any,
    loop_vars: Any,
    shape_invariants: Any = None,
    parallel_iterations: int = 10,
    maximum_iterations: Any = None,
    name: str | None = None,
    return_same_structure: bool = True,
    back_prop: bool = True,
) -> Any:
    """What a body makes of the variables; the arguments are those of `tf.while_loop`."""
    return functional_while(
        cond,
        body,
        nest.map_structure(read_outside, loop_vars),
        shape_invariants,
        parallel_iterations=parallel_iterations,
        maximum_iterations=maximum_iterations,
        back_prop=back_prop,
        name=name,
        return_same_structure=return_same_structure,
    )


def _get_graph(while_op: Operation, func_attr_name: str, attr_graph_name: str) -> BranchGraph:
    """The graph of a loop's `cond` or `body`; the last argument is not used."""
    del attr_graph_name
    bodies = bodies_of_loop(while_op)
    if bodies is None:
        raise ValueError(f"{while_op.name} has functions that say what must run besides.")
    return bodies.condition if func_attr_name == "cond" else bodies.body
