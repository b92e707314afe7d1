"""Vectors of VARIABLES: updates of parts, counting, shared names, and lists of variables."""

from __future__ import annotations

from functools import partial

import numpy as np

from sessrun.conformance.authoring.record import (
    ApiAuthor,
    EngineAuthor,
    Symbol,
    api_case,
    engine_case,
)
from sessrun.conformance.subjects.variables.cases.variable_state import variable
from sessrun.spec.cases.namespace import Namespace


def floats(*values: float) -> np.ndarray:
    """A float32 vector."""
    return np.array(values, np.float32)


# --- assignments --------------------------------------------------------------------------


@engine_case("VARIABLES-006", title="Assigning initialises a variable of either kind.")
def an_assignment_initialises(c: EngineAuthor) -> None:
    with c.graph() as tf:
        x = tf.placeholder(tf.float32, [2], name="x")
        tf.assign(variable(tf, floats(1, 2), "r"), x, name="set_r")
        v = variable(tf, floats(1, 2), "v", resource=True)
        tf.group(v.assign(x, read_value=False), name="set_v")
    s = c.open()
    s.run(["set_r", "set_v"], {"x:0": floats(5, 6)})
    s.run(["r_read:0", "v_read:0"], values=[floats(5, 6), floats(5, 6)])


@api_case("VARIABLES-014", title="An assignment of a value of another known shape is ValueError.")
def an_assignment_of_another_shape(c: ApiAuthor) -> None:
    tf = c.tf
    r = tf.Variable(floats(1, 2), use_resource=False)
    v = tf.Variable(floats(1, 2), use_resource=True)
    c.raises("ValueError", lambda: tf.assign(r, floats(1, 2, 3)))
    c.raises("ValueError", lambda: v.assign(floats(1, 2, 3)))


@api_case("VARIABLES-018", title="An assignment of a tensor of another dtype is refused.")
def an_assignment_of_another_dtype(c: ApiAuthor) -> None:
    tf = c.tf
    r = tf.Variable(floats(1, 2), use_resource=False)
    wrong = tf.constant(np.array([1, 2], np.int32))
    c.raises(["TypeError", "ValueError"], lambda: tf.assign(r, wrong))


@engine_case("VARIABLES-020", title="An update leaves the constant of the initial value alone.")
def the_initial_constant_stays(c: EngineAuthor) -> None:
    with c.graph() as tf:
        first = tf.constant(floats(1, 2), name="first")
        tf.assign_add(variable(tf, first, "r"), floats(10, 10), name="plus_r")
        v = variable(tf, first, "v", resource=True)
        tf.group(v.assign_add(floats(10, 10), read_value=False), name="plus_v")
        tf.identity(first, name="same")
    s = c.open()
    s.run(["r_init", "v_init"])
    s.run(["plus_r", "plus_v"])
    s.run(["first:0", "same:0"], values=[floats(1, 2), floats(1, 2)])
    s.run(["r_read:0", "v_read:0"], values=[floats(11, 12), floats(11, 12)])


@api_case("VARIABLES-033", title="assign(validate_shape=False) gives a variable another shape.")
def an_assignment_that_changes_the_shape(c: ApiAuthor) -> None:
    tf = c.tf
    r = tf.Variable(floats(1, 2), use_resource=False, validate_shape=False)
    longer = tf.assign(r, floats(1, 2, 3), validate_shape=False)
    sess = tf.Session()
    sess.run(r.initializer)
    c.check(sess.run(longer), floats(1, 2, 3))
    c.check(sess.run(r), floats(1, 2, 3))


@api_case("VARIABLES-053", title="Variable.load sets the value in that session only.")
def a_loaded_value(c: ApiAuthor) -> None:
    tf = c.tf
    v = tf.Variable(floats(1, 2))
    one, other = tf.Session(), tf.Session()
    one.run(v.initializer)
    other.run(v.initializer)
    v.load(floats(7, 8), one)
    c.check(one.run(v), floats(7, 8))
    c.check(other.run(v), floats(1, 2))


# --- parts and counters -------------------------------------------------------------------


def _rows(c: ApiAuthor) -> tuple[Symbol, Symbol]:
    """A reference variable of three rows, and a session that has initialised it."""
    v = c.tf.Variable(np.array([[1, 1], [2, 2], [3, 3]], np.float32), use_resource=False)
    sess = c.tf.Session()
    sess.run(v.initializer)
    return v, sess


@api_case("VARIABLES-038", title="scatter_update replaces the rows at its indices.")
def rows_are_replaced(c: ApiAuthor) -> None:
    v, sess = _rows(c)
    new = np.array([[8, 9], [6, 7]], np.float32)
    want = np.array([[6, 7], [2, 2], [8, 9]], np.float32)
    c.check(sess.run(c.tf.scatter_update(v, [2, 0], new)), want)
    c.check(sess.run(v), want)


