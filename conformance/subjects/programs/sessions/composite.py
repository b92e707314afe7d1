"""Programs of sparse values, of tensor handles, and of partial runs."""

from __future__ import annotations

import time

import numpy as np

from sessrun.conformance.subjects.programs.described import attempt, run, without_gpus

__all__ = ["BEHAVIOURS"]


def _sparse(tf):
    fixed = tf.SparseTensor([[0, 1], [1, 2]], [5.0, 6.0], [2, 3])
    hole = tf.sparse_placeholder(tf.float32, name="hole")
    shaped = tf.sparse_placeholder(tf.float32, [2, 3])
    partly = tf.sparse_placeholder(tf.int32, [None, 3], name="partly")
    value = tf.SparseTensorValue([[0, 1]], [5.0], [2, 3])
    arrays = (np.array([[0, 1]]), np.array([5.0], np.float32), np.array([2, 3]))
    return [fixed, hole, shaped, partly], attempt(
        lambda: run(tf, fixed),
        lambda: run(tf, [fixed, {"a": (fixed,)}]),
        lambda: run(tf, hole, {hole: value}),
        lambda: run(tf, hole, {hole: arrays}),
        lambda: run(tf, hole.values * 2.0, {hole: value}),
        lambda: run(tf, hole),
        lambda: run(tf, hole, {hole: 5}),
        lambda: run(tf, hole, {hole: (1, 2)}),
        lambda: run(tf, shaped, {shaped: value}),
        lambda: run(tf, shaped, {shaped: arrays[:2]}),
        lambda: run(tf, partly, {partly: (arrays[0], [7], arrays[2])}),
        lambda: run(tf, hole, {hole: fixed}),
        lambda: fixed.eval(session=tf.Session()),
        lambda: fixed.shape,
        fixed.get_shape,
        lambda: hole.shape,
        lambda: shaped.shape,
        lambda: partly.shape,
        lambda: fixed.dtype,
        lambda: fixed.op.name,
        lambda: fixed.name,
        lambda: fixed.graph is hole.graph,
        lambda: str(fixed),
        lambda: type(value).__mro__[1].__name__,
        lambda: value._fields,
        lambda: tf.SparseTensor([[1]], [1.0], [2, 3]),
        lambda: hole.device,
        lambda: tf.SparseTensor([1], [1.0], [2]),
        lambda: tf.SparseTensor([[0]], [[1.0]], [2]),
        lambda: tf.SparseTensor.from_value(value),
        lambda: tf.SparseTensor.from_value(fixed) is fixed,
        lambda: tf.SparseTensor.from_value(3),
        lambda: fixed.consumers(),
        lambda: partly.dense_shape,
        lambda: tf.convert_to_tensor_or_sparse_tensor(value),
        lambda: tf.convert_to_tensor_or_sparse_tensor([1, 2]),
        lambda: tf.convert_to_tensor_or_sparse_tensor(fixed, tf.int32),
        lambda: fixed.rank,
        lambda: tf.convert_to_tensor(fixed),
        lambda: tf.is_tensor(fixed),
        lambda: tf.group(fixed),
        lambda: tf.get_default_graph().as_graph_element(fixed),
        lambda: run(tf, tf.identity(fixed.indices)),
    )


def _slices(tf):
    values, indices = tf.constant([[1.0, 2.0], [3.0, 4.0]]), tf.constant([0, 2])
    bare = tf.IndexedSlices(values, indices)
    shaped = tf.IndexedSlices(values, indices, tf.constant([4, 2]))
    return attempt(
        lambda: run(tf, bare),
        lambda: run(tf, shaped),
        lambda: run(tf, [bare, {"a": shaped}]),
        lambda: bare.dtype,
        lambda: bare.name,
        lambda: bare.device,
        lambda: bare.op.name,
        lambda: bare.shape,
        lambda: shaped.shape,
        lambda: str(bare),
        lambda: str(shaped),
        lambda: tf.convert_to_tensor(shaped),
        lambda: run(tf, tf.convert_to_tensor(shaped)),
        lambda: tf.convert_to_tensor(bare),
        lambda: tf.convert_to_tensor(shaped, tf.int32),
        lambda: run(tf, shaped + 1.0),
        lambda: -bare,
        lambda: bare.graph is values.graph,
        lambda: tf.convert_to_tensor_or_indexed_slices(bare) is bare,
        lambda: tf.is_tensor(bare),
        lambda: tf.convert_to_tensor_or_indexed_slices([1]),
        lambda: run(tf, bare, {bare: 1}),
        lambda: tf.identity(shaped),
        lambda: tf.group(bare),
        lambda: run(tf, tf.identity(shaped)),
        lambda: tf.gather(shaped, 0),
        lambda: bare.eval,
    )


