"""Vectors of RUN: what a feed cuts away from a run, what it leaves, and plans by signature."""

from __future__ import annotations

import numpy as np

from sessrun.conformance.authoring.record import EngineAuthor, engine_case
from sessrun.conformance.subjects.run.cases.run import cell, counter, floats, ints


@engine_case("RUN-018", title="What only a fed tensor needs does not execute.")
def a_feed_cuts_what_only_it_needs(c: EngineAuthor) -> None:
    with c.graph() as tf:
        p = tf.placeholder(tf.int32, [], name="p")
        scaled = tf.multiply(counter(tf), 2, name="scaled")
        tf.add(scaled, p, name="y")
    s = c.open()
    s.run(["counter/Assign"])
    feeds = {"p:0": np.int32(1), "scaled:0": np.int32(70)}
    s.run(["y:0"], feeds, values=[np.int32(71)])
    s.run(["counter:0"], values=[np.int32(0)])
    s.run(["y:0"], {"p:0": np.int32(1)}, values=[np.int32(3)])
    s.run(["counter:0"], values=[np.int32(1)])


@engine_case("RUN-018", title="An update whose output is fed does not execute.")
def a_fed_update_does_not_execute(c: EngineAuthor) -> None:
    with c.graph() as tf:
        p = tf.placeholder(tf.int32, [], name="p")
        tf.add(counter(tf), p, name="y")
    s = c.open()
    s.run(["counter/Assign"])
    feeds = {"p:0": np.int32(1), "bump:0": np.int32(50)}
    s.run(["y:0", "bump:0"], feeds, values=[np.int32(51), np.int32(50)])
    s.run(["counter:0"], values=[np.int32(0)])


@engine_case("RUN-018", title="What would fail above a fed tensor does no harm.")
def failures_above_a_feed_do_no_harm(c: EngineAuthor) -> None:
    with c.graph() as tf:
        p = tf.placeholder(tf.float32, [], name="p")
        never = tf.Variable(1.0, name="never", use_resource=False)
        checked = tf.check_numerics(tf.log(p) + never, "not finite", name="checked")
        tf.negative(checked, name="y")
    s = c.open()
    s.run(["y:0"], {"checked:0": np.float32(3)}, values=[np.float32(-3)])
    s.run(["y:0"], {"p:0": np.float32(1)}, error=[9])
    s.run(["never/Assign"])
    s.run(["y:0"], {"p:0": np.float32(0)}, error=[3])
    feeds = {"p:0": np.float32(0), "checked:0": np.float32(4)}
    s.run(["y:0"], feeds, values=[np.float32(-4)])


@engine_case("RUN-018", title="An operation executes until all its needed outputs are fed.")
def an_operation_with_one_output_fed_executes_for_the_other(c: EngineAuthor) -> None:
    with c.graph() as tf:
        bump = counter(tf)
        left, right = tf.split(tf.stack([bump, bump]), 2, name="halves")
        tf.negative(left, name="left")
        tf.negative(right, name="right")
    s = c.open()
    s.run(["counter/Assign"])
    halves = {"halves:0": ints(5), "halves:1": ints(6)}
    one = {"halves:0": ints(5)}
    s.run(["left:0", "right:0"], one, values=[ints(-5), ints(-1)])
    s.run(["left:0", "right:0"], halves, values=[ints(-5), ints(-6)])
    s.run(["left:0"], one, values=[ints(-5)])
    s.run(["counter:0"], values=[np.int32(1)])


@engine_case("RUN-019", title="The control inputs of a fed operation do not execute for it.")
def control_inputs_of_a_fed_operation_do_not_execute(c: EngineAuthor) -> None:
    with c.graph() as tf:
        p = tf.placeholder(tf.int32, [], name="p")
        bump = counter(tf)
        with tf.control_dependencies([bump]):
            middle = tf.identity(p, name="middle")
        tf.add(middle, p, name="y")
    s = c.open()
    s.run(["counter/Assign"])
    feeds = {"p:0": np.int32(1), "middle:0": np.int32(7)}
    s.run(["y:0"], feeds, values=[np.int32(8)])
    s.run(["counter:0"], values=[np.int32(0)])
    s.run(["y:0"], {"p:0": np.int32(1)}, values=[np.int32(2)])
    s.run(["counter:0"], values=[np.int32(1)])


@engine_case("RUN-019", title="The control inputs of a fed placeholder do not execute.")
def control_inputs_of_a_fed_placeholder_do_not_execute(c: EngineAuthor) -> None:
    with c.graph() as tf:
        bump = counter(tf)
        with tf.control_dependencies([bump]):
            p = tf.placeholder(tf.int32, [], name="p")
        tf.add(p, p, name="y")
    s = c.open()
    s.run(["counter/Assign"])
    s.run(["y:0"], {"p:0": np.int32(4)}, values=[np.int32(8)])
    s.run(["counter:0"], values=[np.int32(0)])


