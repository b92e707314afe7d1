"""Graphs for resource variables of slices, locks and generators, and operations of initializers."""

from __future__ import annotations

from collections.abc import Callable

import sessrun.reference as tf

SLICES = " ".join(f"ResourceScatterNd{kind}" for kind in ("Update", "Add", "Sub", "Min", "Max"))
BANDS = "MatrixDiagV3 MatrixDiagPartV3 MatrixSetDiagV3 Qr UnravelIndex ParallelConcat Timestamp"
#: Those of a generator that are drawn of nothing but a shape, or an interval.
GENERATED = (
    "StatefulUniform StatefulUniformInt StatefulUniformFullInt StatefulStandardNormalV2 "
    "StatefulTruncatedNormal"
)


def slices() -> None:
    """A resource variable whose slices are updated in each way."""
    v = tf.get_variable("v", initializer=[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], use_resource=True)
    tf.group(v.initializer, name="init")
    for op_type in SLICES.split():
        getattr(tf.raw_ops, op_type)(
            ref=v.handle, indices=[[0, 1], [2, 0]], updates=[2.5, 4.5], name=op_type
        )
    tf.identity(v.read_value(), name="now_held")


def locks() -> None:
    """A counter whose value is taken and raised within one lock."""
    section = tf.CriticalSection(shared_name="lock")
    v = tf.get_variable("v", initializer=1.0, use_resource=True)
    tf.group(v.initializer, name="init")

    def doubled() -> tf.Tensor:
        return v.assign(v.read_value() * 2.0).read_value()

    tf.identity(section.execute(doubled) * section.execute(doubled), name="both")


def bands() -> None:
    """Matrices made of diagonals and taken apart; places in them; rows put together."""
    tf.matrix_diag([[1, 2, 3], [4, 5, 0]], k=(0, 1), padding_value=9, name="made")
    tf.matrix_diag_part([[1, 2], [3, 4], [5, 6]], k=(-1, 0), align="LEFT_LEFT", name="taken")
    tf.matrix_set_diag([[1.0, 2.0], [3.0, 4.0]], [9.0], k=1, name="set")
    tf.qr([[4.0, 1.0], [0.0, 2.0]], name="factors")
    tf.unravel_index([5, 2], [2, 3], name="places")
    tf.identity(tf.parallel_stack([[1, 2], [3, 4]]), name="stacked")
    tf.timestamp(name="now")


def generators() -> None:
    """A generator's state that is skipped, and every kind of number drawn of it."""
    generator = tf.random.Generator.from_seed(7)
    tf.group(generator.state.initializer, name="init")
    tf.identity(generator.skip(3), name="skipped")
    tf.raw_ops.RngSkip(resource=generator.state.handle, algorithm=1, delta=2, name="moved")
    for op_type in GENERATED.split():
        ends = {"minval": 3, "maxval": 90} if op_type.endswith("UniformInt") else {}
        getattr(tf.raw_ops, op_type)(
            resource=generator.state.handle, algorithm=1, shape=[4], name=op_type, **ends
        )
    generator.binomial([5], 40.0, 0.25, name="StatefulRandomBinomial")
    tf.shape(tf.raw_ops.NonDeterministicInts(shape=[2]), name="size")


VARIABLES: tuple[tuple[str, Callable[[], None], tuple[tuple[str, ...], ...]], ...] = (
    (
        SLICES,
        slices,
        (
            ("init",),
            *(step for op_type in SLICES.split() for step in ((op_type,), ("now_held:0",))),
        ),
    ),
    ("MutexV2 MutexLock ConsumeMutexLock", locks, (("init",), ("both:0",), ("both:0",))),
    (
        "RngReadAndSkip RngSkip NonDeterministicInts StatefulRandomBinomial " + GENERATED,
        generators,
        (
            ("init",),
            ("skipped:0",),
            ("moved",),
            *((f"{op_type}:0",) for op_type in GENERATED.split()),
            ("skipped:0",),
            ("StatefulRandomBinomial:0",),
            ("size:0",),
        ),
    ),
    (
        BANDS,
        bands,
        (("made:0", "taken:0", "set:0", "factors:0", "factors:1", "places:0", "stacked:0", "now"),),
    ),
)
