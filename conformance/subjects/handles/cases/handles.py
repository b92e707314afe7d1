"""Vectors of HANDLES: tensors that a session keeps, read, fed and deleted by their handles."""

from __future__ import annotations

from functools import partial

import numpy as np

from sessrun.conformance.authoring.forms import Recordable
from sessrun.conformance.authoring.record import ApiAuthor, Symbol, api_case
from sessrun.conformance.subjects.run.cases.run import floats


def _kept(c: ApiAuthor, sess: Symbol, value: Recordable) -> Symbol:
    """Record the handle of a constant that the session keeps."""
    return sess.run(c.tf.get_session_handle(c.tf.constant(value)))


def _read(c: ApiAuthor, sess: Symbol, handle: Symbol) -> Symbol:
    """Record a read of a float32 by its handle."""
    read = c.tf.get_session_tensor(handle, c.tf.float32)
    return sess.run(read[1], {read[0]: handle})


@api_case("HANDLES-001", title="A later run reads what was kept.")
def a_later_run_reads_what_was_kept(c: ApiAuthor) -> None:
    sess = c.tf.Session()
    kept = _kept(c, sess, floats(1, 2))
    c.check(_read(c, sess, kept.handle), floats(1, 2))
    c.check(_read(c, sess, kept.handle), floats(1, 2))


@api_case("HANDLES-001", title="What is kept does not change with the variable it came from.")
def a_kept_value_is_not_the_variable(c: ApiAuthor) -> None:
    tf = c.tf
    variable = tf.Variable(floats(1, 2), use_resource=True)
    sess = tf.Session()
    sess.run(variable.initializer)
    kept = sess.run(tf.get_session_handle(variable.read_value()))
    sess.run(variable.assign(floats(8, 9)))
    c.check(_read(c, sess, kept.handle), floats(1, 2))


@api_case("HANDLES-002", title="eval() of a handle gives its value, as often as it is called.")
def eval_gives_the_value(c: ApiAuthor) -> None:
    sess = c.tf.Session()
    first, second = _kept(c, sess, floats(1, 2)), _kept(c, sess, np.float32(5))
    c.check(first.eval(), floats(1, 2))
    c.check(second.eval(), np.float32(5))
    c.check(first.eval(), floats(1, 2))


@api_case("HANDLES-003", title="Another session does not know the handle.")
def another_session_does_not_know_the_handle(c: ApiAuthor) -> None:
    tf = c.tf
    x = tf.placeholder(tf.float32, [2])
    one, other = tf.Session(), tf.Session()
    kept = _kept(c, one, floats(1, 2))
    c.raises("InvalidArgumentError", lambda: _read(c, other, kept.handle))
    c.raises("InvalidArgumentError", lambda: other.run(x + 1, {x: kept}))
    c.check(kept.eval(), floats(1, 2))


@api_case("HANDLES-004", title="A placeholder takes a handle for its value.")
def a_placeholder_takes_a_handle(c: ApiAuthor) -> None:
    tf = c.tf
    x, y = tf.placeholder(tf.float32, [2]), tf.placeholder(tf.float32)
    total = x + y
    sess = tf.Session()
    kept = _kept(c, sess, floats(1, 2))
    c.check(sess.run(total, {x: kept, y: floats(10, 20)}), floats(11, 22))
    c.check(sess.run(total, {x: kept, y: kept}), floats(2, 4))


@api_case("HANDLES-004", title="A tensor that is no placeholder takes a handle too.")
def an_inner_tensor_takes_a_handle(c: ApiAuthor) -> None:
    tf = c.tf
    product = tf.constant(10.0) * tf.constant(5.0)
    square = product * product
    sess = tf.Session()
    kept = sess.run(tf.get_session_handle(product))
    c.check(sess.run(square, {product: kept}), np.float32(2500))


@api_case("HANDLES-005", title="A deleted handle cannot be read.")
def a_deleted_handle_cannot_be_read(c: ApiAuthor) -> None:
    tf = c.tf
    sess = tf.Session()
    first, second = _kept(c, sess, floats(1, 2)), _kept(c, sess, floats(3, 4))
    first.delete()
    c.raises("InvalidArgumentError", lambda: _read(c, sess, first.handle))
    delete = tf.delete_session_tensor(second.handle)
    c.check(sess.run(delete[1], {delete[0]: second.handle}), None)
    c.raises("InvalidArgumentError", lambda: _read(c, sess, second.handle))


