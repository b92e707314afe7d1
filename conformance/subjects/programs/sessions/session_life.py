"""Programs of constructing, nesting, closing and resetting sessions."""

from __future__ import annotations

import threading

from sessrun.conformance.subjects.programs.described import attempt, described, raised, without_gpus
from sessrun.conformance.subjects.programs.program import Program

__all__ = ["BEHAVIOURS"]


def alone(program: Program) -> Program:
    """The program in a thread of its own, so that it leaves the default stacks of others alone."""

    def in_a_thread(tf):
        results = []

        def work() -> None:
            with tf.Graph().as_default():
                try:
                    results.append(described(program(tf)))
                except Exception as error:  # noqa: BLE001 - whatever it is, it is compared
                    results.append(raised(error))
                if tf.get_default_graph() is not None:
                    results.append("left")

        thread = threading.Thread(target=work)
        thread.start()
        thread.join(60)
        return results

    in_a_thread.__name__ = program.__name__
    return in_a_thread


def _defaults_left_out_of_order(tf):
    one, two = tf.Session(), tf.Session()
    first, second = one.as_default(), two.as_default()
    outcomes = [first.__enter__() is one, second.__enter__() is two]
    outcomes += attempt(lambda: first.__exit__(None, None, None))
    outcomes.append(tf.get_default_session() is two)
    outcomes += attempt(lambda: second.__exit__(None, None, None))
    return [*outcomes, tf.get_default_session() is one]


def _graphs_left_out_of_order(tf):
    one, two = tf.Graph(), tf.Graph()
    first, second = one.as_default(), two.as_default()
    outcomes = [first.__enter__() is one, second.__enter__() is two]
    outcomes += attempt(lambda: first.__exit__(None, None, None))
    outcomes.append(tf.get_default_graph() is two)
    outcomes += attempt(lambda: second.__exit__(None, None, None))
    outcomes += [tf.get_default_graph() is one]
    try:
        return outcomes
    finally:  # the graph that was entered first is still the default one: leave it
        attempt(lambda: first.__exit__(None, None, None))


def _blocks_left_out_of_order(tf):
    c = tf.constant(1)
    one, two = tf.Session(), tf.Session()
    one.__enter__()
    two.__enter__()
    outcomes = attempt(lambda: one.__exit__(None, None, None), lambda: one.run(c))
    outcomes.append(tf.get_default_session() is two)
    outcomes += attempt(lambda: two.__exit__(None, None, None), lambda: two.run(c))
    outcomes.append(tf.get_default_session() is one)
    return outcomes + attempt(lambda: one.__exit__(None, None, None), lambda: one.run(c))


def _interactive_ones_closed_out_of_order(tf):
    c = tf.constant(1)
    one, two = tf.InteractiveSession(), tf.InteractiveSession()
    results = [tf.get_default_session() is two, *attempt(one.close, lambda: one.run(c))]
    results += [tf.get_default_session() is two, *attempt(two.close)]
    results += [tf.get_default_session() is one]
    return results + attempt(one.close, two.close)


def _an_interactive_one_inside(tf):
    outer = tf.Session()
    with outer.as_default():
        inner = tf.InteractiveSession()
        outcomes = [tf.get_default_session() is inner]
        inner.close()
        outcomes.append(tf.get_default_session() is outer)

    left = []

    def left_open() -> None:
        with outer.as_default():
            left.append(tf.InteractiveSession())

    outcomes += attempt(left_open)
    # Closed here: the process counts open interactive sessions and would warn in a later test.
    return outcomes + attempt(left[0].close)


def _an_interactive_one_of_a_graph(tf):
    graph, before = tf.Graph(), tf.get_default_graph()
    session = tf.InteractiveSession(graph=graph)
    results = [tf.get_default_graph() is graph, session.graph is graph, tf.constant(3).eval()]
    session.close()
    config = tf.ConfigProto()
    tf.InteractiveSession(config=config).close()
    return [
        *results,
        tf.get_default_graph() is before,
        config.graph_options.place_pruned_graph,
        hasattr(tf.InteractiveSession, "__enter__"),
        session.sess_str,
    ]


