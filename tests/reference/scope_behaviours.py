"""Programs about scopes, references, created operations and registered gradients."""

from __future__ import annotations

from contextlib import ExitStack
from itertools import count
from threading import Thread
from typing import Any

import numpy as np

from sessrun.conformance.subjects.programs.described import attempt, run

__all__ = ["BEHAVIOURS"]

#: Numbers for names that a registry of the process has not seen.
_FRESH = count()


def _entered(scope: Any) -> Any:
    with scope as given:
        return given


def _name_scope_arguments(tf: Any) -> Any:
    a = tf.constant(1, name="a")
    with tf.Graph().as_default():
        strange = tf.constant(2)
    sparse = tf.SparseTensor([[0]], [1.0], [2])

    def graph_inside(values: Any) -> bool:
        with tf.Graph().as_default(), tf.name_scope("g", values=values):
            return tf.get_default_graph() is a.graph

    scope = tf.name_scope("again")
    return [scope.name, _entered(scope), _entered(scope)], attempt(
        lambda: _entered(tf.name_scope(None, values=[a])),
        lambda: _entered(tf.name_scope(None, None, [])),
        lambda: _entered(tf.name_scope(None)),
        lambda: tf.name_scope("x", [a]),
        lambda: _entered(tf.name_scope(b"bytes")),
        lambda: _entered(tf.name_scope(3)),
        lambda: _entered(tf.name_scope("/")),
        lambda: _entered(tf.op_scope([a], "s")),
        lambda: _entered(tf.op_scope([a], None, "d")),
        lambda: _entered(tf.op_scope([a], None)),
        lambda: _entered(tf.name_scope("m", values=a)),
        lambda: _entered(tf.name_scope("two", values=[a, strange])),
        lambda: graph_inside([a.op]),
        lambda: graph_inside([3, sparse]),
        lambda: graph_inside([]),
        lambda: _entered(tf.get_default_graph().name_scope("a b")),
    )


def _left_in_another_order(tf: Any) -> Any:
    def crossed(open_scope: Any) -> Any:
        """What leaving the outer of two scopes first raises; in a thread, which is then over."""
        found = []

        def leave(first: Any, second: Any) -> None:
            first.__enter__()
            second.__enter__()
            found.extend(attempt(lambda: first.__exit__(None, None, None)))
            second.__exit__(None, None, None)

        graph = tf.Graph()
        graph.switch_to_thread_local()
        thread = Thread(target=leave, args=(open_scope(graph, "a"), open_scope(graph, "b")))
        thread.start()
        thread.join()
        return found

    return [
        crossed(lambda graph, name: graph.device(f"/job:{name}")),
        crossed(lambda graph, _name: graph.control_dependencies([])),
        crossed(lambda graph, name: graph.container(name)),
    ]


def _lifted(tf: Any) -> Any:
    outer, inner = tf.get_default_graph(), tf.Graph()
    a = tf.constant(1.0, name="a")
    with tf.name_scope("n"), tf.device("/cpu:1"), tf.control_dependencies([a]):
        with tf.init_scope():
            b = tf.no_op("b")
        c = tf.no_op("c")
    with inner.as_default(), tf.init_scope():
        d = tf.no_op("d")
    return b, c, d, d.graph is inner, outer.building_function


def _placed_beside(tf: Any) -> Any:
    with tf.device("/cpu:3"):
        a = tf.constant(1, name="a")
    with tf.device("/gpu:0"):
        b = tf.constant(1, name="b")
    c = tf.constant(1, name="c")
    found = []
    for others in ((a, b), (b, a), (a, c), (c, a), (a, c, b)):
        with ExitStack() as stack:
            for other in others:
                stack.enter_context(tf.colocate_with(other))
            d = tf.constant(2)
        found.append((d.device, d.op.colocation_groups()))
    return found


