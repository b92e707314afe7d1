"""Programs of conditionals and loops: graphs, values, effects and errors."""

# ruff: noqa: ARG005 - a loop passes every variable to its functions

from __future__ import annotations

import importlib
import re
from collections.abc import Callable

from sessrun.conformance.subjects.programs.described import attempt
from sessrun.conformance.subjects.programs.program import Plain, Program, Structure
from sessrun.spec.cases.namespace import Namespace

__all__ = ["BEHAVIOURS"]


class World:
    """The inputs of the programs: a predicate, a constant, a variable of each kind."""

    def __init__(self, tf) -> None:
        self.p = tf.placeholder(tf.bool, [], name="p")
        self.x = tf.constant(3.0, name="x")
        self.v = tf.get_variable("v", initializer=1.0, use_resource=False)
        self.r = tf.get_variable("r", initializer=1.0, use_resource=True)


WorldProgram = Callable[[Namespace, World], Structure]
PROGRAMS: list[WorldProgram] = []


def program(function: WorldProgram) -> WorldProgram:
    PROGRAMS.append(function)
    return function


@program
def nested_conditionals(tf, w: World):
    return tf.cond(
        w.p, lambda: tf.cond(w.x > 1.0, lambda: w.x * 2.0, lambda: w.x), lambda: w.v + w.x
    )


@program
def a_conditional_in_a_loop(tf, w: World):
    return tf.while_loop(
        lambda i, a: i < 5,
        lambda i, a: (i + 1, tf.cond(tf.equal(i, 2), lambda: a * w.x, lambda: a + 1.0)),
        [0, 1.0],
    )


@program
def a_loop_in_a_conditional(tf, w: World):
    return tf.cond(
        w.p, lambda: tf.while_loop(lambda i: i < 5, lambda i: i + 1, [0]), lambda: tf.constant(7)
    )


@program
def nested_loops(tf, w: World):
    def body(i, a):
        inner = tf.while_loop(lambda j, b: j < i, lambda j, b: (j + 1, b + w.x), [0, a])
        return i + 1, inner[1]

    return tf.while_loop(lambda i, a: i < 4, body, [0, 1.0])


@program
def updates_in_a_loop(tf, w: World):
    def body(i):
        with tf.control_dependencies([tf.assign_add(w.v, 1.0), w.r.assign_add(2.0)]):
            return i + 1

    with tf.control_dependencies([tf.while_loop(lambda i: i < 5, body, [0])]):
        return tf.identity(w.v.read_value()), w.r.read_value()


@program
def variables_in_structures(tf, w: World):
    return tf.while_loop(
        lambda d: d["i"] < 3,
        lambda d: [{"i": d["i"] + 1, "l": [d["l"][0] * 2.0, d["l"][1]]}],
        [{"i": 0, "l": [w.x, tf.constant([1, 2])]}],
    )


@program
def a_limit_of_iterations(tf, w: World):
    one = tf.while_loop(lambda i: i < 100, lambda i: i + 1, [0], maximum_iterations=3)
    two = tf.while_loop(
        lambda i, j: i < 100, lambda i, j: (i + 1, j * 2), (0, 1), maximum_iterations=3
    )
    return one, two


@program
def an_array_in_a_loop(tf, w: World):
    array = tf.TensorArray(tf.float32, 5)
    _, array = tf.while_loop(
        lambda i, a: i < 5,
        lambda i, a: (i + 1, a.write(i, tf.cast(i, tf.float32) * w.x)),
        [0, array],
    )
    return array.stack()


@program
def a_shape_that_grows(tf, w: World):
    return tf.while_loop(
        lambda i, s: i < 3,
        lambda i, s: (i + 1, tf.concat([s, [i]], 0)),
        [0, tf.constant([7])],
        shape_invariants=[tf.TensorShape([]), tf.TensorShape([None])],
    )


@program
def branches_of_operations(tf, w: World):
    return tf.cond(w.p, lambda: tf.group(tf.assign_add(w.v, 1.0)), lambda: tf.no_op())


