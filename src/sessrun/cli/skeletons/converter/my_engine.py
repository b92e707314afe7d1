"""The adapter of an engine that converts a graph and compiles it; numpy stands for the engine.

`OPERATIONS` is what it declares. To put your engine there: `compile` builds your model of the nodes
of a part, and the function that it returns runs the model.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

import numpy as np

from sessrun.adapters.backend import Description
from sessrun.adapters.client_layer import (
    ClientLayer,
    Endpoint,
    EngineError,
    EngineSession,
    NotOfferedError,
)
from sessrun.adapters.client_layer.compiled import CompiledSession, Program
from sessrun.adapters.client_layer.graph import Part, constant_of, inputs_of
from sessrun.spec.dtypes import BY_ENUM
from sessrun.spec.proto import ConfigProto, GraphDef, NodeDef

#: Computes a node of the values of its inputs.
Kernel = Callable[..., np.ndarray]
FLOATS: Final = frozenset({"float32"})
NUMBERS: Final = FLOATS | {"int32"}
#: What a configuration may say without changing what a run gives.
HARMLESS: Final = frozenset({"allow_soft_placement", "log_device_placement"})
#: Operations that need not be declared: every engine has them.
FREE: Final[Mapping[str, Kernel]] = {
    "Const": constant_of,
    "Identity": lambda _, x: x,
}


def _sum(node: NodeDef, x: np.ndarray, axes: np.ndarray) -> np.ndarray:
    chosen = tuple(int(axis) for axis in axes.reshape(-1))
    if any(not -x.ndim <= axis < x.ndim for axis in chosen):
        raise EngineError(3, f"there is no axis {chosen} of {x.ndim}", node.name)
    total: np.ndarray = np.sum(x, axis=chosen, keepdims=node.attr["keep_dims"].b, dtype=x.dtype)
    return total


def _transposed(matrix: np.ndarray, *, transposed: bool) -> np.ndarray:
    return matrix.T if transposed else matrix


def _matrix_product(node: NodeDef, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    if a.ndim != 2 or b.ndim != 2:
        raise EngineError(3, "MatMul takes two matrices", node.name)
    left = _transposed(a, transposed=node.attr["transpose_a"].b)
    right = _transposed(b, transposed=node.attr["transpose_b"].b)
    product: np.ndarray = left @ right
    return product


#: Op type to what computes it, and the dtypes of its attribute T: measured, not hoped for.
OPERATIONS: Final[Mapping[str, tuple[Kernel, frozenset[str]]]] = {
    "AddV2": (lambda _, x, y: x + y, NUMBERS),
    "MatMul": (_matrix_product, FLOATS),
    "Mul": (lambda _, x, y: x * y, NUMBERS),
    "Neg": (lambda _, x: -x, NUMBERS),
    "Reshape": (lambda _, x, shape: x.reshape(shape), NUMBERS),
    "Square": (lambda _, x: x * x, NUMBERS),
    "Sub": (lambda _, x, y: x - y, NUMBERS),
    "Sum": (_sum, FLOATS),
}


class Engine:
    """The engine below the client (`sessrun.adapters.client_layer.GraphEngine`)."""

    def describe(self) -> Description:
        """Who this is, and what it computes."""
        operations = {op: sorted(dtypes) for op, (_, dtypes) in OPERATIONS.items()}
        # Axes and shapes may be fed here. Where your engine needs them as constants, leave
        # `fed_structure` out, and decline what has others.
        capabilities = frozenset({"fed_structure"})
        return Description("my_engine", "0.1", capabilities, operations=operations)

    def open(self, graph: GraphDef, config: ConfigProto) -> EngineSession:
        """A session whose parts are compiled when they are first run."""
        strange = {field.name for field, _ in config.ListFields()} - HARMLESS
        if strange:
            raise NotOfferedError("config", min(strange))
        return CompiledSession(graph, self)

    def reset(self, containers: Sequence[str]) -> None:
        """Decline: there is no state."""
        raise NotOfferedError("reset", ", ".join(containers))

    def compile(self, part: Part, shapes: Sequence[Sequence[int]]) -> Program:
        """The program of a part: a function from the fed arrays to the fetched ones.

        `shapes` are those of the feeds; an engine whose models have fixed shapes needs them.
        """
        del shapes
        if part.effects:
            raise NotOfferedError("control_inputs", min(part.effects))
        steps = [(node, _kernel(node)) for node in part.nodes]

        def run(fed: Sequence[np.ndarray]) -> Sequence[np.ndarray]:
            values = dict(zip(part.feeds, fed, strict=True))
            for node, kernel in steps:
                inputs = [values[tensor] for tensor in inputs_of(node)]
                values[Endpoint(node.name, 0)] = _computed(node, kernel, inputs)
            return [values[tensor] for tensor in part.fetches]

        return run


def _kernel(node: NodeDef) -> Kernel:
    """What computes a node; what is not declared is declined, never tried."""
    if node.op in FREE:
        return FREE[node.op]
    if node.op not in OPERATIONS:
        raise NotOfferedError("op", node.op)
    kernel, dtypes = OPERATIONS[node.op]
    dtype = BY_ENUM[node.attr["T"].type].name
    if dtype not in dtypes:
        raise NotOfferedError("dtype", dtype)
    return kernel


def _computed(node: NodeDef, kernel: Kernel, inputs: Sequence[np.ndarray]) -> np.ndarray:
    """The value of a node.

    Raises:
      EngineError: code 3, the shapes of its inputs do not fit.

    """
    try:
        with np.errstate(all="ignore"):  # integers wrap, floats become infinite
            return np.asarray(kernel(node, *inputs))
    except ValueError as error:
        raise EngineError(3, str(error), node.name) from error


def backend() -> ClientLayer:
    """The engine under sessrun's client, which knows names, feeds, shapes and closed sessions."""
    return ClientLayer(Engine())
