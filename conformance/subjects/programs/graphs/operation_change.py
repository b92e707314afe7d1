"""Programs that create operations from NodeDefs, change inputs, or set kernel labels."""

from __future__ import annotations

from sessrun.conformance.subjects.programs.described import attempt, run

__all__ = ["BEHAVIOURS"]


def _control_inputs(tf):
    a, b, c = tf.no_op("a"), tf.no_op("b"), tf.no_op("c")
    c._add_control_input(a)
    c.control_inputs.append(b)
    seen = [list(c.control_inputs)]
    c._add_control_inputs([a, b, b])
    seen.append(list(c.control_inputs))
    refused = attempt(
        lambda: c._add_control_input(tf.constant(1)),
        lambda: c._add_control_inputs([3]),
    )
    c._remove_all_control_inputs()
    return seen, refused, c.control_inputs


def _inputs_of_a_wrong_dtype(tf):
    text, one, two = tf.constant("text"), tf.constant(1), tf.constant(2)
    total = tf.add(one, two)
    total.op._update_input(0, text)
    outcomes = attempt(lambda: run(tf, total), lambda: run(tf, two))
    total.op._update_input(0, two)
    return outcomes, run(tf, total), total.op.inputs[0]


def _consumers(tf):
    """The consumers of a tensor, before and after an input is replaced."""
    x, y, z = (tf.placeholder_with_default(float(i), [], name=n) for i, n in enumerate("xyz"))
    total, twice = tf.add(x, y, name="total"), tf.multiply(x, x, name="twice")

    def taken():
        return [[op.name for op in tensor.consumers()] for tensor in (x, y, z, total, twice)]

    seen = [taken()]
    changes = ((total.op, 0, z), (twice.op, 1, y), (twice.op, 0, total), (total.op, 0, x))
    for op, index, tensor in changes:
        op._update_input(index, tensor)
        seen.append(taken())
    later = tf.negative(z, name="later")
    seen.append(taken())
    return (
        seen,
        run(tf, [total, twice, later]),
        attempt(
            lambda: total.op._update_input(0, tf.constant([1.0])),
            lambda: run(tf, total),
        ),
    )


def _payloads(tf):
    """The payloads of errors, beside node, operation, code and message."""
    errors, op = tf.errors, tf.no_op("n")
    instances = (
        errors.OpError(None, op, "m", 3),
        errors.OpError(op.node_def, op, "m", 3, {"a": "b"}),
        errors.InvalidArgumentError(None, None, "m"),
        errors.InvalidArgumentError(None, None, "m", {b"a": b"b"}),
        errors.NotFoundError(None, op, "m", {}),
        errors.CancelledError(None, op, "m"),
        errors.UnknownError(None, op, "m"),
        errors.UnknownError(None, op, "m", {"a": 1}),
    )
    return [
        [
            error.experimental_payloads,
            error.error_code,
            error.message,
            error.op is op,
            error.node_def is None,
            str(error.args[1:]),
        ]
        for error in instances
    ]


def _attributes(tf):
    op = tf.placeholder(tf.float32, [2, None]).op
    value, listed = tf.AttrValue, tf.AttrValue.ListValue
    results = []
    for held in (
        value(i=3),
        value(f=1.5),
        value(b=True),
        value(s=b"x"),
        value(type=1),
        value(),
        value(list=listed(i=[1, 2])),
        value(list=listed(type=[1, 3])),
        value(list=listed()),
        value(func=tf.NameAttrList(name="f")),
        value(shape=tf.TensorShape([1, None]).as_proto()),
    ):
        op._set_attr("_given", held)
        results.append(op.get_attr("_given"))
    op._clear_attr("_given")
    results.append(op._output_types)
    return results, attempt(
        lambda: op.get_attr("_given"), lambda: op.get_attr("shape"), lambda: op.get_attr("dtype")
    )


def _kernel_labels(tf):
    graph = tf.get_default_graph()

    def label() -> bytes:
        attr: bytes = tf.no_op().node_def.attr["_kernel"].s
        return attr

    with graph._kernel_label_map({"NoOp": "one", "Neg": "none"}):
        seen = [label()]
        x = tf.placeholder_with_default(1.0, [])
        y = tf.negative(x)
        with graph._kernel_label_map({"NoOp": ""}):
            seen.append(label())
        seen.append(label())
    seen.append(label())
    return seen, attempt(
        lambda: run(tf, y),
        lambda: run(tf, x),
        lambda: run(tf, y, {y: 3.0}),
        lambda: graph._kernel_label_map({"a": 1}).__enter__(),
        lambda: graph._kernel_label_map("a").__enter__(),
    )


