"""Arguments of differentiable operations, as their domains give them."""

from __future__ import annotations

import copy
import dataclasses
import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from google.protobuf import json_format

from sessrun.conformance.generators.single import single_graph
from sessrun.conformance.subjects.gradients.points import OF_MATRICES, range_of
from sessrun.reference import make_tensor_proto
from sessrun.spec import tensors
from sessrun.spec.operations import Operation
from sessrun.spec.rules.domains import Arguments, arguments
from sessrun.spec.tables.ops import OPERATIONS

__all__ = ["DIFFERENTIABLE", "GradientCase", "case_of", "import_forward", "known_case"]

#: Operations whose gradient functions are tried, by name.
DIFFERENTIABLE = {
    name: operation
    for name, operation in OPERATIONS.items()
    if operation.differentiable and operation.domain is not None
}
#: Inputs that are left as drawn: orders, and numbers of another range than the others.
_AS_DRAWN = {
    ("Betainc", "x"),
    ("Polygamma", "a"),
    ("Zeta", "x"),
    *(
        ("StatelessParameterizedTruncatedNormal", name)
        for name in ("means", "stddevs", "minvals", "maxvals")
    ),
}


@dataclass(frozen=True)
class GradientCase:
    """A graph of one operation, and the feeds that its gradients are found for.

    Attributes:
      graph: the GraphDef as JSON; placeholders and one node `result`.
      feeds: by tensor name.
      by: the names of the fed tensors that it is differentiated by.
      outputs: the names of the result's tensors of floating point.

    """

    graph: Any
    feeds: dict[str, Any]
    by: list[str]
    outputs: list[str]


def _smooth(operation: Operation, array: np.ndarray, draw: np.random.Generator) -> np.ndarray:
    """Values of the same shape and dtype where the operation is smooth, none near another."""
    size = array.size
    base = draw.permutation(size) / max(size, 1) + draw.uniform(0.1, 0.9, size) / max(2 * size, 1)
    low, high = range_of(operation.name)
    values = low + (high - low) * base
    if array.dtype.kind == "c":
        values = values + 1j * draw.uniform(-1, 1, size)
    return values.reshape(array.shape).astype(array.dtype)


def _is_real(value: Any, kinds: str) -> bool:
    return isinstance(value, np.ndarray) and value.dtype.kind in kinds


def _drawn(operation: Operation, kinds: str, dtypes: set[str], number: int) -> Arguments | None:
    """Arguments whose inputs of floating point have one of these dtypes, indices int32."""
    for attempt in range(400):
        draw = random.Random(f"{operation.name}:{number}:{attempt}")
        given = arguments(operation, draw)
        if not given.attrs.get("fast", True):  # a way of solving that has no gradient
            continue
        listed = [
            item
            for value in given.inputs.values()
            for item in (value if isinstance(value, list | tuple) else [value])
        ]
        found = {item.dtype.name for item in listed if _is_real(item, kinds + "c")}
        whole = {
            item.dtype.name
            for arg in operation.inputs
            if arg.type_attr is not None
            for item in [given.inputs[arg.name]]
            if _is_real(item, "iu")
        }
        is_empty = any(_is_real(item, "iu") and not item.size for item in listed)
        if (
            found
            and found <= dtypes
            and whole <= {"int32"}
            and not is_empty
            and all(item.size <= 200 for item in listed)
        ):
            return given
    return None


def case_of(name: str, dtypes: set[str], number: int = 0, kinds: str = "fc") -> GradientCase | None:
    """A case of an operation, or None where it has none of these dtypes."""
    operation = DIFFERENTIABLE[name]
    given = _drawn(operation, kinds, dtypes, number)
    if given is None:
        return None
    generator = np.random.default_rng(number)

    def replaced(key: str, value: Any) -> Any:
        if not _is_real(value, kinds) or (name, key) in _AS_DRAWN or name in OF_MATRICES:
            return value
        return _smooth(operation, value, generator)

    inputs = {
        key: [replaced(key, item) for item in value]
        if isinstance(value, list | tuple)
        else replaced(key, value)
        for key, value in given.inputs.items()
    }
    smooth = Arguments(inputs, given.attrs)
    outputs = sum(_counts(operation, smooth))
    single = single_graph(operation, smooth, random.Random(number), outputs, kinds=("shape",))
    feeds = {key: tensors.decode(row) for key, row in single.feeds.items()}
    by = [key for key, value in feeds.items() if value.dtype.kind in kinds]
    return GradientCase(single.graph, feeds, by, list(single.fetches))


def known_case(case: GradientCase) -> GradientCase:
    """The case where shapes of what is fed are stated, and all other numbers are constants."""
    graph = copy.deepcopy(case.graph)
    for node in graph["node"]:
        value = case.feeds.get(f"{node['name']}:0")
        if node["op"] != "Placeholder" or value is None:
            continue
        dims = [{"size": str(size)} for size in value.shape]
        node["attr"]["shape"] = {"shape": {"dim": dims}}
        if value.dtype.kind in "iub":
            node["op"] = "Const"
            proto = make_tensor_proto(value, shape=value.shape)
            node["attr"] = {
                "dtype": node["attr"]["dtype"],
                "value": {"tensor": json_format.MessageToDict(proto)},
            }
    feeds = {key: value for key, value in case.feeds.items() if value.dtype.kind not in "iub"}
    return dataclasses.replace(case, graph=graph, feeds=feeds)


def _counts(operation: Operation, given: Arguments) -> Iterator[int]:
    for output in operation.outputs:
        yield output.count(given.attrs)


def import_forward(tf: Any, case: GradientCase) -> Any:
    """Import the graph into the default graph."""
    message = json_format.ParseDict(case.graph, tf.GraphDef())
    tf.import_graph_def(message, name="")
