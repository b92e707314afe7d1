"""Vectors of SESSION: the stack of default sessions, with blocks, eval, InteractiveSession."""

from __future__ import annotations

import numpy as np

from sessrun.conformance.authoring.forms import Recordable
from sessrun.conformance.authoring.record import ApiAuthor, Symbol, api_case, as_array
from sessrun.conformance.subjects.graph.cases.graph import leave_by_exception


def _two_sessions(c: ApiAuthor, up: Recordable = 10) -> tuple[Symbol, Symbol, Symbol, Symbol]:
    """Record `v` (1), a tensor that adds `up` to it, two sessions that initialised it."""
    v = c.tf.Variable(1, name="v", use_resource=False, dtype=c.tf.int32)
    added = c.tf.assign_add(v, up)
    sessions = c.tf.Session(), c.tf.Session()
    for sess in sessions:
        sess.run(v.initializer)
    return v, added, *sessions


# --- the stack ----------------------------------------------------------------------------


@api_case("SESSION-008", title="A constructed Session is not the default session.")
def constructing_installs_nothing(c: ApiAuthor) -> None:
    c.tf.Session()
    c.check(c.tf.get_default_session(), None)


@api_case("SESSION-008", title="A Session constructed in a block of another leaves that one.")
def constructing_inside_a_block_installs_nothing(c: ApiAuthor) -> None:
    with c.within(c.tf.Session()) as outer:
        c.tf.Session(graph=c.tf.Graph())
        c.check_same(c.tf.get_default_session(), outer)


@api_case("SESSION-009", title="as_default makes the very session the default session.")
def as_default_installs_the_session(c: ApiAuthor) -> None:
    sess = c.tf.Session()
    with c.within(sess.as_default()) as entered:
        c.check_same(c.tf.get_default_session(), sess)
        c.check_same(entered, sess)


@api_case("SESSION-010", title="Leaving as_default leaves the session open.")
def as_default_does_not_close(c: ApiAuthor) -> None:
    x = c.tf.placeholder(c.tf.float32, [])
    y = x + 1.0
    sess = c.tf.Session()
    for fed in (1.0, 2.0):
        with c.within(sess.as_default()):
            c.check(sess.run([y], {x: fed}), [as_array(np.float32(fed + 1))])
    c.check(sess.run(y, {x: 3.0}), as_array(np.float32(4)))


@api_case("SESSION-010", title="Leaving as_default by an exception leaves the session open.")
def as_default_left_by_an_exception_does_not_close(c: ApiAuthor) -> None:
    v = c.tf.Variable(8, use_resource=True)
    sess = c.tf.Session()
    block = sess.as_default()
    block.__enter__()
    sess.run(v.initializer)
    leave_by_exception(c, block)
    c.check(sess.run(v), as_array(np.int32(8)))


@api_case("SESSION-011", title="After the inner block the outer session is the default again.")
def the_outer_block_comes_back(c: ApiAuthor) -> None:
    outer, inner = c.tf.Session(), c.tf.Session()
    with c.within(outer.as_default()):
        for _ in range(2):
            with c.within(inner.as_default()):
                c.check_same(c.tf.get_default_session(), inner)
            c.check_same(c.tf.get_default_session(), outer)


@api_case("SESSION-011", title="After an inner with block the outer session is the default again.")
def the_outer_with_block_comes_back(c: ApiAuthor) -> None:
    c.tf.constant(1)
    with c.within(c.tf.Session()) as outer:
        with c.within(c.tf.Session()) as inner:
            c.check_same(c.tf.get_default_session(), inner)
        c.check_same(c.tf.get_default_session(), outer)


@api_case("SESSION-012", title="An exception takes the session off the stack.")
def an_exception_takes_the_session_off(c: ApiAuthor) -> None:
    outer, inner = c.tf.Session(), c.tf.Session()
    with c.within(outer.as_default()):
        block = inner.as_default()
        block.__enter__()
        c.check_same(c.tf.get_default_session(), inner)
        leave_by_exception(c, block)
        c.check_same(c.tf.get_default_session(), outer)


@api_case("SESSION-013", title="with sess: makes the session's graph the default graph.")
def with_installs_the_graph(c: ApiAuthor) -> None:
    before, graph = c.tf.get_default_graph(), c.tf.Graph()
    with c.within(c.tf.Session(graph=graph)) as sess:
        c.check_same(c.tf.get_default_graph(), graph)
        a = c.tf.constant(2)
        c.check_same(a.graph, graph)
        c.check(sess.run(a), as_array(np.int32(2)))
    c.check_same(c.tf.get_default_graph(), before)