@engine_case("RUN-020", title="The control inputs of an operation that consumes a feed execute.")
def control_inputs_of_a_consumer_execute(c: EngineAuthor) -> None:
    with c.graph() as tf:
        p = tf.placeholder(tf.int32, [], name="p")
        middle = tf.multiply(p, 3, name="middle")
        with tf.control_dependencies([counter(tf)]):
            tf.negative(middle, name="y")
    s = c.open()
    s.run(["counter/Assign"])
    s.run(["y:0"], {"middle:0": np.int32(5)}, values=[np.int32(-5)])
    s.run(["counter:0"], values=[np.int32(1)])
    feeds = {"p:0": np.int32(0), "middle:0": np.int32(6)}
    s.run(["y:0"], feeds, values=[np.int32(-6)])
    s.run(["counter:0"], values=[np.int32(2)])


@engine_case("RUN-021", title="An operation above a feed executes for a path around the feed.")
def a_path_around_the_feed_still_executes(c: EngineAuthor) -> None:
    with c.graph() as tf:
        bump = counter(tf)
        scaled = tf.multiply(bump, 2, name="scaled")
        tf.add(scaled, bump, name="y")
    s = c.open()
    s.run(["counter/Assign"])
    s.run(["y:0"], {"scaled:0": np.int32(100)}, values=[np.int32(101)])
    s.run(["y:0"], {"scaled:0": np.int32(100)}, values=[np.int32(102)])
    s.run(["counter:0"], values=[np.int32(2)])


@engine_case("RUN-021", title="A fetch above a feed executes, the feed replaces only its tensor.")
def a_fetch_above_the_feed_executes(c: EngineAuthor) -> None:
    with c.graph() as tf:
        p = tf.placeholder(tf.int32, [], name="p")
        bump = counter(tf)
        scaled = tf.multiply(bump, 2, name="scaled")
        tf.add(scaled, p, name="y")
    s = c.open()
    s.run(["counter/Assign"])
    feeds = {"p:0": np.int32(1), "scaled:0": np.int32(100)}
    s.run(["y:0", "bump:0"], feeds, values=[np.int32(101), np.int32(1)])
    s.run(["bump:0", "y:0"], feeds, values=[np.int32(2), np.int32(101)])
    s.run(["counter:0"], values=[np.int32(2)])


@engine_case("RUN-022", title="A control edge from a fed placeholder is satisfied by the feed.")
def a_control_edge_from_a_fed_placeholder_is_satisfied(c: EngineAuthor) -> None:
    with c.graph() as tf:
        p = tf.placeholder(tf.float32, [None], name="p")
        q = tf.placeholder(tf.int32, [], name="q")
        with tf.control_dependencies([p]):
            tf.negative(q, name="y")
            counter(tf)
    s = c.open()
    feeds = {"p:0": floats(1, 2), "q:0": np.int32(3)}
    s.run(["counter/Assign"], feeds)
    s.run(["y:0"], feeds, values=[np.int32(-3)])
    s.run(["bump:0"], feeds, values=[np.int32(1)])


@engine_case("RUN-022", title="An operation after several fed placeholders runs.")
def a_group_of_fed_placeholders_is_satisfied(c: EngineAuthor) -> None:
    with c.graph() as tf:
        p = tf.placeholder(tf.float32, [], name="p")
        q = tf.placeholder(tf.int32, [2], name="q")
        with tf.control_dependencies([p, q]):
            tf.no_op(name="after")
    s = c.open()
    feeds = {"p:0": np.float32(1), "q:0": ints(1, 2)}
    s.run(["after", "p:0"], feeds, values=[None, np.float32(1)])


@engine_case("RUN-023", title="A control edge from an update executes it although it is fed.")
def a_control_edge_from_a_fed_update_executes_it(c: EngineAuthor) -> None:
    with c.graph() as tf:
        p = tf.placeholder(tf.int32, [], name="p")
        with tf.control_dependencies([counter(tf)]):
            tf.negative(p, name="y")
    s = c.open()
    s.run(["counter/Assign"])
    feeds = {"p:0": np.int32(3), "bump:0": np.int32(90)}
    s.run(["y:0", "bump:0"], feeds, values=[np.int32(-3), np.int32(90)])
    s.run(["counter:0"], values=[np.int32(1)])


@engine_case("RUN-023", title="A control edge from a fed computation executes all above it.")
def a_control_edge_from_a_fed_computation_executes_what_is_above(c: EngineAuthor) -> None:
    with c.graph() as tf:
        p = tf.placeholder(tf.int32, [], name="p")
        scaled = tf.multiply(counter(tf), p, name="scaled")
        with tf.control_dependencies([scaled]):
            tf.no_op(name="after")
        tf.negative(scaled, name="y")
    s = c.open()
    s.run(["counter/Assign"])
    feeds = {"p:0": np.int32(2), "scaled:0": np.int32(30)}
    s.run(["after", "y:0"], feeds, values=[None, np.int32(-30)])
    s.run(["counter:0"], values=[np.int32(1)])
    s.run(["y:0"], feeds, values=[np.int32(-30)])
    s.run(["counter:0"], values=[np.int32(1)])


