"""Programs of callables, of their options, and of partial runs."""

from __future__ import annotations

from functools import partial

import numpy as np

from sessrun.conformance.subjects.programs.described import attempt, on_a_cpu, without_gpus
from sessrun.conformance.subjects.programs.paths import module_of

__all__ = ["BEHAVIOURS"]

CPU = "/job:localhost/replica:0/task:0/device:CPU:0"


def _callables_of_every_kind(tf):
    a, c = tf.placeholder(tf.float32, name="a"), tf.constant(2.0, name="c")
    r, v, n = tf.add(a, c), tf.Variable(0.0), tf.no_op()
    up = tf.assign_add(v, 1.0)
    metadata, full = tf.RunMetadata(), tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
    session = without_gpus(tf)
    session.run(v.initializer)
    make = session.make_callable
    return attempt(
        lambda: make(c)(),
        lambda: make(c)(1),
        lambda: make(c)(options=full),
        lambda: make(c, accept_options=True)(full, metadata),
        lambda: make(c, accept_options=True)(),
        lambda: len(metadata.step_stats.dev_stats),
        lambda: make(c, accept_options=True)(x=1),
        lambda: make(n)(),
        lambda: make(n, accept_options=True)(),
        lambda: make([n])(),
        lambda: make(up)(),
        lambda: make(up.op)(),
        lambda: make({"a": c})(),
        lambda: make(())(),
        lambda: make([], [])(),
        lambda: make([], [a])(1),
        lambda: make(None),
        lambda: make(3),
        lambda: make("c:0")(),
        lambda: make("nope:0"),
        lambda: make(r)(),
        lambda: make(r, [])(),
        lambda: make(r, [a])(1),
        lambda: make(r, [a, a])(1, 2),
        lambda: make(r, ["a:0"])(1),
        lambda: make(r, ["a"])(1),
        lambda: make(r, [n])(1),
        lambda: make(r, a),
        lambda: make(r, "a:0"),
        lambda: make(r, {a: 1}),
        lambda: make(r, iter([a])),
        lambda: make(r, [a])(1, options=full),
        lambda: make(r, [a])(1, run_metadata=metadata),
        lambda: make(r, [a])(1, feed_dict={a: 1}),
        lambda: make(r, [a], True)(1, full, metadata),
        lambda: make(r, [a])(1, bogus=3),
        lambda: make(None, [a])(1),
        lambda: make(a, [a])(1),
        lambda: make([a, r], [a])([1.0, 2.0]),
        lambda: make(r, [(a, c)])((1, 2)),
        lambda: make(r, [None])(1),
        lambda: make(r, [3])(1),
    )


def _callables_and_growth(tf):
    c, x = tf.constant(2.0), tf.placeholder(tf.float32)
    session = tf.Session()
    bare, fed = session.make_callable(c), session.make_callable(x, [x])
    with tf.device("/gpu:903"):
        tf.constant(3.0)
    metadata, full = tf.RunMetadata(), tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
    return attempt(
        bare,
        lambda: session.make_callable(c),
        lambda: session.run(c),
        bare,
        lambda: fed(1.0),
        lambda: session.make_callable(c, [x])(1.0),
        lambda: session.make_callable(c, [x])(1.0, options=full, run_metadata=metadata),
        bare,
    )


def _traced_callables_and_growth(tf):
    c = tf.constant(2.0)
    metadata, full = tf.RunMetadata(), tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
    session = without_gpus(tf)
    bare = session.make_callable(c, accept_options=True)
    with tf.device("/gpu:903"):
        tf.constant(3.0)
    return attempt(
        lambda: bare(options=full, run_metadata=metadata),
        lambda: len(metadata.step_stats.dev_stats),
        bare,
    )


def _callables_of_closed_sessions(tf):
    c = tf.constant(2.0)
    session = tf.Session()
    callables = [
        session.make_callable(c),
        session.make_callable(c, []),
        session.make_callable(c, accept_options=True),
    ]
    session.close()
    outcomes = attempt(
        *callables,
        lambda: callable(session.make_callable(c)),
        lambda: session.make_callable(c)(),
        lambda: session.make_callable(c, [])(),
        lambda: session.make_callable("nope"),
    )
    d = tf.constant(3.0)
    return outcomes, attempt(lambda: session.make_callable(d), lambda: session.make_callable([]))


def _described(tf, **fields):
    options = module_of(tf, "protobuf.config_pb2", "core").CallableOptions(
        feed=fields.get("feed"), fetch=fields.get("fetch"), target=fields.get("target")
    )
    options.fetch_skip_sync = fields.get("skip", False)
    options.feed_devices.update(fields.get("feed_devices", {}))
    options.fetch_devices.update(fields.get("fetch_devices", {}))
    options.run_options.trace_level = fields.get("trace", 0)
    options.run_options.inter_op_thread_pool = fields.get("pool", 0)
    return options


