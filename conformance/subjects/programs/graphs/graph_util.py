"""Programs of `tf.graph_util`: extracted subgraphs, and variables converted to constants."""

from __future__ import annotations

from sessrun.conformance.subjects.programs.described import attempt, run

__all__ = ["BEHAVIOURS"]


def _node(tf, name: str, op: str, *inputs: str, beside: tuple[str, ...] = ()):
    node = tf.NodeDef(name=name, op=op, input=inputs)
    if beside:
        node.attr["_class"].list.s.extend(text.encode() for text in beside)
    return node


def _chain(tf):
    """A GraphDef of unknown op types, with a cycle, a control input and a colocation."""
    return tf.GraphDef(
        node=[
            _node(tf, "d", "Fine", "b:1", "^c"),
            _node(tf, "a", "Fine", "e"),
            _node(tf, "b", "Fine", "a"),
            _node(tf, "c", "Fine", beside=("loc:@f",)),
            _node(tf, "e", "Fine", "a:0"),
            _node(tf, "f", "Fine"),
            _node(tf, "g", "Fine", "d"),
            _node(tf, "h", "Fine", "gone"),
        ],
        versions=tf.GraphDef().versions.__class__(producer=7),
    )


def _sub_graphs(tf):
    chain = _chain(tf)
    extract = tf.graph_util.extract_sub_graph
    return attempt(
        lambda: extract(chain, ["d"]),
        lambda: extract(chain, ("b", "c")),
        lambda: extract(chain, {"f": 1}),
        lambda: extract(chain, []),
        lambda: extract(chain, "d"),
        lambda: extract(chain, ["nope"]),
        lambda: extract(chain, ["h"]),
        lambda: extract("chain", ["d"]),
    )


def _training_nodes(tf):
    graph_def = tf.GraphDef(
        node=[
            _node(tf, "x", "Placeholder"),
            _node(tf, "check", "CheckNumerics", "x"),
            _node(tf, "a", "Identity", "x", "^check"),
            _node(tf, "b", "Identity", "a"),
            _node(tf, "c", "StopGradient", "b:0"),
            _node(tf, "d", "Neg", "c"),
            _node(tf, "e", "Identity", "d:1"),
            _node(tf, "f", "Neg", "e", "^b"),
            _node(tf, "g", "Identity", "f"),
            _node(tf, "h", "Neg", "g", beside=("loc:@g",)),
            _node(tf, "i", "Identity", "h", "^x"),
        ]
    )
    remove = tf.graph_util.remove_training_nodes
    return attempt(
        lambda: remove(graph_def),
        lambda: remove(graph_def, ["check", "e"]),
        lambda: remove(graph_def, protected_nodes=()),
        lambda: remove(tf.GraphDef()),
        lambda: remove(tf.GraphDef(node=[_node(tf, "a", "Identity")])),
        lambda: remove(tf.GraphDef(node=[_node(tf, "a", "Identity")]), ["a"]),
        lambda: remove(tf.GraphDef(node=[_node(tf, "a", "Identity", beside=("loc:@a",))])),
    )


def _rules_of_thumb(tf):
    util = tf.graph_util
    graph = tf.get_default_graph()
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    variable = tf.Variable(1.0, use_resource=False).op
    some = [
        tf.constant(1),
        tf.constant("a"),
        tf.constant(1.0),
        x,
        tf.cast(tf.constant(1), tf.float32),
        tf.cast(x, tf.int32),
        tf.dynamic_stitch([[0]], [[1]]),
        tf.dynamic_stitch([[0]], [[1.0]]),
    ]
    return attempt(
        lambda: [util.must_run_on_cpu(tensor.op) for tensor in some],
        lambda: [util.must_run_on_cpu(tensor.op.node_def) for tensor in some],
        lambda: util.must_run_on_cpu(variable),
        lambda: util.must_run_on_cpu(variable, pin_variables_on_cpu=True),
        lambda: util.must_run_on_cpu(variable.node_def, True),
        lambda: util.tensor_shape_from_node_def_name(graph, "x"),
        lambda: util.tensor_shape_from_node_def_name(graph, "x:0"),
        lambda: util.tensor_shape_from_node_def_name(graph, "y"),
        lambda: util.import_graph_def is tf.import_graph_def,
    )


def _model(tf, use_resource: bool) -> None:
    with tf.device("/cpu:0"):
        w = tf.get_variable("w", initializer=[[1.0, 2.0], [3.0, 4.0]], use_resource=use_resource)
    b = tf.get_variable("b", initializer=[10.0, 20.0], use_resource=use_resource)
    tf.get_variable("unused", initializer=1.0, use_resource=use_resource)
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    waiting = tf.no_op("waiting")
    y = tf.add(tf.matmul(x, w), b, name="y")
    y.op.inputs[1].op._add_control_input(waiting)
    if use_resource:
        tf.raw_ops.ResourceGather(
            resource=w.handle, indices=tf.constant([1], tf.int64), dtype=tf.float32, name="rows"
        )
    else:
        tf.gather(w, [1], name="rows")
    tf.identity(y, name="z")


def _frozen(use_resource: bool):
    def frozen(tf):
        freeze = tf.graph_util.convert_variables_to_constants
        _model(tf, use_resource)
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            definition = sess.graph.as_graph_def()
            outputs = ["rows", "z"]
            frozen_defs = attempt(
                lambda: freeze(sess, definition, ["z"]),
                lambda: freeze(sess, definition, outputs),
                lambda: freeze(sess, definition, ["z"], variable_names_whitelist=["w"]),
                lambda: freeze(sess, definition, ["z"], variable_names_blacklist={"w"}),
                lambda: freeze(sess, definition, ["z"], ["b"], ["b"]),
                lambda: freeze(sess, definition, ["nope"]),
                lambda: freeze(sess, definition, "z"),
                lambda: [node.name for node in freeze(sess, definition, outputs).node],
            )
            constant = freeze(sess, definition, outputs)
        with tf.Graph().as_default():
            tf.import_graph_def(constant, name="")
            fetches = [f"{name}:0" for name in outputs]
            return frozen_defs, run(tf, fetches, {"x:0": [[1.0, 1.0]]})

    return frozen


def _unset_variables_cannot_be_frozen(tf):
    freeze = tf.graph_util.convert_variables_to_constants
    tf.Variable(1.0, name="v", use_resource=False)
    tf.identity(tf.Variable(1.0, name="r", use_resource=True), name="o")
    definition = tf.get_default_graph().as_graph_def()
    with tf.Session() as sess:
        return attempt(
            lambda: freeze(sess, definition, ["v"]), lambda: freeze(sess, definition, ["o"])
        )


BEHAVIOURS = {
    "sub_graphs": _sub_graphs,
    "training_nodes": _training_nodes,
    "rules_of_thumb": _rules_of_thumb,
    "frozen_references": _frozen(use_resource=False),
    "frozen_resources": _frozen(use_resource=True),
    "unset_variables_cannot_be_frozen": _unset_variables_cannot_be_frozen,
}
