"""Vectors of FEED: keys that are tuples or composites or no keys at all, and the feed_dict."""

from __future__ import annotations

import collections

import numpy as np

from sessrun.conformance.authoring.forms import Recordable
from sessrun.conformance.authoring.record import ApiAuthor, Symbol, api_case
from sessrun.conformance.subjects.feed.cases.feed_conversion import python_value
from sessrun.conformance.subjects.fetch.cases.fetch import floats
from sessrun.conformance.subjects.fetch.cases.fetch_nested import longs


def refuse(c: ApiAuthor, error: str, sess: Symbol, fetches: Recordable, feeds: Recordable) -> None:
    """Record a run that must raise an error of this class."""
    c.raises(error, lambda: sess.run(fetches, feeds))


# --- other keys ---------------------------------------------------------------------------


@api_case("FEED-033", title="A tensor that may not be fed is refused, by object and by name.")
def an_unfeedable_tensor_is_refused(c: ApiAuthor) -> None:
    p = c.tf.placeholder(c.tf.float32, [])
    kept = c.tf.add(p, 1.0, name="kept")
    y = kept * 2.0
    graph = c.tf.get_default_graph()
    c.check(graph.is_feedable(kept), True)
    graph.prevent_feeding(kept)
    c.check(graph.is_feedable(kept), False)
    sess = c.tf.Session()
    refuse(c, "ValueError", sess, y, {p: 1.0, kept: 5.0})
    refuse(c, "ValueError", sess, y, {p: 1.0, "kept:0": 5.0})
    c.check(sess.run(y, {p: 1.0}), np.float32(4))
    c.check(sess.run(y + 1.0, {p: 1.0, y: 7.0}), np.float32(8))


@api_case("FEED-035", title="Keys that are no tensors, strings or tuples are TypeErrors.")
def keys_of_other_kinds_are_refused(c: ApiAuthor) -> None:
    p = c.tf.placeholder(c.tf.float32, [])
    y = p + 1.0
    sess = c.tf.Session()
    for key in (None, 0, 1.5, True, c.tf.float32):
        refuse(c, "TypeError", sess, y, {key: 1.0})
        refuse(c, "TypeError", sess, y, {p: 1.0, key: 1.0})
    c.check(sess.run(y, {p: 1.0}), np.float32(2))


# --- nested and composite keys ------------------------------------------------------------


def _three(c: ApiAuthor) -> tuple[Symbol, Symbol, Symbol, Symbol]:
    a, b, d = (c.tf.placeholder(c.tf.int32, [], name=name) for name in "abd")
    return a, b, d, a * 100 + b * 10 + d


@api_case("FEED-056", title="A tuple of tensors as a key takes a tuple of values, in order.")
def a_tuple_key_takes_a_tuple(c: ApiAuthor) -> None:
    a, b, d, y = _three(c)
    sess = c.tf.Session()
    c.check(sess.run(y, {(a, b): (1, 2), d: 3}), np.int32(123))
    c.check(sess.run(y, {(d, a): (3, 1), b: 2}), np.int32(123))
    c.check(sess.run(y, {(a, b, d): [4, 5, 6]}), np.int32(456))


@api_case("FEED-056", title="A nested tuple of tensors takes values in the same nesting.")
def a_nested_key_takes_nested_values(c: ApiAuthor) -> None:
    a, b, d, y = _three(c)
    Pair = collections.namedtuple("Pair", ["x", "y"])  # noqa: PYI024 - a case has no types
    sess = c.tf.Session()
    c.check(sess.run(y, {(a, (b, d)): (1, (2, 3))}), np.int32(123))
    c.check(sess.run(y, {((d, a), b): ((3, 1), 2)}), np.int32(123))
    c.check(sess.run(y, {(a, ("b:0", d)): (7, [8, 9])}), np.int32(789))
    c.check(sess.run(y, {Pair(b, a): Pair(2, 1), d: 3}), np.int32(123))


@api_case("FEED-056", title="A range is a value of a tuple of tensors.")
def a_tuple_key_takes_a_range(c: ApiAuthor) -> None:
    a, b, d, y = _three(c)
    sess = c.tf.Session()
    c.check(sess.run(y, {(a, b): python_value(c, "range", 1, 3), d: 3}), np.int32(123))
    c.check(sess.run(y, {(a, (b, d)): (4, python_value(c, "range", 5, 7))}), np.int32(456))


@api_case("FEED-057", title="A tuple key whose value has other leaves is a ValueError.")
def a_tuple_key_of_other_length_is_refused(c: ApiAuthor) -> None:
    a, b, d, y = _three(c)
    sess = c.tf.Session()
    refuse(c, "ValueError", sess, y, {(a, b, d): (1, 2)})
    refuse(c, "ValueError", sess, y, {(a, b): (1, 2, 3), d: 4})
    refuse(c, "ValueError", sess, y, {(a, (b, d)): (1, 2)})
    refuse(c, "ValueError", sess, y, {(a, b): 5, d: 4})
    c.check(sess.run(y, {(a, b, d): (1, 2, 3)}), np.int32(123))


_INDICES, _VALUES, _SHAPE = [[0, 1], [2, 0]], [5.0, 6.0], [3, 2]
_DENSE = floats([[0, 5], [0, 0], [6, 0]])


@api_case("FEED-058", title="A sparse placeholder takes a SparseTensorValue.")
def a_sparse_key_takes_a_sparse_value(c: ApiAuthor) -> None:
    sparse = c.tf.sparse_placeholder(c.tf.float32)
    dense = c.tf.sparse_tensor_to_dense(sparse)
    value = c.tf.SparseTensorValue(_INDICES, _VALUES, _SHAPE)
    sess = c.tf.Session()
    c.check(sess.run(dense, {sparse: value}), _DENSE)
    c.check(sess.run(dense * 2.0, {sparse: value}), _DENSE * 2)


