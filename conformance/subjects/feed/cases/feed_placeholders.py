"""Vectors of FEED: placeholders that are not fed, feeds not needed, shapes from run to run."""

from __future__ import annotations

import numpy as np

from sessrun.conformance.authoring.record import ApiAuthor, EngineAuthor, api_case, engine_case
from sessrun.conformance.subjects.feed.cases.feed_nested import refuse
from sessrun.conformance.subjects.fetch.cases.fetch import floats, ints
from sessrun.conformance.subjects.run.cases.run import counter

# --- placeholders -------------------------------------------------------------------------


@engine_case("FEED-007", title="A placeholder fed before has no value where it is not fed.")
def a_placeholder_keeps_nothing(c: EngineAuthor) -> None:
    with c.graph() as tf:
        p = tf.placeholder(tf.float32, [], name="p")
        q = tf.placeholder(tf.float32, [], name="q")
        tf.add(p, q, name="y")
    s = c.open()
    p, q = {"p:0": np.float32(1)}, {"q:0": np.float32(2)}
    s.run(["y:0"], p | q, values=[np.float32(3)])
    s.run(["y:0"], p, error=[3])
    s.run(["y:0"], q, error=[3])
    s.run(["p:0"], error=[3])
    s.run(["y:0"], {"p:0": np.float32(5)} | q, values=[np.float32(7)])


@engine_case("FEED-008", title="Placeholders that the fetches do not need are not fed.")
def an_unneeded_placeholder_is_not_fed(c: EngineAuthor) -> None:
    with c.graph() as tf:
        p = tf.placeholder(tf.float32, [], name="p")
        q = tf.placeholder(tf.float32, [], name="q")
        tf.placeholder(tf.string, name="unused")
        y = tf.negative(p, name="y")
        tf.add(y, q, name="z")
        tf.square(q, name="only_q")
    s = c.open()
    s.run(["y:0"], {"p:0": np.float32(2)}, values=[np.float32(-2)])
    s.run(["only_q:0"], {"q:0": np.float32(3)}, values=[np.float32(9)])
    s.run(["z:0"], {"y:0": np.float32(4), "q:0": np.float32(3)}, values=[np.float32(7)])


@engine_case("FEED-010", title="A placeholder with a default takes any shape that its own admits.")
def a_fed_default_takes_other_shapes(c: EngineAuthor) -> None:
    with c.graph() as tf:
        default = tf.placeholder_with_default(floats([1, 2]), [None], name="default")
        tf.reduce_sum(default, name="y")
        free = tf.placeholder_with_default(np.int32(7), None, name="free")
        tf.negative(free, name="z")
    s = c.open()
    for value in ([8, 1], [5, 6, 7], [4], []):
        s.run(["y:0"], {"default:0": floats(value)}, values=[np.float32(sum(value))])
    for other in (ints([[1], [2]]), np.int32(3)):
        s.run(["z:0", "y:0"], {"free:0": other}, values=[-other, np.float32(3)])


@engine_case("FEED-011", title="Feeds that no fetch needs change nothing.")
def feeds_that_no_fetch_needs_change_nothing(c: EngineAuthor) -> None:
    with c.graph() as tf:
        p = tf.placeholder(tf.float32, [], name="p")
        q = tf.placeholder(tf.float32, [2], name="q")
        tf.negative(p, name="y")
        tf.multiply(q, 2, name="z")
        tf.constant(1, name="constant")
        counter(tf)
    s = c.open()
    s.run(["counter/Assign"], {"q:0": floats([1, 2])})
    feeds = {"q:0": floats([1, 2]), "bump:0": np.int32(9), "constant:0": np.int32(5)}
    s.run(["y:0"], {"p:0": np.float32(3), **feeds}, values=[np.float32(-3)])
    s.run(["counter:0"], feeds, values=[np.int32(0)])
    s.run(["counter:0", "constant:0"], values=[np.int32(0), np.int32(1)])


@engine_case("FEED-013", title="Runs that feed other shapes compute with the shape of their feed.")
def each_run_computes_with_its_own_shape(c: EngineAuthor) -> None:
    with c.graph() as tf:
        p = tf.placeholder(tf.float32, [None, 2], name="p")
        tf.reduce_sum(p, axis=0, name="summed")
        tf.shape(p, name="shape")
        q = tf.placeholder(tf.float32, name="q")
        tf.size(tf.negative(q), name="size")
    s = c.open()
    for rows in (1, 5, 3, 5, 1):
        wanted = [floats([rows, rows]), ints([rows, 2])]
        s.run(["summed:0", "shape:0"], {"p:0": np.ones((rows, 2), np.float32)}, values=wanted)
    for sizes in ((2,), (3, 4), (1, 2), (7,)):
        feeds = {"q:0": np.ones(sizes, np.float32)}
        s.run(["size:0"], feeds, values=[np.int32(np.prod(sizes))])


