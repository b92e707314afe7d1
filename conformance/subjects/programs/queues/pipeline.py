"""Programs of input pipelines: nodes, collections, queue runners, errors."""

from __future__ import annotations

import numpy as np

from sessrun.conformance.subjects.programs.described import attempt
from sessrun.conformance.subjects.programs.program import Action

__all__ = ["BEHAVIOURS", "built"]

_IMPLIED = {"_output_shapes", "T"}


def _nodes(graph):
    return [
        [
            node.name,
            node.op,
            node.device,
            *node.input,
            {key: str(value) for key, value in node.attr.items() if key not in _IMPLIED},
        ]
        for node in graph.as_graph_def().node
    ]


def built(tf, *makers: Action):
    """What each function builds in a graph of its own: nodes, collections, queue runners."""

    def build(make: Action):
        with tf.Graph().as_default() as graph:
            output = make()
            if hasattr(output, "queue_ref"):
                output = [type(output).__name__, output.queue_ref, output.dtypes, output.shapes]
            runners = graph.get_collection(tf.GraphKeys.QUEUE_RUNNERS)
            locals_ = graph.get_collection(tf.GraphKeys.LOCAL_VARIABLES)
            return [
                output,
                _nodes(graph),
                graph.get_collection(tf.GraphKeys.SUMMARIES),
                [variable.name for variable in locals_],
                [
                    [
                        runner.name,
                        [op.name for op in runner.enqueue_ops],
                        runner.close_op.name,
                        runner.cancel_op.name,
                    ]
                    for runner in runners
                ],
            ]

    return attempt(*(lambda make=make: build(make) for make in makers))


def _producers(tf):
    train = tf.train
    hidden = lambda: tf.placeholder(tf.int32)  # noqa: E731
    return built(
        tf,
        lambda: train.string_input_producer(["a", "b"]),
        lambda: train.string_input_producer(
            tf.constant(["a", "b"]), 2, False, 3, 5, shared_name="shared", name="named"
        ),
        lambda: train.string_input_producer([]),
        lambda: train.string_input_producer(["a"], seed=7, num_epochs=1),
        lambda: train.string_input_producer(tf.placeholder(tf.string), shuffle=False),
        lambda: train.input_producer([[1.0, 2.0], [3.0, 4.0]]),
        lambda: train.input_producer(hidden(), [2], shuffle=False, summary_name="full"),
        lambda: train.input_producer(hidden()),
        lambda: train.input_producer(tf.constant(1)),
        lambda: train.input_producer(np.zeros((3, 2)), cancel_op=tf.no_op(), name="n"),
        lambda: train.input_producer(tf.constant([1, 2]), [3]),
        lambda: train.range_input_producer(5, num_epochs=2),
        lambda: train.slice_input_producer([tf.constant([1, 2, 3]), ["a", "b", "c"]], 1, False),
        lambda: train.slice_input_producer([]),
        lambda: train.limit_epochs(tf.constant(["a"]), 3),
        lambda: train.limit_epochs("a"),
        lambda: train.limit_epochs("a", 0),
        lambda: train.limit_epochs("a", 1, name="n"),
        lambda: train.match_filenames_once("/nowhere/x*").name,
        lambda: train.match_filenames_once(["/nowhere/x*", "y"], name="n").name,
    )


