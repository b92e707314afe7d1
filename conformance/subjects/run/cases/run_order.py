"""Vectors of RUN: control edges, what they execute and the order that they keep."""

from __future__ import annotations

import numpy as np

from sessrun.conformance.authoring.record import EngineAuthor, engine_case
from sessrun.conformance.subjects.run.cases.run import cell, counter


@engine_case("RUN-004", title="A control input of a needed operation executes.")
def a_control_input_executes(c: EngineAuthor) -> None:
    with c.graph() as tf:
        p = tf.placeholder(tf.float32, [], name="p")
        bump = counter(tf)
        with tf.control_dependencies([bump]):
            tf.identity(p, name="y")
            tf.no_op(name="after")
    s = c.open()
    s.run(["counter/Assign"])
    s.run(["y:0"], {"p:0": np.float32(4)}, values=[np.float32(4)])
    s.run(["counter:0"], values=[np.int32(1)])
    s.run(["after"], values=[None])
    s.run(["counter:0"], values=[np.int32(2)])


@engine_case("RUN-004", title="A control input of a constant executes when the constant is needed.")
def a_control_input_of_a_constant_executes(c: EngineAuthor) -> None:
    with c.graph() as tf:
        p = tf.placeholder(tf.int32, [], name="p")
        bump = counter(tf)
        with tf.control_dependencies([bump]):
            five = tf.constant(5, name="five")
        tf.add(p, five, name="y")
    s = c.open()
    s.run(["counter/Assign"])
    s.run(["five:0"], values=[np.int32(5)])
    s.run(["counter:0"], values=[np.int32(1)])
    s.run(["y:0"], {"p:0": np.int32(2)}, values=[np.int32(7)])
    s.run(["counter:0"], values=[np.int32(2)])


@engine_case("RUN-005", title="A read after a write, by a control edge, sees what was written.")
def a_read_after_a_write_sees_it(c: EngineAuthor) -> None:
    with c.graph() as tf:
        p = tf.placeholder(tf.float32, [], name="p")
        handle = cell(tf, dtype="float32")
        write = tf.raw_ops.AssignVariableOp(resource=handle, value=p, name="write")
        with tf.control_dependencies([write]):
            tf.raw_ops.ReadVariableOp(resource=handle, dtype="float32", name="read")
    s = c.open()
    s.run(["cell_init"])
    for value in (1, 2, 3, 5, 8):
        s.run(["read:0"], {"p:0": np.float32(value)}, values=[np.float32(value)])


@engine_case("RUN-005", title="A read after an addition, by a control edge, sees the sum.")
def a_read_after_an_addition_sees_the_sum(c: EngineAuthor) -> None:
    with c.graph() as tf:
        handle = cell(tf)
        add = tf.raw_ops.AssignAddVariableOp(resource=handle, value=tf.constant(1), name="add")
        with tf.control_dependencies([add]):
            tf.raw_ops.ReadVariableOp(resource=handle, dtype="int32", name="read")
    s = c.open()
    s.run(["cell_init"])
    for total in range(1, 9):
        s.run(["read:0"], values=[np.int32(total)])


@engine_case("RUN-005", title="A read waits for the whole of a large write.")
def a_read_waits_for_a_large_write(c: EngineAuthor) -> None:
    with c.graph() as tf:
        p = tf.placeholder(tf.float32, [], name="p")
        raw = tf.raw_ops
        handle = raw.VarHandleOp(dtype="float32", shape=[200_000], shared_name="big", name="big")
        wide = tf.fill([200_000], p)
        write = raw.AssignVariableOp(resource=handle, value=wide, name="write")
        with tf.control_dependencies([write]):
            read = raw.ReadVariableOp(resource=handle, dtype="float32", name="read")
        tf.reduce_max(tf.abs(read - p), name="error")
    s = c.open()
    for value in (3, 1, 2):
        s.run(["error:0"], {"p:0": np.float32(value)}, values=[np.float32(0)])


@engine_case("RUN-006", title="A read that a write waits for gives the value from before it.")
def a_read_before_a_write_gives_the_old_value(c: EngineAuthor) -> None:
    with c.graph() as tf:
        p = tf.placeholder(tf.int32, [], name="p")
        handle = cell(tf)
        read = tf.raw_ops.ReadVariableOp(resource=handle, dtype="int32", name="read")
        with tf.control_dependencies([read]):
            tf.raw_ops.AssignVariableOp(resource=handle, value=p, name="write")
    s = c.open()
    s.run(["cell_init"])
    s.run(["read:0", "write"], {"p:0": np.int32(9)}, values=[np.int32(0), None])
    s.run(["write", "read:0"], {"p:0": np.int32(4)}, values=[None, np.int32(9)])
    s.run(["cell_value:0"], values=[np.int32(4)])


@engine_case("RUN-006", title="A read that an addition waits for, and its consumers, are old.")
def a_read_before_an_addition_gives_the_old_value(c: EngineAuthor) -> None:
    with c.graph() as tf:
        p = tf.placeholder(tf.int32, [], name="p")
        handle = cell(tf)
        read = tf.raw_ops.ReadVariableOp(resource=handle, dtype="int32", name="read")
        with tf.control_dependencies([read]):
            tf.raw_ops.AssignAddVariableOp(resource=handle, value=tf.constant(1), name="add")
        tf.multiply(read, p, name="scaled")
    s = c.open()
    s.run(["cell_init"])
    for old in range(4):
        s.run(
            ["add", "scaled:0", "read:0"],
            {"p:0": np.int32(10)},
            values=[None, np.int32(10 * old), np.int32(old)],
        )


@engine_case("RUN-007", title="The control inputs of a control input execute too.")
def nested_groups_execute_whole(c: EngineAuthor) -> None:
    with c.graph() as tf:
        bumps = []
        for name in ("one", "two"):
            add = tf.raw_ops.AssignAddVariableOp
            bumps.append(add(resource=cell(tf, name), value=tf.constant(1), name=f"{name}_bump"))
        with tf.control_dependencies([bumps[0]]):
            inner = tf.no_op(name="inner")
        with tf.control_dependencies([inner]):
            middle = tf.no_op(name="middle")
        with tf.control_dependencies([middle, bumps[1]]):
            tf.no_op(name="outer")
    s = c.open()
    s.run(["one_init", "two_init"])
    s.run(["outer"], values=[None])
    s.run(["one_value:0", "two_value:0"], values=[np.int32(1), np.int32(1)])
    s.run(["middle"], values=[None])
    s.run(["one_value:0", "two_value:0"], values=[np.int32(2), np.int32(1)])


@engine_case("RUN-007", title="A chain of control inputs executes in the order of its edges.")
def a_chain_of_assignments_keeps_its_order(c: EngineAuthor) -> None:
    with c.graph() as tf:
        raw, handle, three = tf.raw_ops, cell(tf), tf.constant(3)
        first = raw.AssignAddVariableOp(resource=handle, value=tf.constant(2), name="first")
        with tf.control_dependencies([first]):
            read = raw.ReadVariableOp(resource=handle, dtype="int32", name="read")
        second = raw.AssignVariableOp(resource=handle, value=read * 10, name="second")
        with tf.control_dependencies([second]):
            third = raw.AssignAddVariableOp(resource=handle, value=three, name="third")
        with tf.control_dependencies([third]):
            tf.no_op(name="done")
    s = c.open()
    s.run(["cell_init"])
    for value in (23, 253, 2553):
        s.run(["done"], values=[None])
        s.run(["cell_value:0"], values=[np.int32(value)])
