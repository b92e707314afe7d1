"""Programs of queues: nodes, enqueue and dequeue, closing, waiting in threads."""

from __future__ import annotations

import threading

import numpy as np

from sessrun.conformance.subjects.programs.described import attempt
from sessrun.conformance.subjects.programs.program import Action

__all__ = ["BEHAVIOURS"]

#: Far longer than any wait here takes: a thread that is blocked longer hangs.
LONG_S = 20.0


def _timed(tf, milliseconds: int = 300):
    return tf.RunOptions(timeout_in_ms=milliseconds)


def _constructed(tf):
    f32, i32 = tf.float32, tf.int32
    return attempt(
        lambda: tf.FIFOQueue(10, [f32], names=["a", "b"]),
        lambda: tf.FIFOQueue(10, [f32, i32], shapes=[[1]]),
        lambda: tf.FIFOQueue(10, [f32], shapes=[None]),
        lambda: tf.FIFOQueue(10, [f32], shapes=[[None]]),
        lambda: tf.PaddingFIFOQueue(10, [f32], shapes=[[None]]).shapes,
        lambda: tf.PaddingFIFOQueue(10, [f32], shapes=None),
        lambda: tf.PaddingFIFOQueue(10, [f32], shapes=[tf.TensorShape(None)]),
        lambda: tf.PriorityQueue(10, [tf.string], shapes=[[]]).dtypes,
        lambda: tf.FIFOQueue(10, f32).shapes,
        lambda: tf.FIFOQueue(10, [f32, i32], names=["a", "b"], shared_name="s").queue_ref.name,
        lambda: sorted(n for n in dir(tf.FIFOQueue) if not n.startswith("_")),
    )


def _graph(tf):
    with tf.name_scope("outer"), tf.container("box"):
        queue = tf.FIFOQueue(3, [tf.float32, tf.int32], shapes=[[2], []], name="q")
    queue.enqueue([[1.0, 2.0], 3])
    queue.enqueue_many([[[1.0, 2.0]], [3]], name="many")
    queue.dequeue(name="one")
    queue.dequeue_many(2)
    queue.dequeue_up_to(2)
    queue.size()
    queue.is_closed()
    queue.close()
    queue.close(cancel_pending_enqueues=True, name="end")
    tf.RandomShuffleQueue(10, 2, [tf.float32], shapes=[[]], seed=3)
    tf.PriorityQueue(10, tf.string, shapes=[[]])
    tf.PaddingFIFOQueue(10, tf.string, shapes=[[None]])
    return [queue.name, queue.dtypes, queue.names, [str(shape) for shape in queue.shapes]]


def _put_and_taken(tf):
    named = tf.FIFOQueue(10, [tf.float32, tf.int32], names=["a", "b"])
    plain = tf.FIFOQueue(10, [tf.float32, tf.int32])
    single = tf.FIFOQueue(10, tf.float32)
    shaped = tf.FIFOQueue(10, tf.float32, shapes=[[2]])
    return attempt(
        *(
            lambda value=value: named.enqueue(value).type
            for value in ({"a": 1.0}, {"a": 1.0, "b": 2, "c": 3}, [1.0, 2], {"a": 1.0, "b": 2})
        ),
        *(
            lambda value=value: plain.enqueue(value).type
            for value in ({"a": 1.0}, 1.0, (1.0,), (1.0, 2, 3), (1.0, "x"), (1, 2), (1.0, 2.0))
        ),
        *(
            lambda value=value: plain.enqueue_many(value).type
            for value in (1.0, ([1.0],), ([1.0], 2), ([1.0], [2]), ([1.0], [2, 3]))
        ),
        *(
            lambda value=value: single.enqueue(value).inputs[1].shape.as_list()
            for value in (1.0, [1.0], [1.0, 2.0], [[1.0, 2.0]], (1.0,))
        ),
        lambda: shaped.enqueue([[1.0, 2.0, 3.0]]),
        lambda: shaped.dequeue_many(-1),
        lambda: str(shaped.dequeue_many(tf.constant(2)).shape),
        lambda: str(shaped.dequeue_many(tf.placeholder(tf.int32)).shape),
        lambda: str(shaped.dequeue_up_to(3).shape),
        lambda: sorted(named.dequeue()),
        lambda: [str(tensor.dtype) for tensor in plain.dequeue()],
    )


