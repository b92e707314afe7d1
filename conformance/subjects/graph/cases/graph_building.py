"""Vectors of GRAPH: elements found by name, and operations refused or shaped when built."""

from __future__ import annotations

import operator
from functools import partial

import numpy as np

from sessrun.conformance.authoring.record import ApiAuthor, Symbol, api_case, as_array, near
from sessrun.conformance.subjects.graph.cases.graph import count_of
from sessrun.conformance.subjects.run.cases.run import floats, ints


def _other_graph(c: ApiAuthor) -> Symbol:
    """A float32 scalar placeholder of another graph."""
    with c.within(c.tf.Graph().as_default()):
        return c.tf.placeholder(c.tf.float32, [])


def _graph_of_a(c: ApiAuthor) -> Symbol:
    """A graph of the constant `a` and `n`, an operation without outputs."""
    g = c.tf.Graph()
    with c.within(g.as_default()):
        c.tf.constant(1, name="a")
        c.tf.no_op(name="n")
    return g


def _vector(c: ApiAuthor, dtype: Symbol, size: int = 2) -> Symbol:
    return c.tf.placeholder(dtype, [size])


def _shape(c: ApiAuthor, tensor: Symbol, *dims: int | None) -> None:
    c.check(tensor.shape.as_list(), list(dims))


def _no_rank(c: ApiAuthor, tensor: Symbol) -> None:
    c.check(tensor.shape.ndims, None)


# --- lookup -------------------------------------------------------------------------------


@api_case("GRAPH-076", title="A name finds the very object that building returned.")
def names_find_the_objects(c: ApiAuthor) -> None:
    g = c.tf.Graph()
    with c.within(g.as_default()):
        a = c.tf.placeholder(c.tf.float32, [2], name="a")
        parts = c.tf.unstack(a, name="u")
        n = c.tf.no_op(name="n")
    c.check_same(g.get_tensor_by_name("a:0"), a)
    c.check_same(g.get_operation_by_name("a"), a.op)
    c.check_same(g.get_operation_by_name("n"), n)
    for index in range(2):
        c.check_same(g.get_tensor_by_name(f"u:{index}"), parts[index])


@api_case("GRAPH-076", title="A found tensor can be fed, a found operation can be run.")
def found_elements_run(c: ApiAuthor) -> None:
    g = c.tf.Graph()
    with c.within(g.as_default()):
        a = c.tf.placeholder(c.tf.float32, [], name="a")
        c.tf.negative(a, name="y")
    sess = c.tf.Session(graph=g)
    y, placeholder = g.get_tensor_by_name("y:0"), g.get_tensor_by_name("a:0")
    c.check_same(placeholder, a)
    c.check(sess.run(y, {placeholder: 2.0}), as_array(np.float32(-2)))
    c.check(sess.run(g.get_operation_by_name("y"), {a: 2.0}), None)


@api_case("GRAPH-077", title="An operation name that the graph lacks is KeyError.")
def unknown_operation_name(c: ApiAuthor) -> None:
    graph = _graph_of_a(c)
    for name in ("b", "A", "^a", ""):
        c.raises("KeyError", partial(graph.get_operation_by_name, name))


@api_case("GRAPH-078", title="A tensor name that the graph lacks is KeyError.")
def unknown_tensor_name(c: ApiAuthor) -> None:
    graph = _graph_of_a(c)
    for name in ("b:0", "a:1", "n:0"):
        c.raises("KeyError", partial(graph.get_tensor_by_name, name))


@api_case("GRAPH-079", title="A tensor name without an index is ValueError.")
def tensor_name_without_an_index(c: ApiAuthor) -> None:
    graph = _graph_of_a(c)
    for name in ("a", "b"):
        c.raises("ValueError", partial(graph.get_tensor_by_name, name))