@api_case("VARIABLES-039", title="scatter_add adds once for every occurrence of an index.")
def rows_are_added_to(c: ApiAuthor) -> None:
    v, sess = _rows(c)
    new = np.array([[1, 2], [10, 20], [5, 5]], np.float32)
    want = np.array([[6, 6], [13, 24], [3, 3]], np.float32)
    c.check(sess.run(c.tf.scatter_add(v, [1, 1, 0], new)), want)


@api_case("VARIABLES-040", title="A scatter operation past the rows or below them has code 3.")
def rows_out_of_range(c: ApiAuthor) -> None:
    tf, row = c.tf, np.array([[1, 2]], np.float32)
    with c.within(tf.device("/cpu:0")):  # a GPU leaves the update out
        v, sess = _rows(c)
        for index in (3, -1):
            update, addition = tf.scatter_update(v, [index], row), tf.scatter_add(v, [index], row)
            c.raises("InvalidArgumentError", partial(sess.run, update))
            c.raises("InvalidArgumentError", partial(sess.run, addition))


@engine_case("VARIABLES-043", title="CountUpTo gives the count before, and code 11 at its limit.")
def counting_to_a_limit(c: EngineAuthor) -> None:
    with c.graph() as tf:
        tf.count_up_to(variable(tf, np.int32(0)), 2, name="count")
    s = c.open()
    s.run(["v_init"])
    s.run(["count:0"], values=[np.int32(0)])
    s.run(["count:0"], values=[np.int32(1)])
    s.run(["count:0"], error=[11])
    s.run(["count:0"], error=[11])
    s.run(["v_read:0"], values=[np.int32(2)])


# --- shared names -------------------------------------------------------------------------


def _node(tf: Namespace, name: str, shared: str, container: str = "") -> None:
    """A reference variable NAME of that shared name, `NAME_set` and `NAME_read`."""
    variable = tf.raw_ops.VariableV2(
        shape=[], dtype=tf.float32, shared_name=shared, container=container, name=name
    )
    tf.raw_ops.Assign(ref=variable, value=tf.constant(float(len(name))), name=f"{name}_set")
    tf.identity(variable, name=f"{name}_read")


@engine_case("VARIABLES-035", title="Two reference variables of one shared name are one.")
def one_shared_name(c: EngineAuthor) -> None:
    with c.graph() as tf:
        _node(tf, "a", "shared")
        _node(tf, "bb", "shared")
        _node(tf, "ccc", "")
    s = c.open()
    s.run(["a_set"])
    s.run(["bb_read:0"], values=[np.float32(1)])
    s.run(["ccc_read:0"], error=[9])
    s.run(["bb_set"])
    s.run(["a_read:0"], values=[np.float32(2)])


@engine_case("VARIABLES-036", title="A shared name in two containers is two variables.")
def one_name_in_two_containers(c: EngineAuthor) -> None:
    with c.graph() as tf:
        _node(tf, "a", "shared", "one")
        _node(tf, "bb", "shared", "other")
    s = c.open()
    s.run(["a_set"])
    s.run(["bb_read:0"], error=[9])
    s.run(["bb_set"])
    s.run(["a_read:0", "bb_read:0"], values=[np.float32(1), np.float32(2)])


# --- lists of variables, names ------------------------------------------------------------


@api_case("VARIABLES-023", title="Without variables the global initializer runs and does nothing.")
def an_initializer_of_nothing(c: ApiAuthor) -> None:
    tf = c.tf
    init = tf.global_variables_initializer()
    c.check(tf.Session().run(init), None)


@api_case("VARIABLES-024", title="Local variables have an initializer of their own.")
def local_variables(c: ApiAuthor) -> None:
    tf = c.tf
    kept = tf.Variable(1.0, name="kept")
    local = tf.Variable(2.0, collections=[tf.GraphKeys.LOCAL_VARIABLES], name="local")
    sess = tf.Session()
    sess.run(tf.global_variables_initializer())
    c.check(sess.run(kept), np.float32(1))
    c.raises("FailedPreconditionError", lambda: sess.run(local))
    sess.run(tf.local_variables_initializer())
    c.check(sess.run(local), np.float32(2))


@api_case("VARIABLES-026", title="A variable that is not trainable is global all the same.")
def a_variable_that_is_not_trained(c: ApiAuthor) -> None:
    tf = c.tf
    step = tf.Variable(0, trainable=False, name="step")
    weight = tf.Variable(1.0, name="weight")
    c.check(c.expr("$len", tf.trainable_variables()), 1)
    c.check_same(tf.trainable_variables()[0], weight)
    c.check(c.expr("$len", tf.global_variables()), 2)
    c.check_same(tf.global_variables()[0], step)


@api_case("VARIABLES-027", title="A Variable without an initial value is ValueError.")
def no_initial_value(c: ApiAuthor) -> None:
    c.raises("ValueError", c.tf.Variable)
    c.raises("ValueError", lambda: c.tf.Variable(dtype="float32"))