def _callables_of_options(tf):
    x, c = tf.placeholder(tf.float32, name="x"), tf.constant([1.0, 2.0], name="c")
    tf.add(x, c, name="y")
    v = tf.Variable(0.0, name="v")
    with tf.control_dependencies([tf.assign_add(v, 1.0)]):
        tf.no_op("after")
    session, metadata = without_gpus(tf), tf.RunMetadata()
    session.run(v.initializer)
    one = np.float32(1)

    def make(**fields):
        return session._make_callable_from_options(_described(tf, **fields))

    add = make(feed=["x:0"], fetch=["y:0"])
    return attempt(
        lambda: add(one),
        lambda: add(np.ones([2], np.float32)),
        add,
        lambda: add(one, one),
        lambda: add(np.float64(1)),
        lambda: add(1.0),
        lambda: add([1]),
        lambda: add("x"),
        lambda: add(None),
        lambda: add(np.ones([3], np.float32)),
        lambda: add(one, options=3),
        lambda: add(np.zeros([2], np.float16)),
        lambda: make(fetch=["c:0"])(),
        lambda: make(target=["after"])(),
        lambda: session.run(v),
        lambda: make(target=["after"], fetch=["c:0", "c:0"])(),
        lambda: make(feed=["x:0", "c:0"], fetch=["y:0", "c:0"]),
        make,
        lambda: make(feed=["x:0"]),
        lambda: make(feed=["nope:0"], fetch=["c:0"]),
        lambda: make(fetch=["nope:0"]),
        lambda: make(fetch=["nope"]),
        lambda: make(fetch=["c"])(),
        lambda: make(fetch=["c:1"]),
        lambda: make(fetch=["c:x"]),
        lambda: make(fetch=[""]),
        lambda: make(target=["nope"]),
        lambda: make(target=["c:0"])(),
        lambda: make(feed=["x:0", "x:0"], fetch=["y:0"]),
        lambda: make(feed=["x:0"], fetch=["x:0"]),
        lambda: make(feed=["x"], fetch=["y"])(one),
        lambda: make(fetch=["y:0"])(),
        lambda: make(fetch=["c:0"], pool=9)(),
        lambda: make(fetch=["c:0"], trace=3)(run_metadata=metadata),
        lambda: len(metadata.step_stats.dev_stats),
        lambda: session._make_callable_from_options(3),
    )


def _devices_of_options(tf):
    x = tf.placeholder(tf.float32, name="x")
    tf.add(x, 1.0, name="y")
    text = tf.placeholder(tf.string, name="text")
    tf.identity(text, name="same")
    session = without_gpus(tf)
    one = np.float32(1)

    def called(**fields):
        options = _described(tf, feed=["x:0"], fetch=["y:0"], **fields)
        return session._make_callable_from_options(options)(one)

    same = session._make_callable_from_options(_described(tf, feed=["text:0"], fetch=["same:0"]))
    return attempt(
        lambda: called(fetch_devices={"y:0": CPU}),
        lambda: called(fetch_devices={"y:0": "/gpu:0"}),
        lambda: called(skip=True, fetch_devices={"y:0": CPU}),
        lambda: called(skip=True, fetch_devices={"y:0": "/cpu:0"}),
        lambda: called(skip=True, fetch_devices={"nope:0": CPU}),
        lambda: called(feed_devices={"x:0": CPU}),
        lambda: called(feed_devices={"x:0": "/gpu:0"}),
        lambda: called(feed_devices={"x:0": "bad!"}),
        lambda: called(feed_devices={"nope:0": CPU}),
        lambda: same(np.array(["a", "b"])),
        lambda: same(np.array([b"a"], object)),
        lambda: same("x"),
        lambda: same(b"x"),
        lambda: same(["x", "y"]),
        lambda: same(3),
    )


def _options_and_growth(tf):
    tf.constant(1.0, name="c")
    session = tf.Session()
    call = session._make_callable_from_options(_described(tf, fetch=["c:0"]))
    with tf.device("/gpu:907"):
        tf.constant(2.0)
    options = _described(tf, fetch=["c:0"])
    outcomes = attempt(call, lambda: session._make_callable_from_options(options), call)
    session.close()
    return outcomes, attempt(call)


