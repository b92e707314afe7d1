"""Vectors of FETCH: operations, outputs and names as fetches, and the order of several."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sessrun.conformance.authoring.record import ApiAuthor, EngineAuthor, api_case, engine_case
from sessrun.conformance.subjects.fetch.cases.fetch import floats, ints
from sessrun.spec.cases.namespace import Namespace


def _halves(tf: Namespace, shape: Sequence[int]) -> None:
    """Build `p`, int32 of this shape, and `sp`, the operation that splits it in two."""
    p = tf.placeholder(tf.int32, shape, name="p")
    tf.split(p, 2, name="sp")


# --- operations and outputs ---------------------------------------------------------------


@engine_case("FETCH-007", title="An operation without outputs has no value.")
def operations_without_outputs_have_no_value(c: EngineAuthor) -> None:
    with c.graph() as tf:
        p = tf.placeholder(tf.float32, [], name="p")
        y = tf.negative(p, name="y")
        tf.no_op(name="nothing")
        tf.group(y, name="all")
    s = c.open()
    s.run(["nothing"], values=[None])
    s.run(["all", "y:0", "nothing"], {"p:0": np.float32(2)}, values=[None, np.float32(-2), None])
    s.run(["nothing", "nothing"], values=[None, None])


@engine_case("FETCH-007", title="An operation with several outputs has no value either.")
def operations_with_several_outputs_have_no_value(c: EngineAuthor) -> None:
    with c.graph() as tf:
        _halves(tf, [4])
    s = c.open()
    fed = {"p:0": ints([1, 2, 3, 4])}
    s.run(["sp"], fed, values=[None])
    s.run(["sp:0", "sp"], fed, values=[ints([1, 2]), None])


@api_case("FETCH-007", title="The fetched value of an Operation object is None.")
def operation_objects_have_no_value(c: ApiAuthor) -> None:
    p = c.tf.placeholder(c.tf.int32, [2])
    halves = c.tf.split(p, 2)
    total = c.tf.add(halves[0], halves[1])
    sess = c.tf.Session()
    fed = {p: ints([3, 4])}
    c.check(sess.run(total.op, fed), None)
    c.check(sess.run(halves[0].op, fed), None)
    c.check(sess.run([c.tf.no_op(), total, total.op], fed), [None, ints([7]), None])


@engine_case("FETCH-008", title="A bare name means the operation, with `:0` its first output.")
def a_bare_name_means_the_operation(c: EngineAuthor) -> None:
    with c.graph() as tf:
        tf.negative(tf.placeholder(tf.float32, [], name="p"), name="y")
    s = c.open()
    for fed in (1, 2):
        feeds = {"p:0": np.float32(fed)}
        s.run(["y"], feeds, values=[None])
        s.run(["y:0"], feeds, values=[np.float32(-fed)])
        s.run(["y", "y:0", "y"], feeds, values=[None, np.float32(-fed), None])


@engine_case("FETCH-008", title="A bare name of a splitting operation is not its first output.")
def a_bare_name_is_not_the_first_of_several_outputs(c: EngineAuthor) -> None:
    with c.graph() as tf:
        _halves(tf, [2])
    s = c.open()
    s.run(["sp", "sp:0", "sp"], {"p:0": ints([8, 9])}, values=[None, ints([8]), None])


@api_case("FETCH-008", title="A string without an index names the operation on every call.")
def a_string_without_index_names_the_operation(c: ApiAuthor) -> None:
    p = c.tf.placeholder(c.tf.int32, [2], name="p")
    c.tf.split(p, 2, name="sp")
    sess = c.tf.Session()
    fed = {p: ints([3, 4])}
    c.check(sess.run("sp", fed), None)
    c.check(sess.run("sp:0", fed), ints([3]))
    c.check(sess.run({"a": "sp", "b": ["sp:0"]}, fed), {"a": None, "b": [ints([3])]})


# --- several fetches ----------------------------------------------------------------------


@engine_case("FETCH-009", title="Values stand in the order of the fetches, not of graph or names.")
def values_follow_the_fetches(c: EngineAuthor) -> None:
    with c.graph() as tf:
        p = tf.placeholder(tf.float32, [], name="p")
        one = tf.add(p, 1.0, name="z")
        two = tf.add(one, 1.0, name="m")
        tf.add(two, 1.0, name="a")
    s = c.open()
    value = {"z:0": np.float32(1), "m:0": np.float32(2), "a:0": np.float32(3)}
    for order in (["z:0", "a:0", "m:0"], ["m:0", "a:0", "z:0"], ["a:0", "m:0", "z:0"]):
        s.run(order, {"p:0": np.float32(0)}, values=[value[name] for name in order])
    s.run(
        ["a:0", "z", "p:0", "m:0"],
        {"p:0": np.float32(4)},
        values=[np.float32(7), None, np.float32(4), np.float32(6)],
    )


@engine_case("FETCH-009", title="Outputs of one operation may be fetched in any order.")
def outputs_of_one_operation_in_any_order(c: EngineAuthor) -> None:
    with c.graph() as tf:
        p = tf.placeholder(tf.int32, [3], name="p")
        tf.unstack(p, name="part")
    s = c.open()
    fed = {"p:0": ints([10, 11, 12])}
    for order in ((2, 0, 1), (1, 2, 0), (0, 2, 1), (2, 1, 0)):
        s.run([f"part:{i}" for i in order], fed, values=[np.int32(10 + i) for i in order])


@engine_case("FETCH-009", title="Sixty fetches come back each in its place.")
def many_values_follow_the_fetches(c: EngineAuthor) -> None:
    with c.graph() as tf:
        p = tf.placeholder(tf.int32, [], name="p")
        for index in range(60):
            tf.add(p, index, name=f"n{index}")
    order = [(index * 37 + 11) % 60 for index in range(60)]
    s = c.open()
    s.run(
        [f"n{index}:0" for index in order],
        {"p:0": np.int32(100)},
        values=[np.int32(100 + index) for index in order],
    )


@engine_case("FETCH-010", title="A tensor fetched at several places has its value at each.")
def repeated_fetches_have_their_value_each_time(c: EngineAuthor) -> None:
    with c.graph() as tf:
        p = tf.placeholder(tf.float32, [2], name="p")
        tf.negative(p, name="x")
        tf.square(p, name="y")
    fed = {"p:0": floats([2, 3])}
    x, y = floats([-2, -3]), floats([4, 9])
    s = c.open()
    s.run(["x:0", "x:0"], fed, values=[x, x])
    s.run(["y:0", "x:0", "y:0", "y", "x:0", "y"], fed, values=[y, x, y, None, x, None])


@api_case("FETCH-010", title="One tensor at several places of a structure has its value at each.")
def repeated_in_a_structure(c: ApiAuthor) -> None:
    p = c.tf.placeholder(c.tf.int32, [1], name="p")
    y = c.tf.negative(p, name="y")
    sess = c.tf.Session()
    want = ints([-3])
    c.check(
        sess.run([y, "y:0", {"x": y, "y": (y, y)}], {p: [3]}),
        [want, want, {"x": want, "y": (want, want)}],
    )


@engine_case("FETCH-011", title="The index after the colon chooses among an operation's outputs.")
def an_index_chooses_the_output(c: EngineAuthor) -> None:
    with c.graph() as tf:
        _halves(tf, [6])
        q = tf.placeholder(tf.float32, [4], name="q")
        tf.nn.top_k(q, 2, name="top")
    s = c.open()
    fed = {"p:0": ints([1, 2, 3, 4, 5, 6])}
    s.run(["sp:1"], fed, values=[ints([4, 5, 6])])
    s.run(["sp:0"], fed, values=[ints([1, 2, 3])])
    s.run(["sp:0", "sp:1"], fed, values=[ints([1, 2, 3]), ints([4, 5, 6])])
    s.run(["top:1"], {"q:0": floats([5, 1, 9, 2])}, values=[ints([2, 0])])


@api_case("FETCH-011", title="A string `op:1` gives the operation's second output.")
def a_string_with_index_gives_that_output(c: ApiAuthor) -> None:
    p = c.tf.placeholder(c.tf.int32, [3], name="p")
    parts = c.tf.unstack(p, name="part")
    sess = c.tf.Session()
    fed = {p: ints([7, 8, 9])}
    c.check(sess.run("part:1", fed), np.int32(8))
    c.check(sess.run(["part:2", parts[0], parts[1].name], fed), [np.int32(x) for x in (9, 7, 8)])