@api_case("GRAPH-080", title="An operation name with an index is ValueError.")
def operation_name_with_an_index(c: ApiAuthor) -> None:
    graph = _graph_of_a(c)
    for name in ("a:0", "b:0"):
        c.raises("ValueError", partial(graph.get_operation_by_name, name))


@api_case("GRAPH-081", title="as_graph_element gives operations, tensors and what is one.")
def graph_elements(c: ApiAuthor) -> None:
    graph = c.tf.Graph()
    with c.within(graph.as_default()):
        a = c.tf.constant(1, name="a")
    for given, element in (("a", a.op), ("a:0", a), (a, a), (a.op, a.op)):
        c.check_same(graph.as_graph_element(given), element)


@api_case("GRAPH-082", title="as_graph_element of another graph's element is ValueError.")
def graph_elements_of_another_graph(c: ApiAuthor) -> None:
    a, graph = _other_graph(c), _graph_of_a(c)
    for element in (a, a.op):
        c.raises("ValueError", partial(graph.as_graph_element, element))


@api_case("GRAPH-083", title="get_operations is a list in order of creation, and a copy.")
def operations_in_order(c: ApiAuthor) -> None:
    graph = c.tf.Graph()
    with c.within(graph.as_default()):
        ops = [c.tf.no_op(name=name) for name in ("z", "a", "m")]
    graph.get_operations().append(1)
    c.check(count_of(c, graph), 3)
    operations = graph.get_operations()
    for index, op in enumerate(ops):
        c.check_same(operations[index], op)


# --- refusals of building -----------------------------------------------------------------


@api_case("GRAPH-084", title="An operation of inputs of two graphs is ValueError.")
def inputs_of_two_graphs(c: ApiAuthor) -> None:
    a, b = _other_graph(c), c.tf.placeholder(c.tf.float32, [])
    for left, right in ((a, b), (b, a)):
        c.raises("ValueError", partial(c.tf.add, left, right))
        c.raises("ValueError", partial(c.tf.matmul, left, right))
        c.raises("ValueError", partial(c.tf.stack, [left, right]))
    c.check(count_of(c, c.tf.get_default_graph()), 1)
    c.check(count_of(c, a.graph), 1)


@api_case("GRAPH-140", title="An operation goes to the graph of its inputs, not the default.")
def operation_goes_to_its_inputs(c: ApiAuthor) -> None:
    a = _other_graph(c)
    y = c.tf.add(a, 1.0)
    c.check_same(y.graph, a.graph)
    c.check(c.tf.Session(graph=a.graph).run(y, {a: 2.0}), as_array(np.float32(3)))
    c.check_same(c.tf.negative(y).graph, a.graph)
    c.check_same(c.tf.multiply(a, y).graph, a.graph)
    c.check(count_of(c, c.tf.get_default_graph()), 0)


@api_case("GRAPH-085", title="Tensors of different dtypes in one operation are TypeError.")
def dtypes_that_disagree(c: ApiAuthor) -> None:
    f, i, d = (_vector(c, dtype) for dtype in (c.tf.float32, c.tf.int32, c.tf.float64))
    for left, right in ((f, i), (i, f), (f, d)):
        c.raises("TypeError", partial(c.tf.add, left, right))
        c.raises("TypeError", partial(operator.mul, left, right))
        c.raises("TypeError", partial(c.tf.concat, [left, right], 0))
        c.raises("TypeError", partial(c.tf.add_n, [left, right]))


@api_case("GRAPH-086", title="A dtype that the operation does not admit is TypeError.")
def dtypes_not_admitted(c: ApiAuthor) -> None:
    f, i = _vector(c, c.tf.float32), _vector(c, c.tf.int32)
    for action in (
        partial(c.tf.sqrt, i),
        partial(c.tf.logical_and, f, f),
        partial(c.tf.matmul, c.tf.placeholder(c.tf.bool), c.tf.placeholder(c.tf.bool)),
        partial(c.tf.negative, c.tf.placeholder(c.tf.string)),
    ):
        c.raises("TypeError", action)


