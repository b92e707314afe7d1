"""What is known of shapes while a graph is built is what TensorFlow knows.

Operations and arguments come from the table of operations. Of each input something is known: its
value, its shape, its rank and some dimensions, or nothing.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from google.protobuf import json_format

from sessrun import reference
from sessrun.conformance.generators.single import SingleGraph, single_graph
from sessrun.spec import tensors
from sessrun.spec.rules.domains import arguments
from sessrun.spec.tables.ops import OPERATIONS

pytestmark = pytest.mark.tensorflow

#: Where TensorFlow's shapes are not those of what it computes, or it refuses what it computes.
_ODD = {
    # An unknown size of a list of counts: the input's rank is taken for the result's.
    "DenseBincount",
    # The sequences of regions are one longer than their number, and patches have five dimensions.
    "ExtractVolumePatches",
    "FractionalAvgPool",
    "FractionalMaxPool",
    # Paddings or diagonals that are fed are refused.
    "FusedPadConv2D",
    "FusedResizeAndPadConv2D",
    "MatrixDiagV2",
    "MatrixDiagV3",
    "MatrixSetDiagV2",
    "MatrixSetDiagV3",
    # An axis that is fed is taken for the last one.
    "SplitV",
}
_DRAWS = 3
#: Larger values are not written into a graph.
_MOST = 200


def _single(name: str, number: int) -> SingleGraph:
    operation = OPERATIONS[name]
    given = arguments(operation, random.Random(f"{name}:{number}"))
    outputs = sum(output.count(given.attrs) for output in operation.outputs)
    return single_graph(operation, given, random.Random(number), outputs, kinds=("shape",))


def _partly_known(single: SingleGraph, draw: random.Random) -> bytes:
    """The GraphDef, serialised, with what is known of each placeholder drawn anew."""
    graph = json_format.ParseDict(single.graph, reference.GraphDef())
    for node in graph.node:
        if node.op != "Placeholder":
            continue
        value = tensors.decode(single.feeds[f"{node.name}:0"])
        whole = draw.random() < (0.25 if value.dtype.kind in "fc" else 0.6)
        if whole and value.size < _MOST:
            node.op = "Const"
            dtype = node.attr["dtype"].type
            node.ClearField("attr")
            node.attr["dtype"].type = dtype
            node.attr["value"].tensor.CopyFrom(reference.make_tensor_proto(value))
            node.attr["value"].tensor.dtype = dtype
        else:
            node.attr["shape"].shape.CopyFrom(_known_of(value, draw).as_proto())
    data: bytes = graph.SerializeToString()
    return data


def _known_of(value: np.ndarray, draw: random.Random) -> reference.TensorShape:
    share = draw.choice([None, 0.0, 0.5, 1.0])
    if share is None:
        return reference.TensorShape(None)
    return reference.TensorShape([size if draw.random() < share else None for size in value.shape])


def _shapes(tf: Any, graph_def: bytes, fetches: Any) -> list[str] | None:
    with tf.Graph().as_default() as graph:
        try:
            tf.import_graph_def(tf.GraphDef.FromString(graph_def), name="")
        except (ValueError, tf.errors.OpError):
            return None
        return [str(graph.get_tensor_by_name(name).shape) for name in fetches]


@pytest.mark.parametrize(
    "name", sorted(name for name, op in OPERATIONS.items() if op.domain and name not in _ODD)
)
def test_shapes_known_while_a_graph_is_built_are_those_of_tensorflow(namespaces: Any, name: str):
    for number in range(_DRAWS):
        single = _single(name, number)
        graph_def = _partly_known(single, random.Random(f"{name}:known:{number}"))
        found, wanted = (_shapes(tf, graph_def, single.fetches) for tf in namespaces)
        assert found == wanted
