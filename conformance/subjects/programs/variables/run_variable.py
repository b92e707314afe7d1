"""Programs that read, feed and convert variables, before and after they are initialized."""

from __future__ import annotations

from typing import Final

from sessrun.conformance.subjects.programs.described import caught

__all__ = ["BEHAVIOURS"]

#: Reference variables, resource variables.
KINDS: Final = (False, True)


def uninitialized(tf):
    outcomes = []
    for kind in KINDS:
        v = tf.Variable([1.0], name=f"weights{kind}", use_resource=kind)
        with tf.Session() as session:
            fetches = (v, v + 1.0, v.assign_add([1.0]), v.read_value())
            outcomes += [caught(lambda fetch=fetch: session.run(fetch)) for fetch in fetches]
            outcomes.append(session.run(tf.is_variable_initialized(v)))
            outcomes.append(session.run(tf.report_uninitialized_variables([v])))
            updates = (
                tf.scatter_update(v, [0], [1.0]),
                tf.count_up_to(tf.Variable(0, use_resource=kind), 3),
                v.assign_sub([1.0]),
                tf.group(v),
                v.op,
            )
            outcomes += [caught(lambda update=update: session.run(update)) for update in updates]
    v = tf.Variable([1.0])
    with tf.Session() as session:
        outcomes.append(caught(lambda: session.run(tf.assert_variables_initialized([v]))))
    return outcomes


def initialization(tf):
    outcomes = []
    for kind in KINDS:
        v = tf.Variable([1.0, 2.0], name=f"v{kind}", use_resource=kind)
        with tf.Session() as session:
            outcomes.append(session.run(v.initializer))
            outcomes += [session.run(v), session.run([v, v.initial_value])]
            outcomes.append(session.run(tf.is_variable_initialized(v)))
            outcomes.append(session.run(tf.report_uninitialized_variables([v])))
            outcomes.append(v.eval())
            v.load([5.0, 6.0], session)
            outcomes.append(v.eval(session))
            outcomes.append(caught(lambda v=v, s=session: v.load([5.0], s)))
            session.run(tf.global_variables_initializer())
            outcomes.append(session.run(v))
    return outcomes


def feeding(tf):
    results = []
    for kind in KINDS:
        v = tf.Variable([1.0, 2.0], use_resource=kind)
        with tf.Session() as session:
            session.run(v.initializer)
            total, cached = v + 1.0, v.value()
            results += [
                session.run(v, {v: [5.0, 6.0]}),
                session.run(total, {v: [5.0, 6.0]}),
                session.run(cached, {v: [5.0, 6.0]}),
                session.run(total, {v.name: [5.0, 6.0]}) if not kind else None,
                session.run(total, {cached: [7.0, 8.0]}),
                caught(lambda v=v, t=total, s=session: s.run(t, {v: [5.0]})),
                session.run(v),
                caught(lambda v=v, s=session: s.run(v.assign_add([1.0, 1.0]), {v: [5.0, 5.0]})),
            ]
    return results


def dependent(tf):
    v = tf.Variable([1.0, 2.0], use_resource=True)
    w = tf.Variable(v.initial_value * 2.0)
    u = tf.Variable(w.initialized_value() * 3.0, use_resource=True)
    x = tf.Variable(w * 2.0 + w)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run([v, w, u, x])


def conversions(tf):
    results = []
    for kind in KINDS:
        v = tf.Variable([1.0, 2.0], use_resource=kind, name=f"v{kind}")
        results += [
            caught(lambda v=v: tf.convert_to_tensor(v, dtype=tf.int32)),
            caught(lambda v=v: tf.convert_to_tensor(v, dtype=tf.float32).dtype.name),
            caught(lambda v=v: tf.convert_to_tensor([v, v]).shape.as_list()),
            caught(lambda v=v: tf.stack([v, [1.0, 2.0]]).shape.as_list()),
            caught(lambda v=v: tf.matmul([v], [[1.0], [1.0]]).shape.as_list()),
            caught(lambda v=v: tf.add(v, 1).dtype.name),
            caught(lambda v=v: (v + 1).dtype.name),
            caught(lambda v=v: (1 + v).dtype.name),
            caught(lambda v=v: v + "a"),
            caught(lambda v=v: v + tf.constant(1)),
            caught(lambda v=v: v[5]),
            caught(lambda v=v: tf.group(v).name),
            caught(lambda v=v: tf.group(v.assign([1.0, 1.0])).name),
            caught(lambda v=v: tf.identity(v.assign([1.0, 1.0])).dtype.name),
        ]
        with tf.control_dependencies([v]):
            results.append([op.name for op in tf.no_op().control_inputs])
        with tf.control_dependencies([v.assign([1.0, 1.0])]):
            results.append([op.type for op in tf.no_op().control_inputs])
        with tf.colocate_with(v):
            results.append(tf.no_op().get_attr("_class"))
    return results


