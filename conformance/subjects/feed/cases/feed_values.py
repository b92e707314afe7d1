"""Vectors of FEED: fed values reach their tensors exactly and stay the caller's own."""

from __future__ import annotations

import numpy as np

from sessrun.conformance.authoring.record import ApiAuthor, EngineAuthor, api_case, engine_case
from sessrun.conformance.subjects.run.cases.run import counter, floats, ints


def _texts(*items: bytes) -> np.ndarray:
    return np.array(items, dtype=object)


# --- each value to its tensor -------------------------------------------------------------


@engine_case("FEED-012", title="The order of the feeds does not matter.")
def feeds_may_come_in_any_order(c: EngineAuthor) -> None:
    with c.graph() as tf:
        digits = [tf.placeholder(tf.int32, [], name=name) for name in ("m", "a", "z", "k")]
        tf.stack(digits, name="y")
        tf.stack([digits[2], digits[1]], name="two")
    s = c.open()
    values = {"m:0": np.int32(1), "a:0": np.int32(2), "z:0": np.int32(3), "k:0": np.int32(4)}
    for order in ("mazk", "akmz", "zmka", "kzam"):
        feeds = {f"{name}:0": values[f"{name}:0"] for name in order}
        s.run(["y:0"], feeds, values=[ints(1, 2, 3, 4)])
        s.run(["two:0"], feeds, values=[ints(3, 2)])


@api_case("FEED-012", title="Values of several dtypes and shapes go to their own keys.")
def values_of_several_kinds_go_to_their_keys(c: ApiAuthor) -> None:
    tf = c.tf
    x = tf.placeholder(tf.float32, [2], name="x")
    n = tf.placeholder(tf.int32, [2], name="n")
    b = tf.placeholder(tf.int32, [2], name="b")
    fetches = [tf.negative(x), tf.negative(n), tf.negative(b)]
    sess = tf.Session()
    want = [floats(-1, -2), ints(-3, -4), ints(-5, -6)]
    c.check(sess.run(fetches, {x: [1, 2], n: [3, 4], b: [5, 6]}), want)
    c.check(sess.run(fetches, {n: [3, 4], b: [5, 6], x: [1, 2]}), want)
    c.check(sess.run(fetches, {"x:0": [1, 2], b: [5, 6], n: [3, 4]}), want)


# --- exact values -------------------------------------------------------------------------


@engine_case("FEED-014", title="64-bit integers do not pass through a double.")
def large_integers_arrive_exactly(c: EngineAuthor) -> None:
    with c.graph() as tf:
        p = tf.placeholder(tf.int64, [None], name="p")
        q = tf.placeholder(tf.uint64, [None], name="q")
        tf.subtract(p, tf.constant(1, tf.int64), name="y")
        tf.identity(q, name="z")
    s = c.open()
    for value in (2**53 + 1, -(2**63) + 1, 2**63 - 1, -(2**53) - 3):
        feeds = {"p:0": np.array([value, 5])}
        s.run(["y:0"], feeds, values=[np.array([value - 1, 4])])
    big = np.array([2**64 - 1, 2**53 + 1, 0], np.uint64)
    s.run(["z:0"], {"q:0": big}, values=[big])


@engine_case("FEED-014", title="Doubles do not pass through a float.")
def doubles_arrive_exactly(c: EngineAuthor) -> None:
    with c.graph() as tf:
        p = tf.placeholder(tf.float64, [], name="p")
        tf.negative(p, name="y")
        tf.identity(p, name="z")
    s = c.open()
    for value in (0.1, 1 / 3, 1e300, 5e-324, 1 + 2.0**-52, float("inf")):
        number = np.float64(value)
        s.run(["y:0", "z:0"], {"p:0": number}, values=[-number, number])


@api_case("FEED-014", title="A Python int beyond 2**53 is fed exactly.")
def large_python_integers_arrive_exactly(c: ApiAuthor) -> None:
    tf = c.tf
    p = tf.placeholder(tf.int64, name="p")
    y = tf.identity(p)
    sess = tf.Session()
    c.check(sess.run(y, {p: 2**53 + 1}), np.int64(2**53 + 1))
    c.check(sess.run(y, {p: -(2**63)}), np.int64(-(2**63)))
    c.check(sess.run(y, {p: [2**53 + 1, 2**63 - 1]}), np.array([2**53 + 1, 2**63 - 1]))


@engine_case("FEED-015", title="Bytes arrive with every NUL and every octet.")
def bytes_arrive_exactly(c: EngineAuthor) -> None:
    with c.graph() as tf:
        p = tf.placeholder(tf.string, name="p")
        tf.identity(p, name="y")
        tf.strings.length(p, name="n")
    s = c.open()
    items = (b"a\0\0", b"\0", b"", b"\xff\xfe\x80", bytes(range(256)), b"x\0y")
    feeds = {"p:0": _texts(*items)}
    s.run(["y:0", "n:0"], feeds, values=[_texts(*items), ints(*map(len, items))])
    for item in items:
        one = np.array(item, dtype=object)
        s.run(["y:0", "n:0"], {"p:0": one}, values=[one, np.int32(len(item))])