@api_case("GRAPH-087", title="A Python number beside a tensor takes its dtype.")
def number_beside_a_tensor(c: ApiAuthor) -> None:
    dtypes = [c.tf.float32, c.tf.float64, c.tf.int32, c.tf.int64]
    sess = c.tf.Session()
    for dtype, kind in zip(dtypes, (np.float32, np.float64, np.int32, np.int64), strict=True):
        x = c.tf.placeholder(dtype, [])
        for y, value in ((x + 2, 7), (c.tf.add(x, 2), 7), (c.tf.multiply(x, 3), 15), (1 - x, -4)):
            c.check_same(y.dtype, dtype)
            c.check(sess.run(y, {x: 5}), as_array(np.asarray(value, kind)))


@api_case("GRAPH-087", title="A Python float beside a tensor of floats takes its dtype.")
def float_beside_floats(c: ApiAuthor) -> None:
    sess = c.tf.Session()
    for dtype, kind in ((c.tf.float32, np.float32), (c.tf.float64, np.float64)):
        x = c.tf.placeholder(dtype, [])
        for y, value in ((x + 1.5, 6.5), (c.tf.add(x, 1.5), 6.5), (0.5 - x, -4.5), (x * 2.5, 12.5)):
            c.check_same(y.dtype, dtype)
            c.check(sess.run(y, {x: 5}), as_array(np.asarray(value, kind)))


@api_case("GRAPH-088", title="A Python float beside an integer tensor is TypeError.")
def float_beside_an_integer(c: ApiAuthor) -> None:
    i = _vector(c, c.tf.int32)
    for action in (
        lambda: i + 1.5,
        lambda: 1.5 + i,
        lambda: i * 2.0,
        partial(c.tf.add, i, 1.5),
    ):
        c.raises("TypeError", action)


@api_case("GRAPH-089", title="A constant of Python values has the dtype of their kind.")
def dtypes_of_constants(c: ApiAuthor) -> None:
    tf = c.tf
    for value, dtype in (
        (1, tf.int32),
        (2**31 - 1, tf.int32),
        (2**40, tf.int64),
        (1.5, tf.float32),
        ([1, 2.5], tf.float32),
        (True, tf.bool),
        ("a", tf.string),
        (1j, tf.complex128),
    ):
        c.check_same(tf.constant(value).dtype, dtype)


@api_case("GRAPH-090", title="A constant that its dtype cannot represent is TypeError.")
def constant_of_another_kind(c: ApiAuthor) -> None:
    for value, dtype in ((1.5, c.tf.int32), ("a", c.tf.int32), ("a", c.tf.float32)):
        c.raises("TypeError", partial(c.tf.constant, value, dtype))


@api_case("GRAPH-091", title="A constant with a larger shape repeats its last value.")
def constant_fills_its_shape(c: ApiAuthor) -> None:
    one = c.tf.constant(1, shape=[2, 2])
    two = c.tf.constant([1, 2], shape=[4])
    wanted = [np.ones((2, 2), np.int32), ints(1, 2, 2, 2)]
    c.check(c.tf.Session().run([one, two]), wanted)


@api_case("GRAPH-092", title="A constant with a smaller shape is ValueError.")
def constant_of_too_many_values(c: ApiAuthor) -> None:
    c.raises("ValueError", partial(c.tf.constant, [1, 2, 3], shape=[2]))
    c.raises("ValueError", partial(c.tf.constant, [[1.0], [2.0]], shape=[1, 1]))


# --- static shapes ------------------------------------------------------------------------


@api_case("GRAPH-093", title="A product's static shape follows from its factors'.")
def static_shape_of_a_product(c: ApiAuthor) -> None:
    a, b = c.tf.placeholder(c.tf.float32, [None, 3]), c.tf.placeholder(c.tf.float32, [3, 4])
    _shape(c, c.tf.matmul(a, b), None, 4)
    _shape(c, c.tf.matmul(b, b, transpose_a=True), 4, 4)
    _shape(c, c.tf.matmul(a, a, transpose_b=True), None, None)


