"""Vectors of FEED: what a feed replaces, for how long, and which keys are taken or refused."""

from __future__ import annotations

import numpy as np

from sessrun.conformance.authoring.record import ApiAuthor, EngineAuthor, api_case, engine_case
from sessrun.conformance.subjects.run.cases.run import counter, floats, ints

#: Codes of a key that the graph lacks: a TypeError is 3, native engines say NOT_FOUND.
_REFUSED = [3, 5]


# --- what a feed replaces -----------------------------------------------------------------


@engine_case("FEED-001", title="A fed computation reaches all of its consumers.")
def a_fed_computation_reaches_every_consumer(c: EngineAuthor) -> None:
    with c.graph() as tf:
        p = tf.placeholder(tf.int32, [], name="p")
        middle = tf.multiply(p, 3, name="middle")
        tf.negative(middle, name="first")
        tf.add(middle, p, name="second")
        tf.square(middle, name="third")
        tf.subtract(p, middle, name="fourth")
    s = c.open()
    feeds = {"p:0": np.int32(1), "middle:0": np.int32(7)}
    fetches = ["first:0", "second:0", "third:0", "fourth:0", "middle:0"]
    s.run(fetches, feeds, values=[np.int32(v) for v in (-7, 8, 49, -6, 7)])
    s.run(fetches, {"p:0": np.int32(2)}, values=[np.int32(v) for v in (-6, 8, 36, -4, 6)])


@engine_case("FEED-001", title="A fed placeholder reaches consumers on every path of a run.")
def a_fed_placeholder_reaches_every_path(c: EngineAuthor) -> None:
    with c.graph() as tf:
        p = tf.placeholder(tf.float32, [2], name="p")
        total = tf.reduce_sum(p * p, name="total")
        tf.multiply(tf.negative(p), total, name="y")
        tf.concat([p, p, tf.abs(p)], 0, name="z")
    s = c.open()
    want = [floats(-5, 10), np.float32(5), floats(1, -2, 1, -2, 1, 2)]
    s.run(["y:0", "total:0", "z:0"], {"p:0": floats(1, -2)}, values=want)


@engine_case("FEED-002", title="A fed constant is replaced for all that compute from it.")
def a_constant_can_be_fed(c: EngineAuthor) -> None:
    with c.graph() as tf:
        p = tf.placeholder(tf.int32, [], name="p")
        step = tf.constant(3, name="step")
        tf.multiply(p, step, name="y")
    s = c.open()
    s.run(["y:0", "step:0"], {"p:0": np.int32(5)}, values=[np.int32(15), np.int32(3)])
    feeds = {"p:0": np.int32(5), "step:0": np.int32(-2)}
    s.run(["y:0", "step:0"], feeds, values=[np.int32(-10), np.int32(-2)])


@engine_case("FEED-002", title="An initializer stores the value fed for its constant.")
def a_variable_is_initialised_with_a_fed_constant(c: EngineAuthor) -> None:
    with c.graph() as tf:
        initial = tf.constant([1.0, 2.0], name="initial")
        tf.Variable(initial, name="v", use_resource=False)
    s = c.open()
    s.run(["v/Assign"], {"initial:0": floats(7, 8)})
    s.run(["v:0"], values=[floats(7, 8)])


@engine_case("FEED-003", title="The consumers of a fed layer compute from the fed value.")
def a_layer_in_the_middle_can_be_fed(c: EngineAuthor) -> None:
    with c.graph() as tf:
        x = tf.placeholder(tf.float32, [None, 2], name="x")
        w = tf.placeholder(tf.float32, [2, 2], name="w")
        b = tf.placeholder(tf.float32, [2], name="b")
        product = tf.matmul(x, w, name="product")
        tf.nn.relu(tf.nn.bias_add(product, b, name="sums"), name="y")
    s = c.open()
    feeds = {"x:0": floats(1, 2).reshape(1, 2), "w:0": np.eye(2, dtype=np.float32)}
    feeds["b:0"] = floats(10, -10)
    s.run(["y:0"], feeds, values=[floats(11, 0).reshape(1, 2)])
    fed = floats(-1, 30).reshape(1, 2)
    s.run(["y:0"], feeds | {"product:0": fed}, values=[floats(9, 20).reshape(1, 2)])
    s.run(["y:0"], {"b:0": feeds["b:0"], "product:0": fed}, values=[floats(9, 20).reshape(1, 2)])