@api_case("HANDLES-006", title="A handle cannot be deleted twice.")
def a_handle_is_deleted_once(c: ApiAuthor) -> None:
    tf = c.tf
    sess = tf.Session()
    first, second = _kept(c, sess, floats(1, 2)), _kept(c, sess, floats(3, 4))
    either = ["TypeError", "InvalidArgumentError"]
    first.delete()
    c.raises(either, lambda: first.delete())  # noqa: PLW0108 - recorded when called
    delete = tf.delete_session_tensor(second.handle)
    sess.run(delete[1], {delete[0]: second.handle})
    c.raises(either, lambda: sess.run(delete[1], {delete[0]: second.handle}))


@api_case("HANDLES-007", title="A handle comes back as a TensorHandle, in a structure too.")
def a_fetched_handle_is_an_object(c: ApiAuthor) -> None:
    tf = c.tf
    keep, y = tf.get_session_handle(tf.constant(floats(1, 2))), tf.constant(7)
    sess = tf.Session()
    c.check(sess.run(keep).eval(), floats(1, 2))
    values = sess.run({"a": [keep, y], "b": (keep,)})
    c.check(values["a"][1], np.int32(7))
    c.check(values["a"][0].eval(), floats(1, 2))
    c.check(values["b"][0].eval(), floats(1, 2))
    c.check(c.expr("$type", values["b"][0].handle), "str")


@api_case("HANDLES-008", title="Writing to a fed array does not reach what was kept of it.")
def a_kept_feed_is_a_copy(c: ApiAuthor) -> None:
    tf = c.tf
    x = tf.placeholder(tf.float32, [2])
    keep = tf.get_session_handle(x)
    sess = tf.Session()
    base = sess.run(tf.constant(floats(0, 1, 2)))
    given = base[1:]  # its memory begins at no multiple of 64 bytes: see the clause
    kept = sess.run(keep, {x: given})
    given.fill(np.float32(9))
    c.check(given, floats(9, 9))
    c.check(kept.eval(), floats(1, 2))


@api_case("HANDLES-009", title="The raw handle outlives its object.")
def a_raw_handle_outlives_its_object(c: ApiAuthor) -> None:
    sess = c.tf.Session()
    kept = _kept(c, sess, floats(1, 2))
    raw = kept.get_raw_handle()
    c.raises("TypeError", lambda: kept.eval())  # noqa: PLW0108 - recorded when called
    c.check(_read(c, sess, raw), floats(1, 2))


@api_case("HANDLES-010", title="A handle does not stand for a value of another dtype.")
def a_placeholder_of_another_dtype(c: ApiAuthor) -> None:
    tf = c.tf
    sess = tf.Session()
    kept = _kept(c, sess, floats(1, 2))
    for dtype in (tf.int32, tf.float64):
        x = tf.placeholder(dtype)
        c.raises("InvalidArgumentError", partial(sess.run, x + 1, {x: kept}))
    c.check(kept.eval(), floats(1, 2))


@api_case("HANDLES-011", title="Values of many dtypes are kept.")
def values_of_many_dtypes(c: ApiAuthor) -> None:
    sess = c.tf.Session()
    values: tuple[np.ndarray | np.generic, ...] = (
        np.array([b"a", b"\0b", b""], object),
        np.array([[True], [False]]),
        np.int64(2**62 + 1),
        np.zeros([0, 3], np.float32),
        np.array([1 - 2j], np.complex64),
        np.array([255], np.uint8),
    )
    kept = [_kept(c, sess, value) for value in values]
    for handle, value in zip(kept, values, strict=True):
        c.check(handle.eval(), value)


@api_case("HANDLES-012", title="A second run keeps a second value.")
def each_run_keeps_its_own(c: ApiAuthor) -> None:
    tf = c.tf
    x = tf.placeholder(tf.int32, [])
    keep = tf.get_session_handle(x)
    sess = tf.Session()
    first, second = sess.run(keep, {x: 1}), sess.run(keep, {x: 2})
    c.check([first.eval(), second.eval()], [np.int32(1), np.int32(2)])
    first.delete()
    c.check(second.eval(), np.int32(2))


@api_case("HANDLES-013", title="A handle of a closed session has no value.")
def handles_of_a_closed_session(c: ApiAuthor) -> None:
    sess = c.tf.Session()
    kept = _kept(c, sess, floats(1, 2))
    c.check(kept.eval(), floats(1, 2))
    sess.close()
    c.raises("RuntimeError", partial(kept.eval))


@api_case("HANDLES-014", title="The handles of a variable and of a queue are arrays of bytes.")
def resource_handles_are_arrays(c: ApiAuthor) -> None:
    tf = c.tf
    variable = tf.Variable(floats(1, 2), use_resource=True)
    queue = tf.FIFOQueue(2, tf.float32)
    sess = tf.Session()
    sess.run(variable.initializer)
    for handle in (variable.handle, queue.queue_ref):
        fetched = sess.run(handle)
        c.check(fetched.dtype.names, ("resource",))
        c.check(fetched.ndim, 1)
        c.check(fetched.size > 0, True)