@program
def values_handed_on(tf, w: World):
    y = w.x * 5.0
    with tf.control_dependencies([tf.no_op(name="before")]):
        return (
            tf.cond(w.p, lambda: y, lambda: w.x, strict=True),
            tf.cond(w.p, lambda: [y], lambda: [w.x], strict=True),
            tf.cond(w.p, lambda: (y, w.x), lambda: (w.x, y)),
        )


@program
def a_sparse_value(tf, w: World):
    one = tf.SparseTensor([[0, 1]], [1.0], [2, 2])
    return tf.cond(w.p, lambda: one, lambda: tf.SparseTensor([[1, 1]], [3.0], [2, 2])).values


@program
def an_update_on_one_branch(tf, w: World):
    return (
        tf.cond(w.p, lambda: tf.assign(w.v, 3.0), lambda: tf.identity(w.v)),
        tf.cond(w.p, lambda: w.r.assign_add(2.0), lambda: w.r.read_value()),
    )


@program
def random_numbers_in_a_loop(tf, w: World):
    return tf.while_loop(
        lambda i, a: i < 3,
        lambda i, a: (i + 1, a + tf.reduce_sum(tf.random_uniform([2], seed=3))),
        [0, 0.0],
    )


@program
def scopes_around(tf, w: World):
    with tf.device("/cpu:0"), tf.name_scope("s"):
        return (
            tf.cond(w.p, lambda: w.x + 1.0, lambda: w.x, name="k"),
            tf.while_loop(lambda i: i < 2, lambda i: i + 1, [0], name="w"),
        )


@program
def cases(tf, w: World):
    n = tf.cast(w.p, tf.int32) + 1
    pairs = [(w.p, lambda: 1), (n > 1, lambda: 2)]
    return (
        tf.case(pairs, default=lambda: 3),
        tf.case(pairs[:1], default=lambda: 4, exclusive=True),
        tf.case([(n > 5, lambda: 1), (n > 0, lambda: 2)]),
        tf.case({w.p: lambda: 5}, lambda: 6),
    )


@program
def exclusive_cases_that_overlap(tf, w: World):
    always = w.x > 0.0
    return tf.case([(w.p, lambda: 1), (always, lambda: 2)], lambda: 3, exclusive=True)


@program
def functions_of_elements(tf, w: World):
    elements = tf.constant([1.0, 2.0, 3.0])
    pairs = (elements, tf.constant([4, 5, 6]))
    unknown = tf.placeholder_with_default([[1.0, 2.0]], [None, 2])
    return (
        tf.map_fn(lambda e: e * w.x, elements),
        tf.map_fn(lambda e: (e[0], e[1] + 1), pairs),
        tf.map_fn(lambda e: tf.cast(e, tf.int32), elements, dtype=tf.int32),
        tf.map_fn(lambda e: e + 1.0, unknown),
        tf.foldl(lambda a, e: a + e, elements),
        tf.foldl(lambda a, e: a - e, elements, initializer=5.0),
        tf.foldr(lambda a, e: a - e, elements),
        tf.foldr(lambda a, e: a * e, elements, 2.0),
        tf.scan(lambda a, e: a + e, elements),
        tf.scan(lambda a, e: a * e, elements, 2.0),
        tf.scan(lambda a, e: a + e, elements, reverse=True),
        tf.scan(lambda a, e: (a[0] + e[0], a[1] * e[1]), pairs),
    )


def loops_side_by_side(tf, w: World):
    def counted(n: int):
        return tf.while_loop(lambda i: i < n, lambda i: i + 1, [0])

    short, long = counted(3), counted(60)
    with tf.control_dependencies([counted(2), counted(30)]):
        after = tf.identity(w.x)
    both = tf.cond(w.p, lambda: counted(2) + counted(20), lambda: tf.constant(0))
    return short + long, after, both


