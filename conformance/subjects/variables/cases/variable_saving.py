"""Vectors of VARIABLES: what a Saver writes comes back, and what it refuses."""

from __future__ import annotations

from functools import partial

import numpy as np

from sessrun.conformance.authoring.record import ApiAuthor, api_case
from sessrun.conformance.subjects.run.cases.run import floats


@api_case("VARIABLES-054", title="Saved values come back where they were changed.")
def saved_values_come_back(c: ApiAuthor) -> None:
    tf = c.tf
    r = tf.Variable(floats(1, 2), name="r", use_resource=False)
    v = tf.Variable(np.array([2**40, -1], np.int64), name="v", use_resource=True)
    saver = tf.train.Saver()
    sess = tf.Session()
    sess.run(tf.global_variables_initializer())
    sess.run([r.assign(floats(3, 4)).op, v.assign(v * 2).op])
    saver.save(sess, c.path("model"))
    sess.run(tf.global_variables_initializer())
    c.check(sess.run([r, v]), [floats(1, 2), np.array([2**40, -1], np.int64)])
    saver.restore(sess, c.path("model"))
    c.check(sess.run([r, v]), [floats(3, 4), np.array([2**41, -2], np.int64)])


@api_case("VARIABLES-054", title="A session that never initialised its variables restores them.")
def restored_instead_of_initialised(c: ApiAuthor) -> None:
    tf = c.tf
    variables = [
        tf.Variable(np.array([True, False]), name="flags", use_resource=False),
        tf.Variable(tf.constant(["a", ""]), name="words", use_resource=True),
        tf.Variable(np.complex64(1 - 2j), name="number", use_resource=True),
    ]
    saver = tf.train.Saver()
    one, other = tf.Session(), tf.Session()
    one.run(tf.global_variables_initializer())
    saver.save(one, c.path("model"))
    saver.restore(other, c.path("model"))
    c.check(other.run(variables[0]), np.array([True, False]))
    c.check(other.run(variables[1]), np.array([b"a", b""], object))
    c.check(other.run(variables[2]), np.complex64(1 - 2j))


@api_case("VARIABLES-055", title="What is no checkpoint cannot be restored.")
def no_checkpoint(c: ApiAuthor) -> None:
    tf = c.tf
    v = tf.Variable(floats(1, 2))
    saver = tf.train.Saver()
    sess = tf.Session()
    sess.run(v.initializer)
    for path in (c.path("nothing"), c.path("no/folder/model")):
        c.raises("ValueError", partial(saver.restore, sess, path))
    c.raises("ValueError", lambda: saver.restore(sess, None))
    c.check(sess.run(v), floats(1, 2))


@api_case("VARIABLES-056", title="A Saver needs something to save.")
def nothing_to_save(c: ApiAuthor) -> None:
    tf = c.tf
    c.raises("ValueError", lambda: tf.train.Saver())  # noqa: PLW0108 - recorded when called
    tf.Variable(1.0, collections=[tf.GraphKeys.TRAINABLE_VARIABLES])
    c.raises("ValueError", lambda: tf.train.Saver())  # noqa: PLW0108 - recorded when called
    tf.train.Saver([tf.Variable(2.0)])
    tf.train.Saver()
