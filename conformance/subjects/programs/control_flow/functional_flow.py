"""Programs whose branches and loops are functions: values, gradients, operations, errors."""

from __future__ import annotations

import re

from sessrun.conformance.subjects.programs.described import attempt
from sessrun.conformance.subjects.programs.program import PairFunction, Plain, Program
from sessrun.spec.cases.objects import Value

__all__ = ["BEHAVIOURS", "REDUNDANT", "functional", "plain_name"]

REDUNDANT = re.compile(r".*___redundant")
_NUMBER = re.compile(r"_\d+(?=$|_grad|_rewritten)")


def functional(program: Program) -> Program:
    """The program, run with branches and loops as functions."""

    def switched(tf):
        tf.enable_control_flow_v2()
        try:
            return tf.control_flow_v2_enabled(), program(tf)
        finally:
            tf.disable_control_flow_v2()

    return switched


def plain_name(text: str, names: dict[str, str]) -> str:
    """A function's name without the number that makes it unique in a process."""
    return names.get(text) or _NUMBER.sub("", text)


def _operations(tf):
    """The operations of the graph, and those of the functions that it calls, in order."""
    graph = tf.get_default_graph().as_graph_def()
    library = {function.signature.name: function for function in graph.library.function}

    def functions(node) -> list[Plain]:
        rows = []
        for key in sorted(node.attr):
            value = node.attr[key]
            called = [value.func] if value.WhichOneof("value") == "func" else value.list.func
            for reference in called:
                body = library[reference.name]
                takes = [(arg.name, arg.type) for arg in body.signature.input_arg]
                gives = [(arg.name, arg.type) for arg in body.signature.output_arg]
                takes = [(REDUNDANT.sub("redundant", name), kind) for name, kind in takes]
                rows.append(
                    (
                        key,
                        plain_name(reference.name, {}),
                        takes,
                        gives,
                        sorted(body.ret.items()),
                        nodes(body.node_def),
                    )
                )
        return rows

    def nodes(listed) -> list[Plain]:
        return [(node.name, node.op, list(node.input), functions(node)) for node in listed]

    return nodes(graph.node)


def _runs(tf, fetched, feeds=({},)) -> list[Value]:
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return [session.run(fetched, feed) for feed in feeds]


def _both_ways(tf, build: PairFunction):
    """The operations of a conditional, and its value and gradient for either predicate."""
    pred, x = tf.placeholder(tf.bool, [], name="p"), tf.constant([1.0, 2.0], name="x")
    y = build(pred, x)
    grads = tf.gradients(y, x)
    return _operations(tf), _runs(tf, [y, grads], [{pred: True}, {pred: False}])


def _branch(tf):
    return _both_ways(tf, lambda p, x: tf.cond(p, lambda: tf.sin(tf.sin(x)), lambda: x * 2.0))


def _nested_branches(tf):
    def build(pred, x):
        inner = lambda: tf.cond(x[0] > 0.0, lambda: tf.exp(x) * x, lambda: x)  # noqa: E731
        return tf.cond(pred, lambda: inner() * x, inner)

    return _both_ways(tf, build)[1]


def _second_derivative(tf):
    pred, x = tf.placeholder(tf.bool, []), tf.constant(3.0)
    y = tf.cond(pred, lambda: x * x * x, lambda: tf.constant(1.0))
    first = tf.gradients(y, x)[0]
    return _runs(tf, [first, *tf.gradients(first, x)], [{pred: True}, {pred: False}])


def _rows(tf):
    pred, x = tf.placeholder(tf.bool, []), tf.constant([1.0, 2.0, 3.0])
    v = tf.get_variable("v", initializer=[1.0, 42.0, 2.0], use_resource=True)
    y = tf.cond(pred, lambda: tf.gather(v, [1, 1]), lambda: x[:2])
    grads = tf.gradients(y, [v, x])
    kinds = [isinstance(gradient, tf.IndexedSlices) for gradient in grads]
    return kinds, _runs(tf, grads, [{pred: True}, {pred: False}])


