"""Vectors of PARTIAL-RUN: set-ups, what each call gives, and what is refused."""

from __future__ import annotations

import numpy as np

from sessrun.conformance.authoring.record import (
    ApiAuthor,
    EngineAuthor,
    SessionAuthor,
    Symbol,
    api_case,
    as_array,
    engine_case,
)
from sessrun.spec.cases.namespace import Namespace

ONE, TWO, THREE = np.float32(1), np.float32(2), np.float32(3)

#: Codes of a refused run of a closed session: RuntimeError is 9; native engines say CANCELLED.
_CLOSED = [9, 1]


def _sum_and_product(tf: Namespace) -> None:
    """Build `sum` = a + b and `product` = sum * c."""
    a, b, c = (tf.placeholder(tf.float32, [], name=name) for name in "abc")
    tf.multiply(tf.add(a, b, name="sum"), c, name="product")


def _opened(c: EngineAuthor) -> SessionAuthor:
    with c.graph() as tf:
        _sum_and_product(tf)
    return c.open()


_FETCHES, _FEEDS = ["sum:0", "product:0"], ["a:0", "b:0", "c:0"]


def _api(c: ApiAuthor) -> tuple[Symbol, Symbol, Symbol, tuple[Symbol, Symbol, Symbol]]:
    """Record a session, a + b, (a + b) * c and the three placeholders."""
    tf = c.tf
    a, b, d = (tf.placeholder(tf.float32, [], name=name) for name in "abc")
    sum_ = tf.add(a, b, name="sum")
    return tf.Session(), sum_, tf.multiply(sum_, d, name="product"), (a, b, d)


# --- what each call gives -----------------------------------------------------------------


@engine_case("PARTIAL-RUN-001", title="A fetch comes before the feeds that only others need.")
def a_fetch_before_the_other_feeds(c: EngineAuthor) -> None:
    s = _opened(c)
    s.setup("h", _FETCHES, _FEEDS)
    s.partial("h", ["sum:0"], {"a:0": ONE, "b:0": TWO}, values=[THREE])


@api_case("PARTIAL-RUN-001", title="partial_run gives a fetch as soon as its feeds are there.")
def partial_run_gives_what_it_can(c: ApiAuthor) -> None:
    sess, sum_, product, (a, b, d) = _api(c)
    handle = sess.partial_run_setup([sum_, product], [a, b, d])
    c.check(sess.partial_run(handle, sum_, {a: 1.0, b: 2.0}), THREE)


@engine_case("PARTIAL-RUN-002", title="A later call sees the feeds of the earlier ones.")
def later_calls_see_earlier_feeds(c: EngineAuthor) -> None:
    s = _opened(c)
    s.setup("h", _FETCHES, _FEEDS)
    s.partial("h", ["sum:0"], {"a:0": ONE, "b:0": TWO}, values=[THREE])
    s.partial("h", ["product:0"], {"c:0": np.float32(17)}, values=[np.float32(51)])


@engine_case("PARTIAL-RUN-002", title="Each partial run computes from its own feeds.")
def values_come_from_the_feeds_of_their_own_run(c: EngineAuthor) -> None:
    s = _opened(c)
    for number in (1, 10):
        s.setup(f"h{number}", _FETCHES, _FEEDS)
    for number in (1, 10):
        fed = {"a:0": np.float32(number), "b:0": TWO}
        s.partial(f"h{number}", ["sum:0"], fed, values=[np.float32(number + 2)])
    for number in (1, 10):
        wanted = np.float32(2 * (number + 2))
        s.partial(f"h{number}", ["product:0"], {"c:0": TWO}, values=[wanted])


@engine_case("PARTIAL-RUN-011", title="A call that only feeds is remembered.")
def a_call_may_only_feed(c: EngineAuthor) -> None:
    s = _opened(c)
    s.setup("h", _FETCHES, _FEEDS)
    s.partial("h", [], {"a:0": ONE, "b:0": TWO}, values=[])
    s.partial("h", [], {"c:0": THREE}, values=[])
    s.partial("h", _FETCHES, values=[THREE, np.float32(9)])


