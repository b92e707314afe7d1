"""Comparisons of graphs: `assert_equal_graph_def` and what goes with it.

Two GraphDefs are equal here when their nodes are, whatever the order of nodes and of control
inputs. Versions, functions and attributes whose names begin with `_` do not count.
"""

from __future__ import annotations

import re
import unittest
from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from sessrun.reference.base.graph_keys import GraphKeys
from sessrun.reference.build.constant_op import make_ndarray
from sessrun.reference.graph.graph import Graph
from sessrun.spec.proto import (
    AttrValue,
    CondContextDef,
    GraphDef,
    NodeDef,
    QueueRunnerDef,
    SaverDef,
    VariableDef,
    WhileContextDef,
)

__all__ = [
    "assert_equal_graph_def",
    "assert_meta_graph_protos_equal",
    "assert_ops_in_graph",
    "get_node_def_from_graph",
]

#: The name of a temporary file of a checkpoint, which is drawn by chance.
_TEMPORARY: Final = re.compile(rb"_temp_[0-9a-z]{32}/part")
_TABLE: Final = re.compile(rb"hash_table_[0-9a-z\-]+")
#: The messages that collections of a MetaGraphDef hold as bytes.
_MESSAGES: Final[Mapping[str, Any]] = {
    **dict.fromkeys(
        (
            GraphKeys.GLOBAL_VARIABLES,
            GraphKeys.LOCAL_VARIABLES,
            GraphKeys.METRIC_VARIABLES,
            GraphKeys.MODEL_VARIABLES,
            GraphKeys.TRAINABLE_VARIABLES,
            GraphKeys.MOVING_AVERAGE_VARIABLES,
            GraphKeys.GLOBAL_STEP,
        ),
        VariableDef,
    ),
    GraphKeys.QUEUE_RUNNERS: QueueRunnerDef,
    GraphKeys.SAVERS: SaverDef,
    GraphKeys.COND_CONTEXT: CondContextDef,
    GraphKeys.WHILE_CONTEXT: WhileContextDef,
}


def assert_equal_graph_def(
    actual: GraphDef,
    expected: GraphDef,
    checkpoint_v2: bool = False,
    hash_table_shared_name: bool = False,
) -> None:
    """Raise unless two GraphDefs have the same nodes, in whichever order.

    Args:
      actual: the one.
      expected: the other.
      checkpoint_v2: whether to leave out the names of a checkpoint's temporary files.
      hash_table_shared_name: whether to leave out the shared names of hash tables.

    Raises:
      AssertionError: they differ.
      TypeError: one is no GraphDef.

    """
    for name, graph_def in (("actual", actual), ("expected", expected)):
        if not isinstance(graph_def, GraphDef):
            raise TypeError(f"Expected tf.GraphDef for {name}, got {type(graph_def).__name__}")
    wanted = {node.name: node for node in expected.node}
    for node in actual.node:
        other = wanted.pop(node.name, None)
        if other is None:
            raise AssertionError(f"Found unexpected node {_shown(node)}")
        leave_out = _left_out(node, checkpoint_v2, hash_table_shared_name)
        leave_out |= _left_out(other, checkpoint_v2, hash_table_shared_name)
        difference = _difference(node, other, leave_out)
        if difference:
            raise AssertionError(f"Node named {node.name!r} {difference}")
    for node in wanted.values():
        raise AssertionError(f"Did not find expected node {_shown(node)}")


def _shown(node: NodeDef) -> str:
    return f"'{{{{node {node.name}}}}} = {node.op}({', '.join(node.input)})'"


def _left_out(node: NodeDef, checkpoint_v2: bool, hash_table_shared_name: bool) -> set[str]:
    """The attributes of a node that do not count."""
    names = {name for name in node.attr if name.startswith("_")}
    if checkpoint_v2:
        for name, attr in node.attr.items():
            strings = attr.tensor.string_val
            if len(strings) == 1 and _TEMPORARY.match(strings[0]):
                names.add(name)
    is_table = hash_table_shared_name and node.op == "HashTableV2" and "shared_name" in node.attr
    if is_table and _TABLE.match(node.attr["shared_name"].s):
        names.add("shared_name")
    return names


