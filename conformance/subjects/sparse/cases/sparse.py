"""Vectors of SPARSE: SparseTensors fed and fetched."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sessrun.conformance.authoring.record import ApiAuthor, Symbol, api_case

INDICES = np.array([[0, 1], [2, 0]], np.int64)
VALUES = np.array([1.5, -2.0], np.float32)
SHAPE = np.array([3, 4], np.int64)


def _parts(c: ApiAuthor, value: Symbol, values: npt.ArrayLike = VALUES) -> None:
    """Check the three parts of a SparseTensorValue."""
    c.check_instance(value, c.tf.SparseTensorValue)
    c.check(value.indices, INDICES)
    c.check(value.values, values)
    c.check(value.dense_shape, SHAPE)


@api_case("SPARSE-001", title="A fed sparse placeholder that is fetched gives the value back.")
def a_sparse_placeholder_gives_what_it_was_fed(c: ApiAuthor) -> None:
    tf = c.tf
    sess = tf.Session()
    for shape in (None, [3, 4], [None, 4]):
        p = tf.sparse_placeholder(tf.float32, shape)
        _parts(c, sess.run(p, {p: tf.SparseTensorValue(INDICES, VALUES, SHAPE)}))


@api_case("SPARSE-001", title="A sparse placeholder of strings gives what it was fed.")
def a_sparse_placeholder_of_strings(c: ApiAuthor) -> None:
    tf = c.tf
    p = tf.sparse_placeholder(tf.string)
    words = np.array([b"a", b""], object)
    values = tf.Session().run([p], {p: tf.SparseTensorValue(INDICES, words, SHAPE)})
    _parts(c, values[0], words)


@api_case("SPARSE-002", title="A SparseTensor in a nested fetch has its value at its place.")
def a_sparse_tensor_in_a_nested_fetch(c: ApiAuthor) -> None:
    tf = c.tf
    sparse, plain = tf.SparseTensor(INDICES, VALUES, SHAPE), tf.constant(7)
    sess = tf.Session()
    values = sess.run([plain, [sparse]])
    c.check(values[0], np.int32(7))
    _parts(c, values[1][0])
    values = sess.run({"a": (sparse, plain), "b": sparse})
    _parts(c, values["a"][0])
    c.check(values["a"][1], np.int32(7))
    _parts(c, values["b"])


@api_case("SPARSE-002", title="Fed sparse placeholders of a nested fetch have their own values.")
def fed_sparse_tensors_in_a_nested_fetch(c: ApiAuthor) -> None:
    tf = c.tf
    p, q = tf.sparse_placeholder(tf.float32), tf.sparse_placeholder(tf.float32)
    others = np.array([8.0, 9.0], np.float32)
    feeds = {p: tf.SparseTensorValue(INDICES, VALUES, SHAPE), q: (INDICES, others, SHAPE)}
    values = tf.Session().run({"p": [p], "q": (q, p)}, feeds)
    _parts(c, values["p"][0])
    _parts(c, values["q"][0], others)
    _parts(c, values["q"][1])


@api_case("SPARSE-003", title="A number, True and None fed to a SparseTensor are TypeError.")
def what_is_not_iterable_is_refused(c: ApiAuthor) -> None:
    tf = c.tf
    p = tf.sparse_placeholder(tf.float32)
    sess = tf.Session()
    for value in (5, 1.5, True, None):
        c.raises("TypeError", lambda: sess.run(p.values, {p: value}))  # noqa: B023 - called at once
