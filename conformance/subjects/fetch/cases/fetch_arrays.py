"""Vectors of FETCH: fed tensors and variables as fetches, and what may be done with the results."""

from __future__ import annotations

import numpy as np

from sessrun.conformance.authoring.record import (
    ApiAuthor,
    EngineAuthor,
    Symbol,
    api_case,
    as_array,
    engine_case,
)
from sessrun.conformance.subjects.fetch.cases.fetch import floats, ints, refuse
from sessrun.conformance.subjects.run.cases.run import cell

#: Elements of an array that no engine keeps in a buffer of its own for small values.
_MANY = 100_000


# --- fed tensors --------------------------------------------------------------------------


@engine_case("FETCH-018", title="A tensor that is fed and fetched has the fed value.")
def a_fed_tensor_has_the_fed_value(c: EngineAuthor) -> None:
    with c.graph() as tf:
        p = tf.placeholder(tf.float32, [None], name="p")
        middle = tf.negative(p, name="middle")
        tf.add(middle, 1.0, name="y")
    s = c.open()
    p, fed = floats([1, 2]), floats([7])
    s.run(["middle:0"], {"p:0": p}, values=[-p])
    s.run(["middle:0"], {"middle:0": fed}, values=[fed])
    s.run(["middle:0", "y:0"], {"middle:0": fed, "p:0": p}, values=[fed, fed + 1])
    s.run(["p:0", "middle:0"], {"p:0": p, "middle:0": fed}, values=[p, fed])
    s.run(["middle:0"], {"p:0": p}, values=[-p])


@engine_case("FETCH-018", title="The fed value comes back also for a variable and an update.")
def a_fed_update_has_the_fed_value(c: EngineAuthor) -> None:
    with c.graph() as tf:
        handle = cell(tf)
        raw = tf.raw_ops
        raw.AssignAddVariableOp(resource=handle, value=tf.constant(1), name="bump")
        tf.add(tf.get_default_graph().get_tensor_by_name("cell_value:0"), 10, name="sum")
    s = c.open()
    s.run(["cell_init"])
    s.run(["bump"])
    fed = {"cell_value:0": np.int32(50)}
    s.run(["cell_value:0", "sum:0"], fed, values=[np.int32(50), np.int32(60)])
    s.run(["cell_value:0", "sum:0"], values=[np.int32(1), np.int32(11)])


@api_case("FETCH-018", title="A tensor object that is fed and fetched gives the fed value.")
def a_fed_tensor_object_gives_the_fed_value(c: ApiAuthor) -> None:
    p = c.tf.placeholder(c.tf.float32, [2])
    y = p * 2.0
    z = y + 1.0
    sess = c.tf.Session()
    fed = floats([5, 6])
    c.check(sess.run(y, {y: fed}), fed)
    c.check(sess.run({"y": y, "z": [z]}, {y: fed}), {"y": fed, "z": [fed + 1]})
    c.check(sess.run([p, y], {p: fed}), [fed, fed * 2])


# --- variables ----------------------------------------------------------------------------


def _variables(c: ApiAuthor, value: np.ndarray | np.generic) -> list[Symbol]:
    """A reference variable and a resource variable that start at `value`."""
    return [c.tf.Variable(value, use_resource=kind) for kind in (False, True)]


@api_case("FETCH-019", title="A Variable as a fetch gives its value of now, not its first one.")
def a_variable_gives_its_current_value(c: ApiAuthor) -> None:
    for variable in _variables(c, floats([1, 2])):
        double = c.tf.assign(variable, variable * 2.0)
        sess = c.tf.Session()
        sess.run(variable.initializer)
        for factor in (1, 2, 4):
            c.check(sess.run(variable), floats([factor, 2 * factor]))
            sess.run(double.op)


@api_case("FETCH-019", title="A Variable inside a list or a dict gives its value.")
def a_variable_in_a_structure_gives_its_value(c: ApiAuthor) -> None:
    for variable in _variables(c, ints([3])):
        y = variable * 2
        sess = c.tf.Session()
        sess.run(variable.initializer)
        want = ints([3])
        c.check(sess.run([variable, y]), [want, want * 2])
        c.check(
            sess.run({"v": variable, "w": (variable, [y])}), {"v": want, "w": (want, [want * 2])}
        )


