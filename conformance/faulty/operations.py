"""Faults of OPERATIONS: wrong values, swallowed refusals, values that depend on the fetches."""

from __future__ import annotations

from typing import Any

import numpy as np

from sessrun.conformance.faulty.framework import fault, override


@fault("OPERATIONS-001", "A reduction of a narrow dtype comes back in float64.")
def reductions_widen(tf: Any) -> Any:
    """Gives float64 for what a reduction of a narrow dtype computes."""

    class Session(tf.Session):  # type: ignore[misc]
        def run(self, fetches: Any, *args: Any, **kwargs: Any) -> Any:
            values = super().run(fetches, *args, **kwargs)
            if not isinstance(fetches, list):
                return values
            return [_widened(self.graph, f, v) for f, v in zip(fetches, values, strict=True)]

    return override(tf, Session=Session)


def _widened(graph: Any, fetch: Any, value: Any) -> Any:
    tensor = graph.as_graph_element(fetch)
    op = getattr(tensor, "op", tensor)
    if value is None or op.type not in {"Sum", "Mean", "Prod", "Cumsum", "SquaredDifference"}:
        return value
    array = np.asarray(value)
    return array.astype(np.float64) if array.dtype.itemsize <= 2 else value


@fault("OPERATIONS-002", "An operation gives zeros where it must refuse its arguments.")
def refusals_become_zeros(tf: Any) -> Any:
    """Catches a kernel's InvalidArgumentError of a run that fetches one operation's outputs."""

    class Session(tf.Session):  # type: ignore[misc]
        def run(self, fetches: Any, *args: Any, **kwargs: Any) -> Any:
            try:
                return super().run(fetches, *args, **kwargs)
            except tf.errors.InvalidArgumentError as error:
                types = {op.type for op in self.graph.get_operations()}
                # A missing feed, a failed assertion and what ValueError says stay errors.
                if isinstance(error, ValueError) or types & _OTHER_MATTERS:
                    raise
                tensors = [self.graph.as_graph_element(f) for f in _listed(fetches)]
                if not args or not tensors or any(not hasattr(t, "dtype") for t in tensors):
                    raise
                return [np.zeros((), t.dtype.as_numpy_dtype) for t in tensors]

    return override(tf, Session=Session)


#: Graphs with these are about state, control or the operation's own purpose to fail.
_OTHER_MATTERS = frozenset(
    {"Assert", "CheckNumerics", "VariableV2", "VarHandleOp", "FloorDiv", "TruncateDiv", "NoOp"}
)


def _listed(fetches: Any) -> list[Any]:
    return fetches if isinstance(fetches, list) else []


@fault("OPERATIONS-003", "A second reader of a value reads its other operand instead.")
def shared_inputs_are_overwritten(tf: Any) -> Any:
    """As if the memory of a value were reused after its first reader."""

    def import_graph_def(graph_def: Any, *args: Any, **kwargs: Any) -> Any:
        changed = type(graph_def)()
        changed.CopyFrom(graph_def)
        readers: dict[str, int] = {}
        for node in changed.node:
            for place, source in enumerate(node.input):
                if source.startswith(("Neg", "AddV2", "Sub", "Mul")):
                    readers[source] = readers.get(source, 0) + 1
                    if readers[source] == 2 and node.op == "Maximum":
                        node.input[place] = node.input[1 - place]
        return tf.import_graph_def(changed, *args, **kwargs)

    return override(tf, import_graph_def=import_graph_def)
