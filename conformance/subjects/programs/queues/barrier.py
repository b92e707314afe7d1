"""Programs of barriers: nodes, completed elements, closing, waiting."""

from __future__ import annotations

import importlib
import threading

from sessrun.conformance.subjects.programs.described import attempt
from sessrun.conformance.subjects.programs.program import Plain
from sessrun.spec.cases.objects import Tensor

__all__ = ["BEHAVIOURS"]

#: Far longer than any wait here takes: a thread that is blocked longer hangs.
LONG_S = 20.0


def _barrier(tf, types=None, shapes=((), ()), **options):
    package = "tensorflow" if "tensorflow" in tf.__name__ else "sessrun.reference"
    module = importlib.import_module(f"{package}.python.ops.data_flow_ops")
    return module.Barrier(types or (tf.float32, tf.float32), shapes=shapes, **options)


def _in_turn(tf, *fetches) -> list[Plain]:
    options = tf.RunOptions(timeout_in_ms=200)
    with tf.Session() as session:
        return attempt(
            *(lambda fetch=fetch: session.run(fetch, options=options) for fetch in fetches)
        )


def _sizes(barrier) -> list[Tensor]:
    return [barrier.ready_size(), barrier.incomplete_size()]


def _graph(tf):
    with tf.name_scope("outer"):
        barrier = _barrier(tf, shapes=((), (2,)), name="B")
    single = _barrier(tf, tf.string, None, shared_name="q")
    elements = [
        barrier.name,
        barrier.barrier_ref,
        barrier.insert_many(0, ["a", "b"], [1.0, 2.0]),
        barrier.take_many(2),
        barrier.take_many(1, allow_small_batch=True),
        barrier.take_many(tf.placeholder(tf.int32, [])),
        single.take_many(3, name="taken"),
        barrier.close(),
        barrier.close(cancel_pending_enqueues=True, name="end"),
        *_sizes(barrier),
        single.barrier_ref,
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
    return attempt(
        lambda: _barrier(tf).insert_many(2, ["a"], [1.0]).type,
        lambda: _barrier(tf).insert_many(0, ["a"], [1.0, 2.0]),
        lambda: _barrier(tf).insert_many(0, "a", 1.0),
        lambda: _barrier(tf).insert_many(0, ["a"], [1]).type,
        lambda: _barrier(tf).take_many(-1),
        lambda: _barrier(tf).take_many(1, timeout=100),
        lambda: _barrier(tf, shapes=((None,), ())),
        lambda: _barrier(tf, shapes=((0,), ())),
        lambda: _barrier(tf, tf.int32, ()).take_many(2),
        lambda: _barrier(tf, (tf.int32,), (3, 4)).take_many(2),
        lambda: _barrier(tf, (tf.int32,), tf.TensorShape([3])).take_many(2),
        lambda: tf.raw_ops.BarrierReadySize(handle=_barrier(tf).barrier_ref).shape,
    )


def _in_and_out(tf):
    one, two, three, shared = (_barrier(tf) for _ in range(4))
    scalars = _barrier(tf, (tf.float32, tf.int32), None)
    put = one.insert_many
    return [
        _in_turn(
            tf,
            _sizes(one),
            put(0, ["a", "b", "c"], [1.0, 2.0, 3.0]),
            _sizes(one),
            one.take_many(2),
            put(1, ["b", "a"], [20.0, 10.0]),
            _sizes(one),
            one.take_many(2),
            put(0, ["c"], [5.0]),
            put(1, ["c"], [5.0]),
            _sizes(one),
            put(1, ["c"], [5.0]),
            one.take_many(1),
            one.take_many(0),
            one.close(),
            put(0, ["x"], [1.0]),
            put(1, ["c"], [1.0]),
            put(0, ["c"], [6.0]),
            one.take_many(1),
            one.take_many(1),
            one.take_many(1, allow_small_batch=True),
            one.close(),
            one.close(True),
            one.close(True),
            _sizes(one),
            one.take_many(0),
        ),
        _in_turn(
            tf,
            two.insert_many(0, ["a"], [1.0]),
            two.insert_many(0, ["b"], [1.0]),
            two.insert_many(1, ["b"], [1.0]),
            two.insert_many(1, ["x"], [1.0]),
            two.insert_many(1, ["a"], [1.0]),
            two.insert_many(0, ["x"], [1.0]),
            two.insert_many(0, ["a"], [1.0]),
            two.take_many(1),
            two.take_many(2),
            two.insert_many(1, ["a"], [1.0]),
            two.take_many(1),
        ),
        _in_turn(
            tf,
            three.insert_many(0, ["a", "b", "c"], [1.0, 2.0, 3.0]),
            three.insert_many(1, ["c", "a", "b"], [30.0, 10.0, 20.0]),
            three.take_many(3),
        ),
        _in_turn(
            tf,
            shared.insert_many(0, ["a", "a"], [1.0, 2.0]),
            _sizes(shared),
            shared.insert_many(0, ["b", "c", "b"], [1.0, 2.0, 3.0]),
            _sizes(shared),
        ),
        _in_turn(
            tf,
            scalars.insert_many(0, ["a"], [[1.0, 2.0]]),
            scalars.insert_many(1, ["a"], [1]),
            scalars.insert_many(0, ["b"], [1.0]),
            scalars.insert_many(1, ["b"], [1]),
            scalars.ready_size(),
            scalars.take_many(1),
            scalars.take_many(1),
        ),
        _in_turn(
            tf,
            _barrier(tf, shared_name="same").barrier_ref,
            _barrier(tf, (tf.int32, tf.float32), shared_name="same").barrier_ref,
            _barrier(tf, shapes=None, shared_name="same").barrier_ref,
            _barrier(tf, shapes=((2,), ()), shared_name="same").barrier_ref,
        ),
    ]


def _closed(tf):
    one, two = _barrier(tf), _barrier(tf)
    return [
        _in_turn(
            tf,
            one.insert_many(0, ["a", "b", "c"], [1.0, 2.0, 3.0]),
            one.close(),
            one.insert_many(1, ["a"], [1.0]),
            one.insert_many(1, ["new"], [1.0]),
            _sizes(one),
            one.take_many(3, allow_small_batch=True),
            one.take_many(1, allow_small_batch=True),
            one.take_many(3),
            one.insert_many(1, ["b"], [2.0]),
            one.take_many(1),
            one.insert_many(1, ["c"], [2.0]),
            one.take_many(3),
            one.take_many(2, allow_small_batch=True),
            one.take_many(2, allow_small_batch=True),
            one.take_many(1),
        ),
        _in_turn(
            tf,
            two.insert_many(0, ["a", "b"], [1.0, 2.0]),
            two.close(True),
            _sizes(two),
            two.insert_many(1, ["a"], [1.0]),
            two.take_many(1),
            two.take_many(1, allow_small_batch=True),
        ),
    ]


def _waits(tf):
    def given(*names: str):
        barrier = _barrier(tf)
        taken = barrier.take_many(2)
        steps = {
            "first": barrier.insert_many(0, ["a", "b"], [1.0, 2.0]),
            "one": barrier.insert_many(1, ["a"], [10.0]),
            "second": barrier.insert_many(1, ["b"], [20.0]),
            "close": barrier.close(),
            "cancel": barrier.close(True),
        }
        session, results = tf.Session(), []
        thread = threading.Thread(
            target=lambda: results.extend(attempt(lambda: session.run(taken)))
        )
        thread.start()
        threading.Event().wait(0.1)
        for name in names:
            session.run(steps[name])
        if not names:
            session.close()
        thread.join(LONG_S)
        return results

    return [
        given(),
        given("close"),
        given("first", "one", "second"),
        given("first", "one", "close", "second"),
        given("first", "one", "close", "cancel"),
    ]


def _nothing(tf):
    barrier, cancelled, other = _barrier(tf), _barrier(tf), _barrier(tf, shapes=None)
    rows = tf.zeros([2, 0])
    return [
        _in_turn(
            tf, barrier.insert_many(0, [], []), barrier.close(), barrier.insert_many(0, [], [])
        ),
        _in_turn(tf, cancelled.close(True), cancelled.insert_many(0, [], [])),
        _in_turn(
            tf,
            other.insert_many(0, ["a", "b"], rows),
            _sizes(other),
            other.close(True),
            other.insert_many(0, ["a", "b"], rows),
        ),
    ]


BEHAVIOURS = {
    "graph": _graph,
    "refused_when_built": _refused_when_built,
    "in_and_out": _in_and_out,
    "closed": _closed,
    "waits": _waits,
    "nothing": _nothing,
}
