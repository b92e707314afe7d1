"""Kernels that call functions of the graph's library: the body runs within the step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sessrun.reference.kernels.registry import EVERY, Bind, Step, binder

__all__: list[str] = []


@binder(
    "PartitionedCall", "StatefulPartitionedCall",
    host_inputs=(EVERY,), host_outputs=(EVERY,), needs_step=True,
)  # fmt: skip
def call(bind: Bind) -> Callable[..., Any]:
    """Runs the function's body on the arguments; values go through host memory."""
    assert bind.function is not None  # within a session
    run = bind.function(bind.attrs["f"])

    def compute(step: Step, *inputs: Any) -> Any:
        results = run(step, inputs)
        return results[0] if len(results) == 1 else results

    return compute