def _first_in_first_out(tf):
    queue = tf.FIFOQueue(5, [tf.int32, tf.string], shapes=[[], []])
    rows = queue.enqueue_many([[1, 2, 3], ["a", "b", "c"]])
    one, two, size = queue.dequeue(), queue.dequeue_many(2), queue.size()
    with tf.Session() as first, tf.Session() as second:
        first.run(rows)
        return [
            first.run(size),
            second.run(size),
            first.run(one),
            first.run(two),
            first.run(size),
            first.run(queue.dequeue_many(0)),
        ]


def _closed(tf):
    queue = tf.FIFOQueue(10, tf.float32, shapes=[()])
    close, cancel = queue.close(), queue.close(cancel_pending_enqueues=True)
    wants = [
        queue.dequeue_many(4),
        queue.is_closed(),
        queue.dequeue_up_to(5),
        queue.dequeue_up_to(5),
        queue.dequeue(),
        queue.dequeue_many(1),
        queue.dequeue_many(0),
        queue.enqueue(1.0),
        queue.enqueue_many([[1.0]]),
        queue.enqueue_many([np.zeros([0])]),
        close,
        cancel,
        cancel,
        close,
        queue.size(),
    ]
    with tf.Session() as sess:
        sess.run(queue.enqueue_many([[1.0, 2.0, 3.0]]))
        sess.run(close)
        return attempt(*(lambda want=want: sess.run(want) for want in wants))


def _shapes_at_run_time(tf):
    queue = tf.FIFOQueue(10, tf.float32, shapes=[[2]])
    loose = tf.FIFOQueue(10, tf.float32)
    value = tf.placeholder(tf.float32)
    put, rows, few = queue.enqueue(value), queue.enqueue_many(value), loose.dequeue_many(1)
    with tf.Session() as sess:
        return attempt(
            lambda: sess.run(put, {value: [1.0, 2.0]}),
            lambda: sess.run(put, {value: [1.0, 2.0, 3.0]}),
            lambda: sess.run(rows, {value: np.ones([2, 2])}),
            lambda: sess.run(rows, {value: np.ones([2, 3])}),
            lambda: sess.run(queue.size()),
            lambda: sess.run(few),
        )


def _padded(tf):
    queue = tf.PaddingFIFOQueue(10, [tf.int32, tf.string], shapes=[(None,), (None,)])
    numbers = tf.placeholder(tf.int32, [None])
    words = tf.placeholder(tf.string, [None])
    put, take, rest = queue.enqueue([numbers, words]), queue.dequeue_many(2), queue.dequeue_up_to(1)
    with tf.Session() as sess:
        sess.run(put, {numbers: [1], words: ["a", "b"]})
        sess.run(put, {numbers: [1, 2, 3], words: ["c"]})
        sess.run(put, {numbers: [4], words: ["d"]})
        return [sess.run(take), sess.run(rest), sess.run(queue.dequeue_many(0))]


def _by_priority(tf):
    queue = tf.PriorityQueue(10, [tf.string], [[]])
    ranks = np.array([3, 1, 2, -1], np.int64)
    with tf.Session() as sess:
        sess.run(queue.enqueue_many([ranks, ["c", "a", "b", "first"]]))
        return [sess.run(queue.dequeue()), sess.run(queue.dequeue_many(3))]


def _shuffled(tf):
    queue = tf.RandomShuffleQueue(20, 2, tf.int32, [[]], seed=3)
    with tf.Session() as sess:
        sess.run(queue.enqueue_many([list(range(10))]))
        taken = sess.run(queue.dequeue_many(8))
        kept = attempt(lambda: sess.run(queue.dequeue(), options=_timed(tf)))
        sess.run(queue.close())
        rest = sess.run(queue.dequeue_many(2))
        return [sorted({*taken.tolist(), *rest.tolist()}), kept]


def _in_a_thread(work: Action) -> Action:
    """Start `work` in a thread; the result is a function that waits for its outcome."""
    outcomes = []
    thread = threading.Thread(target=lambda: outcomes.append(attempt(work)), daemon=True)
    thread.start()
    thread.join(0.3)

    def joined():
        thread.join(LONG_S)
        return outcomes[0] if outcomes else "still blocked"

    return joined


def _waiting(tf):
    queue = tf.FIFOQueue(1, tf.float32, shapes=[()])
    put, take, size = queue.enqueue(1.0), queue.dequeue(), queue.size()
    with tf.Session() as sess:
        taker = _in_a_thread(lambda: sess.run(take))
        sess.run(put)
        taken = taker()
        sess.run(put)
        putter = _in_a_thread(lambda: sess.run(put))
        held = sess.run(size)
        sess.run(take)
        return [taken, held, putter(), sess.run(size)]