def _what_is_not_fetched(tf):
    v, w = (tf.get_variable(name, initializer=7, use_resource=True) for name in "vw")
    outputs = tf.cond(
        tf.constant(True),
        lambda: [tf.assign(v, 1).op, tf.assign(w, 2).op],
        lambda: [tf.constant(3).op, tf.constant(4).op],
    )
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return (
            session.run(outputs[1]),
            session.run([v, w]),
            session.run(outputs),
            session.run([v, w]),
        )


def _structures(tf):
    x = tf.constant(2)
    one = lambda: {"a": x, "b": (x + 1, [x])}  # noqa: E731
    other = lambda: {"a": x * 2, "b": (x, [x - 1])}  # noqa: E731
    return _runs(tf, tf.cond(x > 1, one, other)), attempt(
        lambda: tf.cond(x > 1, one, lambda: {"c": x, "b": (x, [x])}),
        lambda: tf.cond(x > 1, lambda: 1, lambda: 2.0),
        lambda: tf.cond(True, one, other),
        lambda: tf.cond(x > 1, lambda: "a", lambda: 2),
        lambda: tf.cond(x > 1, lambda: tf.IndexedSlices(tf.stack([x]), tf.stack([x])), lambda: x),
        lambda: tf.cond(x > 1, lambda: object(), lambda: x),
    )


def _across_branches(tf):
    tensors = []

    def one():
        tensors.append(tf.identity(tf.constant(1.0), name="kept"))
        return tensors[0]

    return attempt(lambda: tf.cond(tf.constant(True), one, lambda: tf.identity(tensors[0])))


def _loop(tf):
    v = tf.constant(2.0, name="v")
    outputs = tf.while_loop(lambda i, _: i < 3, lambda i, x: (i + 1, x * v), [0, 1.0])
    limited = tf.while_loop(lambda x: x < 100.0, tf.square, [v], maximum_iterations=2)
    return _operations(tf), _runs(tf, [outputs, limited])


def _gradient_of_a_loop(tf):
    v, x = tf.constant([2.0, 3.0]), tf.constant([1.0, 1.5])
    output = tf.while_loop(lambda i, _: i < 3, lambda i, a: (i + 1, a * v + tf.sin(a)), [0, x])[1]
    return _runs(tf, [output, tf.gradients(output, [v, x])])


def _derivatives_of_loops(tf):
    """First and second derivatives of loops, with all operations of the first."""
    x = tf.constant(2.0, name="x")
    y = tf.while_loop(lambda v: v < 8.0, lambda v: v * v, [x])
    first = tf.gradients(y, x)[0]
    operations = _operations(tf)
    again = tf.while_loop(lambda v: v < 300.0, lambda v: v * x, [y])
    return operations, _runs(tf, [y, first, tf.gradients(first, x), tf.gradients(again, x)])


def _of_an_imported_graph(tf):
    """First and second derivatives of branches and loops in an imported graph."""
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [], name="x")
        y = tf.cond(x > 1.0, lambda: x * x * x, lambda: tf.sin(x))
        z = tf.while_loop(lambda v: v < 30.0, lambda v: v * v, [y], maximum_iterations=2)
        tf.add(y, z, name="sum")
    x = tf.placeholder_with_default(2.0, [])
    (output,) = tf.import_graph_def(graph.as_graph_def(), {"x": x}, ["sum:0"])
    first = tf.gradients(output, x)[0]
    return _runs(tf, [output, first, tf.gradients(first, x)], [{}, {x: 0.5}])


def _loops_in_loops(tf):
    v = tf.get_variable("v", initializer=[2.0, 3.0], use_resource=True)

    def inner(x):
        return tf.while_loop(
            lambda i, _: i < 2, lambda i, a: (i + 1, a * tf.gather(v, [i])[0]), [0, x]
        )[1]

    y = tf.while_loop(
        lambda i, _: i < 3,
        lambda i, a: (i + 1, tf.cond(tf.equal(i, 1), lambda: a + v[0], lambda: inner(a))),
        [0, 1.0],
    )[1]
    (grad,) = tf.gradients(y, v)
    return _runs(tf, [y, tf.convert_to_tensor(grad)])


