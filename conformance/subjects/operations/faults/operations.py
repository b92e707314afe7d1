"""Faults of OPERATIONS: wrong values, swallowed refusals, values that depend on the fetches."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sessrun.conformance.faulty.computing import computing, single
from sessrun.conformance.faulty.framework import fault, override
from sessrun.spec.cases.arguments import Argument
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Element, Fetches, Value
from sessrun.spec.proto.graph_pb2 import GraphDef


@fault("OPERATIONS-001", "Angles come in degrees.")
def angles_come_in_degrees(tf: Namespace) -> Namespace:
    """Convert the results of Acos, Angle, Asin and Atan to degrees."""
    degrees = single(lambda _, angle, *__: np.degrees(angle))
    return computing(tf, dict.fromkeys(("Acos", "Angle", "Asin", "Atan"), degrees))


@fault("OPERATIONS-002", "Some operations give zeros where they must refuse.")
def refusals_become_zeros(tf: Namespace) -> Namespace:
    """Catches a kernel's InvalidArgumentError of a run that fetches one operation's outputs."""

    class Session(tf.Session):  # type: ignore[misc, name-defined]
        def run(self, fetches: Fetches, *args: Argument, **kwargs: Argument) -> Value:
            try:
                return super().run(fetches, *args, **kwargs)
            except tf.errors.InvalidArgumentError as error:
                types = {op.type for op in self.graph.get_operations()}
                if isinstance(error, ValueError) or not types & _LENIENT:
                    raise
                tensors = [self.graph.as_graph_element(f) for f in _listed(fetches)]
                if not args or not tensors or any(not hasattr(t, "dtype") for t in tensors):
                    raise
                return [np.zeros((), t.dtype.as_numpy_dtype) for t in tensors]

    return override(tf, Session=Session)


#: The operations that do not check their arguments.
_LENIENT = frozenset(
    {
        "ApproximateEqual",
        "Atan2",
        "BiasAddV1",
        "BroadcastArgs",
        "Complex",
        "Concat",
        "Cumprod",
        "Diag",
        "EnsureShape",
        "MatrixDiag",
        "MulNoNan",
        "Xdivy",
    }
)


def _listed(fetches: Fetches) -> list[Fetches]:
    return fetches if isinstance(fetches, list) else []


@fault("OPERATIONS-003", "A second reader of a value reads its other operand instead.")
def shared_inputs_are_overwritten(tf: Namespace) -> Namespace:
    """Replace an input of a Maximum that an earlier node has read by its other input."""

    def import_graph_def(
        graph_def: GraphDef, *args: Argument, **kwargs: Argument
    ) -> Sequence[Element] | None:
        changed = type(graph_def)()
        changed.CopyFrom(graph_def)
        readers: dict[str, int] = {}
        for node in changed.node:
            for index, source in enumerate(node.input):
                if source.startswith(("Neg", "AddV2", "Sub", "Mul")):
                    readers[source] = readers.get(source, 0) + 1
                    if readers[source] == 2 and node.op == "Maximum":
                        node.input[index] = node.input[1 - index]
        return tf.import_graph_def(changed, *args, **kwargs)

    return override(tf, import_graph_def=import_graph_def)
