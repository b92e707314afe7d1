"""Vectors of MEMORY: arrays that were fed or fetched, and written to afterwards.

A fed array is the inside of a larger one, so that it begins at no multiple of 64 bytes.
"""

from __future__ import annotations

import numpy as np

from sessrun.conformance.authoring.record import ApiAuthor, Symbol, api_case
from sessrun.conformance.subjects.fetch.cases.fetch import floats
from sessrun.conformance.subjects.memory.holders import HOLDERS, Nodes

_LINE = floats([0, 1, 2, 3, 4])
_ROWS = _LINE[1:].reshape(2, 2)


def _inside(c: ApiAuthor, *shape: int) -> tuple[Symbol, Symbol]:
    """An array of 1, 2, 3, 4 of a shape, and the larger one that it is the inside of."""
    base = c.np.asarray(_LINE).copy()
    return base, base[1:].reshape(*shape)


def _kept(c: ApiAuthor, name: str) -> tuple[Symbol, Nodes, Symbol]:
    """A placeholder of two rows of two, what is built of a holder, and a session."""
    p = c.tf.placeholder(c.tf.float32, [2, 2])
    nodes = HOLDERS[name].build(c.tf, p, "float32", (2, 2))
    sess = c.tf.Session()
    if nodes.prepare is not None:
        sess.run(nodes.prepare)
    return p, nodes, sess


def _stays(c: ApiAuthor, *names: str) -> None:
    """Feed an array to each holder, write to it, and ask for what is kept."""
    for name in names:
        p, nodes, sess = _kept(c, name)
        base, mine = _inside(c, 2, 2)
        sess.run(nodes.put, {p: mine})
        base.fill(9)
        c.check(sess.run(nodes.get), _ROWS)


@api_case("MEMORY-001", title="Rows in queues, barriers and tables stay when the feed is refilled.")
def rows_stay_when_a_feed_is_refilled(c: ApiAuthor) -> None:
    _stays(c, "rows in a FIFOQueue", "a barrier", "a table", "a dense table")


@api_case("MEMORY-001", title="Sums and assigned rows stay when the feed is refilled.")
def sums_stay_when_a_feed_is_refilled(c: ApiAuthor) -> None:
    _stays(
        c,
        "an accumulator",
        "a sparse accumulator",
        "an updated reference variable",
        "an updated resource variable",
        "rows of a resource variable",
    )


@api_case("MEMORY-002", title="Elements of queues stay when the feed is refilled.")
def elements_of_queues_stay(c: ApiAuthor) -> None:
    _stays(c, "a FIFOQueue", "a PaddingFIFOQueue", "a RandomShuffleQueue", "a PriorityQueue")


@api_case("MEMORY-002", title="Staged elements and resource variables stay.")
def staged_elements_stay(c: ApiAuthor) -> None:
    _stays(
        c,
        "a staging area",
        "a staging area looked at",
        "a staged map",
        "a staged map looked at",
        "an ordered staged map",
        "a resource variable",
    )


@api_case("MEMORY-002", title="One buffer that is refilled and enqueued three times.")
def one_buffer_is_enqueued_three_times(c: ApiAuthor) -> None:
    p, nodes, sess = _kept(c, "a FIFOQueue")
    base, mine = _inside(c, 2, 2)
    for number in range(3):
        base.fill(number)
        sess.run(nodes.put, {p: mine})
    base.fill(9)
    for number in range(3):
        c.check(sess.run(nodes.get), np.full((2, 2), number, np.float32))


@api_case("MEMORY-002", title="Arrays in other layouts are kept by their values.")
def other_layouts_are_kept(c: ApiAuthor) -> None:
    for name in ("a FIFOQueue", "a staging area", "a resource variable"):
        p, nodes, sess = _kept(c, name)
        memory = floats([1, 0, 2, 0, 3, 0, 4, 0])
        base = c.np.asarray(memory).copy()
        sess.run(nodes.put, {p: base[::2].reshape(2, 2).transpose()})
        base.fill(9)
        c.check(sess.run(nodes.get), _ROWS.transpose())
        base = c.np.asarray(memory).copy()
        sess.run(nodes.put, {p: base[6::-2].reshape(2, 2)})
        base.fill(9)
        c.check(sess.run(nodes.get), floats([[4, 3], [2, 1]]))