@api_case("FEED-015", title="Bytes alone, in a list and in an object array arrive exactly.")
def python_bytes_arrive_exactly(c: ApiAuthor) -> None:
    tf = c.tf
    p = tf.placeholder(tf.string, name="p")
    length = tf.strings.length(p)
    sess = tf.Session()
    c.check(sess.run(length, {p: b"ab\0\0"}), np.int32(4))
    c.check(sess.run(length, {p: [b"\0", b"\xff\0"]}), ints(1, 2))
    c.check(sess.run(length, {p: _texts(b"q\0", b"")}), ints(2, 0))
    c.check(sess.run(tf.identity(p), {p: [b"\xe9\0", b"z"]}), _texts(b"\xe9\0", b"z"))


# --- values that are refused --------------------------------------------------------------


@api_case("FEED-029", title="A value that is no number leaves the state as it was.")
def an_unconvertible_value_changes_nothing(c: ApiAuthor) -> None:
    tf = c.tf
    v = tf.Variable(0, name="v", dtype=tf.int32, use_resource=False)
    bump = tf.assign_add(v, 1)
    p = tf.placeholder(tf.float32, name="p")
    n = tf.placeholder(tf.int32, name="n")
    y = tf.negative(p)
    sess = tf.Session()
    sess.run(v.initializer)
    refused = ["TypeError", "ValueError"]
    c.raises(refused, lambda: sess.run([bump, y], {p: "letters"}))
    c.raises(refused, lambda: sess.run([bump, y], {p: [[1.0], [2.0, 3.0]]}))
    c.raises(refused, lambda: sess.run([bump, y, n], {p: 1.0, n: None}))
    c.raises(refused, lambda: sess.run([bump, y, n], {n: {}, p: 1.0}))
    c.check(sess.run(v), np.int32(0))
    c.check(sess.run([bump, y], {p: 1.5})[1], np.float32(-1.5))
    c.check(sess.run(v), np.int32(1))


# --- the caller's arrays ------------------------------------------------------------------


@api_case("FEED-030", title="A run that computes from a fed array leaves the array as it was.")
def a_run_leaves_the_fed_array(c: ApiAuthor) -> None:
    tf = c.tf
    p = tf.placeholder(tf.float32, [None], name="p")
    sess = tf.Session()
    value = floats(*range(32))
    mine = c.np.asarray(value)
    for result, want in (
        (tf.negative(p), -value),
        (tf.square(p), value * value),
        (tf.nn.relu(p), value),
        (tf.negative(tf.negative(p)), value),
    ):
        c.check(sess.run(result, {p: mine}), want)
        c.check(mine, value)


@api_case("FEED-030", title="Updates of a variable leave the array that it was assigned from.")
def updates_leave_the_array_assigned_from(c: ApiAuthor) -> None:
    tf = c.tf
    p = tf.placeholder(tf.float32, [16], name="p")
    value = floats(*range(16))
    for resource in (False, True):
        v = tf.Variable(np.zeros(16, np.float32), use_resource=resource)
        store = tf.assign(v, p)
        bump = tf.assign_add(v, np.ones(16, np.float32))
        sess = tf.Session()
        mine = c.np.asarray(value)
        sess.run(v.initializer)
        sess.run(store, {p: mine})
        sess.run(bump)
        sess.run(bump)
        c.check(sess.run(v), value + 2)
        c.check(mine, value)


# --- reference variables ------------------------------------------------------------------


@engine_case("FEED-032", title="A fed reference variable is read as fed and stays as stored.")
def a_fed_variable_keeps_its_stored_value(c: EngineAuthor) -> None:
    with c.graph() as tf:
        p = tf.placeholder(tf.int32, [], name="p")
        counter(tf, "v")
        v = tf.get_default_graph().get_tensor_by_name("v:0")
        tf.multiply(v, p, name="y")
    s = c.open()
    p = {"p:0": np.int32(2)}
    s.run(["v/Assign"])
    s.run(["bump"])
    s.run(["y:0"], p | {"v:0": np.int32(50)}, values=[np.int32(100)])
    s.run(["v:0", "y:0"], p, values=[np.int32(1), np.int32(2)])
    s.run(["v:0"], {"v:0": np.int32(60)}, values=[np.int32(60)])
    s.run(["bump"])
    s.run(["v:0"], values=[np.int32(2)])


@engine_case("FEED-032", title="A fed reference variable need not be initialised.")
def a_fed_variable_need_not_be_initialised(c: EngineAuthor) -> None:
    with c.graph() as tf:
        p = tf.placeholder(tf.float32, [2], name="p")
        v = tf.Variable([1.0, 2.0], name="v", use_resource=False)
        tf.add(v, p, name="y")
    s = c.open()
    p = {"p:0": floats(10, 20)}
    s.run(["y:0"], p, error=[9])
    s.run(["y:0"], p | {"v:0": floats(3, 4)}, values=[floats(13, 24)])
    s.run(["y:0"], p, error=[9])
    s.run(["v/Assign"])
    s.run(["y:0"], p | {"v:0": floats(5, 6)}, values=[floats(15, 26)])
    s.run(["y:0"], p, values=[floats(11, 22)])