def _what_python_gives(tf):
    """Python functions and reused variables within loops."""
    with tf.variable_scope("root", use_resource=True) as scope:

        def twice(x):
            with tf.variable_scope("body"):
                return x * tf.get_variable("two", [], initializer=tf.constant_initializer(2.0))

        one = tf.map_fn(twice, tf.constant([1.0, 2.0]))
        scope.reuse_variables()
        other = tf.map_fn(twice, tf.constant([3.0]))
    called = tf.while_loop(
        lambda i, _: i < 2,
        lambda i, a: (i + 1, tf.py_func(lambda value: value + value, [a], tf.float32)),
        [0, 1.0],
        [tf.TensorShape([]), tf.TensorShape(None)],
    )[1]
    names = [variable.name for variable in tf.trainable_variables()]
    return names, _runs(tf, [one, other, called])


def _elements(tf):
    rows = tf.IndexedSlices(tf.constant([1.0]), tf.constant([2]))
    tied = tf.tuple([rows, tf.constant(3.0)])
    return _runs(tf, tied[0].values), attempt(
        lambda: tf.map_fn(lambda x: x, []),
        lambda: tf.map_fn(lambda x: x, 1),
        lambda: tf.map_fn(lambda x: x, [1, 2]),
    )


def _arrays(tf):
    x = tf.constant([1.0, 2.0, 3.0])
    squares = tf.map_fn(lambda element: element * element, x)
    sums = tf.scan(lambda total, element: total * element, x)
    array = tf.TensorArray(tf.float32, 3).unstack(x).write(1, 7.0)
    grown = tf.TensorArray(tf.int32, 0, dynamic_size=True).write(2, 5)
    parts = tf.TensorArray(tf.float32, 2, infer_shape=False).split(x, [1, 2])
    fetched = [
        squares,
        sums,
        array.stack(),
        array.read(1),
        array.size(),
        array.gather([2, 0]),
        grown.size(),
        grown.stack(),
        parts.concat(),
        parts.read(1),
    ]
    kinds = [array.handle, array.flow.dtype.name, str(array.element_shape)]
    return kinds, _runs(tf, [fetched, tf.gradients([squares, sums], x)])


def _shapes_in_a_loop(tf):
    one, pair = tf.constant(0), tf.ones([2, 2])
    grows = lambda i, j: (i + 1, tf.concat([j, j], 0))  # noqa: E731
    goes_on = lambda i, _: i < 2  # noqa: E731
    free = tf.while_loop(goes_on, grows, [one, pair], [one.shape, tf.TensorShape([None, 2])])[1]
    return (
        free.shape.as_list(),
        _runs(tf, free),
        attempt(
            lambda: tf.while_loop(goes_on, grows, [one, pair]),
            lambda: tf.while_loop(goes_on, lambda i, j: (i + 1, tf.cast(j, tf.int32)), [one, pair]),
            lambda: tf.while_loop(goes_on, lambda i, j: (i, j, j), [one, pair]),
        ),
    )


def _waiting(tf):
    """Control dependencies on outer operations become those of the branch or loop."""
    v = tf.get_variable("v", initializer=0, use_resource=True)
    added = tf.assign_add(v, 1)

    def body(i):
        with tf.control_dependencies([added, i]):
            return i + 1

    branch = tf.cond(tf.constant(True), lambda: body(tf.constant(4)), lambda: 0)
    loop = tf.while_loop(lambda i: i < 3, body, [0])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return [session.run(fetch) for fetch in (branch, v, loop, v)]


def _gradients_within(tf):
    x = tf.constant(5.0)
    squared = tf.square(x)

    def inside():
        return tf.gradients(tf.constant([1.0, 2.0]) * squared, x)[0]

    branch = tf.cond(x > 1.0, inside, lambda: x)
    loop = tf.while_loop(lambda i, _: i < 2, lambda i, a: (i + 1, a + inside()), [0, 0.0])
    return _runs(tf, [branch, loop])