@api_case("SESSION-014", title="with Session() as sess: makes sess the default session.")
def with_installs_the_session(c: ApiAuthor) -> None:
    sess = c.tf.Session()
    c.tf.constant(1)
    with c.within(sess) as entered:
        c.check_same(entered, sess)
        c.check_same(c.tf.get_default_session(), sess)
    c.check(c.tf.get_default_session(), None)


@api_case("SESSION-014", title="A with block inside another session's makes its own the default.")
def with_installs_the_inner_session(c: ApiAuthor) -> None:
    c.tf.constant(1)
    outer, inner = c.tf.Session(), c.tf.Session()
    with c.within(outer.as_default()), c.within(inner):
        c.check_same(c.tf.get_default_session(), inner)


@api_case("SESSION-015", title="Leaving a with block closes the session.")
def with_closes(c: ApiAuthor) -> None:
    a = c.tf.constant(1)
    with c.within(c.tf.Session()) as sess:
        c.check(sess.run(a), as_array(np.int32(1)))
    c.raises("RuntimeError", lambda: sess.run(a))


@api_case("SESSION-016", title="Leaving a with block by an exception closes the session.")
def with_left_by_an_exception_closes(c: ApiAuthor) -> None:
    a = c.tf.constant(1)
    sess = c.tf.Session()
    sess.run(a)
    sess.__enter__()
    leave_by_exception(c, sess)
    c.raises("CancelledError", sess.list_devices)


@api_case("SESSION-017", title="A with block keeps no exception from the caller.")
def with_swallows_nothing(c: ApiAuthor) -> None:
    c.tf.constant(1)
    sess = c.tf.Session()
    sess.__enter__()
    c.check(c.expr("$op", "bool", leave_by_exception(c, sess)), False)


@api_case("SESSION-018", title="A with block of a session inside one of its own is refused.")
def with_is_not_reentrant(c: ApiAuthor) -> None:
    a = c.tf.constant(1)
    with c.within(c.tf.Session()) as sess:
        c.raises("RuntimeError", sess.__enter__)
        c.check(sess.run(a), as_array(np.int32(1)))


@api_case("SESSION-019", title="A new thread has no default session.")
def a_new_thread_has_no_default_session(c: ApiAuthor) -> None:
    c.tf.constant(1)
    with c.within(c.tf.Session()) as sess:
        with c.thread():
            c.check(c.tf.get_default_session(), None)
        c.check_same(c.tf.get_default_session(), sess)


@api_case("SESSION-019", title="A thread's own default session is nobody else's.")
def a_thread_installs_for_itself(c: ApiAuthor) -> None:
    first, second = c.tf.Session(), c.tf.Session()
    c.tf.constant(1)
    with c.within(first):
        with c.thread(), c.within(second):
            c.check_same(c.tf.get_default_session(), second)
            with c.thread():
                c.check(c.tf.get_default_session(), None)
        c.check_same(c.tf.get_default_session(), first)


@api_case("SESSION-030", title="A closed session can be entered and is then the default.")
def entering_a_closed_session(c: ApiAuthor) -> None:
    a = c.tf.constant(1)
    sess = c.tf.Session()
    sess.run(a)
    sess.close()
    with c.within(sess) as entered:
        c.check_same(entered, sess)
        c.check_same(c.tf.get_default_session(), sess)


# --- eval and run -------------------------------------------------------------------------


@api_case("SESSION-020", title="eval() runs in the innermost default session only.")
def eval_runs_in_the_innermost(c: ApiAuthor) -> None:
    _, up, outer, inner = _two_sessions(c)
    with c.within(outer.as_default()), c.within(inner.as_default()):
        c.check(up.eval(), as_array(np.int32(11)))
        c.check(inner.run("v:0"), as_array(np.int32(11)))
        c.check(outer.run("v:0"), as_array(np.int32(1)))


@api_case("SESSION-021", title="Operation.run() runs in the innermost default session only.")
def operation_run_runs_in_the_innermost(c: ApiAuthor) -> None:
    _, up, outer, inner = _two_sessions(c)
    with c.within(outer.as_default()), c.within(inner.as_default()):
        c.check(up.op.run(), None)
        c.check(inner.run("v:0"), as_array(np.int32(11)))
        c.check(outer.run("v:0"), as_array(np.int32(1)))


