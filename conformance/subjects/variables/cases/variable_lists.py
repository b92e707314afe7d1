"""Vectors of VARIABLES: how variables are made, listed, cut into slices, and shared."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final

import numpy as np

from sessrun.conformance.authoring.record import ApiAuthor, Symbol, api_case
from sessrun.conformance.subjects.run.cases.run import floats

_KINDS: Final = (False, True)


def _named(c: ApiAuthor, variables: Symbol, names: Sequence[str]) -> None:
    """Check the names of a list of variables."""
    c.check(c.expr("$len", variables), len(names))
    for index, name in enumerate(names):
        c.check(variables[index].name, name)


# --- how they are made ---------------------------------------------------------------------


@api_case("VARIABLES-088", title="Values of regularizers are among the losses, once each.")
def losses_of_regularizers(c: ApiAuthor) -> None:
    tf = c.tf
    for resource in _KINDS:
        graph = tf.Graph()
        with c.within(graph.as_default()):
            squares = tf.nn.l2_loss
            with c.within(tf.variable_scope("s", regularizer=squares, use_resource=resource)):
                tf.get_variable("v", initializer=floats(1, 3))
                with c.within(tf.variable_scope("t")):
                    tf.get_variable("w", initializer=floats(2))
                with c.within(tf.variable_scope("u", regularizer=tf.reduce_sum)):
                    tf.get_variable("x", initializer=floats(7, 9))
            with c.within(tf.variable_scope("s", reuse=True)):
                tf.get_variable("v", [2], regularizer=squares)
            losses = tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)
            sess = tf.Session()
            sess.run(tf.global_variables_initializer())
            c.check(sess.run(losses), [np.float32(5), np.float32(2), np.float32(16)])


@api_case("VARIABLES-088", title="A regularizer that gives None adds no loss.")
def a_regularizer_of_nothing(c: ApiAuthor) -> None:
    tf = c.tf
    nothing = c.function(["v"], lambda _: None)
    tf.get_variable("v", [2], regularizer=nothing)
    tf.get_variable("w", [2])
    losses = tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)
    c.check(c.expr("$len", losses), 0)


@api_case("VARIABLES-089", title="A variable is in the collections that were named.")
def named_collections(c: ApiAuthor) -> None:
    tf = c.tf
    everywhere = ["mine", tf.GraphKeys.GLOBAL_VARIABLES]
    for number, resource in enumerate(_KINDS):
        tf.Variable(1.0, name=f"a{number}", collections=["mine"], use_resource=resource)
        tf.get_variable(f"b{number}", [2], collections=everywhere, use_resource=resource)
        tf.Variable(
            1.0, name=f"c{number}", trainable=False, collections=["other"], use_resource=resource
        )
    _named(c, tf.get_collection("mine"), ["a0:0", "b0:0", "a1:0", "b1:0"])
    _named(c, tf.get_collection("other"), ["c0:0", "c1:0"])
    _named(c, tf.global_variables(), ["b0:0", "b1:0"])
    _named(c, tf.trainable_variables(), ["a0:0", "b0:0", "a1:0", "b1:0"])


@api_case("VARIABLES-092", title="The dtype of a scope is that of its variables, unless they say.")
def the_dtype_of_a_scope(c: ApiAuthor) -> None:
    tf = c.tf
    with c.within(tf.variable_scope("s", dtype=tf.float64)):
        v = tf.get_variable("v", [2])
        with c.within(tf.variable_scope("t")):
            w = tf.get_variable("w", [])
        n = tf.get_variable("n", [2], dtype=tf.int32)
    for variable, name in ((v, "float64"), (w, "float64"), (n, "int32")):
        c.check(variable.dtype.base_dtype.name, name)


@api_case("VARIABLES-103", title="A function that gives the initial value is called once.")
def an_initial_value_is_called_once(c: ApiAuthor) -> None:
    for resource in _KINDS:
        check = "variables.calls_of_an_initial_value"
        c.named_check(check, want=[1, 1, 3], use_resource=resource)


@api_case("VARIABLES-104", title="A new variable needs all sizes of its shape.")
def a_shape_with_an_unknown_size(c: ApiAuthor) -> None:
    tf = c.tf
    for resource in _KINDS:
        make = partial(tf.get_variable, use_resource=resource)
        c.raises("ValueError", partial(make, "v", [None, 2]))
        c.raises("ValueError", partial(make, "v", tf.TensorShape(None)))


@api_case("VARIABLES-105", title="An initializer that is a tensor has a shape of its own.")
def a_tensor_and_a_shape(c: ApiAuthor) -> None:
    tf = c.tf
    given = tf.constant(floats(1, 2))
    c.raises("ValueError", lambda: tf.get_variable("v", [2], initializer=given))
    v = tf.get_variable("v", initializer=given)
    sess = tf.Session()
    sess.run(v.initializer)
    c.check(sess.run(v), floats(1, 2))


@api_case("VARIABLES-106", title="A scope decides which kind its variables are.")
def the_kind_of_a_scope(c: ApiAuthor) -> None:
    tf = c.tf
    for name, resource, kind in (("r", False, "VariableV2"), ("v", True, "VarHandleOp")):
        with c.within(tf.variable_scope(name, use_resource=resource)):
            c.check(tf.get_variable("v", [2]).op.type, kind)
            with c.within(tf.variable_scope("in")):
                c.check(tf.get_variable("v", [2]).op.type, kind)


@api_case("VARIABLES-102", title="The inner getter is asked first, then the one around it.")
def getters_are_nested(c: ApiAuthor) -> None:
    wanted = ["inner a/b/v", "outer a/b/v", "outer a/v", "own v"]
    c.named_check("variables.calls_of_getters", want=wanted)


@api_case("VARIABLES-102", title="What a getter gives is what get_variable gives.")
def getters_give_what_they_like(c: ApiAuthor) -> None:
    c.named_check("variables.what_a_getter_gives", want=[6.0, "w:0"])


# --- how they are shared -------------------------------------------------------------------


@api_case("VARIABLES-090", title="A shared variable asked for with another dtype is ValueError.")
def a_shared_variable_has_one_dtype(c: ApiAuthor) -> None:
    tf = c.tf
    for resource in _KINDS:
        with c.within(tf.variable_scope(f"s{resource}", use_resource=resource)) as scope:
            tf.get_variable("v", [2])
            scope.reuse_variables()
            for dtype in (tf.float64, tf.int32):
                c.raises("ValueError", partial(tf.get_variable, "v", [2], dtype))
            c.check(tf.get_variable("v", [2], tf.float32).name, f"s{resource}/v:0")


@api_case("VARIABLES-091", title="A shared variable may be asked for without its shape.")
def shared_without_a_shape(c: ApiAuthor) -> None:
    tf = c.tf
    v = tf.get_variable("v", [2, 3])
    tf.get_variable_scope().reuse_variables()
    c.check_same(tf.get_variable("v"), v)
    c.check_same(tf.get_variable("v", [2, None]), v)
    c.check_same(tf.get_variable("v", [None, None]), v)
    c.raises("ValueError", lambda: tf.get_variable("v", [None, 4]))


@api_case("VARIABLES-051", title="reuse=False does not end the reuse of the scope around.")
def reuse_cannot_be_ended(c: ApiAuthor) -> None:
    tf = c.tf
    with c.within(tf.variable_scope("a")), c.within(tf.variable_scope("b")):
        v = tf.get_variable("v", [2])
    reusing = c.within(tf.variable_scope("a", reuse=True))
    with reusing, c.within(tf.variable_scope("b", reuse=False)):
        c.check_same(tf.get_variable("v", [2]), v)


# --- slices --------------------------------------------------------------------------------


@api_case("VARIABLES-099", title="The value of a partitioned variable is that of its slices.")
def the_value_of_slices(c: ApiAuthor) -> None:
    tf = c.tf
    for resource in _KINDS:
        name = f"v{resource}"
        cut = tf.fixed_size_partitioner(2)
        v = tf.get_variable(
            name, [3, 2], partitioner=cut, initializer=tf.zeros_initializer(), use_resource=resource
        )
        parts = tf.global_variables(name)
        _named(c, parts, [f"{name}/part_0:0", f"{name}/part_1:0"])
        c.check(v.name, name)
        sess = tf.Session()
        sess.run(tf.global_variables_initializer())
        sess.run(parts[0].assign([[1.0, 2.0], [3.0, 4.0]]).op)
        sess.run(parts[1].assign([[5.0, 6.0]]).op)
        want = np.array([[1, 2], [3, 4], [5, 6]], np.float32)
        c.check(sess.run(v.as_tensor()), want)
        c.check(sess.run(tf.convert_to_tensor(v)), want)


@api_case("VARIABLES-099", title="The axis and the sizes of slices are the partitioner's.")
def slices_of_another_axis(c: ApiAuthor) -> None:
    tf = c.tf
    cut = tf.fixed_size_partitioner(3, axis=1)
    v = tf.get_variable("v", [2, 4], partitioner=cut, initializer=tf.ones_initializer())
    sess = tf.Session()
    sess.run(tf.global_variables_initializer())
    for part, size in zip(range(3), (2, 1, 1), strict=True):
        c.check(sess.run(tf.global_variables()[part]), np.ones([2, size], np.float32))
    c.check(sess.run(v.as_tensor()), np.ones([2, 4], np.float32))


@api_case("VARIABLES-100", title="A partitioned variable is reused slice by slice.")
def slices_are_reused(c: ApiAuthor) -> None:
    tf = c.tf
    two, four = tf.fixed_size_partitioner(2), tf.fixed_size_partitioner(4)
    with c.within(tf.variable_scope("p", partitioner=two)):
        tf.get_variable("v", [4], initializer=tf.ones_initializer())
    with c.within(tf.variable_scope("p", partitioner=two, reuse=True)):
        again = tf.get_variable("v", [4])
    sess = tf.Session()
    sess.run(tf.global_variables_initializer())
    sess.run(tf.global_variables()[1].assign([5.0, 6.0]).op)
    c.check(sess.run(again.as_tensor()), floats(1, 1, 5, 6))
    with c.within(tf.variable_scope("p", partitioner=four, reuse=True)):
        c.raises("ValueError", lambda: tf.get_variable("v", [4]))
    c.check(c.expr("$len", tf.global_variables()), 2)


# --- how they are listed and read ----------------------------------------------------------


@api_case("VARIABLES-093", title="A local variable is only among the local ones.")
def made_as_a_local_variable(c: ApiAuthor) -> None:
    tf = c.tf
    for resource in _KINDS:
        tf.get_local_variable(f"v{resource}", initializer=floats(1, 2), use_resource=resource)
    _named(c, tf.local_variables(), ["vFalse:0", "vTrue:0"])
    _named(c, tf.global_variables(), [])
    _named(c, tf.trainable_variables(), [])
    sess = tf.Session()
    sess.run(tf.local_variables_initializer())
    c.check(sess.run(tf.local_variables()), [floats(1, 2), floats(1, 2)])


@api_case("VARIABLES-094", title="Global and local variables are asked, or those that are given.")
def whom_to_ask(c: ApiAuthor) -> None:
    tf = c.tf
    a = tf.Variable(1.0, name="a")
    b = tf.Variable(1.0, name="b", collections=[tf.GraphKeys.LOCAL_VARIABLES])
    other = tf.Variable(1.0, name="c", collections=["mine"])
    everyone = tf.report_uninitialized_variables()
    some = tf.report_uninitialized_variables([b, other])
    sess = tf.Session()
    c.check(sess.run(everyone), np.array([b"a", b"b"], object))
    c.check(sess.run(some), np.array([b"b", b"c"], object))
    sess.run([b.initializer])
    c.check(sess.run([everyone, some]), [np.array([b"a"], object), np.array([b"c"], object)])
    sess.run([a.initializer, other.initializer])
    c.check(sess.run(some), np.array([], object))


@api_case("VARIABLES-095", title="Variables are listed by what their names begin with.")
def listed_by_scope(c: ApiAuthor) -> None:
    tf = c.tf
    for name in ("a", "ab", "b"):
        with c.within(tf.variable_scope(name)):
            tf.get_variable("v", [2])
    _named(c, tf.global_variables("a"), ["a/v:0", "ab/v:0"])
    _named(c, tf.trainable_variables("a/"), ["a/v:0"])
    _named(c, tf.global_variables("v"), [])
    _named(c, tf.global_variables(".*b/"), ["ab/v:0", "b/v:0"])


@api_case("VARIABLES-096", title="A value of another shape cannot be loaded.")
def a_loaded_value_of_another_shape(c: ApiAuthor) -> None:
    tf = c.tf
    for resource in _KINDS:
        v = tf.Variable(floats(1, 2), use_resource=resource)
        sess = tf.Session()
        sess.run(v.initializer)
        for wrong in (floats(1, 2, 3), np.float32(1)):
            c.raises("ValueError", partial(v.load, wrong, sess))
        c.check(sess.run(v), floats(1, 2))


@api_case("VARIABLES-097", title="eval takes its session, or the default one.")
def evaluated(c: ApiAuthor) -> None:
    tf = c.tf
    for resource in _KINDS:
        v = tf.Variable(floats(1, 2), use_resource=resource)
        one, other = tf.Session(), tf.Session()
        one.run(v.initializer)
        other.run(v.assign(floats(3, 4)).op)
        c.raises("ValueError", partial(v.eval))
        with c.within(one.as_default()):
            c.check(v.eval(), floats(1, 2))
            c.check(v.eval(other), floats(3, 4))


@api_case("VARIABLES-098", title="The value of a cached variable is one tensor on its device.")
def a_cached_value(c: ApiAuthor) -> None:
    tf = c.tf
    for resource in _KINDS:
        v = tf.Variable(floats(1, 2), caching_device="/cpu:0", use_resource=resource)
        c.check(v.value().device, "/device:CPU:0")
        c.check_same(v.value(), v.value())
        sess = tf.Session()
        sess.run(v.initializer)
        c.check(sess.run(v.value()), floats(1, 2))


@api_case("VARIABLES-101", title="A Variable is not iterated over.")
def not_iterated_over(c: ApiAuthor) -> None:
    tf = c.tf
    for resource in _KINDS:
        v = tf.Variable(floats(1, 2), use_resource=resource)
        c.raises("TypeError", partial(c.expr, "$op", "iter", v))