def _batches(tf):
    train = tf.train
    one, pair = (lambda: tf.constant(1.0)), (lambda: tf.constant([1, 2]))
    loose = lambda shape=None: tf.placeholder(tf.float32, shape)  # noqa: E731
    return built(
        tf,
        lambda: train.batch([one(), pair()], 3),
        lambda: train.batch(one(), 3),
        lambda: train.batch(
            [one()], 3, 2, 5, allow_smaller_final_batch=True, name="n", shared_name="s"
        ),
        lambda: train.batch({"b": one(), "a": pair()}, 3),
        lambda: train.batch({"b": one()}, 3),
        lambda: train.batch([pair(), pair()], 3, enqueue_many=True),
        lambda: train.batch([loose([None])], 3, dynamic_pad=True),
        lambda: train.batch([loose([None])], 3),
        lambda: train.batch([loose()], 3),
        lambda: train.batch([loose()], 3, shapes=[[2]]),
        lambda: train.batch([loose()], 3, shapes=[2]),
        lambda: train.batch([], 3),
        lambda: train.batch([1, "a"], 3),
        lambda: train.batch([one()], tf.placeholder(tf.int32, [])),
        lambda: train.batch([one()], 3, capacity=2),
        lambda: train.shuffle_batch([one()], 3, 20, 5),
        lambda: train.shuffle_batch([one()], 3, 5, 5),
        lambda: train.shuffle_batch(
            [one()], 3, 20, 5, 2, 3, allow_smaller_final_batch=True, name="q"
        ),
        lambda: train.batch_join([[one()], [one()]], 3),
        lambda: train.batch_join([], 3),
        lambda: train.batch_join([{"x": one()}, {"x": one()}], 3, allow_smaller_final_batch=True),
        lambda: train.batch_join([{"x": one()}, {"y": one()}], 3),
        lambda: train.batch_join([[one()], [pair()[0]]], 3),
        lambda: train.batch_join([[loose([2])], [loose([3])]], 3),
        lambda: train.batch_join([[loose([2])], [loose([None])]], 3, dynamic_pad=True),
        lambda: train.batch_join([[loose([None])], [loose([2])]], 3, dynamic_pad=True),
        lambda: train.batch_join([[loose([None])], [loose([2])]], 3),
        lambda: train.batch_join([[one()], one()], 3),
        lambda: train.shuffle_batch_join([[one()], [one()]], 3, 20, 5, seed=1),
    )


def _kept_batches(tf):
    train = tf.train
    one, yes, no = (lambda: tf.constant(1.0)), (lambda: tf.constant(True)), False
    return built(
        tf,
        lambda: train.maybe_batch([one()], yes(), 3),
        lambda: train.maybe_batch([one()], no, 3),
        lambda: train.maybe_batch(
            [tf.constant([1.0, 2.0])], tf.constant([True, False]), 3, enqueue_many=True
        ),
        lambda: train.maybe_batch([one()], tf.constant([True]), 3),
        lambda: train.maybe_batch([one()], tf.placeholder(tf.bool), 3),
        lambda: train.maybe_batch([one()], [[True]], 3, enqueue_many=True),
        lambda: train.maybe_batch([one()], tf.placeholder(tf.bool, []), 3, num_threads=2),
        lambda: train.maybe_batch_join([[one()], [one()]], yes(), 3),
        lambda: train.maybe_shuffle_batch([one()], 3, 20, 5, no),
        lambda: train.maybe_shuffle_batch_join([[one()]], 3, 20, 5, yes()),
    )


def _run(tf, make: Action, steps: int):
    """The values of a pipeline with a coordinator and queue runners, to its end."""
    with tf.Graph().as_default():
        output = make()
        with tf.Session() as session:
            session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
            coordinator = tf.train.Coordinator()
            threads = tf.train.start_queue_runners(session, coordinator)
            outcomes = attempt(*(lambda: session.run(output) for _ in range(steps)))
            coordinator.request_stop()
            joined = attempt(lambda: coordinator.join(threads, stop_grace_period_secs=20))
            return [outcomes, joined]


def _running(tf):
    train = tf.train

    def rows():
        return train.slice_input_producer([tf.range(7), tf.range(7) * 10], 2, shuffle=False)

    def padded():
        count = train.range_input_producer(5, 1, shuffle=False).dequeue()
        return train.batch([tf.range(count)], 3, dynamic_pad=True, allow_smaller_final_batch=True)

    def some():
        count = train.range_input_producer(6, 1, shuffle=False).dequeue_many(6)
        return train.maybe_batch([count], tf.equal(count % 2, 0), 3, enqueue_many=True)

    def odd():
        count = train.range_input_producer(6, 1, shuffle=False).dequeue()
        return train.maybe_batch([count], tf.equal(count % 2, 1), 3)

    return [
        _run(tf, lambda: train.string_input_producer(["a", "b"], 2, False).dequeue(), 5),
        _run(tf, lambda: train.batch(rows(), 4), 4),
        _run(tf, lambda: train.batch(rows(), 4, allow_smaller_final_batch=True), 5),
        _run(tf, padded, 3),
        _run(tf, some, 2),
        _run(tf, odd, 2),
        _run(tf, lambda: train.limit_epochs(tf.constant([1, 2]), 2), 3),
        _run(tf, lambda: train.string_input_producer(tf.zeros([0], tf.string)).dequeue(), 1),
    ]


BEHAVIOURS = {
    f"pipelines_{function.__name__.strip('_')}": function
    for function in (_producers, _batches, _kept_batches, _running)
}
