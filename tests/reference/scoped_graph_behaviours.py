"""Programs of `tensorflow.python.framework.meta_graph`: scopes out of graphs, and into others."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from sessrun.conformance.subjects.programs.described import attempt
from sessrun.conformance.subjects.programs.saved_graphs import in_a_folder

__all__ = ["BEHAVIOURS"]


def _module(tf: Any) -> Any:
    name = "sessrun.reference" if tf.__name__ == "sessrun.reference" else "tensorflow"
    return importlib.import_module(f"{name}.python.framework.meta_graph")


def _nodes(definition: Any) -> list[Any]:
    return sorted([node.name, node.op, list(node.input)] for node in definition.node)


def _graph(tf: Any) -> None:
    x = tf.placeholder(tf.float32, [1, 3], name="x")
    with tf.name_scope("hidden"):
        w = tf.Variable(np.ones([3, 2], np.float32), name="w", use_resource=False)
        tf.Variable(np.zeros([2], np.int32), name="b", use_resource=True)
        tf.add_to_collection("made", tf.matmul(x, w, name="y"))


@in_a_folder
def _out_and_in(tf: Any) -> Any:
    module = _module(tf)
    _graph(tf)
    found, names = module.export_scoped_meta_graph(filename="g", export_scope="hidden")
    with tf.Graph().as_default() as graph:
        z = tf.constant([[1.0, 2.0, 3.0]], name="z")
        refused = attempt(lambda: module.import_scoped_meta_graph("g", import_scope="new"))
        back = module.import_scoped_meta_graph(
            "g", import_scope="new", input_map={"$unbound_inputs_x": z}
        )
        listed = sorted(op.name for op in graph.get_operations())
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            value = session.run("new/y:0")
    return [
        _nodes(found.graph_def),
        sorted(names),
        sorted(found.collection_def),
        refused,
        sorted(back),
        listed,
        value,
    ]


def _declared(tf: Any) -> Any:
    module = _module(tf)
    _graph(tf)
    definition = tf.get_default_graph().as_graph_def()
    listed = module.stripped_op_list_for_graph(definition)
    return [sorted(module.ops_used_by_graph_def(definition)), [op.name for op in listed.op]]


def _made(tf: Any) -> Any:
    module = _module(tf)
    _graph(tf)
    found = module.create_meta_graph_def(graph=tf.get_default_graph(), collection_list=["made"])
    module.add_collection_def(found, "variables")
    module.add_collection_def(found, 5)
    return [
        _nodes(found.graph_def),
        sorted(found.collection_def),
        list(found.collection_def["made"].node_list.value),
    ]


BEHAVIOURS = {"out-and-in": _out_and_in, "declared": _declared, "made": _made}