def _waited_for(tf: Any) -> Any:
    slices = tf.IndexedSlices(tf.constant(1.0, name="rows"), tf.constant(1))
    variable = tf.Variable(1.0, name="v", use_resource=True)

    def waits(*values: Any) -> Any:
        with tf.control_dependencies(values):
            return tf.no_op().control_inputs

    return attempt(
        lambda: waits(slices, variable),
        lambda: waits(tf.SparseTensor([[0]], [1.0], [2])),
        lambda: _entered(tf.control_dependencies(list)),
        lambda: waits(lambda: slices.op),
        lambda: _entered(tf.control_dependencies(tf.constant([1]))),
    )


def _contained(tf: Any) -> Any:
    graph = tf.get_default_graph()
    found = [_entered(graph.container("c")), _entered(tf.container(""))]
    with graph.container("one"):
        found.append(tf.Variable(1.0).op.get_attr("container"))
        with graph.container("two"):
            found.append(tf.Variable(1.0).op.get_attr("container"))
        with graph.container(""):
            found.append(tf.Variable(1.0).op.get_attr("container"))
    return found


def _device_functions(tf: Any) -> Any:
    def placed(answer: Any) -> str:
        with tf.device(lambda _op: answer):
            return tf.constant(1).device

    answers = ("/cpu:0", b"/cpu:1", None, 3, "bad", tf.DeviceSpec(job="z"))
    seen: list[Any] = []

    def looks(op: Any) -> str:
        seen.append([op.type, op.device, len(op.inputs), len(op.outputs), op.node_def.op])
        return "/cpu:0"

    with tf.device("/job:a"), tf.device(looks), tf.device("/gpu:1"):
        tf.identity(tf.placeholder(tf.float32))
    return attempt(*(lambda answer=answer: placed(answer) for answer in answers)), seen


def _references(tf: Any) -> Any:
    a, b, v = tf.constant(1), tf.constant(1), tf.Variable(1.0)
    places = {a.ref(): "a", b.ref(): "b", v.ref(): "v"}
    places[a.experimental_ref()] = "again"
    found = [
        len(places),
        places[a.ref()],
        a.ref() == b.ref(),
        a.ref() != b.ref(),
        a.ref().deref() is a,
        v.ref().deref() is v,
        repr(a.ref())[:20],
    ]
    return found, attempt(lambda: a.ref() == a, lambda: a.ref() == 3, lambda: a.ref() != a)


def _values_of_symbols(tf: Any) -> Any:
    a = tf.constant([1.0], name="a")
    a.tag, a.op.tag = "mine", "its"
    return [a.tag, a.op.tag, sorted(tf.Tensor.OVERLOADABLE_OPERATORS - {"__div__", "__rdiv__"})], (
        attempt(
            lambda: bool(a),
            lambda: iter(a),
            lambda: len(a),
            lambda: float(a),
            lambda: 1.0 in a,
            lambda: np.array(a),
            lambda: a.nope,
            lambda: tf.convert_to_tensor(a.op),
            lambda: tf.add(a.op, 1.0),
            lambda: setattr(a, "shape", [1]),
        )
    )


def _created(tf: Any) -> Any:
    graph = tf.get_default_graph()
    a = tf.constant([1.0, 2.0], name="a")
    one, whole = tf.AttrValue(type=1), tf.AttrValue(type=3)
    v = tf.Variable(1.0, name="v", use_resource=False)
    beside = graph.create_op("IsVariableInitialized", [v._ref()], [tf.bool], name="asked")
    return (
        beside,
        beside.colocation_groups(),
        attempt(
            lambda: graph.create_op("Identity", [a], [tf.float32], attrs={"T": one}),
            lambda: graph.create_op("Identity", [a], [tf.float32], attrs={"T": whole}),
            lambda: graph.create_op("Identity", [1.0], [tf.float32]),
            lambda: graph.create_op("Identity", [a.op], [tf.float32]),
            lambda: graph.create_op("Placeholder", [], [tf.float32]),
            lambda: graph.create_op("Nope", []),
            lambda: graph.create_op("NoOp", [], [], name="a b"),
            lambda: graph.create_op("NoOp", [], [], name="x/"),
            lambda: graph.create_op("NoOp", []),
            lambda: graph.create_op("Identity", [a], [tf.float32], input_types=[tf.int32]),
            lambda: graph.create_op("Identity", [a], [tf.float32], input_types=[tf.float32]),
            lambda: graph.create_op("Identity", [a], [tf.float32], compute_shapes=False),
            lambda: graph.create_op("Add", [a, tf.constant(1)], [tf.float32]),
            lambda: graph.create_op("MatMul", [a, a], [tf.float32]),
            lambda: graph.create_op("NoOp", [], [], attrs={"_mine": whole}).get_attr("_mine"),
        ),
    )


