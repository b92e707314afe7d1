"""Programs that import GraphDefs: mapped inputs, return elements, names, and errors."""

from __future__ import annotations

from sessrun.conformance.subjects.programs.described import attempt, run

__all__ = ["BEHAVIOURS"]


def _graph_def(tf, producer: int = 2000, min_consumer: int = 0):
    """A GraphDef of `c = AddV2(a, b)` of integers, after a NoOp `n`."""
    with tf.Graph().as_default() as graph:
        a, b = tf.constant(1, name="a"), tf.constant(2, name="b")
        with tf.control_dependencies([tf.no_op("n")]):
            tf.add(a, b, name="c")
    graph_def = graph.as_graph_def()
    graph_def.versions.producer, graph_def.versions.min_consumer = producer, min_consumer
    return graph_def


def _constant_of_another_graph(tf, name: str):
    with tf.Graph().as_default():
        return tf.constant(5, name=name)


def _replaced(tf):
    graph_def = _graph_def(tf)

    def imported(input_map, **given):
        with tf.Graph().as_default() as graph:
            five = tf.constant(5, name="five")
            values = {key: five if value is None else value for key, value in input_map.items()}
            elements = tf.import_graph_def(
                graph_def, values, **{"return_elements": ["c:0"], **given}
            )
            names = [op.name for op in graph.get_operations()]
            return names, elements, elements and run(tf, elements[-1])

    return attempt(
        lambda: imported({"a": None}),
        lambda: imported({"a:0": None}),
        lambda: imported({b"b:0": None}),
        lambda: imported({"^n": None}),
        lambda: imported({"c": None}),
        lambda: imported({"c:0": None}, return_elements=["c", "a:0"]),
        lambda: imported({"a": 7}),
        lambda: imported({"a": 7}, name="x"),
        lambda: imported({"a": 7}, name=""),
        lambda: imported({"c": 7}, name=""),
        lambda: imported({"a": 7.0}),
        lambda: imported({"a": "text"}),
        lambda: imported({"c:1": None}),
        lambda: imported({"n:0": None}),
        lambda: imported({"z": None}),
        lambda: imported({"^z": None}),
        lambda: imported({"^a:0": None}),
        lambda: imported({"": None}),
        lambda: imported({"a:b": None}),
        lambda: imported({"a:0:0": None}),
        lambda: imported({"a": _constant_of_another_graph(tf, "strange")}),
        lambda: imported({"a": _constant_of_another_graph(tf, "five")}),
        lambda: imported({3: None}),
        lambda: imported({"a": None}, return_elements=["a:0", "a"]),
    )


def _returned(tf):
    graph_def = _graph_def(tf)

    def returned(*names):
        return tf.import_graph_def(graph_def, return_elements=names)

    return attempt(
        lambda: returned("c", "a:0", b"b:0", "c"),
        returned,
        lambda: returned("z"),
        lambda: returned("z:0"),
        lambda: returned("c:1"),
        lambda: returned("n:0"),
        lambda: returned("c:0:0"),
        lambda: returned("c:x"),
        lambda: returned("^n"),
        lambda: returned(3),
        lambda: returned(None),
    )


def _node(tf, text: str):
    """A node from `name op input input`; op types that need a dtype get int32."""
    name, op, *inputs = text.split(" ")
    node = tf.NodeDef(name=name, op=op, input=inputs)
    if op in {"Neg", "Add", "Assign"}:
        node.attr["T"].type = 3
    if op == "Placeholder":
        node.attr["dtype"].type = 3
    return node


def _refused(tf):
    def imported(*nodes: str):
        graph_def = tf.GraphDef(node=[_node(tf, text) for text in nodes])
        return tf.import_graph_def(graph_def)

    ints = "a Placeholder"
    return attempt(
        lambda: imported(ints, "b NoOp a"),
        lambda: imported(ints, "b LogicalAnd a"),
        lambda: imported(ints, "b Add a"),
        lambda: imported(ints, "b LogicalNot a"),
        lambda: imported(ints, "b Assign a a"),
        lambda: imported("b NoOp a:b"),
        lambda: imported("b NoOp a:0:0"),
        lambda: imported(ints, "b Neg a:-1"),
        lambda: imported(ints, "b NoOp ^a:0"),
        lambda: imported("b Neg b"),
        lambda: imported(ints, "a NoOp"),
        lambda: imported("b NoOp ^b"),
    )


def _versions(tf):
    graph = tf.get_default_graph()
    seen = []
    for producer, min_consumer in ((2000, 5), (1000, 3), (2400, 9)):
        tf.import_graph_def(_graph_def(tf, producer, min_consumer))
        versions = graph.graph_def_versions
        seen.append((versions.producer, versions.min_consumer))
    return (
        seen,
        graph.as_graph_def().versions.producer,
        attempt(
            lambda: tf.import_graph_def(_graph_def(tf, producer=-1)),
            lambda: tf.import_graph_def(_graph_def(tf, min_consumer=99999999)),
        ),
    )


def _library(tf):
    def with_function(name: str, op: str):
        graph_def = _graph_def(tf)
        function = graph_def.library.function.add()
        function.signature.name = name
        for arg in (function.signature.input_arg.add(), function.signature.output_arg.add()):
            arg.name, arg.type = "x", 3
        node = function.node_def.add(name="i", op=op, input=["x"])
        node.attr["T"].type = 3
        function.ret["x"] = "i:output:0" if op == "Identity" else "i:y:0"
        return graph_def

    graph = tf.get_default_graph()
    same = with_function("F", "Identity")
    tf.import_graph_def(same)
    tf.import_graph_def(same)
    tf.import_graph_def(with_function("G", "Neg"))
    functions = graph.as_graph_def().library.function
    return (
        [f.signature.name for f in functions],
        [f.node_def for f in functions],
        attempt(
            lambda: tf.import_graph_def(with_function("F", "Neg")),
            lambda: tf.import_graph_def(with_function("Neg", "Neg")),
            lambda: len(graph.as_graph_def().library.function),
        ),
    )


def _later_attributes(tf):
    """Attributes of a newer producer: dropped if they have the default of its release."""
    meta = tf.MetaGraphDef.MetaInfoDef
    op_list = meta().stripped_op_list
    declared = op_list.op.add(name="Neg")
    later = declared.attr.add(name="later", type="int")
    later.default_value.i = 4

    def imported(value: int, **given):
        graph_def = tf.GraphDef(node=[_node(tf, "a Placeholder"), _node(tf, "b Neg a")])
        graph_def.node[1].attr["later"].i = value
        (op,) = tf.import_graph_def(graph_def, return_elements=["b"], **given)
        return attempt(lambda: op.get_attr("later"))

    return attempt(lambda: imported(4, producer_op_list=op_list))


BEHAVIOURS = {
    function.__name__.strip("_"): function
    for function in (_replaced, _returned, _refused, _versions, _library, _later_attributes)
}