def _interactive_arguments(tf):
    return [
        *attempt(
            lambda: tf.InteractiveSession("bogus"),
            lambda: tf.InteractiveSession(graph=3),
            lambda: tf.InteractiveSession(target=3),
        ),
        tf.get_default_session(),
    ]


def _targets(tf):
    return attempt(
        lambda: tf.Session(None).sess_str,
        lambda: tf.Session(b"").sess_str,
        lambda: tf.Session("").sess_str,
        lambda: tf.Session(bytearray(b"")).sess_str,
        lambda: tf.Session(tf.ConfigProto()),
        lambda: tf.Session([""]),
        lambda: tf.Session("local"),
        lambda: tf.Session("localhost:2222"),
        lambda: tf.Session(b"bogus"),
        lambda: tf.Session(0),
        lambda: tf.Session(1, 2, 3),
        lambda: tf.Session("bogus", 2, 3),
        lambda: tf.Session("", 2),
        lambda: tf.Session(grap=2),
        lambda: tf.Session("", None, {}),
    )


def _graph_defs(tf):
    tf.constant([[1, 2]])
    shapes = tf.ConfigProto(graph_options=tf.GraphOptions(infer_shapes=True))
    return [sorted(tf.Session(config=config).graph_def.node[0].attr) for config in (None, shapes)]


def _devices(tf):
    one, two = tf.Session().list_devices()[0], tf.Session().list_devices()[0]
    three = without_gpus(tf, 3).list_devices()
    return [
        one.name,
        one.device_type,
        one.memory_limit_bytes,
        one.incarnation != 0,
        one == two,
        one.incarnation == two.incarnation,
        [d.name for d in three],
        len({d.incarnation for d in three}),
        attempt(lambda: setattr(one, "name", "x"), lambda: one[0]),
        str(one).rpartition(",")[0],
    ]


def _closed_inside_its_block(tf):
    c = tf.constant(2)
    session = tf.Session()

    def used():
        with session:
            session.close()
            return tf.get_default_session() is session, c.eval()

    return attempt(used, session.__enter__, lambda: session.__exit__(None, None, None)) + [
        tf.get_default_session()
    ]


def _sessions_of_others(tf):
    a = tf.constant(2)

    class Double:
        graph = a.graph

        def run(self, _fetches, feed_dict=None):
            return "double", feed_dict is None

    return attempt(
        lambda: a.eval(session=Double()),
        lambda: a.eval({a: 1}, Double()),
        lambda: a.op.run(session=Double()),
        lambda: a.op.run({a: 1}, tf.Session()),
        lambda: a.eval(session=None),
        lambda: a.eval(session=3),
    )


def _after_a_reset(tf):
    c, x, v = tf.constant(1.0), tf.placeholder(tf.float32, name="x"), tf.Variable(1.0)
    y = tf.add(x, 1.0, name="y")
    one, two = without_gpus(tf), without_gpus(tf)
    one.run(v.initializer)
    bare, fed = one.make_callable(c), one.make_callable(y, [x])
    handle = one.partial_run_setup([y], [x])
    tf.Session.reset("")
    return attempt(
        lambda: one.run(c),
        lambda: two.run(c),
        bare,
        lambda: fed(1.0),
        lambda: [device.name for device in one.list_devices()],
        lambda: one.partial_run_setup([y], [x]),
        lambda: one.partial_run(handle, y, {x: 1.0}),
        lambda: callable(one.make_callable(c)),
        lambda: one.make_callable(c)(),
        lambda: one.run(x, {x: 3.0}),
        lambda: one.run([]),
        one.close,
        lambda: one.run(c),
        one.list_devices,
        lambda: tf.Session().run(v),
        lambda: tf.Session().run(c),
    )


BEHAVIOURS = {
    function.__name__.strip("_"): function
    for function in (
        *map(
            alone,
            (
                _defaults_left_out_of_order,
                _graphs_left_out_of_order,
                _blocks_left_out_of_order,
                _interactive_ones_closed_out_of_order,
                _an_interactive_one_inside,
                _an_interactive_one_of_a_graph,
            ),
        ),
        _interactive_arguments,
        _targets,
        _graph_defs,
        _devices,
        _closed_inside_its_block,
        _sessions_of_others,
        _after_a_reset,
    )
}
