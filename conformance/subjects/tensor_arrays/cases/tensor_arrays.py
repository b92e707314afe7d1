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
    c.blame("TENSOR-ARRAYS-002")
    s.run(["twice:0"], feeds, error=[3])
    c.blame("TENSOR-ARRAYS-001")
    s.run(["gone:0"], feeds, error=[3])
    s.run(["kept:0"], feeds, values=[np.array([1.5, 1.5], np.float32)])
    c.blame("TENSOR-ARRAYS-003")
    s.run(["written:0"], {"p:0": np.float32(2)}, values=[np.array([2, 0], np.float32)])
    c.blame("TENSOR-ARRAYS-002")


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
    c.blame("TENSOR-ARRAYS-004")
    s.run(["size:0"], values=[np.int32(3)])
    s.run(["grown:0"], values=[np.array([0, 0, 1.5], np.float32)])
    s.run(["fixed:0"], error=[3])
    c.blame("TENSOR-ARRAYS-005")


# --- sizes and shapes of elements ----------------------------------------------------------

_ONE = np.array([1, 2], np.float32)


@engine_case("TENSOR-ARRAYS-006", title="There is no element before the first or after the last.")
def elements_that_are_not_there(c: EngineAuthor) -> None:
    with c.graph() as tf:
        i = tf.placeholder(tf.int32, [], name="i")
        array = tf.TensorArray(tf.int64, 2, clear_after_read=False).unstack([7, 8])
        tf.identity(array.read(i), name="read")
        tf.identity(array.gather(tf.stack([0, i])), name="gathered")
    s = c.open()
    for wrong in (-1, 2, -3):
        for fetch in ("read:0", "gathered:0"):
            s.run([fetch], {"i:0": np.int32(wrong)}, error=[3])
    s.run(["read:0"], {"i:0": np.int32(1)}, values=[np.int64(8)])


@engine_case("TENSOR-ARRAYS-007", title="An element must have the shape that was declared.")
def elements_of_a_declared_shape(c: EngineAuthor) -> None:
    with c.graph() as tf:
        x = tf.placeholder(tf.float32, None, name="x")
        array = tf.TensorArray(tf.float32, 2, element_shape=[2]).write(0, x)
        tf.identity(array.flow, name="flow")
        tf.identity(array.read(0), name="read")
    s = c.open()
    for wrong in (np.array([1, 2, 3], np.float32), np.float32(1), np.ones([1, 2], np.float32)):
        s.run(["flow:0"], {"x:0": wrong}, error=[3])
    s.run(["read:0"], {"x:0": _ONE}, values=[_ONE])


def _two(c: EngineAuthor) -> None:
    with c.graph() as tf:
        x, y = (tf.placeholder(tf.float32, None, name=name) for name in "xy")
        array = tf.TensorArray(tf.float32, 2, infer_shape=False, clear_after_read=False)
        array = array.write(0, x).write(1, y)
        tf.identity(array.stack(), name="stacked")
        tf.identity(array.concat(), name="joined")
        tf.identity(array.read(1), name="second")


@engine_case("TENSOR-ARRAYS-008", title="Elements of different shapes are read, but not stacked.")
def elements_of_different_shapes(c: EngineAuthor) -> None:
    _two(c)
    s = c.open()
    feeds = {"x:0": _ONE, "y:0": np.array([3], np.float32)}
    s.run(["stacked:0"], feeds, error=[3])
    s.run(["second:0"], feeds, values=[feeds["y:0"]])
    s.run(["stacked:0"], {"x:0": _ONE, "y:0": _ONE + 2}, values=[np.stack([_ONE, _ONE + 2])])


