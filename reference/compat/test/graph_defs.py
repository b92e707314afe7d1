"""Comparisons of graphs: `assert_equal_graph_def` and what goes with it.

Two GraphDefs are equal here when their nodes are, whatever the order of nodes and of control
inputs. Versions, functions and attributes whose names begin with `_` do not count.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

import numpy as np
from google.protobuf.message import Message

from sessrun.reference.base.graph_keys import GraphKeys
from sessrun.reference.build.constant_op import make_ndarray
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
]

#: The name of a temporary file of a checkpoint, which is drawn by chance.
_TEMPORARY: Final = re.compile(rb"_temp_[0-9a-z]{32}/part")
_TABLE: Final = re.compile(rb"hash_table_[0-9a-z\-]+")
#: The messages that collections of a MetaGraphDef hold as bytes.
_MESSAGES: Final[Mapping[str, type[Message]]] = {
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
      actual: a GraphDef.
      expected: the GraphDef to compare it with.
      checkpoint_v2: whether to leave out the names of a checkpoint's temporary files.
      hash_table_shared_name: whether to leave out the shared names of hash tables.

    Raises:
      AssertionError: the GraphDefs differ.
      TypeError: an argument is not a GraphDef.

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
    """The difference between two nodes, or None."""
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
