"""Programs that run graphs: sessions, fetch structures, feeds, placement, errors."""

from __future__ import annotations

import collections
import threading

import numpy as np

from sessrun.conformance.subjects.programs.described import attempt, run, without_gpus

__all__ = ["BEHAVIOURS"]

Pair = collections.namedtuple("Pair", ["first", "second"])  # noqa: PYI024 - a plain one is meant


def _structures(tf):
    a, b = tf.constant(1, name="a"), tf.constant([2.0, 3.0], name="b")
    nop = tf.no_op("nop")
    return attempt(
        lambda: run(tf, a),
        lambda: run(tf, b),
        lambda: run(tf, nop),
        lambda: run(tf, [a, nop]),
        lambda: run(tf, (a, [b, {"x": a, "y": (b,)}])),
        lambda: run(tf, Pair(a, b)),
        lambda: run(tf, {"k": Pair(a, [b])}),
        lambda: run(tf, []),
        lambda: run(tf, {}),
        lambda: run(tf, ()),
        lambda: run(tf, [[], {}]),
        lambda: run(tf, "a:0"),
        lambda: run(tf, "a"),
        lambda: run(tf, ["nop", "b:0"]),
        lambda: run(tf, [a, a]),
        lambda: run(tf, collections.OrderedDict([("z", a), ("a", b)])),
        lambda: run(tf, {1: a, "1": b}),
        lambda: run(tf, b"a:0"),
        lambda: run(tf, "b:0"),
    )


def _wrong_fetches(tf):
    a = tf.constant(1, name="a")
    with tf.Graph().as_default():
        strange = tf.constant(1)
    tf.get_default_graph().prevent_fetching(tf.constant(2, name="hidden").op)
    return attempt(
        lambda: run(tf, None),
        lambda: run(tf, 1),
        lambda: run(tf, [None]),
        lambda: run(tf, {a}),
        lambda: run(tf, "nope"),
        lambda: run(tf, "nope:0"),
        lambda: run(tf, "a:1"),
        lambda: run(tf, "a:x"),
        lambda: run(tf, strange),
        lambda: run(tf, [a, strange.op]),
        lambda: run(tf, np.zeros(2)),
        lambda: run(tf, (x for x in [a])),
        lambda: run(tf, tf.float32),
        lambda: run(tf, "hidden:0"),
        lambda: run(tf, "hidden"),
        lambda: run(tf, lambda: a),
        lambda: run(tf, 1.5),
        lambda: run(tf, tf.TensorShape([1])),
        lambda: run(tf, a.graph),
    )


def _feeds(tf):
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    n = tf.placeholder(tf.int32, [], name="n")
    s = tf.placeholder(tf.string, name="s")
    c = tf.constant(1.0, name="c")
    y = x * c
    with tf.Graph().as_default():
        strange = tf.placeholder(tf.float32)
    rows = [[1.0, 2.0]]
    tf.get_default_graph().prevent_feeding(tf.placeholder(tf.float32, name="hidden"))
    return attempt(
        lambda: run(tf, y, {x: rows}),
        lambda: run(tf, y, {"x:0": np.ones([2, 2])}),
        lambda: run(tf, y, {x: rows, c: 3}),
        lambda: run(tf, c, {c: 5}),
        lambda: run(tf, y),
        lambda: run(tf, y, {x: [1.0]}),
        lambda: run(tf, y, {x: [[1, 2, 3]]}),
        lambda: run(tf, y, {"x": rows}),
        lambda: run(tf, y, {"nope:0": 1}),
        lambda: run(tf, y, {x.op: rows}),
        lambda: run(tf, y, {strange: rows}),
        lambda: run(tf, y, {x: "a"}),
        lambda: run(tf, y, {x: None}),
        lambda: run(tf, y, {x: c}),
        lambda: run(tf, n, {n: 3.7}),
        lambda: run(tf, n, {n: [3]}),
        lambda: run(tf, n, {n: 2**40}),
        lambda: run(tf, n, {n: np.float64(3.7)}),
        lambda: run(tf, n, {n: True}),
        lambda: run(tf, s, {s: "é"}),
        lambda: run(tf, s, {s: [b"a", "b"]}),
        lambda: run(tf, s, {s: 1}),
        lambda: run(tf, tf.identity(s), {s: np.array(["x", "y"])}),
        lambda: run(tf, y, [1]),
        lambda: run(tf, tf.identity(s), {s: np.array([b"x\0", b"y"])}),
        lambda: run(tf, y, {1: 2}),
        lambda: run(tf, [y, n], {(x, n): (rows, 4)}),
        lambda: run(tf, y, {(x, n): (rows,)}),
        lambda: run(tf, n, {x: rows, n: 1}),
        lambda: run(tf, y, {x: np.ones([0, 2])}),
        lambda: run(tf, y, {None: 1}),
        lambda: run(tf, "hidden:0", {"hidden:0": 1.0}),
        lambda: run(tf, y, {x: [[1.0], [2.0, 3.0]]}),
        lambda: run(tf, y, {x: np.ones([1, 2], bool)}),
        lambda: run(tf, tf.get_default_graph().is_feedable(x) and y, {x: rows}),
        lambda: run(tf, y, {}),
    )