@api_case("VARIABLES-028", title="A variable is named as asked, made unique.")
def names_of_variables(c: ApiAuthor) -> None:
    tf = c.tf
    c.check(tf.Variable(1.0, name="w").name, "w:0")
    c.check(tf.Variable(1.0, name="w").name, "w_1:0")
    c.check(tf.Variable(1.0).name, "Variable:0")
    with c.within(tf.name_scope("ns")):
        v = tf.Variable(1.0, name="w", use_resource=False)
        c.check(v.name, "ns/w:0")
        c.check(v.op.name, "ns/w")
        c.check(v.initializer.name, "ns/w/Assign")


@api_case("VARIABLES-030", title="The names of exactly the uninitialised variables are reported.")
def uninitialised_names(c: ApiAuthor) -> None:
    tf = c.tf
    one, _, _ = (tf.Variable(1.0, name=name) for name in ("one", "two", "three"))
    asked = tf.report_uninitialized_variables()
    sess = tf.Session()
    sess.run(one.initializer)
    c.check(sess.run(asked), np.array([b"two", b"three"], object))
    sess.run(tf.global_variables_initializer())
    c.check(sess.run(asked), np.array([], object))


@api_case("VARIABLES-031", title="An operator on a Variable sees its value in that run.")
def operators_on_variables(c: ApiAuthor) -> None:
    tf = c.tf
    for resource in (False, True):
        v = tf.Variable(floats(1, 2), use_resource=resource)
        more, first = v * 2.0 + 1.0, v[0]
        sess = tf.Session()
        sess.run(v.initializer)
        c.check(sess.run(more), floats(3, 5))
        sess.run(v.assign(floats(5, 6)))
        c.check(sess.run(more), floats(11, 13))
        c.check(sess.run(first), np.float32(5))


@api_case("VARIABLES-032", title="initialized_value() lets one run initialise two variables.")
def one_variable_begins_as_another(c: ApiAuthor) -> None:
    tf = c.tf
    v = tf.Variable(floats(1, 2), use_resource=False)
    w = tf.Variable(v.initialized_value() * 3.0, use_resource=False)
    sess = tf.Session()
    sess.run(tf.global_variables_initializer())
    c.check(sess.run(w), floats(3, 6))


@api_case("VARIABLES-034", title="validate_shape=False admits an initial value of unknown shape.")
def an_initial_value_of_unknown_shape(c: ApiAuthor) -> None:
    tf = c.tf
    x = tf.placeholder(tf.float32)
    c.raises("ValueError", lambda: tf.Variable(x, use_resource=False))
    v = tf.Variable(x, validate_shape=False, use_resource=False)
    sess = tf.Session()
    sess.run(v.initializer, {x: floats(1, 2)})
    c.check(sess.run(v), floats(1, 2))


@api_case("VARIABLES-034", title="validate_shape=False admits it in get_variable too.")
def an_initializer_of_unknown_shape(c: ApiAuthor) -> None:
    tf = c.tf
    x = tf.placeholder(tf.float32)
    make = partial(tf.get_variable, initializer=x, use_resource=False)
    c.raises("ValueError", lambda: make("v"))
    v = make("w", validate_shape=False)
    sess = tf.Session()
    sess.run(v.initializer, {x: floats(1, 2)})
    c.check(sess.run(v), floats(1, 2))


@engine_case("VARIABLES-015", title="A resource variable takes no fed value of another shape.")
def a_fed_value_of_another_shape(c: EngineAuthor) -> None:
    with c.graph() as tf:
        x = tf.placeholder(tf.float32, name="x")
        v = variable(tf, floats(1, 2), resource=True)
        tf.group(v.assign(x, read_value=False), name="set")
    s = c.open()
    s.run(["v_init"])
    s.run(["set"], {"x:0": floats(1, 2, 3)}, error=[3])
    s.run(["set"], {"x:0": np.float32(1)}, error=[3])
    s.run(["v_read:0"], values=[floats(1, 2)])


@api_case("VARIABLES-029", title="is_variable_initialized tells of resource variables too.")
def asking_of_a_resource_variable(c: ApiAuthor) -> None:
    tf = c.tf
    v = tf.Variable(1.0, use_resource=True)
    ask = tf.is_variable_initialized(v)
    sess = tf.Session()
    c.check(sess.run(ask), np.bool_(False))
    sess.run(v.initializer)
    c.check(sess.run(ask), np.bool_(True))


@engine_case("VARIABLES-033", title="A node that validates no shape changes that of a variable.")
def a_node_that_changes_the_shape(c: EngineAuthor) -> None:
    with c.graph() as tf:
        variable = tf.raw_ops.VariableV2(shape=[2], dtype=tf.float32, name="v")
        x = tf.placeholder(tf.float32, name="x")
        tf.raw_ops.Assign(ref=variable, value=x, validate_shape=False, name="any")
        tf.raw_ops.Assign(ref=variable, value=x, validate_shape=True, name="same")
    s = c.open()
    s.run(["any:0"], {"x:0": floats(1, 2, 3)}, values=[floats(1, 2, 3)])
    s.run(["v:0"], values=[floats(1, 2, 3)])
    s.run(["same"], {"x:0": floats(1, 2)}, error=[3])
    s.run(["same"], {"x:0": floats(4, 5, 6)})
    s.run(["v:0"], values=[floats(4, 5, 6)])