@api_case("FETCH-019", title="A Variable that has no value yet fails with FailedPrecondition.")
def a_variable_without_a_value_fails(c: ApiAuthor) -> None:
    for variable in _variables(c, np.float32(1)):
        sess = c.tf.Session()
        refuse(c, "FailedPreconditionError", sess, variable)
        sess.run(variable.initializer)
        c.check(sess.run(variable), as_array(np.float32(1)))


# --- writing into what was fetched --------------------------------------------------------


@api_case("FETCH-021", title="Writing into a fetched constant does not change the constant.")
def writing_into_a_fetched_constant(c: ApiAuthor) -> None:
    for value in (ints([1, 2]), floats([[1, 2], [3, 4]])):
        a = c.tf.constant(value)
        p = c.tf.placeholder(value.dtype.name, value.shape)
        total = a + p
        sess = c.tf.Session()
        sess.run(a).fill(99)
        c.check(sess.run(a), value)
        c.check(sess.run(total, {p: value}), value + value)
        sess.run([total, a], {p: value})[1].fill(98)
        c.check(sess.run([total, a], {p: value}), [value + value, value])


@api_case("FETCH-021", title="Writing into a reshaped or large constant does not change it.")
def writing_into_a_view_of_a_constant(c: ApiAuthor) -> None:
    value = floats([1, 2, 3, 4])
    a = c.tf.constant(value)
    view = c.tf.reshape(a, [2, 2])
    large = c.tf.zeros([_MANY])
    words = c.tf.constant(["a", "b"])
    sess = c.tf.Session()
    for tensor, filler in ((view, 99), (large, 99), (words, b"zz")):
        sess.run(tensor).fill(filler)
    c.check(sess.run([view, a]), [value.reshape(2, 2), value])
    c.check(sess.run(large)[_MANY - 1], np.float32(0))
    c.check(sess.run(words), np.array([b"a", b"b"], object))


@api_case("FETCH-022", title="Writing into a fetched variable does not change the variable.")
def writing_into_a_fetched_variable(c: ApiAuthor) -> None:
    value = floats([1, 2, 3])
    for variable in _variables(c, value):
        y = variable + floats([1, 1, 1])
        sess = c.tf.Session()
        sess.run(variable.initializer)
        sess.run(variable).fill(99)
        c.check(sess.run(variable), value)
        sess.run([variable, y])[0].fill(98)
        c.check(sess.run([y, variable]), [value + 1, value])


@api_case("FETCH-022", title="Writing into a reshape or identity of a variable does not change it.")
def writing_into_a_view_of_a_variable(c: ApiAuthor) -> None:
    value = floats([1, 2, 3, 4])
    for variable in _variables(c, value):
        view, same = c.tf.reshape(variable, [2, 2]), c.tf.identity(variable)
        sess = c.tf.Session()
        sess.run(variable.initializer)
        sess.run(view).fill(99)
        sess.run(same).fill(98)
        c.check(sess.run([variable, view]), [value, value.reshape(2, 2)])


@api_case("FETCH-022", title="Writing into a fetched large variable does not change it.")
def writing_into_a_fetched_large_variable(c: ApiAuthor) -> None:
    for kind in (False, True):
        variable = c.tf.Variable(c.tf.zeros([_MANY]), use_resource=kind)
        sess = c.tf.Session()
        sess.run(variable.initializer)
        sess.run(variable).fill(99)
        sess.run(c.tf.identity(variable)).fill(98)
        c.check(sess.run(variable)[0], np.float32(0))


@api_case("FETCH-023", title="A fetched variable keeps its values when the variable changes.")
def a_fetched_variable_is_a_snapshot(c: ApiAuthor) -> None:
    value = floats([1, 2])
    for variable in _variables(c, value):
        bump = c.tf.assign_add(variable, floats([10, 10]))
        sess = c.tf.Session()
        sess.run(variable.initializer)
        before = sess.run(variable)
        first, second = sess.run(bump), sess.run(bump)
        after = sess.run(variable)
        sess.run(variable.initializer)
        c.check([before, first, second], [value, value + 10, value + 20])
        c.check(after, value + 20)


@api_case("FETCH-023", title="A large variable that was fetched keeps its values.")
def a_fetched_large_variable_is_a_snapshot(c: ApiAuthor) -> None:
    for kind in (False, True):
        variable = c.tf.Variable(c.tf.zeros([_MANY]), use_resource=kind)
        bump = c.tf.assign_add(variable, c.tf.ones([_MANY]))
        sess = c.tf.Session()
        sess.run(variable.initializer)
        before = sess.run([variable])
        first = sess.run(bump)
        sess.run(bump.op)
        c.check([before[0][7], first[7]], [np.float32(0), np.float32(1)])
        c.check(sess.run(variable)[7], np.float32(2))


