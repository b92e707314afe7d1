"""Programs that change operations after they were made, or ask for kernels by a label."""

from __future__ import annotations

from typing import Any

from described import attempt, run

__all__ = ["BEHAVIOURS"]


def _control_inputs(tf: Any) -> Any:
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


def _inputs_of_a_wrong_dtype(tf: Any) -> Any:
    text, one, two = tf.constant("text"), tf.constant(1), tf.constant(2)
    total = tf.add(one, two)
    total.op._update_input(0, text)
    found = attempt(lambda: run(tf, total), lambda: run(tf, two))
    total.op._update_input(0, two)
    return found, run(tf, total), total.op.inputs[0]


def _attributes(tf: Any) -> Any:
    op = tf.placeholder(tf.float32, [2, None]).op
    value, listed = tf.AttrValue, tf.AttrValue.ListValue
    found = []
    for held in (
        value(i=3), value(f=1.5), value(b=True), value(s=b"x"), value(type=1), value(),
        value(list=listed(i=[1, 2])), value(list=listed(type=[1, 3])), value(list=listed()),
        value(func=tf.NameAttrList(name="f")), value(shape=tf.TensorShape([1, None]).as_proto()),
    ):  # fmt: skip
        op._set_attr("_given", held)
        found.append(op.get_attr("_given"))
    op._clear_attr("_given")
    found.append(op._output_types)
    return found, attempt(
        lambda: op.get_attr("_given"), lambda: op.get_attr("shape"), lambda: op.get_attr("dtype")
    )


def _kernel_labels(tf: Any) -> Any:
    graph = tf.get_default_graph()

    def label() -> bytes:
        found: bytes = tf.no_op().node_def.attr["_kernel"].s
        return found

    with graph._kernel_label_map({"NoOp": "one", "Neg": "none"}):
        seen = [label()]
        x = tf.placeholder_with_default(1.0, [])
        y = tf.negative(x)
        with graph._kernel_label_map({"NoOp": ""}):
            seen.append(label())
        seen.append(label())
    seen.append(label())
    return seen, attempt(
        lambda: run(tf, y), lambda: run(tf, x), lambda: run(tf, y, {y: 3.0}),
        lambda: graph._kernel_label_map({"a": 1}).__enter__(),
        lambda: graph._kernel_label_map("a").__enter__(),
    )  # fmt: skip


def _names_come_first(tf: Any) -> Any:
    graph = tf.get_default_graph()
    return attempt(
        lambda: graph.create_op("Unheard", [], [], name="_bad"),
        lambda: graph.create_op("Unheard", [], [], name="good"),
        lambda: graph.create_op("NoOp", [], [], name="a b"),
        lambda: graph.create_op("NoOp", [], [], name="a/").name,
        lambda: tf.no_op("").name, lambda: tf.identity(1, "").name, lambda: tf.constant(1, name=""),
        lambda: tf.add(1, 2, name="").name, lambda: graph.create_op("NoOp", [], [], name=""),
    )  # fmt: skip


BEHAVIOURS = {
    function.__name__.strip("_"): function
    for function in (
        _control_inputs, _inputs_of_a_wrong_dtype, _attributes, _kernel_labels, _names_come_first
    )
}  # fmt: skip