@program
def iterations_in_order(tf, w: World):
    def body(i):
        value = w.v.read_value()
        with tf.control_dependencies([tf.assign(w.v, value + 1.0)]):
            return i + 1

    loop = tf.while_loop(lambda i: i < 20, body, [0], parallel_iterations=1)
    seen: list[int] = []

    def noted(i):
        logged = tf.py_func(lambda n: seen.append(int(n)), [i], [])
        with tf.control_dependencies([logged]):
            return i + 1

    other = tf.while_loop(lambda i: i < 6, noted, [0], parallel_iterations=1)
    with tf.control_dependencies([loop, other]):
        return tf.py_func(lambda: str(seen), [], tf.string), w.v.read_value()


@program
def functions_of_branches_and_loops(tf, w: World):
    package = "tensorflow" if tf.__name__.startswith("tensorflow") else tf.__name__
    function = importlib.import_module(f"{package}.python.framework.function")
    queue = tf.FIFOQueue(10, tf.float32, [], name="queue")

    @function.Defun(tf.bool, tf.float32, func_name="Twofold")
    def twofold(p, x):
        y = tf.cond(p, lambda: x + 1.0, lambda: -x)
        return y, y, tf.while_loop(lambda i: i < 3, lambda i: i + 1, [0])

    @function.Defun(tf.bool, func_name="Putting")
    def putting(p):
        return tf.cond(p, lambda: tf.group(queue.enqueue(1.0)), lambda: tf.no_op())

    with tf.control_dependencies([putting(w.p)]):
        return twofold(w.p, w.x), queue.size()


@program
def assertions(tf, w: World):
    checks = [
        tf.Assert(w.p, [1, "a"]),
        tf.Assert(w.p, [w.x], summarize=2, name="named"),
        tf.assert_less(w.x, 4.0),
        tf.assert_equal(w.x, w.x + 0.0),
    ]
    with tf.control_dependencies(checks):
        return w.x * 2.0


def _nodes(graph) -> list[Plain]:
    rows = []
    for node in graph.as_graph_def().node:
        attrs = {k: re.sub(r"\s+", " ", str(v)) for k, v in node.attr.items() if k != "value"}
        inputs = [name for name in node.input if not name.startswith("^")]
        controls = sorted(name for name in node.input if name.startswith("^"))
        rows.append([node.name, node.op, inputs, controls, sorted(attrs.items()), node.device])
    return rows


def _compared(function: WorldProgram) -> Program:
    def run(tf):
        world = World(tf)
        result = function(tf, world)
        nodes = _nodes(tf.get_default_graph())
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            values = attempt(
                *(lambda b=b: session.run(result, {world.p: b}) for b in (True, False))
            )
            return nodes, values, session.run([world.v, world.r])

    return run