@api_case("FETCH-024", title="Writing into an identity of a feed leaves the caller's array alone.")
def writing_into_an_identity_of_a_feed(c: ApiAuthor) -> None:
    value = floats([1, 2, 3, 4])
    p = c.tf.placeholder(c.tf.float32, [4])
    same, view = c.tf.identity(p), c.tf.reshape(p, [2, 2])
    sess = c.tf.Session()
    mine = c.np.asarray(value)
    sess.run(same, {p: mine}).fill(98)
    c.check(mine, value)
    sess.run([view, same], {p: mine})[0].fill(99)
    c.check(mine, value)
    c.check(sess.run(view, {p: mine}), value.reshape(2, 2))


@api_case("FETCH-024", title="An identity or a reshape of a large feed is no view of it.")
def an_identity_of_a_large_feed_is_no_view(c: ApiAuthor) -> None:
    p = c.tf.placeholder(c.tf.float32, [None])
    same, view = c.tf.identity(p), c.tf.reshape(p, [-1, 10])
    sess = c.tf.Session()
    mine = sess.run(c.tf.zeros([_MANY]))
    for tensor in (same, view):
        got = sess.run(tensor, {p: mine})
        c.check(c.np.shares_memory(got, mine), False)
        got.fill(5)
        c.check(mine[_MANY - 1], np.float32(0))


@api_case("FETCH-025", title="A later run leaves the arrays of an earlier run as they were.")
def later_runs_leave_earlier_arrays_alone(c: ApiAuthor) -> None:
    p = c.tf.placeholder(c.tf.float32, [3])
    y = p * 2.0
    sess = c.tf.Session()
    value = floats([1, 2, 3])
    first = sess.run(y, {p: value})
    second = sess.run([y], {p: value + 1})
    third = sess.run({"y": y}, {p: value + 2})
    c.check([first, second[0], third["y"]], [value * 2, (value + 1) * 2, (value + 2) * 2])
    c.check(c.np.shares_memory(first, second[0]), False)


@api_case("FETCH-025", title="A failing run leaves the arrays of an earlier run as they were.")
def a_failing_run_leaves_earlier_arrays_alone(c: ApiAuthor) -> None:
    p = c.tf.placeholder(c.tf.int32, [2])
    q = c.tf.placeholder(c.tf.int32, [2])
    y, ratio = p + q, p // q
    sess = c.tf.Session()
    first = sess.run([y, ratio], {p: [6, 8], q: [2, 4]})
    zero = {p: [1, 1], q: [0, 0]}
    refuse(c, "InvalidArgumentError", sess, [y, ratio], zero)
    sess.run(y, zero)
    c.check(first, [ints([8, 12]), ints([3, 2])])


@api_case("FETCH-025", title="Two fetches of one constant give two arrays.")
def a_constant_gives_a_new_array_each_run(c: ApiAuthor) -> None:
    a = c.tf.constant(floats([1, 2]))
    sess = c.tf.Session()
    first, second = sess.run(a), sess.run(a)
    first.fill(9)
    c.check(second, floats([1, 2]))
    c.check(c.np.shares_memory(first, second), False)


@api_case("FETCH-050", title="Transposed, reversed and sliced arrays are contiguous.")
def arrays_are_contiguous(c: ApiAuthor) -> None:
    tf = c.tf
    p = tf.placeholder(tf.float32, [2, 3])
    turned = tf.transpose(p)
    sess = tf.Session()
    value = floats([[1, 2, 3], [4, 5, 6]])
    for y in (turned, turned + 1.0, tf.reverse(p, [1]), p[:, 1:], tf.transpose(tf.constant(value))):
        c.check(sess.run(y, {p: value}).flags.c_contiguous, True)


@api_case("FETCH-006", title="A string array without elements has dtype object.")
def empty_string_arrays_are_of_objects(c: ApiAuthor) -> None:
    tf = c.tf
    p = tf.placeholder(tf.string, [None])
    sess = tf.Session()
    c.check(sess.run(tf.zeros([2, 0], tf.string)).dtype.name, "object")
    c.check(sess.run(p[1:], {p: ["a"]}).dtype.name, "object")