@api_case("MEMORY-003", title="A partial run's feed and first fetch are written to between calls.")
def arrays_of_a_partial_run(c: ApiAuthor) -> None:
    p = c.tf.placeholder(c.tf.float32, [4])
    q = c.tf.placeholder(c.tf.float32, [4])
    doubled = p * 2.0
    total = p + doubled + q
    sess = c.tf.Session()
    base, mine = _inside(c, 4)
    handle = sess.partial_run_setup([doubled, total], [p, q])
    got = sess.partial_run(handle, doubled, {p: mine})
    base.fill(9)
    got.fill(9)
    c.check(sess.partial_run(handle, total, {q: np.zeros(4, np.float32)}), _LINE[1:] * 3)


@api_case("MEMORY-004", title="Writing into what was looked up or looked at changes nothing there.")
def writing_into_what_was_looked_at(c: ApiAuthor) -> None:
    for name in ("a table", "a dense table", "a staging area looked at", "a staged map looked at"):
        p, nodes, sess = _kept(c, name)
        sess.run(nodes.put, {p: _ROWS})
        view = c.tf.reshape(nodes.get, [4])
        for tensor in (nodes.get, view, c.tf.identity(nodes.get)):
            sess.run(tensor).fill(9)
            c.check(sess.run(nodes.get), _ROWS)


@api_case("MEMORY-005", title="What was looked up stays when other values are put there.")
def what_was_looked_up_stays(c: ApiAuthor) -> None:
    for name in ("a table", "a dense table", "a resource variable", "a reference variable"):
        p, nodes, sess = _kept(c, name)
        fetched = []
        for factor in (1, 2, 3):
            sess.run(nodes.put, {p: _ROWS * factor})
            fetched.append(sess.run(nodes.get))
        c.check(fetched, [_ROWS, _ROWS * 2, _ROWS * 3])


@api_case("MEMORY-006", title="A product, its identity and its reshape are three arrays.")
def views_of_one_product_are_apart(c: ApiAuthor) -> None:
    p = c.tf.placeholder(c.tf.float32, [2, 2])
    product = p * 2.0
    tensors = [
        product,
        c.tf.identity(product),
        c.tf.reshape(product, [4]),
        c.tf.expand_dims(product, 0),
        product[:],
    ]
    sess = c.tf.Session()
    got = sess.run(tensors, {p: _ROWS})
    for left in range(len(tensors)):
        got[left].fill(left + 10)
        for right in range(left + 1, len(tensors)):
            c.check(c.np.shares_memory(got[left], got[right]), False)
    c.check(got[0], np.full((2, 2), 10, np.float32))
    c.check(got[2], np.full(4, 12, np.float32))


@api_case("MEMORY-007", title="What was enqueued and fetched in one run is not one array.")
def what_was_put_and_fetched_in_one_run(c: ApiAuthor) -> None:
    p = c.tf.placeholder(c.tf.float32, [4])
    doubled = p * 2.0
    given = c.tf.reshape(doubled, [2, 2])
    for name in ("a FIFOQueue", "a staging area", "a staged map", "a resource variable", "a table"):
        nodes = HOLDERS[name].build(c.tf, given, "float32", (2, 2))
        sess = c.tf.Session()
        if nodes.prepare is not None:
            sess.run(nodes.prepare)
        got = sess.run([doubled, nodes.put], {p: _LINE[1:]})
        got[0].fill(9)
        c.check(sess.run(nodes.get), _ROWS * 2)


@api_case("MEMORY-008", title="A read-only array is fed, kept, and read-only afterwards.")
def a_read_only_array_stays_read_only(c: ApiAuthor) -> None:
    for name in ("a FIFOQueue", "a resource variable", "a table"):
        p, nodes, sess = _kept(c, name)
        _, mine = _inside(c, 2, 2)
        mine.setflags(write=False)
        sess.run(nodes.put, {p: mine})
        got = sess.run(nodes.get)
        c.check(got.flags.writeable, True)
        got.fill(9)
        c.check(mine.flags.writeable, False)
        c.check(mine, _ROWS)
