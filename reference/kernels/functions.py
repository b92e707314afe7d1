"""Kernels that call functions of the graph's library, within the step, and Python functions."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any, Final

from sessrun.reference.base.arrays import Array, ArrayModule
from sessrun.reference.base.kernel_errors import InvalidArgument
from sessrun.reference.kernels.attribute_text import attribute_text
from sessrun.reference.kernels.host import host_array, is_scalar
from sessrun.reference.kernels.input_shapes import require_rank
from sessrun.reference.kernels.registry import EVERY, Bind, KernelFunction, Step, binder, kernel
from sessrun.reference.state import scripts

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
def call(bind: Bind) -> KernelFunction:
    """Runs the function's body on the arguments; values go through host memory."""
    assert bind.function is not None  # within a session
    run = bind.function(bind.attrs["f"])

    def compute(step: Step, *inputs: Array) -> object:
        return _results(run(step, inputs))

    return compute


def _truth(value: Array) -> bool:
    """Whether a condition holds: a scalar that is not zero or empty, or a tensor with elements.

    Raises:
      InvalidArgument: the scalar's dtype has no truth value.

    """
    if is_scalar(value) and value.dtype.char == "?":  # most conditions are
        return bool(value)
    if value.ndim:
        return bool(value.size)
    if value.dtype.name not in _TRUE_OR_FALSE:
        raise InvalidArgument(f"{value.dtype.name} is unsupported by ToBool")
    return bool(value.item())


@kernel("ToBool", host_inputs=("input",), host_outputs=("output",))
def to_bool(_: ArrayModule, value: Array) -> Array:
    """Whether a value counts as true."""
    return host_array([_truth(value)], "bool").reshape(())


def _results(values: tuple[object, ...]) -> object:
    return values[0] if len(values) == 1 else values


@binder(
    "If",
    "StatelessIf",
    host_inputs=(EVERY,),
    host_outputs=(EVERY,),
    needs_step=True,
)
def branch(bind: Bind) -> KernelFunction:
    """Runs one of two functions, chosen by a condition."""
    attrs = bind.attrs
    on, off = (
        _bound(bind, attrs[name], attrs["Tin"], attrs["Tout"])
        for name in ("then_branch", "else_branch")
    )

    def compute(step: Step, cond: Array, *inputs: Array) -> object:
        return _results((on if _truth(cond) else off)(step, inputs))

    return compute


@binder(
    "Case",
    "StatelessCase",
    host_inputs=(EVERY,),
    host_outputs=(EVERY,),
    needs_step=True,
)
def case(bind: Bind) -> KernelFunction:
    """Runs the function with the given index; the last one if the index is out of range."""
    attrs = bind.attrs
    branches = [_bound(bind, body, attrs["Tin"], attrs["Tout"]) for body in attrs["branches"]]

    def compute(step: Step, index: Array, *inputs: Array) -> object:
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
def loop(bind: Bind) -> KernelFunction:
    """Runs the function `body` on its own results as long as the function `cond` returns true."""
    dtypes = bind.attrs["T"]
    assert bind.function is not None  # within a session
    condition_of = bind.function(
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

    def compute(step: Step, *values: Array) -> object:
        while _truth(condition_of(step, values)[0]):
            step.check()
            values = body(step, values)
        return _results(values)

    return compute


@binder("For", host_inputs=(EVERY,), host_outputs=(EVERY,), needs_step=True)
def for_loop(bind: Bind) -> KernelFunction:
    """Runs a function for the numbers of a range, on the number and its last results."""
    dtypes = bind.attrs["T"]
    assert bind.function is not None  # within a session
    body = bind.function(
        bind.attrs["body"],
        ["int32", *dtypes],
        dtypes,
        miscounted=f"For loop body returned {{}} arguments. Expected: {len(dtypes)}",
    )

    def compute(step: Step, start: Array, limit: Array, delta: Array, *values: Array) -> object:
        for name, value in (("start", start), ("limit", limit), ("delta", delta)):
            require_rank(0, **{name: value})
        first, last, by = int(start), int(limit), int(delta)
        if first != last and (last - first) * by <= 0:
            raise InvalidArgument(f"Invalid start/limit/delta: {first} {last} {by}")
        for number in range(first, last, by or 1):
            step.check()
            values = body(step, (host_array([number], "int32").reshape(()), *values))
        return _results(values)

    return compute


@binder("RemoteCall", host_inputs=(EVERY,), host_outputs=(EVERY,), needs_step=True)
def remote_call(bind: Bind) -> KernelFunction:
    """Runs a function's body on the device that its first input names."""
    attrs, bound = bind.attrs, {}
    assert bind.function is not None  # within a session
    function, binding = bind.function, threading.Lock()

    def compute(step: Step, target: Array, *inputs: Array) -> object:
        name = target.item().decode()
        with binding:
            if name not in bound:
                bound[name] = function(
                    attrs["f"], list(attrs["Tin"]), list(attrs["Tout"]), device=name
                )
        return _results(bound[name](step, inputs))

    return compute


@binder("SymbolicGradient", host_inputs=(EVERY,), host_outputs=(EVERY,), needs_step=True)
def gradient(bind: Bind) -> KernelFunction:
    """Runs the gradient of a function."""
    attrs = bind.attrs
    assert bind.function is not None  # within a session
    run = bind.function(attrs["f"], attrs["Tin"], attrs["Tout"], is_gradient=True)
    return lambda step, *inputs: _results(run(step, inputs))


def _bound(
    bind: Bind, function: object, takes: Sequence[str], gives: Sequence[str]
) -> Callable[..., tuple[Any, ...]]:
    assert bind.function is not None  # within a session
    return bind.function(function, list(takes), list(gives))


@binder("PyFunc", "PyFuncStateless", devices=("CPU",), needs_step=True)
def py_func(bind: Bind) -> KernelFunction:
    """Calls the function; `PyFuncStateless` without inputs in the first run only."""
    node, token, types = bind.node, attribute_text(bind.attrs["token"]), bind.attrs["Tout"]
    returns_the_same = node.type == "PyFuncStateless" and not bind.attrs["Tin"]
    known: list[object] = []

    def compute(step: Step, *inputs: Array) -> object:
        if known:
            return known[0]
        outputs = step.take(node.name, lambda: scripts.call(token, inputs, types))
        if returns_the_same:
            known.append(outputs)
        return outputs if types else None

    return compute