def other_graph(tf):
    results = []
    for kind in KINDS:
        graph = tf.Graph()
        with graph.as_default():
            v = tf.Variable([1.0], use_resource=kind, name="other")
        results += [
            v.graph is graph,
            (v + 1.0).graph is graph,
            v.read_value().graph is graph,
            caught(lambda v=v: v + tf.constant([1.0])),
            caught(lambda v=v: tf.Session().run(v)),
            caught(lambda v=v: v.eval()),
            caught(lambda v=v: tf.Session().run(v.initializer)),
        ]
    return results


def shared_between_sessions(tf):
    results = []
    for kind in KINDS:
        v = tf.Variable(1.0, use_resource=kind)
        with tf.Session() as first, tf.Session() as second:
            first.run(v.initializer)
            first.run(v.assign_add(1.0))
            second.run(v.initializer)
            results += [first.run(v), second.run(v)]
    return results


def temporary_variables(tf):
    """Temporary variables end with the run, have a value from the start, and a fixed shape."""
    raw = tf.raw_ops

    def temporary(shape=(2,), dtype=None, name: str = ""):
        shape = tf.TensorShape(shape)
        return raw.TemporaryVariable(shape=shape, dtype=dtype or tf.float32, var_name=name)

    def run(fetch):
        with tf.Session() as session:
            return session.run(fetch)

    def read(*arguments):
        value = run(tf.identity(temporary(*arguments)))
        return [list(value.shape), value.dtype.name]

    def in_two_runs():
        one = temporary(name="one")
        with tf.Session() as session:
            return [session.run(one).shape == session.run(one).shape]

    def in_a_partial_run():
        """A temporary variable lives from the first call of a partial run to the last."""
        first, second = (tf.placeholder(tf.float32, [2]) for _ in range(2))
        kept = tf.assign(temporary(name="kept"), first)
        last = raw.DestroyTemporaryVariable(ref=tf.assign_add(kept, second), var_name="kept")
        seen = tf.identity(kept)
        with tf.Session() as session:
            handle = session.partial_run_setup([seen, last], [first, second])
            return [
                session.partial_run(handle, seen, {first: [1.0, 2.0]}),
                session.partial_run(handle, last, {second: [3.0, 4.0]}),
            ]

    of_one_name = [temporary(name="same"), temporary(name="same")]
    fed, unnamed = tf.placeholder_with_default([2.0], None), temporary()
    return [
        read(),
        read([3, 1], tf.int32),
        read([2], tf.string),
        caught(lambda: read([None])),
        caught(lambda: read([2, None])),
        in_two_runs(),
        in_a_partial_run(),
        run(raw.IsVariableInitialized(ref=temporary())),
        caught(lambda: run(of_one_name)),
        caught(lambda: run(tf.add(*of_one_name))),
        caught(lambda: run(raw.DestroyTemporaryVariable(ref=temporary(), var_name="other"))),
        caught(lambda: run(tf.assign(temporary(), fed))),
        run(tf.assign(temporary(), fed, validate_shape=False)),
        run(
            raw.DestroyTemporaryVariable(
                ref=tf.assign(unnamed, [3.0, 4.0]), var_name=unnamed.op.name
            )
        ),
    ]


def iterated(tf):
    """Iterating over a variable is refused, after a read was added to the graph."""
    outcomes = []
    for kind in KINDS:
        v = tf.Variable([1.0, 2.0], use_resource=kind, name=f"v{kind}")
        outcomes += [caught(lambda v=v: list(v)), caught(lambda v=v: iter(v))]
    return [outcomes, [op.name for op in tf.get_default_graph().get_operations()]]


BEHAVIOURS = {
    program.__name__: program
    for program in (
        uninitialized,
        initialization,
        feeding,
        dependent,
        conversions,
        other_graph,
        shared_between_sessions,
        temporary_variables,
        iterated,
    )
}
