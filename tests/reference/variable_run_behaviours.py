"""What variables do when they are run, read, set and fed."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
from behaviour_registry import KINDS, behaviour, caught


@behaviour
def uninitialized(tf: Any) -> Any:
    found = []
    for kind in KINDS:
        v = tf.Variable([1.0], name=f"weights{kind}", use_resource=kind)
        with tf.Session() as session:
            for fetch in (v, v + 1.0, v.assign_add([1.0]), v.read_value()):
                outcome = caught(lambda fetch=fetch: session.run(fetch))
                found += [outcome, f"weights{kind}" in str(outcome.error)]
            found.append(session.run(tf.is_variable_initialized(v)))
            found.append(session.run(tf.report_uninitialized_variables([v])))
            for update in (
                tf.scatter_update(v, [0], [1.0]),
                tf.count_up_to(tf.Variable(0, use_resource=kind), 3),
                v.assign_sub([1.0]), tf.group(v), v.op,
            ):  # fmt: skip
                found.append(caught(lambda update=update: session.run(update)))
    v = tf.Variable([1.0])
    with tf.Session() as session:
        found.append(caught(lambda: session.run(tf.assert_variables_initialized([v]))))
    return found


@behaviour
def initialization(tf: Any) -> Any:
    found = []
    for kind in KINDS:
        v = tf.Variable([1.0, 2.0], name=f"v{kind}", use_resource=kind)
        with tf.Session() as session:
            found.append(session.run(v.initializer))
            found += [session.run(v), session.run([v, v.initial_value])]
            found.append(session.run(tf.is_variable_initialized(v)))
            found.append(session.run(tf.report_uninitialized_variables([v])))
            found.append(v.eval())
            v.load([5.0, 6.0], session)
            found.append(v.eval(session))
            found.append(caught(lambda v=v, s=session: v.load([5.0], s)))
            session.run(tf.global_variables_initializer())
            found.append(session.run(v))
    return found


@behaviour
def assignments(tf: Any) -> Any:
    found = []
    for kind in KINDS:
        v = tf.Variable([1.0, 2.0], use_resource=kind)
        updates = [
            v.assign([3.0, 4.0]), v.assign_add([1.0, 1.0]), v.assign_sub([0.5, 1.0]),
            tf.assign(v, [7.0, 8.0]), tf.assign_add(v, [1.0, 1.0]), tf.assign_sub(v, v),
            v.assign([3.0, 4.0], read_value=False), v.assign_add([3.0, 4.0], read_value=False),
        ]  # fmt: skip
        with tf.Session() as session:
            session.run(v.initializer)
            for update in updates:
                found += [session.run(update), session.run(v)]
            found.append(session.run(tf.assign(v, [1.0, 1.0]) * 2.0))
    return found


@behaviour
def chains(tf: Any) -> Any:
    found = []
    for kind in KINDS:
        v = tf.Variable(1.0, use_resource=kind)
        if kind:
            last = v.assign(2.0).assign_add(3.0).assign_sub(1.0)
        else:
            last = tf.assign_sub(tf.assign_add(v.assign(2.0), 3.0), 1.0)
        with tf.Session() as session:
            session.run(v.initializer)
            found += [session.run(last), session.run(v)]
    return found


@behaviour
def wrong_shapes(tf: Any) -> Any:
    found = []
    for kind in KINDS:
        v = tf.Variable([1.0, 2.0], use_resource=kind)
        found += [
            caught(lambda v=v: v.assign([1.0])), caught(lambda v=v: v.assign_add([1.0])),
            caught(lambda v=v: tf.assign(v, [[1.0, 2.0]])),
            caught(lambda v=v: tf.assign_sub(v, 1.0)),
            caught(lambda v=v: v.assign(["a", "b"])), caught(lambda v=v: v.assign([1, 2])),
            caught(lambda v=v: v.assign(None)),
            caught(lambda v=v: v.assign(np.array([1.0, 2.0]))),
            caught(lambda v=v: v.assign(tf.constant([1, 2]))),
        ]  # fmt: skip
        value = tf.placeholder(tf.float32)
        update = v.assign(value)
        with tf.Session() as session:
            session.run(v.initializer)
            found.append(caught(lambda u=update, p=value, s=session: s.run(u, {p: [1.0]})))
            found.append(session.run(v))
            found.append(session.run(update, {value: [5.0, 6.0]}))
    return found


@behaviour
def unvalidated(tf: Any) -> Any:
    found = []
    for kind in KINDS:
        value = tf.placeholder(tf.float32)
        v = tf.Variable(value, validate_shape=False, use_resource=kind)
        with tf.Session() as session:
            for given in ([1.0], [[1.0, 2.0]], 3.0):
                session.run(v.initializer, {value: given})
                found += [session.run(v), caught(lambda v=v, s=session: s.run(v.assign_add(v)))]
    v = tf.Variable([1.0, 2.0])
    other = tf.assign(v, [[1.0]], validate_shape=False)
    with tf.Session() as session:
        session.run(v.initializer)
        found += [session.run(other), session.run(v)]
    return found


@behaviour
def scatters(tf: Any) -> Any:
    found = []
    for kind in KINDS:
        v = tf.Variable([1.0, 2.0, 3.0], use_resource=kind)
        names = ["scatter_update", "scatter_add", "scatter_sub"]
        with tf.Session() as session:
            for name in names:
                session.run(v.initializer)
                update = getattr(tf, name)(v, [0, 2], [10.0, 20.0])
                found += [session.run(update), session.run(v)]
                wrong = getattr(tf, name)(v, [5], [1.0])
                found.append(caught(lambda w=wrong, s=session: s.run(w)))
                same = getattr(tf, name)(v, [1, 1], [10.0, 20.0])
                found.append(session.run(same))
    v = tf.Variable([1.0, 2.0, 3.0])
    with tf.Session() as session:
        for name in ("scatter_mul", "scatter_div", "scatter_min", "scatter_max"):
            session.run(v.initializer)
            found.append(session.run(getattr(tf, name)(v, [0, 2], [10.0, 2.0])))
        for name in ("scatter_nd_update", "scatter_nd_add", "scatter_nd_sub"):
            session.run(v.initializer)
            found.append(session.run(getattr(tf, name)(v, [[0], [2]], [10.0, 2.0])))
    found.append(caught(lambda: tf.scatter_add(tf.constant([1.0]), [0], [1.0])))
    found.append(caught(lambda: tf.assign(tf.constant([1.0]), [1.0])))
    found.append(caught(lambda: tf.assign_add(3.0, 1.0)))
    found.append(caught(lambda: tf.count_up_to(v, 3)))
    return found


@behaviour
def counting(tf: Any) -> Any:
    found = []
    for kind in KINDS:
        v = tf.Variable(0, use_resource=kind)
        count = tf.count_up_to(v, 2)
        with tf.Session() as session:
            session.run(v.initializer)
            found += [caught(lambda c=count, s=session: s.run(c)) for _ in range(4)]
            found.append(session.run(v))
    return found


@behaviour
def feeding(tf: Any) -> Any:
    found = []
    for kind in KINDS:
        v = tf.Variable([1.0, 2.0], use_resource=kind)
        with tf.Session() as session:
            session.run(v.initializer)
            total, cached = v + 1.0, v.value()
            found += [
                session.run(v, {v: [5.0, 6.0]}), session.run(total, {v: [5.0, 6.0]}),
                session.run(cached, {v: [5.0, 6.0]}), session.run(total, {v.name: [5.0, 6.0]})
                if not kind else None,
                session.run(total, {cached: [7.0, 8.0]}),
                caught(lambda v=v, t=total, s=session: s.run(t, {v: [5.0]})), session.run(v),
                caught(lambda v=v, s=session: s.run(v.assign_add([1.0, 1.0]), {v: [5.0, 5.0]})),
            ]  # fmt: skip
    return found


@behaviour
def dependent(tf: Any) -> Any:
    v = tf.Variable([1.0, 2.0], use_resource=True)
    w = tf.Variable(v.initial_value * 2.0)
    u = tf.Variable(w.initialized_value() * 3.0, use_resource=True)
    x = tf.Variable(w * 2.0 + w)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run([v, w, u, x])


@behaviour
def conversions(tf: Any) -> Any:
    found: list[Any] = []
    for kind in KINDS:
        v = tf.Variable([1.0, 2.0], use_resource=kind, name=f"v{kind}")
        found += [
            caught(lambda v=v: tf.convert_to_tensor(v, dtype=tf.int32)),
            caught(lambda v=v: tf.convert_to_tensor(v, dtype=tf.float32).dtype.name),
            caught(lambda v=v: tf.convert_to_tensor([v, v]).shape.as_list()),
            caught(lambda v=v: tf.stack([v, [1.0, 2.0]]).shape.as_list()),
            caught(lambda v=v: tf.matmul([v], [[1.0], [1.0]]).shape.as_list()),
            caught(lambda v=v: tf.add(v, 1).dtype.name), caught(lambda v=v: (v + 1).dtype.name),
            caught(lambda v=v: (1 + v).dtype.name), caught(lambda v=v: v + "a"),
            caught(lambda v=v: v + tf.constant(1)), caught(lambda v=v: v[5]),
            caught(lambda v=v: tf.group(v).name),
            caught(lambda v=v: tf.group(v.assign([1.0, 1.0])).name),
            caught(lambda v=v: tf.identity(v.assign([1.0, 1.0])).dtype.name),
        ]  # fmt: skip
        with tf.control_dependencies([v]):
            found.append([op.name for op in tf.no_op().control_inputs])
        with tf.control_dependencies([v.assign([1.0, 1.0])]):
            found.append([op.type for op in tf.no_op().control_inputs])
        with tf.colocate_with(v):
            found.append(tf.no_op().get_attr("_class"))
    return found


@behaviour
def other_graph(tf: Any) -> Any:
    found: list[Any] = []
    for kind in KINDS:
        graph = tf.Graph()
        with graph.as_default():
            v = tf.Variable([1.0], use_resource=kind, name="other")
        found += [
            v.graph is graph, (v + 1.0).graph is graph, v.read_value().graph is graph,
            caught(lambda v=v: v + tf.constant([1.0])),
            caught(lambda v=v: tf.Session().run(v)), caught(lambda v=v: v.eval()),
            caught(lambda v=v: tf.Session().run(v.initializer)),
        ]  # fmt: skip
    return found


@behaviour
def shared_between_sessions(tf: Any) -> Any:
    found: list[Any] = []
    for kind in KINDS:
        v = tf.Variable(1.0, use_resource=kind)
        with tf.Session() as first, tf.Session() as second:
            first.run(v.initializer)
            first.run(v.assign_add(1.0))
            second.run(v.initializer)
            found += [first.run(v), second.run(v)]
    return found


@behaviour
def temporary_variables(tf: Any) -> Any:
    """They end with the run, hold something from the start, and have a shape of their own."""
    raw = tf.raw_ops

    def temporary(shape: Any = (2,), dtype: Any = None, name: str = "") -> Any:
        shape = tf.TensorShape(shape)
        return raw.TemporaryVariable(shape=shape, dtype=dtype or tf.float32, var_name=name)

    def run(fetch: Any) -> Any:
        with tf.Session() as session:
            return session.run(fetch)

    def read(*arguments: Any) -> Any:
        value = run(tf.identity(temporary(*arguments)))
        return [list(value.shape), value.dtype.name]

    def in_two_runs() -> Any:
        one = temporary(name="one")
        with tf.Session() as session:
            return [session.run(one).shape == session.run(one).shape]

    def in_a_partial_run() -> Any:
        """It lives from the first call to the last."""
        first, second = (tf.placeholder(tf.float32, [2]) for _ in range(2))
        kept = tf.assign(temporary(name="kept"), first)
        last = raw.DestroyTemporaryVariable(ref=tf.assign_add(kept, second), var_name="kept")
        seen = tf.identity(kept)
        with tf.Session() as session:
            handle = session.partial_run_setup([seen, last], [first, second])
            return [session.partial_run(handle, seen, {first: [1.0, 2.0]}),
                    session.partial_run(handle, last, {second: [3.0, 4.0]})]  # fmt: skip

    of_one_name = [temporary(name="same"), temporary(name="same")]
    fed, unnamed = tf.placeholder_with_default([2.0], None), temporary()
    return [
        read(), read([3, 1], tf.int32), read([2], tf.string),
        caught(lambda: read([None])), caught(lambda: read([2, None])),
        in_two_runs(), in_a_partial_run(),
        run(raw.IsVariableInitialized(ref=temporary())),
        caught(lambda: run(of_one_name)),
        caught(lambda: run(tf.add(*of_one_name))),
        caught(lambda: run(raw.DestroyTemporaryVariable(ref=temporary(), var_name="other"))),
        caught(lambda: run(tf.assign(temporary(), fed))),
        run(tf.assign(temporary(), fed, validate_shape=False)),
        run(raw.DestroyTemporaryVariable(ref=tf.assign(unnamed, [3.0, 4.0]),
                                         var_name=unnamed.op.name)),
    ]  # fmt: skip


@behaviour
def iterated(tf: Any) -> Any:
    """No variable is iterated over, and the attempt leaves a read in the graph."""
    found: list[Any] = []
    for kind in KINDS:
        v = tf.Variable([1.0, 2.0], use_resource=kind, name=f"v{kind}")
        found += [caught(lambda v=v: list(v)), caught(lambda v=v: iter(v))]
    return [found, [op.name for op in tf.get_default_graph().get_operations()]]


@behaviour
def of_version_two(tf: Any) -> Any:
    """`Variable` of `python.ops.variables` makes resource variables, whatever the default is."""
    package = "tensorflow" if tf.__name__.startswith("tensorflow") else "sessrun.reference"
    variables = importlib.import_module(f"{package}.python.ops.variables")
    seen: list[Any] = []

    def creator(next_creator: Any, **arguments: Any) -> Any:
        seen.append(sorted(arguments))
        return next_creator(**arguments)

    with tf.variable_creator_scope(creator):
        v = variables.Variable([1.0, 2.0], name="v", trainable=False)
    any_shape = variables.Variable([1.0], shape=tf.TensorShape(None), name="any_shape")
    first = tf.Variable(3.0, name="first")
    second = variables.VariableAggregationV2.MEAN
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(any_shape.assign([[1.0], [2.0]]))
        values = session.run([v, any_shape, first])
    return [
        seen, v.op.type, v.trainable, [each.name for each in tf.global_variables()],
        [isinstance(each, variables.Variable) for each in (v, first, tf.constant(1.0))],
        [isinstance(each, tf.Variable) for each in (v, first, tf.constant(1.0))],
        issubclass(tf.Variable, variables.Variable), values,
        second == tf.VariableAggregation.MEAN, second == tf.VariableAggregation.SUM, second == 2,
        len({second, tf.VariableAggregation.MEAN}),
        variables.Variable(1.0, aggregation=second).aggregation == second,
        variables.Variable(variable_def=v.to_proto()).op is v.op,
        caught(lambda: variables.Variable(variable_def=first.to_proto())),
        caught(lambda: variables.Variable(1.0, collections=["mine"])), tf.get_collection("mine"),
        caught(lambda: variables.Variable()),
    ]  # fmt: skip


@behaviour
def scattered_by_slices(tf: Any) -> Any:
    found: list[Any] = []
    for kind in KINDS:
        v = tf.Variable([1.0, 2.0, 3.0], use_resource=kind, name=f"v{kind}")
        n = tf.Variable([[7, 8], [9, 10]], use_resource=kind, name=f"n{kind}")
        with tf.Session() as session:
            for name in ("update", "add", "sub", "mul", "div", "min", "max"):
                made = getattr(v, f"scatter_{name}")(tf.IndexedSlices([2.5, 0.5, 4.0], [0, 2, 0]))
                ints = getattr(n, f"scatter_{name}")(
                    tf.IndexedSlices(tf.constant([[3, -2]]), tf.constant([1])), use_locking=True
                )
                session.run([v.initializer, n.initializer])
                session.run([made.op, ints.op])
                found += [made.name, session.run([v, n])]
            found += [
                caught(lambda v=v: v.scatter_add([1.0])),
                caught(lambda v=v: v.scatter_min(tf.IndexedSlices(["a"], [0]))),
                caught(lambda s=session, v=v: s.run(
                    v.scatter_max(tf.IndexedSlices([1.0], tf.placeholder_with_default([5], None)))
                )),
            ]  # fmt: skip
    graph = tf.get_default_graph().as_graph_def()
    return [found, [[n.name, list(n.input)] for n in graph.node if "Scatter" in n.op]]


@behaviour
def gathered_by_vectors(tf: Any) -> Any:
    """A resource variable is gathered from without being read as a whole."""
    found: list[Any] = []
    for kind in KINDS:
        v = tf.Variable([[1.0, 2.0], [3.0, 4.0]], use_resource=kind, name=f"v{kind}")
        far = tf.placeholder_with_default([[5, 0]], None)
        parts = [tf.gather_nd(v, [[1, 0]]), tf.gather_nd(v, [[1], [0]], name="named")]
        outside = tf.gather_nd(v, far)
        with tf.Session() as session:
            session.run(v.initializer)
            found += [session.run(parts), parts[1].shape.as_list(), outside.shape.ndims,
                      caught(lambda s=session, o=outside: s.run(o)),
                      caught(lambda v=v: tf.gather_nd(v, tf.zeros([2, 3], tf.int32))),
                      caught(lambda v=v: v.gather_nd([[1]]).shape.as_list())]  # fmt: skip
    graph = tf.get_default_graph().as_graph_def()
    return [found, [[n.name, n.op, list(n.input)] for n in graph.node]]