@engine_case("FEED-003", title="A chain can be fed at each of its links.")
def a_chain_can_be_fed_anywhere(c: EngineAuthor) -> None:
    with c.graph() as tf:
        p = tf.placeholder(tf.int32, [], name="p")
        q = tf.placeholder(tf.int32, [], name="q")
        a = tf.add(p, q, name="a")
        b = tf.multiply(a, q, name="b")
        tf.subtract(b, q, name="y")
    s = c.open()
    base = {"p:0": np.int32(2), "q:0": np.int32(3)}
    for name, value, want in (("a:0", 10, 27), ("b:0", 10, 7), ("y:0", 10, 10)):
        s.run(["y:0"], base | {name: np.int32(value)}, values=[np.int32(want)])
    s.run(["y:0"], base, values=[np.int32(12)])


@engine_case("FEED-004", title="The outputs beside a fed one are the operation's own.")
def feeding_one_output_leaves_the_others(c: EngineAuthor) -> None:
    with c.graph() as tf:
        p = tf.placeholder(tf.float32, [6], name="p")
        parts = tf.split(p, 3, name="parts")
        tf.concat(parts, 0, name="y")
        tf.add(parts[0], parts[2], name="z")
    s = c.open()
    p = floats(1, 2, 3, 4, 5, 6)
    feeds = {"p:0": p, "parts:1": floats(30, 40)}
    s.run(["y:0", "z:0"], feeds, values=[floats(1, 2, 30, 40, 5, 6), floats(6, 8)])
    feeds = {"p:0": p, "parts:0": floats(10, 20), "parts:2": floats(50, 60)}
    s.run(["parts:1", "z:0"], feeds, values=[floats(3, 4), floats(60, 80)])
    s.run(["parts:0", "parts:1"], {"p:0": p}, values=[floats(1, 2), floats(3, 4)])


@engine_case("FEED-004", title="Feeding the values of top_k leaves its indices.")
def feeding_values_leaves_indices(c: EngineAuthor) -> None:
    with c.graph() as tf:
        p = tf.placeholder(tf.float32, [4], name="p")
        tf.nn.top_k(p, 2, name="top")
    s = c.open()
    feeds = {"p:0": floats(1, 9, 3, 7), "top:0": floats(0, 0)}
    s.run(["top:1", "top:0"], feeds, values=[ints(1, 3), floats(0, 0)])
    feeds = {"p:0": floats(1, 9, 3, 7), "top:1": ints(8, 8)}
    s.run(["top:0", "top:1"], feeds, values=[floats(9, 7), ints(8, 8)])


# --- how long a feed holds, and what is not fed -------------------------------------------


@engine_case("FEED-005", title="A fed constant has its own value in the next run.")
def a_fed_constant_is_itself_again(c: EngineAuthor) -> None:
    with c.graph() as tf:
        p = tf.placeholder(tf.int32, [2], name="p")
        tf.add(p, tf.constant([1, 2], name="step"), name="y")
    s = c.open()
    p = {"p:0": ints(10, 20)}
    s.run(["y:0"], p | {"step:0": ints(5, 6)}, values=[ints(15, 26)])
    s.run(["y:0", "step:0"], p, values=[ints(11, 22), ints(1, 2)])
    s.run(["step:0"], values=[ints(1, 2)])


@engine_case("FEED-005", title="A fed computation is computed again in the next run.")
def a_fed_computation_is_computed_again(c: EngineAuthor) -> None:
    with c.graph() as tf:
        p = tf.placeholder(tf.float32, [], name="p")
        middle = tf.sqrt(p, name="middle")
        tf.negative(middle, name="y")
    s = c.open()
    p = {"p:0": np.float32(9)}
    s.run(
        ["y:0", "middle:0"], p | {"middle:0": np.float32(1)}, values=[np.float32(-1), np.float32(1)]
    )
    s.run(["y:0", "middle:0"], p, values=[np.float32(-3), np.float32(3)])