def _closed_inside(tf):
    with tf.Session() as session:
        session.close()
        return tf.get_default_session() is session


def _life_cycle(tf):
    a = tf.constant(2.0)
    session = tf.Session()
    call = session.make_callable(a)
    outcomes = [session.graph is a.graph, session.sess_str, tf.get_default_session()]
    with session as entered:
        outcomes += [entered is session, tf.get_default_session() is session, a.eval()]
        outcomes += attempt(lambda: session.__enter__())
    return outcomes, attempt(
        session.close,
        lambda: session.run(a),
        call,
        lambda: session.make_callable(a),
        session.list_devices,
        lambda: session.partial_run_setup([a], []),
        a.eval,
        lambda: session.run("nope"),
        lambda: _closed_inside(tf),
        lambda: tf.Session("nope://"),
        lambda: tf.Session(1),
        lambda: tf.Session(graph=1),
        lambda: tf.Session(config=1),
        lambda: tf.Session(target="", config=tf.ConfigProto()),
        lambda: tf.Session(tf.Graph()),
        lambda: tf.no_op().run(),
        lambda: a.eval(session=session),
    )


def _empty_graphs(tf):
    return attempt(
        lambda: run(tf, []),
        lambda: run(tf, "a"),
        lambda: run(tf, None),
        lambda: tf.Session().run(1),
    )


def _default_sessions(tf):
    a = tf.constant([1, 2])
    other = tf.Graph()
    one, two, third = tf.Session(), tf.Session(), tf.Session(graph=other)
    outcomes = []
    with one.as_default():
        with two.as_default():
            outcomes.append(tf.get_default_session() is two)
        outcomes += [tf.get_default_session() is one, a.eval(), a.op.run()]
        thread = threading.Thread(target=lambda: outcomes.append(tf.get_default_session()))
        thread.start()
        thread.join()
        with third.as_default():
            outcomes.append(tf.get_default_graph() is other)
            outcomes += attempt(a.eval, a.op.run)
    with third:
        outcomes.append(tf.get_default_graph() is other)
    return (
        outcomes,
        a.eval(session=one),
        tf.get_default_session(),
        attempt(lambda: a.eval({a: [5, 6]}, one), lambda: a.eval(session=3)),
    )


def _interactive(tf):
    with tf.device("/gpu:907"):
        tf.constant(9.0)
    a = tf.constant(1.5)
    session = tf.InteractiveSession()
    results = [tf.get_default_session() is session, a.eval(), session.run(a + 1)]
    session.close()
    return results, tf.get_default_session(), attempt(session.close, lambda: session.run(a), a.eval)


def _callables(tf):
    x, y = tf.placeholder(tf.float32), tf.placeholder(tf.float32, [2])
    z = x + y
    with tf.Session() as session:
        both = session.make_callable(z, [x, y])
        named = session.make_callable([z, "nope"][:1], feed_list=["Placeholder:0", y])
        options = session.make_callable(z, [x, y], accept_options=True)
        metadata = tf.RunMetadata()
        return attempt(
            lambda: both(1, [2, 3]),
            lambda: named(1, [2, 3]),
            lambda: both(1),
            lambda: both(),
            lambda: both(1, [2, 3], 4),
            lambda: both(1, [2]),
            lambda: both("a", [1, 2]),
            lambda: session.make_callable(z)(),
            lambda: session.make_callable(z, x),
            lambda: session.make_callable("nope"),
            lambda: session.make_callable(z, ["nope"]),
            lambda: session.make_callable([])(),
            lambda: session.make_callable(None),
            lambda: options(1, [2, 3], options=tf.RunOptions(), run_metadata=metadata),
            lambda: both(1, [2, 3], options=tf.RunOptions()),
            lambda: session.make_callable({"a": z, "b": [x]}, (x, y))(1, [2, 3]),
            lambda: session.make_callable(tf.no_op())(),
            lambda: session.make_callable(z, [x, x]),
        )