def _names_come_first(tf):
    graph = tf.get_default_graph()
    return attempt(
        lambda: graph.create_op("Unheard", [], [], name="_bad"),
        lambda: graph.create_op("Unheard", [], [], name="good"),
        lambda: graph.create_op("NoOp", [], [], name="a b"),
        lambda: graph.create_op("NoOp", [], [], name="a/").name,
        lambda: tf.no_op("").name,
        lambda: tf.identity(1, "").name,
        lambda: tf.constant(1, name=""),
        lambda: tf.add(1, 2, name="").name,
        lambda: graph.create_op("NoOp", [], [], name=""),
    )


def _built_from_node_defs(tf):
    graph, make = tf.get_default_graph(), tf.Operation.from_node_def
    c, d = tf.constant(1.0, name="c"), tf.constant(2.0, name="d")
    kind = tf.AttrValue(type=1)

    def node(name: str, op: str = "Add", **attrs):
        return tf.NodeDef(op=op, name=name, attr=attrs)

    with tf.name_scope("scope"), tf.device("/cpu:0"), tf.control_dependencies([d]):
        inside = make(node("inside", T=kind, other=tf.AttrValue(i=3)), graph, [c, d])
        placed = make(
            tf.NodeDef(op="Add", name="placed", device="/gpu:901", input=["^c"]), graph, [c, d]
        )
    return (
        inside,
        inside.get_attr("other"),
        placed,
        attempt(
            lambda: make(node("waits"), graph, [c, d], control_inputs=[c, d.op]),
            lambda: make(node("typed"), graph, [c, d], [tf.int32], input_types=[tf.float32] * 2),
            lambda: make(node("stands"), graph, [c, d], original_op=c.op)._original_op,
            lambda: make(node("inside"), graph, [c, d]),
            lambda: make(node("wrong"), graph, [c, d], input_types=[tf.int32, tf.float32]),
            lambda: make(node("wrong"), graph, [c, d], control_inputs=["c"]),
            lambda: make(node("wrong"), graph, [c, 1.0]),
            lambda: make(node("wrong"), graph, (c, d)),
            lambda: make(node("wrong"), graph, c),
            lambda: make(node("not valid"), graph, [c, d]),
            lambda: make(node("wrong", "Unheard"), graph),
            lambda: make(3, graph),
            lambda: make(node("wrong"), None, [c, d]),
            lambda: make(node("wrong", "MatMul"), graph, [c, d]),
            lambda: make(node("wrong", T=tf.AttrValue(type=3)), graph, [c, d]),
            lambda: make(node("wrong", "Assign"), graph, [c, d]),
            lambda: make(node("p", "Placeholder", dtype=kind), graph).outputs,
            lambda: make(node("pack", "Pack", N=tf.AttrValue(i=2)), graph, [c, d]).outputs,
            lambda: [graph.unique_name(name) for name in ("wrong", "p", "inside", "scope")],
            lambda: run(tf, inside.outputs[0]),
            lambda: [op.name for op in graph.get_operations()],
        ),
    )


def _values_that_make_tensors(tf):
    class Own:
        def __tf_tensor__(self, dtype=None, name=None):
            return tf.constant(1.0 if dtype is None else 1, dtype, name=name)

    one, two = Own(), tf.constant(2.0)
    return attempt(
        lambda: tf.convert_to_tensor(one, name="n"),
        lambda: tf.convert_to_tensor(one, tf.int32),
        lambda: tf.convert_to_tensor(one, preferred_dtype=tf.float64),
        lambda: one + two,
        lambda: two + one,
        lambda: tf.negative(one),
        lambda: tf.stack([one, 2.0]),
        lambda: tf.convert_to_tensor([one, 2.0]),
        lambda: tf.constant(one),
        lambda: tf.is_tensor(one),
        lambda: run(tf, tf.placeholder(tf.float32, name="p"), {"p:0": one}),
    )


BEHAVIOURS = {
    function.__name__.strip("_"): function
    for function in (
        _control_inputs,
        _inputs_of_a_wrong_dtype,
        _attributes,
        _consumers,
        _payloads,
        _kernel_labels,
        _names_come_first,
        _values_that_make_tensors,
    )
} | {
    "made_from_node_defs": _built_from_node_defs,
}