@engine_case("FEED-007", title="A needed placeholder that is not fed fails the run.")
def a_needed_placeholder_must_be_fed(c: EngineAuthor) -> None:
    with c.graph() as tf:
        p = tf.placeholder(tf.float32, [2], name="p")
        q = tf.placeholder(tf.float32, [2], name="q")
        tf.negative(p, name="minus")
        tf.add(p, q, name="y")
    s = c.open()
    s.run(["minus:0"], error=[3])
    s.run(["y:0"], error=[3])
    s.run(["y:0"], {"p:0": floats(1, 2)}, error=[3])
    s.run(["minus:0", "y:0"], {"q:0": floats(1, 2)}, error=[3])
    s.run(["y:0"], {"q:0": floats(1, 2), "p:0": floats(3, 4)}, values=[floats(4, 6)])


@engine_case("FEED-007", title="A placeholder that is itself fetched must be fed.")
def a_fetched_placeholder_must_be_fed(c: EngineAuthor) -> None:
    with c.graph() as tf:
        tf.placeholder(tf.int32, [2], name="p")
        tf.placeholder(tf.string, name="q")
    s = c.open()
    s.run(["p:0"], error=[3])
    s.run(["q:0", "p:0"], {"p:0": ints(1, 2)}, error=[3])
    s.run(["p"], error=[3])
    s.run(["p:0"], {"p:0": ints(1, 2)}, values=[ints(1, 2)])


@engine_case("FEED-009", title="A placeholder with a default has it where it is not fed.")
def an_unfed_default_is_the_value(c: EngineAuthor) -> None:
    with c.graph() as tf:
        d = tf.placeholder_with_default(floats(1, 2), [None], name="d")
        v = tf.Variable(5, name="v", dtype=tf.int32, use_resource=False)
        e = tf.placeholder_with_default(v, [], name="e")
        tf.multiply(d, 2, name="y")
        tf.negative(e, name="z")
    s = c.open()
    s.run(["y:0", "d:0"], values=[floats(2, 4), floats(1, 2)])
    s.run(["v/Assign"])
    s.run(["z:0"], values=[np.int32(-5)])
    s.run(["y:0"], {"d:0": floats(7)}, values=[floats(14)])
    s.run(["y:0"], values=[floats(2, 4)])


# --- keys ---------------------------------------------------------------------------------


@api_case("FEED-016", title="The name of a tensor is a feed key.")
def a_name_is_a_key(c: ApiAuthor) -> None:
    tf = c.tf
    p = tf.placeholder(tf.float32, [2], name="p")
    q = tf.placeholder(tf.float32, [], name="q")
    y = tf.add(p, q)
    sess = c.tf.Session()
    c.check(sess.run(y, {"p:0": [1, 2], "q:0": 5}), floats(6, 7))
    c.check(sess.run(y, {"p:0": [1, 2], q: 6}), floats(7, 8))
    c.check(sess.run(y, {p: [3, 2], "q:0": 6}), floats(9, 8))
    c.check(sess.run("Add:0", {q.name: 1, p.name: [1, 1]}), floats(2, 2))


@api_case("FEED-017", title="An Operation is no feed key.")
def an_operation_is_no_key(c: ApiAuthor) -> None:
    tf = c.tf
    p = tf.placeholder(tf.float32, [], name="p")
    y = tf.negative(p)
    idle = tf.no_op()
    sess = tf.Session()
    c.raises("TypeError", lambda: sess.run(y, {p.op: 1.0}))
    c.raises("TypeError", lambda: sess.run(y, {p: 2.0, y.op: 1.0}))
    c.raises("TypeError", lambda: sess.run(y, {p: 2.0, idle: 1.0}))
    c.check(sess.run(y, {p: 2.0}), np.float32(-2))


