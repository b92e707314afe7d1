"""Vectors of VARIABLES: `get_variable`, variable scopes and what they share."""

from __future__ import annotations

from functools import partial

import numpy as np

from sessrun.conformance.authoring.record import ApiAuthor, Symbol, api_case


def named(c: ApiAuthor, name: str = "v", shape: tuple[int, ...] = (2,)) -> Symbol:
    """`get_variable` of that name."""
    variable: Symbol = c.tf.get_variable(name, list(shape))
    return variable


@api_case("VARIABLES-044", title="A second get_variable of one name at the root is ValueError.")
def a_name_is_taken_once(c: ApiAuthor) -> None:
    named(c)
    c.raises("ValueError", lambda: named(c))
    named(c, "w")


@api_case("VARIABLES-044", title="A scope that is opened again does not share its variables.")
def a_scope_opened_again_does_not_share(c: ApiAuthor) -> None:
    with c.within(c.tf.variable_scope("a")):
        named(c)
    with c.within(c.tf.variable_scope("a")):
        c.raises("ValueError", lambda: named(c))


@api_case("VARIABLES-045", title="A scope with reuse=True returns the very variable.")
def a_reusing_scope_shares(c: ApiAuthor) -> None:
    tf = c.tf
    with c.within(tf.variable_scope("a")):
        v = named(c)
    with c.within(tf.variable_scope("a", reuse=True)):
        c.check_same(named(c), v)
    c.check(c.expr("$len", tf.global_variables()), 1)


@api_case("VARIABLES-045", title="After reuse_variables() a scope returns the very variable.")
def a_scope_reuses_from_a_point_on(c: ApiAuthor) -> None:
    tf = c.tf
    with c.within(tf.variable_scope("a")) as scope:
        v = named(c)
        scope.reuse_variables()
        c.check_same(named(c), v)


@api_case("VARIABLES-046", title="A scope with reuse=True makes no variable: ValueError.")
def a_reusing_scope_makes_none(c: ApiAuthor) -> None:
    tf = c.tf
    tf.Variable(np.zeros(2, np.float32), name="a/v")
    with c.within(tf.variable_scope("a", reuse=True)):
        c.raises("ValueError", lambda: named(c))


@api_case("VARIABLES-047", title="A shared variable asked for with another shape is ValueError.")
def a_shared_variable_has_one_shape(c: ApiAuthor) -> None:
    tf = c.tf
    with c.within(tf.variable_scope("a", reuse=tf.AUTO_REUSE)):
        named(c)
        c.raises("ValueError", lambda: named(c, shape=(3,)))
        c.raises("ValueError", lambda: named(c, shape=(2, 1)))


@api_case("VARIABLES-048", title="AUTO_REUSE makes a variable once and shares it then.")
def auto_reuse_makes_once(c: ApiAuthor) -> None:
    tf = c.tf
    with c.within(tf.variable_scope("a", reuse=tf.AUTO_REUSE)):
        v = named(c)
        c.check_same(named(c), v)
    with c.within(tf.variable_scope("a", reuse=tf.AUTO_REUSE)):
        c.check_same(named(c), v)
        c.check(named(c, "w").name, "a/w:0")


@api_case("VARIABLES-049", title="Variable scopes are in a variable's name, name scopes are not.")
def scopes_in_the_name(c: ApiAuthor) -> None:
    tf = c.tf
    with c.within(tf.variable_scope("a")), c.within(tf.variable_scope("b")):
        c.check(named(c).name, "a/b/v:0")
    with c.within(tf.name_scope("ns")):
        c.check(named(c, "u").name, "u:0")
        with c.within(tf.variable_scope("a")):
            c.check(named(c, "w").name, "a/w:0")


