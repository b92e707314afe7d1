"""Vectors of RUN: pruning, ordering, state and failure inside one run."""

from __future__ import annotations

import numpy as np

from sessrun.conformance.authoring.record import EngineAuthor, engine_case


@engine_case("RUN-001", title="Only the fragment that the fetches need is executed.")
def only_the_needed_fragment_runs(c: EngineAuthor) -> None:
    with c.graph() as tf:
        counter = tf.get_variable("counter", initializer=np.int32(0), use_resource=True)
        counter.assign_add(1, name="bump", read_value=False)
        tf.identity(counter.read_value(), name="value")
        tf.group(counter.initializer, name="init")
    s = c.open()
    s.run(["init"], values=[None])
    s.run(["value:0"], values=[np.int32(0)])
    s.run(["bump"], values=[None])
    s.run(["value:0"], values=[np.int32(1)])
    s.close()
