"""What faults of operations share: namespaces whose runs replace the outputs of operations."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from sessrun.conformance.faulty.framework import override
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Array, Call, Feeds, Fetches, Graph, Operation, Value
from sessrun.spec.proto.config_pb2 import RunOptions
from sessrun.spec.proto.metadata_pb2 import RunMetadata

__all__ = ["Change", "array", "axes_of", "computing", "single", "without_refusals"]

#: A function from an operation, the values of its outputs and the values of its inputs to the
#: values that replace the outputs.
Change = Callable[[Operation, list[Any], list[Any]], Sequence[Value]]


def computing(tf: Namespace, changes: Mapping[str, Change]) -> Namespace:
    """The namespace whose runs of a list of fetches give changed outputs for these op types."""

    class Session(tf.Session):  # type: ignore[misc, name-defined]
        def run(
            self,
            fetches: Any,
            feed_dict: Feeds = None,
            options: RunOptions | None = None,
            run_metadata: RunMetadata | None = None,
        ) -> Value:
            ops = _operations(self.graph, fetches, feed_dict, changes)
            if not ops:
                return super().run(fetches, feed_dict, options, run_metadata)
            ends = [[*op.outputs, *op.inputs] for op in ops]
            values, sides = super().run([fetches, ends], feed_dict, options, run_metadata)
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
    """The operations of these types with an output that is fetched and no output that is fed."""
    if not isinstance(fetches, list):
        return []
    cut = {_operation(graph, key) for key in feeds or ()}
    ops = dict.fromkeys(_operation(graph, fetch) for fetch in fetches)
    return [op for op in ops if op is not None and op.type in changes and op not in cut]


def _operation(graph: Graph, name: Fetches) -> Operation | None:
    """The operation that gives the tensor of a name, or None where the name is not a tensor's."""
    try:
        operation: Operation = graph.as_graph_element(name).op
    except (AttributeError, KeyError, TypeError, ValueError):
        return None
    return operation


def single(function: Call) -> Change:
    """A change of the only output to `function(op, output, *inputs)`, in the dtype it had."""

    def change(op: Operation, outputs: list[np.ndarray], inputs: list[np.ndarray]) -> list[Value]:
        output = array(outputs[0])
        with np.errstate(all="ignore"):
            changed = array(function(op, output, *map(array, inputs)))
        return [changed.astype(output.dtype)[()]]

    return change


def array(value: Array) -> np.ndarray:
    """A fetched value as an array; bytes become an array of objects, without an axis."""
    if not isinstance(value, bytes):
        return np.asarray(value)
    held = np.empty((), dtype=object)
    held[()] = value
    return held


def axes_of(axes: int | Sequence[int] | np.ndarray) -> tuple[int, ...]:
    """The axes of a reduction, from the value of its second input."""
    return tuple(int(axis) for axis in np.asarray(axes).reshape(-1))


def without_refusals(tf: Namespace, *types: str) -> Namespace:
    """The namespace whose runs that fetch these op types only give zeros where they must fail."""

    class Session(tf.Session):  # type: ignore[misc, name-defined]
        def run(
            self,
            fetches: Any,
            feed_dict: Feeds = None,
            options: RunOptions | None = None,
            run_metadata: RunMetadata | None = None,
        ) -> Value:
            try:
                return super().run(fetches, feed_dict, options, run_metadata)
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
