"""The nodes that a call builds, the static shapes, and the values, rounded."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sessrun.conformance.subjects.programs.described import attempt, described, run

__all__ = ["built", "fed", "shown"]


def fed(tf: Any, value: Any, shape: Any = None) -> Any:
    """A placeholder with this default value and an unknown or partly known shape."""
    return tf.placeholder_with_default(value, shape)


def _rounded(value: Any, digits: int) -> Any:
    array = np.asarray(value)
    if array.dtype.kind not in "fc":
        return described(array)
    kept = np.round(array.astype("complex128"), digits) + 0.0
    return [str(array.dtype), list(array.shape), str(kept.tolist())]


def built(graph: Any) -> list[Any]:
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


def shown(tf: Any, *calls: Callable[[Any], Any], digits: int = 3, nodes: bool = True) -> list[Any]:
    """For each call, in a graph of its own: static shapes, values, and nodes if asked for."""

    def one(make: Callable[[Any], Any]) -> Any:
        with tf.Graph().as_default() as graph:
            outputs = make(tf)
            tensors = list(outputs) if isinstance(outputs, list | tuple) else [outputs]
            values = attempt(lambda: run(tf, tensors))
            computed = run(tf, tensors) if isinstance(values[0], list) else None
            rounded = [_rounded(value, digits) for value in computed] if computed else values
            return [[tensor.shape for tensor in tensors], rounded, built(graph) if nodes else None]

    return attempt(*(lambda make=make: one(make) for make in calls))
