"""Programs of stateless shuffles, of operations of earlier releases, and of `CheckNumericsV2`."""

from __future__ import annotations

from sessrun.conformance.subjects.programs.described import attempt, run
from sessrun.conformance.subjects.programs.queues.pipeline import built
from sessrun.spec.cases.objects import Tensor

__all__ = ["BEHAVIOURS"]


def _shuffles(tf):
    random = tf.random.experimental

    def both() -> list[Tensor]:
        return [
            random.index_shuffle(tf.range(8), [7, 8], 7),
            random.index_shuffle([3, 4], [1, 2], [9, 2**30]),
            tf.random_index_shuffle(2, [1, 2, 3], 9, rounds=6, name="third"),
            random.stateless_shuffle([1, 2, 3, 4, 5], [1, 2]),
            random.stateless_shuffle([["a"], ["b"], ["c"]], [5, -2], alg="philox", name="rows"),
        ]

    return [built(tf, both), run(tf, both())]


def _refused(tf):
    random = tf.random.experimental
    return attempt(
        lambda: random.stateless_shuffle([1, 2], [1, 2], alg="none"),
        lambda: random.index_shuffle(3, [[1, 2], [3, 4]], 9),
        lambda: tf.random_index_shuffle([[1]], [1, 2, 3], 9),
        lambda: tf.random_index_shuffle(1, [1, 2], 9),
        lambda: run(tf, tf.random_index_shuffle([1, 2], [1, 2, 3], [9, 9, 9])),
        lambda: tf.raw_ops.BatchMatrixDiag(diagonal=[1.0]),
        lambda: tf.raw_ops.PlaceholderV2(dtype=tf.float32, shape=[2]),
    )


def _of_old(tf):
    """A graph of version 12 with batch operations of that time, whose shapes are unknown."""
    with tf.Graph().as_default() as graph:
        tf.constant([[4.0, 1.0], [1.0, 3.0]], name="x")
    graph_def = graph.as_graph_def()
    graph_def.versions.producer = 12
    for op in ("BatchMatrixDiagPart", "BatchMatrixInverse", "BatchCholesky"):
        node = graph_def.node.add(op=op, name=op, input=["x"])
        node.attr["T"].type = tf.float32.as_datatype_enum
    fed = graph_def.node.add(op="PlaceholderV2", name="fed")
    fed.attr["dtype"].type = tf.float32.as_datatype_enum
    fed.attr["shape"].shape.dim.add(size=2)
    with tf.Graph().as_default() as old:
        tf.import_graph_def(graph_def, name="")
        outputs = [op.outputs[0] for op in old.get_operations()]
        return [outputs, run(tf, outputs[1:4]), attempt(lambda: run(tf, outputs[-1]))]


def _apart(tf):
    """`CheckNumericsV2`, which distinguishes infinities, and its gradient."""
    check = tf.raw_ops.CheckNumericsV2
    x = tf.constant([2.0, 3.0])
    (gradient,) = tf.gradients(check(tensor=x * x, message="mine"), x)
    low, high = -float("inf"), float("inf")
    bad = [[low], [high], [low, float("nan")], [low, high, float("nan")]]
    return [
        built(tf, lambda: tf.gradients(check(tensor=x * x, message="mine"), x)),
        run(tf, gradient),
        attempt(
            *(lambda tensor=tensor: run(tf, check(tensor=tensor, message="m")) for tensor in bad)
        ),
    ]


BEHAVIOURS = {
    "shuffles": _shuffles,
    "refused": _refused,
    "of-old": _of_old,
    "apart": _apart,
}
