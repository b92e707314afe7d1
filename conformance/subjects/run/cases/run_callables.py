"""Vectors of RUN: callables made by `Session.make_callable`."""

from __future__ import annotations

from functools import partial

import numpy as np

from sessrun.conformance.authoring.forms import Recordable
from sessrun.conformance.authoring.record import ApiAuthor, api_case, differs_from, keep
from sessrun.conformance.subjects.run.cases.run import floats


@api_case("RUN-034", title="A callable returns the structure and the values of a run.")
def a_callable_returns_what_a_run_returns(c: ApiAuthor) -> None:
    tf = c.tf
    p = tf.placeholder(tf.float32, [], name="p")
    double, square = p * np.float32(2), p * p
    sess = tf.Session()
    for fetches, values in (
        (double, np.float32(6)),
        ([square], [np.float32(9)]),
        ((double, square), (np.float32(6), np.float32(9))),
        (
            {"a": double, "b": [square, (double,)]},
            {"a": np.float32(6), "b": [np.float32(9), (np.float32(6),)]},
        ),
        ({"op": double.op, "y": double}, {"op": None, "y": np.float32(6)}),
    ):
        c.check(sess.run(fetches, {p: 3.0}), values)
        call = sess.make_callable(fetches, [p])
        c.check(call(np.float32(3)), values)


@api_case("RUN-034", title="A callable of an Operation executes it and returns None.")
def a_callable_of_an_operation_returns_none(c: ApiAuthor) -> None:
    tf = c.tf
    variable = tf.Variable(0, dtype=tf.int32, use_resource=False)
    bump = tf.assign_add(variable, 1, name="bump")
    sess = tf.Session()
    sess.run(variable.initializer)
    call = sess.make_callable(bump.op)
    c.check(call(), None)
    c.check(sess.run(variable), np.int32(1))


@api_case("RUN-035", title="A callable feeds its arguments in the order of its feed_list.")
def arguments_are_fed_by_position(c: ApiAuthor) -> None:
    tf = c.tf
    p = tf.placeholder(tf.float32, [], name="p")
    q = tf.placeholder(tf.float32, [], name="q")
    r = tf.placeholder(tf.float32, [], name="r")
    y = p - q * r
    sess = tf.Session()
    call = sess.make_callable(y, [p, q, r])
    c.check(call(np.float32(10), np.float32(2), np.float32(3)), np.float32(4))
    call = sess.make_callable(y, [r, p, q])
    c.check(call(np.float32(10), np.float32(2), np.float32(3)), np.float32(-28))
    call = sess.make_callable([y], feed_list=(q, r, p))
    c.check(call(np.float32(10), np.float32(2), np.float32(3)), [np.float32(-17)])


@api_case("RUN-035", title="A feed_list takes names and tensors that are no placeholders.")
def a_feed_list_takes_names_and_inner_tensors(c: ApiAuthor) -> None:
    tf = c.tf
    p = tf.placeholder(tf.float32, [2], name="p")
    half = tf.multiply(p, np.float32(0.5), name="half")
    y = half - p
    sess = tf.Session()
    call = sess.make_callable([y, half], ["p:0", half])
    one_two, three_four = floats(1, 2), floats(3, 4)
    c.check(call(one_two, three_four), [floats(2, 2), three_four])
    call = sess.make_callable(y, [half, "p:0"])
    c.check(call(one_two, three_four), floats(-2, -2))


@api_case("RUN-036", title="A call with too few arguments is InvalidArgumentError.")
def too_few_arguments_fail(c: ApiAuthor) -> None:
    tf = c.tf
    p = tf.placeholder(tf.float32, [], name="p")
    q = tf.placeholder(tf.float32, [], name="q")
    sess = tf.Session()
    call = sess.make_callable(p - q, [p, q])
    c.raises("InvalidArgumentError", lambda: call(np.float32(1)))
    c.raises("InvalidArgumentError", call)
    c.check(call(np.float32(3), np.float32(1)), np.float32(2))


@api_case("RUN-036", title="A call with too few arguments fails for a list of fetches too.")
def too_few_arguments_fail_for_a_list(c: ApiAuthor) -> None:
    tf = c.tf
    p = tf.placeholder(tf.float32, [], name="p")
    q = tf.placeholder(tf.float32, [], name="q")
    sess = tf.Session()
    call = sess.make_callable([p + 1, {"d": p * q}], [p, q])
    c.raises("InvalidArgumentError", lambda: call(np.float32(1)))
    c.check(call(np.float32(3), np.float32(2)), [np.float32(4), {"d": np.float32(6)}])


