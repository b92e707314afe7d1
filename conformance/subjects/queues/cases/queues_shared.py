"""Vectors of QUEUES: which nodes stand for one queue; queues with names, queues to choose from."""

from __future__ import annotations

import numpy as np

from sessrun.conformance.authoring.record import (
    ApiAuthor,
    EngineAuthor,
    SessionAuthor,
    api_case,
    engine_case,
)
from sessrun.spec.cases.arguments import Argument
from sessrun.spec.cases.library import Queue
from sessrun.spec.cases.namespace import Namespace


def _fifo(tf: Namespace, node: str, shared_name: str | None = "q", **options: Argument) -> Queue:
    options = {"capacity": 9, "dtypes": tf.int32, "shapes": [[]], **options}
    queue = tf.FIFOQueue(shared_name=shared_name, name=f"{node}_queue", **options)
    queue.size(name=node)
    return queue


def _sizes(s: SessionAuthor, **wanted: int) -> None:
    s.run([f"{name}:0" for name in wanted], values=[np.int32(n) for n in wanted.values()])


# --- shared names -------------------------------------------------------------------------


@engine_case("QUEUES-050", title="Nodes of one shared name are one queue.")
def nodes_of_one_shared_name(c: EngineAuthor) -> None:
    with c.graph() as tf:
        first, second = _fifo(tf, "first"), _fifo(tf, "second")
        first.enqueue(7, name="put")
        second.dequeue(name="take")
        second.close(name="close")
        first.is_closed(name="closed")
    s = c.open()
    s.run(["put"], values=[None])
    _sizes(s, first=1, second=1)
    s.run(["close"], values=[None])
    s.run(["closed:0"], values=[np.bool_(1)])
    s.run(["take:0"], values=[np.int32(7)])


@engine_case("QUEUES-050", title="Nodes of one container and shared name are one PriorityQueue.")
def nodes_of_one_container(c: EngineAuthor) -> None:
    with c.graph() as tf, tf.container("box"):
        queues = [tf.PriorityQueue(4, tf.string, [[]], shared_name="q") for _ in range(2)]
        queues[0].enqueue([np.int64(3), "a"], name="put")
        queues[1].dequeue(name="take")
        queues[1].close(name="close")
    s = c.open()
    s.run(["put"], values=[None])
    s.run(["close"], values=[None])
    s.run(["take:0", "take:1"], values=[np.int64(3), np.array(b"a", object)])


@engine_case("QUEUES-051", title="Nodes of different containers are different queues.")
def nodes_of_different_containers(c: EngineAuthor) -> None:
    with c.graph() as tf:
        with tf.container("one"):
            _fifo(tf, "first").enqueue(7, name="put")
        with tf.container("other"):
            _fifo(tf, "second")
        _fifo(tf, "third")
    s = c.open()
    s.run(["put"], values=[None])
    _sizes(s, first=1, second=0, third=0)


@engine_case("QUEUES-052", title="A queue without a shared name is its node's alone.")
def a_queue_without_a_shared_name(c: EngineAuthor) -> None:
    with c.graph() as tf:
        queue = tf.FIFOQueue(9, tf.int32, shapes=[[]], name="q")
        queue.enqueue(7, name="put")
        queue.size(name="own")
        _fifo(tf, "other")
        _fifo(tf, "another", None)
    s = c.open()
    _sizes(s, other=0, another=0)
    s.run(["put"], values=[None])
    _sizes(s, own=1, other=0, another=0)


def _disagreeing(tf: Namespace) -> dict[str, Queue]:
    shape: list[list[int]] = [[]]
    shared = {"shared_name": "q"}
    return {
        "capacity": tf.FIFOQueue(8, tf.int32, shape, **shared),
        "dtype": tf.FIFOQueue(9, tf.int64, shape, **shared),
        "components": tf.FIFOQueue(9, [tf.int32] * 2, shape * 2, **shared),
        "shape": tf.FIFOQueue(9, tf.int32, [[1]], **shared),
        "no_shape": tf.FIFOQueue(9, tf.int32, **shared),
        "padding": tf.PaddingFIFOQueue(9, tf.int32, shape, **shared),
        "priority": tf.PriorityQueue(9, tf.int32, shape, **shared),
        "shuffle": tf.RandomShuffleQueue(9, 1, tf.int32, shape, **shared),
    }


@engine_case("QUEUES-053", title="A node that asks for a shared queue of another make fails.")
def a_shared_queue_of_another_make(c: EngineAuthor) -> None:
    with c.graph() as tf:
        _fifo(tf, "first")
        names = list(_disagreeing(tf))
        for name, queue in _disagreeing(tf).items():
            queue.size(name=name)
    s = c.open()
    _sizes(s, first=0)
    for name in names:
        s.run([f"{name}:0"], error=[3])
    _sizes(s, first=0)


@engine_case("QUEUES-053", title="So does one with other seeds, or with other elements that stay.")
def a_shared_queue_of_other_seeds(c: EngineAuthor) -> None:
    with c.graph() as tf:
        for name, reserve, seed in (
            ("first", 2, 3),
            ("alike", 2, 3),
            ("seed", 2, 4),
            ("reserve", 1, 3),
            ("free", 2, None),
        ):
            queue = tf.RandomShuffleQueue(9, reserve, tf.int32, [[]], seed=seed, shared_name="q")
            queue.size(name=name)
    s = c.open()
    _sizes(s, first=0)
    for name in ("seed", "reserve"):
        s.run([f"{name}:0"], error=[3])
    _sizes(s, alike=0, free=0)


