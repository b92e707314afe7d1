"""Vectors of CALLABLES: closed sessions, shapes, options, names and growth."""

from __future__ import annotations

import numpy as np

from sessrun.conformance.authoring.record import ApiAuthor, api_case, as_array
from sessrun.conformance.subjects.run.cases.run import floats

#: What a callable of a closed session may raise.
_CLOSED = ["CancelledError", "RuntimeError"]


@api_case("CALLABLES-001", title="A callable that feeds fails once its session is closed.")
def a_feeding_callable_of_a_closed_session(c: ApiAuthor) -> None:
    tf = c.tf
    p = tf.placeholder(tf.float32, [], name="p")
    sess = tf.Session()
    single, listed = sess.make_callable(p + 1, [p]), sess.make_callable([p * 2, p], [p])
    c.check(single(np.float32(1)), np.float32(2))
    c.check(listed(np.float32(3)), [np.float32(6), as_array(np.float32(3))])
    sess.close()
    c.raises(_CLOSED, lambda: single(np.float32(1)))
    c.raises(_CLOSED, lambda: listed(np.float32(3)))


@api_case("CALLABLES-001", title="A callable that feeds fails after the `with` of its session.")
def a_feeding_callable_after_the_block(c: ApiAuthor) -> None:
    tf = c.tf
    p = tf.placeholder(tf.float32, [2], name="p")
    with c.within(tf.Session()) as sess:
        call = sess.make_callable([p + 1], ["p:0"])
        c.check(call(floats(1, 2)), [floats(2, 3)])
    c.raises(_CLOSED, lambda: call(floats(1, 2)))


@api_case("CALLABLES-002", title="An argument of another shape is ValueError; the next call works.")
def an_argument_of_another_shape_is_refused(c: ApiAuthor) -> None:
    tf = c.tf
    p = tf.placeholder(tf.float32, [2], name="p")
    q = tf.placeholder(tf.float32, [None, 3], name="q")
    sess = tf.Session()
    call = sess.make_callable([p + 1, q * 2], [p, q])
    row = floats(1, 2, 3)
    c.raises("ValueError", lambda: call(floats(1, 2, 3), [row]))
    c.raises("ValueError", lambda: call(floats(1, 2), row))
    c.raises("ValueError", lambda: call(np.float32(1), [row]))
    c.raises("ValueError", lambda: call([floats(1, 2)], [row]))
    c.check(call(floats(1, 2), [row])[0], floats(2, 3))


@api_case("CALLABLES-002", title="A refused call has executed nothing.")
def a_refused_call_changes_nothing(c: ApiAuthor) -> None:
    tf = c.tf
    variable = tf.Variable(0, dtype=tf.int32, use_resource=False)
    bump = tf.assign_add(variable, 1)
    p = tf.placeholder(tf.float32, [2], name="p")
    sess = tf.Session()
    sess.run(variable.initializer)
    call = sess.make_callable([p + 1, bump], [p])
    c.raises("ValueError", lambda: call(floats(1, 2, 3)))
    c.check(sess.run(variable), np.int32(0))


@api_case("CALLABLES-003", title="A callable that accepts options takes them with its arguments.")
def options_come_with_the_arguments(c: ApiAuthor) -> None:
    tf = c.tf
    p = tf.placeholder(tf.float32, [], name="p")
    sess = tf.Session()
    call = sess.make_callable(p + 1, [p], accept_options=True)
    metadata = tf.RunMetadata()
    full = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
    c.check(call(np.float32(1), options=full, run_metadata=metadata), np.float32(2))
    c.check(c.expr("$op", ">", c.expr("$len", metadata.step_stats.dev_stats), 0), True)
    c.check(call(np.float32(2)), np.float32(3))


@api_case("CALLABLES-003", title="A callable without feeds takes options and metadata.")
def options_of_a_callable_without_feeds(c: ApiAuthor) -> None:
    tf = c.tf
    y = tf.constant(1.0) + 2.0
    sess = tf.Session()
    full = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
    for fetches, values in ((y, np.float32(3)), ([y], [np.float32(3)]), (y.op, None)):
        call = sess.make_callable(fetches, accept_options=True)
        metadata = tf.RunMetadata()
        c.check(call(options=full, run_metadata=metadata), values)
        c.check(c.expr("$op", ">", c.expr("$len", metadata.step_stats.dev_stats), 0), True)
        c.check(call(), values)


@api_case("CALLABLES-004", title="A feed_list of names feeds the tensors of these names.")
def names_stand_for_tensors(c: ApiAuthor) -> None:
    tf = c.tf
    p = tf.placeholder(tf.float32, [], name="p")
    q = tf.placeholder(tf.float32, [], name="q")
    inner = tf.multiply(p, np.float32(10), name="inner")
    sess = tf.Session()
    c.check(sess.make_callable(p - q, ["p:0", "q:0"])(np.float32(5), np.float32(2)), np.float32(3))
    c.check(sess.make_callable(p - q, ("q:0", p))(np.float32(5), np.float32(2)), np.float32(-3))
    c.check(sess.make_callable(inner + 1, ["inner:0"])(np.float32(4)), np.float32(5))


@api_case("CALLABLES-005", title="A callable survives a node that no device can hold.")
def a_callable_survives_growth(c: ApiAuthor) -> None:
    tf = c.tf
    y = tf.constant(1.0) + 2.0
    sess = tf.Session()
    calls = [sess.make_callable(y), sess.make_callable({"y": [y]}), sess.make_callable(y.op)]
    c.check(calls[0](), np.float32(3))
    with c.within(tf.device("/device:GPU:97")):
        tf.constant(5.0)
    c.raises("InvalidArgumentError", lambda: sess.run(y))
    c.check(calls[0](), np.float32(3))
    c.check(calls[1](), {"y": [np.float32(3)]})
    c.check(calls[2](), None)


@api_case("CALLABLES-005", title="A callable not yet called survives a node on no device.")
def a_callable_not_called_yet_survives_growth(c: ApiAuthor) -> None:
    tf = c.tf
    variable = tf.Variable(0, dtype=tf.int32, use_resource=False)
    bump = tf.assign_add(variable, 1)
    sess = tf.Session()
    sess.run(variable.initializer)
    call = sess.make_callable(bump)
    with c.within(tf.device("/job:nowhere")):
        tf.no_op()
    c.check(call(), np.int32(1))
    c.raises("InvalidArgumentError", lambda: sess.run(bump))
    c.check(call(), np.int32(2))


@api_case("CALLABLES-006", title="A closed session makes a callable that cannot be called.")
def a_closed_session_makes_a_callable(c: ApiAuthor) -> None:
    tf = c.tf
    y = tf.constant(3.0) * np.float32(2)
    sess = tf.Session()
    c.check(sess.run(y), np.float32(6))
    sess.close()
    for call in (sess.make_callable(y), sess.make_callable([y], [y]), sess.make_callable({"y": y})):
        c.raises(_CLOSED, call)