@api_case("FEED-058", title="A fetched SparseTensorValue can be fed again.")
def a_fetched_sparse_value_can_be_fed(c: ApiAuthor) -> None:
    sparse = c.tf.sparse_placeholder(c.tf.float32, shape=_SHAPE)
    dense = c.tf.sparse_tensor_to_dense(sparse)
    source = c.tf.SparseTensor(_INDICES, _VALUES, _SHAPE)
    sess = c.tf.Session()
    c.check(sess.run(dense, {sparse: sess.run(source)}), _DENSE)


@api_case("FEED-059", title="A sparse placeholder takes a tuple of its three parts.")
def a_sparse_key_takes_a_tuple(c: ApiAuthor) -> None:
    sparse = c.tf.sparse_placeholder(c.tf.float32)
    dense = c.tf.sparse_tensor_to_dense(sparse)
    sess = c.tf.Session()
    c.check(sess.run(dense, {sparse: (_INDICES, _VALUES, _SHAPE)}), _DENSE)
    arrays = (longs(_INDICES), floats(_VALUES), longs(_SHAPE))
    c.check(sess.run(dense, {sparse: arrays}), _DENSE)


@api_case("FEED-060", title="A SparseTensor as a fed value is a TypeError.")
def a_sparse_tensor_is_no_value(c: ApiAuthor) -> None:
    sparse = c.tf.sparse_placeholder(c.tf.float32)
    dense = c.tf.sparse_tensor_to_dense(sparse)
    source = c.tf.SparseTensor(_INDICES, _VALUES, _SHAPE)
    sess = c.tf.Session()
    refuse(c, "TypeError", sess, dense, {sparse: source})
    refuse(c, "TypeError", sess, dense, {sparse: sparse})
    c.check(sess.run(dense, {sparse: (_INDICES, _VALUES, _SHAPE)}), _DENSE)


@api_case("FEED-061", title="IndexedSlices as a key take their values and indices.")
def slices_take_values_and_indices(c: ApiAuthor) -> None:
    tf = c.tf
    values, indices = tf.placeholder(tf.float32, [None]), tf.placeholder(tf.int64, [None])
    slices = tf.IndexedSlices(values, indices)
    y = slices.values * 10.0 + tf.cast(slices.indices, tf.float32)
    sess = tf.Session()
    c.check(sess.run(y, {slices: ([1.0, 2.0], [3, 4])}), floats([13, 24]))
    c.check(sess.run(y, {slices: (floats([5]), longs([6]))}), floats([56]))


@api_case("FEED-061", title="IndexedSlices that have a dense shape take it after their indices.")
def slices_take_their_dense_shape(c: ApiAuthor) -> None:
    tf = c.tf
    slices = tf.IndexedSlices(
        tf.placeholder(tf.float32, [None]),
        tf.placeholder(tf.int64, [None]),
        tf.placeholder(tf.int64, [1]),
    )
    dense = tf.scatter_nd(slices.indices[:, tf.newaxis], slices.values, slices.dense_shape)
    sess = tf.Session()
    c.check(sess.run(dense, {slices: ([1.5, 2.5], [3, 1], [4])}), floats([0, 2.5, 0, 1.5]))
    c.check(sess.run(dense, {slices: (floats([5]), longs([0]), longs([2]))}), floats([5, 0]))


# --- the feed_dict ------------------------------------------------------------------------


@api_case("FEED-038", title="A run with feed_dict None or {} is a run without feeds.")
def an_empty_feed_dict_feeds_nothing(c: ApiAuthor) -> None:
    p = c.tf.placeholder(c.tf.float32, [])
    number = c.tf.constant(3.0)
    y = c.tf.square(number)
    sess = c.tf.Session()
    c.check(sess.run(y, {number: 10.0}), np.float32(100))
    empty: tuple[Recordable, ...] = (None, {}, collections.OrderedDict())
    for nothing in empty:
        c.check(sess.run(y, nothing), np.float32(9))
        c.check(sess.run(y, feed_dict=nothing), np.float32(9))
        refuse(c, "InvalidArgumentError", sess, p, nothing)


@api_case("FEED-039", title="A feed_dict that is no mapping is a TypeError.")
def a_feed_dict_is_a_mapping(c: ApiAuthor) -> None:
    p = c.tf.placeholder(c.tf.float32, [])
    y = p + 1.0
    sess = c.tf.Session()
    for wrong in ([(p, 1.0)], ((p, 1.0),), 5, "p", p, [p], 1.5):
        refuse(c, "TypeError", sess, y, wrong)
    c.check(sess.run(y, collections.OrderedDict([(p, 1.0)])), np.float32(2))


@api_case("FEED-062", title="A run leaves the feed_dict that it was passed as it was.")
def a_feed_dict_is_left_as_it_was(c: ApiAuthor) -> None:
    p = c.tf.placeholder(c.tf.float32, [2], name="p")
    y = c.tf.negative(p)
    feeds = c.expr("$ordered_dict", [[p, [1, 2]], ["y:0", 7]])
    names = c.expr("$dict", [["p:0", [1, 2]]])
    sess = c.tf.Session()
    c.check(sess.run(y, names), floats([-1, -2]))
    c.check(names, {"p:0": [1, 2]})
    refuse(c, "TypeError", sess, y, feeds)
    c.check(c.expr("$len", feeds), 2)
    c.check(feeds[p], [1, 2])
    c.check(feeds["y:0"], 7)