def _difference(actual: NodeDef, expected: NodeDef, leave_out: set[str]) -> str:
    """What is wrong with a node, or nothing."""
    if actual.op != expected.op:
        return f"has op {actual.op!r} that is not expected {expected.op!r}"
    if actual.device != expected.device:
        return f"has device {actual.device!r} that is not expected {expected.device!r}"
    inputs, wanted = _inputs(actual), _inputs(expected)
    if inputs != wanted:
        return f"has inputs {inputs} that don't match expected {wanted}"
    for name in sorted({*actual.attr, *expected.attr} - leave_out):
        if name not in expected.attr:
            return f"has unexpected attr {name!r} with value: {actual.attr[name]}"
        if name not in actual.attr:
            return f"is missing expected attr {name!r} with value: {expected.attr[name]}"
        if not _is_same(actual.attr[name], expected.attr[name]):
            return (
                f"has attr {name!r} with value: {actual.attr[name]} that does not match "
                f"expected: {expected.attr[name]}"
            )
    return ""


def _inputs(node: NodeDef) -> list[str]:
    """The inputs of a node: `a:0` is `a`, and the order of control inputs does not count."""
    data = [name.removesuffix(":0") for name in node.input if not name.startswith("^")]
    return data + sorted(name for name in node.input if name.startswith("^"))


def _is_same(a: AttrValue, b: AttrValue) -> bool:
    if a.WhichOneof("value") != "tensor" or b.WhichOneof("value") != "tensor":
        return bool(a == b)
    x, y = make_ndarray(a.tensor), make_ndarray(b.tensor)
    is_same = x.dtype == y.dtype and x.shape == y.shape and x.tobytes() == y.tobytes()
    if x.dtype == np.dtype(object):
        return bool(x.shape == y.shape and np.all(x == y))
    return bool(is_same)


def assert_ops_in_graph(expected_ops: Mapping[str, str], graph: Graph) -> dict[str, NodeDef]:
    """The nodes of these names in a graph.

    Args:
      expected_ops: from names to op types.
      graph: the graph.

    Raises:
      ValueError: one is not there, or is of another type.

    """
    nodes = {node.name: node for node in graph.as_graph_def().node if node.name in expected_ops}
    for name, node in nodes.items():
        if node.op != expected_ops[name]:
            text = f"Expected op for node {name} is different. {expected_ops[name]} vs {node.op}"
            raise ValueError(text)
    if len(nodes) != len(expected_ops):
        text = f"Expected {list(expected_ops)}, found {list(nodes)}"
        raise ValueError(f"Not all expected ops are present. {text}")
    return nodes


def assert_meta_graph_protos_equal(tester: Any, a: Any, b: Any) -> None:
    """Let a test fail unless two MetaGraphDefs say the same; the messages in them by meaning."""
    case: unittest.TestCase = tester
    case.assertEqual(set(a.collection_def), set(b.collection_def))
    for key, kind in _MESSAGES.items():
        if key in a.collection_def:
            values = [meta.collection_def[key].bytes_list.value for meta in (a, b)]
            case.assertEqual(len(values[0]), len(values[1]), key)
            for x, y in zip(*values, strict=True):
                tester.assertProtoEquals(kind.FromString(x), kind.FromString(y))
    for key in a.collection_def:
        if key not in _MESSAGES:
            case.assertEqual(a.collection_def[key], b.collection_def[key])
    assert_equal_graph_def(a.graph_def, b.graph_def, checkpoint_v2=True)
    tester.assertProtoEquals(a.graph_def.versions, b.graph_def.versions)
    rest = []
    for meta in (a, b):
        copy = type(meta)()
        copy.CopyFrom(meta)
        copy.ClearField("collection_def")
        copy.ClearField("graph_def")
        rest.append(copy)
    tester.assertProtoEquals(*rest)


def get_node_def_from_graph(node_name: str, graph_def: GraphDef) -> NodeDef | None:
    """The node of that name, or None."""
    return next((node for node in graph_def.node if node.name == node_name), None)
