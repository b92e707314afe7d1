"""Programs of accumulators: nodes, averages, stale gradients, waiting."""

from __future__ import annotations

import threading
from collections.abc import Callable

from sessrun.conformance.subjects.programs.described import attempt
from sessrun.conformance.subjects.programs.program import Plain
from sessrun.spec.cases.objects import Operation, Session

__all__ = ["BEHAVIOURS"]

#: Far longer than any wait here takes: a thread that is blocked longer hangs.
LONG_S = 20.0


def _unknown(tf, value, dtype=None):
    return tf.placeholder_with_default(tf.constant(value, dtype), None)


def _in_turn(tf, *fetches) -> list[Plain]:
    """The values of the fetches, one run after the other in one session, each with a timeout."""
    options = tf.RunOptions(timeout_in_ms=300)
    with tf.Session() as session:
        return attempt(
            *(lambda fetch=fetch: session.run(fetch, options=options) for fetch in fetches)
        )


def _graph(tf):
    with tf.name_scope("outer"):
        dense = tf.ConditionalAccumulator(tf.float32, shape=[2], shared_name="x")
    sparse = tf.SparseConditionalAccumulator(tf.float32)
    slices = tf.IndexedSlices(tf.constant([[1.0]]), tf.constant([1]))
    shaped = tf.IndexedSlices(tf.constant([[1.0]]), tf.constant([1]), tf.constant([3, 1]))
    raw = tf.raw_ops
    older = raw.ConditionalAccumulator(dtype=tf.float32, shape=[2])
    elements = [
        dense.name,
        dense.dtype,
        dense.accumulator_ref,
        dense.apply_grad([1.0, 2.0], local_step=3),
        dense.apply_grad(tf.constant([1.0, 2.0]), name="mine"),
        dense.take_grad(1),
        dense.take_grad(tf.constant(3), name="taken"),
        dense.set_global_step(2),
        dense.num_accumulated(),
        sparse.apply_grad([1, 2], [[1.0], [2.0]], [3, 1], local_step=1),
        sparse.accumulator_ref,
        sparse.apply_indexed_slices_grad(slices),
        sparse.apply_indexed_slices_grad(shaped, local_step=tf.constant(3), name="foo"),
        sparse.take_grad(1),
        sparse.take_indexed_slices_grad(2),
        sparse.set_global_step(tf.constant(1)),
        sparse.num_accumulated(),
        older,
        raw.AccumulatorTakeGradient(handle=older, num_required=1, dtype=tf.float32),
        raw.AccumulatorApplyGradient(handle=older, local_step=1, gradient=[1.0]),
    ]
    nodes = [
        [
            n.name,
            n.op,
            list(n.input),
            list(n.attr["_class"].list.s),
            *(
                f"{key} {value}"
                for key, value in sorted(n.attr.items())
                if key not in {"_class", "value"}
            ),
        ]
        for n in tf.get_default_graph().as_graph_def().node
    ]
    return [attempt(*(lambda part=part: part for part in elements)), nodes]


def _refused_when_built(tf):
    def ref(**options):
        return tf.ConditionalAccumulator(tf.float32, shape=[2], **options).accumulator_ref

    raw = tf.raw_ops
    return attempt(
        lambda: ref(reduction_type="MAX"),
        lambda: tf.ConditionalAccumulator(tf.string),
        lambda: tf.ConditionalAccumulator(tf.float32, shape=[2]).apply_grad([1.0, 2.0, 3.0]),
        lambda: tf.ConditionalAccumulator(tf.float32, shape=[2]).apply_grad([1, 2]).type,
        lambda: tf.ConditionalAccumulator(tf.float32).apply_grad(tf.constant([1, 2])),
        lambda: raw.ResourceAccumulatorSetGlobalStep(handle=ref(), new_global_step=[1]),
        lambda: raw.ResourceAccumulatorTakeGradient(
            handle=ref(), num_required=[1], dtype=tf.float32
        ),
        lambda: raw.ResourceAccumulatorApplyGradient(handle=ref(), local_step=[1], gradient=[1.0]),
        lambda: raw.ResourceAccumulatorNumAccumulated(handle=tf.placeholder(tf.resource, [3])),
        lambda: ref(shared_name="y").shape,
    )


def _dense(tf):
    def of(reduction: str, dtype):
        gathered = tf.ConditionalAccumulator(dtype, shape=[2], reduction_type=reduction)

        def put(values: list[float], step: int = 0):
            return gathered.apply_grad(tf.constant(values, dtype), local_step=step)

        count, take = gathered.num_accumulated(), gathered.take_grad
        return _in_turn(
            tf,
            count,
            put([1, 2]),
            count,
            put([5, 2]),
            count,
            take(2),
            count,
            put([1, 2]),
            count,
            put([9, 9], 2),
            count,
            put([3, 3], 1),
            put([4, 3], 5),
            count,
            take(1),
            take(1),
            gathered.set_global_step(4),
            gathered.set_global_step(1),
            put([9, 9], 3),
            count,
            put([8, 8], 4),
            take(1),
            take(0),
            take(-1),
            put([1, 1], 4),
            count,
            put([1, 1], 5),
            count,
            take(2),
        )

    return [
        of(reduction, dtype)
        for reduction in ("MEAN", "SUM")
        for dtype in (tf.float32, tf.float64, tf.float16)
    ]


