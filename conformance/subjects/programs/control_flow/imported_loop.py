"""Programs of meta graphs with branches and loops: contexts, and gradients after an import."""

# ruff: noqa: ARG005 - a loop passes every variable to its functions

from __future__ import annotations

from google.protobuf import json_format

from sessrun.conformance.subjects.programs.described import attempt
from sessrun.conformance.subjects.programs.paths import module_of
from sessrun.conformance.subjects.programs.program import Plain, Program

__all__ = ["BEHAVIOURS"]


_KINDS = {"cond_context": "CondContextDef", "while_context": "WhileContextDef"}


def _x(tf):
    return tf.placeholder_with_default([1.0, 2.0], [None], name="x")


def a_branch(tf):
    x = _x(tf)
    return tf.cond(x[0] > 0.5, lambda: x * x, lambda: -x), x


def a_variable_in_branches(tf):
    x, v = _x(tf), tf.get_variable("v", [2], use_resource=True, initializer=tf.ones_initializer())
    return tf.cond(x[0] > 5.0, lambda: x + v, lambda: 2.0 * v), v


def nested_branches(tf):
    x = _x(tf)
    inner = lambda: tf.cond(x[1] > 0.5, lambda: x * x * x, lambda: x)  # noqa: E731 - it is a branch
    return tf.cond(x[0] > 0.5, inner, lambda: -x), x


def a_loop(tf):
    x = _x(tf)
    y = x * 2.0
    return tf.while_loop(lambda i, v: i < 3, lambda i, v: [i + 1, v * y], [0, x])[1], x


def a_loop_with_options(tf):
    x = _x(tf)
    outputs = tf.while_loop(
        lambda v: tf.reduce_sum(v) < 1000.0,
        lambda v: v * x * 3.0,
        [x],
        maximum_iterations=4,
        parallel_iterations=3,
        swap_memory=True,
        name="around",
    )
    return outputs, x


def a_loop_without_way_back(tf):
    x = _x(tf)
    outputs = tf.while_loop(
        lambda i, v: i < 3, lambda i, v: [i + 1, v * x], [0, x], back_prop=False
    )
    return outputs[1], x


def a_branch_in_a_loop(tf):
    x = _x(tf)

    def step(i, v):
        return [i + 1, tf.cond(tf.equal(i, 1), lambda: v * x, lambda: tf.sin(v))]

    return tf.while_loop(lambda i, v: i < 3, step, [0, x])[1], x


def nested_loops(tf):
    x = _x(tf)

    def step(i, v):
        inner = tf.while_loop(lambda j, w: j < i, lambda j, w: [j + 1, w * v * x], [0, v])
        return [i + 1, inner[1]]

    return tf.while_loop(lambda i, v: i < 3, step, [0, x])[1], x


def arrays_of_tensors(tf):
    x = _x(tf)
    return tf.map_fn(lambda v: v * v * 3.0, x), x


def a_loop_with_its_gradient(tf):
    y, x = a_loop(tf)
    return y * tf.gradients(y, x)[0], x


_PROGRAMS: list[Program] = [
    a_branch,
    a_variable_in_branches,
    nested_branches,
    a_loop,
    a_loop_with_options,
    a_loop_without_way_back,
    a_branch_in_a_loop,
    nested_loops,
    arrays_of_tensors,
]


def _text(message) -> str:
    """A message as text that does not depend on the release of protobuf."""
    return json_format.MessageToJson(message, sort_keys=True)


def _contexts_of_meta_graph(tf, definition) -> list[Plain]:
    """The contexts of branches and loops in the collections of a MetaGraphDef."""
    messages = module_of(tf, "protobuf.control_flow_pb2", "core")
    return [
        [
            key,
            [
                _text(getattr(messages, kind).FromString(value))
                for value in definition.collection_def[key].bytes_list.value
            ],
        ]
        for key, kind in _KINDS.items()
        if key in definition.collection_def
    ]


def _nodes(graph) -> list[Plain]:
    return [
        [node.name, node.op, list(node.input), str(node.attr["frame_name"].s)]
        for node in graph.as_graph_def().node
    ]


def _contexts(graph) -> list[Plain]:
    """The name of the context that each operation is in."""
    rows = []
    for op in graph.get_operations():
        context = op._get_control_flow_context()
        rows.append([op.name, context and context.name])
    return rows


def _imported(tf, definition, names: list[str], scope: str | None):
    with tf.Graph().as_default() as graph:
        tf.train.import_meta_graph(definition, import_scope=scope)
        before = _contexts(graph)
        y, x = (graph.get_tensor_by_name(f"{scope}/{name}" if scope else name) for name in names)
        gradients = tf.gradients(y, x)
        again = tf.train.export_meta_graph(graph=graph)

        def values():
            with tf.Session() as session:
                session.run(tf.global_variables_initializer())
                return session.run(
                    [y, *(gradient for gradient in gradients if gradient is not None)]
                )

        return [
            before,
            gradients,
            _nodes(graph),
            _contexts_of_meta_graph(tf, again),
            attempt(values),
        ]


def _exchanged(program: Program) -> Program:
    """The program with its graph exported, imported elsewhere, and differentiated there."""

    def exchanged(tf):
        with tf.Graph().as_default() as graph:
            y, x = program(tf)
            names = [y.name, getattr(x, "handle", x).name]
            definition = tf.train.export_meta_graph(graph=graph)
        return [
            _contexts_of_meta_graph(tf, definition),
            *attempt(
                lambda: _imported(tf, definition, names, None),
                lambda: _imported(tf, definition, names, "in/side"),
            ),
        ]

    return exchanged


def _of_a_scope(tf):
    """The export of one name scope contains the contexts of that scope."""
    with tf.Graph().as_default() as graph:
        x = _x(tf)
        with tf.name_scope("kept"):
            y = tf.identity(x, name="y")
            output = tf.while_loop(lambda v: v[0] < 9.0, lambda v: v * y, [y], name="loop")
        with tf.name_scope("left"):
            tf.while_loop(lambda v: v[0] < 9.0, lambda v: v + v, [x])
        definition = tf.train.export_meta_graph(graph=graph, export_scope="kept")
    with tf.Graph().as_default() as graph:
        value = tf.constant([2.0])
        tf.train.import_meta_graph(
            definition, import_scope="new", input_map={"$unbound_inputs_x": value}
        )
        out = graph.get_tensor_by_name(output.name.replace("kept", "new"))
        gradients = tf.gradients(out, value)
        with tf.Session() as session:
            return [
                _contexts_of_meta_graph(tf, definition),
                _nodes(graph),
                session.run([out, *gradients]),
            ]


def _round_trip(tf):
    """A context that is made from its own message equals it."""
    nested_loops(tf), nested_branches(tf)
    module = module_of(tf, "ops.control_flow_ops")
    kinds = module.CondContext, module.WhileContext
    results = []
    for key in sorted(_KINDS):
        for context in tf.get_collection(key):
            again = type(context).from_proto(context.to_proto())
            is_same = str(again.to_proto()) == str(context.to_proto())
            results.append([again.name, is_same, [isinstance(again, kind) for kind in kinds]])
    return results


BEHAVIOURS: dict[str, Program] = {
    **{program.__name__: _exchanged(program) for program in _PROGRAMS},
    "its gradient is exported too": _exchanged(a_loop_with_its_gradient),
    "of a scope": _of_a_scope,
    "round trip": _round_trip,
}