@api_case("SESSION-022", title="eval() and run() without a default session are ValueError.")
def eval_without_a_default_session(c: ApiAuthor) -> None:
    a = c.tf.constant(1)
    sess = c.tf.Session()
    c.check(sess.run(a), as_array(np.int32(1)))
    c.raises("ValueError", a.eval)
    c.raises("ValueError", a.op.run)


@api_case("SESSION-022", title="eval() after the block of the default session is ValueError.")
def eval_after_the_block(c: ApiAuthor) -> None:
    a = c.tf.constant(1)
    with c.within(c.tf.Session()):
        c.check(a.eval(), as_array(np.int32(1)))
        with c.thread():
            c.raises("ValueError", a.eval)
    c.raises("ValueError", a.eval)


@api_case("SESSION-023", title="eval(session=s) and run(session=s) run in s, not the default.")
def eval_in_the_session_given(c: ApiAuthor) -> None:
    _, up, default, given = _two_sessions(c)
    with c.within(default.as_default()):
        c.check(up.eval(session=given), as_array(np.int32(11)))
        c.check(up.op.run(session=given), None)
        c.check(given.run("v:0"), as_array(np.int32(21)))
        c.check(default.run("v:0"), as_array(np.int32(1)))


@api_case("SESSION-024", title="eval(feed_dict) and run(feed_dict) feed their run.")
def eval_feeds(c: ApiAuthor) -> None:
    p = c.tf.placeholder(c.tf.int32, [])
    _, up, _, sess = _two_sessions(c, p)
    with c.within(sess.as_default()):
        c.check(up.eval({p: 5}), as_array(np.int32(6)))
        c.check(up.eval(feed_dict={p: 10}), as_array(np.int32(16)))
        up.op.run({p: 100})
        up.op.run(feed_dict={p: 1000})
        c.check(sess.run("v:0"), as_array(np.int32(1116)))


@api_case("SESSION-025", title="eval() in a session of another graph is ValueError.")
def eval_in_a_session_of_another_graph(c: ApiAuthor) -> None:
    a = c.tf.constant(1)
    with c.within(c.tf.Graph().as_default()):
        c.tf.constant(2)
        other = c.tf.Session()
    with c.within(other.as_default()):
        c.raises("ValueError", a.eval)
        c.raises("ValueError", a.op.run)
    c.raises("ValueError", lambda: a.eval(session=other))
    c.raises("ValueError", lambda: a.op.run(session=other))


# --- InteractiveSession -------------------------------------------------------------------


@api_case("SESSION-040", title="An InteractiveSession is the default once constructed.")
def interactive_installs_itself(c: ApiAuthor) -> None:
    x = c.tf.placeholder(c.tf.float32, [])
    y = x * 2.0
    sess = c.tf.InteractiveSession()
    c.check_same(c.tf.get_default_session(), sess)
    c.check(y.eval({x: 4.0}), as_array(np.float32(8)))
    sess.close()


@api_case("SESSION-040", title="An InteractiveSession takes the default from a block around it.")
def interactive_inside_a_block(c: ApiAuthor) -> None:
    c.tf.constant(1)
    with c.within(c.tf.Session()):
        sess = c.tf.InteractiveSession()
        c.check_same(c.tf.get_default_session(), sess)
        sess.close()


@api_case("SESSION-041", title="Closing the only InteractiveSession leaves no default session.")
def closing_interactive_leaves_none(c: ApiAuthor) -> None:
    a = c.tf.constant(1)
    sess = c.tf.InteractiveSession()
    c.check(a.eval(), as_array(np.int32(1)))
    sess.close()
    c.check(c.tf.get_default_session(), None)
    c.raises("ValueError", a.eval)


@api_case("SESSION-041", title="Closing an InteractiveSession brings back the default before it.")
def closing_interactive_brings_back_the_former(c: ApiAuthor) -> None:
    c.tf.constant(1)
    with c.within(c.tf.Session()) as outer:
        first = c.tf.InteractiveSession()
        second = c.tf.InteractiveSession()
        second.close()
        c.check_same(c.tf.get_default_session(), first)
        first.close()
        c.check_same(c.tf.get_default_session(), outer)


@api_case("SESSION-042", title="An InteractiveSession's graph is the default until it is closed.")
def interactive_installs_its_graph(c: ApiAuthor) -> None:
    before, graph = c.tf.get_default_graph(), c.tf.Graph()
    sess = c.tf.InteractiveSession(graph=graph)
    c.check_same(c.tf.get_default_graph(), graph)
    a = c.tf.constant(2)
    c.check_same(a.graph, graph)
    sess.close()
    c.check_same(c.tf.get_default_graph(), before)
