"""Graphs for operations on summaries: those that make them, and those that write them."""

from __future__ import annotations

from collections.abc import Callable

import sessrun.reference as tf


def summaries() -> None:
    """Summaries of numbers, of how they are distributed, of tensors; merged ones."""
    raw = tf.raw_ops
    number = tf.summary.scalar("number", 1.5)
    spread = tf.summary.histogram("spread", [1.0, 1.5, -3.0])
    held = tf.summary.tensor_summary("held", [[1, 2]], display_name="shown")
    tf.identity(raw.ScalarSummary(tags=["a", "b"], values=[1, 2]), name="numbers")
    tf.identity(raw.TensorSummary(tensor=["x"], description="d", labels=["l"]), name="named")
    tf.identity(tf.summary.merge([number, spread, held]), name="merged")


SUMMARIES: tuple[tuple[str, Callable[[], None], tuple[tuple[str, ...], ...]], ...] = (
    ("ScalarSummary HistogramSummary TensorSummary TensorSummaryV2 MergeSummary", summaries,
     (("numbers:0", "named:0", "merged:0"),)),
)  # fmt: skip