def _options(tf):
    a = tf.constant(1.0) + 2.0
    metadata = tf.RunMetadata()
    full = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
    return attempt(
        lambda: run(tf, a, options=full, run_metadata=metadata),
        lambda: len(metadata.step_stats.dev_stats) > 0,
        lambda: run(tf, a, options=tf.RunOptions()),
        lambda: run(tf, a, run_metadata=tf.RunMetadata()),
        lambda: run(tf, a, options=tf.RunOptions(timeout_in_ms=1000)),
        lambda: run(tf, [], options=full, run_metadata=tf.RunMetadata()),
    )


def _placement(tf):
    with tf.device("/gpu:903"):
        a = tf.constant(1.0, name="a")
    b = tf.constant(2.0)
    config = tf.ConfigProto(allow_soft_placement=True)
    pruned = tf.ConfigProto(graph_options=tf.GraphOptions(place_pruned_graph=True))

    def configured(config, fetch):
        with tf.Session(config=config) as session:
            return session.run(fetch)

    return attempt(
        lambda: run(tf, a),
        lambda: run(tf, b),
        lambda: configured(config, a),
        lambda: run(tf, a, {a: 1}),
        lambda: configured(pruned, b),
        lambda: configured(pruned, a),
        lambda: [d.name for d in without_gpus(tf, 2).list_devices()],
        lambda: [d.device_type for d in without_gpus(tf).list_devices()],
        lambda: tf.Session(config=tf.ConfigProto(device_count={"CPU": 0})),
    )


def _placed_elsewhere(tf):
    two = tf.ConfigProto(device_count={"CPU": 2})
    with tf.device("/cpu:1"):
        a = tf.constant(1.0)
        v = tf.Variable(2.0, use_resource=False)
    with tf.device("/job:nowhere"):
        b = a + 1.0
    pruned = tf.ConfigProto(
        device_count={"CPU": 2}, graph_options=tf.GraphOptions(place_pruned_graph=True)
    )
    with tf.Session(config=pruned) as session:
        outcomes = attempt(
            lambda: session.run(a),
            lambda: session.run(v.initializer),
            lambda: session.run(b),
            lambda: session.run(v.assign_add(1.0)),
        )
    with tf.Session(config=two) as session:
        return outcomes, attempt(lambda: session.run(a)), [v.device, b.device]


def _run_errors(tf):
    index = tf.placeholder(tf.int32, [], name="index")
    rows = tf.placeholder(tf.float32)
    x = tf.placeholder(tf.float32, name="x")
    with tf.device("/cpu:0"):  # a GPU cannot report an index out of range
        outside = tf.gather([1, 2], index)

    def facts():
        try:
            run(tf, tf.identity(x, "reads"))
        except tf.errors.InvalidArgumentError as error:
            return [
                error.op.name,
                error.node_def.op,
                error.error_code,
                "'x'" in error.message or "x" in error.message,
                isinstance(error, tf.OpError),
            ]
        return None

    return facts(), attempt(
        lambda: run(tf, outside, {index: 5}),
        lambda: run(tf, tf.floordiv(index, 0), {index: 5}),
        lambda: run(tf, tf.matmul(rows, rows), {rows: np.ones([2, 3])}),
        lambda: run(tf, rows + tf.constant([1.0, 2.0]), {rows: [1.0, 2.0, 3.0]}),
        lambda: run(tf, tf.reshape(rows, [4]), {rows: [1.0]}),
        lambda: run(tf, tf.check_numerics(rows, "bad"), {rows: np.nan}),
        lambda: run(tf, tf.string_to_number(tf.constant("x"))),
        lambda: run(tf, tf.Assert(tf.constant(False), ["message", index]), {index: 1}),
        lambda: run(tf, tf.Assert(tf.equal(index, 1), [index]), {index: 2}),
        lambda: run(tf, tf.concat([rows, tf.ones([1, 2])], 0), {rows: [1.0]}),
        lambda: run(tf, tf.Variable(1.0)),
        lambda: run(tf, tf.stack([rows, tf.ones([2])]), {rows: 1.0}),
        lambda: run(tf, tf.slice(tf.ones([3]), [index], [2]), {index: 2}),
        lambda: run(tf, tf.ensure_shape(rows, [2]), {rows: [1.0]}),
        lambda: run(tf, tf.reduce_sum(rows, index), {rows: [1.0], index: 3}),
        lambda: run(tf, tf.transpose(rows, [1, 0]), {rows: [1.0]}),
        lambda: run(tf, tf.split(rows, 2), {rows: [1.0, 2.0, 3.0]}),
        lambda: run(tf, tf.one_hot([1], index), {index: -1}),
        lambda: run(tf, tf.fill([index], 1), {index: -1}),
        lambda: run(tf, tf.range(0, 3, index), {index: 0}),
        lambda: run(tf, tf.unstack(rows, 2), {rows: [1.0]}),
        lambda: run(tf, tf.tile(rows, [index]), {rows: 1.0, index: 1}),
    )