@api_case("PARTIAL-RUN-011", title="partial_run with [] for fetches feeds, and gives [].")
def partial_run_may_only_feed(c: ApiAuthor) -> None:
    sess, sum_, _, (a, b, _) = _api(c)
    handle = sess.partial_run_setup([sum_], [a, b])
    c.check(sess.partial_run(handle, [], {a: 3.0, b: 4.0}), [])
    c.check(sess.partial_run(handle, sum_), np.float32(7))


@engine_case("PARTIAL-RUN-012", title="A counter that two fetches need advances once.")
def a_counter_advances_once(c: EngineAuthor) -> None:
    with c.graph() as tf:
        counter = tf.Variable(0, dtype=tf.int32, use_resource=False, name="v")
        tf.identity(counter.initializer.outputs[0], name="init")
        up = tf.identity(tf.assign_add(counter, 1), name="up")
        tf.add(up, tf.placeholder(tf.int32, [], name="a"), name="x")
        tf.add(up, tf.placeholder(tf.int32, [], name="b"), name="y")
    s = c.open()
    s.run(["init"], values=[None])
    s.setup("h", ["x:0", "y:0"], ["a:0", "b:0"])
    s.partial("h", [], {"a:0": np.int32(10), "b:0": np.int32(20)}, values=[])
    s.partial("h", ["x:0"], values=[np.int32(11)])
    s.partial("h", ["y:0"], values=[np.int32(21)])
    s.run(["v:0"], values=[np.int32(1)])


@engine_case("PARTIAL-RUN-013", title="Two partial runs of the same set-up go their own ways.")
def two_partial_runs_at_once(c: EngineAuthor) -> None:
    s = _opened(c)
    s.setup("one", _FETCHES, _FEEDS)
    s.setup("two", _FETCHES, _FEEDS)
    s.partial("one", [], {"a:0": ONE, "b:0": ONE}, values=[])
    s.partial("two", ["sum:0"], {"a:0": TWO, "b:0": TWO, "c:0": ONE}, values=[np.float32(4)])
    s.partial("one", ["sum:0"], {"c:0": THREE}, values=[TWO])
    s.partial("two", ["product:0"], values=[np.float32(4)])
    s.partial("one", ["product:0"], values=[np.float32(6)])


# --- what is refused ----------------------------------------------------------------------


@engine_case("PARTIAL-RUN-003", title="A fetch that needs a feed not given yet is code 3.")
def a_fetch_before_its_own_feeds(c: EngineAuthor) -> None:
    s = _opened(c)
    s.setup("h", _FETCHES, _FEEDS)
    s.partial("h", ["product:0"], {"a:0": ONE, "b:0": TWO}, error=[3])


@engine_case("PARTIAL-RUN-004", title="A fetch that the set-up did not name is code 3.")
def a_fetch_that_was_not_named(c: EngineAuthor) -> None:
    s = _opened(c)
    s.setup("h", ["product:0"], _FEEDS)
    s.partial("h", ["sum:0"], {"a:0": ONE, "b:0": TWO}, error=[3])


@engine_case("PARTIAL-RUN-005", title="A feed that the set-up did not name is code 3.")
def a_feed_that_was_not_named(c: EngineAuthor) -> None:
    s = _opened(c)
    s.setup("h", ["sum:0"], ["a:0", "b:0"])
    s.partial("h", ["sum:0"], {"a:0": ONE, "b:0": TWO, "c:0": THREE}, error=[3])


@engine_case("PARTIAL-RUN-006", title="A tensor fed by an earlier call cannot be fed again.")
def a_feed_given_before(c: EngineAuthor) -> None:
    s = _opened(c)
    s.setup("h", _FETCHES, _FEEDS)
    s.partial("h", [], {"a:0": ONE, "b:0": TWO}, values=[])
    s.partial("h", ["product:0"], {"a:0": ONE, "c:0": TWO}, error=[3])


@engine_case("PARTIAL-RUN-007", title="A partial run that is complete cannot be continued.")
def a_complete_run_is_over(c: EngineAuthor) -> None:
    s = _opened(c)
    s.setup("h", ["sum:0"], ["a:0", "b:0"])
    s.partial("h", ["sum:0"], {"a:0": ONE, "b:0": TWO}, values=[THREE])
    s.partial("h", ["sum:0"], error=[3])