@api_case("RUN-037", title="Each call of a callable executes anew and shares the variables.")
def each_call_executes_anew(c: ApiAuthor) -> None:
    tf = c.tf
    variable = tf.Variable(0, dtype=tf.int32, use_resource=False)
    bump = tf.assign_add(variable, 1)
    sess = tf.Session()
    sess.run(variable.initializer)
    call = sess.make_callable([bump])
    c.check(call(), [np.int32(1)])
    c.check(call(), [np.int32(2)])
    c.check(sess.run(variable), np.int32(2))
    c.check(sess.run(bump), np.int32(3))
    c.check(call(), [np.int32(4)])


@api_case("RUN-037", title="A callable draws new random numbers in each call.")
def each_call_draws_anew(c: ApiAuthor) -> None:
    tf = c.tf
    x = tf.random_uniform([4])
    sess = tf.Session()
    call = sess.make_callable(x)
    c.check(call(), keep("first"))
    c.check(call(), differs_from("first"))


@api_case("RUN-038", title="Fetches that name nothing are refused when the callable is made.")
def unknown_fetches_are_refused_when_made(c: ApiAuthor) -> None:
    tf = c.tf
    y = tf.constant(1.0, name="y")
    sess = tf.Session()
    c.raises("ValueError", lambda: sess.make_callable("nope:0"))
    c.raises("ValueError", lambda: sess.make_callable([y, "nope"]))
    c.raises("ValueError", lambda: sess.make_callable({"a": "y:7"}))
    with c.within(tf.Graph().as_default()):
        elsewhere = tf.constant(2.0)
    c.raises("ValueError", lambda: sess.make_callable(elsewhere))


@api_case("RUN-038", title="Fetches of a wrong kind are refused when the callable is made.")
def fetches_of_a_wrong_kind_are_refused_when_made(c: ApiAuthor) -> None:
    tf = c.tf
    y = tf.constant(1.0, name="y")
    sess = tf.Session()
    for fetches in (5, 1.5, None, [y, 3], {"a": None}, floats(1)):
        c.raises("TypeError", lambda: sess.make_callable(fetches))  # noqa: B023 - called at once


@api_case("RUN-039", title="A feed_list that is no list or tuple is TypeError when made.")
def a_feed_list_of_a_wrong_kind_is_refused(c: ApiAuthor) -> None:
    tf = c.tf
    p = tf.placeholder(tf.float32, [], name="p")
    y = p * 2
    sess = tf.Session()
    for feed_list in (p, "p:0", {p: 0}, 3):
        c.raises("TypeError", lambda: sess.make_callable(y, feed_list))  # noqa: B023 - at once
    call = sess.make_callable(y, (p,))
    c.check(call(np.float32(2)), np.float32(4))


@api_case("RUN-039", title="An empty value that is no list or tuple is no feed_list.")
def an_empty_feed_list_of_a_wrong_kind_is_refused(c: ApiAuthor) -> None:
    y = c.tf.constant(3.0)
    sess = c.tf.Session()
    wrong: tuple[Recordable, ...] = (0, False, "", {})
    for feed_list in wrong:
        c.raises("TypeError", partial(sess.make_callable, y, feed_list))
    empty: tuple[Recordable, ...] = (None, [], ())
    for nothing in empty:
        c.check(sess.make_callable(y, nothing)(), np.float32(3))


@api_case("RUN-040", title="A callable without feeds, of a closed session, is CancelledError.")
def a_call_without_feeds_on_a_closed_session_is_cancelled(c: ApiAuthor) -> None:
    tf = c.tf
    y = tf.constant(3.0) * np.float32(2)
    sess = tf.Session()
    calls = [sess.make_callable(y), sess.make_callable([y, y.op]), sess.make_callable({"y": y})]
    c.check(calls[0](), np.float32(6))
    sess.close()
    for call in calls:
        c.raises("CancelledError", call)


@api_case("CALLABLES-001", title="A callable that feeds, of a closed session, is an error.")
def a_call_with_feeds_on_a_closed_session_fails(c: ApiAuthor) -> None:
    tf = c.tf
    p = tf.placeholder(tf.float32, [], name="p")
    sess = tf.Session()
    call = sess.make_callable([p + 1], [p])
    c.check(call(np.float32(1)), [np.float32(2)])
    sess.close()
    c.raises(["CancelledError", "RuntimeError"], lambda: call(np.float32(1)))
