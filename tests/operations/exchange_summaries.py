"""Graphs for operations on summaries: those that make them, and those that write them."""

from __future__ import annotations

import tempfile
from collections.abc import Callable

import numpy as np

import sessrun.reference as tf
from sessrun.reference.library.summaries.graph_writers import create_file_writer

#: Where events are exchanged; it goes with the process.
_FOLDER = tempfile.TemporaryDirectory()


def summaries() -> None:
    """Summaries of numbers, of how they are distributed, of tensors; merged ones."""
    raw = tf.raw_ops
    number = tf.summary.scalar("number", 1.5)
    spread = tf.summary.histogram("spread", [1.0, 1.5, -3.0])
    held = tf.summary.tensor_summary("held", [[1, 2]], display_name="shown")
    tf.identity(raw.ScalarSummary(tags=["a", "b"], values=[1, 2]), name="numbers")
    tf.identity(raw.TensorSummary(tensor=["x"], description="d", labels=["l"]), name="named")
    tf.identity(tf.summary.merge([number, spread, held]), name="merged")


def sounds() -> None:
    """A summary of sounds, whose files are the same bytes everywhere."""
    heard = tf.constant([[0.0, 0.5, -0.5, 2.0], [1.0, -1.0, 0.25, 1e-5]])
    tf.identity(tf.summary.audio("sound", heard, 8000.5, max_outputs=2), name="heard")


def images() -> None:
    """A summary of images, whose files are the encoder's: only its size is exchanged."""
    seen = tf.constant(np.zeros((2, 1, 1, 3), np.uint8))
    summary = tf.summary.image("image", seen, max_outputs=1)
    tf.identity(tf.strings.substr(summary, 0, 1), name="seen")


def writers() -> None:
    """A writer that a session keeps: begun, written to, flushed, closed."""
    writer = create_file_writer(_FOLDER.name)
    raw, handle = tf.raw_ops, writer._resource
    event = tf.Event(step=3, graph_def=b"graph").SerializeToString()
    graph = tf.GraphDef().SerializeToString()
    written = [
        raw.ImportEvent(writer=handle, event=event),
        raw.WriteScalarSummary(writer=handle, step=1, tag="a", value=1.5),
        raw.WriteGraphSummary(writer=handle, step=2, tensor=graph),
        raw.WriteSummary(writer=handle, step=3, tensor=["x"], tag="b", summary_metadata=""),
        raw.WriteHistogramSummary(writer=handle, step=4, tag="c", values=[1.0, 2.0]),
        raw.WriteImageSummary(
            writer=handle,
            step=5,
            tag="d",
            tensor=np.zeros((1, 2, 2, 3), "f"),
            bad_color=np.array([255, 0, 0], np.uint8),
        ),
        raw.WriteAudioSummary(writer=handle, step=6, tag="e", tensor=[[0.5]], sample_rate=8.0),
        raw.WriteRawProtoSummary(writer=handle, step=7, tensor=tf.Summary().SerializeToString()),
    ]
    tf.group(writer.init(), name="begin")
    tf.group(*written, name="write")
    tf.group(writer.flush(), name="flush")
    tf.group(raw.CloseSummaryWriter(writer=handle), name="close")


SUMMARIES: tuple[tuple[str, Callable[[], None], tuple[tuple[str, ...], ...]], ...] = (
    (
        "ScalarSummary HistogramSummary TensorSummary TensorSummaryV2 MergeSummary",
        summaries,
        (("numbers:0", "named:0", "merged:0"),),
    ),
    (
        (
            "SummaryWriter CreateSummaryFileWriter FlushSummaryWriter CloseSummaryWriter "
            "ImportEvent "
            "WriteSummary WriteScalarSummary WriteGraphSummary WriteHistogramSummary "
            "WriteImageSummary WriteAudioSummary WriteRawProtoSummary"
        ),
        writers,
        (("begin",), ("write",), ("flush",), ("close",), ("begin",), ("write",), ("close",)),
    ),
    ("AudioSummaryV2", sounds, (("heard:0",),)),
    ("ImageSummary", images, (("seen:0",),)),
)