def _partial_runs(tf):
    a, b, c = (tf.placeholder(tf.float32, [], name=name) for name in "abc")
    sum_ = tf.add(a, b, name="sum")
    product = tf.multiply(sum_, c, name="product")
    nop = tf.no_op("nop")
    session = tf.Session()
    setup, proceed = session.partial_run_setup, session.partial_run
    first = setup([sum_, product], [a, b, c])
    second = setup({"x": sum_, "y": [product]}, [a, b, c])
    third = setup(sum_, (a, b))
    fourth = setup(["sum:0", nop], ["a:0", "b:0"])
    fifth = setup([sum_, product], [a, b, c])
    return [type(first).__name__] + attempt(
        lambda: proceed(first, sum_, {a: 1}),
        lambda: proceed(first, sum_, {b: 2}),
        lambda: proceed(first, sum_),
        lambda: proceed(first, product),
        lambda: proceed(first, product, {c: 3}),
        lambda: proceed(first, product),
        lambda: proceed(second, {"q": sum_}, {a: 1, b: 2}),
        lambda: proceed(second, (product,), {c: 2}),
        lambda: proceed(third, sum_, {a: 1, b: 2}),
        lambda: proceed(fourth, nop, {"a:0": 1}),
        lambda: proceed(fourth, [], {"a:0": 1}),
        lambda: proceed(fourth, "sum:0", {b: 2}),
        lambda: proceed(fourth.encode(), sum_),
        lambda: proceed(b"nope", sum_),
        lambda: proceed(fifth, []),
        lambda: proceed(fifth, [], {}),
        lambda: proceed(fifth, [a, product], {a: 1, b: 2, c: 5}),
        lambda: proceed(fifth, a),
        lambda: proceed(fifth, sum_),
        lambda: proceed(fifth, sum_),
    )


def _partial_set_ups(tf):
    a, b = tf.placeholder(tf.float32, [], name="a"), tf.placeholder(tf.float32, [], name="b")
    r, v, nop = tf.add(a, b, name="r"), tf.Variable(1.0, name="v"), tf.no_op("nop")
    with tf.Graph().as_default():
        strange = tf.constant(1)
    session = tf.Session()

    def setup(*arguments, **named):
        return type(session.partial_run_setup(*arguments, **named)).__name__

    return attempt(
        lambda: setup([], [a]),
        lambda: setup([], []),
        lambda: setup([r], [a, a]),
        lambda: setup([r, r], [a, b]),
        lambda: setup([a], [a]),
        lambda: setup(None, [a]),
        lambda: setup([r], None),
        lambda: setup([r]),
        lambda: setup([r], a),
        lambda: setup([strange], [a]),
        lambda: setup(["nope"], [a]),
        lambda: setup([r], "a:0"),
        lambda: setup([nop], []),
        lambda: setup([nop, r], [a, b]),
        lambda: setup(3, [a]),
        lambda: setup([v], [a]),
        lambda: setup(fetches=r, feeds=(a, b)),
    )


def _partial_runs_without_placeholders(tf):
    c = tf.constant(2.0, name="c")
    d = c * 3.0
    e = d + 1.0
    session = tf.Session()
    setup, proceed = session.partial_run_setup, session.partial_run
    one, two = setup([e, c], [d]), setup([e], [c])
    return attempt(
        lambda: proceed(one, c),
        lambda: proceed(one, e),
        lambda: proceed(one, e, {d: 7.0}),
        lambda: proceed(one, e),
        lambda: proceed(two, e),
        lambda: proceed(two, e, {c: 5.0}),
    )


def _partial_runs_and_failures(tf):
    a, b = tf.placeholder(tf.int32, [], name="a"), tf.placeholder(tf.int32, [], name="b")
    g, h = (on_a_cpu(tf, partial(tf.gather, [1, 2], index)) for index in (a, b))
    x = tf.placeholder(tf.float32, [2], name="x")
    y = x * 2.0
    one, two, three = tf.Session(), tf.Session(), tf.Session()
    first, second = one.partial_run_setup([g, h], [a, b]), two.partial_run_setup([y], [x])
    third = three.partial_run_setup([g])
    return attempt(
        lambda: one.partial_run(first, h, {b: 1}),
        lambda: one.partial_run(first, g, {a: 5}),
        lambda: one.partial_run(first, g),
        lambda: two.partial_run(second, y, {x: 1}),
        lambda: two.partial_run(second, y, {x: "s"}),
        lambda: two.partial_run(second, y, {"q:0": 1}),
        lambda: two.partial_run(second, y, {x: y}),
        lambda: two.partial_run(second, y, {x: [1, 2]}),
        lambda: three.partial_run(third, g),
    )


def _partial_runs_and_growth(tf):
    a = tf.placeholder(tf.float32, [])
    r = a + 1.0
    session = tf.Session()
    handle = session.partial_run_setup([r], [a])
    t = r * 2.0
    outcomes = attempt(
        lambda: session.partial_run(handle, t, {a: 1.0}),
        lambda: session.run(t, {a: 1.0}),
        lambda: session.partial_run(handle, r, {a: 2.0}),
    )
    with tf.device("/gpu:907"):
        tf.constant(1.0)
    return outcomes, attempt(lambda: session.partial_run_setup([r], [a]))


BEHAVIOURS = {
    function.__name__.strip("_"): function
    for function in (
        _callables_of_every_kind,
        _callables_and_growth,
        _traced_callables_and_growth,
        _callables_of_closed_sessions,
        _callables_of_options,
        _devices_of_options,
        _options_and_growth,
        _partial_runs,
        _partial_set_ups,
        _partial_runs_without_placeholders,
        _partial_runs_and_failures,
        _partial_runs_and_growth,
    )
}