@api_case("PARTIAL-RUN-007", title="A handle that no set-up gave is InvalidArgumentError.")
def a_handle_that_no_set_up_gave(c: ApiAuthor) -> None:
    sess, sum_, _, (a, b, _) = _api(c)
    c.raises("InvalidArgumentError", lambda: sess.partial_run("nope", sum_, {a: 1.0, b: 2.0}))
    other = c.tf.Session()
    handle = other.partial_run_setup([sum_], [a, b])
    c.raises("InvalidArgumentError", lambda: sess.partial_run(handle, sum_, {a: 1.0, b: 2.0}))
    c.check(other.partial_run(handle, sum_, {a: 1.0, b: 2.0}), THREE)


@engine_case("PARTIAL-RUN-008", title="A set-up without fetches is code 3.")
def a_set_up_without_fetches(c: EngineAuthor) -> None:
    s = _opened(c)
    s.setup("h", [], ["a:0"], error=[3])


@api_case("PARTIAL-RUN-009", title="A set-up in a closed session is RuntimeError.")
def a_set_up_in_a_closed_session(c: ApiAuthor) -> None:
    sess, sum_, _, (a, b, _) = _api(c)
    handle = sess.partial_run_setup([sum_], [a, b])
    sess.close()
    c.raises("RuntimeError", lambda: sess.partial_run_setup([sum_], [a, b]))
    c.raises("RuntimeError", lambda: sess.partial_run(handle, sum_, {a: 1.0, b: 2.0}))


@engine_case("PARTIAL-RUN-009", title="Nothing is set up in a session that was closed.")
def nothing_is_set_up_once_closed(c: EngineAuthor) -> None:
    s = _opened(c)
    s.setup("h", ["sum:0"], ["a:0", "b:0"])
    s.close()
    s.setup("late", ["sum:0"], ["a:0", "b:0"], error=_CLOSED)


@engine_case("PARTIAL-RUN-015", title="A set-up with a tensor twice is code 3; the next one works.")
def a_tensor_named_twice_is_code_3(c: EngineAuthor) -> None:
    s = _opened(c)
    s.setup("fed_twice", ["sum:0"], ["a:0", "b:0", "a:0"], error=[3])
    s.setup("both", ["a:0", "sum:0"], ["a:0", "b:0"], error=[3])
    s.setup("h", ["sum:0"], ["a:0", "b:0"])
    s.partial("h", ["sum:0"], {"a:0": ONE, "b:0": TWO}, values=[THREE])


@engine_case("PARTIAL-RUN-014", title="What an earlier call fetched cannot be fetched again.")
def a_fetch_taken_before(c: EngineAuthor) -> None:
    s = _opened(c)
    s.setup("h", _FETCHES, _FEEDS)
    s.partial("h", ["sum:0"], {"a:0": ONE, "b:0": TWO, "c:0": THREE}, values=[THREE])
    s.partial("h", ["sum:0"], error=[3])


@api_case("PARTIAL-RUN-015", title="A set-up that names a tensor twice is refused.")
def a_set_up_that_names_a_tensor_twice(c: ApiAuthor) -> None:
    sess, sum_, product, (a, b, d) = _api(c)
    setup = sess.partial_run_setup
    c.raises("InvalidArgumentError", lambda: setup([sum_], [a, b, a]))
    c.raises("InvalidArgumentError", lambda: setup([a, sum_], [a, b]))
    c.raises("InvalidArgumentError", lambda: setup([sum_, product], [sum_, d]))
    handle = setup([product], [sum_, d])
    c.check(sess.partial_run(handle, product, {sum_: 5.0, d: 2.0}), np.float32(10))


@api_case("PARTIAL-RUN-016", title="partial_run fetches tensors only.")
def an_operation_cannot_be_fetched(c: ApiAuthor) -> None:
    sess, sum_, _, (a, b, _) = _api(c)
    nop = c.tf.no_op()
    handle = sess.partial_run_setup([sum_, nop], [a, b])
    c.raises("RuntimeError", lambda: sess.partial_run(handle, nop, {a: 1.0, b: 2.0}))
    c.raises("RuntimeError", lambda: sess.partial_run(handle, [sum_, nop], {a: 1.0, b: 2.0}))
    c.check(sess.partial_run(handle, {"s": sum_}, {a: 1.0, b: 2.0}), {"s": as_array(THREE)})
