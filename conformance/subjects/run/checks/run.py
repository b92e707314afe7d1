"""Named checks of RUN: graphs too large to be written out in a case."""

from __future__ import annotations

from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.forms import Json

__all__ = ["chain"]


def chain(tf: Namespace, length: int, runs: int) -> list[Json]:
    """Import a chain of `length` additions of 1 and run it `runs` times.

    The chain needs more depth than any call stack has, and none of it can be folded: it starts
    at a placeholder.

    Returns:
      the values, float32 scalars, of runs fed 1, 2, … in turn.

    """
    definition = tf.GraphDef()
    start = definition.node.add(name="n0", op="Placeholder")
    start.attr["dtype"].type = tf.float32.as_datatype_enum
    one = definition.node.add(name="one", op="Placeholder")
    one.attr["dtype"].type = tf.float32.as_datatype_enum
    for index in range(length):
        node = definition.node.add(name=f"n{index + 1}", op="AddV2", input=[f"n{index}", "one"])
        node.attr["T"].type = tf.float32.as_datatype_enum
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(definition, name="")
    with tf.Session(graph=graph) as session:
        end = f"n{length}:0"
        return [session.run(end, {"n0:0": first, "one:0": 1.0}) for first in range(1, runs + 1)]
