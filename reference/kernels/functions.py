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
        return _results(run(step, inputs))

    return compute


def _truth(value: Any) -> bool:
    """Whether a condition holds: a scalar that is not zero or empty, or any element at all."""
    return bool(value.size) if value.ndim else bool(value.item())


def _results(values: Any) -> Any:
    return values[0] if len(values) == 1 else values


@binder(
    "If", "StatelessIf", host_inputs=(EVERY,), host_outputs=(EVERY,), needs_step=True,
)  # fmt: skip
def branch(bind: Bind) -> Callable[..., Any]:
    """Runs one of two functions."""
    attrs = bind.attrs
    on, off = (_bound(bind, attrs[name], attrs["Tin"], attrs["Tout"])
               for name in ("then_branch", "else_branch"))  # fmt: skip

    def compute(step: Step, cond: Any, *inputs: Any) -> Any:
        return _results((on if _truth(cond) else off)(step, inputs))

    return compute


@binder(
    "Case", "StatelessCase", host_inputs=(EVERY,), host_outputs=(EVERY,), needs_step=True,
)  # fmt: skip
def case(bind: Bind) -> Callable[..., Any]:
    """Runs the function of a number; the last one if there is none of that number."""
    attrs = bind.attrs
    branches = [_bound(bind, each, attrs["Tin"], attrs["Tout"]) for each in attrs["branches"]]

    def compute(step: Step, index: Any, *inputs: Any) -> Any:
        number = int(index)
        within = 0 <= number < len(branches)
        return _results(branches[number if within else -1](step, inputs))

    return compute


@binder(
    "While", "StatelessWhile", host_inputs=(EVERY,), host_outputs=(EVERY,), needs_step=True,
)  # fmt: skip
def loop(bind: Bind) -> Callable[..., Any]:
    """Runs a function again and again on what it returned, as long as another one says so."""
    dtypes = bind.attrs["T"]
    assert bind.function is not None  # within a session
    goes_on = bind.function(bind.attrs["cond"], dtypes, ["bool"])
    body = _bound(bind, bind.attrs["body"], dtypes, dtypes)

    def compute(step: Step, *values: Any) -> Any:
        while _truth(goes_on(step, values)[0]):
            step.check()
            values = body(step, values)
        return _results(values)

    return compute


@binder("SymbolicGradient", host_inputs=(EVERY,), host_outputs=(EVERY,), needs_step=True)
def gradient(bind: Bind) -> Callable[..., Any]:
    """Runs the gradient of a function."""
    attrs = bind.attrs
    assert bind.function is not None  # within a session
    run = bind.function(attrs["f"], attrs["Tin"], attrs["Tout"], is_gradient=True)
    return lambda step, *inputs: _results(run(step, inputs))


def _bound(bind: Bind, function: Any, takes: Any, gives: Any) -> Callable[..., Any]:
    assert bind.function is not None  # within a session
    return bind.function(function, list(takes), list(gives))