@api_case("GRAPH-093", title="Known dimensions are inferred, unknown ones stay unknown.")
def static_shapes_of_operations(c: ApiAuthor) -> None:
    p = c.tf.placeholder(c.tf.float32, [None, 3])
    _shape(c, c.tf.add(p, c.tf.zeros([3])), None, 3)
    _shape(c, c.tf.reshape(p, [2, -1]), 2, None)
    _shape(c, c.tf.concat([p, p], 1), None, 6)
    _shape(c, c.tf.transpose(p), 3, None)
    _shape(c, c.tf.reduce_sum(p, 1), None)
    _shape(c, c.tf.stack([p, p]), 2, None, 3)
    _shape(c, c.tf.shape(p), 2)
    _shape(c, p[0], 3)


@api_case("GRAPH-093", title="A shape of unknown rank makes the sum's unknown.")
def static_shape_of_unknown_rank(c: ApiAuthor) -> None:
    p, q = c.tf.placeholder(c.tf.float32), c.tf.placeholder(c.tf.float32, [2])
    _no_rank(c, c.tf.add(p, q))
    _no_rank(c, c.tf.negative(p))
    _shape(c, c.tf.reduce_sum(p))


@api_case("GRAPH-094", title="A product whose inner dimensions differ is ValueError.")
def contradicting_factors(c: ApiAuthor) -> None:
    a, b = c.tf.placeholder(c.tf.float32, [None, 3]), c.tf.placeholder(c.tf.float32, [2, 3])
    c.raises("ValueError", partial(c.tf.matmul, a, b))
    c.raises("ValueError", partial(c.tf.matmul, b, b))
    c.raises("ValueError", partial(c.tf.matmul, _vector(c, c.tf.float32), b))
    _shape(c, c.tf.matmul(a, b, transpose_b=True), None, 2)


@api_case("GRAPH-094", title="Shapes that contradict an operation's rule are ValueError.")
def contradicting_operands(c: ApiAuthor) -> None:
    two, three = (_vector(c, c.tf.float32, size) for size in (2, 3))
    c.raises("ValueError", partial(c.tf.add, two, three))
    c.raises("ValueError", lambda: two * three)
    c.raises("ValueError", partial(c.tf.reshape, three, [2]))
    c.raises("ValueError", partial(c.tf.stack, [two, three]))
    matrix = c.tf.placeholder(c.tf.float32, [2, 3])
    c.raises("ValueError", partial(c.tf.concat, [matrix, c.tf.transpose(matrix)], 0))


@api_case("GRAPH-095", title="set_shape merges the shape given into the static one.")
def merged_shapes(c: ApiAuthor) -> None:
    p = c.tf.placeholder(c.tf.float32, [None, 3])
    p.set_shape([2, None])
    _shape(c, p, 2, 3)
    q = c.tf.placeholder(c.tf.float32)
    q.set_shape([None, 2])
    _shape(c, q, None, 2)


@api_case("GRAPH-096", title="set_shape to a contradicting shape is ValueError.")
def contradicting_set_shape(c: ApiAuthor) -> None:
    p = c.tf.placeholder(c.tf.float32, [2, None])
    c.raises("ValueError", partial(p.set_shape, [3, 3]))
    c.raises("ValueError", partial(p.set_shape, [2]))
    _shape(c, p, 2, None)


# --- operators ----------------------------------------------------------------------------


@api_case("GRAPH-097", title="/ of integers is true division, of float64 for int32.")
def true_division(c: ApiAuthor) -> None:
    a, b = (c.tf.placeholder(c.tf.int32, [2]) for _ in range(2))
    y = a / b
    c.check_same(y.dtype, c.tf.float64)
    sess = c.tf.Session()
    c.check(sess.run(y, {a: [7, 1], b: [-2, 4]}), np.array([-3.5, 0.25]))