@engine_case("QUEUES-053", title="Seeds differ from those of a queue that was made without.")
def a_shared_queue_without_seeds(c: EngineAuthor) -> None:
    with c.graph() as tf:
        for name, seed in (("first", None), ("alike", None), ("seed", 3)):
            queue = tf.RandomShuffleQueue(9, 2, tf.int32, [[]], seed=seed, shared_name="q")
            queue.size(name=name)
    s = c.open()
    _sizes(s, first=0)
    s.run(["seed:0"], error=[3])
    _sizes(s, alike=0)


@engine_case("QUEUES-053", title="Sizes that a PaddingFIFOQueue knows are its own.")
def a_shared_queue_that_pads_one_size(c: EngineAuthor) -> None:
    with c.graph() as tf:
        for name, shape in (("first", [2, None]), ("any", [None, 3]), ("other", [3, None])):
            queue = tf.PaddingFIFOQueue(9, tf.int32, shapes=[shape], shared_name="q")
            queue.size(name=name)
    s = c.open()
    _sizes(s, first=0)
    _sizes(s, any=0)
    s.run(["other:0"], error=[3])


@engine_case("QUEUES-053", title="A PaddingFIFOQueue's nodes may know its sizes or not.")
def a_shared_queue_that_pads(c: EngineAuthor) -> None:
    with c.graph() as tf:
        for name, shape in (("first", [None]), ("known", [2]), ("rank", [None, None])):
            queue = tf.PaddingFIFOQueue(9, tf.int32, shapes=[shape], shared_name="q")
            queue.size(name=name)
    s = c.open()
    _sizes(s, first=0)
    _sizes(s, known=0)
    s.run(["rank:0"], error=[3])


@engine_case("QUEUES-055", title="A shared name with an underscore first, or an odd container.")
def names_that_are_not_allowed(c: EngineAuthor) -> None:
    with c.graph() as tf:
        _fifo(tf, "underscore", "_q")
        containers = {"space": "a b", "dash": "-a", "line": "a_b", "good": "a-b/c.D1"}
        for node, container in containers.items():
            with tf.container(container):
                _fifo(tf, node)
    s = c.open()
    for name in ("underscore", "space", "dash", "line"):
        s.run([f"{name}:0"], error=[3])
    _sizes(s, good=0)


# --- one of several -----------------------------------------------------------------------


@engine_case("QUEUES-058", title="A handle chosen in the run is that of its queue.")
def a_chosen_queue(c: EngineAuthor) -> None:
    with c.graph() as tf:
        queues = [_fifo(tf, name, None) for name in ("first", "second", "third")]
        chosen = tf.QueueBase.from_list(tf.placeholder(tf.int32, name="which"), queues)
        chosen.enqueue(7, name="put")
        chosen.dequeue(name="take")
    s = c.open()
    s.run(["put"], {"which:0": np.int32(1)}, values=[None])
    s.run(["put"], {"which:0": np.int32(1)}, values=[None])
    s.run(["put"], {"which:0": np.int32(2)}, values=[None])
    _sizes(s, first=0, second=2, third=1)
    s.run(["take:0"], {"which:0": np.int32(2)}, values=[np.int32(7)])
    _sizes(s, first=0, second=2, third=0)
    s.run(["put"], {"which:0": np.int32(3)}, error=[3])


@api_case("QUEUES-060", title="Queues that are not alike cannot be chosen from.")
def queues_that_are_not_alike(c: ApiAuthor) -> None:
    tf = c.tf
    numbers, words = tf.FIFOQueue(4, tf.int32), tf.FIFOQueue(4, tf.string)
    named = tf.FIFOQueue(4, tf.int32, names=["a"])
    c.raises("TypeError", lambda: tf.QueueBase.from_list(0, [numbers, words]))
    c.raises("TypeError", lambda: tf.QueueBase.from_list(0, [numbers, named]))
    c.raises("TypeError", lambda: tf.QueueBase.from_list(0, []))


# --- names --------------------------------------------------------------------------------


@api_case("QUEUES-056", title="An element of named components goes in and comes out as a dict.")
def named_components(c: ApiAuthor) -> None:
    tf = c.tf
    queue = tf.FIFOQueue(4, [tf.int32, tf.float32], shapes=[[], [2]], names=["a", "b"])
    put = queue.enqueue({"b": [1.0, 2.0], "a": 3})
    rows = queue.enqueue_many({"a": [4, 5], "b": [[1.0, 0.0], [0.0, 1.0]]})
    taken, batch = queue.dequeue(), queue.dequeue_many(2)
    sess = tf.Session()
    sess.run(put)
    sess.run(rows)
    c.check(sess.run(taken), {"a": np.int32(3), "b": np.array([1, 2], np.float32)})
    want = {"a": np.array([4, 5], np.int32), "b": np.array([[1, 0], [0, 1]], np.float32)}
    c.check(sess.run(batch), want)


@api_case("QUEUES-057", title="A dict goes with names, and names with a dict of just these keys.")
def named_components_refused(c: ApiAuthor) -> None:
    tf = c.tf
    named = tf.FIFOQueue(4, [tf.int32, tf.float32], names=["a", "b"])
    plain = tf.FIFOQueue(4, [tf.int32, tf.float32])
    c.raises("ValueError", lambda: named.enqueue([1, 2.0]))
    c.raises("ValueError", lambda: named.enqueue({"a": 1}))
    c.raises("ValueError", lambda: named.enqueue({"a": 1, "b": 2.0, "c": 3}))
    c.raises("ValueError", lambda: named.enqueue_many({"a": [1], "c": [2.0]}))
    c.raises("ValueError", lambda: plain.enqueue({"a": 1, "b": 2.0}))
    c.raises("ValueError", lambda: tf.FIFOQueue(4, [tf.int32, tf.float32], names=["a"]))