def _handles(tf):
    x = tf.placeholder(tf.int32, [2])
    handle_tensor = tf.get_session_handle(x * 2)
    session, other = without_gpus(tf), without_gpus(tf)
    handle = session.run(handle_tensor, {x: [3, 4]})
    kept, value = tf.get_session_tensor(handle.handle, tf.int32)
    deleted, delete = tf.delete_session_tensor(handle.handle)
    with session.as_default():
        evaluated = handle.eval()
    return (
        handle_tensor,
        kept,
        value,
        deleted,
        delete,
        type(handle).__name__,
        evaluated,
        attempt(
            lambda: session.run(value, {kept: handle.handle}),
            lambda: session.run(x + 1, {x: handle}),
            lambda: session.run([handle_tensor], {x: [1, 2]})[0].eval,
            lambda: other.run(value, {kept: handle.handle}),
            lambda: other.run(x + 1, {x: handle}),
            lambda: isinstance(handle.handle, str),
            lambda: str(handle) == handle.handle,
            lambda: session.run(delete, {deleted: handle.handle}),
            lambda: session.run(value, {kept: handle.handle}),
            lambda: session.run(delete, {deleted: handle.handle}),
            lambda: session.run(handle_tensor, {x: [7, 8]}).delete(),
            lambda: type(handle.get_raw_handle()).__name__,
            handle.eval,
            handle.delete,
            lambda: tf.get_session_handle(3),
            lambda: tf.get_session_tensor("x", 1),
        ),
    )


def _partial_runs(tf):
    a, b, c = (tf.placeholder(tf.float32, [], name=name) for name in "abc")
    first = a + b
    second = first * c
    counter = tf.Variable(0, use_resource=True)
    count = counter.assign_add(1)
    with tf.control_dependencies([a.op]):
        late = counter.assign_add(10)

    def session():
        opened = tf.Session()
        opened.run(counter.initializer)
        return opened

    def calls(fetches, feeds, *steps):
        used = session()
        handle = used.partial_run_setup(fetches, feeds)
        time.sleep(0.02)  # TensorFlow runs what needs no feed at the same time as the caller
        return attempt(*(lambda step=step: step(used, handle) for step in steps))

    def proceed(fetches, feeds=None):
        return lambda used, handle: used.partial_run(handle, fetches, feeds)

    now, both = (lambda used, _: used.run(counter)), {a: 1, b: 2}
    return [
        calls(
            [first, second],
            [a, b, c],
            proceed(first, both),
            proceed(second, {c: 17}),
            proceed(second, {c: 1}),
            proceed([]),
        ),
        calls(
            [first, second],
            [a, b, c],
            proceed(first, {a: 1}),
            proceed([first], both),
            proceed(second, {a: 1, c: 1}),
            proceed(first),
            proceed(second),
            proceed(second, {c: 2}),
        ),
        calls([first, count], [a, b], now, proceed(first, both), proceed(count), now),
        calls([first, late.op], [a, b], now, proceed(first, both), now),
        calls(
            [first, second],
            [a, b, c],
            proceed(count),
            proceed([], {first: 3}),
            proceed(late.op),
            proceed("nope"),
            proceed(None),
            proceed(a, both),
            proceed(first, {a: "x", b: 1}),
            proceed(first, {a: [1], b: 1}),
            proceed({"k": (first,)}, {"a:0": 1, b: 2}),
        ),
        calls([first, second], [a, b, c], proceed([first, second], {**both, c: 3}), proceed(first)),
        calls([second], [first, c], proceed(second, {first: 5, c: 2})),
        calls(
            [second, first],
            [a, b, c],
            proceed([], {c: 1}),
            proceed([], {b: 1}),
            proceed((second, first), {a: 1}),
        ),
        calls([second], [a, b], proceed(second, both)),
    ], attempt(
        lambda: session().partial_run("nope", first, both),
        lambda: session().partial_run_setup([]),
        lambda: session().partial_run_setup([], [a]),
        lambda: session().partial_run_setup([3], [a]),
        lambda: session().partial_run_setup("nope"),
        lambda: session().partial_run_setup([a], [a]),
        lambda: session().partial_run_setup([first], [a, a]),
        lambda: session().partial_run(5, first),
        lambda: type(session().partial_run_setup(first, a)).__name__,
        lambda: type(session().partial_run_setup([first, tf.no_op()], ["a:0", b])).__name__,
        lambda: tf.Session(graph=tf.Graph()).partial_run_setup([first], [a]),
    )


def _sizes_of_sparse(tf):
    sparse = tf.SparseTensor([[0, 1]], [1.0], [2, 3])
    wide = tf.shape(sparse, out_type=tf.int64)
    tensors = [tf.shape(sparse), wide, tf.size(sparse), tf.rank(sparse)]
    nodes = [[n.name, n.op, *n.input] for n in tf.get_default_graph().as_graph_def().node]
    return [tensors, nodes, tf.Session().run(tensors)]


BEHAVIOURS = {
    function.__name__.strip("_"): function
    for function in (_sparse, _slices, _handles, _partial_runs, _sizes_of_sparse)
}