def _error_classes(tf):
    names = sorted(
        name
        for name in dir(tf.errors)
        if name.endswith("Error") and not name.startswith(("_", "InvalidArgument"))
    )
    error = tf.errors.NotFoundError(None, None, "gone")
    return (
        names,
        [issubclass(getattr(tf.errors, name), tf.OpError) for name in names],
        attempt(
            lambda: str(error),
            lambda: repr(error),
            lambda: error.message,
            lambda: error.error_code,
            lambda: error.op,
            lambda: error.node_def,
            lambda: tf.errors.NOT_FOUND,
            lambda: tf.errors.OpError(None, None, "m", 3).error_code,
            lambda: tf.OpError is tf.errors.OpError,
            lambda: tf.errors.exception_type_from_error_code(5).__name__,
            lambda: tf.errors.error_code_from_exception_type(tf.errors.DataLossError),
            lambda: tf.errors.raise_exception_on_not_ok_status is None,
            lambda: error.args,
        ),
    )


def _mutations(tf):
    c = tf.constant([1.0, 2.0])
    x = tf.placeholder(tf.float32)
    given = np.array([1.0, 2.0], np.float32)
    with tf.Session() as session:
        first = session.run(c)
        first[0] = 9.0
        fed = session.run(x, {x: given})
        both = session.run([c, c])
        same = session.run(tf.identity(x), {x: given})
        return [
            first,
            session.run(c),
            fed is given,
            both[0] is both[1],
            same is given,
            type(session.run(c[0])).__name__,
            type(session.run(x, {x: 1.0})).__name__,
            session.run(x, {x: [1, 2]}).flags.writeable,
        ]


def _growing(tf):
    a = tf.constant(1.0)
    with tf.Session() as session:
        first = session.run(a)
        b = a + 1.0
        second = session.run(b)
        with tf.device("/gpu:905"):
            tf.constant(5.0)
        return first, second, attempt(lambda: session.run(b), lambda: session.run(b + 1.0))


def _sessions_do_not_share(tf):
    kinds = []
    for resource in (False, True):
        v = tf.Variable(1.0, use_resource=resource)
        add = tf.assign_add(v, 1.0)
        one, two = tf.Session(), tf.Session()
        kinds.append(
            attempt(
                lambda v=v, s=one: s.run(v.initializer),
                lambda v=v, s=two: s.run(v),
                lambda a=add, s=one: s.run(a),
                lambda v=v, s=one: s.run([v, v.value(), v.read_value()]),
                lambda v=v, s=one: s.run(v, {v: 7.0}),
                lambda v=v, s=one: s.run(v + 1.0, {v: 7.0}),
                lambda v=v, s=two: s.run(tf.is_variable_initialized(v)),
                lambda v=v: v.dtype,
                lambda v=v: v.name,
                lambda v=v: v.op.type,
                lambda v=v, s=one: v.eval(s),
            )
        )
    return kinds


def _reset(tf):
    return attempt(
        lambda: tf.Session.reset("nope://x"),
        lambda: tf.Session.reset("", [1]),
        lambda: tf.Session.reset("", "ab"),
    )


BEHAVIOURS = {
    function.__name__.strip("_"): function
    for function in (
        _structures,
        _wrong_fetches,
        _feeds,
        _life_cycle,
        _empty_graphs,
        _default_sessions,
        _interactive,
        _callables,
        _options,
        _placement,
        _placed_elsewhere,
        _run_errors,
        _error_classes,
        _mutations,
        _growing,
        _sessions_do_not_share,
        _reset,
    )
}
