"""Programs of `RecordInput`: batches of the records of many files."""

from __future__ import annotations

from pathlib import Path

from sessrun.conformance.subjects.programs.described import attempt, run
from sessrun.conformance.subjects.programs.paths import module_of
from sessrun.conformance.subjects.programs.saved_graphs import in_a_folder

__all__ = ["BEHAVIOURS"]


@in_a_folder
def _batches(tf):
    """All records of an epoch, as one batch or split into several."""
    kind = module_of(tf, "ops.data_flow_ops").RecordInput
    Path("d").mkdir()
    for number in range(2):
        with tf.io.TFRecordWriter(f"d/file{number}", "GZIP") as writer:
            for index in range(2):
                writer.write(b"%d" % (2 * number + index))
    options = {"compression_type": tf.io.TFRecordCompressionType.GZIP, "seed": 7}
    one_batch = kind("d/file*", batch_size=4, buffer_size=4, **options).get_yield_op()
    split = kind("d/file*", batch_size=2, buffer_size=4, batches=2, name="b", **options)
    parts = split.get_yield_op()
    records = [
        sorted(run(tf, one_batch)),
        sorted(record for part in run(tf, parts) for record in part),
    ]
    return [one_batch, parts, [len(part) for part in parts], records]


@in_a_folder
def _nothing(tf):
    kind = module_of(tf, "ops.data_flow_ops").RecordInput
    return attempt(
        lambda: run(tf, kind("none*").get_yield_op()),
        lambda: kind("none*", batch_size="two"),
        lambda: kind("none*", compression_type="gz").get_yield_op(),
        lambda: kind(3).get_yield_op(),
        lambda: kind("none*", batches=0).get_yield_op(),
    )


BEHAVIOURS = {"batches": _batches, "nothing": _nothing}