def _rewired(tf: Any) -> Any:
    a, b, c = tf.no_op("a"), tf.no_op("b"), tf.no_op("c")
    c._add_control_input(a)
    c._add_control_inputs([a, b, b])
    found = [list(c.control_inputs), a._control_outputs]
    c._remove_all_control_inputs()
    a._set_device(tf.DeviceSpec(job="j", device_type="CPU"))
    return found, c.control_inputs, a.device


def _other_inputs(tf: Any) -> Any:
    a, b = tf.constant([1.0], name="a"), tf.constant([2.0], name="b")
    z = tf.add(a, b, name="z")
    with tf.Graph().as_default():
        strange = tf.constant([1.0])
    z.op._update_input(0, b)
    found = [list(z.op.inputs), a.consumers(), b.consumers(), run(tf, z)]
    z.op._update_input(0, a)
    taken = tf.assign(tf.Variable(1.0, use_resource=False), 2.0).op._input_types
    return (
        found,
        list(z.op.inputs),
        run(tf, z),
        taken,
        attempt(
            lambda: z.op._update_input(2, a),
            lambda: z.op._update_input(0, strange),
            lambda: z.op._update_input(0, tf.ones([2, 2])),
        ),
    )


def _circle(tf: Any) -> Any:
    a, b, c = tf.constant(1, name="a"), tf.constant(2, name="b"), tf.constant(3, name="c")
    a.op._add_control_input(b.op)
    b.op._add_control_inputs([a.op, c.op])
    return attempt(lambda: run(tf, a))


def _made_where(tf: Any) -> Any:
    frame = next(f for f in tf.constant(1).op.traceback if f.name == "_made_where")
    return frame.filename == __file__, frame[0] == __file__, frame.lineno == frame[1], len(frame)


def _undeclared_attributes(tf: Any) -> Any:
    graph = tf.get_default_graph()

    def asked() -> Any:
        op = tf.no_op()
        return sorted((key, value.s) for key, value in op.node_def.attr.items())

    found = [asked()]
    with graph._attr_scope({"_a": tf.AttrValue(s=b"1")}):
        found.append(asked())
        with graph._attr_scope({"_a": None, "_b": tf.AttrValue(s=b"2")}):
            found.append(asked())
        found.append(asked())
    return found


def _gradients(tf: Any) -> Any:
    first, second = (f"Gradient{next(_FRESH)}" for _ in range(2))
    made = tf.RegisterGradient(first)(run)
    return (
        made is run,
        tf.NotDifferentiable(second),
        attempt(
            lambda: tf.RegisterGradient(first)(run),
            lambda: tf.NotDifferentiable(second),
            lambda: tf.RegisterGradient(3),
            lambda: tf.NotDifferentiable(3),
            lambda: tf.RegisterGradient(second)(run),
            lambda: tf.NoGradient is tf.NotDifferentiable,
        ),
    )


BEHAVIOURS = {
    function.__name__.strip("_"): function
    for function in (
        _name_scope_arguments,
        _left_in_another_order,
        _lifted,
        _placed_beside,
        _waited_for,
        _contained,
        _device_functions,
        _references,
        _values_of_symbols,
        _created,
        _rewired,
        _other_inputs,
        _circle,
        _made_where,
        _undeclared_attributes,
        _gradients,
    )
}
