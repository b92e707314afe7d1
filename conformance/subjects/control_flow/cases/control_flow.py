"""Vectors of CONTROL-FLOW: values that are dead, merges, frames, and branches as functions."""

from __future__ import annotations

import numpy as np

from sessrun.conformance.authoring.record import EngineAuthor, engine_case
from sessrun.conformance.subjects.run.cases.run import floats, ints
from sessrun.spec.cases.arguments import Argument
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Tensor


def _split(tf: Namespace, value: Tensor, name: str = "s") -> tuple[Tensor, Tensor]:
    """Both outputs of a Switch on `p`: the value where `p` is false, and where it is true."""
    off, on = tf.raw_ops.Switch(data=value, pred=tf.placeholder(tf.bool, [], name="p"), name=name)
    return off, on


def _enter(tf: Namespace, value: Tensor, frame: str = "frame", **options: Argument) -> Tensor:
    return tf.raw_ops.Enter(data=value, frame_name=frame, **options)


_P = {True: np.bool_(True), False: np.bool_(False)}


@engine_case("CONTROL-FLOW-001", title="A Merge tells which of its inputs is alive.")
def a_merge_tells_which(c: EngineAuthor) -> None:
    with c.graph() as tf:
        off, on = _split(tf, tf.constant([1.0, 2.0]))
        tf.raw_ops.Merge(inputs=[off * 2.0, on * 3.0, off * 4.0], name="m")
    session = c.open()
    session.run(["m:1"], {"p:0": _P[True]}, values=[np.int32(1)])
    session.run(["m:0", "m:1"], {"p:0": _P[True]}, values=[floats(3, 6), np.int32(1)])


@engine_case("CONTROL-FLOW-002", title="A Merge of dead values only is dead.")
def a_merge_of_dead_values(c: EngineAuthor) -> None:
    with c.graph() as tf:
        off, _ = _split(tf, tf.constant([1.0, 2.0]))
        tf.raw_ops.Merge(inputs=[off, off * 2.0], name="m")
        tf.identity(tf.get_default_graph().get_tensor_by_name("m:1") + 1, name="y")
    session = c.open()
    session.run(["m:0"], {"p:0": _P[True]}, error=[3])
    session.run(["y:0"], {"p:0": _P[True]}, error=[3])


@engine_case("CONTROL-FLOW-003", title="What waits for a dead operation is not executed.")
def waiting_for_the_dead(c: EngineAuthor) -> None:
    with c.graph() as tf:
        off, on = _split(tf, tf.constant(1.0))
        variable = tf.Variable(0, name="count", dtype=tf.int32, use_resource=False)
        with tf.control_dependencies([tf.identity(off, name="waited")]):
            tf.assign_add(variable, 1, name="bump")
        tf.identity(on, name="alive")
    session = c.open()
    session.run(["count/Assign"], values=[None])
    session.run(["bump"], {"p:0": _P[True]}, values=[None])
    session.run(["count:0"], values=[np.int32(0)])
    session.run(["bump"], {"p:0": _P[False]}, values=[None])
    session.run(["count:0"], values=[np.int32(1)])


@engine_case("CONTROL-FLOW-003", title="A merge that waits for a dead operation is executed.")
def a_merge_that_waits_for_the_dead(c: EngineAuthor) -> None:
    with c.graph() as tf:
        off, on = _split(tf, tf.constant([1.0, 2.0]))
        branches = [off * 2.0, on * 3.0]
        with tf.control_dependencies([tf.identity(off)]):
            tf.raw_ops.Merge(inputs=branches, name="m")
    session = c.open()
    for taken, merged in ((True, floats(3, 6)), (False, floats(2, 4))):
        wanted = [merged, np.int32(taken)]
        session.run(["m:0", "m:1"], {"p:0": _P[taken]}, values=wanted)


@engine_case("CONTROL-FLOW-004", title="A ControlTrigger is executed though it waits for the dead.")
def a_trigger(c: EngineAuthor) -> None:
    with c.graph() as tf:
        off, _ = _split(tf, tf.constant(1.0))
        variable = tf.Variable(0, name="count", dtype=tf.int32, use_resource=False)
        with tf.control_dependencies([tf.identity(off)]):
            trigger = tf.raw_ops.ControlTrigger(name="trigger")
        with tf.control_dependencies([trigger]):
            tf.assign_add(variable, 1, name="bump")
    session = c.open()
    session.run(["count/Assign"], values=[None])
    for taken in (True, False):
        session.run(["bump"], {"p:0": _P[taken]}, values=[None])
    session.run(["count:0"], values=[np.int32(2)])


@engine_case("CONTROL-FLOW-005", title="A value in a frame leaves it by an Exit.")
def through_a_frame(c: EngineAuthor) -> None:
    with c.graph() as tf:
        x = tf.placeholder(tf.int32, [3], name="x")
        product = _enter(tf, x) * _enter(tf, tf.constant(5))
        tf.raw_ops.Exit(data=product, name="y")
    c.open().run(["y:0"], {"x:0": ints(1, 2, 3)}, values=[ints(5, 10, 15)])


