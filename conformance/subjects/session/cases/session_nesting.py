"""Vectors of SESSION: sessions left out of order, targets and what a session's GraphDef tells."""

from __future__ import annotations

import numpy as np

from sessrun.conformance.authoring.record import ApiAuthor, api_case


@api_case(
    "SESSION-063",
    "SESSION-064",
    title="The outer of two default-session blocks cannot be left first.",
    isolated=True,
)
def the_outer_block_cannot_be_left_first(c: ApiAuthor) -> None:
    tf = c.tf
    outer, inner = tf.Session(), tf.Session()
    one, two = outer.as_default(), inner.as_default()
    one.__enter__()
    two.__enter__()
    c.raises("AssertionError", lambda: one.__exit__(None, None, None))
    c.blame("SESSION-063")
    c.check_same(tf.get_default_session(), inner)
    c.blame("SESSION-064")
    two.__exit__(None, None, None)
    c.check_same(tf.get_default_session(), outer)
    c.blame("SESSION-064")


@api_case(
    "SESSION-063",
    "SESSION-064",
    title="A `with sess:` that is not innermost cannot be left.",
    isolated=True,
)
def an_outer_session_cannot_be_left_first(c: ApiAuthor) -> None:
    tf = c.tf
    y = tf.constant(1.0) + 1.0
    outer, inner = tf.Session(), tf.Session()
    outer.__enter__()
    inner.__enter__()
    c.raises("AssertionError", lambda: outer.__exit__(None, None, None))
    c.blame("SESSION-063")
    c.check_same(tf.get_default_session(), inner)
    c.blame("SESSION-064")
    c.check(inner.run(y), np.float32(2))


@api_case(
    "SESSION-065",
    "SESSION-066",
    title="Of two InteractiveSessions the first cannot be closed first.",
    isolated=True,
)
def the_first_interactive_session_is_closed_first(c: ApiAuthor) -> None:
    tf = c.tf
    y = tf.constant(1.0) + 1.0
    first, second = tf.InteractiveSession(), tf.InteractiveSession()
    c.raises("AssertionError", lambda: first.close())  # noqa: PLW0108 - recorded when called
    c.blame("SESSION-065")
    c.raises("RuntimeError", lambda: first.run(y))
    c.blame("SESSION-066")
    c.check_same(tf.get_default_session(), second)
    c.check(y.eval(), np.float32(2))


@api_case(
    "SESSION-065",
    "SESSION-066",
    title="A block around nothing but an open InteractiveSession is an error.",
    isolated=True,
)
def a_block_left_over_an_interactive_session(c: ApiAuthor) -> None:
    tf = c.tf
    y = tf.constant(1.0) + 1.0
    interactive = tf.InteractiveSession()
    block = tf.Session().as_default()
    block.__enter__()
    c.raises("AssertionError", lambda: interactive.close())  # noqa: PLW0108 - recorded when called
    c.blame("SESSION-065")
    c.raises("RuntimeError", lambda: interactive.run(y))
    c.blame("SESSION-066")
    c.check(y.eval(), np.float32(2))


@api_case("SESSION-050", title="The nodes of graph_def have no shapes unless they are asked for.")
def a_graph_def_without_shapes(c: ApiAuthor) -> None:
    tf = c.tf
    tf.constant([[1.0, 2.0]])
    for config in (None, tf.ConfigProto(), tf.ConfigProto(allow_soft_placement=True)):
        attributes = tf.Session(config=config).graph_def.node[0].attr
        c.check(c.expr("$op", "in", "_output_shapes", attributes), False)


@api_case("SESSION-050", title="With infer_shapes the nodes of graph_def tell their shapes.")
def a_graph_def_with_shapes(c: ApiAuthor) -> None:
    tf = c.tf
    tf.constant([[1.0, 2.0]])
    config = tf.ConfigProto(graph_options=tf.GraphOptions(infer_shapes=True))
    shape = tf.Session(config=config).graph_def.node[0].attr["_output_shapes"].list.shape[0]
    c.check(shape.dim[0].size, 1)
    c.check(shape.dim[1].size, 2)


@api_case("SESSION-051", title="The target None is the process itself.")
def the_target_none(c: ApiAuthor) -> None:
    tf = c.tf
    y = tf.constant(1.0) + 1.0
    c.check(tf.Session(None).run(y), np.float32(2))
    c.check(tf.Session(target=None, config=tf.ConfigProto()).run(y), np.float32(2))
