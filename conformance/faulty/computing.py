"""What faults of operations share: the values that operations give, put in place by another's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from sessrun.conformance.faulty.framework import override
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Array, Call, Feeds, Fetches, Graph, Operation, Value

__all__ = ["Change", "array", "axes_of", "computing", "single", "without_refusals"]

#: From an Operation, the values of its outputs and those of its inputs to other outputs.
Change = Callable[[Any, list[Any], list[Any]], list[Any]]


def computing(tf: Namespace, changes: Mapping[str, Change]) -> Namespace:
    """The namespace whose list fetches see, for outputs of these op types, the changed values."""

    class Session(tf.Session):  # type: ignore[misc, name-defined]
        def run(self, fetches: Any, feed_dict: Feeds = None, *args: Any, **kwargs: Any) -> Value:
            ops = _operations(self.graph, fetches, feed_dict, changes)
            if not ops:
                return super().run(fetches, feed_dict, *args, **kwargs)
            ends = [[*op.outputs, *op.inputs] for op in ops]
            values, sides = super().run([fetches, ends], feed_dict, *args, **kwargs)
            for op, side in zip(ops, sides, strict=True):
                count = len(op.outputs)
                outputs = changes[op.type](op, side[:count], side[count:])
                for index, fetch in enumerate(fetches):
                    element = self.graph.as_graph_element(fetch)
                    if element in op.outputs:
                        values[index] = outputs[element.value_index]
            return values

    return override(tf, Session=Session)


def _operations(
    graph: Graph, fetches: Fetches, feeds: Feeds, changes: Mapping[str, Change]
) -> list[Operation]:
    """The operations of these types, some output of which is fetched and none fed."""
    if not isinstance(fetches, list):
        return []
    cut = {_operation(graph, key) for key in feeds or ()}
    ops = dict.fromkeys(_operation(graph, fetch) for fetch in fetches)
    return [op for op in ops if op is not None and op.type in changes and op not in cut]


def _operation(graph: Graph, name: str) -> Any:
    """The operation that makes the tensor, or None if that is none."""
    try:
        return graph.as_graph_element(name).op
    except (AttributeError, KeyError, TypeError, ValueError):
        return None


def single(function: Call) -> Change:
    """A change of the one output by `function(op, output, *inputs)`; the dtype stays."""

    def change(op: Operation, outputs: list[np.ndarray], inputs: list[np.ndarray]) -> list[Value]:
        output = array(outputs[0])
        with np.errstate(all="ignore"):
            changed = array(function(op, output, *map(array, inputs)))
        return [changed.astype(output.dtype)[()]]

    return change


def array(value: Array) -> np.ndarray:
    """The tensor of a fetched value."""
    if not isinstance(value, bytes):
        return np.asarray(value)
    held = np.empty((), dtype=object)
    held[()] = value
    return held


def axes_of(axes: np.ndarray) -> tuple[int, ...]:
    """The axes that an input of a reduction names."""
    return tuple(int(axis) for axis in np.asarray(axes).reshape(-1))


def without_refusals(tf: Namespace, *types: str) -> Namespace:
    """The namespace where a run of one output of these op types gives zeros where it must fail."""

    class Session(tf.Session):  # type: ignore[misc, name-defined]
        def run(self, fetches: Any, *args: Any, **kwargs: Any) -> Any:
            try:
                return super().run(fetches, *args, **kwargs)
            except tf.errors.OpError as error:
                ops = [_operation(self.graph, name) for name in _listed(fetches)]
                if (
                    isinstance(error, ValueError)
                    or not ops
                    or any(op is None or op.type not in types for op in ops)
                ):
                    raise
                elements = [self.graph.as_graph_element(name) for name in fetches]
                return [np.zeros((), tensor.dtype.as_numpy_dtype) for tensor in elements]

    return override(tf, Session=Session)


def _listed(fetches: Any) -> list[Any]:
    return fetches if isinstance(fetches, list) else []
