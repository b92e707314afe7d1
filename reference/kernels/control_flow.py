"""Kernels of control flow: placeholders for what a plan executes itself, and identities.

Switch, Merge and the operations at the borders of frames are not functions of their inputs: the
plan of a run does what they do (`session/plan/dataflow_compiler.py`); their kernels, never called,
only allow placement.
"""

from __future__ import annotations

from sessrun.reference.base.arrays import Array, ArrayModule
from sessrun.reference.base.flow_ops import FLOW
from sessrun.reference.base.kernel_errors import InvalidArgument
from sessrun.reference.graph.node_summary import bracketed
from sessrun.reference.kernels.registry import Bind, KernelFunction, VariableBuffer, binder, kernel


@binder(*sorted(FLOW), host_inputs=("pred",), host_outputs=("value_index",))
def flow(bind: Bind) -> KernelFunction:
    """Never called."""

    def refuse(*_: object) -> Array:
        raise AssertionError(f"{bind.node.type} is not a function of its inputs")

    return refuse


@binder("LoopCond", host_inputs=("input",), host_outputs=("output",))
@binder("DebugGradientRefIdentity", "RefIdentity")
def same(_: Bind) -> KernelFunction:
    """The input unchanged."""
    return lambda value: value


@binder("ControlTrigger")
def trigger(_: Bind) -> KernelFunction:
    """Does nothing."""
    return lambda: None


@kernel("RefSelect", host_inputs=("index",))
def selected(_: ArrayModule, index: Array, *references: VariableBuffer) -> VariableBuffer:
    """The reference at the index; all must be initialized, as in TensorFlow."""
    for reference in references:
        reference.read()
    if index.ndim:
        shape = bracketed(index.shape)
        raise InvalidArgument(f"the index must be a scalar, not of shape {shape}")
    number, count = int(index), len(references)
    if not 0 <= number < count:
        raise InvalidArgument(f"the index must be in [0, {count}), not {number}")
    return references[number]
