"""Vectors of FETCH: what comes back for one fetched element, its dtype, shape and bytes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sessrun.conformance.authoring.forms import Numbers, Recordable
from sessrun.conformance.authoring.record import (
    ApiAuthor,
    EngineAuthor,
    Symbol,
    api_case,
    engine_case,
)
from sessrun.spec.cases.namespace import Namespace

_INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
_FLOATS = ("float16", "float32", "float64", "complex64", "complex128")


def ints(value: Numbers) -> np.ndarray:
    """The int32 tensor of a nested list."""
    return np.array(value, np.int32)


def floats(value: Numbers) -> np.ndarray:
    """The float32 tensor of a nested list."""
    return np.array(value, np.float32)


def refuse(
    c: ApiAuthor, error: str, sess: Symbol, fetches: Recordable, feeds: Recordable = None
) -> None:
    """Record a run that must raise this class of error."""
    c.raises(error, lambda: sess.run(fetches, feeds) if feeds else sess.run(fetches))


def _echoes(tf: Namespace, dtypes: Sequence[str]) -> None:
    """Build a placeholder `p_DTYPE` and its identity `y_DTYPE` for each dtype."""
    for dtype in dtypes:
        tf.identity(tf.placeholder(dtype, name=f"p_{dtype}"), name=f"y_{dtype}")


def texts(*items: bytes) -> np.ndarray:
    """The string tensor of these elements, rank 1."""
    return np.array(items, object)


def _text(item: bytes) -> np.ndarray:
    """The string tensor of rank 0."""
    scalar = np.empty((), object)
    scalar[()] = item
    return scalar


# --- dtypes -------------------------------------------------------------------------------


@engine_case("FETCH-001", title="A fetched integer tensor has the width and the sign it has.")
def integers_keep_their_dtype(c: EngineAuthor) -> None:
    with c.graph() as tf:
        _echoes(tf, _INTEGERS)
    values = {d: np.array([np.iinfo(d).min, 7, np.iinfo(d).max], d) for d in _INTEGERS}
    s = c.open()
    for dtype in _INTEGERS:
        s.run([f"y_{dtype}:0"], {f"p_{dtype}:0": values[dtype]}, values=[values[dtype]])
    s.run(
        [f"y_{d}:0" for d in _INTEGERS],
        {f"p_{d}:0": values[d] for d in _INTEGERS},
        values=[values[d] for d in _INTEGERS],
    )


@engine_case("FETCH-001", title="A fetched float or complex tensor has the precision it has.")
def floats_keep_their_dtype(c: EngineAuthor) -> None:
    with c.graph() as tf:
        _echoes(tf, _FLOATS)
    s = c.open()
    for dtype in _FLOATS:
        value = np.array([1 / 3, -0.1, 60000], dtype)
        s.run([f"y_{dtype}:0"], {f"p_{dtype}:0": value}, values=[value])


@engine_case("FETCH-001", title="Bools come back as bools and strings as strings.")
def bools_and_strings_keep_their_dtype(c: EngineAuthor) -> None:
    with c.graph() as tf:
        _echoes(tf, ["bool", "string"])
        p = tf.placeholder(tf.float32, [None], name="p")
        tf.greater(p, 0.0, name="positive")
    bools, words = np.array([[True, False]]), texts(b"1", b"True", b"")
    s = c.open()
    s.run(["y_bool:0"], {"p_bool:0": bools}, values=[bools])
    s.run(["y_string:0"], {"p_string:0": words}, values=[words])
    s.run(["positive:0"], {"p:0": floats([2, -2])}, values=[np.array([True, False])])


@engine_case("FETCH-001", title="The value of a cast has the dtype that the cast names.")
def casts_have_the_dtype_they_name(c: EngineAuthor) -> None:
    dtypes = [*_INTEGERS, *_FLOATS]
    with c.graph() as tf:
        p = tf.placeholder(tf.float32, [2], name="p")
        for dtype in dtypes:
            tf.raw_ops.Cast(x=p, DstT=dtype, name=f"to_{dtype}")
    s = c.open()
    s.run(
        [f"to_{d}:0" for d in dtypes],
        {"p:0": floats([3, 100])},
        values=[np.array([3, 100], d) for d in dtypes],
    )


@api_case("FETCH-001", title="A fetched array has the numpy dtype of its tensor.")
def arrays_have_the_numpy_dtype(c: ApiAuthor) -> None:
    sess = None
    for dtype in (*_INTEGERS, *_FLOATS, "bool"):
        value = np.array([[0, 1, 1]], dtype)
        p = c.tf.placeholder(dtype, [1, 3])
        y = c.tf.concat([p, p], 0)
        sess = sess or c.tf.Session()
        c.check(sess.run(y, {p: value}), np.concatenate([value, value]))


# --- shapes -------------------------------------------------------------------------------


@engine_case("FETCH-002", title="Rank 0, [1] and [1, 1] are three shapes, each of them kept.")
def one_element_keeps_its_rank(c: EngineAuthor) -> None:
    with c.graph() as tf:
        tf.negative(tf.placeholder(tf.float32, name="p"), name="y")
    s = c.open()
    for shape in ((), (1,), (1, 1), (1, 1, 1), ()):
        value = np.full(shape, 5, np.float32)
        s.run(["y:0"], {"p:0": value}, values=[-value])


@engine_case("FETCH-002", title="A full reduction has rank 0, with keepdims it has [1, 1].")
def reductions_have_the_rank_they_say(c: EngineAuthor) -> None:
    with c.graph() as tf:
        p = tf.placeholder(tf.int32, [None, None], name="p")
        tf.reduce_sum(p, name="scalar")
        tf.reduce_sum(p, 0, name="vector")
        tf.reduce_sum(p, keepdims=True, name="matrix")
        tf.shape(p, name="shape")
        tf.size(p, name="size")
    s = c.open()
    s.run(
        ["scalar:0", "vector:0", "matrix:0", "shape:0", "size:0"],
        {"p:0": ints([[4]])},
        values=[np.int32(4), ints([4]), ints([[4]]), ints([1, 1]), np.int32(1)],
    )


@api_case("FETCH-002", title="A fetched value of one element has the rank of its tensor.")
def ranks_of_fetched_values(c: ApiAuthor) -> None:
    p = c.tf.placeholder(c.tf.float32, [1, 1])
    scalar, vector = c.tf.reshape(p, []), c.tf.reshape(p, [1])
    sess = c.tf.Session()
    for tensor, shape in ((scalar, ()), (vector, (1,)), (p + p, (1, 1))):
        c.check(sess.run(tensor, {p: floats([[2]])}).shape, shape)


@engine_case("FETCH-003", title="A tensor without elements comes back with all its dimensions.")
def empty_tensors_keep_their_shape(c: EngineAuthor) -> None:
    with c.graph() as tf:
        tf.negative(tf.placeholder(tf.float32, name="p"), name="y")
    s = c.open()
    for shape in ((0,), (0, 3), (3, 0), (2, 0, 4), (0, 0), (1, 0)):
        value = np.zeros(shape, np.float32)
        s.run(["y:0"], {"p:0": value}, values=[value])


@engine_case("FETCH-003", title="Operations that leave no element still give the other dimensions.")
def computed_empty_tensors_keep_their_shape(c: EngineAuthor) -> None:
    with c.graph() as tf:
        p = tf.placeholder(tf.int64, [None, 2, None], name="p")
        tf.transpose(p, name="transposed")
        tf.concat([p, p], 1, name="joined")
        words = tf.placeholder(tf.string, [None, 2], name="words")
        tf.gather(words, tf.placeholder(tf.int32, [None], name="rows"), name="chosen")
    s = c.open()
    s.run(
        ["transposed:0", "joined:0"],
        {"p:0": np.zeros((3, 2, 0), np.int64)},
        values=[np.zeros((0, 2, 3), np.int64), np.zeros((3, 4, 0), np.int64)],
    )
    s.run(
        ["chosen:0"],
        {"words:0": texts(b"a", b"b").reshape(1, 2), "rows:0": np.zeros(0, np.int32)},
        values=[np.empty((0, 2), object)],
    )


# --- exactness ----------------------------------------------------------------------------


@engine_case("FETCH-004", title="64-bit integers that no double holds come back unchanged.")
def large_integers_come_back(c: EngineAuthor) -> None:
    with c.graph() as tf:
        _echoes(tf, ["int64", "uint64"])
    signed = np.array([2**53 + 1, -(2**53) - 1, 2**63 - 1, -(2**63)], np.int64)
    unsigned = np.array([2**53 + 1, 2**63 + 1, 2**64 - 1], np.uint64)
    s = c.open()
    s.run(["y_int64:0"], {"p_int64:0": signed}, values=[signed])
    s.run(["y_uint64:0"], {"p_uint64:0": unsigned}, values=[unsigned])
    s.run(["y_int64:0"], {"p_int64:0": np.int64(2**62 + 1)}, values=[np.int64(2**62 + 1)])


@engine_case("FETCH-004", title="A 64-bit counter counts on beyond 2**53.")
def a_large_counter_counts_exactly(c: EngineAuthor) -> None:
    with c.graph() as tf:
        start = tf.placeholder(tf.int64, [], name="start")
        variable = tf.Variable(np.int64(0), name="v", use_resource=False)
        tf.assign(variable, start, name="set")
        tf.assign_add(variable, np.int64(1), name="bump")
    s = c.open()
    s.run(["set:0"], {"start:0": np.int64(2**53 - 1)}, values=[np.int64(2**53 - 1)])
    for value in (2**53, 2**53 + 1, 2**53 + 2, 2**53 + 3):
        s.run(["bump:0"], values=[np.int64(value)])
    s.run(["v:0"], values=[np.int64(2**53 + 3)])


@engine_case("FETCH-005", title="String elements come back byte for byte.")
def strings_come_back_byte_for_byte(c: EngineAuthor) -> None:
    with c.graph() as tf:
        _echoes(tf, ["string"])
    s = c.open()
    every = bytes(range(256))
    for value in (
        texts(b"a\0b", b"c\0\0", b"", b"\0", b"longer than the rest"),
        texts(b"\xff\xfe", b"\xc3", "h\u00e9".encode(), every),
        _text(b"end\0\0"),
        _text(every[::-1]),
    ):
        s.run(["y_string:0"], {"p_string:0": value}, values=[value])


@engine_case("FETCH-005", title="Strings that operations make come back with their NULs.")
def computed_strings_keep_their_nuls(c: EngineAuthor) -> None:
    with c.graph() as tf:
        a = tf.placeholder(tf.string, [None], name="a")
        b = tf.placeholder(tf.string, [None], name="b")
        tf.string_join([a, b], name="joined")
        tf.strings.length(a, name="length")
    s = c.open()
    s.run(
        ["joined:0", "length:0"],
        {"a:0": texts(b"x\0", b"\xff"), "b:0": texts(b"\0", b"\0")},
        values=[texts(b"x\0\0", b"\xff\0"), ints([2, 1])],
    )


@api_case("FETCH-005", title="A fetched string element has its exact bytes.")
def fetched_bytes_are_exact(c: ApiAuthor) -> None:
    p = c.tf.placeholder(c.tf.string)
    y = c.tf.identity(p)
    sess = c.tf.Session()
    got = sess.run(y, {p: [b"a\0", b"\xff\0b", b"bcd"]})
    c.check(c.expr("$len", got), 3)
    c.check(got[0], b"a\0")
    c.check(got[1], b"\xff\0b")
    c.check(sess.run(y, {p: b"\0\0"}), b"\0\0")


@api_case("FETCH-006", title="A fetched string of rank 0 is a bytes object.")
def a_string_scalar_is_bytes(c: ApiAuthor) -> None:
    p = c.tf.placeholder(c.tf.string, [])
    joined = c.tf.string_join([p, "!"])
    sess = c.tf.Session()
    c.check(c.expr("$type", sess.run(joined, {p: "h\u00e9"})), "bytes")
    c.check(sess.run([joined], {p: b"x"}), [b"x!"])
    c.check(sess.run(c.tf.constant("text")), b"text")


@api_case("FETCH-006", title="A fetched string tensor is an array of objects that are bytes.")
def a_string_array_holds_bytes(c: ApiAuthor) -> None:
    p = c.tf.placeholder(c.tf.string)
    joined = c.tf.string_join([p, "!"])
    sess = c.tf.Session()
    for fed in (["a", "bc"], [["a"], ["bc"]], [b"a"]):
        got = sess.run(joined, {p: fed})
        c.check_instance(got, c.np.ndarray)
        c.check(got.dtype.kind, "O")
        c.check(got.item(0), b"a!")
    words = sess.run(c.tf.constant(["a", "h\u00e9"]))
    c.check(words.dtype.kind, "O")
    c.check(words[1], "h\u00e9".encode())
