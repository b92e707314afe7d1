"""Vectors of QUEUES: the order of elements, what a session keeps, closed queues, shapes."""

from __future__ import annotations

import numpy as np

from sessrun.conformance.authoring.record import ApiAuthor, EngineAuthor, api_case, engine_case
from sessrun.conformance.subjects.concurrency.cases.run_threads import started

#: Three elements in no order of their own.
_MIXED = np.array([3, 1, 2], np.int32)


@engine_case("QUEUES-001", title="Elements come out one by one as they went in.")
def first_in_first_out(c: EngineAuthor) -> None:
    s = started(c)
    for value in (3, 1, 2):
        s.run(["put"], {"x:0": np.int32(value)}, values=[None])
    for value in (3, 1, 2):
        s.run(["take:0"], values=[np.int32(value)])


@engine_case("QUEUES-001", title="A batch that went in comes out in its order, as does another.")
def batches_keep_their_order(c: EngineAuthor) -> None:
    s = started(c)
    s.run(["puts"], {"xs:0": _MIXED}, values=[None])
    s.run(["puts"], {"xs:0": _MIXED[:2] + 10}, values=[None])
    s.run(["takes:0"], {"n:0": np.int32(4)}, values=[np.array([3, 1, 2, 13], np.int32)])
    s.run(["take:0"], values=[np.int32(11)])


@engine_case("QUEUES-002", title="An element outlives runs that have nothing to do with its queue.")
def elements_outlive_runs(c: EngineAuthor) -> None:
    s = started(c)
    s.run(["put"], {"x:0": np.int32(7)}, values=[None])
    s.run(["sum:0"], {"x:0": np.int32(1)}, values=[np.int32(2)])
    s.run(["size:0"], values=[np.int32(1)])
    s.run(["take:0"], values=[np.int32(7)])


@engine_case("QUEUES-003", title="What one session enqueues is not in another session's queue.")
def sessions_have_their_own_queues(c: EngineAuthor) -> None:
    first = started(c)
    second = c.open(session="second")
    first.run(["puts"], {"xs:0": _MIXED}, values=[None])
    second.run(["size:0"], values=[np.int32(0)])
    second.run(["put"], {"x:0": np.int32(7)}, values=[None])
    second.run(["take:0"], values=[np.int32(7)])
    first.run(["size:0"], values=[np.int32(3)])


@api_case("QUEUES-003", title="Two sessions of one Graph have separate queues, closed separately.")
def two_sessions_of_one_graph(c: ApiAuthor) -> None:
    tf = c.tf
    queue = tf.FIFOQueue(4, tf.int32, shapes=[[]])
    put, size, closed = queue.enqueue(5), queue.size(), queue.is_closed()
    close = queue.close()
    first, second = tf.Session(), tf.Session()
    first.run(put)
    first.run(close)
    c.check(second.run(size), np.int32(0))
    c.check(second.run(closed), np.bool_(0))
    c.check(first.run([size, closed]), [np.int32(1), np.bool_(1)])


# --- closed queues ------------------------------------------------------------------------


@engine_case("QUEUES-004", title="An enqueue on a closed queue fails with code 1.")
def an_enqueue_on_a_closed_queue(c: EngineAuthor) -> None:
    s = started(c)
    s.run(["close"], values=[None])
    s.run(["put"], {"x:0": np.int32(7)}, error=[1])
    s.run(["puts"], {"xs:0": _MIXED}, error=[1])
    s.run(["size:0"], values=[np.int32(0)])


@api_case("QUEUES-004", title="An enqueue on a closed queue is CancelledError.")
def an_enqueue_is_cancelled(c: ApiAuthor) -> None:
    queue = c.tf.FIFOQueue(4, c.tf.int32)
    put, close = queue.enqueue(5), queue.close(cancel_pending_enqueues=True)
    sess = c.tf.Session()
    sess.run(close)
    c.raises("CancelledError", lambda: sess.run(put))


@engine_case("QUEUES-005", title="A dequeue on a closed and empty queue fails with code 11.")
def a_dequeue_on_a_closed_queue(c: EngineAuthor) -> None:
    s = started(c)
    s.run(["put"], {"x:0": np.int32(7)}, values=[None])
    s.run(["close"], values=[None])
    s.run(["take:0"], values=[np.int32(7)])
    s.run(["take:0"], error=[11])
    s.run(["takes:0"], {"n:0": np.int32(1)}, error=[11])


@api_case("QUEUES-005", title="A dequeue on a closed and empty queue is OutOfRangeError.")
def a_dequeue_is_out_of_range(c: ApiAuthor) -> None:
    queue = c.tf.FIFOQueue(4, c.tf.int32)
    taken, close = queue.dequeue(), queue.close()
    sess = c.tf.Session()
    sess.run(close)
    c.raises("OutOfRangeError", lambda: sess.run(taken))


@engine_case("QUEUES-006", title="A plain close leaves the elements, to be taken as ever.")
def a_plain_close_leaves_the_elements(c: EngineAuthor) -> None:
    s = started(c)
    s.run(["puts"], {"xs:0": _MIXED}, values=[None])
    s.run(["close"], values=[None])
    s.run(["size:0"], values=[np.int32(3)])
    s.run(["take:0"], values=[np.int32(3)])
    s.run(["takes:0"], {"n:0": np.int32(2)}, values=[_MIXED[1:]])


@engine_case("QUEUES-006", title="A cancelling close leaves the elements too.")
def a_cancelling_close_leaves_the_elements(c: EngineAuthor) -> None:
    s = started(c)
    s.run(["puts"], {"xs:0": _MIXED}, values=[None])
    s.run(["cancel"], values=[None])
    s.run(["takes:0"], {"n:0": np.int32(3)}, values=[_MIXED])


@engine_case("QUEUES-011", title="Closing a queue a second time fails with code 1.")
def closing_twice(c: EngineAuthor) -> None:
    s = started(c)
    s.run(["close"], values=[None])
    s.run(["close"], error=[1])


# --- shapes -------------------------------------------------------------------------------


@engine_case("QUEUES-012", title="An element of another shape fails with code 3, and is not in.")
def an_element_of_another_shape(c: EngineAuthor) -> None:
    with c.graph() as tf:
        queue = tf.FIFOQueue(4, tf.float32, shapes=[[2]], name="queue")
        value = tf.placeholder(tf.float32, name="value")
        queue.enqueue(value, name="put")
        queue.enqueue_many(value, name="puts")
        queue.size(name="size")
        queue.dequeue(name="take")
    s = c.open()
    s.run(["put"], {"value:0": np.ones(3, np.float32)}, error=[3])
    s.run(["put"], {"value:0": np.float32(1)}, error=[3])
    s.run(["puts"], {"value:0": np.ones((2, 3), np.float32)}, error=[3])
    s.run(["size:0"], values=[np.int32(0)])
    s.run(["put"], {"value:0": np.ones(2, np.float32)}, values=[None])
    s.run(["take:0"], values=[np.ones(2, np.float32)])


@api_case("QUEUES-012", title="An element whose known shape contradicts the queue's is ValueError.")
def an_element_of_another_known_shape(c: ApiAuthor) -> None:
    queue = c.tf.FIFOQueue(4, c.tf.float32, shapes=[[2]])
    c.raises("ValueError", lambda: queue.enqueue(c.tf.zeros([3])))