@engine_case("RUN-024", title="A fetched Operation executes although its output is fed.")
def a_fetched_operation_executes_although_fed(c: EngineAuthor) -> None:
    with c.graph() as tf:
        bump = counter(tf)
        tf.identity(bump, name="copy")
    s = c.open()
    s.run(["counter/Assign"])
    feeds = {"bump:0": np.int32(50)}
    s.run(["bump"], feeds, values=[None])
    s.run(["counter:0"], values=[np.int32(1)])
    s.run(["copy:0", "bump"], feeds, values=[np.int32(50), None])
    s.run(["counter:0"], values=[np.int32(2)])
    s.run(["copy:0"], feeds, values=[np.int32(50)])
    s.run(["counter:0"], values=[np.int32(2)])


@engine_case("RUN-024", title="A fetched Operation that fails fails the run although it is fed.")
def a_fetched_operation_fails_although_fed(c: EngineAuthor) -> None:
    with c.graph() as tf:
        p = tf.placeholder(tf.float32, [], name="p")
        checked = tf.check_numerics(tf.log(p), "not finite", name="checked")
        tf.negative(checked, name="y")
    s = c.open()
    feeds = {"p:0": np.float32(-1), "checked:0": np.float32(8)}
    s.run(["y:0"], feeds, values=[np.float32(-8)])
    s.run(["y:0", "checked"], feeds, error=[3])


@engine_case("RUN-025", title="Runs of one signature each compute from their own feeds.")
def runs_of_one_signature_use_their_own_feeds(c: EngineAuthor) -> None:
    with c.graph() as tf:
        p = tf.placeholder(tf.float32, [None], name="p")
        q = tf.placeholder(tf.float32, [], name="q")
        r = tf.placeholder(tf.float32, [], name="r")
        tf.subtract(p, q * r, name="y")
    s = c.open()
    for p_list, q_value, r_value in (
        ([1, 2], 3, 1),
        ([1, 2], 3, 2),
        ([1, 2], 4, 2),
        ([5, 6], 4, 2),
        ([7], 4, 2),
        ([1, 2], 3, 1),
        ([], 3, 1),
    ):
        feeds = {"p:0": floats(*p_list), "q:0": np.float32(q_value), "r:0": np.float32(r_value)}
        s.run(["y:0"], feeds, values=[floats(*(value - q_value * r_value for value in p_list))])


@engine_case("RUN-025", title="A run of an earlier signature sees the variables as they are now.")
def runs_of_one_signature_see_the_present_state(c: EngineAuthor) -> None:
    with c.graph() as tf:
        p = tf.placeholder(tf.int32, [], name="p")
        q = tf.placeholder(tf.int32, [], name="q")
        handle = cell(tf)
        tf.raw_ops.AssignVariableOp(resource=handle, value=p, name="write")
        read = tf.raw_ops.ReadVariableOp(resource=handle, dtype="int32")
        tf.add(read, p * q, name="y")
    s = c.open()
    s.run(["cell_init"])
    feeds = {"p:0": np.int32(2), "q:0": np.int32(5)}
    for value in (0, 7, 9):
        s.run(["write"], {"p:0": np.int32(value)})
        s.run(["y:0"], feeds, values=[np.int32(value + 10)])


@engine_case("RUN-026", title="Each run replaces exactly the tensors that it feeds itself.")
def each_run_replaces_its_own_feeds(c: EngineAuthor) -> None:
    with c.graph() as tf:
        p = tf.placeholder(tf.int32, [], name="p")
        q = tf.placeholder(tf.int32, [], name="q")
        a = tf.add(p, 1, name="a")
        b = tf.multiply(a, q, name="b")
        tf.subtract(b, a, name="y")
    s = c.open()
    base = {"p:0": np.int32(1), "q:0": np.int32(10)}
    for more, want in (
        ({}, 18),
        ({"a:0": 5}, 45),
        ({"b:0": 5}, 3),
        ({"a:0": 5, "b:0": 7}, 2),
        ({}, 18),
        ({"b:0": 6}, 4),
        ({"a:0": 6}, 54),
    ):
        feeds = base | {name: np.int32(value) for name, value in more.items()}
        s.run(["y:0"], feeds, values=[np.int32(want)])


@engine_case("RUN-026", title="A constant is replaced in the runs that feed it, and in no other.")
def a_constant_is_replaced_only_where_fed(c: EngineAuthor) -> None:
    with c.graph() as tf:
        constants = [tf.constant(10**i, name=f"c{i}") for i in range(4)]
        tf.add_n(constants, name="y")
    s = c.open()
    for fed in ((), (0,), (1,), (3, 2), (0, 1, 2, 3), (2,), ()):
        want = 1111 - sum(10**i for i in fed) + 2 * len(fed)
        s.run(["y:0"], {f"c{i}:0": np.int32(2) for i in fed}, values=[np.int32(want)])
