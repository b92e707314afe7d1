"""Vectors of VARIABLES and GRAPH: how variables are made and read, and what tensors tell."""

from __future__ import annotations

import numpy as np

from sessrun.conformance.authoring.record import ApiAuthor, api_case
from sessrun.conformance.subjects.variables.cases.variable_updates import floats


@api_case("VARIABLES-008", title="What the methods of a Variable return are the new values.")
def methods_give_new_values(c: ApiAuthor) -> None:
    for resource in (False, True):
        v = c.tf.Variable(1.0, use_resource=resource)
        sess = c.tf.Session()
        sess.run(v.initializer)
        c.check(sess.run(v.assign(5.0)), np.float32(5))
        c.check(sess.run(v.assign_add(2.0)), np.float32(7))
        c.check(sess.run(v.assign_sub(3.0)), np.float32(4))


@api_case("VARIABLES-013", title="A variable has the dtype of the array it was made from.")
def dtypes_of_arrays(c: ApiAuthor) -> None:
    for value in (np.array([1, 1e-300]), np.array([2**53 + 1]), np.array([True])):
        v = c.tf.Variable(value)
        sess = c.tf.Session()
        sess.run(v.initializer)
        c.check(sess.run(v), value)


@api_case("VARIABLES-032", title="initialized_value() needs no initialisation of the variable.")
def the_value_of_one_not_initialised(c: ApiAuthor) -> None:
    tf = c.tf
    v = tf.Variable(floats(1, 2), use_resource=False)
    w = tf.Variable(v.initialized_value() * 3.0, use_resource=False)
    sess = tf.Session()
    sess.run(w.initializer)
    c.check(sess.run(w), floats(3, 6))
    c.raises("FailedPreconditionError", lambda: sess.run(v))


@api_case("VARIABLES-061", title="The global initializer is an operation called init.")
def the_name_of_the_initializer(c: ApiAuthor) -> None:
    tf = c.tf
    v = tf.Variable(1.0)
    c.check(tf.global_variables_initializer().name, "init")
    c.check(tf.global_variables_initializer().name, "init_1")
    sess = tf.Session()
    c.check(sess.run("init"), None)
    c.check(sess.run(v), np.float32(1))


@api_case("VARIABLES-062", title="An initializer does not wait for the block it was made in.")
def an_initializer_waits_for_no_block(c: ApiAuthor) -> None:
    tf = c.tf
    p = tf.placeholder(tf.float32, [])
    with c.within(tf.control_dependencies([tf.negative(p)])):
        v = tf.Variable(1.0, use_resource=False)
        w = tf.get_variable("w", [], initializer=tf.constant_initializer(2.0), use_resource=False)
    sess = tf.Session()
    sess.run([v.initializer, w.initializer])
    c.check(sess.run([v, w]), [np.float32(1), np.float32(2)])


@api_case("VARIABLES-063", title="assign(read_value=False) gives an operation.")
def an_assignment_without_a_value(c: ApiAuthor) -> None:
    tf = c.tf
    for resource in (False, True):
        v = tf.Variable(1.0, use_resource=resource)
        sess = tf.Session()
        sess.run(v.initializer)
        for update, want in (
            (v.assign(5.0, read_value=False), 5),
            (v.assign_add(1.0, read_value=False), 6),
        ):
            c.check_instance(update, tf.Operation)
            c.check(sess.run(update), None)
            c.check(sess.run(v), np.float32(want))


@api_case("VARIABLES-064", title="read_value() inside a block reads after what the block lists.")
def a_read_after_an_update(c: ApiAuthor) -> None:
    tf = c.tf
    for resource in (False, True):
        v = tf.Variable(1.0, use_resource=resource)
        with c.within(tf.control_dependencies([v.assign(5.0)])):
            after = v.read_value()
        sess = tf.Session()
        sess.run(v.initializer)
        c.check(sess.run(after), np.float32(5))


@api_case("VARIABLES-065", title="A container scope is the container of variables made inside.")
def a_container_scope(c: ApiAuthor) -> None:
    tf = c.tf
    with c.within(tf.get_default_graph().container("box")):
        inside = tf.Variable(1.0, use_resource=False)
    outside = tf.Variable(1.0, use_resource=False)
    c.check(inside.op.get_attr("container"), b"box")
    c.check(outside.op.get_attr("container"), b"")


@api_case("GRAPH-130", title="Writing into an array after a constant was made of it is not seen.")
def a_constant_is_a_copy(c: ApiAuthor) -> None:
    tf = c.tf
    array = tf.Session().run(tf.constant([1, 2, 3]))
    a = tf.constant(array)
    v = tf.Variable(array)
    array.fill(9)
    sess = tf.Session()
    sess.run(v.initializer)
    c.check(sess.run([a, a + 0, v]), [np.array([1, 2, 3], np.int32)] * 3)


@api_case("GRAPH-131", title="consumers() lists the operations that take a tensor.")
def consumers_of_a_tensor(c: ApiAuthor) -> None:
    tf = c.tf
    a = tf.constant(1.0)
    c.check(c.expr("$len", a.consumers()), 0)
    y = tf.negative(a)
    z = a * y
    c.check(c.expr("$len", a.consumers()), 2)
    c.check_same(a.consumers()[0], y.op)
    c.check_same(y.consumers()[0], z.op)


@api_case("GRAPH-093", title="get_shape() has as_list() and ndims, None for what is not known.")
def shapes_as_lists(c: ApiAuthor) -> None:
    tf = c.tf
    p = tf.placeholder(tf.float32, [None, 3])
    c.check(tf.transpose(p).get_shape().as_list(), [3, None])
    c.check(p.get_shape().ndims, 2)
    c.check(p.get_shape().is_fully_defined(), False)
    c.check(tf.placeholder(tf.float32).get_shape().ndims, None)
