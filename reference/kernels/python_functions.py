"""Kernels that call Python functions: always on the host. Source: TF 2.21."""

from __future__ import annotations

from sessrun.reference.base.arrays import Array
from sessrun.reference.kernels.attribute_text import attribute_text
from sessrun.reference.kernels.registry import Bind, KernelFunction, Step, binder
from sessrun.reference.state import scripts


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