def _shapes(tf):
    def given(declared, *gradients):
        gathered = tf.ConditionalAccumulator(tf.float32, shape=declared)
        puts = [gathered.apply_grad(_unknown(tf, value), local_step=9) for value in gradients]
        return _in_turn(tf, *puts, gathered.num_accumulated(), gathered.take_grad(1))

    older = tf.raw_ops.ConditionalAccumulator(dtype=tf.float32, shape=[2], shared_name="o")
    raw = tf.raw_ops

    def of_integers():
        with tf.Graph().as_default():
            return _in_turn(tf, tf.ConditionalAccumulator(tf.int32).num_accumulated())

    return [
        given([2], [1.0, 2.0, 3.0], [1.0, 2.0]),
        given(None, [1.0, 2.0, 3.0], [1.0, 2.0]),
        given([None], [1.0, 2.0, 3.0], [[1.0, 2.0]]),
        given([], 3.0),
        given([2, None], [[1.0]]),
        _in_turn(
            tf,
            older,
            raw.AccumulatorApplyGradient(handle=older, local_step=1, gradient=[1.0, 3.0]),
            raw.AccumulatorNumAccumulated(handle=older),
            raw.AccumulatorTakeGradient(handle=older, num_required=1, dtype=tf.float32),
            raw.AccumulatorSetGlobalStep(handle=older, new_global_step=3),
        ),
        _in_turn(
            tf,
            tf.ConditionalAccumulator(tf.float32).apply_grad(
                1.0, local_step=_unknown(tf, [1], tf.int64)
            ),
        ),
        of_integers(),
    ]


def _sparse(tf):
    def given(*gradients, **options):
        gathered = tf.SparseConditionalAccumulator(tf.float32, **options)
        puts = [gathered.apply_grad(*gradient) for gradient in gradients]
        count = gathered.num_accumulated()
        return _in_turn(tf, *puts, count, gathered.take_grad(1), count, gathered.take_grad(0))

    two = ([0, 2], [[1.0, 1.0], [2.0, 2.0]]), ([1, 2], [[4.0, 4.0], [6.0, 6.0]])
    one = [[1.0], [2.0]]
    return [
        given(*two, shape=[3, 2]),
        given(*two, reduction_type="SUM"),
        given(([0, 0], one)),
        given(([2, 0], one)),
        given(([0, 1, 2], one)),
        given(([0, 1], one, [5, 1])),
        given(([0, 1], one, [5])),
        given(([0, 1], one, [5, 2])),
        given(([0, 1], one, [5, 2]), shape=[5, 1]),
        given(([-1, 1], one)),
        given(([0, 1], [1.0, 2.0])),
        given(([[0, 1]], one)),
        given(([7, 8], one, [5, 1])),
        given(([0, 3], [[1.0, 1.0], [2.0, 2.0]]), shape=[2, 2]),
        given(([0, 1], one), shape=[2, 2]),
        given(([0, 1], [1.0, 2.0]), shape=[2, 2]),
        given(([7, 8], [[1.0, 1.0], [2.0, 1.0]]), shape=[None, 2]),
        given(([7, 8], one), shape=[None, 2]),
        given(([0, 1], one, [2, 1]), shape=[2, 1]),
        given(([0], [[1.0]]), ([1], [[1.0, 2.0]])),
        given(([0], [[1.0]], [3, 1]), ([1], [[1.0]], [4, 1])),
        given(([2, 0], [[1.0], [5.0]]), ([1, 0], [[1.0], [6.0]])),
        given(([0, 2], [[1.0], [5.0]]), ([1, 0], [[1.0], [6.0]])),
        given(([0, 0], [[1.0], [5.0]]), ([0, 1], [[1.0], [6.0]])),
        given(([0, 2], [[1.0], [5.0]]), ([0, 2, 4], [[1.0], [6.0], [1.0]])),
        given(([0], [[1.0]], [3, 1], 4), ([1], [[1.0]], None, 0)),
    ]


def _waits(tf):
    """`take_grad` waits for enough gradients, or until the session is closed."""

    def given(finish: Callable[[Session, Operation], None], *wanted: int):
        gathered = tf.ConditionalAccumulator(tf.float32, shape=[])
        fetches = [gathered.take_grad(count) for count in wanted]
        put = gathered.apply_grad(2.0, local_step=100)
        session, results = tf.Session(), [None] * len(fetches)

        def take(index: int) -> None:
            results[index] = attempt(lambda: session.run(fetches[index]))[0]

        threads = [threading.Thread(target=take, args=(index,)) for index in range(len(fetches))]
        for thread in threads:
            thread.start()
        threading.Event().wait(0.2)
        finish(session, put)
        for thread in threads:
            thread.join(LONG_S)
        return results

    def puts(count: int) -> Callable[[Session, Operation], None]:
        return lambda session, put: [session.run(put) for _ in range(count)] and None

    closed = given(lambda session, _: session.close(), 1, 1)
    return [given(puts(2), 2), given(puts(4), 2, 2), closed]


BEHAVIOURS = {
    "graph": _graph,
    "refused_when_built": _refused_when_built,
    "dense": _dense,
    "shapes": _shapes,
    "sparse": _sparse,
    "waits": _waits,
}