@engine_case("FEED-018", title="A feed of a tensor that the graph lacks is refused.")
def a_key_that_the_graph_lacks_is_refused(c: EngineAuthor) -> None:
    with c.graph() as tf:
        p = tf.placeholder(tf.float32, [], name="p")
        tf.negative(p, name="y")
    s = c.open()
    p = {"p:0": np.float32(2)}
    s.run(["y:0"], {"nope:0": np.float32(1)}, error=_REFUSED)
    s.run(["y:0"], p | {"nope:0": np.float32(1)}, error=_REFUSED)
    s.run(["y:0"], p | {"y:1": np.float32(1)}, error=[*_REFUSED, 11])  # 11: below the client
    s.run(["y:0"], p | {"P:0": np.float32(1)}, error=_REFUSED)
    s.run(["y:0"], p, values=[np.float32(-2)])


@api_case("FEED-018", title="A feed key that names no tensor is refused with TypeError.")
def a_name_that_the_graph_lacks_is_a_type_error(c: ApiAuthor) -> None:
    tf = c.tf
    p = tf.placeholder(tf.float32, [], name="p")
    y = tf.negative(p)
    sess = tf.Session()
    c.raises("TypeError", lambda: sess.run(y, {p: 2.0, "nope:0": 1.0}))
    c.raises("TypeError", lambda: sess.run(y, {p: 2.0, "p:1": 1.0}))
    c.raises("TypeError", lambda: sess.run(y, {p: 2.0, "nope": 1.0}))
    c.check(sess.run(y, {p: 2.0}), np.float32(-2))


@api_case("FEED-019", title="A tensor of another graph is no feed key.")
def a_tensor_of_another_graph_is_no_key(c: ApiAuthor) -> None:
    tf = c.tf
    p = tf.placeholder(tf.float32, [], name="p")
    y = tf.negative(p)
    with c.within(tf.Graph().as_default()):
        namesake = tf.placeholder(tf.float32, [], name="p")
        stranger = tf.placeholder(tf.float32, [], name="stranger")
    sess = tf.Session()
    c.raises("TypeError", lambda: sess.run(y, {namesake: 1.0}))
    c.raises("TypeError", lambda: sess.run(y, {p: 2.0, namesake: 1.0}))
    c.raises("TypeError", lambda: sess.run(y, {p: 2.0, stranger: 1.0}))
    c.check(sess.run(y, {p: 2.0}), np.float32(-2))


@engine_case("FEED-020", title="An invalid feed key leaves the state as it was.")
def an_invalid_key_changes_nothing(c: EngineAuthor) -> None:
    with c.graph() as tf:
        p = tf.placeholder(tf.int32, [], name="p")
        with tf.control_dependencies([counter(tf)]):
            tf.negative(p, name="y")
    s = c.open()
    s.run(["counter/Assign"])
    bad = {"nope:0": np.int32(1)}
    s.run(["bump:0"], bad, error=_REFUSED)
    s.run(["counter:0"], values=[np.int32(0)])
    s.run(["bump", "y:0"], {"p:0": np.int32(2)} | bad, error=_REFUSED)
    s.run(["y:0"], bad | {"p:0": np.int32(2)}, error=_REFUSED)
    s.run(["counter:0"], values=[np.int32(0)])
    s.run(["y:0"], {"p:0": np.int32(2)}, values=[np.int32(-2)])
    s.run(["counter:0"], values=[np.int32(1)])


@api_case("FEED-032", title="A reference Variable as a feed key is overridden in that run.")
def a_variable_is_fed(c: ApiAuthor) -> None:
    tf = c.tf
    v = tf.Variable(5.0, use_resource=False)
    y = v + 1.0
    sess = tf.Session()
    c.check(sess.run(y, {v: 1.0}), np.float32(2))
    sess.run(v.initializer)
    c.check(sess.run(y, {v: 10.0}), np.float32(11))
    c.check(sess.run([v, y]), [np.float32(5), np.float32(6)])


@api_case("FEED-016", title="Names may be bytes, as feed keys and as fetches.")
def names_may_be_bytes(c: ApiAuthor) -> None:
    tf = c.tf
    p = tf.placeholder(tf.float32, [], name="p")
    tf.negative(p, name="y")
    c.check(tf.Session().run(b"y:0", {b"p:0": 2.0}), np.float32(-2))
