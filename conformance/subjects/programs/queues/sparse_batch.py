"""Programs of serialized sparse tensors, of sparse tensors maps, and of sparse batches."""

from __future__ import annotations

import importlib

import numpy as np

from sessrun.conformance.subjects.programs.described import attempt, described, run
from sessrun.conformance.subjects.programs.program import Action
from sessrun.conformance.subjects.programs.queues.pipeline import built
from sessrun.spec.cases.objects import Tensor

__all__ = ["BEHAVIOURS"]

_NONE = np.zeros((0, 2), np.int64)


def _sparse(tf, indices=((0, 0), (1, 2)), values=(1.0, 2.0), shape=(2, 3)):
    return tf.SparseTensor(np.array(indices, np.int64), list(values), np.array(shape, np.int64))


def _fed(tf, indices, values, shape) -> dict[str, Tensor]:
    """The three parts as placeholders of unknown shape, with default values."""
    wanted = {
        "sparse_indices": np.array(indices, np.int64),
        "sparse_values": np.array(values, np.float32),
        "sparse_shape": np.array(shape, np.int64),
    }
    return {
        name: tf.placeholder_with_default(tf.constant(value), None)
        for name, value in wanted.items()
    }


_PARTS = (
    ([[0, 0]], [1.0], [2, 3]), ([0, 0], [1.0], [2, 3]), ([[0, 0]], [[1.0]], [2, 3]),
    ([[0, 0]], [1.0], 2), ([[0, 0]], [1.0, 2.0], [2, 3]), ([[0, 0]], [1.0], [2, 3, 4]),
    ([[5, 0]], [1.0], [2, 3]), ([[0, 0], [0, 2], [2, 1]], [1.0, 2.0, 3.0], [3, 3]),
    ([[0], [2]], [1.0, 2.0], [3]), (_NONE, [], [0, 3]), (_NONE, [], [2, 3]),
    ([[1, 0], [0, 0]], [1.0, 2.0], [2, 3]), ([[0, 0]], [1.0], [-2, 3]),
    ([[-1, 0]], [1.0], [2, 3]), (np.zeros((1, 0)), [5.0], []),
)  # fmt: skip


def _adding(tf):
    kinds = (
        tf.raw_ops.AddSparseToTensorsMap,
        tf.raw_ops.AddManySparseToTensorsMap,
        tf.raw_ops.SerializeManySparse,
    )
    return attempt(
        *(
            lambda kind=kind, parts=parts: run(tf, kind(**_fed(tf, *parts)))
            for kind in kinds
            for parts in _PARTS
        )
    )


def _taking(tf):
    raw = tf.raw_ops

    def taken(added, handles=None, dtype=None, name: str = "m"):
        adds = [raw.AddSparseToTensorsMap(**_fed(tf, *parts), shared_name="m") for parts in added]
        with tf.control_dependencies([add.op for add in adds]):
            numbers = tf.stack(adds) if handles is None else tf.constant(handles, tf.int64)
            fed = tf.placeholder_with_default(numbers, None)
            parts = raw.TakeManySparseFromTensorsMap(
                sparse_handles=fed, dtype=dtype or tf.float32, shared_name=name
            )
        return run(tf, list(parts))

    one, other = ([[0, 0]], [1.0], [2, 3]), ([[1, 1], [1, 2]], [3.0, 4.0], [4, 2])
    return attempt(
        lambda: taken([one, other]),
        lambda: taken([one], []),
        lambda: taken([one], [77]),
        lambda: taken([], [0], name="other"),
        lambda: taken([one], dtype=tf.int32),
        lambda: taken([one, ([[1]], [3.0], [4])]),
        lambda: taken([one], 0),
        lambda: taken([(_NONE, [], [2, 3]), other]),
        lambda: taken([one], [[0]]),
        lambda: taken([(np.zeros((1, 0)), [5.0], [])]),
        lambda: taken([one], [0, 0]),
    )


def _in_sessions(tf):
    """Handles of a sparse tensors map are numbered for each session, and are taken once."""
    raw = tf.raw_ops
    add = raw.AddSparseToTensorsMap(**_fed(tf, [[0, 0]], [1.0], [2, 3]), shared_name="m")
    numbers = tf.placeholder(tf.int64)
    take = raw.TakeManySparseFromTensorsMap(
        sparse_handles=numbers, dtype=tf.float32, shared_name="m"
    ).sparse_values
    with tf.Session() as first, tf.Session() as second:
        outcomes = attempt(*[lambda: first.run(add)] * 3)
        outcomes += attempt(
            *(
                lambda fed=fed: first.run(take, {numbers: fed})
                for fed in ([0, 77], [0], [1, 1], [1], [2])
            )
        )
        return outcomes + attempt(lambda: first.run(add), lambda: second.run(add))