def _refused(tf):
    w = World(tf)
    p, x = w.p, w.x
    kept = []

    def body(i):
        kept.append(i + 5)
        return i + 1

    def loop(variables=(0,), **options):
        return tf.while_loop(lambda i: i < 1, lambda i: i, list(variables), **options)

    tf.while_loop(lambda i: i < 2, body, [0])
    any_shape = tf.placeholder(tf.bool)
    chosen = tf.cond(any_shape, lambda: 1, lambda: 2)
    return attempt(
        lambda: tf.Session().run(chosen, {any_shape: [True]}),
        lambda: tf.Session().run(chosen, {any_shape: True}),
        lambda: tf.cond(True, lambda: x, lambda: x),
        lambda: tf.cond(p, lambda: x, lambda: 1),
        lambda: tf.cond(p, lambda: x, lambda: [x, x]),
        lambda: tf.cond(p, lambda: None, lambda: x),
        lambda: tf.cond(p, lambda: x, lambda: None),
        lambda: tf.cond(p, 3, lambda: x),
        lambda: tf.cond(p, lambda: x),
        lambda: tf.cond(p, lambda: x, lambda: x, fn1=lambda: x),
        lambda: tf.cond(p, fn1=lambda: x, fn2=lambda: x).shape,
        lambda: tf.while_loop(3, lambda i: i, [0]),
        lambda: loop(()),
        lambda: tf.while_loop(lambda i: i < 1, lambda i: [i, i], [0]),
        lambda: tf.while_loop(lambda i: i < 1, lambda i: tf.constant([1]), [tf.constant(0)]),
        lambda: loop(shape_invariants=[tf.TensorShape([2])]),
        lambda: loop(parallel_iterations=0),
        lambda: loop(maximum_iterations=tf.constant([1])),
        lambda: loop(shape_invariants=[3]),
        lambda: kept[0] * 2,
        lambda: tf.Session().run(kept[0]),
        lambda: tf.while_loop(lambda i: x, lambda i: i, [0]),
        lambda: tf.case([]),
        lambda: tf.case(3),
        lambda: tf.case([(p, 3)]),
        lambda: tf.case([(p, lambda: 1, 2)]),
        lambda: tf.case([(p, lambda: 1)], default=3),
        lambda: tf.map_fn(lambda e: (e, e), tf.constant([1.0])),
        lambda: tf.while_loop(lambda i: i < 1, 3, [0]),
        lambda: tf.cond(p, list, list),
        lambda: tf.foldl(lambda a, e: a + e, tf.constant(1.0)),
        lambda: tf.scan(lambda a, e: a + e, tf.constant(1.0)),
    )


def _fetched_and_fed(tf):
    w = World(tf)
    inside = []

    def branch():
        inside.append(w.x * 2.0)
        return inside[0]

    tf.cond(w.p, branch, lambda: w.x)
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(w.x.graph.as_graph_def(), name="")
        with tf.Session() as session:
            run = session.run
            return attempt(
                lambda: run("cond/mul:0", {"p:0": True}),
                lambda: run("cond/mul:0", {"p:0": False}),
                lambda: run("cond/mul", {"p:0": False}),
                lambda: run("cond/Merge:1", {"p:0": False}),
                lambda: run("cond/Merge:0", {"cond/Merge:0": 5.0}),
                lambda: run("cond/Merge:0", {"p:0": True, "x:0": 7.0}),
                lambda: run("cond/Merge:0", {"cond/pred_id:0": False, "cond/Switch:0": False}),
                lambda: tf.Session(graph=w.x.graph).run(inside[0]),
                lambda: tf.Session(graph=w.x.graph).run(w.x, {inside[0]: 1.0}),
                lambda: graph.is_fetchable(graph.get_tensor_by_name("cond/mul:0")),
            )


def _references_chosen(tf):
    """`RefSelect`: the static shapes of the reference that it chooses, and errors."""
    index = tf.placeholder(tf.int32)
    row, other, column = (
        tf.Variable(value, use_resource=False) for value in ([[1, 2]], [[3, 4]], [[5], [6]])
    )

    def chosen(*variables, index=index):
        output = tf.raw_ops.RefSelect(index=index, inputs=list(variables))
        return output, str(output.shape)

    def run(number):
        with tf.Session() as session:
            session.run([row.initializer, other.initializer])
            update = tf.assign_add(chosen(row, other)[0], [[10, 10]])
            return [session.run(update, {index: number}), session.run([row, other])]

    return attempt(
        lambda: chosen(row, other)[1],
        lambda: chosen(row, column)[1],
        lambda: run(1),
        lambda: run(2),
        lambda: run(-1),
        lambda: run([0]),
        lambda: chosen(row, index=[0]),
        lambda: chosen(tf.constant(1.0), tf.constant(2.0))[1],
        lambda: chosen(row, tf.constant(1)),
    )


BEHAVIOURS = {
    **{function.__name__: _compared(function) for function in PROGRAMS},
    "loops_beside_each_other": _compared(loops_side_by_side),
    "refused": _refused,
    "fetched_and_fed": _fetched_and_fed,
    "references_chosen": _references_chosen,
}