@api_case("VARIABLES-049", title="A variable scope is a name scope for operations.")
def operations_in_a_variable_scope(c: ApiAuthor) -> None:
    tf = c.tf
    with c.within(tf.variable_scope("a")):
        named(c)
        c.check(tf.constant(1, name="one").name, "a/one:0")
    with c.within(tf.variable_scope("a", reuse=True)):
        c.check(named(c).name, "a/v:0")
        c.check(tf.constant(1, name="one").name, "a_1/one:0")


@api_case("VARIABLES-050", title="A scope of only a default name is numbered where it is taken.")
def default_names_are_numbered(c: ApiAuthor) -> None:
    tf = c.tf
    for name in ("d/v:0", "d_1/v:0", "d_2/v:0"):
        with c.within(tf.variable_scope(None, default_name="d")):
            c.check(named(c).name, name)


@api_case("VARIABLES-051", title="A scope inside a reusing scope reuses too.")
def an_inner_scope_reuses_too(c: ApiAuthor) -> None:
    tf = c.tf
    with c.within(tf.variable_scope("a")), c.within(tf.variable_scope("b")):
        v = named(c)
    with c.within(tf.variable_scope("a", reuse=True)), c.within(tf.variable_scope("b")):
        c.check_same(named(c), v)
        c.raises("ValueError", lambda: named(c, "w"))


@api_case("VARIABLES-052", title="get_variable without shape and initializer is ValueError.")
def neither_shape_nor_initializer(c: ApiAuthor) -> None:
    tf = c.tf
    c.raises("ValueError", lambda: tf.get_variable("v"))
    c.check(tf.get_variable("w", initializer=np.float32(2)).name, "w:0")


@api_case("VARIABLES-052", title="An initializer that needs a shape is no help without one.")
def an_initializer_that_needs_a_shape(c: ApiAuthor) -> None:
    tf = c.tf
    for make in (tf.ones_initializer, tf.random_normal_initializer):
        c.raises("ValueError", partial(tf.get_variable, "v", initializer=make()))


@api_case("VARIABLES-059", title="A scope entered by its object goes on with its names.")
def a_scope_is_entered_by_its_object(c: ApiAuthor) -> None:
    tf = c.tf
    with c.within(tf.variable_scope("a")) as scope:
        v = named(c)
    with c.within(tf.variable_scope("other")):
        with c.within(tf.variable_scope(scope)):
            c.check(named(c, "w").name, "a/w:0")
        with c.within(tf.variable_scope(scope, reuse=True)):
            c.check_same(named(c), v)
        c.check(named(c).name, "other/v:0")


@api_case("VARIABLES-060", title="get_variable takes a scope's initializer, and its own before.")
def the_initializer_of_a_scope(c: ApiAuthor) -> None:
    tf = c.tf
    with c.within(tf.variable_scope("a", initializer=tf.constant_initializer(3.0))):
        v = named(c)
        w = tf.get_variable("w", [], initializer=tf.constant_initializer(4.0))
    n = tf.get_variable("n", [2], tf.int32)
    sess = tf.Session()
    sess.run(tf.global_variables_initializer())
    c.check(sess.run(v), np.array([3, 3], np.float32))
    c.check(sess.run(w), np.float32(4))
    c.check(sess.run(n), np.array([0, 0], np.int32))


@api_case("VARIABLES-060", title="The initializer of a scope is that of the scopes within it.")
def the_initializer_of_an_outer_scope(c: ApiAuthor) -> None:
    tf = c.tf
    with c.within(tf.variable_scope("a", initializer=tf.constant_initializer(3))):
        with c.within(tf.variable_scope("b")):
            v = tf.get_variable("v", [2])
            n = tf.get_variable("n", [2], tf.int32)
        with (
            c.within(tf.variable_scope("c", initializer=tf.constant_initializer(5))),
            c.within(tf.variable_scope("d")),
        ):
            w = tf.get_variable("w", [])
    sess = tf.Session()
    sess.run(tf.global_variables_initializer())
    c.check(sess.run(v), np.array([3, 3], np.float32))
    c.check(sess.run(n), np.array([3, 3], np.int32))
    c.check(sess.run(w), np.float32(5))
