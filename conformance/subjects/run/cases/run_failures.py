"""Vectors of RUN: failing operations, what they stop and what they leave alone."""

from __future__ import annotations

import numpy as np

from sessrun.conformance.authoring.record import EngineAuthor, engine_case
from sessrun.conformance.subjects.run.cases.run import cell, counter, floats, ints
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Tensor


def checked_log(tf: Namespace) -> Tensor:
    """Build `checked`, the logarithm of the placeholder `p`; it fails unless that is finite."""
    p = tf.placeholder(tf.float32, [], name="p")
    return tf.check_numerics(tf.log(p), "not finite", name="checked")


_BAD = {"p:0": np.float32(-1)}
_GOOD = {"p:0": np.float32(1)}


@engine_case("RUN-027", title="A failing operation does no harm to a run that does not need it.")
def an_unneeded_failure_does_no_harm(c: EngineAuthor) -> None:
    with c.graph() as tf:
        checked_log(tf)
        q = tf.placeholder(tf.int32, [], name="q")
        tf.negative(q, name="y")
        tf.floordiv(q, 0 * q, name="divided")
    s = c.open()
    feeds = {"p:0": np.float32(-1), "q:0": np.int32(2)}
    s.run(["y:0"], feeds, values=[np.int32(-2)])
    s.run(["y:0", "checked:0"], feeds, error=[3])
    s.run(["y:0"], feeds, values=[np.int32(-2)])
    s.run(["divided:0"], feeds, error=[3])
    s.run(["y:0"], {"q:0": np.int32(3)}, values=[np.int32(-3)])


@engine_case("RUN-027", title="A check of a constant that must fail is no matter until needed.")
def a_check_that_must_fail_is_not_run_ahead(c: EngineAuthor) -> None:
    with c.graph() as tf:
        infinite = tf.constant(floats(1, np.inf))
        tf.check_numerics(infinite, "infinite", name="checked")
        counter(tf)
    s = c.open()
    s.run(["counter/Assign"])
    s.run(["bump:0"], values=[np.int32(1)])
    s.run(["checked:0"], error=[3])
    s.run(["bump:0"], values=[np.int32(2)])


@engine_case("RUN-027", title="A variable without a value does no harm where it is not needed.")
def an_uninitialised_variable_does_no_harm(c: EngineAuthor) -> None:
    with c.graph() as tf:
        q = tf.placeholder(tf.int32, [], name="q")
        handle = cell(tf)
        tf.add(tf.raw_ops.ReadVariableOp(resource=handle, dtype="int32"), q, name="sum")
        tf.negative(q, name="y")
        counter(tf)
    s = c.open()
    feeds = {"q:0": np.int32(2)}
    s.run(["y:0"], feeds, values=[np.int32(-2)])
    s.run(["y:0", "sum:0"], feeds, error=[9])
    s.run(["counter/Assign"])
    s.run(["y:0", "bump:0"], feeds, values=[np.int32(-2), np.int32(1)])
    s.run(["sum:0"], feeds, error=[9])
    s.run(["cell_init"])
    s.run(["sum:0"], feeds, values=[np.int32(2)])


@engine_case("RUN-028", title="A failing Assert that is only a control input fails the run.")
def a_failing_assert_by_control_edge_fails(c: EngineAuthor) -> None:
    with c.graph() as tf:
        p = tf.placeholder(tf.int32, [], name="p")
        positive = tf.greater(p, 0)
        check = tf.raw_ops.Assert(condition=positive, data=[p], name="check")
        with tf.control_dependencies([check]):
            tf.identity(p, name="y")
            tf.negative(p, name="z")
            tf.no_op(name="after")
    s = c.open()
    for fetch, value in (("y:0", np.int32(3)), ("z:0", np.int32(-3)), ("after", None)):
        s.run([fetch], {"p:0": np.int32(-1)}, error=[3])
        s.run([fetch], {"p:0": np.int32(3)}, values=[value])


@engine_case("RUN-028", title="A computation that fails as a control input fails the run.")
def a_failing_computation_by_control_edge_fails(c: EngineAuthor) -> None:
    with c.graph() as tf:
        q = tf.placeholder(tf.int32, [], name="q")
        with tf.control_dependencies([checked_log(tf)]):
            middle = tf.negative(q, name="middle")
        tf.add(middle, q, name="y")
    s = c.open()
    s.run(["y:0"], _BAD | {"q:0": np.int32(2)}, error=[3])
    s.run(["y:0"], _GOOD | {"q:0": np.int32(2)}, values=[np.int32(0)])
    s.run(["middle"], _BAD | {"q:0": np.int32(2)}, error=[3])


@engine_case("RUN-028", title="A failure two control edges away fails the run.")
def a_failure_behind_two_control_edges_fails(c: EngineAuthor) -> None:
    with c.graph() as tf:
        p = tf.placeholder(tf.bool, [], name="p")
        q = tf.placeholder(tf.int32, [], name="q")
        check = tf.raw_ops.Assert(condition=p, data=[q], name="check")
        with tf.control_dependencies([check]):
            doubled = tf.add(q, q)
        with tf.control_dependencies([doubled]):
            tf.negative(q, name="y")
    s = c.open()
    s.run(["y:0"], {"p:0": np.bool_(False), "q:0": np.int32(1)}, error=[3])
    s.run(["y:0"], {"p:0": np.bool_(True), "q:0": np.int32(1)}, values=[np.int32(-1)])