def _closed_while_waiting(tf):
    queue = tf.FIFOQueue(1, tf.float32, shapes=[()])
    put, take, end = queue.enqueue(1.0), queue.dequeue(), queue.close()
    with tf.Session() as sess:
        sess.run(put)
        putter = _in_a_thread(lambda: sess.run(put))
        closer = _in_a_thread(lambda: sess.run(end))
        open_still = sess.run(queue.is_closed())
        values = [sess.run(take), putter(), closer(), sess.run(take)]
        return [open_still, values, attempt(lambda: sess.run(take))]


def _cancelled_while_waiting(tf):
    queue = tf.FIFOQueue(2, tf.float32, shapes=[()])
    rows = queue.enqueue_many([[1.0, 2.0, 3.0, 4.0]])
    end = queue.close(cancel_pending_enqueues=True)
    with tf.Session() as sess:
        putter = _in_a_thread(lambda: sess.run(rows))
        first = sess.run(queue.dequeue())
        sess.run(end)
        return [first, putter(), sess.run(queue.dequeue_up_to(5))]


def _ended_while_waiting(tf):
    queue = tf.FIFOQueue(1, tf.float32, shapes=[()])
    take, end = queue.dequeue(), queue.close()
    with tf.Session() as sess:
        taker = _in_a_thread(lambda: sess.run(take))
        sess.run(end)
        closed_queue = taker()
    other = tf.FIFOQueue(1, tf.float32, shapes=[()])
    sess = tf.Session()
    taker = _in_a_thread(lambda: sess.run(other.dequeue()))
    sess.close()
    return [closed_queue, taker()]


def _timeouts(tf):
    queue = tf.FIFOQueue(1, tf.float32, shapes=[()])
    put, take = queue.enqueue(1.0), queue.dequeue()
    config = tf.ConfigProto(operation_timeout_in_ms=300)
    with tf.Session() as sess, tf.Session(config=config) as hasty:
        return [
            attempt(lambda: sess.run(take, options=_timed(tf))),
            attempt(lambda: hasty.run(take)),
            sess.run(put, options=_timed(tf, 20000)),
            sess.run(take, options=_timed(tf, 20000)),
        ]


def _in_one_run(tf):
    """Operations of one run execute in no order: a dequeue may wait for an enqueue built later."""
    queue = tf.FIFOQueue(1, tf.int32, shapes=[()])
    other = tf.FIFOQueue(1, tf.int32, shapes=[()])
    take = queue.dequeue()
    back = other.enqueue(take + 1)
    there = other.dequeue()
    put = queue.enqueue(5)
    with tf.Session() as sess:
        return [
            sess.run([take, put]),
            sess.run([put, there, back]),
            attempt(lambda: sess.run([take, there], options=_timed(tf))),
        ]


def _shared(tf):
    first = tf.FIFOQueue(10, tf.float32, shapes=[()], shared_name="y")
    second = tf.FIFOQueue(10, tf.float32, shapes=[()], shared_name="y", name="other")
    others = [
        tf.FIFOQueue(11, tf.float32, shapes=[()], shared_name="y"),
        tf.FIFOQueue(0, tf.float32, shapes=[()], shared_name="y"),
        tf.FIFOQueue(-1, tf.float32, shapes=[()], shared_name="y"),
        tf.FIFOQueue(10, tf.int32, shapes=[()], shared_name="y"),
        tf.PaddingFIFOQueue(10, tf.float32, shapes=[()], shared_name="y"),
        tf.FIFOQueue(10, tf.float32, shared_name="y"),
    ]
    others += [
        tf.RandomShuffleQueue(9, reserve, tf.float32, shapes=[()], seed=seed, shared_name="z")
        for reserve, seed in ((2, 5), (2, 5), (2, 6), (3, 5))
    ]
    chosen = tf.placeholder(tf.int32)
    third = tf.FIFOQueue(10, tf.float32, shapes=[()])
    either = tf.QueueBase.from_list(chosen, [first, third]).size()
    with tf.Session() as sess:
        sess.run(first.enqueue(7.0))
        sizes = [sess.run(either, {chosen: index}) for index in (0, 1)]
        taken = sess.run(second.dequeue())
        wrong = attempt(*(lambda queue=queue: sess.run(queue.size()) for queue in others))
        return [sizes, taken, wrong]


