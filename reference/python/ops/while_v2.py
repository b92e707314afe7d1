"""`while_v2`: loops as functions, whatever is switched on."""

from __future__ import annotations

from typing import Any

from sessrun.reference import nest
from sessrun.reference.control_flow.functional_loops import functional_while
from sessrun.reference.control_flow.while_loops import read_outside

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
        cond, body, nest.map_structure(read_outside, loop_vars), shape_invariants,
        parallel_iterations=parallel_iterations, maximum_iterations=maximum_iterations,
        back_prop=back_prop, name=name, return_same_structure=return_same_structure,
    )  # fmt: skip