@engine_case("RUN-029", title="A session serves the same fetch after a run of it has failed.")
def the_same_fetch_runs_after_a_failure(c: EngineAuthor) -> None:
    with c.graph() as tf, tf.device("/cpu:0"):
        values = tf.placeholder(tf.int32, [3], name="values")
        index = tf.placeholder(tf.int32, [], name="index")
        tf.gather(values, index, name="y")
        tf.floordiv(6, index, name="z")
    s = c.open()
    for bad, good in ((7, 1), (-1, 2)):
        feeds = {"values:0": ints(4, 5, 6)}
        s.run(["y:0"], feeds | {"index:0": np.int32(bad)}, error=[3])
        s.run(["y:0"], feeds | {"index:0": np.int32(good)}, values=[np.int32(4 + good)])
    s.run(["z:0"], {"index:0": np.int32(0)}, error=[3])
    s.run(["z:0"], {"index:0": np.int32(2)}, values=[np.int32(3)])


@engine_case("RUN-029", title="A session keeps its variables when runs fail.")
def variables_survive_failures(c: EngineAuthor) -> None:
    with c.graph() as tf:
        checked_log(tf)
        counter(tf)
        handle = cell(tf)
        raw = tf.raw_ops
        raw.AssignAddVariableOp(resource=handle, value=tf.constant(5), name="store")
    s = c.open()
    s.run(["counter/Assign", "cell_init"])
    for total in (1, 2, 3):
        s.run(["bump:0", "store"], values=[np.int32(total), None])
        s.run(["checked:0"], _BAD, error=[3])
        s.run(["counter:0", "cell_value:0"], values=[np.int32(total), np.int32(5 * total)])


@engine_case("RUN-029", title="A session serves runs after many of its runs have failed.")
def many_failures_wear_nothing_out(c: EngineAuthor) -> None:
    with c.graph() as tf:
        checked_log(tf)
        counter(tf)
    s = c.open()
    s.run(["counter/Assign"])
    s.run(["bump:0"], values=[np.int32(1)])
    for _ in range(40):
        s.run(["checked:0"], _BAD, error=[3])
    s.run(["checked:0"], _GOOD, values=[np.float32(0)])
    s.run(["bump:0"], values=[np.int32(2)])


@engine_case("RUN-030", title="An update after a failed operation, by a control edge, is not done.")
def an_update_after_a_failure_is_not_done(c: EngineAuthor) -> None:
    with c.graph() as tf:
        one, handle = tf.constant(1), cell(tf)
        variable = tf.Variable(0, name="counter", dtype=tf.int32, use_resource=False)
        with tf.control_dependencies([checked_log(tf)]):
            tf.assign_add(variable, one, name="bump")
            tf.raw_ops.AssignAddVariableOp(resource=handle, value=one, name="store")
    s = c.open()
    s.run(["counter/Assign", "cell_init"])
    s.run(["bump:0"], _BAD, error=[3])
    s.run(["store"], _BAD, error=[3])
    s.run(["cell_value:0", "counter:0"], values=[np.int32(0), np.int32(0)])
    s.run(["bump:0", "store"], _GOOD, values=[np.int32(1), None])


@engine_case("RUN-030", title="An update with a failed operation's value is not done.")
def an_update_with_a_failed_value_is_not_done(c: EngineAuthor) -> None:
    with c.graph() as tf:
        amount = tf.cast(tf.add(checked_log(tf), 2.0), tf.int32)
        handle = cell(tf)
        tf.raw_ops.AssignAddVariableOp(resource=handle, value=amount, name="store")
    s = c.open()
    s.run(["cell_init"])
    s.run(["store"], _BAD, error=[3])
    s.run(["cell_value:0"], values=[np.int32(0)])
    s.run(["store"], _GOOD, values=[None])
    s.run(["cell_value:0"], values=[np.int32(2)])


@engine_case("RUN-030", title="Nothing behind a failed operation executes, however far behind.")
def nothing_far_behind_a_failure_is_done(c: EngineAuthor) -> None:
    with c.graph() as tf:
        handle, one = cell(tf), tf.constant(1)
        with tf.control_dependencies([checked_log(tf)]):
            first = tf.negative(one, name="first")
        with tf.control_dependencies([first]):
            second = tf.negative(one, name="second")
        third = tf.add(second, one, name="third")
        with tf.control_dependencies([third]):
            tf.raw_ops.AssignAddVariableOp(resource=handle, value=one, name="store")
    s = c.open()
    s.run(["cell_init"])
    s.run(["store"], _BAD, error=[3])
    s.run(["cell_value:0"], values=[np.int32(0)])
    s.run(["store"], _GOOD, values=[None])
    s.run(["cell_value:0"], values=[np.int32(1)])


@engine_case("RUN-055", title="An update before the failure has happened, and happened once.")
def updates_before_a_failure_stay(c: EngineAuthor) -> None:
    with c.graph() as tf:
        logarithm = tf.log(tf.placeholder(tf.float32, [], name="p"))
        with tf.control_dependencies([counter(tf)]):
            tf.check_numerics(logarithm, "not finite", name="checked")
        with tf.control_dependencies([tf.get_default_graph().get_operation_by_name("checked")]):
            tf.no_op(name="after")
    s = c.open()
    s.run(["counter/Assign"])
    for count in (1, 2):
        s.run(["checked:0"], _BAD, error=[3])
        s.run(["counter:0"], values=[np.int32(count)])
    s.run(["after"], _BAD, error=[3])
    s.run(["counter:0"], values=[np.int32(3)])
