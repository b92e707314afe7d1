"""Vectors of RUN: which operations a run executes, in which order, and how often."""

from __future__ import annotations

import numpy as np

from sessrun.conformance.authoring.record import ApiAuthor, EngineAuthor, api_case, engine_case
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Tensor


def floats(*values: float) -> np.ndarray:
    """A float32 vector of these numbers."""
    return np.array(values, np.float32)


def ints(*values: int) -> np.ndarray:
    """An int32 vector of these numbers."""
    return np.array(values, np.int32)


def counter(tf: Namespace, name: str = "counter", bump: str = "bump") -> Tensor:
    """Build an int32 reference variable at 0 and an operation that adds 1; its output.

    Names: `NAME:0` the value, `NAME/Assign` its initializer, `BUMP` the addition.
    """
    variable = tf.Variable(0, name=name, dtype=tf.int32, use_resource=False)
    return tf.assign_add(variable, 1, name=bump)


def cell(tf: Namespace, name: str = "cell", dtype: str = "int32") -> Tensor:
    """Build a scalar resource variable at 0; its handle.

    Names: `NAME` the handle, `NAME_init` the initializer, `NAME_value:0` a read.
    """
    raw = tf.raw_ops
    handle = raw.VarHandleOp(dtype=dtype, shape=[], shared_name=name, name=name)
    zero = tf.constant(0, dtype, name=f"{name}_zero")
    raw.AssignVariableOp(resource=handle, value=zero, name=f"{name}_init")
    raw.ReadVariableOp(resource=handle, dtype=dtype, name=f"{name}_value")
    return handle


# --- the needed fragment ------------------------------------------------------------------


@engine_case("RUN-001", title="Only the fragment that the fetches need is executed.")
def only_the_needed_fragment_runs(c: EngineAuthor) -> None:
    with c.graph() as tf:
        variable = tf.get_variable("counter", initializer=np.int32(0), use_resource=True)
        variable.assign_add(1, name="bump", read_value=False)
        tf.identity(variable.read_value(), name="value")
        tf.group(variable.initializer, name="init")
    s = c.open()
    s.run(["init"], values=[None])
    s.run(["value:0"], values=[np.int32(0)])
    s.run(["bump"], values=[None])
    s.run(["value:0"], values=[np.int32(1)])
    s.close()


@engine_case("RUN-001", title="An update beside the computation that is fetched does not execute.")
def an_update_beside_the_fetched_tensor_is_left_alone(c: EngineAuthor) -> None:
    with c.graph() as tf:
        p = tf.placeholder(tf.float32, [2], name="p")
        tf.negative(p, name="y")
        counter(tf)
    s = c.open()
    s.run(["counter/Assign"])
    for _ in range(3):
        s.run(["y:0"], {"p:0": floats(1, -2)}, values=[floats(-1, 2)])
    s.run(["counter:0"], values=[np.int32(0)])


@engine_case("RUN-001", title="A run without fetches executes nothing.")
def a_run_without_fetches_executes_nothing(c: EngineAuthor) -> None:
    with c.graph() as tf:
        counter(tf)
    s = c.open()
    s.run(["counter/Assign"])
    s.run([], values=[])
    s.run(["counter:0"], values=[np.int32(0)])


@engine_case("RUN-001", title="An operation ordered after a fetched one does not execute for it.")
def a_control_edge_does_not_pull_its_target(c: EngineAuthor) -> None:
    with c.graph() as tf:
        p = tf.placeholder(tf.float32, [], name="p")
        y = tf.negative(p, name="y")
        with tf.control_dependencies([y]):
            counter(tf)
    s = c.open()
    s.run(["counter/Assign"], {"p:0": np.float32(0)})
    s.run(["y:0", "y"], {"p:0": np.float32(3)}, values=[np.float32(-3), None])
    s.run(["counter:0"], values=[np.int32(0)])


@engine_case("RUN-002", title="An update that consumes a fetched tensor does not execute.")
def the_consumer_of_a_fetched_tensor_does_not_execute(c: EngineAuthor) -> None:
    with c.graph() as tf:
        p = tf.placeholder(tf.int32, [], name="p")
        amount = tf.add(p, 1, name="amount")
        variable = tf.Variable(0, name="sum", dtype=tf.int32, use_resource=False)
        tf.assign_add(variable, amount, name="bump")
    s = c.open()
    s.run(["sum/Assign"])
    s.run(["amount:0"], {"p:0": np.int32(4)}, values=[np.int32(5)])
    s.run(["sum:0"], values=[np.int32(0)])
    s.run(["bump:0"], {"p:0": np.int32(4)}, values=[np.int32(5)])
    s.run(["sum:0"], values=[np.int32(5)])