@engine_case("CONTROL-FLOW-006", title="Values of different frames do not meet.")
def different_frames(c: EngineAuthor) -> None:
    with c.graph() as tf:
        x = tf.placeholder(tf.float32, [], name="x")
        tf.add(_enter(tf, x, "one"), _enter(tf, x, "two"), name="y")
        tf.raw_ops.Exit(data=tf.get_default_graph().get_tensor_by_name("y:0"), name="out")
    c.open().run(["out:0"], {"x:0": np.float32(1)}, error=[3])


def _counting(tf: Namespace, parallel: int) -> None:
    n = tf.placeholder(tf.int32, [], name="n")
    step = tf.placeholder(tf.int32, [], name="step")
    loop = tf.while_loop(
        lambda i, _: i < n,
        lambda i, a: (i + 1, a * 2 + step),
        [n * 0, n * 0],
        parallel_iterations=parallel,
    )
    tf.identity(loop[1], name="y")


@engine_case("CONTROL-FLOW-007", title="What enters a loop as a constant is there each time.")
def constants_of_a_loop(c: EngineAuthor) -> None:
    with c.graph() as tf:
        _counting(tf, 10)
    session = c.open()
    for count, result in ((1, 3), (2, 9), (5, 93)):
        feeds = {"n:0": np.int32(count), "step:0": np.int32(3)}
        session.run(["y:0"], feeds, values=[np.int32(result)])


@engine_case("CONTROL-FLOW-008", title="One iteration at a time gives the same.")
def one_iteration_at_a_time(c: EngineAuthor) -> None:
    with c.graph() as tf:
        _counting(tf, 1)
    feeds = {"n:0": np.int32(40), "step:0": np.int32(0)}
    session = c.open()
    session.run(["y:0"], feeds, values=[np.int32(0)])
    session.run(
        ["y:0"], {**feeds, "n:0": np.int32(12), "step:0": np.int32(1)}, values=[np.int32(4095)]
    )


@engine_case("CONTROL-FLOW-009", title="A stack gives back what iterations pushed, the last first.")
def a_stack_between_loops(c: EngineAuthor) -> None:
    with c.graph() as tf:
        n = tf.placeholder(tf.int32, [], name="n")
        stack = tf.raw_ops.StackV2(max_size=-1, elem_type=tf.int32, stack_name="kept")

        def push(i: Tensor) -> Tensor:
            with tf.control_dependencies([tf.raw_ops.StackPushV2(handle=stack, elem=i)]):
                return i + 1

        def pop(i: Tensor, a: Tensor) -> tuple[Tensor, Tensor]:
            return i - 1, a * 10 + tf.raw_ops.StackPopV2(handle=stack, elem_type=tf.int32)

        count = tf.while_loop(lambda i: i < n, push, [n * 0], parallel_iterations=1)
        shapes = [count.shape, tf.TensorShape(None)]
        loop = tf.while_loop(lambda i, _: i > 0, pop, [count, n * 0], shapes, 1)
        tf.identity(loop[1], name="y")
    session = c.open()
    session.run(["y:0"], {"n:0": np.int32(4)}, values=[np.int32(3210)])
    session.run(["y:0"], {"n:0": np.int32(2)}, values=[np.int32(10)])


@engine_case("CONTROL-FLOW-010", title="A dead loop gives dead values.")
def a_loop_that_is_dead(c: EngineAuthor) -> None:
    with c.graph() as tf:
        p = tf.placeholder(tf.bool, [], name="p")
        x = tf.placeholder(tf.float32, [], name="x")
        loop = lambda: tf.while_loop(lambda v: v < 100.0, lambda v: v * v, [x])  # noqa: E731 - a branch
        tf.identity(tf.cond(p, loop, lambda: -x), name="y")
    session = c.open()
    session.run(["y:0"], {"p:0": _P[True], "x:0": np.float32(2)}, values=[np.float32(256)])
    session.run(["y:0"], {"p:0": _P[False], "x:0": np.float32(2)}, values=[np.float32(-2)])


@engine_case("CONTROL-FLOW-011", title="A Switch takes one predicate, not several.")
def a_predicate_with_a_dimension(c: EngineAuthor) -> None:
    with c.graph() as tf:
        p = tf.placeholder(tf.bool, name="p")
        off, on = tf.raw_ops.Switch(data=tf.constant(1.0), pred=p)
        tf.raw_ops.Merge(inputs=[off, on], name="m")
    session = c.open()
    session.run(["m:0"], {"p:0": _P[True]}, values=[np.float32(1)])
    session.run(["m:0"], {"p:0": np.array([True])}, error=[3])


@engine_case("CONTROL-FLOW-012", title="Of many branches the first whose predicate holds is taken.")
def a_branch_by_a_number(c: EngineAuthor) -> None:
    with c.graph() as tf:
        number = tf.placeholder(tf.int32, [], name="n")
        x = tf.placeholder(tf.float32, [], name="x")
        branches = [lambda: x + 1.0, lambda: x * 10.0, lambda: -x]
        pairs = [(tf.equal(number, index), branch) for index, branch in enumerate(branches)]
        tf.identity(tf.case(pairs, default=lambda: x * 0.0), name="y")
    session = c.open()
    for value, result in ((0, 3), (1, 20), (2, -2), (3, 0)):
        feeds = {"n:0": np.int32(value), "x:0": np.float32(2)}
        session.run(["y:0"], feeds, values=[np.float32(result)])
