"""Kernels that call functions of the graph's library: the body runs within the step."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Final

from sessrun.reference.base.kernel_errors import InvalidArgument
from sessrun.reference.kernels.host import host_array
from sessrun.reference.kernels.registry import EVERY, Bind, Step, binder, kernel

__all__: list[str] = []

_TRUE_OR_FALSE: Final = frozenset(
    {
        "float32",
        "float64",
        "int8",
        "int16",
        "int32",
        "int64",
        "uint8",
        "bool",
        "object",
    }
)


@binder(
    "PartitionedCall",
    "StatefulPartitionedCall",
    host_inputs=(EVERY,),
    host_outputs=(EVERY,),
    needs_step=True,
)
def call(bind: Bind) -> Callable[..., Any]:
    """Runs the function's body on the arguments; values go through host memory."""
    assert bind.function is not None  # within a session
    run = bind.function(bind.attrs["f"])

    def compute(step: Step, *inputs: Any) -> Any:
        return _results(run(step, inputs))

    return compute


def _truth(value: Any) -> bool:
    """Whether a condition holds: a scalar that is not zero or empty, or any element at all.

    Raises:
      InvalidArgument: for a scalar of another dtype than these.

    """
    if value.ndim:
        return bool(value.size)
    if value.dtype.name not in _TRUE_OR_FALSE:
        raise InvalidArgument(f"{value.dtype.name} is unsupported by ToBool")
    return bool(value.item())


@kernel("ToBool", host_inputs=("input",), host_outputs=("output",))
def to_bool(_: Any, value: Any) -> Any:
    """Whether a value counts as true."""
    return host_array([_truth(value)], "bool").reshape(())


def _results(values: Any) -> Any:
    return values[0] if len(values) == 1 else values


@binder(
    "If",
    "StatelessIf",
    host_inputs=(EVERY,),
    host_outputs=(EVERY,),
    needs_step=True,
)
def branch(bind: Bind) -> Callable[..., Any]:
    """Runs one of two functions."""
    attrs = bind.attrs
    on, off = (
        _bound(bind, attrs[name], attrs["Tin"], attrs["Tout"])
        for name in ("then_branch", "else_branch")
    )

    def compute(step: Step, cond: Any, *inputs: Any) -> Any:
        return _results((on if _truth(cond) else off)(step, inputs))

    return compute


@binder(
    "Case",
    "StatelessCase",
    host_inputs=(EVERY,),
    host_outputs=(EVERY,),
    needs_step=True,
)
def case(bind: Bind) -> Callable[..., Any]:
    """Runs the function of a number; the last one if there is none of that number."""
    attrs = bind.attrs
    branches = [_bound(bind, each, attrs["Tin"], attrs["Tout"]) for each in attrs["branches"]]

    def compute(step: Step, index: Any, *inputs: Any) -> Any:
        number = int(index.reshape(-1)[0])
        within = 0 <= number < len(branches)
        return _results(branches[number if within else -1](step, inputs))

    return compute


@binder(
    "While",
    "StatelessWhile",
    host_inputs=(EVERY,),
    host_outputs=(EVERY,),
    needs_step=True,
)
def loop(bind: Bind) -> Callable[..., Any]:
    """Runs a function again and again on what it returned, as long as another one says so."""
    dtypes = bind.attrs["T"]
    assert bind.function is not None  # within a session
    goes_on = bind.function(
        bind.attrs["cond"],
        dtypes,
        ["bool"],
        miscounted="Expected a single scalar return value from the condition, got {} tensors.",
        wanted=None,
    )
    body = bind.function(
        bind.attrs["body"],
        dtypes,
        dtypes,
        miscounted=f"While loop body returned {{}} arguments. Expected: {len(dtypes)}",
    )

    def compute(step: Step, *values: Any) -> Any:
        while _truth(goes_on(step, values)[0]):
            step.check()
            values = body(step, values)
        return _results(values)

    return compute


@binder("For", host_inputs=(EVERY,), host_outputs=(EVERY,), needs_step=True)
def each_number(bind: Bind) -> Callable[..., Any]:
    """Runs a function for each number of a range, on the number and what it returned before."""
    dtypes = bind.attrs["T"]
    assert bind.function is not None  # within a session
    body = bind.function(
        bind.attrs["body"],
        ["int32", *dtypes],
        dtypes,
        miscounted=f"For loop body returned {{}} arguments. Expected: {len(dtypes)}",
    )

    def compute(step: Step, start: Any, limit: Any, delta: Any, *values: Any) -> Any:
        for name, value in (("start", start), ("limit", limit), ("delta", delta)):
            if value.ndim:
                raise InvalidArgument(f"{name} must be a scalar")
        first, last, by = int(start), int(limit), int(delta)
        if first != last and (last - first) * by <= 0:
            raise InvalidArgument(f"Invalid start/limit/delta: {first} {last} {by}")
        for number in range(first, last, by or 1):
            step.check()
            values = body(step, (host_array([number], "int32").reshape(()), *values))
        return _results(values)

    return compute


@binder("RemoteCall", host_inputs=(EVERY,), host_outputs=(EVERY,), needs_step=True)
def remote_call(bind: Bind) -> Callable[..., Any]:
    """Runs a function's body on the device that its first input names."""
    attrs, bound = bind.attrs, {}
    assert bind.function is not None  # within a session
    function, binding = bind.function, threading.Lock()

    def compute(step: Step, target: Any, *inputs: Any) -> Any:
        name = target.item().decode()
        with binding:
            if name not in bound:
                bound[name] = function(
                    attrs["f"], list(attrs["Tin"]), list(attrs["Tout"]), device=name
                )
        return _results(bound[name](step, inputs))

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