@api_case("GRAPH-097", title="/ of integers is of float32 up to 16 bits, else of float64.")
def true_division_of_other_dtypes(c: ApiAuthor) -> None:
    tf, sess = c.tf, c.tf.Session()
    narrow, wide = (tf.int8, tf.int16, tf.uint8, tf.uint16), (tf.int32, tf.int64)
    for integers, floating, kind in ((narrow, tf.float32, np.float32), (wide, tf.float64, float)):
        for dtype in integers:
            a, b = tf.placeholder(dtype, []), tf.placeholder(dtype, [])
            y = a / b
            c.check_same(y.dtype, floating)
            c.check(sess.run(y, {a: 7, b: 2}), as_array(np.asarray(3.5, kind)))


@api_case("GRAPH-098", title="// rounds towards minus infinity.")
def floor_operator(c: ApiAuthor) -> None:
    a, b = (c.tf.placeholder(c.tf.int32, [4]) for _ in range(2))
    y = a // b
    c.check_same(y.dtype, c.tf.int32)
    value = c.tf.Session().run(y, {a: [7, -7, 7, -7], b: [-2, 2, 2, -2]})
    c.check(value, ints(-4, -4, 3, 3))


@api_case("GRAPH-099", title="% has the sign of the divisor.")
def remainder_operator(c: ApiAuthor) -> None:
    a, b = (c.tf.placeholder(c.tf.float32, [4]) for _ in range(2))
    y = a % b
    value = c.tf.Session().run(y, {a: [7, -7, 7, -7], b: [-2, 2, 2, -2]})
    c.check(value, floats(-1, 1, 1, -1))


@api_case("GRAPH-100", title="A number on the left stays on the left.")
def number_on_the_left(c: ApiAuthor) -> None:
    a, f = c.tf.placeholder(c.tf.int32, []), c.tf.placeholder(c.tf.float32, [])
    results = [10 - a, 20 // a, 20 % a, 1 / f, 2**f]
    sess = c.tf.Session()
    wanted = [*map(np.int32, (3, 2, 6)), *map(np.float32, (0.125, 256))]
    for y, value in zip(results, wanted, strict=True):
        c.check(sess.run(y, {a: 7, f: 8.0}), near(value, "ulp(2)"))


@api_case("GRAPH-102", title="A tensor is no Python bool.")
def tensor_as_a_bool(c: ApiAuthor) -> None:
    a = c.tf.placeholder(c.tf.bool, [])
    for symbol in ("bool", "not"):
        c.raises("TypeError", partial(c.expr, "$op", symbol, a))


@api_case("GRAPH-103", title="A tensor cannot be iterated over.")
def tensor_as_an_iterable(c: ApiAuthor) -> None:
    a = c.tf.placeholder(c.tf.float32, [2])
    c.raises("TypeError", partial(c.expr, "$op", "iter", a))
    c.raises("TypeError", partial(c.expr, "$list", a))


@api_case("GRAPH-104", title="== tells whether two tensors are the same; a tensor has a hash.")
def equality_of_tensors(c: ApiAuthor) -> None:
    a, b = c.tf.constant(1), c.tf.constant(1)
    for left, right, equal in ((a, b, False), (a, a, True)):
        c.check(c.expr("$op", "==", left, right), equal)
        c.check(c.expr("$op", "!=", left, right), not equal)
    c.check(c.expr("$op", "in", a, {a: 1, b: 2}), True)


@api_case("GRAPH-105", title="An index out of the known bounds is ValueError.")
def index_out_of_bounds(c: ApiAuthor) -> None:
    x = c.tf.placeholder(c.tf.float32, [3, 4])
    for index in (3, (0, 4), (0, 0, 0)):
        c.raises("ValueError", partial(operator.getitem, x, index))
    _shape(c, x[2], 4)