def _asked_for_after_a_run(tf):
    """Gradients that need intermediate values which an earlier run did not output."""
    x = tf.constant(10.0)
    outcomes = []
    for gives_all in (True, None):
        tf.experimental.output_all_intermediates(gives_all)
        try:
            y = tf.cond(x > 1.0, lambda: tf.square(x * x), lambda: x)
        finally:
            tf.experimental.output_all_intermediates(None)
        with tf.Session() as session:
            outcomes.append(session.run(y))
            grad = tf.gradients(y, x)[0]
            outcomes.append(attempt(lambda: session.run(grad)))  # noqa: B023 - called at once
    return outcomes


def _of_a_number(tf):
    """The operations of a gradient through `switch_case`, which is always built of functions."""
    number, x = tf.placeholder(tf.int32, [], name="n"), tf.constant([3.0, 4.0], name="x")
    y = tf.switch_case(number, [lambda: tf.sin(tf.sin(x)), lambda: x * x, lambda: x + 1.0])
    grads = tf.gradients(y, x)
    return _operations(tf), _runs(tf, grads, [{number: fed} for fed in (0, 1, 2, 5)])


def _within_a_number(tf):
    """A conditional within a branch of `switch_case` is built of functions in any case."""
    number, x = tf.placeholder(tf.int32, [], name="n"), tf.constant(3.0, name="x")
    inner = lambda: tf.cond(x > 1.0, lambda: x * x, lambda: x)  # noqa: E731
    y = tf.switch_case(number, [inner, lambda: x])
    return _operations(tf), _runs(tf, tf.gradients(y, x), [{number: 0}, {number: 1}])


def _what_is_not_taken(tf):
    """Operations that no fetched loop variable depends on do not run, not even stateful ones."""
    v = tf.get_variable("v", initializer=0.0, use_resource=True)
    row = tf.placeholder_with_default([1.0, 2.0], [None])

    def loop(goes_on, product):
        def body(i, a, b):
            with tf.control_dependencies([v.assign_add(1.0)]):
                return i + 1, product(a, b), b + 1.0

        return tf.while_loop(goes_on, body, [0, 2.0, 0.0])

    counted, doubled = (lambda i, _a, _b: i < 3), (lambda a, _: a * 2.0)
    bare = loop(counted, doubled)
    with tf.control_dependencies([bare[1].op.inputs[0].op]):
        after = tf.constant(1)
    fails = tf.while_loop(lambda i, _: i < 3, lambda i, a: (i + 1, a + row[i + 1]), [0, 0.0])
    inner = tf.while_loop(
        lambda i, *_: i < 2,
        lambda i, x, y: (i + 1, x + loop(counted, doubled)[1], y + loop(counted, doubled)[2]),
        [0, 0.0, 0.0],
    )
    chosen = tf.cond(row[0] > 0.0, lambda: loop(counted, doubled)[1:], lambda: [row[0], row[1]])
    fetched = [
        bare[1],
        bare[2],
        after,
        bare[1].op.inputs[0].op.outputs[0],
        fails[0],
        fails[1],
        loop(lambda _i, _a, b: b < 3.0, doubled)[1],
        loop(counted, lambda a, b: a * b)[1],
        inner[1],
        inner[2],
        chosen[0],
        chosen[1],
    ]
    with tf.Session() as session:
        session.run(v.initializer)
        return attempt(
            *(lambda fetch=fetch: (session.run(fetch), session.run(v)) for fetch in fetched)
        )


BEHAVIOURS = {
    "gradients-of-switch-case": _of_a_number,
    "branches-within-switch-case": _within_a_number,
    **{
        program.__name__.strip("_").replace("_", "-"): functional(program)
        for program in (
            _branch,
            _nested_branches,
            _second_derivative,
            _rows,
            _what_is_not_fetched,
            _structures,
            _across_branches,
            _loop,
            _gradient_of_a_loop,
            _arrays,
            _derivatives_of_loops,
            _of_an_imported_graph,
            _loops_in_loops,
            _what_python_gives,
            _elements,
            _shapes_in_a_loop,
            _waiting,
            _what_is_not_taken,
            _gradients_within,
            _asked_for_after_a_run,
        )
    },
}