def _bytes(tf):
    other = importlib.import_module(
        f"{'sessrun.reference' if 'sessrun' in tf.__name__ else 'tensorflow'}.python.ops.sparse_ops"
    )
    one = lambda: tf.serialize_sparse(_sparse(tf))  # noqa: E731
    rows = lambda: tf.serialize_many_sparse(_sparse(tf))  # noqa: E731
    none = np.zeros((0, 3), object)

    def both(make: Action):
        outputs = make()
        return [described(outputs), run(tf, outputs)]

    makers = (
        one,
        rows,
        lambda: tf.io.serialize_sparse(_sparse(tf), name="n"),
        lambda: tf.deserialize_many_sparse(tf.stack([one(), one()]), tf.float32),
        lambda: tf.deserialize_many_sparse(rows(), tf.float32, rank=2, name="n"),
        lambda: tf.deserialize_many_sparse(rows(), tf.int32),
        lambda: tf.deserialize_many_sparse(tf.constant([["a", "b", "c"]]), tf.float32),
        lambda: tf.deserialize_many_sparse(tf.constant([["a", "b"]]), tf.float32),
        lambda: tf.deserialize_many_sparse(tf.constant(none, tf.string), tf.float32),
        lambda: other.deserialize_sparse(one(), tf.float32),
        lambda: other.deserialize_sparse(rows(), tf.float32, rank=2),
        lambda: other.deserialize_sparse(tf.stack([rows(), rows()]), tf.float32),
        lambda: other.deserialize_sparse(tf.constant(["a", "b"]), tf.float32),
        lambda: other.deserialize_sparse(tf.placeholder_with_default("a", None), tf.float32),
        lambda: tf.serialize_sparse(tf.constant(1)),
        lambda: tf.serialize_many_sparse(1),
        lambda: tf.serialize_sparse(_sparse(tf, values=["a", "bc"])),
        lambda: tf.sparse_retain(_sparse(tf), [True, False]),
        lambda: tf.sparse_retain(_sparse(tf), [False]),
        lambda: tf.sparse_retain(1, [True]),
    )
    return attempt(*(lambda make=make: both(make) for make in makers))


def _batches(tf):
    """The nodes of batches of sparse tensors."""
    train, one = tf.train, (lambda: _sparse(tf))
    hidden = lambda shape: tf.placeholder(tf.bool, shape)  # noqa: E731
    return built(
        tf,
        lambda: train.batch([one(), 1], 2),
        lambda: train.batch([one()], 2),
        lambda: train.batch(one(), 2),
        lambda: train.batch({"a": one(), "b": 1}, 2),
        lambda: train.batch([one(), [7, 8]], 2, enqueue_many=True),
        lambda: train.batch([tf.sparse_placeholder(tf.float32), 1], 2),
        lambda: train.batch([one()], 2, dynamic_pad=True, allow_smaller_final_batch=True),
        lambda: train.maybe_batch([one(), 1], hidden([]), 2),
        lambda: train.maybe_batch([one(), 1], False, 2),
        lambda: train.maybe_batch([one(), [1, 2]], hidden([]), 2, enqueue_many=True),
        lambda: train.maybe_batch([one(), [1, 2]], hidden([2]), 2, enqueue_many=True),
        lambda: train.batch_join([[one(), 1], [one(), 2]], 2),
        lambda: train.batch_join([[one(), 1], [[1.0], 2]], 2),
        lambda: train.batch_join([[[1.0], 2], [one(), 1]], 2),
        lambda: train.shuffle_batch([one(), 1], 2, 20, 5, seed=3),
        lambda: train.shuffle_batch_join([[one()], [one()]], 2, 20, 5, seed=3),
    )


def _fetched_batches(tf):
    """The values of batches of sparse tensors."""
    train = tf.train

    def several(batch, feed=None, count: int = 3):
        with tf.Session() as session:
            coordinator = train.Coordinator()
            threads = train.start_queue_runners(session, coordinator)
            try:
                return [session.run(batch, feed) for _ in range(count)]
            finally:
                coordinator.request_stop()
                coordinator.join(threads)

    def build_and_run(make: Action):
        with tf.Graph().as_default():
            return several(make())

    one = lambda: _sparse(tf)  # noqa: E731
    three = lambda: _sparse(tf, [[0, 1], [2, 0], [2, 2]], ["a", "b", "c"], [3, 4])  # noqa: E731
    makers = (
        lambda: train.batch([one(), 1], 2),
        lambda: train.batch([one()], 3),
        lambda: train.batch([three(), [7, 8, 9]], 3, enqueue_many=True),
        lambda: train.batch([three(), [7, 8, 9]], 2, enqueue_many=True),
        lambda: train.maybe_batch([three(), [7, 8, 9]], [True, True, True], 3, enqueue_many=True),
        lambda: train.batch_join([[one(), 5], [one(), 5]], 2),
    )
    return attempt(*(lambda make=make: build_and_run(make) for make in makers))


BEHAVIOURS = {
    "adding": _adding,
    "batches": _batches,
    "bytes": _bytes,
    "fetched": _fetched_batches,
    "sessions": _in_sessions,
    "taking": _taking,
}