# --- what is checked of a feed ------------------------------------------------------------


@api_case("FEED-027", title="A constant takes no feed of another shape than its own.")
def a_constant_takes_its_shape_only(c: ApiAuthor) -> None:
    number = c.tf.constant([1.0, 2.0, 3.0])
    y = c.tf.reduce_sum(number)
    sess = c.tf.Session()
    for wrong in ([1.0, 2.0], [[1.0], [2.0], [3.0]], []):
        refuse(c, "ValueError", sess, y, {number: wrong})
    c.check(sess.run(y, {number: [4.0, 5.0, 6.0]}), np.float32(15))


@api_case("FEED-027", title="A computed tensor takes no feed of another shape than its own.")
def a_computed_tensor_takes_its_shape_only(c: ApiAuthor) -> None:
    p = c.tf.placeholder(c.tf.float32, [None, 2], name="p")
    product = c.tf.matmul(p, [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], name="product")
    y = c.tf.negative(product)
    sess = c.tf.Session()
    refuse(c, "ValueError", sess, y, {product: [[1.0, 2.0]]})
    refuse(c, "ValueError", sess, y, {"product:0": [[[1.0, 2.0, 3.0]]]})
    c.check(sess.run(y, {product: [[1.0, 2.0, 3.0]]}), floats([[-1, -2, -3]]))


@api_case("FEED-027", title="A shape set on a placeholder later is checked too.")
def a_shape_set_later_is_checked(c: ApiAuthor) -> None:
    p = c.tf.placeholder(c.tf.float32)
    p.set_shape([3])
    y = c.tf.identity(p)
    sess = c.tf.Session()
    refuse(c, "ValueError", sess, y, {p: [1.0, 2.0]})
    c.check(sess.run(y, {p: [1.0, 2.0, 3.0]}), floats([1, 2, 3]))


@api_case("FEED-028", title="A Tensor as a fed value is a TypeError, and nothing has executed.")
def a_tensor_is_no_value(c: ApiAuthor) -> None:
    p = c.tf.placeholder(c.tf.float32, [])
    v = c.tf.Variable(0, use_resource=False)
    bump = c.tf.assign_add(v, 1)
    number = c.tf.constant(5.0)
    sess = c.tf.Session()
    sess.run(v.initializer)
    refuse(c, "TypeError", sess, [bump, p + 1.0], {p: number})
    refuse(c, "TypeError", sess, [p, bump], {p: c.tf.square(number)})
    c.check(sess.run(v), np.int32(0))
    c.check(sess.run(p + 1.0, {p: sess.run(number)}), np.float32(6))


@api_case("FEED-031", title="A reference variable keeps its value when the array changes.")
def a_reference_variable_keeps_its_own_copy(c: ApiAuthor) -> None:
    p = c.tf.placeholder(c.tf.float32, [16])
    v = c.tf.Variable(np.zeros(16, np.float32), use_resource=False)
    store = c.tf.assign(v, p)
    sess = c.tf.Session()
    base = c.np.asarray(np.ones(32, np.float32))
    # Four starts 16 bytes apart: one of them is aligned so that an engine could share it.
    for start in (0, 4, 8, 12):
        part = base[start : start + 16]
        sess.run(store.op, {p: part})
        part.fill(77.0)
        c.check(sess.run(v), np.ones(16, np.float32))
        base.fill(1.0)


@api_case("FEED-036", title="A feed that no fetch needs is checked for its shape all the same.")
def an_unneeded_feed_is_checked(c: ApiAuthor) -> None:
    p = c.tf.placeholder(c.tf.float32, [3])
    y = c.tf.constant(2.0)
    v = c.tf.Variable(0, use_resource=False)
    bump = c.tf.assign_add(v, 1)
    sess = c.tf.Session()
    sess.run(v.initializer)
    refuse(c, "ValueError", sess, y, {p: [1.0, 2.0]})
    refuse(c, "ValueError", sess, bump, {p: [[1.0], [2.0], [3.0]]})
    c.check(sess.run([v, y], {p: [1.0, 2.0, 3.0]}), [np.int32(0), np.float32(2)])
