"""The nodes that a call builds, the static shapes, and the values, rounded."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from sessrun.conformance.subjects.programs.described import attempt, described, run
from sessrun.conformance.subjects.programs.program import Plain
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Graph, Tensor, Value

__all__ = ["built", "fed", "shown"]


def fed(tf: Namespace, value: Plain, shape: Sequence[int | None] | None = None) -> Tensor:
    """A placeholder with this default value and an unknown or partly known shape."""
    return tf.placeholder_with_default(value, shape)


def _rounded(value: Value, digits: int) -> Plain:
    array = np.asarray(value)
    if array.dtype.kind not in "fc":
        return described(array)
    kept = np.round(array.astype("complex128"), digits) + 0.0
    return [str(array.dtype), list(array.shape), str(kept.tolist())]


def built(graph: Graph) -> list[list[str | list[str]]]:
    """Every node: name, type, inputs, and attributes, those of constants aside."""
    return [
        [
            node.name,
            node.op,
            list(node.input),
            []
            if node.op == "Const"
            else sorted(
                f"{key}: {value}" for key, value in node.attr.items() if not key.startswith("_")
            ),
        ]
        for node in graph.as_graph_def().node
    ]


def shown(
    tf: Namespace,
    *calls: Callable[[Namespace], Tensor | Sequence[Tensor]],
    digits: int = 3,
    nodes: bool = True,
) -> list[Plain]:
    """For each call, in a graph of its own: static shapes, values, and, if wanted, nodes."""

    def one(make: Callable[[Namespace], Tensor | Sequence[Tensor]]) -> list[object]:
        with tf.Graph().as_default() as graph:
            outputs = make(tf)
            tensors = list(outputs) if isinstance(outputs, Sequence) else [outputs]
            values = attempt(lambda: run(tf, tensors))
            computed = run(tf, tensors) if isinstance(values[0], list) else None
            rounded = values
            if isinstance(computed, list) and computed:
                rounded = [_rounded(value, digits) for value in computed]
            return [[tensor.shape for tensor in tensors], rounded, built(graph) if nodes else None]

    return attempt(*(lambda make=make: one(make) for make in calls))
