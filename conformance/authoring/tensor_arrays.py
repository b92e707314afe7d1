"""Vectors of TENSOR-ARRAYS: elements written once, read once, for one run."""

from __future__ import annotations

import numpy as np

from sessrun.conformance.authoring.record import ApiAuthor, EngineAuthor, api_case, engine_case


@api_case("TENSOR-ARRAYS-001", title="An element of a TensorArray is written once.")
def an_element_is_written_once(c: ApiAuthor) -> None:
    tf = c.tf
    s = tf.Session()
    array = tf.TensorArray(tf.float32, 2)
    once = array.write(0, 1.5)
    c.check(s.run(once.read(0)), np.float32(1.5))
    twice = once.write(0, 2.5)
    c.raises("InvalidArgumentError", lambda: s.run(twice.flow))
    scattered = array.scatter([1, 1], [1.0, 2.0])
    c.raises("InvalidArgumentError", lambda: s.run(scattered.flow))


@api_case("TENSOR-ARRAYS-002", title="Each run writes to a TensorArray of its own.")
def each_run_has_an_array_of_its_own(c: ApiAuthor) -> None:
    tf = c.tf
    s = tf.Session()
    fed = tf.placeholder(tf.float32, [])
    array = tf.TensorArray(tf.float32, 2, element_shape=[])
    written = array.write(0, fed).stack()
    unwritten = array.stack()
    c.check(s.run(written, {fed: 1.0}), np.array([1, 0], np.float32))
    c.check(s.run(unwritten), np.array([0, 0], np.float32))
    c.check(s.run(written, {fed: 2.0}), np.array([2, 0], np.float32))


@api_case("TENSOR-ARRAYS-003", title="An element that was read is gone, unless it is to be kept.")
def an_element_is_read_once(c: ApiAuthor) -> None:
    tf = c.tf
    s = tf.Session()
    given = np.array([1, 2], np.float32)
    once = tf.TensorArray(tf.float32, 2).unstack(given)
    c.check(s.run(once.gather([1, 0])), np.array([2, 1], np.float32))
    twice = once.gather([1, 1])
    c.raises("InvalidArgumentError", lambda: s.run(twice))
    kept = tf.TensorArray(tf.float32, 2, clear_after_read=False).unstack(given)
    c.check(s.run(kept.gather([1, 1])), np.array([2, 2], np.float32))


@api_case("TENSOR-ARRAYS-004", title="An unwritten element is zero if its shape is known.")
def an_unwritten_element(c: ApiAuthor) -> None:
    tf = c.tf
    s = tf.Session()
    known = tf.TensorArray(tf.float32, 2, element_shape=[2])
    c.check(s.run(known.read(1)), np.array([0, 0], np.float32))
    inferred = tf.TensorArray(tf.float32, 2).write(0, [1.0, 2.0])
    c.check(s.run(inferred.stack()), np.array([[1, 2], [0, 0]], np.float32))
    unknown = tf.TensorArray(tf.float32, 2).read(1)
    c.raises("InvalidArgumentError", lambda: s.run(unknown))


@api_case("TENSOR-ARRAYS-005", title="A write past the end makes an array longer, if it may grow.")
def a_write_past_the_end(c: ApiAuthor) -> None:
    tf = c.tf
    s = tf.Session()
    growing = tf.TensorArray(tf.float32, 1, dynamic_size=True).write(2, 1.5)
    c.check(s.run(growing.size()), np.int32(3))
    c.check(s.run(growing.stack()), np.array([0, 0, 1.5], np.float32))
    fixed = tf.TensorArray(tf.float32, 1).write(2, 1.5)
    c.raises("InvalidArgumentError", lambda: s.run(fixed.flow))


@engine_case(
    "TENSOR-ARRAYS-001",
    "TENSOR-ARRAYS-002",
    "TENSOR-ARRAYS-003",
    title="An element is written once and read once, in each run anew.",
)
def once_in_each_run(c: EngineAuthor) -> None:
    with c.graph() as tf:
        fed = tf.placeholder(tf.float32, [], name="p")
        array = tf.TensorArray(tf.float32, 2, element_shape=[])
        once = array.write(0, fed)
        tf.identity(once.stack(), name="written")
        tf.identity(array.stack(), name="unwritten")
        tf.identity(once.write(0, fed).flow, name="twice")
        tf.identity(once.gather([0, 0]), name="gone")
        kept = tf.TensorArray(tf.float32, 1, clear_after_read=False).write(0, fed)
        tf.identity(kept.gather([0, 0]), name="kept")
    s = c.open()
    feeds = {"p:0": np.float32(1.5)}
    s.run(["written:0"], feeds, values=[np.array([1.5, 0], np.float32)])
    s.run(["unwritten:0"], values=[np.array([0, 0], np.float32)])
    s.run(["twice:0"], feeds, error=[3])
    s.run(["gone:0"], feeds, error=[3])
    s.run(["kept:0"], feeds, values=[np.array([1.5, 1.5], np.float32)])
    s.run(["written:0"], {"p:0": np.float32(2)}, values=[np.array([2, 0], np.float32)])


@engine_case(
    "TENSOR-ARRAYS-004",
    "TENSOR-ARRAYS-005",
    title="Unwritten elements are zero if their shape is known; an array grows if it may.",
)
def the_ends_of_an_array(c: EngineAuthor) -> None:
    with c.graph() as tf:
        tf.identity(tf.TensorArray(tf.float32, 2, element_shape=[2]).read(1), name="known")
        tf.identity(tf.TensorArray(tf.float32, 2).read(1), name="unknown")
        growing = tf.TensorArray(tf.float32, 1, dynamic_size=True).write(2, 1.5)
        tf.identity(growing.size(), name="size")
        tf.identity(growing.stack(), name="grown")
        tf.identity(tf.TensorArray(tf.float32, 1).write(2, 1.5).flow, name="fixed")
    s = c.open()
    s.run(["known:0"], values=[np.array([0, 0], np.float32)])
    s.run(["unknown:0"], error=[3])
    s.run(["size:0"], values=[np.int32(3)])
    s.run(["grown:0"], values=[np.array([0, 0, 1.5], np.float32)])
    s.run(["fixed:0"], error=[3])
