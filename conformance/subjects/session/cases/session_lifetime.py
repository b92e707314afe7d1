"""Vectors of SESSION: what a session takes from its maker, and what it leaves as it was."""

from __future__ import annotations

import numpy as np

from sessrun.conformance.authoring.record import ApiAuthor, api_case


@api_case("SESSION-017", title="The end of a counter inside a with block reaches the caller.")
def out_of_range_is_not_swallowed(c: ApiAuthor) -> None:
    tf = c.tf
    v = tf.Variable(0, use_resource=False)
    count = v.count_up_to(1)
    with c.within(tf.Session(), raises="OutOfRangeError") as sess:
        sess.run(v.initializer)
        sess.run(count)
        c.throw(tf.errors.OutOfRangeError(None, None, "the end"))


@api_case("SESSION-052", title="A default session's graph is not the default graph by that.")
def a_default_session_leaves_the_graph(c: ApiAuthor) -> None:
    tf = c.tf
    other = tf.Graph()
    outer = tf.get_default_graph()
    with c.within(tf.Session(graph=other).as_default()):
        c.check_same(tf.get_default_graph(), outer)
        c.check_same(tf.constant(1.0).graph, outer)


@api_case("SESSION-053", title="graph_def holds what was added since it was asked for first.")
def a_graph_def_grows(c: ApiAuthor) -> None:
    tf = c.tf
    sess = tf.Session()
    c.check(c.expr("$len", sess.graph_def.node), 0)
    y = tf.constant(1.0, name="y")
    c.check(c.expr("$len", sess.graph_def.node), 1)
    sess.run(y)
    tf.negative(y, name="z")
    c.check(sess.graph_def.node[1].name, "z")


@api_case("SESSION-054", title="A with block left by an exception puts both defaults back.")
def an_exception_restores_the_defaults(c: ApiAuthor) -> None:
    tf = c.tf
    outer = tf.get_default_graph()
    with c.within(tf.Session(graph=tf.Graph()), raises="ValueError"):
        c.throw(c.py.ValueError("stop"))
    c.check_same(tf.get_default_graph(), outer)
    c.check_same(tf.get_default_session(), None)


@api_case("SESSION-054", title="An inner with block left by an exception gives way to the outer.")
def an_exception_restores_the_outer_session(c: ApiAuthor) -> None:
    tf = c.tf
    with c.within(tf.Session(graph=tf.Graph())) as outer:
        with c.within(tf.Session(graph=tf.Graph()), raises="ValueError"):
            c.throw(c.py.ValueError("stop"))
        c.check_same(tf.get_default_session(), outer)
        c.check_same(tf.get_default_graph(), outer.graph)
        c.check(outer.run(tf.constant(2.0)), np.float32(2))


@api_case("SESSION-055", title="A config that is changed after the session was opened is not read.")
def a_config_is_read_once(c: ApiAuthor) -> None:
    tf = c.tf
    with c.within(tf.device("/device:GPU:97")):
        y = tf.constant(1.0)
    config = tf.ConfigProto()
    sess = tf.Session(config=config)
    c.set(config, "allow_soft_placement", value=True)
    c.raises("InvalidArgumentError", lambda: sess.run(y))
    c.check(tf.Session(config=config).run(y), np.float32(1))


@api_case("SESSION-056", title="A session runs in a thread other than the one that opened it.")
def a_session_runs_in_another_thread(c: ApiAuthor) -> None:
    tf = c.tf
    v = tf.Variable(1.0, use_resource=False)
    more = tf.assign_add(v, 1.0)
    sess = tf.Session()
    sess.run(v.initializer)
    with c.thread():
        c.check(sess.run(more), np.float32(2))
        with c.within(sess.as_default()):
            c.check(more.eval(), np.float32(3))
    c.check(sess.run(v), np.float32(3))
