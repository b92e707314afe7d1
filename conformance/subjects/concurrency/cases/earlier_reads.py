"""Vectors of CONCURRENCY: updates of reference variables, seen through reads that came before."""

from __future__ import annotations

import numpy as np

from sessrun.conformance.authoring.record import EngineAuthor, engine_case

#: The folder of vectors.
VECTORS = "concurrency"


@engine_case("CONCURRENCY-015", title="Updates are seen through a read that came before them.")
def updates_are_seen_through_an_earlier_read(c: EngineAuthor) -> None:
    with c.graph() as tf:
        x = tf.placeholder(tf.float32, [2], name="x")
        ops = tf.raw_ops
        initializers = []
        for kind in ("assign", "add", "scatter"):
            v = tf.get_variable(kind, initializer=np.array([1, 2], np.float32), use_resource=False)
            initializers.append(v.initializer)
            ref = v.initializer.inputs[0]
            before = tf.negative(v.value(), name=f"{kind}_before")  # so the read is executed
            with tf.control_dependencies([before]):
                if kind == "assign":
                    update = ops.Assign(ref=ref, value=x)
                elif kind == "add":
                    update = ops.AssignAdd(ref=ref, value=x - [1.0, 2.0])
                else:
                    update = ops.ScatterUpdate(ref=ref, indices=[0, 1], updates=x)
            with tf.control_dependencies([update.op]):
                tf.abs(v.value(), name=f"{kind}_after")
        tf.group(*initializers, name="init")
    session = c.open()
    session.run(["init"], values=[None])
    for kind in ("assign", "add", "scatter"):
        session.run(
            [f"{kind}_before:0", f"{kind}_after:0"],
            {"x:0": np.array([5, 6], np.float32)},
            values=[np.array([-1, -2], np.float32), np.array([5, 6], np.float32)],
        )