def _terms(tf):
    """Arguments of queues, and queues that share a name."""
    raw, shape = tf.raw_ops, tf.TensorShape
    queues = [
        *(
            tf.RandomShuffleQueue(capacity, reserve, tf.int32, [[]])
            for capacity, reserve in ((5, 5), (5, 6), (5, -1), (-1, 3), (5, 4))
        ),
        tf.FIFOQueue(4, tf.int32, shared_name="_x"),
        tf.FIFOQueue(4, tf.int32, shared_name="a b"),
    ]
    for container in ("a b", "a_b", "-a", "a/b.c-d"):
        with tf.container(container):
            queues.append(tf.FIFOQueue(4, tf.int32, shared_name="q"))
    handles = [queue.queue_ref for queue in queues]
    handles += [
        raw.PaddingFIFOQueueV2(component_types=[tf.int32], shapes=[shape(None)]),
        raw.PaddingFIFOQueueV2(component_types=[tf.int32]),
        raw.FIFOQueueV2(component_types=[tf.int32], shapes=[shape([None])]),
        raw.FIFOQueueV2(component_types=[tf.int32], shapes=[[2], [2]]),
    ]
    handles += [
        raw.PaddingFIFOQueueV2(component_types=[tf.int32], shapes=[shape(sizes)], shared_name="p")
        for sizes in ([None], [2], [None, None])
    ]
    named, shared = (
        tf.FIFOQueue(4, tf.int32, [[]], name="n"),
        tf.FIFOQueue(4, tf.int32, [[]], shared_name="n"),
    )
    with tf.Session() as sess:
        sess.run(named.enqueue(1))
        sizes = [sess.run([named.size(), shared.size()])]
        sizes += [attempt(lambda at=at: sess.run(raw.QueueSizeV2(handle=at))) for at in handles]
    return [sizes, attempt(lambda: tf.PriorityQueue(3, [tf.int32]))]


def _order_of_a_seed(tf):
    queue = tf.RandomShuffleQueue(500, 3, tf.int32, [[]], seed=7)
    rows, some = queue.enqueue_many([list(range(400))]), queue.dequeue_many(300)
    with tf.Session() as sess:
        sess.run(rows)
        first = sess.run(some)
        sess.run(rows)
        return [first, sess.run(some)]


def _seeds_of_a_shared_name(tf):
    """The seeds of a queue with a shared name depend on the graph's seed and on that name only."""

    def seeds(seed: int | None, shared_name: str | None) -> list[int]:
        queue = tf.RandomShuffleQueue(9, 2, tf.int32, [[]], seed=seed, shared_name=shared_name)
        return [queue.queue_ref.op.get_attr(name) for name in ("seed", "seed2")]

    results = [seeds(None, "s")]
    for graph_seed in (87654321, 0, -3):
        tf.set_random_seed(graph_seed)
        results += [seeds(seed, name) for seed in (None, 5) for name in (None, "", "s", "s", "é")]
    one, other = (tf.RandomShuffleQueue(4, 0, tf.int32, [[]], shared_name="t") for _ in range(2))
    with tf.Session() as sess:
        sess.run(one.enqueue(8))
        return [results, sess.run(other.dequeue())]


def _many_by_priority(tf):
    """`dequeue_many` of a priority queue waits for enough elements and takes the smallest ones."""
    queue = tf.PriorityQueue(5, tf.int32, [[]])
    rank = tf.placeholder(tf.int64, [])
    put, three, size = queue.enqueue([rank, 7]), queue.dequeue_many(3), queue.size()
    with tf.Session() as sess:
        taker = _in_a_thread(lambda: sess.run(three))
        for priority in (9, 1):
            sess.run(put, {rank: priority})
        held = sess.run(size)
        sess.run(put, {rank: 5})
        return [held, taker()]


BEHAVIOURS = {
    "queues_terms": _terms,
    "queues_order_of_a_seed": _order_of_a_seed,
    "queues_seeds_of_a_shared_name": _seeds_of_a_shared_name,
    "queues_many_by_priority": _many_by_priority,
    "queues_made": _constructed,
    "queues_graph": _graph,
    "queues_put_and_taken": _put_and_taken,
    "queues_first_in_first_out": _first_in_first_out,
    "queues_closed": _closed,
    "queues_shapes_at_run_time": _shapes_at_run_time,
    "queues_padded": _padded,
    "queues_by_priority": _by_priority,
    "queues_shuffled": _shuffled,
    "queues_waiting": _waiting,
    "queues_closed_while_waiting": _closed_while_waiting,
    "queues_cancelled_while_waiting": _cancelled_while_waiting,
    "queues_ended_while_waiting": _ended_while_waiting,
    "queues_timeouts": _timeouts,
    "queues_in_one_run": _in_one_run,
    "queues_shared": _shared,
}