@engine_case("RUN-002", title="A consumer that would fail does not execute for its fetched input.")
def a_failing_consumer_of_a_fetched_tensor_does_not_execute(c: EngineAuthor) -> None:
    with c.graph() as tf:
        p = tf.placeholder(tf.int32, [], name="p")
        divisor = tf.multiply(p, 2, name="divisor")
        handle = cell(tf)
        tf.raw_ops.AssignVariableOp(resource=handle, value=6 // divisor, name="store")
    s = c.open()
    s.run(["cell_init"])
    s.run(["divisor:0"], {"p:0": np.int32(0)}, values=[np.int32(0)])
    s.run(["store"], {"p:0": np.int32(0)}, error=[3])
    s.run(["divisor:0", "cell_value:0"], {"p:0": np.int32(0)}, values=[np.int32(0), np.int32(0)])


@engine_case("RUN-003", title="An Operation fetched beside a tensor executes and gives no value.")
def an_operation_beside_a_tensor_executes(c: EngineAuthor) -> None:
    with c.graph() as tf:
        p = tf.placeholder(tf.float32, [], name="p")
        tf.negative(p, name="y")
        counter(tf)
    s = c.open()
    s.run(["counter/Assign"])
    s.run(["y:0", "bump"], {"p:0": np.float32(1)}, values=[np.float32(-1), None])
    s.run(["counter:0"], values=[np.int32(1)])
    s.run(["bump", "y:0"], {"p:0": np.float32(2)}, values=[None, np.float32(-2)])
    s.run(["counter:0"], values=[np.int32(2)])


@engine_case("RUN-003", title="Every Operation among the fetches executes.")
def every_fetched_operation_executes(c: EngineAuthor) -> None:
    with c.graph() as tf:
        p = tf.placeholder(tf.float32, [], name="p")
        for name in ("one", "two"):
            add = tf.raw_ops.AssignAddVariableOp
            add(resource=cell(tf, name), value=tf.constant(1), name=f"{name}_bump")
    s = c.open()
    s.run(["one_init", "two_init"], values=[None, None])
    s.run(
        ["one_bump", f"{p.op.name}:0", "two_bump"],
        {"p:0": np.float32(7)},
        values=[None, np.float32(7), None],
    )
    s.run(["one_value:0", "two_value:0"], values=[np.int32(1), np.int32(1)])


@api_case("RUN-003", title="An Operation inside a nested fetch executes, its place holds None.")
def an_operation_in_a_structure_executes(c: ApiAuthor) -> None:
    tf = c.tf
    variable = tf.Variable(0, dtype=tf.int32, use_resource=False)
    bump = tf.assign_add(variable, 1)
    p = tf.placeholder(tf.float32, [])
    sess = tf.Session()
    sess.run(variable.initializer)
    c.check(
        sess.run({"y": p * np.float32(2), "up": [bump.op]}, {p: np.float32(3)}),
        {"y": np.float32(6), "up": [None]},
    )
    c.check(sess.run(variable), np.int32(1))


# --- how often ----------------------------------------------------------------------------


@engine_case("RUN-008", title="An update that several fetches need executes once.")
def an_update_with_several_consumers_executes_once(c: EngineAuthor) -> None:
    with c.graph() as tf:
        p = tf.placeholder(tf.int32, [], name="p")
        bump = counter(tf)
        tf.add(bump, p, name="sum")
        tf.multiply(bump, p, name="product")
        with tf.control_dependencies([bump]):
            tf.no_op(name="after")
    s = c.open()
    s.run(["counter/Assign"])
    for count in (1, 2, 3):
        s.run(
            ["sum:0", "after", "product:0"],
            {"p:0": np.int32(10)},
            values=[np.int32(count + 10), None, np.int32(count * 10)],
        )
        s.run(["counter:0"], values=[np.int32(count)])


@engine_case("RUN-008", title="Both arms of a diamond see the one value of its top.")
def a_diamond_executes_its_top_once(c: EngineAuthor) -> None:
    with c.graph() as tf:
        p = tf.placeholder(tf.int32, [], name="p")
        bump = counter(tf)
        tf.multiply(tf.add(bump, p), tf.subtract(bump, p), name="y")
    s = c.open()
    s.run(["counter/Assign"])
    for count in (1, 2, 3):
        s.run(["y:0"], {"p:0": np.int32(5)}, values=[np.int32(count * count - 25)])
    s.run(["counter:0"], values=[np.int32(3)])


@engine_case("RUN-009", title="An operation fetched as itself and by its output executes once.")
def fetched_several_times_executes_once(c: EngineAuthor) -> None:
    with c.graph() as tf:
        counter(tf)
    s = c.open()
    s.run(["counter/Assign"])
    s.run(["bump", "bump:0", "bump", "bump:0"], values=[None, np.int32(1), None, np.int32(1)])
    s.run(["counter:0"], values=[np.int32(1)])
    s.run(["bump:0", "bump:0"], values=[np.int32(2), np.int32(2)])
    s.run(["counter:0"], values=[np.int32(2)])


@api_case("RUN-009", title="One tensor at several places of a fetch structure is computed once.")
def repeated_in_a_structure_executes_once(c: ApiAuthor) -> None:
    tf = c.tf
    variable = tf.Variable(0, dtype=tf.int32, use_resource=False)
    bump = tf.assign_add(variable, 1, name="bump")
    sess = tf.Session()
    sess.run(variable.initializer)
    one = np.int32(1)
    c.check(
        sess.run({"a": bump, "b": [bump.op, "bump:0"], "c": (bump, "bump")}),
        {"a": one, "b": [None, one], "c": (one, None)},
    )
    c.check(sess.run(variable), one)


@engine_case("RUN-013", title="Two equal additions to a variable both take effect in one run.")
def equal_updates_both_take_effect(c: EngineAuthor) -> None:
    with c.graph() as tf:
        handle, one = cell(tf), tf.constant(1)
        for name in ("a", "b", "c"):
            tf.raw_ops.AssignAddVariableOp(resource=handle, value=one, name=name)
    s = c.open()
    s.run(["cell_init"])
    s.run(["a", "b"], values=[None, None])
    s.run(["cell_value:0"], values=[np.int32(2)])
    s.run(["c", "b", "a"], values=[None, None, None])
    s.run(["cell_value:0"], values=[np.int32(5)])


@engine_case("RUN-013", title="Two equal locked additions to a reference variable both count.")
def equal_locked_updates_both_take_effect(c: EngineAuthor) -> None:
    with c.graph() as tf:
        variable = tf.Variable(0, name="v", dtype=tf.int32, use_resource=False)
        one = tf.constant(1)
        for name in ("a", "b"):
            tf.assign_add(variable, one, use_locking=True, name=name)
    s = c.open()
    s.run(["v/Assign"])
    for total in (2, 4, 6):
        s.run(["a", "b"], values=[None, None])
        s.run(["v:0"], values=[np.int32(total)])


# --- the graph ----------------------------------------------------------------------------


@engine_case("RUN-031", title="A consumer may stand before its producers in a GraphDef.")
def consumers_may_stand_before_producers(c: EngineAuthor) -> None:
    with c.graph() as tf:
        p = tf.placeholder(tf.float32, [], name="p")
        tf.multiply(tf.negative(p), tf.square(p), name="y")
    c.graphs["g"]["node"].reverse()
    s = c.open()
    s.run(["y:0"], {"p:0": np.float32(2)}, values=[np.float32(-8)])


@engine_case("RUN-031", title="A control input may stand after the operation it precedes.")
def control_inputs_may_stand_later(c: EngineAuthor) -> None:
    with c.graph() as tf:
        p = tf.placeholder(tf.float32, [], name="p")
        bump = counter(tf)
        with tf.control_dependencies([bump]):
            tf.identity(p, name="y")
    c.graphs["g"]["node"].reverse()
    s = c.open()
    s.run(["counter/Assign"])
    s.run(["y:0"], {"p:0": np.float32(2)}, values=[np.float32(2)])
    s.run(["counter:0"], values=[np.int32(1)])


@api_case("RUN-032", title="A chain of 10,000 operations runs.", deadline_s=120.0)
def a_chain_of_ten_thousand_runs(c: ApiAuthor) -> None:
    c.named_check("run.chain", [np.float32(10_001), np.float32(10_002)], length=10_000, runs=2)


@api_case("RUN-033", title="Empty options and metadata are accepted and change no value.")
def empty_options_change_nothing(c: ApiAuthor) -> None:
    tf = c.tf
    variable = tf.Variable(0, dtype=tf.int32, use_resource=False)
    bump = tf.assign_add(variable, 1)
    p = tf.placeholder(tf.int32, [2])
    y = p * 2
    sess = tf.Session()
    sess.run(variable.initializer)
    want = [ints(2, 4), np.int32(1)]
    got = sess.run([y, bump], {p: [1, 2]}, options=tf.RunOptions(), run_metadata=tf.RunMetadata())
    c.check(got, want)
    c.check(sess.run(y, feed_dict={p: [3, 4]}, options=tf.RunOptions()), ints(6, 8))
    c.check(sess.run(y, feed_dict={p: [5, 6]}, run_metadata=tf.RunMetadata()), ints(10, 12))
    c.check(sess.run(variable), np.int32(1))


@api_case("RUN-033", title="Options and metadata are the third and fourth argument of run.")
def options_by_position(c: ApiAuthor) -> None:
    tf = c.tf
    p = tf.placeholder(tf.int32, [])
    sess = tf.Session()
    got = sess.run({"y": p + 1}, {p: 1}, tf.RunOptions(), tf.RunMetadata())
    c.check(got, {"y": np.int32(2)})
    c.check(sess.run([p - 1], {p: 1}, None, None), [np.int32(0)])