@engine_case("TENSOR-ARRAYS-009", title="Elements of different lengths are joined.")
def elements_are_joined(c: EngineAuthor) -> None:
    _two(c)
    s = c.open()
    three = np.array([3, 4, 5], np.float32)
    s.run(["joined:0"], {"x:0": _ONE, "y:0": three}, values=[np.concatenate([_ONE, three])])
    rows = np.arange(6, dtype=np.float32).reshape(3, 2)
    s.run(["joined:0"], {"x:0": rows[:1], "y:0": rows[1:]}, values=[rows])
    s.run(["joined:0"], {"x:0": rows, "y:0": np.float32(3)}, error=[3])
    s.run(["joined:0"], {"x:0": rows, "y:0": np.ones([1, 3], np.float32)}, error=[3])


@engine_case("TENSOR-ARRAYS-010", title="A value is cut into as many elements as there are.")
def a_value_is_cut(c: EngineAuthor) -> None:
    with c.graph() as tf:
        x = tf.placeholder(tf.float32, None, name="x")
        lengths = tf.placeholder(tf.int64, None, name="l")
        array = tf.TensorArray(tf.float32, 3, infer_shape=False, clear_after_read=False)
        cut = array.split(x, lengths)
        tf.identity(cut.flow, name="flow")
        for number in range(3):
            tf.identity(cut.read(number), name=f"part{number}")
    s = c.open()
    value = np.array([1, 2, 3, 4], np.float32)
    feeds: dict[str, np.ndarray] = {"x:0": value, "l:0": np.array([1, 0, 3], np.int64)}
    s.run(["part0:0", "part1:0", "part2:0"], feeds, values=[value[:1], value[:0], value[1:]])
    for wrong in ([1, 2, 2], [1, 1, 1], [2, 2], [1, 1, 1, 1]):
        s.run(["flow:0"], {"x:0": value, "l:0": np.array(wrong, np.int64)}, error=[3])


@engine_case("TENSOR-ARRAYS-010", title="A dynamic array that is longer than the lengths.")
def a_dynamic_array_is_cut(c: EngineAuthor) -> None:
    with c.graph() as tf:
        size, x = (
            tf.placeholder(kind, None, name=name)
            for kind, name in ((tf.int32, "n"), (tf.float32, "x"))
        )
        array = tf.TensorArray(tf.float32, size, dynamic_size=True, infer_shape=False)
        cut = array.split(x, tf.placeholder(tf.int64, None, name="l"))
        tf.identity(cut.size(), name="size")
        tf.identity(cut.read(1), name="last")
    s = c.open()
    value = np.array([1, 2, 3], np.float32)
    feeds: dict[str, np.ndarray] = {"x:0": value, "l:0": np.array([1, 2], np.int64)}
    for size in (0, 1, 2):
        wanted = [np.int32(2), value[1:]]
        s.run(["size:0", "last:0"], {**feeds, "n:0": np.int32(size)}, values=wanted)
    s.run(["size:0"], {**feeds, "n:0": np.int32(3)}, error=[3])


@engine_case("TENSOR-ARRAYS-011", title="Elements count whether they were written or not.")
def elements_are_counted(c: EngineAuthor) -> None:
    with c.graph() as tf:
        n = tf.placeholder(tf.int32, [], name="n")
        array = tf.TensorArray(tf.string, n, element_shape=[])
        tf.identity(array.size(), name="size")
        growing = tf.TensorArray(tf.bool, 0, dynamic_size=True, infer_shape=False)
        tf.identity(growing.write(n, True).size(), name="grown")
    s = c.open()
    for size in (0, 1, 5):
        wanted = [np.int32(size), np.int32(size + 1)]
        s.run(["size:0", "grown:0"], {"n:0": np.int32(size)}, values=wanted)


@engine_case("TENSOR-ARRAYS-012", title="No elements are stacked to no rows.")
def no_elements(c: EngineAuthor) -> None:
    with c.graph() as tf:
        for dtype in (tf.int64, tf.float32):
            array = tf.TensorArray(dtype, 0, element_shape=[2])
            tf.identity(array.stack(), name=f"stacked_{dtype.name}")
    s = c.open()
    s.run(["stacked_int64:0"], values=[np.zeros([0, 2], np.int64)])
    s.run(["stacked_float32:0"], values=[np.zeros([0, 2], np.float32)])
